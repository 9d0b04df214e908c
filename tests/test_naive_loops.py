"""The twin of closed loops by itself: against the reference files, its own derivatives, and twice.

What is compared with skodyn elsewhere is known to be right here.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import loop_references
import naive
import naive_loops
from loop_mechanisms import EPS, case_of
from loop_references import NAMES, expected_forces, expected_vdot, listing, reference

SEEDS = range(48)
BARS = {"10_ring_100": 3e-9, "12_ladder_10": 2e-12}  # a dense solve in double, as the files say


@pytest.fixture(params=NAMES)
def given(request):
    return reference(request.param)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return case_of(request.param)


def solved(given):
    return naive_loops.forward_dynamics(given.twin, given.q, given.v, given.tau, given.gravity)


def test_the_states_of_the_files_are_closed_and_stay_so(given):
    assert np.abs(naive_loops.residual(given.twin, given.q)).max() < 2e-15
    G = naive_loops.jacobian(given.twin, given.q)
    assert np.abs(G @ given.v).max() < 1e-14 * max(1.0, np.abs(given.v).max())


def test_rows_rank_and_mobility_are_those_of_the_files(given):
    parts = naive_loops.decompose(naive_loops.jacobian(given.twin, given.q))
    counts = given.source["counts"]
    assert len(parts.N) == counts["rows"]
    assert parts.rank == counts["rank"]
    assert parts.N.shape[1] == counts["redundant_rows"]
    assert parts.X.shape == (counts["nv"], counts["mobility"])


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_are_those_of_the_files(name):
    given = reference(name)
    expected = expected_vdot(given)
    error = np.linalg.norm(solved(given).vdot - expected)
    assert error <= BARS.get(name, 1e-13) * max(1e-2, np.linalg.norm(expected))


def test_forces_of_loops_are_those_of_the_files(given):
    forces = naive_loops.loop_forces(given.twin, given.q, solved(given))
    expected = expected_forces(given)
    for i, loop in enumerate(given.loops):
        known = np.isfinite(expected[loop["name"]])
        assert (forces.unique[i, 3:] == known).all()
        size = np.abs(forces.wrench[:, 3:]).max()
        error = (forces.wrench[i, 3:] - expected[loop["name"]])[known]
        assert np.abs(error).max(initial=0.0) < 1e-11 * size
    if "coupling_torque_on_q2" in given.source["expected"]["t0"]:
        expected = given.source["expected"]["t0"]["coupling_torque_on_q2"]
        assert forces.torque[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", listing("constraint_torque"))
def test_the_torque_of_the_constraints_is_that_of_the_files(name):
    given = reference(name)
    expected = given.gathered(given.source["expected"]["t0"]["constraint_torque"])
    assert solved(given).torque == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", listing("kinetic"))
def test_energies_are_those_of_the_files(name):
    given = reference(name)
    expected = given.source["expected"]["t0"]
    kinetic = naive.kinetic_energy(given.bodies, given.q, given.v)
    assert kinetic == pytest.approx(expected["kinetic"], rel=1e-13)
    potential = naive.potential_energy(given.bodies, given.q, given.gravity)
    assert potential == pytest.approx(expected["potential"], rel=1e-13, abs=1e-13)


def advanced(given, t):
    """(q, v) at t by a fine ODE solver; every evaluation is at the nearest closed state."""
    twin, nq, legs = given.twin, len(given.q), given.source.get("spring_on_legs")
    q_slices, v_slices, _, _ = naive.offsets(given.bodies)
    driven = [k for k, body in enumerate(given.bodies) if body["joint_name"][:3] == "leg" and legs]

    def rate(_, y):
        q = naive_loops.closed(twin, y[:nq], steps=3)
        parts = naive_loops.decompose(naive_loops.jacobian(twin, q))
        v, tau = parts.X @ (parts.X.T @ y[nq:]), given.tau.copy()
        for k in driven:
            stretch = (q - given.q)[q_slices[k]]
            tau[v_slices[k]] -= legs["stiffness"] * stretch + legs["damping"] * v[v_slices[k]]
        vdot = naive_loops.forward_dynamics(twin, q, v, tau, given.gravity).vdot
        return np.concatenate([naive.derivative(lambda x: x, given.bodies, q, v), vdot])

    start = np.concatenate([given.q, given.v])
    run = solve_ivp(rate, (0.0, t), start, "DOP853", rtol=1e-10, atol=1e-11)
    return run.y[:nq, -1], run.y[nq:, -1]


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("01_slider_crank", "08_stewart")]
QUICK = ("02_four_bar", "07_rssr", "11_gripper", "13_coupled_pendulums")


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_the_first_row_of_a_trajectory_is_reached(name):
    given = reference(name)
    row = given.source["expected"]["trajectory"][0]
    q, v = advanced(given, row["t"])
    expected = given.gathered(row["q"])
    signs = np.ones(len(q))
    for body, s in zip(given.bodies, naive.offsets(given.bodies)[0], strict=True):
        if body["joint"]["kind"] in ("spherical", "free"):
            signs[s.start : s.start + 4] = np.sign(q[s][:4] @ expected[s][:4])
    assert q * signs == pytest.approx(expected, abs=1e-9)
    assert v == pytest.approx(given.gathered(row["v"]), abs=1e-8)


# ---- in extended precision ----------------------------------------------------------------------


@pytest.mark.parametrize(("name", "bar"), [("10_ring_100", 1e-12), ("12_ladder_10", 1e-14)])
def test_planar_dynamics_in_extended_precision_meet_the_34_digits_of_the_files(name, bar):
    given = reference(name)
    vdot, pins = naive_loops.planar_dynamics(given.twin, given.q, given.v, given.gravity)
    expected = expected_vdot(given)
    assert np.linalg.norm(vdot - expected) <= bar * np.linalg.norm(expected)
    forces = [force[:2] for force in expected_forces(given).values()]
    assert pins == pytest.approx(np.array(forces), rel=1e-11)


@pytest.mark.parametrize(("made", "name"), [("ring", "10_ring_100"), ("ladder", "12_ladder_10")])
def test_the_rules_give_the_states_that_the_files_list(made, name):
    given = reference(name)
    by_rule = getattr(loop_references, made)(int(name.rsplit("_", 1)[1]))
    assert by_rule.q == pytest.approx(given.q, abs=3e-15)
    assert by_rule.v == pytest.approx(given.v, abs=3e-15)


@pytest.mark.parametrize(("n", "at"), [(2, (0.3284581115408154, 0.944518538178601)),
                                       (40, (0.1805122266867284, 0.9835727405823116))])  # fmt: skip
def test_the_closed_form_of_a02_meets_the_published_end(n, at):
    angle = loop_references.n_four_bar_angle(n, 10.0)
    assert (np.cos(angle), np.sin(angle)) == pytest.approx(at, abs=1e-10)


# ---- random mechanisms --------------------------------------------------------------------------


def test_random_mechanisms_cover_every_joint_and_every_kind_of_closure():
    cases = [case_of(seed) for seed in SEEDS]
    loops = [loop for case in cases for loop in case.loops]
    assert {loop["joint"]["kind"] for loop in loops} == set(naive_loops.CLOSING)
    joints = {body["joint"]["kind"] for case in cases for body in case.bodies}
    assert joints == set(naive.KINDS)
    assert {len(case.loops) for case in cases} >= {1, 2, 3, 4, 5, 6}
    couplings = [c for case in cases for c in case.couplings]
    assert {"coefficients" in c for c in couplings} == {True, False}
    assert sum(-1 in (loop["a"], loop["b"]) for loop in loops) > 10
    lost = [case.solution.parts.N.shape[1] for case in cases]
    assert sum(n > 0 for n in lost) > 10
    assert sum(n == 0 for n in lost) > 5


def test_mechanisms_are_closed_and_their_velocities_keep_them_so(case):
    assert np.abs(naive_loops.residual(case.twin, case.q)).max() < 5e-14
    assert np.abs(case.solution.G @ case.v).max() < 1e-14 * max(1.0, case.kappa)


def test_G_is_the_derivative_of_g(case):
    """By complex steps along every velocity, at the closed state and beside it."""
    for q in (case.q, naive.integrate(case.bodies, case.q, 0.01 * case.tau)):
        G = naive_loops.jacobian(case.twin, q)
        columns = [
            naive.derivative(lambda x: naive_loops.residual(case.twin, x), case.bodies, q, e)
            for e in np.eye(len(case.v))
        ]
        assert np.abs(G - np.array(columns).T).max() < 1e-13 * max(1.0, np.abs(G).max())


def test_every_closing_joint_has_as_many_rows_as_it_takes_freedoms(case):
    R, p = naive.forward_kinematics(case.bodies, case.q)
    for loop in case.loops:
        kind = loop["joint"]["kind"]
        freedoms = 5 if kind == "rod" else naive.SIZES[kind][1]
        assert len(naive_loops.loop_rows(loop, R, p)) == naive_loops.ROWS[kind] == 6 - freedoms


def test_joints_off_the_cycle_do_not_open_a_loop(case):
    G, rows = case.solution.G, naive_loops.row_slices(case.twin)
    for number, where in enumerate(rows):
        on_cycle = naive_loops.cycle(case.twin, number)
        for k, s in enumerate(naive.offsets(case.bodies)[1]):
            if k not in on_cycle:
                assert np.abs(G[where, s]).max(initial=0.0) < 1e-13


def test_both_formulations_agree_within_the_condition_number(case):
    other = naive_loops.forward_dynamics_by_multipliers(
        case.twin, case.q, case.v, case.tau, case.gravity, case.f_ext
    )
    error = np.linalg.norm(other - case.solution.vdot)
    assert error <= 30 * EPS * case.kappa * case.speed_up


def test_accelerations_keep_the_loops_closed_and_forces_do_no_work(case):
    s = case.solution
    assert np.abs(s.G @ s.vdot + s.gamma).max() < 30 * EPS * case.kappa * max(1, case.speed_up) * 10
    size = np.abs(s.M) @ np.abs(s.vdot) + np.abs(s.bias) + np.abs(case.tau)
    assert np.abs(s.parts.X.T @ s.torque).max(initial=0) < 30 * EPS * case.kappa * size.max()


def test_loops_as_external_forces_move_the_opened_tree_alike(case):
    """Wrenches and torques of the loops, put upon the tree from outside, give the same v̇."""
    s = case.solution
    forces = naive_loops.loop_forces(case.twin, case.q, s)
    pushed = naive_loops.external_forces(case.twin, case.q, forces.wrench)
    tau = case.tau.copy()
    count = len(case.loops)
    for i, rows in enumerate(naive_loops.row_slices(case.twin)[count:]):
        tau += s.G[rows][0] * forces.torque[i]
    vdot = naive.forward_dynamics(
        case.bodies, case.q, case.v, tau, case.gravity, case.f_ext + pushed
    )
    size = np.linalg.norm(forces.wrench) + np.linalg.norm(case.tau) + np.linalg.norm(s.bias)
    bound = 100 * EPS * case.kappa * np.linalg.cond(s.M) * size / np.linalg.norm(s.M, 2)
    assert np.linalg.norm(vdot - s.vdot) <= bound + 1e-12 * case.speed_up
