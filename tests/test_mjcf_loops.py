"""<equality> of MJCF: loops and couplings whose rows are MuJoCo's own, and what is refused.

MuJoCo's rows (efc_pos, efc_J) are compared at states that are open, too. Those of a connect are
skodyn's with the other sign; those of a weld are the vector part of a quaternion, from which
skodyn's follow.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import skodyn as sk

POINT = -1.0  # MuJoCo's points: the first less the second

BODIES = """
<compiler angle="radian"/>
<default><geom type="sphere" size="0.05" contype="0" conaffinity="0"/></default>
<worldbody>
  <site name="nail" pos="0.4 0.2 0.1" euler="0.3 -0.2 0.7"/>
  <body name="post" pos="0.1 0.2 0.3" euler="0.2 0.1 0.4"><geom pos="0 0 0.1"/>
    <body name="crank" pos="0 0 1">
      <joint name="j" axis="0 1 0.2" pos="0.1 0.05 0" ref="0.3"/><geom pos="0.3 0 0"/>
      <site name="hole" pos="0.2 0.1 0" euler="0.1 0.2 0.3"/>
      <body name="coupler" pos="0.6 0 0" euler="0.3 0.2 0.1">
        <joint name="k" axis="0 0 1" ref="-0.2"/><joint name="m" type="slide" axis="1 1 0"/>
        <geom pos="0.2 0 0"/>
        <body name="tip" pos="0.3 0.1 0" euler="0.5 0.4 0.3"><geom pos="0 0.1 0.1"/>
          <site name="peg" pos="0.1 0 0.1" euler="0.5 0.2 0.3"/></body>
      </body>
    </body>
  </body>
  <body name="rocker" pos="0 1 0">
    <joint name="l" type="ball" pos="0.1 0.2 0.3"/><geom pos="0.3 0 0"/>
    <body name="finger" pos="0.2 0 0.1"><joint name="n" axis="1 0 0" ref="0.1"/>
      <geom pos="0 0 0.2"/></body>
  </body>
  <body name="drone" pos="1 1 1"><freejoint name="f"/><geom pos="0.1 0 0"/>
    <site name="lug" pos="0.1 0.2 0" euler="0.4 -0.1 0.6"/></body>
