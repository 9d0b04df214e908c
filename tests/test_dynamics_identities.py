"""Identities that hold whatever the numbers are: the papers' recursions, power and momentum.

Rates are taken by differences of fourth order at two step sizes; how far the two lie apart bounds
the error of the finer one, so that no tolerance is picked by hand.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from skodyn.dynamics import driver
from skodyn.dynamics.algorithms import JOINT_FORCES
from skodyn.kernels.workspace import BODY, DOF, SUMS, pack_block
from skodyn.model import layout

EPS = np.finfo(float).eps
SEEDS = range(24)
NOTHING = driver.NOTHING


def make(seed, kinds=None, free_base=False):
    """A random system and state in packed order, with the twin's view of both."""
    rng = np.random.default_rng([77, seed])
    n = 2 + seed % 11
    bodies = naive.random_bodies(rng, n, kinds=kinds, massless=0.4 * (seed % 3 == 2))
    if free_base:
        others = [b for b in bodies if b["parent"] == -1]
        others[0]["joint"] = {"kind": "free"}
        for b in others[1:]:  # one base carries all
            b["parent"] = bodies.index(others[0])
    gravity = rng.normal(scale=5.0, size=3)
    model = adapters.build(bodies, gravity)
    q, v = naive.random_state(rng, bodies)
    mass = naive.mass_matrix(bodies, q)
    return SimpleNamespace(
        bodies=bodies,
        gravity=gravity,
        model=model,
        listed_q=q,
        q=adapters.to_packed_q(model, bodies, q),
        v=adapters.to_packed_v(model, bodies, v),
        tau=rng.normal(scale=3.0, size=model.nv),
        f=rng.normal(scale=3.0, size=(n, 6)),
        mass=mass,
        kappa=np.linalg.cond(mass),
        rng=rng,
    )


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return make(request.param)


def run_kernel(algorithm, case, size, tau, f_ext):
    """What a kernel writes, and the workspace it leaves behind, at width 1."""
    lanes = driver._lanes(case.model)
    block = pack_block(case.model.kernel_tree, case.model.parameters, lanes)
    out = np.full(size, np.nan)
    status = algorithm.ready(block, case.q, *algorithm.given(case.v, tau, f_ext), out)
    assert status == 0
    return out, block[len(block) - lanes :]


def within(actual, expected, bound):
    error = np.abs(np.asarray(actual) - np.asarray(expected)).max(initial=0.0)
    assert error <= bound, f"{error:.3g} > {bound:.3g}"


# ---- the articulated body model, eq. 33 of Jain 2011-II ----------------------------------------


def read_articulated(record):
    """The 6×6 matrix of 21 stored numbers."""
    a, b, c = record[:6], record[6:15].reshape(3, 3), record[15:21]
    full = [np.array([[s[0], s[1], s[2]], [s[1], s[3], s[4]], [s[2], s[4], s[5]]]) for s in (a, c)]
    return np.block([[full[0], b], [b.T, full[1]]])


def kernel_articulated(case):
    """P, P⁺, τ̄ and the pivots of every packed body, read from a workspace of forward dynamics."""
    model, n = case.model, case.model.n_bodies
    size = model.nv + 12 * model.n_bodies  # this kernel keeps the sums that others only carry
    _, ws = run_kernel(JOINT_FORCES, case, size, case.tau, NOTHING)
    order = adapters.packed_order(model)
    own = naive.body_inertias(case.bodies, case.listed_q)[order]
    maps = naive.hinge_maps(case.bodies, case.listed_q)
    found = []
    for k in range(n):
        slot = (n + 1) * BODY.size + (k + 1) * SUMS.size + SUMS.INERTIA
        has_children = model.indices[k, layout.SUBTREE_END] > k + 1
        P = own[k] + (read_articulated(ws[slot : slot + 21]) if has_children else 0.0)
        P_plus, tau_bar, pivots = P.copy(), np.eye(6), []
        start, dofs = model.indices[k, layout.V_START], model.indices[k, layout.N_DOF]
        for i in reversed(range(dofs)):
            both = BODY.size + SUMS.size
            record = (n + 1) * both + (start + i) * DOF.size
            u = ws[record + DOF.GAIN : record + DOF.GAIN + 6]
            inverse = ws[record + DOF.PIVOT]
            P_plus -= np.outer(u, u) * inverse
            tau_bar = (np.eye(6) - np.outer(u, maps[order[k]][:, i]) * inverse) @ tau_bar
            pivots.append(1 / inverse)
        found.append(SimpleNamespace(P=P, P_plus=P_plus, tau_bar=tau_bar, pivots=pivots))
    return found, maps, order


