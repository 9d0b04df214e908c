"""Every function of closed loops against the dense twin (tests/naive_loops.py), on mechanisms drawn
at random: planar and spatial, every closing joint, 1 to 6 loops, shared, nested, floating, coupled.

A bound is a few roundings times the condition number: of X*𝓜X, and of G where X is found from it.
"""

from functools import cache

import numpy as np
import pytest

import naive
import naive_loops
import skodyn as sk
from loop_mechanisms import EPS, case_of, of_loop

SEEDS = range(120)
FEW = range(0, 120, 4)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return case_of(request.param)


@pytest.fixture(params=FEW, ids=lambda seed: f"seed{seed}")
def some(request):
    return case_of(request.param)


@cache
def states(seed, count=13):
    """Closed states of a mechanism in list order: pushed along what is free, closed again."""
    case = case_of(seed)
    X, rng = case.solution.parts.X, np.random.default_rng(seed)
    found = [(case.q, case.v)]
    reach = 0.3
    while len(found) < count:
        pushed = naive.integrate(case.bodies, case.q, reach * X @ rng.uniform(-1, 1, X.shape[1]))
        q = naive_loops.closed(case.twin, pushed, steps=8)
        parts = naive_loops.decompose(naive_loops.jacobian(case.twin, q))
        if np.abs(naive_loops.residual(case.twin, q)).max() < 1e-12 and parts.X.shape == X.shape:
            v = parts.X @ rng.normal(size=X.shape[1])
            found.append((q, v))
        else:
            reach /= 2
    return found


def packed(case):
    """(model, q, v, tau, f_ext) in packed order."""
    return case.built, *case.state(case.built), case.packed_bodies(case.built, case.f_ext)


def near(actual, expected, bound):
    assert np.shape(actual) == np.shape(expected)
    error = np.linalg.norm(np.asarray(actual) - expected)
    assert error <= bound, f"{error:.2e}, allowed {bound:.2e}"


def check_forward_dynamics(case):
    model, q, v, tau, f = packed(case)
    vdot = sk.forward_dynamics(model, q, v, tau, f)
    near(vdot, case.packed_v(model, case.solution.vdot), 30 * EPS * case.kappa * case.speed_up)


def test_forward_dynamics(case):
    check_forward_dynamics(case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120, 1000))
def test_forward_dynamics_of_many_more(seed):
    check_forward_dynamics(case_of.__wrapped__(seed))


def test_accelerations_keep_the_loops_closed(case):
    """Gv̇ + γ = 0 with the twin's G and γ, whatever else v̇ may be."""
    model, q, v, tau, f = packed(case)
    s = case.solution
    vdot = sk.forward_dynamics(model, q, v, tau, f)
    G = case.packed_v(model, s.G)
    size = max(1.0, np.linalg.norm(s.gamma), case.speed_up * s.parts.sigma[0])
    assert np.abs(G @ vdot + s.gamma).max() <= 30 * EPS * case.kappa * size


def test_without_gravity_motion_or_torque_an_external_force_still_moves_it(case):
    """No other term hides a sign."""
    model, q, _, _, f = packed(case)
    rest = np.zeros(model.nv)
    pushed = sk.forward_dynamics(model, q, rest, rest, f) - sk.forward_dynamics(
        model, q, rest, rest
    )
    jacobians = naive.body_jacobians(case.bodies, case.q)
    tau = sum(J.T @ x for J, x in zip(jacobians, case.f_ext, strict=True))
    expected = naive_loops.constrained_inverse(case.twin, case.q) @ tau
    weight = naive.gravity_force(case.bodies, case.q, case.gravity)
    size = np.linalg.norm(np.abs(tau) + np.abs(weight))
    size *= np.linalg.norm(naive_loops.constrained_inverse(case.twin, case.q), 2)
    near(pushed, case.packed_v(model, expected), 30 * EPS * case.kappa * size)


# ---- rows ---------------------------------------------------------------------------------------


def invariants(g, G):
    """|g|, G*g and G*G: what does not depend on the axes in which rows are written."""
    return np.linalg.norm(g), G.T @ g, G.T @ G


def masked(case, number, G):
    """Rows of the twin with columns of the cycle's joints only."""
    kept = np.zeros(G.shape[1], bool)
    for k in naive_loops.cycle(case.twin, number):
        kept[naive.offsets(case.bodies)[1][k]] = True
    return np.where(kept, G, 0.0)