</worldbody>
"""

CASES = {
    "point": '<connect name="e" body1="coupler" body2="rocker" anchor="0.1 0.2 0.3"/>',
    "point of a merged body": '<connect name="e" body1="tip" body2="rocker" anchor="0.1 0 0.3"/>',
    "point of the world": '<connect name="e" body1="coupler" anchor="0.1 0.2 0.3"/>',
    "point of a free body": '<connect name="e" body1="drone" body2="tip" anchor="0.1 0.2 0.3"/>',
    "sites": '<connect name="e" site1="hole" site2="lug"/>',
    "site of the world": '<connect name="e" site1="peg" site2="nail"/>',
    "weld as drawn": '<weld name="e" body1="tip" body2="rocker"/>',
    "weld at an anchor": '<weld name="e" body1="tip" body2="rocker" anchor="0.1 0.2 0.3"/>',
    "weld elsewhere": '<weld name="e" body1="drone" body2="finger" '
    'relpose="0.1 0.2 0.3 0.9 0.1 0.2 0.3"/>',
    "weld to the world": '<weld name="e" body1="drone"/>',
    "weld of sites": '<weld name="e" site1="peg" site2="lug"/>',
    "polynomial": '<joint name="e" joint1="j" joint2="n" polycoef="0.1 0.2 -0.3 0.4 0.05"/>',
    "square": '<joint name="e" joint1="m" joint2="k" polycoef="0 0 2"/>',
    "constant": '<joint name="e" joint1="k" polycoef="0.4 7"/>',
    "constant of two": '<joint name="e" joint1="k" joint2="j" polycoef="0.4 0"/>',
    "all at once": """<connect name="a" body1="tip" body2="rocker" anchor="0.1 0 0.3"/>
      <joint name="b" joint1="j" joint2="n" polycoef="0.1 0.2"/>
      <weld name="c" body1="drone" body2="finger"/>
      <joint name="d" joint1="k" joint2="m" polycoef="0 1 0.5"/>""",
}


@pytest.fixture
def write(tmp_path: Path):
    def _write(equalities: str, bodies: str = BODIES) -> Path:
        path = tmp_path / "m.xml"
        path.write_text(f"<mujoco>{bodies}<equality>{equalities}</equality></mujoco>")
        return path

    return _write


def rows_of_mujoco(peer: mujoco.MjModel, data: mujoco.MjData, name: str):
    """(g, G, condition) as skodyn has them; two, since the sign of a quaternion is left open."""
    mujoco.mj_forward(peer, data)
    e = peer.equality(name).id
    mine = (data.efc_type[: data.nefc] == 0) & (data.efc_id[: data.nefc] == e)
    g, G = data.efc_pos[mine], data.efc_J.reshape(-1, peer.nv)[mine]
    kind = int(peer.eq_type[e])
    if kind == mujoco.mjtEq.mjEQ_JOINT:
        return [(g, G, 1.0)]
    if kind == mujoco.mjtEq.mjEQ_CONNECT:
        return [(POINT * g, POINT * G, 1.0)]
    found = []
    for sign in (1.0, -1.0):
        turned, slope = turn(g[3:], sign)
        G_all = np.concatenate([POINT * G[:3], slope @ G[3:]])
        condition = max(1.0, 0.01 / max(1.0 - g[3:] @ g[3:], 1e-300))
        found.append((np.concatenate([POINT * g[:3], turned]), G_all, condition))
    return found


def turn(v: np.ndarray, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """x_A·y_B, y_A·z_B, z_A·x_B from the vector part of a quaternion, and their slopes."""
    w = sign * np.sqrt(max(1.0 - v @ v, 1e-300))
    x, y, z = v
    g = 2.0 * np.array([x * y + w * z, y * z + w * x, x * z + w * y])
    by_v = np.array([[y, x, w], [w, z, y], [z, w, x]])
    by_w = np.array([z, x, y])
    return g, 2.0 * (by_v - np.outer(by_w, v / w))


def compare(model: sk.Model, peer: mujoco.MjModel, q: np.ndarray) -> float:
    """How large g was."""
    data = mujoco.MjData(peer)
    data.qpos[:], _ = sk.interop.to_mujoco_state(model, peer, q, np.zeros(model.nv))
    g, G = sk.loop_error(model, q), sk.loop_jacobian(model, q)
    G = np.array([sk.interop.to_mujoco_force(model, peer, q, row) for row in G])
    at = 0
    for name in model.loop_names:
        choices = rows_of_mujoco(peer, data, name)
        rows = slice(at, at + len(choices[0][0]))
        at = rows.stop
        ours = (g[rows], G[rows])
        theirs = min(choices, key=lambda choice, ours=ours: apart(choice, ours))
        np.testing.assert_allclose(g[rows], theirs[0], rtol=0, atol=1e-12)
        size = max(1.0, np.abs(theirs[1]).max()) * theirs[2]
        np.testing.assert_allclose(G[rows], theirs[1], rtol=0, atol=1e-12 * size)
    assert at == len(g)
    return float(np.abs(g).max())


def apart(one, two) -> float:
    return max(np.abs(a - b).max() for a, b in zip(one[:2], two, strict=True))


def compiled(path: Path) -> mujoco.MjModel:
    peer = mujoco.MjModel.from_xml_path(str(path))
    peer.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    return peer


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_mujoco(write, case, merged):
    path = write(CASES[case])
    model, peer = sk.load(path, merge_fixed=merged), compiled(path)
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, _ = model.random_state(rng)
        assert compare(model, peer, q) > 1e-3  # open, so that there is something to see


@pytest.mark.parametrize("case", ["point", "point of a merged body", "weld as drawn", "polynomial",
                                  "all at once"])  # fmt: skip
def test_closed_states_are_closed_for_mujoco(write, case):
    path = write(CASES[case])
    model, peer = sk.load(path), compiled(path)
    rng = np.random.default_rng(6)
    for _ in range(5):
        near = model.integrate(model.neutral(), 0.1 * rng.normal(size=model.nv))
        assert compare(model, peer, sk.assemble(model, near).q) < 1e-12


def test_a_pose_as_drawn_is_closed(write):
    for case in ("point", "weld as drawn", "weld at an anchor", "weld to the world"):
        model = sk.load(write(CASES[case]))
        assert np.abs(sk.loop_error(model, model.neutral())).max() < 1e-15


def test_accelerations_are_those_of_mujocos_matrices(write):
    """Multipliers on MuJoCo's own mass matrix, bias and rows; Ġv by differences of its rows."""
    path = write(CASES["all at once"])
    model, peer = sk.load(path), compiled(path)
    rng = np.random.default_rng(7)
    near = model.integrate(model.neutral(), 0.1 * rng.normal(size=model.nv))
    q = sk.assemble(model, near).q
    v = sk.project_velocity(model, q, rng.normal(size=model.nv))
    qpos, qvel = sk.interop.to_mujoco_state(model, peer, q, v)

    def rows(step: float) -> np.ndarray:
        data = mujoco.MjData(peer)
        data.qpos[:] = qpos
        mujoco.mj_integratePos(peer, data.qpos, qvel, step)
        mujoco.mj_forward(peer, data)
        return data.efc_J.reshape(-1, peer.nv)[data.efc_type[: data.nefc] == 0].copy()

    data = mujoco.MjData(peer)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    for row, unit in enumerate(np.eye(peer.nv)):
        mujoco.mj_mulM(peer, data, M[row], unit)
    G, h = rows(0.0), 1e-5
    drift = (rows(h) - rows(-h)) @ qvel / (2 * h)
    free = np.linalg.solve(M, -data.qfrc_bias)
    push = np.linalg.lstsq(G @ np.linalg.solve(M, G.T), -drift - G @ free, rcond=1e-10)[0]
    wanted = free + np.linalg.solve(M, G.T @ push)
    vdot = sk.forward_dynamics(model, q, v, np.zeros(model.nv))
    ours = sk.interop.to_mujoco_acceleration(model, peer, q, v, vdot)
    np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


