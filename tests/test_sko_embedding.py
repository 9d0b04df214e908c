"""Embedded SKO models against dense X*𝓜X of the model without constraints.

X and x_p are random: any basis and any particular acceleration make an SKO model, whether or not a
mechanism has them. The twin is the dense one of sko_twin.py, which knows nothing of aggregation.
"""

import pickle

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from sko_cases import EPS, SEEDS, case_of, close
from skodyn import sko
from skodyn.algebra.identities import check_identities
from test_sko_aggregation import admissible


class Embedded:
    """A random set of nodes of a random model with a random basis; dense maps to the original."""

    def __init__(self, seed, stream=0):
        self.case = case_of(seed)
        self.rng = np.random.default_rng([13, seed, stream])
        self.model, self.twin = self.case.model, self.case.twin
        self.own = admissible(self.model, self.rng)
        starts = self.model.dof_starts
        self.at = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in sorted(self.own)])
        n = len(self.at)
        self.freedom = int(self.rng.integers(0, n + 1))
        self.X = self.rng.normal(size=(n, self.freedom))
        self.x_p = self.rng.normal(size=n)
        self.embedded = sko.embed(self.model, self.own, self.X, self.x_p)
        self.whole_x_p = np.zeros(self.model.nv)
        self.whole_x_p[self.at] = self.x_p

    @property
    def whole_X(self):
        """θ̇ = X·u for all degrees of freedom, in the order of the embedded model."""
        return dense_basis(self.model, self.embedded, self.own, self.at, self.X)

    @property
    def kappa(self):
        X = self.whole_X
        return self.twin.kappa * (np.linalg.cond(X) ** 2 if X.shape[1] else 1.0)


def dense_basis(model, embedded, own, at, X):
    """From the definition: u of the new node, and the others by their names."""
    columns = []
    for k, name in enumerate(embedded.names):
        if k == embedded.tree.index_of(embedded.name):
            for column in X.T:
                columns.append(np.zeros(model.nv))
                columns[-1][at] = column
        else:
            there = model.tree.index_of(name)
            for i in range(int(model.dof_starts[there]), int(model.dof_starts[there + 1])):
                columns.append(np.eye(model.nv)[i])
    return np.array(columns).reshape(len(columns), model.nv).T


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_and_bias(seed):
    given = Embedded(seed)
    X, twin = given.whole_X, given.twin
    size = np.abs(X).max(initial=1.0) ** 2 * np.abs(twin.mass).max(initial=1.0) * given.model.nv**2
    close(sko.mass_matrix(given.embedded), X.T @ twin.mass @ X, size)
    bias = twin.bias + twin.mass @ given.whole_x_p
    A = np.abs(twin.A).max(initial=1.0)
    terms = size * A * max(np.abs(twin.a).max(initial=1.0), np.abs(twin.b).max(initial=1.0), 3.0)
    rest = np.zeros(given.embedded.nv)
    close(sko.inverse_dynamics(given.embedded, rest), X.T @ bias, terms)


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_is_the_dense_projection(seed):
    """θ̈ = X(X*𝓜X)⁻¹X*(𝒯 − 𝒞 − 𝓜x_p) + x_p."""
    given = Embedded(seed)
    X, twin, embedded = given.whole_X, given.twin, given.embedded
    tau = given.rng.normal(size=given.model.nv)
    forces = tau - twin.bias - twin.mass @ given.whole_x_p
    udot = np.linalg.solve(X.T @ twin.mass @ X, X.T @ forces)
    found = sko.forward_dynamics(embedded, embedded.torques_from_original(tau))
    size = np.abs(twin.A).max(initial=1.0) * max(np.abs(forces).max(initial=1.0), 1.0)
    close(found, udot, size, given.kappa)
    expected = X @ udot + given.whole_x_p
    close(embedded.accelerations_to_original(found), expected, size, given.kappa)
    close(embedded.velocities_to_original(np.eye(embedded.nv)), X)
    close(embedded.torques_from_original(np.eye(given.model.nv)), X.T)


