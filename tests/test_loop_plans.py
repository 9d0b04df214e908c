"""Plans of the elimination: rows that are left out, quick plans, two ways to a mass matrix.

Whatever a plan leaves out or puts first, accelerations are those of the plan that has everything.
"""

import numpy as np
import pytest

import skodyn as sk
from loop_mechanisms import case_of
from loop_references import n_four_bar, reference
from skodyn.lanes import LANES
from skodyn.model.loops import loop_structure, loop_tables, planar_loops
from skodyn.model.loops.closing import ALONG, DOT, IN_PLANE, LENGTH, POINT

HINGE = sk.Revolute(axis=(0, 0, 1))


def turned(axis, angle):
    """Rodrigues' matrix."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def four_bar(closing=HINGE, base=None, lift=0.0, tilt=0.0, end="rocker"):
    """A four-bar, perhaps on a floating base, whose last axis may be tilted and end be lifted."""
    b = sk.ModelBuilder(gravity=(0.3, -9.81, 0.2))
    ground = "world"
    if base is not None:
        b.add_body("base", joint=base, mass=2.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.4))
        ground = "base"
    places = (("crank", ground, 0, 0.3), ("coupler", "crank", 0.3, 0.9), ("rocker", ground, 1, 0.7))
    stand = turned((1, 2, 3), 0.8) if base is not None else np.eye(3)
    for name, parent, x, length in places:
        on = stand if parent == ground else np.eye(3)
        rotation = on @ turned((1, 0, 0), tilt) if name == "rocker" else on
        b.add_body(
            name, parent, HINGE, translation=on @ (x, 0, 0), rotation=rotation, mass=length,
            com=(length / 2, 0.02, 0.01), inertia=(0.02, 0.03, 0.04),
        )  # fmt: skip
    b.add_loop(
        "pin", "coupler", end, closing, translation_a=(0.9, 0, lift), translation_b=(0.7, 0, 0)
    )
    return b.build()


def motion(model, q, seed=0):
    """(closed q near q, v that keeps it closed, tau)."""
    rng = np.random.default_rng(seed)
    q = sk.assemble(model, q).q
    x = sk.loop_basis(model, q)
    return q, x @ rng.normal(size=x.shape[1]), rng.normal(size=model.nv)


def spread(model, seed=0):
    q = model.neutral()
    names = {"crank": 0.7, "coupler": 0.4, "rocker": 1.6}
    for name, value in names.items():
        q[model.q_slice(name)] = value
    return motion(model, q, seed)


def kinds(model):
    return [row.kind for row in model._essential_rows[0]]


# ---- rows that say nothing ----------------------------------------------------------------------


PLANAR = {
    "hinge": (HINGE, [IN_PLANE]),
    "ball": (sk.Spherical(), [IN_PLANE]),
    "rod": (sk.Rod(0.2), [LENGTH]),
    "slider": (sk.Prismatic(axis=(1, 0, 0)), None),
    "planar": (sk.Planar(), None),
    "weld": (sk.Fixed(), None),
}


@pytest.mark.parametrize("base", [None, sk.Free()], ids=["fixed", "floating"])
@pytest.mark.parametrize("closing", ["hinge", "ball", "rod"])
def test_accelerations_in_a_plane_do_not_need_the_rows_across_it(closing, base, monkeypatch):
    joint, expected = PLANAR[closing]
    model = four_bar(joint, base)
    assert kinds(model) == expected
    state = spread(model)
    found = sk.forward_dynamics(model, *state)
    monkeypatch.setattr(planar_loops, "EXACT", -1.0)
    every = four_bar(joint, base)
    assert kinds(every) != expected or closing == "rod"
    whole = sk.forward_dynamics(every, *state)
    assert np.abs(found - whole).max() <= 1e-13 * np.abs(whole).max()
    same = sk.loop_jacobian(model, state[0]), sk.loop_error(model, state[0])
    for mine, theirs in zip(
        same, (sk.loop_jacobian(every, state[0]), sk.loop_error(every, state[0])), strict=True
    ):
        assert mine.tobytes() == theirs.tobytes()  # people see all rows


def test_a_slider_in_a_plane_keeps_a_row_along_and_one_across():
    b = sk.ModelBuilder()
    for name, parent, x in (("crank", "world", 0), ("rod", "crank", 0.3), ("block", "rod", 0.8)):
        b.add_body(
            name, parent, HINGE, translation=(x, 0, 0), mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1)
        )
    b.add_loop("guide", "block", "world", sk.Prismatic(axis=(1, 0, 0)))
    assert kinds(b.build()) == [ALONG, DOT]


@pytest.mark.parametrize("change", [{"lift": 1e-3}, {"lift": 1e-9}, {"tilt": 1e-6}])
def test_rows_stay_where_the_plane_is_none_to_the_last_digit(change):
    try:
        rows = kinds(four_bar(**change))
    except sk.ModelError:
        pytest.skip("such a loop has no closed position")
    assert rows[0] == POINT


def test_ends_that_lie_apart_across_the_plane_are_still_refused():
    model = four_bar(lift=1e-3)
    with pytest.raises(sk.ModelError, match=r"pin.*0\.001 m apart"):
        sk.forward_dynamics(model, np.zeros(3), np.zeros(3), np.zeros(3))


# ---- quick plans --------------------------------------------------------------------------------


def platform(legs=3):
    """A platform on legs, each of which can turn two ways and grow."""
    b = sk.ModelBuilder(gravity=(0.1, 0.2, -9.81))
    b.add_body("platform", joint=sk.Free(), mass=5.0, com=(0.02, 0, 0.05), inertia=(0.5, 0.4, 0.8))
    for k in range(legs):
        foot = 1.2 * np.array([np.cos(2 * k), np.sin(2 * k), 0.0])
        b.add_body(
            f"lower{k}", joint=sk.Universal((1, 0, 0), (0, 1, 0), name=f"gimbal{k}"),
            translation=foot, mass=2.0, com=(0, 0.01, 0.3), inertia=(0.06, 0.06, 0.002),
        )  # fmt: skip
        b.add_body(
            f"upper{k}", f"lower{k}", sk.Prismatic((0, 0, 1), name=f"leg{k}"), mass=1.5,
            com=(0, 0, -0.3), inertia=(0.045, 0.045, 0.001),
        )  # fmt: skip
        b.add_loop(f"ball{k}", f"upper{k}", "platform", sk.Spherical(), translation_b=foot / 3)
    return b.build()


def standing(model, place, legs=3):
    """q with the platform at a place, turned a little; legs follow."""
    q = model.neutral()
    half = 0.1
    q[model.q_slice("platform")] = (np.cos(half), np.sin(half), 0, 0, *place)
    rotation = turned((1, 0, 0), 2 * half)
    for k in range(legs):
        foot = 1.2 * np.array([np.cos(2 * k), np.sin(2 * k), 0.0])
        x, y, z = np.asarray(place) + rotation @ foot / 3 - foot
        length = np.sqrt(x * x + y * y + z * z)
        q[model.q_slice(f"gimbal{k}")] = np.arctan2(-y, z), np.arcsin(x / length)
        q[model.q_slice(f"leg{k}")] = length
    return q


def locked(model):
    """The first leg lies along the axis about which it turns first: its own joints cannot lift it.

    Nearly: at the angle of a ten-thousandth they could, with forces that no digit would be left of.
    """
    foot, rotation = np.array([1.2, 0.0, 0.0]), turned((1, 0, 0), 0.2)
    tip = foot + np.array([0.8, 0.0, 1e-4])
    return standing(model, tip - rotation @ foot / 3)


def dense(model, q, v, tau):
    """v̇ by the dense equations, with γ from central differences of Gv along the motion."""
    tree, rows = model.opened, sk.loop_jacobian(model, q)
    h = 1e-5
    ahead, behind = (sk.loop_jacobian(model, model.integrate(q, s * h * v)) @ v for s in (1, -1))
    mass, bias = sk.mass_matrix(tree, q), sk.bias_force(tree, q, v)
    n, m = len(mass), len(rows)
    whole = np.block([[mass, rows.T], [rows, np.zeros((m, m))]])
    right = np.concatenate((tau - bias, -(ahead - behind) / (2 * h)))
    return np.linalg.lstsq(whole, right, rcond=1e-12)[0][:n]


def quick_of(model):
    return [group.quick for group in model._loop_structure]


def test_legs_of_a_platform_are_eliminated_one_by_one():
    (stages,) = quick_of(platform())
    assert [stage.pivots for stage in stages] == [3, 3, 3]
    assert all(not stage.passes for stage in stages)


@pytest.mark.parametrize("at", ["free", "locked"])
def test_a_quick_plan_gives_what_the_thorough_one_does(at, monkeypatch):
    model = platform()
    q = standing(model, (0.05, -0.03, 0.9)) if at == "free" else locked(model)
    state = motion(model, q)
    found = sk.forward_dynamics(model, *state)
    monkeypatch.setattr(loop_structure, "quick_stages", lambda *_: ())
    thorough = platform()
    assert quick_of(thorough) == [()]
    whole = sk.forward_dynamics(thorough, *state)
    assert np.abs(found - whole).max() <= 3e-13 * np.abs(whole).max()
    assert np.abs(found - dense(model, *state)).max() <= 1e-7 * np.abs(whole).max()


def test_the_locked_leg_is_one_that_a_quick_plan_would_lose():
    """Else the test above would test nothing."""
    model = platform()
    q = locked(model)
    rows = sk.loop_jacobian(model, q)[sk.loop_rows(model)["ball0"]]
    own = np.r_[model.v_slice("gimbal0"), model.v_slice("leg0")]
    sizes = np.linalg.svd(rows[:, own], compute_uv=False)
    assert sizes[-1] < 1e-3 * np.linalg.norm(rows)


def test_a_locked_leg_does_not_change_the_bits_of_its_neighbours():
    model = platform()
    states = [
        motion(model, standing(model, (0.01 * i, -0.03, 0.9)), seed=i) for i in range(LANES + 3)
    ]
    states[2] = motion(model, locked(model))
    many = [np.stack(x) for x in zip(*states, strict=True)]
    for call in (
        lambda q, v, tau: sk.forward_dynamics(model, q, v, tau, threads=1),
        lambda q, v, tau: sk.mass_matrix_solve(model, q, tau, threads=1),
        lambda q, v, tau: sk.loop_basis(model, q, threads=1),
    ):
        sk.forward_dynamics(model, *[np.tile(x[:1], (25_000, 1)) for x in many], threads=1)
        together = call(*many)
        for row, state in enumerate(states):
            assert together[row].tobytes() == call(*state).tobytes()


def test_a_run_through_a_lock_keeps_its_legs_on():
    """The foot of a leg passes the axis while the platform swings by."""
    model = platform()
    q, v, _ = motion(model, locked(model))
    run = sk.simulate(model, q, 0.2 * v, duration=0.02, dt=1e-3, every=1)
    assert run.summary["loop_error_max"] < 1e-13


# ---- two ways to 𝓜X -----------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["platform", "08_stewart", "11_gripper", "n four-bar", 3, 17, 40])
def test_a_mass_matrix_by_pairs_is_that_by_columns(made, monkeypatch):
    results = []
    for by_pairs in (True, False):
        monkeypatch.setattr(loop_tables, "_by_pairs", lambda *_, answer=by_pairs: answer)
        if made == "platform":
            model = platform()
            state = motion(model, standing(model, (0.05, -0.03, 0.9)))
        else:
            given = mechanism(made)
            model = given.build() if hasattr(given, "build") else given.model
            state = given.state(model)
        results.append(sk.forward_dynamics(model, *state))
    assert np.abs(results[0] - results[1]).max() <= 1e-11 * np.abs(results[1]).max()


def mechanism(made):
    if isinstance(made, int):
        return case_of.__wrapped__(made)
    return n_four_bar(3) if made == "n four-bar" else reference(made)


# ---- how one state is called --------------------------------------------------------------------


def test_torques_that_are_too_long_are_refused_not_taken_for_forces():
    model = four_bar()
    q, v, tau = spread(model)
    for extra in (1, 18, 19):
        with pytest.raises(sk.StateError, match="tau"):
            sk.forward_dynamics(model, q, v, np.concatenate((tau, np.ones(extra))))


def test_a_push_on_one_state_is_that_in_a_batch():
    model = four_bar(base=sk.Free())
    q, v, tau = spread(model)
    f_ext = np.random.default_rng(1).normal(size=(model.n_bodies, 6))
    alone = sk.forward_dynamics(model, q, v, tau, f_ext)
    many = sk.forward_dynamics(model, np.stack([q] * 3), v, tau, f_ext)
    assert all(row.tobytes() == alone.tobytes() for row in many)
    assert np.abs(alone - sk.forward_dynamics(model, q, v, tau)).max() > 0.1
    bad = f_ext.copy()
    bad[1, 2] = np.nan
    with pytest.raises(sk.StateError, match="f_ext"):
        sk.forward_dynamics(model, q, v, tau, bad)