@pytest.mark.parametrize("apart", [0.0, 0.05])
def test_rows_and_their_jacobian_closed_and_open(some, apart):
    case, model = some, some.built
    listed = naive.integrate(case.bodies, case.q, apart * case.tau / 3)
    q = case.packed_q(model, listed)
    v = case.packed_v(model, case.tau)
    error, rate = sk.loop_error(model, q), sk.loop_rate(model, q, v)
    mine, g = sk.loop_jacobian(model, q), naive_loops.residual(case.twin, listed)
    G = naive_loops.jacobian(case.twin, listed)
    assert error.shape == rate.shape == g.shape
    assert mine.shape == G.shape
    loops = len(case.loops)
    for i, where in enumerate(naive_loops.row_slices(case.twin)):
        expected = case.packed_v(model, masked(case, i, G[where]))
        for one, two in zip(
            invariants(error[where], mine[where]), invariants(g[where], expected), strict=True
        ):
            bound = 200 * EPS
            if i < loops and case.loops[i]["joint"]["kind"] == "helical":
                bound += 10 * np.abs(g[where]).max()  # its turn has a meaning where axes meet
            assert np.abs(one - two).max() <= bound * (1 + np.abs(expected).max()) ** 2
    roundings = np.abs(rate - mine @ v) / (1 + np.abs(mine) @ np.abs(v)) / EPS
    assert roundings.max() <= 200


def test_rows_are_zero_where_a_mechanism_is_closed(case):
    model, q, v, _, _ = packed(case)
    assert np.abs(sk.loop_error(model, q)).max() < 1e-13
    assert np.abs(sk.loop_rate(model, q, v)).max() < 1e-13 * max(1, case.kappa)


@pytest.mark.parametrize("apart", [0.0, 0.01])
def test_the_jacobian_is_the_derivative_of_the_rows(some, apart):
    """By central differences through model.integrate; the turn of a helix, where it is closed."""
    model, q, _, tau, _ = packed(some)
    q, h = model.integrate(q, apart * tau), 1e-6
    G = sk.loop_jacobian(model, q)
    judged = np.ones(len(G), bool)
    for loop, rows in zip(some.loops, naive_loops.row_slices(some.twin), strict=False):
        judged[rows] = not apart or loop["joint"]["kind"] != "helical"
    for e in np.eye(model.nv):
        ends = [sk.loop_error(model, model.integrate(q, s * e)) for s in (h, -h)]
        on_cycle = np.abs(G @ e) > 0  # above the cycle both ends move alike, rows turn with them
        error = (ends[0] - ends[1]) / (2 * h) - G @ e
        assert np.abs(error)[on_cycle & judged].max(initial=0) < 1e-7 * (1 + np.abs(G).max())


# ---- what follows from the rows -----------------------------------------------------------------


def test_the_basis_spans_all_consistent_velocities_and_nothing_else(case):
    model, q, _, _, _ = packed(case)
    X = sk.loop_basis(model, q)
    expected = case.packed_v(model, case.solution.parts.X.T).T
    assert X.shape == expected.shape
    if X.shape[1]:
        Q = np.linalg.qr(X)[0]
        bound = 30 * EPS * case.kappa * np.linalg.cond(X)
        assert np.linalg.norm(Q - expected @ (expected.T @ Q), 2) <= bound


def test_velocities_are_projected_in_the_mass_metric(case):
    model, q, _, tau, _ = packed(case)
    expected = naive_loops.project_velocity(case.twin, case.q, case.tau)
    actual = sk.project_velocity(model, q, tau)
    heavy = np.linalg.cond(case.solution.M)
    near(
        actual, case.packed_v(model, expected), 30 * EPS * case.kappa * heavy * np.linalg.norm(tau)
    )
    assert np.abs(sk.loop_rate(model, q, actual)).max() <= (
        1e-14 * max(1, case.kappa) * (1 + np.abs(actual).max())
    )
    again = sk.project_velocity(model, q, actual)
    near(again, actual, 30 * EPS * heavy * np.linalg.norm(actual))


def test_the_solve_is_that_of_the_constrained_mass_matrix(case):
    model, q, _, tau, _ = packed(case)
    inverse = naive_loops.constrained_inverse(case.twin, case.q)
    expected, size = case.packed_v(model, inverse @ case.tau), np.linalg.norm(inverse, 2)
    bound = 30 * EPS * case.kappa * size * np.linalg.norm(tau)
    near(sk.mass_matrix_solve(model, q, tau), expected, bound)
    columns = sk.mass_matrix_solve(model, q, tau[:, None] * np.array([1.0, -2.0, 0.0]))
    near(columns, expected[:, None] * np.array([1.0, -2.0, 0.0]), 3 * bound)


def test_operational_space_compliance(some):
    case = some
    model, q, _, _, _ = packed(case)
    rng = np.random.default_rng(case.seed)
    nodes = [(int(k), rng.normal(size=3)) for k in rng.integers(model.n_bodies, size=3)]
    actual = sk.operational_space_compliance(model, q, nodes)
    assert (actual == actual.T).all()
    order = [case.bodies[k]["name"] for k in range(model.n_bodies)]
    places = [(order.index(model.body_names[k]), p) for k, p in nodes]
    J = np.concatenate([naive.jacobian(case.bodies, case.q, k, p) for k, p in places])
    inverse = naive_loops.constrained_inverse(case.twin, case.q)
    size = np.linalg.norm(J, 2) ** 2 * np.linalg.norm(inverse, 2)
    near(actual, J @ inverse @ J.T, 30 * EPS * case.kappa * size)


