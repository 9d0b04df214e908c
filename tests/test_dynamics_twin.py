"""Every dynamics function against the dense twin (tests/naive.py) on random systems.

A bound is a small number of roundings times what rounding can be amplified by: κ(M) where a system
of equations is solved, the size of the terms that are added up where it is not.
"""

from functools import cache, cached_property

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from exploring import seeds

EPS = np.finfo(float).eps
SETTINGS = range(60)  # seeds: each size with each kind of tree, with and without rotors, once
SEEDS = seeds(60, slow=150)


class Case:
    """A random system in a random state: skodyn's Model, and the twin's bodies in list order."""

    def __init__(self, seed):
        rng = np.random.default_rng([2024, seed])
        self.n = 1 + seed % 15
        options = {"branching": (0.0, 0.5, 0.9)[seed % 3], "massless": float(seed % 2)}
        options["rotors"] = (0.0, 0.0, 0.0, 0.7)[seed % 4]
        self.bodies = naive.random_bodies(rng, self.n, **options)
        self.gravity = rng.normal(scale=6.0, size=3)
        self.model = adapters.build(self.bodies, self.gravity)
        q, v = naive.random_state(rng, self.bodies)
        x, f = rng.normal(scale=3.0, size=len(v)), rng.normal(scale=3.0, size=(self.n, 6))
        self.listed = (self.bodies, q, v)
        self.x_listed, self.f_listed = x, f
        self.q = adapters.to_packed_q(self.model, self.bodies, q)
        self.v, self.x = (adapters.to_packed_v(self.model, self.bodies, a) for a in (v, x))
        self.f = adapters.to_packed_bodies(self.model, f)
        self.order = adapters.packed_order(self.model)
        self.rng = rng

    @cached_property
    def mass(self):
        """M by the twin, list order."""
        return naive.mass_matrix(self.bodies, self.listed[1])

    @cached_property
    def kappa(self):
        return np.linalg.cond(self.mass)

    @cached_property
    def bias(self):
        """Bias force with external forces by the twin, list order."""
        return naive.bias_force(*self.listed, self.gravity, self.f_listed)

    @cached_property
    def vdot(self):
        """Forward dynamics under x by the twin, list order."""
        return np.linalg.solve(self.mass, self.x_listed - self.bias)

    @cached_property
    def forces_at_play(self):
        """A size for the generalised forces that any sum may consist of."""
        _, q, _ = self.listed
        weights = np.abs(naive.weights(self.bodies, q, self.gravity)) + np.abs(self.f_listed)
        columns = np.abs(naive.body_jacobians(self.bodies, q))
        pushed = sum(J.T @ w for J, w in zip(columns, weights, strict=True))
        gyroscopic = np.abs(naive.gyroscopic_forces(*self.listed))
        pushed += sum(J.T @ b for J, b in zip(columns, gyroscopic, strict=True))
        bias = np.abs(naive.bias_accelerations(*self.listed))
        inertias = np.abs(naive.body_inertias(self.bodies, q))
        terms = zip(columns, inertias, bias, strict=True)
        return pushed + sum(J.T @ M @ a for J, M, a in terms)

    @property
    def cancellation(self):
        """How much larger the terms of tau − bias are than their sum: a condition number too."""
        terms = np.linalg.norm(np.abs(self.x_listed) + self.forces_at_play)
        return terms / np.linalg.norm(self.x_listed - self.bias)

    def to_v(self, values):
        return adapters.to_packed_v(self.model, self.bodies, values)

    def to_matrix(self, values):
        return adapters.to_packed_matrix(self.model, self.bodies, values)


@cache
def case_of(seed):
    return Case(seed)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return case_of(request.param)