def test_articulated_inertias_gains_and_projections_solve_the_riccati_equation(case):
    found, maps, order = kernel_articulated(case)
    twin = naive.articulated(case.bodies, case.listed_q)
    _, p = naive.forward_kinematics(case.bodies, case.listed_q)
    roundings = 10 * case.kappa * EPS
    for k, body in zip(order, found, strict=True):
        size = np.abs(twin.P[k]).max()
        within(body.P, twin.P[k], roundings * size)
        within(body.P_plus, twin.P_plus[k], roundings * size)
        within(body.P_plus, body.tau_bar @ body.P, roundings * size)
        projected = max(np.abs(twin.tau[k]).max(), np.abs(twin.tau_bar[k]).max())
        within(body.tau_bar, twin.tau_bar[k], roundings * projected)
        tau = np.eye(6) - body.tau_bar
        within(tau, twin.tau[k], roundings * projected)
        H = maps[k].T
        if len(H) == 0:  # locked: it passes P through
            assert (body.P_plus == body.P).all()
            assert (tau == 0).all()
            continue
        D = H @ body.P @ H.T
        within(D, twin.D[k], roundings * np.abs(H).max() ** 2 * size)
        within(np.prod(body.pivots) / np.linalg.det(twin.D[k]), 1.0, roundings)
        G = tau @ H.T @ np.linalg.inv(H @ H.T)
        within(G, twin.G[k], roundings * np.abs(twin.G[k]).max() * np.linalg.cond(H @ H.T))
        parent = case.bodies[k]["parent"]
        if parent != -1:
            phi = naive.shift(p[k] - p[parent])
            psi = phi @ body.tau_bar
            within(psi, twin.psi_weight[k], roundings * np.abs(phi).max() * projected)


def test_log_det_of_the_mass_matrix_is_the_sum_of_those_of_D(case):
    found, _, _ = kernel_articulated(case)
    logarithms = np.log(np.concatenate([body.pivots for body in found]))
    bound = 10 * EPS * (case.kappa * case.model.nv + np.abs(logarithms).sum())
    within(sk.mass_matrix_logdet(case.model, case.q), logarithms.sum(), bound)
    within(sk.mass_matrix_logdet(case.model, case.q), np.linalg.slogdet(case.mass)[1], bound)


def test_both_forms_of_the_joint_force_agree(case):
    n, nv = case.model.n_bodies, case.model.nv
    out, _ = run_kernel(JOINT_FORCES, case, nv + 12 * n, case.tau, case.f.reshape(-1))
    outboard, inboard = out[nv:].reshape(n, 2, 6).transpose(1, 0, 2)
    within(outboard, inboard, 10 * case.kappa * EPS * np.abs(outboard).max())
    assert (outboard == sk.joint_forces(case.model, case.q, case.v, case.tau, case.f)).all()
    assert (out[:nv] == sk.forward_dynamics(case.model, case.q, case.v, case.tau, case.f)).all()


def test_joint_forces_do_the_work_of_tau(case):
    """H·f = tau at every joint."""
    forces = sk.joint_forces(case.model, case.q, case.v, case.tau, case.f)
    maps = naive.hinge_maps(case.bodies, case.listed_q)
    order = adapters.packed_order(case.model)
    felt = np.concatenate([maps[k].T @ f for k, f in zip(order, forces, strict=True)])
    within(felt, case.tau, 10 * case.kappa * EPS * (np.abs(forces).max() + np.abs(case.tau).max()))