def test_loop_forces_are_unique_where_they_should_be_and_right_there(case):
    model, q, v, tau, f = packed(case)
    expected = naive_loops.loop_forces(case.twin, case.q, case.solution)
    actual = sk.loop_forces(model, q, v, tau, f)
    size = np.linalg.norm(case.solution.torque) + np.linalg.norm(case.solution.bias)
    size += np.linalg.norm(tau)
    rank = case.solution.parts.rank
    weakest = case.solution.parts.sigma[rank - 1] if rank else 1.0
    bound = 100 * EPS * case.kappa * np.linalg.cond(case.solution.M) * size / min(1.0, weakest)
    for i, name in enumerate(model.loops):
        known = expected.unique[i]
        assert (of_loop(model, actual.unique, name) == known).all()
        error = (of_loop(model, actual.wrench, name) - expected.wrench[i])[known]
        assert np.abs(error).max(initial=0.0) <= bound
    sure = expected.torque_unique
    assert (actual.unique_torque == sure).all()
    assert np.abs(actual.torque - expected.torque)[sure].max(initial=0.0) <= bound


def test_loop_and_joint_forces_hold_the_bodies_in_their_motion(case):
    """Newton and Euler for every body: also where redundant rows leave the loops a choice."""
    model, q, v, tau, f = packed(case)
    wrenches = sk.loop_forces(model, q, v, tau, f).wrench
    listed = np.array([of_loop(model, wrenches, name) for name in model.loops])
    pushed = naive_loops.external_forces(case.twin, case.q, listed) + case.f_ext
    s = case.solution
    expected = naive.joint_forces(case.bodies, case.q, case.v, s.vdot, case.gravity, pushed)
    actual = sk.joint_forces(model, q, v, tau, f)
    weight = np.linalg.norm(naive.body_inertias(case.bodies, case.q)) * case.speed_up
    size = np.linalg.norm(expected) + np.linalg.norm(pushed) + weight
    near(actual, case.packed_bodies(model, expected), 100 * EPS * case.kappa * size)


# ---- one state and many -------------------------------------------------------------------------


def batches(case, count=13):
    model = case.built
    listed = states(case.seed, count)
    q = np.array([case.packed_q(model, x) for x, _ in listed])
    v = np.array([case.packed_v(model, y) for _, y in listed])
    rng = np.random.default_rng(1)
    return model, q, v, rng.normal(size=v.shape), rng.normal(size=(count, model.n_bodies, 6))


CALLS = {
    "loop_error": lambda m, q, v, tau, f: sk.loop_error(m, q),
    "loop_rate": lambda m, q, v, tau, f: sk.loop_rate(m, q, v),
    "loop_jacobian": lambda m, q, v, tau, f: sk.loop_jacobian(m, q),
    "loop_basis": lambda m, q, v, tau, f: sk.loop_basis(m, q),
    "loop_forces": lambda m, q, v, tau, f: sk.loop_forces(m, q, v, tau, f).wrench,
    "forward_dynamics": lambda m, q, v, tau, f: sk.forward_dynamics(m, q, v, tau),
    "with external forces": sk.forward_dynamics,
    "mass_matrix_solve": lambda m, q, v, tau, f: sk.mass_matrix_solve(m, q, tau),
    "project_velocity": lambda m, q, v, tau, f: sk.project_velocity(m, q, tau),
    "joint_forces": sk.joint_forces,
    "compliance": lambda m, q, v, tau, f: sk.operational_space_compliance(m, q, [(0, (1, 2, 3))]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("seed", range(0, 60, 7))
def test_a_batch_has_the_bits_of_single_states(call, seed):
    model, *arrays = batches(case_of(seed))
    function = CALLS[call]
    alone = np.array([function(model, *(a[i] for a in arrays)) for i in range(13)])
    assert np.array_equal(function(model, *arrays), alone)
    rng = np.random.default_rng(seed)
    for width in rng.integers(1, 14, size=4):
        chosen = rng.permutation(13)[:width]
        assert np.array_equal(function(model, *(a[chosen] for a in arrays)), alone[chosen])


def test_results_go_into_given_arrays():
    model, q, v, tau, f = batches(case_of(3))
    for n in (slice(None), 4):
        result = np.full(v[n].shape, np.nan)
        assert sk.forward_dynamics(model, q[n], v[n], tau[n], f[n], out=result) is result
        assert np.array_equal(result, sk.forward_dynamics(model, q[n], v[n], tau[n], f[n]))
        assert sk.mass_matrix_solve(model, q[n], tau[n], out=result) is result
        assert np.array_equal(result, sk.mass_matrix_solve(model, q[n], tau[n]))


def test_threads_do_not_change_the_bits():
    model, q, v, tau, f = (np.tile(a, (5,) + (1,) * (a.ndim - 1)) if isinstance(a, np.ndarray)
                           else a for a in batches(case_of(9)))  # fmt: skip
    one = sk.forward_dynamics(model, q, v, tau, f, threads=1)
    assert np.array_equal(one, sk.forward_dynamics(model, q, v, tau, f, threads=2))
