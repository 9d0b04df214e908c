"""The naive twin against closed forms, conservation laws and the papers' identities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import naive

GRAVITY = np.array([0.3, -0.4, -9.81])


def system(seed, n=12, **options):
    """A random system with a random state and random vdot, external forces."""
    rng = np.random.default_rng(seed)
    bodies = naive.random_bodies(rng, n, **options)
    q, v = naive.random_state(rng, bodies)
    return bodies, q, v, rng.normal(size=len(v)), rng.normal(size=(n, 6))


def close(actual, expected, tolerance=1e-9):
    """Equality up to a tolerance relative to the largest entry."""
    scale = 1 + np.max(np.abs(expected), initial=0)
    assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


SYSTEMS = [
    {"seed": 1},
    {"seed": 2, "branching": 0.0},
    {"seed": 3, "branching": 1.0},
    {"seed": 4, "massless": 1.0},
    {"seed": 5, "n": 1},
    *({"seed": 6, "n": 4, "kinds": [kind, "fixed"]} for kind in naive.KINDS[1:]),
]


@pytest.fixture(params=SYSTEMS, ids=lambda options: "-".join(map(str, options.values())))
def drawn(request):
    return system(**request.param)


def test_random_bodies_show_what_they_promise():
    bodies, *_ = system(4, massless=1.0)
    parents = [b["parent"] for b in bodies]
    assert {b["joint"]["kind"] for b in bodies} == set(naive.KINDS)
    assert parents.count(-1) >= 2
    assert any(parent > k for k, parent in enumerate(parents))
    assert all(b["mass"] > 0 for k, b in enumerate(bodies) if k not in parents)
    assert any(b["mass"] == 0 for b in bodies)
    for b in bodies:
        assert_allclose(b["rotation"] @ b["rotation"].T, np.eye(3), atol=1e-14)
        x, y, z = np.linalg.eigvalsh(b["inertia"])
        assert x + y >= z


def test_jacobians_are_the_derivatives_of_the_poses(drawn):
    bodies, q, v, _, _ = drawn
    R, _ = naive.forward_kinematics(bodies, q)
    p_rate = naive.derivative(lambda x: naive.forward_kinematics(bodies, x)[1], bodies, q, v)
    R_rate = naive.derivative(lambda x: naive.forward_kinematics(bodies, x)[0], bodies, q, v)
    V = np.array([J @ v for J in naive.body_jacobians(bodies, q)])
    close(V[:, 3:], p_rate)
    close(np.array([naive.tilde(x[:3]) @ r for x, r in zip(V, R, strict=True)]), R_rate)
    close(naive.velocities(bodies, q, v), V)


def test_jacobian_dot_v_against_finite_differences(drawn):
    bodies, q, v, vdot, _ = drawn
    body, point, h = len(bodies) - 1, np.array([0.1, -0.2, 0.3]), 1e-5

    def twist(t):
        return naive.jacobian(bodies, naive.integrate(bodies, q, t * v), body, point) @ v

    exact = naive.jacobian_dot_v(bodies, q, v, body, point)
    close(exact, (twist(h) - twist(-h)) / (2 * h), 1e-7)
    a = naive.coriolis_accelerations(bodies, q, v).ravel()
    ops = naive.operators(bodies, q)
    alpha = ops.phi.T @ (ops.H.T @ vdot + a)  # Jain 2011-II eq. 1
    close(alpha.reshape(-1, 6), naive.accelerations(bodies, q, v, vdot))


def test_gyroscopic_forces_are_the_textbook_ones(drawn):
    bodies, q, v, _, _ = drawn
    R, _ = naive.forward_kinematics(bodies, q)
    for k, b in enumerate(naive.gyroscopic_forces(bodies, q, v)):
        omega, c = naive.velocities(bodies, q, v)[k, :3], R[k] @ bodies[k]["com"]
        about_origin = naive.body_inertias(bodies, q)[k, :3, :3]
        close(b[:3], np.cross(omega, about_origin @ omega))
        close(b[3:], bodies[k]["mass"] * np.cross(omega, np.cross(omega, c)))


def test_mass_matrix_is_symmetric_positive_and_gives_the_energy(drawn):
    bodies, q, v, _, _ = drawn
    M = naive.mass_matrix(bodies, q)
    close(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M)[0] > 0
    close(v @ M @ v / 2, naive.kinetic_energy(bodies, q, v))


def test_forward_dynamics_inverts_inverse_dynamics(drawn):
    bodies, q, v, vdot, f_ext = drawn
    tau = naive.inverse_dynamics(bodies, q, v, vdot, GRAVITY, f_ext)
    close(naive.forward_dynamics(bodies, q, v, tau, GRAVITY, f_ext), vdot, 1e-8)
    still = naive.bias_force(bodies, q, 0 * v, GRAVITY)
    close(naive.gravity_force(bodies, q, GRAVITY), still)


def test_power_is_the_rate_of_energy(drawn):
    bodies, q, v, vdot, f_ext = drawn

    def energy(t):
        moved, faster = naive.integrate(bodies, q, t * v), v + t * vdot
        kinetic = naive.kinetic_energy(bodies, moved, faster)
        return kinetic + naive.potential_energy(bodies, moved, GRAVITY)

    tau = naive.inverse_dynamics(bodies, q, v, vdot, GRAVITY, f_ext)
    power = v @ tau + np.sum(f_ext * naive.velocities(bodies, q, v))
    close(np.imag(energy(1j * naive.STEP)) / naive.STEP, power)


def test_external_wrench_is_the_rate_of_momentum(drawn):
    """Ground reactions, weight and external forces change the momentum; nothing inside does."""
    bodies, q, v, vdot, f_ext = drawn
    _, p = naive.forward_kinematics(bodies, q)

    def total(t):
        return naive.momentum(bodies, naive.integrate(bodies, q, t * v), v + t * vdot)

    reactions = naive.joint_forces(bodies, q, v, vdot, GRAVITY, f_ext)
    applied = f_ext + naive.weights(bodies, q, GRAVITY)
    for k, body in enumerate(bodies):
        applied[k] += reactions[k] if body["parent"] == -1 else 0
    wrench = sum(naive.shift(x) @ f for x, f in zip(p, applied, strict=True))
    close(np.imag(total(1j * naive.STEP)) / naive.STEP, wrench)


def test_momentum_of_a_floating_system_is_conserved():
    rng = np.random.default_rng(7)
    bodies = naive.random_bodies(rng, 8, branching=0)
    next(b for b in bodies if b["parent"] == -1)["joint"] = {"kind": "free"}
    q, v = naive.random_state(rng, bodies)
    base = next(k for k, b in enumerate(bodies) if b["parent"] == -1)
    tau = rng.normal(size=len(v))
    tau[naive.offsets(bodies)[1][base]] = 0  # the motors act inside, the base is left alone
    vdot = naive.forward_dynamics(bodies, q, v, tau, np.zeros(3))
    for function in (naive.momentum, naive.centroidal_momentum):
        moved = naive.integrate(bodies, q, 1j * naive.STEP * v)
        rate = np.imag(function(bodies, moved, v + 1j * naive.STEP * vdot)) / naive.STEP
        close(rate, np.zeros(6), 1e-9 * np.max(np.abs(vdot)))
    total = sum(b["mass"] for b in bodies)
    c_rate = naive.derivative(lambda x: naive.centre_of_mass(bodies, x), bodies, q, v)
    close(total * c_rate, naive.momentum(bodies, q, v)[3:])
    R, p = naive.forward_kinematics(bodies, q)
    spin = np.zeros(3)  # about the centre of mass, body by body
    for k, body in enumerate(bodies):
        J_com = naive.jacobian(bodies, q, k, body["com"])
        arm = p[k] + R[k] @ body["com"] - naive.centre_of_mass(bodies, q)
        spin += R[k] @ body["inertia"] @ R[k].T @ J_com[:3] @ v
        spin += body["mass"] * np.cross(arm, J_com[3:] @ v - c_rate)
    close(naive.centroidal_momentum(bodies, q, v)[:3], spin)


def test_articulated_quantities_factor_the_mass_matrix(drawn):
    """Jain 2011-II eqs. 31, 36, 43, 46, 49, 50, 51, 53 and 60."""
    bodies, q, v, _, _ = drawn
    o, s = naive.operators(bodies, q), naive.articulated(bodies, q)
    P, D, eye = naive.block_diagonal(s.P), s.D_operator, np.eye(len(v))
    M = naive.mass_matrix(bodies, q)
    inverse_factor = eye - o.H @ s.psi @ s.K
    factor = eye + o.H @ o.phi @ s.K
    close(P - s.E_psi @ P @ s.E_psi.T, o.M)
    close(P - o.E_phi @ P @ s.E_psi.T, o.M)  # eq. 36 prints E_A on both sides
    close(np.linalg.inv(s.psi) - np.linalg.inv(o.phi), s.K @ o.H)
    close(o.H @ s.psi @ o.M @ s.psi.T @ o.H.T, D)
    close(factor @ D @ factor.T, M)
    close(inverse_factor @ factor, eye)
    close(inverse_factor.T @ np.linalg.inv(D) @ inverse_factor, np.linalg.inv(M), 1e-8)
    logdets = [np.linalg.slogdet(d)[1] for d in s.D]
    close(naive.mass_matrix_logdet(bodies, q), sum(logdets))
    omega = s.psi.T @ o.H.T @ np.linalg.inv(D) @ o.H @ s.psi
    nodes = [(k, np.zeros(3)) for k in range(len(bodies))]
    close(naive.operational_space_compliance(bodies, q, nodes), omega, 1e-8)


def test_articulated_forward_dynamics(drawn):
    """Jain 2011-II eq. 54 against the dense solve."""
    bodies, q, v, tau, _ = drawn
    o, s = naive.operators(bodies, q), naive.articulated(bodies, q)
    a = naive.coriolis_accelerations(bodies, q, v).ravel()
    b = naive.gyroscopic_forces(bodies, q, v).ravel()
    inverse_factor = np.eye(len(v)) - o.H @ s.psi @ s.K
    z = s.psi @ (s.K @ tau + naive.block_diagonal(s.P) @ a + b)
    nu = np.linalg.solve(s.D_operator, tau - o.H @ z)
    vdot = inverse_factor.T @ nu - s.K.T @ s.psi.T @ a
    close(vdot, naive.forward_dynamics(bodies, q, v, tau, np.zeros(3)), 1e-8)


def test_integrate_and_difference_are_inverse(drawn):
    bodies, q, v, other, _ = drawn
    close(naive.difference(bodies, q, naive.integrate(bodies, q, v / 2)), v / 2)
    target = naive.integrate(bodies, naive.neutral(bodies), other)
    reached = naive.integrate(bodies, q, naive.difference(bodies, q, target))
    close(naive.difference(bodies, reached, target), 0 * v)
    halves = naive.integrate(bodies, naive.integrate(bodies, q, v / 2), v / 2)
    close(naive.difference(bodies, naive.integrate(bodies, q, v), halves), 0 * v)


def test_double_pendulum_in_closed_form():
    """Two uniform rods hanging in the x-z plane, angles measured about the horizontal y axis."""
    l1, l2, m1, m2, g = 0.7, 0.4, 1.3, 0.6, 9.81
    rods = []
    for k, (length, mass) in enumerate([(l1, m1), (l2, m2)]):
        inertia = np.diag([1, 1, 0]) * mass * length**2 / 12
        rods.append(
            {
                "parent": k - 1,
                "joint": {"kind": "revolute", "axis": np.array([0.0, 1, 0])},
                "rotation": np.eye(3),
                "translation": np.array([0, 0, -l1 * k]),
                "mass": mass,
                "com": np.array([0, 0, -length / 2]),
                "inertia": inertia,
            }
        )
    q, v = np.array([0.4, -1.1]), np.array([1.7, 0.9])
    shoulder, elbow = m1 * l1**2 / 3 + m2 * l1**2, m2 * l2**2 / 3
    coupling = m2 * l1 * l2 / 2
    c, s = np.cos(q[1]), np.sin(q[1])
    M12 = elbow + coupling * c
    M = np.array([[shoulder + elbow + 2 * coupling * c, M12], [M12, elbow]])
    coriolis = coupling * s * np.array([-2 * v[0] * v[1] - v[1] ** 2, v[0] ** 2])
    outer = m2 * g * l2 / 2 * np.sin(q.sum())
    weight = np.array([(m1 / 2 + m2) * g * l1 * np.sin(q[0]) + outer, outer])
    close(naive.mass_matrix(rods, q), M, 1e-14)
    close(naive.bias_force(rods, q, v, [0, 0, -g]), coriolis + weight, 1e-14)