# ---- linear algebra ----------------------------------------------------------------------------


def test_solve_and_inverse_undo_the_mass_matrix(case):
    M = sk.mass_matrix(case.model, case.q)
    bound = 10 * case.kappa * EPS
    x = sk.mass_matrix_solve(case.model, case.q, case.tau)
    within(M @ x, case.tau, bound * np.linalg.norm(M, 2) * np.linalg.norm(x))
    inverse = sk.mass_matrix_inverse(case.model, case.q)
    within(M @ inverse, np.eye(len(M)), bound * case.kappa)
    within(inverse, inverse.T, bound * np.abs(inverse).max())
    within(inverse @ case.tau, x, bound * np.linalg.norm(inverse, 2) * np.linalg.norm(case.tau))


def test_forward_dynamics_is_affine_in_tau_and_in_external_forces(case):
    def answer(tau, f):
        return sk.forward_dynamics(case.model, case.q, case.v, tau, f)

    other = case.rng.normal(size=case.tau.shape)
    none, zero = np.zeros_like(case.tau), np.zeros_like(case.f)
    parts = [answer(none, zero), answer(case.tau, zero), answer(other, zero), answer(none, case.f)]
    together = answer(case.tau + other, case.f)
    size = sum(np.linalg.norm(p) for p in parts)
    sum_of_parts = parts[1] + parts[2] + parts[3] - 2 * parts[0]
    within(together, sum_of_parts, 10 * case.kappa * EPS * size)
    answered = sk.mass_matrix_solve(case.model, case.q, case.tau)
    within(parts[1] - parts[0], answered, 10 * case.kappa * EPS * size)


def test_inverse_dynamics_is_mass_matrix_times_vdot_plus_bias(case):
    M = sk.mass_matrix(case.model, case.q)
    bias = sk.bias_force(case.model, case.q, case.v, case.f)
    tau = sk.inverse_dynamics(case.model, case.q, case.v, case.tau, case.f)
    size = np.linalg.norm(M, 2) * np.linalg.norm(case.tau) + np.linalg.norm(bias)
    within(tau, M @ case.tau + bias, 10 * case.kappa * EPS * size)


def test_jacobian_times_v_is_the_velocity_of_the_point(case):
    V, _, _ = sk.velocities(case.model, case.q, case.v)
    rotations, _ = sk.forward_kinematics(case.model, case.q)
    for k in range(case.model.n_bodies):
        point = case.rng.normal(size=3)
        expected = naive.shift(rotations[k] @ point).T @ V[k]
        J = sk.jacobian(case.model, case.q, k, point)
        within(J @ case.v, expected, 50 * EPS * np.abs(J).max() * np.abs(case.v).sum())


def test_compliance_is_what_a_force_at_the_node_sets_in_motion(case):
    """J 𝓜⁻¹ Jᵀ f, by forward dynamics with and without the force."""
    k = case.model.n_bodies - 1
    compliance = sk.operational_space_compliance(case.model, case.q, [(k, (0, 0, 0))])
    push = np.zeros_like(case.f)
    push[k] = case.f[k]
    rest = np.zeros_like(case.v)
    with_push = sk.forward_dynamics(case.model, case.q, rest, rest, push)
    without = sk.forward_dynamics(case.model, case.q, rest, rest)
    J = sk.jacobian(case.model, case.q, k)
    size = np.linalg.norm(J, 2) * (np.linalg.norm(with_push) + np.linalg.norm(without))
    size += np.abs(compliance).max() * np.abs(case.f[k]).sum()
    answered = J @ (with_push - without)
    within(answered, compliance @ case.f[k], 10 * case.kappa * EPS * size)


def test_kinetic_energy_is_half_v_M_v(case):
    kinetic, _ = sk.energy(case.model, case.q, case.v)
    M = sk.mass_matrix(case.model, case.q)
    size = np.linalg.norm(M, 2) * (case.v @ case.v)
    within(kinetic, case.v @ M @ case.v / 2, 50 * EPS * size)


