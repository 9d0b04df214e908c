"""Derivatives of any expression, and by numbers of a user's own, against complex steps."""

from functools import cache

import numpy as np
import pytest

import adapters
import naive
import sko_cases
import skodyn as sk

EPS = np.finfo(float).eps


@cache
def arm():
    rng = np.random.default_rng(27)
    model = adapters.build(naive.random_bodies(rng, 7, branching=0.5, rotors=0.3))
    return model, *model.random_state(rng)


POINTS = [(3, (0.1, -0.2, 0.3)), (6, (0.0, 0.4, 0.0))]

EXPRESSIONS = {
    "mass matrix": lambda g: g.H @ g.phi @ g.M @ g.phi.T @ g.H.T,
    "its inverse": lambda g: (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T).inverse(),
    "R": lambda g: g.R,
    "P+": lambda g: g.P_plus,
    "Upsilon": lambda g: g.Upsilon,
    "Omega": lambda g: g.Omega,
    "phi tilde": lambda g: g.phi_tilde,
    "Lyapunov, typed": lambda g: (g.E_phi @ g.tau_bar).T.lyapunov_recursion(g.M + g.P),
    "own resolvent": lambda g: (g.Id - 0.5 * g.E_phi @ g.tau_bar).inverse(),
    "pick-off": lambda g: g.pickoff(points(g)).T @ g.phi.T @ g.H.T,
    "compliance": lambda g: g.pickoff(points(g)).T @ g.Omega @ g.pickoff(points(g)),
    "between points": lambda g: (g.pickoff(points(g)).T @ g.M @ g.pickoff(points(g))).inverse(),
    "sum": lambda g: 2.0 * g.D - (g.Id + g.H @ g.phi @ g.K).T,
}


def points(g):
    return [(g.bodies[k], point) for k, point in POINTS]


def moved(step):
    """The operators a step along a direction away."""
    model, q, _ = arm()
    return sk.operators(model, model.integrate(q, step))


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("along", [0, 3, -1])
def test_derivatives_of_expressions_are_limits_of_differences(name, along):
    model, q, _ = arm()
    g = sk.operators(model, q)
    joint, dof = freedom(model, along)
    found = g.derivative(joint, dof).of(EXPRESSIONS[name](g)).dense()
    step = np.zeros(model.nv)
    step[along] = 1.0

    def difference(h):
        ahead, behind = (EXPRESSIONS[name](moved(s * step)).dense() for s in (h, -h))
        return (ahead - behind) / (2 * h)

    expected = (4 * difference(5e-4) - difference(1e-3)) / 3  # what is left is of order h⁴
    size = max(np.abs(expected).max(), np.abs(EXPRESSIONS[name](g).dense()).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-8 * size)


def freedom(model, along):
    """The joint of a degree of freedom, and its number there if there are several."""
    along %= model.nv
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        place = model.v_slice(name)
        if place.start <= along < place.stop:
            return name, along - place.start if joint.nv > 1 else None
    raise AssertionError


@pytest.mark.parametrize("name", ["E_phi", "H", "M", "phi", "P", "D", "G", "tau", "E_psi", "K"])
def test_of_an_operator_it_is_what_the_direction_has_under_its_name(name):
    model, q, _ = arm()
    g = sk.operators(model, q)
    d = g.derivative(*freedom(model, 2))
    assert (d.of(getattr(g, name)) - getattr(d, name)).is_zero()


# ---- by a number of one's own -------------------------------------------------------------------


