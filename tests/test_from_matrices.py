"""Flexible bodies from finite element matrices, against a bar of 20-node hexahedra."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk
from skodyn.model.flexible import reduction

sparse = pytest.importorskip("scipy.sparse")
CubicSpline = pytest.importorskip("scipy.interpolate").CubicSpline
REFERENCE = Path(__file__).parent / "data" / "flexible"
BAR = json.loads((REFERENCE / "solid_bar_h20.json").read_text())
DATA = np.load(REFERENCE / "solid_bar_h20.npz")


def bar(modes=10, **changes):
    given = {
        "nodes": DATA["nodes"], "stiffness": sparse.csr_matrix(DATA["K"]),
        "mass": sparse.csr_matrix(DATA["M"]), "root": DATA["root"],
        "interfaces": {"tip": DATA["tip"]}, "modes": modes,
    }  # fmt: skip
    return sk.flexible.from_matrices(**{**given, **changes})


def rounding():
    """What roundings of the stiffness matrix do to its softest motion."""
    held = np.setdiff1d(np.arange(384), (3 * DATA["root"][:, None] + np.arange(3)).reshape(-1))
    return np.finfo(float).eps * np.linalg.cond(DATA["K"][np.ix_(held, held)])


def test_the_bar_weighs_what_it_should():
    body = bar()
    assert body.mass == pytest.approx(BAR["mass"], rel=1e-12)
    assert_allclose(body.first_moment, BAR["first_moment"], rtol=1e-12, atol=1e-15)
    assert_allclose(body.inertia, BAR["inertia_about_root"], rtol=1e-12, atol=1e-14)


# From K and M of the file with 40 digits, by tests/solid_bar_exact.py. The numbers of the file,
# found in double precision, differ from them by up to 1.9e-8 (frequencies) and 5.9e-9
# (flexibility), which is eps·cond(K): its tolerance of 1e-9 can be held against these, not against
# its own numbers.
EXACT = {
    "craig_bampton_6_plus_4_Hz": [
        33.381598481535335, 66.44458711044685, 210.563310588343, 415.40125402508994,
        596.8226356741592, 1160.490096807261, 1397.3815242852672, 2258.5686356123383,
        2812.290978451287, 4472.370105950996,
    ],
    "clamped_free_Hz": [
        33.37993978507129, 66.440595994165, 210.3838193350872, 414.9580376612552,
        595.5313965930709, 1156.7334823179744,
    ],
    "tip_flexibility": [
        3.545771744668191e-08, 8.794470991897404e-05, 0.00034941920133610985,
        0.003437919518581786, 0.004225854583924458, 0.0010602585840186966,
    ],
}  # fmt: skip


@pytest.mark.slow
def test_the_exact_numbers_are_those_of_their_script():
    import solid_bar_exact  # it needs SciPy

    found = solid_bar_exact.numbers()
    assert found.keys() == EXACT.keys()
    for key, values in EXACT.items():
        assert_allclose(found[key], values, rtol=1e-15)


def test_frequencies_are_those_of_craig_and_bampton():
    assert rounding() < 1e-7
    free_tip = bar(6, interfaces={})
    for key, body in (("craig_bampton_6_plus_4_Hz", bar()), ("clamped_free_Hz", free_tip)):
        assert_allclose(body.frequencies, EXACT[key], rtol=1e-9)
        assert_allclose(BAR[key][: body.modes], EXACT[key], rtol=rounding())


def test_the_tip_is_as_soft_as_statics_says():
    body = bar()
    node = body.nodes["tip"]
    shapes = np.concatenate((node.translation, node.rotation))
    flexibility = shapes @ np.diag(1.0 / body.stiffness) @ shapes.T
    assert_allclose(np.diag(flexibility), EXACT["tip_flexibility"], rtol=1e-9)
    assert_allclose(BAR["tip_flexibility"]["values"], EXACT["tip_flexibility"], rtol=rounding())


def test_the_bar_swings_as_the_reference():
    builder = sk.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bar", joint=sk.Revolute(axis=(0, 1, 0)), flexible=bar())
    builder.add_frame("end", "bar", at="tip", translation=(0, 0, 0.5 * BAR["parameters"]["h_z"]))
    model = builder.build()
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=1.0, dt=5e-4, every=1000,
        integrator="implicit_midpoint", implicit_springs=True,
    )  # fmt: skip
    assert run.status == "finished", run.message
    ends = sk.forward_kinematics(model, np.asarray(run.q))[1][:, model.body_index("end")]
    for row, key in ((1, "at_0.5_s"), (2, "at_1.0_s")):
        assert_allclose(ends[row, [0, 2]], BAR["pendulum"][key], atol=3e-5)


IN_LINE = np.flatnonzero(
    (np.abs(DATA["nodes"][:, 1:] - DATA["nodes"][0, 1:]).max(axis=1) < 1e-9)
    & (DATA["nodes"][:, 0] > 1e-9)
)[:5]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"nodes": DATA["nodes"][:-1]}, ["stiffness is of shape", "mass is of shape", "of 127"]),
        ({"stiffness": np.triu(DATA["K"])}, ["stiffness is not symmetric"]),
        ({"mass": np.diag(np.arange(384.0) + 1.0)}, ["mass is not the same in x, y and z"]),
        ({"mass": np.triu(DATA["M"])}, ["mass is not symmetric"]),
        ({"stiffness": DATA["K"] * np.nan}, ["stiffness is zero or not finite"]),
        ({"stiffness": -DATA["K"]}, ["stiffness is not positive definite"]),
        ({"mass": -DATA["M"]}, ["mass is not positive semidefinite with the root held"]),
        (
            {"mass": -DATA["M"], "stiffness": -DATA["K"]},
            ["mass is not positive semidefinite", "stiffness is not positive definite"],
        ),
        ({"interfaces": {"tip": [100, 101, 4000]}}, ["tip names node 4000, of 128"]),
        ({"interfaces": {"tip": DATA["tip"], "b": DATA["tip"]}}, ["belongs to 'tip' and to 'b'"]),
        ({"interfaces": {"tip": DATA["tip"][:2]}}, ["tip has 2 nodes that fix no rotation"]),
        ({"interfaces": {"edge": IN_LINE}}, ["edge has 5 nodes that fix no rotation"]),
        ({"interfaces": {"root": DATA["tip"]}}, ["an interface is called 'root'"]),
        ({"interfaces": {"tip": ["a"]}}, ["tip is ['a']; give numbers of nodes"]),
        ({"interfaces": {"tip": [0.5, 1.5, 7.0]}}, ["give numbers of nodes"]),
        ({"interfaces": [1, 2, 3]}, ["interfaces is [1, 2, 3]; give lists of nodes by name"]),
        ({"damping": -0.1}, ["damping does not fit"]),
        ({"root": [0, 999]}, ["names node 999"]),
        ({"root": DATA["tip"]}, ["belongs to 'root' and to 'tip'"]),
        ({"root": DATA["root"][:2]}, ["fix no rotation"]),
        ({"modes": 0}, ["modes is 0"]),
        ({"damping": [0.1, 0.2]}, ["damping does not fit"]),
        ({"faces": [[0, 1, 500]]}, ["faces name nodes"]),
    ],
)
def test_faults_are_said_all_at_once(changes, says):
    with pytest.raises(sk.ModelError) as refused:
        bar(**changes)
    for words in says:
        assert words in str(refused.value)


def test_a_body_that_is_not_held_is_refused():
    loose = DATA["K"].copy()
    inside = np.setdiff1d(np.arange(128), np.concatenate((DATA["root"], DATA["tip"])))[0]
    loose[3 * inside : 3 * inside + 3] = 0.0
    loose[:, 3 * inside : 3 * inside + 3] = 0.0
    with pytest.raises(sk.ModelError, match="move with its root held"):
        bar(stiffness=loose)


def one_node(matrix, factor):
    """That of one node inside changed on the diagonal: the rest hides it from a few modes."""
    inside = 3 * int(np.setdiff1d(np.arange(128), np.concatenate((DATA["root"], DATA["tip"])))[9])
    changed = matrix.copy()
    changed[range(inside, inside + 3), range(inside, inside + 3)] *= factor
    return changed


def test_a_single_node_makes_a_matrix_indefinite():
    with pytest.raises(sk.ModelError, match="mass is not positive semidefinite with the root"):
        bar(mass=one_node(DATA["M"], -1.0))
    with pytest.raises(sk.ModelError, match=r"node \d+ has no mass; give every node but those of"):
        bar(mass=one_node(DATA["M"], 0.0))
    with pytest.raises(sk.ModelError, match="stiffness is not positive definite"):
        bar(stiffness=one_node(DATA["K"], -1.0))


@pytest.mark.parametrize("modes", [1, 6, 10])
@pytest.mark.parametrize("by_pivots", [True, False])
def test_a_mode_that_is_rigid_motion_is_refused(modes, by_pivots, monkeypatch):
    """A second bar that hangs on nothing; also where roundings leave all pivots above zero."""
    if not by_pivots:
        monkeypatch.setattr(reduction, "_is_definite", lambda matrix: True)
    two = {
        "nodes": np.concatenate((DATA["nodes"], DATA["nodes"] + [5.0, 0.0, 0.0])),
        "stiffness": sparse.block_diag((DATA["K"], DATA["K"])),
        "mass": sparse.block_diag((DATA["M"], DATA["M"])),
    }
    with pytest.raises(sk.ModelError, match="move with its root held; hold more nodes"):
        bar(modes, **two, interfaces={})
    with pytest.raises(sk.ModelError, match="move with its root held; hold more nodes"):
        bar(modes, **two, interfaces={"tip": DATA["tip"] + 128})


# ---- second order -------------------------------------------------------------------------------


def shortened(nodes, shapes):
    """g_ij of a slender bar along x: sections stay flat and as far apart along the axis as they
    were, g = −e_x∫(v′ᵢv′ⱼ + w′ᵢw′ⱼ) + ½(θᵢ×(θⱼ×y) + θⱼ×(θᵢ×y)), y the place in the section."""
    stations, which = np.unique(np.round(nodes[:, 0], 9), return_inverse=True)
    turns = []  # of each section: the rotation that fits its nodes
    for k in range(len(stations)):
        arms = nodes[which == k] * np.array([0.0, 1.0, 1.0])
        arms -= arms.mean(axis=0)
        moved = shapes[which == k] - shapes[which == k].mean(axis=0)
        second = np.trace(arms.T @ arms) * np.eye(3) - arms.T @ arms
        turns.append(np.linalg.solve(second, np.cross(arms[:, :, None], moved, axis=1).sum(axis=0)))
    turns = np.array(turns)  # (stations, 3, m)
    pairs = np.einsum("sxi,sxj->sij", turns[:, 1:], turns[:, 1:])
    axis = CubicSpline(stations, pairs).antiderivative()(stations)
    theta, arms = turns[which], nodes * np.array([0.0, 1.0, 1.0])
    once = np.cross(theta, arms[:, :, None], axis=1)
    twice = np.cross(theta[:, :, :, None], once[:, :, None, :], axis=1)  # (n, 3, i, j)
    g = 0.5 * (twice + twice.transpose(0, 1, 3, 2))
    g[:, 0] -= axis[which]
    return g.transpose(2, 3, 0, 1)


def turning(body, speed):
    """Lowest frequencies, Hz, of the bar on a hub that turns about z: chord and flap."""
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("hub", joint=sk.Revolute(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("bar", "hub", flexible=body)
    model = builder.build()
    q, v, h = model.neutral(), np.zeros(model.nv), 1e-4
    v[0] = speed
    modes, columns = model.mode_slice("bar"), []
    for i in range(modes.start, modes.stop):
        at = np.stack([q, q])
        at[:, i] += h, -h
        forces = sk.bias_force(model, at, np.stack([v, v]))[:, modes]
        columns.append((forces[0] - forces[1]) / (2.0 * h))
    mass = sk.mass_matrix(model, q)[modes, modes]
    squares = np.linalg.eigvals(np.linalg.solve(mass, np.array(columns).T)).real
    return np.sqrt(np.sort(squares)) / (2.0 * np.pi)


def test_second_order_shapes_stiffen_the_bar_as_a_rotating_beam():
    """Soft in z: the first flap frequency of the table. Its root, which cannot contract sideways,
    makes the bar stiffer than a beam by 1.5 %: it is a beam that is shorter by 0.7 % and sits as
    far outside, on a hub of that radius, for which the table is interpolated."""
    table = json.loads((REFERENCE / "rotating_beam_frequencies.json").read_text())["values"]
    p = BAR["parameters"]
    plain, full = bar(6, interfaces={}), bar(6, interfaces={}, second_order=shortened)
    assert len(plain.slaves) == 0 < len(full.slaves)
    first = table["0.0,0"]["flap"][0]
    beam = first * np.sqrt(p["E"] / p["rho"] / 12.0) * p["h_z"] / p["L"] ** 2 / (2.0 * np.pi)
    radius = np.sqrt(full.frequencies[0] / beam) - 1.0  # L/L′ − 1
    assert 0.005 < radius < 0.01
    at_rest = 2.0 * np.pi * full.frequencies[0] / first
    for speed in (2, 4, 6):
        low, high = (table[f"{r},{speed}"]["flap"][0] / first for r in ("0.0", "0.1"))
        ratio = low + 10.0 * radius * (high - low)
        flap = turning(full, speed * at_rest)
        assert np.abs(flap / full.frequencies[0] / ratio - 1.0).min() < 5e-4
        without = turning(plain, speed * at_rest)  # flaps as at rest
        assert np.abs(without / plain.frequencies[0] - 1.0).min() < 1e-3


def test_second_order_shapes_go_with_the_file(tmp_path):
    text = (
        "[bodies.bar]\nparent = 'world'\n[bodies.bar.flexible]\nfile = 'bar.h5'\nstiffening = true"
    )
    (tmp_path / "bar.toml").write_text(text)
    body = bar(6, interfaces={}, second_order=shortened)
    body.save(tmp_path / "bar.h5")
    assert sk.load(tmp_path / "bar.toml").flexible["bar"] == body
    bar(6, interfaces={}).save(tmp_path / "bar.h5", overwrite=True)
    with pytest.raises(sk.ModelError, match=r"bar.toml:5.*no second_order shapes; split the body"):
        sk.load(tmp_path / "bar.toml")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda g: g[:, :, :-1], "of shape"),
        (lambda g: g * np.nan, "is not finite"),
        (lambda g: g + np.triu(np.ones((6, 6)))[:, :, None, None], "is not symmetric"),
        (lambda g: g + 1.0, "moves the root"),
    ],
)
def test_second_order_shapes_that_cannot_be_are_refused(change, says):
    with pytest.raises(sk.ModelError, match=f"second_order {says}|second_order is {says}"):
        bar(6, interfaces={}, second_order=lambda nodes, shapes: change(shortened(nodes, shapes)))