# ---- what they are ------------------------------------------------------------------------------


def test_each_constraint_is_what_it_says(write):
    model = sk.load(write(CASES["all at once"]))
    assert [(n, l.body_a, l.body_b, type(l.joint)) for n, l in model.loops.items()] == [
        ("a", "coupler", "rocker", sk.Spherical),
        ("c", "drone", "finger", sk.Fixed),
    ]
    couplings = {n: (c.joints, c.coefficients) for n, c in model.couplings.items()}
    assert couplings == {
        "d": (("k", "m"), (0.0, 1.0, 0.5)),
        "b": (("j", "n"), (0.1, 0.2)),  # no mimic beside loops
    }
    assert not model.mimics
    assert "Joints that follow another stay in the state, tied by couplings: j." in model.notes
    exact = "solref and solimp are not used, since skodyn keeps equalities exactly: a, c, d."
    assert exact in model.notes


def test_linear_relations_alone_stay_mimics(write):
    linear = '<joint joint1="j" joint2="n" polycoef="0.1 0.2"/>'
    model = sk.load(write(linear + '<joint joint1="k" joint2="j" polycoef="0 3"/>'))
    assert set(model.mimics) == {"j", "k"}
    assert not model.has_loops


def test_constants_need_no_source(write):
    for case in ("constant", "constant of two"):
        (coupling,) = sk.load(write(CASES[case])).couplings.values()
        assert (coupling.joints, coupling.offset) == (("k",), 0.4)


def test_two_relations_of_one_joint_are_couplings(write):
    linear = '<joint name="a" joint1="j" joint2="n" polycoef="0.1 0.2"/>'
    path = write(linear + '<joint name="b" joint1="j" joint2="k" polycoef="0.3 2"/>')
    model = sk.load(path)
    assert list(model.couplings) == ["a", "b"]
    compare(model, compiled(path), model.random_state(np.random.default_rng(1))[0])


def test_relations_in_a_circle_are_couplings(write):
    there = '<joint name="there" joint1="j" joint2="k" polycoef="0.1 0.5"/>'
    path = write(there + '<joint name="back" joint1="k" joint2="j" polycoef="-0.2 2"/>')
    model = sk.load(path)
    assert sk.assemble(model, model.neutral()).redundant == 1
    compare(model, compiled(path), model.random_state(np.random.default_rng(1))[0])


def test_relations_move_by_themselves_if_asked_for(write):
    linear = '<joint name="b" joint1="j" joint2="n" polycoef="0.1 0.2"/>'
    model = sk.load(write(CASES["point"] + linear), mimic="independent")
    assert model.loop_names == ("e",)
    assert "Joints that follow another move by themselves, as asked for: j." in model.notes


def test_nameless_constraints_get_names(write):
    connect = '<connect body1="tip" body2="rocker" anchor="0 0 0"/>'
    model = sk.load(write(connect + connect.replace("<connect", '<connect name="equality_0"')))
    assert model.loop_names == ("equality_0_2", "equality_0")