class ComplexTwin:
    """Operators of blocks with complex entries, by NumPy: imaginary parts are derivatives."""

    def __init__(self, model, E, H, M):
        one = np.eye(model.size)
        self.E_phi, self.H, self.M = E, H, M
        self.phi = np.linalg.inv(one - E)
        self.P = M
        for _ in range(model.tree.depth + 1):  # exact after as many rounds as there are levels
            self.D = H @ self.P @ H.T
            self.G = self.P @ H.T @ np.linalg.inv(self.D)
            self.tau_bar = one - self.G @ H
            self.P = M + E @ (self.tau_bar @ self.P) @ E.T
        self.tau, self.K, self.E_psi = self.G @ H, E @ self.G, E @ self.tau_bar
        self.psi = np.linalg.inv(one - self.E_psi)
        self.mass_matrix = H @ self.phi @ M @ self.phi.T @ H.T
        self.mass_matrix_inverse = np.linalg.inv(self.mass_matrix)
        self.D_inverse = np.linalg.inv(self.D)
        free = np.eye(model.nv)
        self.innovations = free + H @ self.phi @ self.K
        self.innovations_inverse = free - H @ self.psi @ self.K
        self.Omega = self.psi.T @ H.T @ self.D_inverse @ H @ self.psi
        self.log_det = np.log(np.linalg.det(self.mass_matrix))


NAMES = (
    "E_phi", "H", "M", "phi", "P", "D", "G", "tau", "tau_bar", "K", "E_psi", "psi", "mass_matrix",
    "mass_matrix_inverse", "D_inverse", "innovations", "innovations_inverse",
)  # fmt: skip


def changes(model, rng):
    """Random changes of all blocks, those of M symmetric."""
    A = [rng.normal(size=w.shape) for w in model.weights]
    H = [rng.normal(size=h.shape) for h in model.H]
    M = [(m + m.T) / 2 for m in (rng.normal(size=m.shape) for m in model.M)]
    return A, H, M


@pytest.mark.parametrize("seed", [21, 30, 33, 39, 42, 46])
def test_derivatives_of_general_models_are_complex_steps(seed):
    model = sko_cases.case_of(seed).model
    g, rng = sk.operators(model), np.random.default_rng([4, seed])
    A, H, M = changes(model, rng)
    d = g.given_derivative(A=A, H=H, M=M, name="s")
    h = 1e-30
    twin = ComplexTwin(
        model,
        g.E_phi.dense() + 1j * h * d.E_phi.dense(),
        g.H.dense() + 1j * h * d.H.dense(),
        g.M.dense() + 1j * h * d.M.dense(),
    )
    kappa = np.linalg.cond(twin.mass_matrix.real)
    for name in (*NAMES, "Omega"):
        expected = getattr(twin, name).imag / h
        found = (d.of(g.Omega) if name == "Omega" else getattr(d, name)).dense()
        size = max(1.0, np.abs(expected).max(initial=0.0))
        error = np.abs(found - expected).max(initial=0.0)
        assert error <= 1e4 * EPS * kappa * size, name
    assert d.log_det == pytest.approx(twin.log_det.imag / h, rel=1e4 * EPS * kappa, abs=1e-10)


def test_blocks_that_are_not_given_do_not_change():
    g = sk.operators(sko_cases.case_of(30).model)
    d = g.given_derivative(M={0: np.eye(g.node_space.sizes[0])})
    assert not d.E_phi.dense().any()
    assert not d.H.dense().any()
    assert not d.phi.dense().any()
    assert np.count_nonzero(d.M.dense()) == g.node_space.sizes[0]
    expected = dense_mass(g, d.M.dense())
    np.testing.assert_allclose(d.mass_matrix.dense(), expected, rtol=1e-12, atol=1e-12)


def dense_mass(g, M):
    left = g.H.dense() @ g.phi.dense()
    return left @ M @ left.T


