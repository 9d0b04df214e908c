"""Terminal, composite and articulated models of the interbody force (SOA slides 2024)."""

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from sko_cases import SEEDS, case_of, close
from skodyn import sko


@pytest.fixture(params=SEEDS)
def case(request):
    return case_of(request.param)


def motion(case):
    """(𝒯, θ̈, α, f) of a motion, by the dense twin."""
    twin = case.twin
    tau = np.random.default_rng([14, case.model.nv]).normal(size=case.model.nv)
    vdot = np.linalg.solve(twin.mass, tau - twin.bias) if len(tau) else tau
    alpha = twin.A.T @ (twin.H.T @ vdot + twin.a)
    return tau, vdot, alpha, twin.A @ (twin.M @ alpha + twin.b)


def scale_of(case, f):
    return max(np.abs(f).max(), 1.0) * np.abs(case.twin.A).max() ** 2 * np.abs(case.twin.M).max()


def test_every_model_explains_the_same_force(case):
    tau, vdot, _, f = motion(case)
    size, kappa = scale_of(case, f), case.twin.kappa
    for split in (sko.terminal_model(case.model, vdot), sko.composite_model(case.model, vdot)):
        close(split.force, f, size)
    for split in (sko.articulated_model(case.model, tau), sko.inboard_model(case.model, tau)):
        close(split.force, f, size, kappa)


def test_the_inertia_terms_are_those_of_the_slides(case):
    tau, vdot, alpha, f = motion(case)
    twin, size, kappa = case.twin, scale_of(case, f), case.twin.kappa
    R = np.zeros_like(twin.M)
    state = twin.A @ twin.M @ twin.A.T
    for part in twin.nodes:
        R[part, part] = state[part, part]
    alpha_plus = twin.E.T @ alpha
    close(sko.terminal_model(case.model, vdot).inertia, twin.M @ alpha, size)
    close(sko.composite_model(case.model, vdot).inertia, R @ alpha, size)
    close(sko.articulated_model(case.model, tau).inertia, twin.P @ alpha, size, kappa)
    close(sko.inboard_model(case.model, tau).inertia, twin.P_plus @ alpha_plus, size, kappa)


def test_one_node_is_read_by_name(case):
    tau, *_ = motion(case)
    split = sko.articulated_model(case.model, tau)
    for k, part in enumerate(case.twin.nodes):
        inertia, residual = split.of(k)
        np.testing.assert_array_equal(inertia, split.inertia[part])
        np.testing.assert_array_equal(residual, split.residual[part])


def test_inertias_are_ordered(case):
    """R ≥ P ≥ M and P ≥ P⁺ ≥ 0."""
    solution, R = sko.riccati(case.model), sko.composite_inertias(case.model)
    for k in range(case.model.n_nodes):
        P, M, P_plus = solution.P[k], case.model.M[k], solution.P_plus[k]
        small = 1e-12 * case.twin.kappa * max(np.abs(R[k]).max(), 1.0)
        for difference in (R[k] - P, P - M, P - P_plus, P_plus):
            assert np.linalg.eigvalsh((difference + difference.T) / 2).min(initial=0.0) > -small


def chain(kind):
    """Three bodies; the middle joint is locked or leaves all six freedoms."""
    rng = np.random.default_rng(15)
    builder = sk.ModelBuilder()
    joints = (sk.Revolute((0, 1, 0)), {"locked": sk.Fixed, "free": sk.Free}[kind](), sk.Spherical())
    for k, joint in enumerate(joints):
        mass, com, inertia = naive.random_inertia(rng)
        builder.add_body(
            f"b{k}", f"b{k - 1}" if k else "world", joint, translation=rng.normal(size=3),
            mass=mass, com=com, inertia=inertia,
        )  # fmt: skip
    model = builder.build()
    q, v = model.random_state(rng)
    return sk.sko_model(model, q, v), rng


def test_a_locked_joint_passes_everything_through():
    model, rng = chain("locked")
    solution = sko.riccati(model)
    close(solution.P_plus[1], solution.P[1])
    assert solution.D[1].shape == (0, 0)
    tau = rng.normal(size=model.nv)
    inner, outer = sko.inboard_model(model, tau), sko.articulated_model(model, tau)
    P, a = solution.P[1], model.a[model.node_slice(1)]
    close(inner.of(1)[1], outer.of(1)[1] + P @ a, scale=np.abs(P).max() * 10)  # 𝔷⁺ = 𝔷