def close(actual, expected, roundings, scale=0.0):
    """Equal up to so many roundings of the largest expected entry, or of `scale` if larger."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    if expected.size:
        size = max(np.abs(expected).max(), np.max(scale))
        error = np.abs(actual - expected).max()
        assert error <= roundings * EPS * size, f"{error / (EPS * size):.3g} roundings"


def solved(actual, expected, kappa):
    """Equal to 10·κ(M)·ε, relative, in the Euclidean norm."""
    assert actual.shape == expected.shape
    bound = 10 * kappa * EPS * np.linalg.norm(expected)
    error = np.linalg.norm(actual - expected)
    assert error <= bound, f"{10 * error / bound:.3g} κ ε"


def test_the_systems_cover_joints_bases_massless_bodies_and_sizes():
    cases = [case_of(seed) for seed in SETTINGS]
    bodies = [b for case in cases for b in case.bodies]
    assert {b["joint"]["kind"] for b in bodies} == set(naive.KINDS)
    assert {case.n for case in cases} == set(range(1, 16))
    assert sum(b["mass"] == 0 for b in bodies) > 15
    assert sum(case.cancellation > 10 for case in cases) < len(cases) / 20
    assert sum((case.model.parent == -1).sum() > 1 for case in cases) > 30


def test_mass_matrix(case):
    actual = sk.mass_matrix(case.model, case.q)
    assert (actual == actual.T).all()
    close(actual, case.to_matrix(case.mass), 50)


def test_forward_dynamics(case):
    actual = sk.forward_dynamics(case.model, case.q, case.v, case.x, case.f)
    # 10·κ·ε where tau − bias is a plain sum; where its terms all but cancel, no solver gets it back
    solved(actual, case.to_v(case.vdot), case.kappa * max(1.0, case.cancellation / 10))


def test_inverse_dynamics_undoes_forward_dynamics(case):
    vdot = sk.forward_dynamics(case.model, case.q, case.v, case.x, case.f)
    back = sk.inverse_dynamics(case.model, case.q, case.v, vdot, case.f)
    size = np.linalg.norm(case.mass, 2) * np.linalg.norm(vdot) + np.linalg.norm(case.bias)
    assert np.linalg.norm(back - case.x) <= 10 * case.kappa * EPS * size


def test_inverse_dynamics(case):
    expected = naive.inverse_dynamics(*case.listed, case.x_listed, case.gravity, case.f_listed)
    actual = sk.inverse_dynamics(case.model, case.q, case.v, case.x, case.f)
    close(actual, case.to_v(expected), 50, case.forces_at_play)


def test_bias_force(case):
    actual = sk.bias_force(case.model, case.q, case.v, case.f)
    close(actual, case.to_v(case.bias), 50, case.forces_at_play)
    jacobians = naive.body_jacobians(*case.listed[:2])
    pushed = sum(J.T @ f for J, f in zip(jacobians, case.f_listed, strict=True))
    without = case.bias + pushed
    close(sk.bias_force(case.model, case.q, case.v), case.to_v(without), 50, case.forces_at_play)


def test_gravity_force(case):
    expected = naive.gravity_force(case.bodies, case.listed[1], case.gravity)
    actual = sk.gravity_force(case.model, case.q)
    close(actual, case.to_v(expected), 50, case.forces_at_play)


def test_inverse_of_the_mass_matrix(case):
    expected = np.linalg.inv(case.mass)
    actual = sk.mass_matrix_inverse(case.model, case.q)
    solved(actual, case.to_matrix(expected), case.kappa)


def test_solve_for_one_right_hand_side_for_columns_and_for_a_batch(case):
    expected = case.to_v(np.linalg.solve(case.mass, case.x_listed))
    solved(sk.mass_matrix_solve(case.model, case.q, case.x), expected, case.kappa)
    columns = case.x[:, None] * np.array([1.0, -2.0, 0.0])
    actual = sk.mass_matrix_solve(case.model, case.q, columns)
    solved(actual, expected[:, None] * np.array([1.0, -2.0, 0.0]), case.kappa)
    batch = sk.mass_matrix_solve(case.model, np.tile(case.q, (9, 1)), np.tile(case.x, (9, 1)))
    solved(batch, np.tile(expected, (9, 1)), case.kappa)


def test_logdet(case):
    logarithms = np.log(np.linalg.eigvalsh(case.mass))
    actual = sk.mass_matrix_logdet(case.model, case.q)
    # tr(M⁻¹·δM) ≤ nv·κ·|δM|/|M|, and the logarithms are rounded when they are added
    bound = 10 * EPS * (len(logarithms) * case.kappa + np.abs(logarithms).sum())
    assert abs(actual - naive.mass_matrix_logdet(*case.listed[:2])) <= bound


def test_poses(case):
    R, p = naive.forward_kinematics(case.bodies, case.listed[1])
    rotations, positions = sk.forward_kinematics(case.model, case.q)
    close(rotations, R[case.order], 50)
    close(positions, p[case.order], 50, 1.0)


def test_velocities_coriolis_accelerations_and_gyroscopic_forces(case):
    bodies, q, v = case.listed
    V, a, b = sk.velocities(case.model, case.q, case.v)
    expected = naive.velocities(bodies, q, v)[case.order]
    close(V, expected, 50)
    speed = np.linalg.norm(expected[:, :3], axis=1).max() * np.abs(expected).max()
    close(a, naive.coriolis_accelerations(bodies, q, v)[case.order], 50, speed)
    inertia = np.abs(naive.body_inertias(bodies, q)).max()
    moving = inertia * np.abs(expected).max() ** 2  # the twin adds terms in V² that cancel
    close(b, naive.gyroscopic_forces(bodies, q, v)[case.order], 50, moving)


def test_jacobians_at_a_point_of_every_body(case):
    bodies, q, _ = case.listed
    rng = np.random.default_rng(case.n)
    R, _ = naive.forward_kinematics(bodies, q)
    at_origins = naive.body_jacobians(bodies, q)
    for k, number in enumerate(case.order):
        point = rng.normal(size=3)
        expected = naive.shift(R[number] @ point).T @ at_origins[number]
        close(sk.jacobian(case.model, case.q, k, point), case.to_v(expected), 50, 1.0)


def test_jacobian_dot_v_at_a_point(case):
    bodies, q, v = case.listed
    rng = np.random.default_rng(case.n)
    k, point = int(rng.integers(case.n)), rng.normal(size=3)
    speed = np.abs(naive.velocities(bodies, q, v)).max()
    actual = sk.jacobian_dot_v(case.model, case.q, case.v, case.model.body_names[k], point)
    expected = naive.jacobian_dot_v(bodies, q, v, case.order[k], point)
    close(actual, expected, 50, speed**2)


def drawn_nodes(case):
    """A few nodes, among them two on one body and, if there is one, a child and its parent."""
    rng = np.random.default_rng(case.n)
    numbers = [int(k) for k in rng.integers(case.n, size=3)]
    numbers.append(numbers[0])
    inner = int(case.model.parent[numbers[1]])
    if inner >= 0:
        numbers.append(inner)
    return [(k, rng.normal(size=3)) for k in numbers]


def root_of(model, k):
    while model.parent[k] >= 0:
        k = model.parent[k]
    return k


def test_operational_space_compliance(case):
    bodies, q, _ = case.listed
    nodes = drawn_nodes(case)
    actual = sk.operational_space_compliance(case.model, case.q, nodes)
    assert (actual == actual.T).all()
    J = np.concatenate([naive.jacobian(bodies, q, case.order[k], p) for k, p in nodes])
    expected = J @ np.linalg.inv(case.mass) @ J.T
    size = np.linalg.norm(J, 2) ** 2 / np.linalg.norm(case.mass, 2)
    assert np.linalg.norm(actual - expected) <= 10 * case.kappa * EPS * max(
        np.linalg.norm(expected), size
    )
    for i, (a, _) in enumerate(nodes):
        for j, (b, _) in enumerate(nodes):
            if root_of(case.model, a) != root_of(case.model, b):
                assert (actual[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] == 0).all()


def test_energies(case):
    bodies, q, v = case.listed
    kinetic, potential = sk.energy(case.model, case.q, case.v)
    close(kinetic, naive.kinetic_energy(bodies, q, v), 50)
    _, p = naive.forward_kinematics(bodies, q)
    reach = [b["mass"] * (np.linalg.norm(p[k]) + 1) for k, b in enumerate(bodies)]
    scale = sum(reach) * np.linalg.norm(case.gravity)
    close(potential, naive.potential_energy(bodies, q, case.gravity), 50, scale)


def test_momentum_and_centre_of_mass(case):
    bodies, q, v = case.listed
    _, p = naive.forward_kinematics(bodies, q)
    linear = sum(b["mass"] for b in bodies) * np.abs(naive.velocities(bodies, q, v)).max()
    scale = linear * (1 + np.linalg.norm(p, axis=1).max())
    actual = sk.momentum(case.model, case.q, case.v)
    close(actual, naive.momentum(bodies, q, v), 50, scale)
    about_com = sk.momentum(case.model, case.q, case.v, about="com")
    close(about_com, naive.centroidal_momentum(bodies, q, v), 50, scale)
    close(sk.center_of_mass(case.model, case.q), naive.centre_of_mass(bodies, q), 50, 1.0)


def test_joint_forces(case):
    actual = sk.joint_forces(case.model, case.q, case.v, case.x, case.f)
    expected = naive.joint_forces(*case.listed, case.vdot, case.gravity, case.f_listed)
    solved(actual, expected[case.order], case.kappa)


def test_gravity_and_external_forces_pull_as_the_twin_says_when_nothing_moves(case):
    """A body thrown into free space: v = 0, tau = 0, so that no other term hides a sign."""
    bodies, q, v = case.listed
    zero = np.zeros_like(v)
    pull = -naive.gravity_force(bodies, q, case.gravity)
    for J, f in zip(naive.body_jacobians(bodies, q), case.f_listed, strict=True):
        pull = pull + J.T @ f
    expected = case.to_v(np.linalg.solve(case.mass, pull))
    actual = sk.forward_dynamics(case.model, case.q, zero, zero, case.f)
    bound = 10 * case.kappa * EPS
    bound *= np.linalg.norm(expected) + np.linalg.norm(case.forces_at_play) / np.linalg.norm(
        case.mass, 2
    )
    assert np.linalg.norm(actual - expected) <= bound