def test_the_derivative_by_a_mass_of_a_rigid_body():
    """𝓜 is linear in masses: a difference is exact."""

    def built(mass):
        b = sk.ModelBuilder()
        for k in range(4):
            parent = f"link{k - 1}" if k else "world"
            b.add_body(f"link{k}", parent, sk.Revolute(axis=(0, 1, 0.3 * k)),
                       translation=(0, 0.1, -0.4), mass=mass if k == 2 else 1.0, com=(0, 0, -0.2),
                       inertia=(0.02, 0.03, 0.01))  # fmt: skip
        return b.build()

    q = [0.3, -0.8, 0.5, 1.1]
    light, heavy = built(1.0), built(2.0)
    g = sk.operators(light, q)
    change = sk.operators(heavy, q).M["link2"] - g.M["link2"]
    d = g.given_derivative(M={"link2": change}, name="mass")
    expected = sk.mass_matrix(heavy, q) - sk.mass_matrix(light, q)
    np.testing.assert_allclose(d.mass_matrix.dense(), expected, atol=1e-13)
    h = 1e-4
    logs = [sk.mass_matrix_logdet(built(1.0 + s), q) for s in (h, -h)]
    assert d.log_det == pytest.approx((logs[0] - logs[1]) / (2 * h), rel=1e-7)


def test_own_operators_change_as_they_say():
    model, q, _ = arm()
    g = sk.operators(model, q)
    joint, dof = freedom(model, 1)
    d = g.derivative(joint, dof)
    still = g.block_diagonal("Q", 2.0, derivative=0)
    moving = g.block_diagonal("S", [2.0 * m for m in g.model.M], derivative=lambda d: 2.0 * d.M)
    typed = g.block_diagonal(
        "U",
        [2.0 * m for m in g.model.M],
        derivative=lambda d: dict(zip(g.bodies, twice(d), strict=True)),
    )
    own = g.kernel("E_chi", lambda n: 0.5 * weight(g, n), derivative=lambda d: 0.5 * d.E_phi)
    chi = g.propagator("chi", own)
    assert not d.of(still).dense().any()
    assert (d.of(moving) - 2.0 * d.M).is_zero()
    assert (d.of(typed) - 2.0 * d.M).is_zero()
    assert (d.of(g.phi @ still @ g.phi.T) - 2.0 * (d.phi @ g.phi.T + g.phi @ d.phi.T)).is_zero()
    assert (d.of(chi) - 0.5 * chi @ d.E_phi @ chi).is_zero()
    assert (
        d.of(own.lyapunov_recursion(moving)) - d.of(diagonal_of_sandwich(g, chi, moving))
    ).is_zero(1e-9)


def twice(d):
    matrix, space = 2.0 * d.M.dense(), d.bench.node_space
    return [matrix[space.slice_at(k), space.slice_at(k)] for k in range(d.bench.tree.n)]


def weight(g, name):
    return g.model.weights[g.tree.index_of(name)]


def diagonal_of_sandwich(g, chi, X):
    """The diagonal of χXχ*, whose derivative is that of the Lyapunov solution, written out."""

    def blocks(operator):
        matrix, space = operator.dense(), g.node_space
        return [matrix[space.slice_at(k), space.slice_at(k)] for k in range(g.tree.n)]

    whole = chi @ X @ chi.T
    return g.block_diagonal("Y", blocks(whole), derivative=lambda d: blocks(d.of(whole)))


def test_derivatives_are_refused_in_sentences():
    model, q, _ = arm()
    g = sk.operators(model, q)
    d = g.derivative(*freedom(model, 0))
    Q = g.block_diagonal("Q", 2.0)
    B = g.pickoff(points(g))
    cases = [
        (lambda: d.of(Q), "How Q changes is not known; give derivative= when you make it"),
        (lambda: d.of(d.hinge), "changes along .* is not known"),
        (lambda: d.of(np.eye(3)), "The derivative of ndarray is asked for"),
        (lambda: g.given_derivative(M=1.0).of(B.T @ g.M), "How B changes along given_derivative"),
        (lambda: g.given_derivative(name=""), "The name is ''; give a word"),
        (lambda: g.given_derivative(H={"nobody": 1.0}), "no node 'nobody'"),
        (lambda: g.given_derivative(M=np.eye(2)), r"has shape \(2, 2\); give"),
    ]
    for ask, words in cases:
        with pytest.raises(sk.SkodynError, match=words):
            ask()