# ---- rates along a motion ----------------------------------------------------------------------


def rate(function, q, v, vdot, model):
    """(d/dt of function(q, v), a bound of its error) by five-point differences."""

    def five_point(h):
        at = {t: function(model.integrate(q, t * h * v), v + t * h * vdot) for t in (-2, -1, 1, 2)}
        return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)

    h = 2.0**-9 / (1 + np.abs(v).max())
    fine, coarse = five_point(h), five_point(2 * h)
    rounding = 50 * EPS * np.abs(function(q, v)).max() / h
    # a fourth-order error shrinks 16-fold: the finer one is a fifteenth of the difference
    return fine, np.abs(fine - coarse).max() / 5 + rounding


def test_power(case):
    """d/dt (kinetic + potential) = v·tau + Σ V·f."""
    model = case.model
    vdot = sk.forward_dynamics(model, case.q, case.v, case.tau, case.f)
    V, _, _ = sk.velocities(model, case.q, case.v)
    power = case.v @ case.tau + np.sum(V * case.f)
    found, error = rate(lambda q, v: np.sum(sk.energy(model, q, v)), case.q, case.v, vdot, model)
    flow = np.linalg.norm(case.mass, 2) * np.linalg.norm(vdot) * np.linalg.norm(case.v)
    within(found, power, error + 10 * case.kappa * EPS * flow)
    assert error < 1e-5 * (1 + flow), "the differences say nothing"


def test_coriolis_terms_do_the_work_of_half_the_rate_of_the_mass_matrix(case):
    """v·C(q, v) = ½ vᵀ Ṁ v: only so is energy kept."""
    floating = adapters.build(case.bodies, (0.0, 0.0, 0.0))
    work = case.v @ sk.bias_force(floating, case.q, case.v)
    found, error = rate(
        lambda q, _: case.v @ sk.mass_matrix(floating, q) @ case.v / 2,
        case.q, case.v, np.zeros_like(case.v), floating,
    )  # fmt: skip
    size = np.linalg.norm(case.mass, 2) * np.linalg.norm(case.v) ** 2
    within(work, found, error + 50 * EPS * size * (1 + np.linalg.norm(case.v)))
    assert error < 1e-5 * (1 + size), "the differences say nothing"


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_of_a_free_system_changes_by_weight_and_external_forces(seed):
    case = make(seed, free_base=True)
    model = case.model
    tau = case.tau.copy()
    tau[model.v_slice(model.joint_names[0])] = 0  # nothing holds the base
    assert model.joints[0].type_name == "free"
    assert (model.parent == -1).sum() == 1
    vdot = sk.forward_dynamics(model, case.q, case.v, tau, case.f)
    order = adapters.packed_order(model)
    wrenches = naive.weights(case.bodies, case.listed_q, case.gravity)[order] + case.f
    _, p = sk.forward_kinematics(model, case.q)
    expected = sum(naive.shift(x) @ w for x, w in zip(p, wrenches, strict=True))
    found, error = rate(lambda q, v: sk.momentum(model, q, v), case.q, case.v, vdot, model)
    reach = (1 + np.abs(p).max()) ** 2
    size = np.linalg.norm(case.mass, 2) * np.linalg.norm(vdot) * reach
    within(found, expected, error + 10 * case.kappa * EPS * size)
    assert error < 1e-5 * (1 + size), "the differences say nothing"


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobian_dot_v_is_the_rate_of_J_v(seed):
    case = make(seed)
    model, k = case.model, case.model.n_bodies - 1
    point = case.rng.normal(size=3)
    found, error = rate(
        lambda q, v: sk.jacobian(model, q, k, point) @ v,
        case.q, case.v, np.zeros_like(case.v), model,
    )  # fmt: skip
    expected = sk.jacobian_dot_v(model, case.q, case.v, k, point)
    within(expected, found, error + 50 * EPS * np.abs(expected).max())
    assert error < 1e-5 * (1 + np.abs(expected).max()), "the differences say nothing"