@pytest.mark.parametrize("seed", SEEDS)
def test_node_accelerations_come_back(seed):
    given = Embedded(seed)
    embedded, twin = given.embedded, given.twin
    udot = given.rng.normal(size=embedded.nv)
    vdot = given.whole_X @ udot + given.whole_x_p
    alpha = twin.A.T @ (twin.H.T @ vdot + twin.a)
    there = embedded.H.apply(udot, transpose=True) + embedded.a
    found = sko.scatter(embedded.tree, embedded.weights, there)
    size = np.abs(twin.A).max() ** 2 * max(np.abs(alpha).max(), 1.0) * np.abs(twin.H).max(initial=1)
    close(embedded.to_original(found), alpha, size * given.model.nv)


@pytest.mark.parametrize("seed", SEEDS[::3])
def test_every_algorithm_runs(seed):
    given = Embedded(seed)
    embedded = given.embedded
    tau = given.rng.normal(size=embedded.nv)
    vdot = sko.forward_dynamics(embedded, tau)
    mass = sko.mass_matrix(embedded)
    kappa = max(given.kappa, 1.0)
    size = np.abs(mass).max(initial=1.0) * max(np.abs(vdot).max(initial=1.0), 1.0)
    close(sko.inverse_dynamics(embedded, vdot), tau, size, kappa)
    close(mass @ sko.mass_matrix_solve(embedded, tau), tau, size, kappa)
    solution = sko.riccati(embedded)
    filtered = sko.innovations(embedded, solution, tau)
    close(sko.innovations_inverse(embedded, solution, filtered), tau, size, kappa)
    if embedded.nv:
        sign, logdet = np.linalg.slogdet(mass)
        assert sign == 1
        assert abs(sko.log_determinant(embedded) - logdet) <= 100 * EPS * kappa * max(1, logdet)
    R = sko.composite_inertias(embedded)
    assert len(R) == embedded.n_nodes
    for force in (sko.terminal_model(embedded, vdot), sko.composite_model(embedded, vdot)):
        close(embedded.H.apply(force.force), tau, size * np.abs(given.twin.A).max(), kappa)
    for force in (sko.articulated_model(embedded, tau), sko.inboard_model(embedded, tau)):
        close(embedded.H.apply(force.force), tau, size * np.abs(given.twin.A).max(), kappa)
    Omega = sko.compliance(embedded, range(embedded.n_nodes))
    A, H = np.eye(embedded.size), embedded.H.dense()
    A = sko.gather(embedded.tree, embedded.weights, A)
    expected = A.T @ H.T @ np.linalg.solve(mass, H @ A) if embedded.nv else np.zeros_like(Omega)
    close(Omega, expected, np.abs(A).max() ** 2, kappa)


@pytest.mark.parametrize("seed", [8, 21, 34, 47])
def test_identities_of_the_workbench(seed):
    given = Embedded(seed, stream=1)
    bench = sk.operators(given.embedded)
    results = check_identities(bench, seed=4)
    assert not [result for result in results if result.failed]
    assert sum(result.verdict == "holds" for result in results) > 40