def test_two_points_are_a_hinge(write):
    points = [f'<connect body1="tip" body2="rocker" anchor="{x} 0 0"/>' for x in (0.1, 0.3)]
    found = sk.assemble(*(lambda m: (m, m.neutral()))(sk.load(write("".join(points)))))
    assert (found.rows, found.rank) == (6, 5)


def test_torquescale_is_noted_and_none_is_a_point(write):
    weld = '<weld name="e" body1="tip" body2="rocker" torquescale="{}"/>'
    model = sk.load(write(weld.format(0.5)))
    assert isinstance(model.loops["e"].joint, sk.Fixed)
    said = "torquescale is not used, since skodyn keeps equalities exactly: e."
    assert said in model.notes
    path = write(weld.format(0))
    model = sk.load(path)
    assert isinstance(model.loops["e"].joint, sk.Spherical)
    assert "A weld with torquescale 0 holds a point only: e." in model.notes
    data = mujoco.MjData(compiled(path))
    mujoco.mj_forward(compiled(path), data)
    assert not data.efc_J.reshape(6, -1)[3:].any()  # as in MuJoCo


def test_what_is_switched_off_is_noted_and_not_there(write):
    model = sk.load(write(CASES["point"].replace("/>", ' active="false"/>')))
    assert "Equality constraints that are switched off: e." in model.notes
    assert not model.has_loops
    off = '<option><flag equality="disable"/></option>' + BODIES
    assert not sk.load(write(CASES["all at once"], off)).has_loops


def test_sites_are_frames_whether_or_not_they_close_loops(write):
    for case in ("point", "sites"):
        model = sk.load(write(CASES[case]))
        assert {"hole", "lug", "peg", "nail"} <= model.frames.keys()
        assert not any("sites" in note for note in model.notes)


# ---- refused ------------------------------------------------------------------------------------

LEAVE = 'remove it, or load with ignore=["equality"] to leave it out.'
TENDONS = BODIES + '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
REFUSED = {
    "tendon": (
        '<tendon name="e" tendon1="t"/>',
        f"Equality 'e' is a tendon constraint, which skodyn does not have; {LEAVE}",
    ),
    "two polynomials": (
        CASES["polynomial"] + '<joint name="o" joint1="j" joint2="k" polycoef="0 0 1"/>',
        f"Equality 'o' is a second polynomial for joint 'j', which skodyn does not have; {LEAVE}",
    ),
    "bodies that are one": (
        '<weld name="e" body1="tip" body2="coupler"/>',
        f"Equality 'e' joins 'tip' and 'coupler', which cannot move against each other; {LEAVE}",
    ),
    "the world with itself": (
        '<connect name="e" body1="post" anchor="0 0 0"/>',
        f"Equality 'e' joins 'post' and 'world', which cannot move against each other; {LEAVE}",
    ),
    "no number": (
        '<joint name="e" joint1="j" polycoef="nan"/>',
        "Equality 'e' has numbers [nan]; give finite numbers.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("merged", [True, False])
def test_what_skodyn_does_not_have_is_refused(write, case, merged):
    equalities, sentence = REFUSED[case]
    path = write(equalities, TENDONS)
    with pytest.raises(sk.ModelError) as caught:
        sk.load(path, merge_fixed=merged)
    assert list(map(str, caught.value.faults)) == [f"{path}: {sentence}"]
    if LEAVE in sentence:
        name = "o" if "'o'" in sentence else "e"
        model = sk.load(path, ignore=["equality"])
        assert f"Left out as asked for (equality): {name}." in model.notes


def test_a_point_at_infinity_is_refused(write):
    path = write('<connect name="e" body1="tip" body2="rocker" anchor="inf 0 0"/>')
    with pytest.raises(sk.ModelError, match=r"Equality 'e' has numbers .*; give finite numbers"):
        sk.load(path)


def test_a_flexible_body_and_its_constraint_are_refused(write):
    flex = """<worldbody><flexcomp name="c" type="grid" count="3 3 1" spacing="0.1 0.1 0.1"
      dim="2" radius="0.01" mass="1"/></worldbody>"""
    path = write('<flex name="e" flex="c"/>', BODIES + flex)
    with pytest.raises(sk.ModelError) as caught:
        sk.load(path)
    words = str(caught.value)
    assert "Equality 'e' is a flex constraint, which skodyn does not have" in words
    assert "flexible bodies, which skodyn does not have" in words