def test_a_joint_with_six_freedoms_passes_on_only_its_own_torques():
    model, rng = chain("free")
    solution = sko.riccati(model)
    size = np.abs(solution.P[1]).max()
    close(solution.P_plus[1], np.zeros((6, 6)), scale=size, kappa=np.linalg.cond(solution.P[1]))
    tau = rng.normal(size=model.nv)
    _, residual = sko.inboard_model(model, tau).of(1)
    through_joint = np.linalg.solve(model.H_block(1), tau[model.dof_slice(1)])
    close(residual, through_joint, scale=10.0, kappa=np.linalg.cond(solution.P[1]))


def test_tau_is_a_projection_as_the_slides_say(case):
    """τ² = τ, τG = G, τ̄*H* = 0, τP = Pτ* = τPτ*, and P⁺ in its three forms."""
    solution = sko.riccati(case.model)
    for k in range(case.model.n_nodes):
        H, P, G = case.model.H[k], solution.P[k], solution.G[k]
        tau, tau_bar, P_plus = solution.tau[k], solution.tau_bar[k], solution.P_plus[k]
        turned = max(np.abs(tau).max(initial=0.0), 1.0)
        size, kappa = turned**2 * np.abs(P).max(), case.twin.kappa
        close(tau @ tau, tau, turned**2, kappa)
        close(tau @ G, G, turned * np.abs(G).max(initial=1.0), kappa)
        close(tau_bar.T @ H.T, np.zeros_like(H.T), turned * np.abs(H).max(initial=1.0), kappa)
        for form in (P @ tau.T, tau @ P @ tau.T):
            close(tau @ P, form, size, kappa)
        for form in (tau_bar @ P, P @ tau_bar.T, tau_bar @ P @ tau_bar.T):
            close(P_plus, form, size, kappa)


def test_the_gain_of_an_uncoupled_hinge_is_one():
    """The slide prints D = P = G; with H = I, G = PH*D⁻¹ = I."""
    rng = np.random.default_rng(18)
    factor = rng.normal(size=(6, 6))
    M = factor @ factor.T + np.eye(6)
    solution = sko.riccati(sko.SKOModel([-1], A=[None], H=[np.eye(6)], M=[M]))
    kappa = np.linalg.cond(M)
    close(solution.D[0], M, np.abs(M).max())
    close(solution.G[0], np.eye(6), 1.0, kappa)
    close(solution.tau_bar[0], np.zeros((6, 6)), 1.0, kappa)
    assert np.abs(solution.G[0] - M).max() > 1.0


def test_floppy_joints_leave_no_articulated_residual():
    """With no torque, velocity, weight or push, f = Pα: here only the base is driven."""
    bodies = naive.random_bodies(np.random.default_rng(16), 8, branching=0.5)
    model = adapters.build(bodies, gravity=(0, 0, 0))
    q, _ = model.random_state(np.random.default_rng(17))
    still = sk.sko_model(model, q)
    tau = np.zeros(model.nv)
    for base in still.tree.bases:
        tau[still.dof_slice(int(base))] = 1.0
    split = sko.articulated_model(still, tau)
    np.testing.assert_array_equal(split.residual, 0.0)
    assert np.abs(split.inertia).max() > 0
    assert np.abs(sko.terminal_model(still, sko.forward_dynamics(still, tau)).residual).max() > 1e-3


def test_rigid_models_have_the_joint_forces_of_the_kernels():
    bodies = naive.random_bodies(np.random.default_rng(18), 9)
    model = adapters.build(bodies)
    rng = np.random.default_rng(19)
    q, v = model.random_state(rng)
    tau = rng.normal(size=model.nv)
    expected = sk.joint_forces(model, q, v, tau)
    split = sko.inboard_model(sk.sko_model(model, q, v), tau)
    kappa = np.linalg.cond(sk.mass_matrix(model, q))
    close(split.force.reshape(-1, 6), np.asarray(expected), kappa=kappa)