@pytest.mark.parametrize("seed", SEEDS[8::4])
def test_chains_of_embeddings(seed):
    """What is embedded can be embedded again: the bases multiply."""
    first = Embedded(seed)
    middle = first.embedded
    own = admissible(middle, first.rng)
    starts = middle.dof_starts
    at = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in sorted(own)])
    Y = first.rng.normal(size=(len(at), (len(at) + 1) // 2))
    y_p = first.rng.normal(size=len(at))
    last = sko.embed(middle, own, Y, y_p, name="again")
    X = first.whole_X @ dense_basis(middle, last, own, at, Y)
    mass = X.T @ first.twin.mass @ X
    size = np.abs(mass).max(initial=1.0) * first.model.nv
    close(sko.mass_matrix(last), mass, size, roundings=200)
    udot = first.rng.normal(size=last.nv)
    middle_acceleration = last.accelerations_to_original(udot)
    vdot = middle.accelerations_to_original(middle_acceleration)
    expected = first.twin.mass @ vdot + first.twin.bias
    found = sko.inverse_dynamics(last, udot)
    scale = size * np.abs(first.twin.A).max() ** 2 * max(np.abs(vdot).max(initial=1.0), 1.0)
    close(found, X.T @ expected, scale, roundings=200)


def test_a_square_basis_changes_coordinates_only():
    case = case_of(40)
    model = case.model
    own = admissible(model, np.random.default_rng(3))
    plain = model.aggregate(own)
    embedded = sko.embed(model, own, np.eye(plain.inside.nv))
    assert np.array_equal(sko.mass_matrix(plain), sko.mass_matrix(embedded))
    assert np.array_equal(plain.a, embedded.a)


def test_coupled_joints_of_a_rigid_model():
    """Two hinges of a chain geared 1 : −2: the twin's dense reduced system."""
    rng = np.random.default_rng(17)
    bodies = naive.random_bodies(rng, 4, ["revolute"], branching=0.0)
    model = adapters.build(bodies)
    q, v = model.random_state(rng)
    X = np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    embedded = sko.embed(sk.sko_model(model, q, v), [1, 2, 3], X)
    whole = np.zeros((4, 3))
    whole[0, 0] = 1.0
    whole[1:, 1:] = X
    mass = sk.mass_matrix(model, q)
    tau = rng.normal(size=4)
    reduced = whole.T @ mass @ whole
    udot = np.linalg.solve(reduced, whole.T @ (tau - sk.bias_force(model, q, v)))
    found = sko.forward_dynamics(embedded, embedded.torques_from_original(tau))
    close(found, udot, np.abs(tau).max() * 100, np.linalg.cond(reduced))


def test_pickled():
    given = Embedded(30)
    again = pickle.loads(pickle.dumps(given.embedded))
    assert np.array_equal(sko.mass_matrix(again), sko.mass_matrix(given.embedded))
    assert np.array_equal(again.a, given.embedded.a)
    assert again.names == given.embedded.names


@pytest.mark.parametrize(
    ("X", "x_p", "words"),
    [
        (np.ones((2, 1)), None, ["X has shape (2, 1)", "3 rows", "'b'"]),
        (np.ones(3), None, ["X has shape (3,)", "3 rows"]),
        (np.array([[1.0], [np.nan], [0.0]]), None, ["X[1, 0] is nan", "finite"]),
        (np.array([[1.0, 2.0], [2.0, 4.0], [0.5, 1.0]]), None, ["linearly dependent", "3×2"]),
        (np.zeros((3, 1)), None, ["linearly dependent"]),
        (np.random.default_rng(1).normal(size=(3, 4)), None, ["linearly dependent", "3×4"]),
        ("no", None, ["X is not an array"]),
        (np.ones((3, 1)), [1.0], ["x_p has shape (1,)", "3 numbers"]),
        (np.ones((3, 1)), [1.0, np.inf, 0.0], ["x_p[1] is inf"]),
        (np.ones((2, 1)), [1.0], ["X has shape", "x_p has shape"]),
    ],
)
def test_faults(X, x_p, words):
    eye = np.eye(2)
    model = sk.SKOModel(
        [-1, 0, 1], [None, eye, eye], [eye, eye[:1], eye], [eye] * 3, names=["a", "b", "c"]
    )
    with pytest.raises(sk.ModelError) as refused:
        sko.embed(model, ["b", "c"], X, x_p)
    for word in words:
        assert word in str(refused.value)


def test_nodes_that_cannot_be_one_are_refused():
    eye = np.eye(2)
    model = sk.SKOModel([-1, 0, 1], [None, eye, eye], [eye] * 3, [eye] * 3, names=["a", "b", "c"])
    with pytest.raises(sk.TopologyError, match="pass through 'b'"):
        sko.embed(model, ["a", "c"], np.eye(4))
    with pytest.raises(sk.StateError, match="give an SKOModel"):
        sko.embed("model", ["a"], np.eye(2))
