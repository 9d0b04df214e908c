"""The workbench: what is typed equals dense NumPy, runs as recursions, and is refused in words."""

import sys
import warnings
from dataclasses import dataclass
from functools import cache, reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import adapters
import naive
import sko_cases
import skodyn as sk
from exploring import examples
from skodyn import jit
from skodyn.algebra import LargeMatrixWarning, Operator, StackedVector, materialise
from skodyn.algebra.materialise import written_out

EPS = np.finfo(float).eps


@cache
def arm():
    """A branched model with every kind of joint, and its state."""
    rng = np.random.default_rng(7)
    model = adapters.build(naive.random_bodies(rng, 11, branching=0.5, rotors=0.3))
    return model, *model.random_state(rng)


@cache
def ops():
    return sk.operators(*arm())


class Dense:
    """The operators of an SKO model as matrices, from its blocks, through NumPy alone."""

    def __init__(self, model):
        N, nv, at, to = model.size, model.nv, model.node_starts, model.dof_starts
        self.H, self.M, self.E_phi = np.zeros((nv, N)), np.zeros((N, N)), np.zeros((N, N))
        for k, p in enumerate(model.tree.parent):
            rows, freedoms = slice(at[k], at[k + 1]), slice(to[k], to[k + 1])
            self.H[freedoms, rows] = model.H[k]
            self.M[rows, rows] = model.M[k]
            if p >= 0:
                self.E_phi[at[p] : at[p + 1], rows] = model.weights[k]
        one = np.eye(N)
        self.phi = np.linalg.inv(one - self.E_phi)
        self.R = self.block_diagonal(self.phi @ self.M @ self.phi.T, at)
        self.P = self.M.copy()  # the Riccati equation by iteration: exact after as many as levels
        for _ in range(model.tree.depth):
            self.D = self.H @ self.P @ self.H.T
            self.G = self.P @ self.H.T @ (np.linalg.inv(self.D) if nv else self.D)
            self.tau = self.G @ self.H
            self.tau_bar = one - self.tau
            self.P_plus = self.tau_bar @ self.P
            self.P = self.M + self.E_phi @ self.P_plus @ self.E_phi.T
        self.D = self.H @ self.P @ self.H.T
        self.Dinv = np.linalg.inv(self.D) if nv else self.D
        self.G = self.P @ self.H.T @ self.Dinv
        self.tau = self.G @ self.H
        self.tau_bar = one - self.tau
        self.P_plus = self.tau_bar @ self.P
        self.K = self.E_phi @ self.G
        self.E_psi = self.E_phi @ self.tau_bar
        self.psi = np.linalg.inv(one - self.E_psi)
        self.phi_tilde, self.psi_tilde = self.phi - one, self.psi - one
        self.Omega = self.psi.T @ self.H.T @ self.Dinv @ self.H @ self.psi
        self.Upsilon = self.block_diagonal(self.Omega, at)

    @staticmethod
    def block_diagonal(matrix, at):
        kept = np.zeros_like(matrix)
        for i, j in pairwise(at):
            kept[i:j, i:j] = matrix[i:j, i:j]
        return kept


@cache
def dense():
    return Dense(ops().model)


NAMES = [
    "H", "phi", "M", "E_phi", "P", "D", "G", "K", "tau", "tau_bar", "P_plus", "E_psi", "psi", "R",
    "Upsilon", "Omega", "phi_tilde", "psi_tilde",
]  # fmt: skip


def near(actual, expected, scale=0.0, roundings=1e5):
    """Equal up to roundings of the largest number that enters; κ of the joints is part of them."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    size = max(np.abs(expected).max(initial=0.0), scale)
    assert np.abs(actual - expected).max(initial=0.0) <= roundings * EPS * size


# ---- every operator is what the definition says ------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_each_operator_is_the_matrix_of_its_definition(name):
    operator, expected = getattr(ops(), name), getattr(dense(), name)
    near(operator.dense(), expected, 1.0)
    near(operator.T.dense(), expected.T, 1.0)
    rows, cols = operator.shape
    rng = np.random.default_rng(0)
    x, y, X = rng.normal(size=cols), rng.normal(size=rows), rng.normal(size=(cols, 3))
    size = np.abs(expected).sum()
    near(operator @ x, expected @ x, size)
    near(operator @ X, expected @ X, size)
    near(operator.T @ y, expected.T @ y, size)
    near(y @ operator, y @ expected, size)


@pytest.mark.parametrize("seed", range(0, 48, 5))
def test_each_operator_of_a_ragged_model_is_the_matrix_of_its_definition(seed):
    model = sko_cases.case_of(seed).model
    expected, found = Dense(model), sk.operators(model)
    for name in NAMES:
        matrix = getattr(expected, name)
        near(getattr(found, name).dense(), matrix, 1.0 + np.abs(expected.G).max(initial=0) ** 2)


def test_stacked_vectors_are_those_of_the_model():
    model, q, v = arm()
    V, a, _ = sk.velocities(model, q, v)
    for name, body, coriolis in zip(model.body_names, V, a, strict=True):
        near(ops().V[name][:6], body, 1.0)
        near(ops().a[name][:6], coriolis, 1.0)
    tau = ops().H @ (ops().phi @ (ops().M @ (ops().phi.T @ ops().a) + ops().b))
    near(tau, sk.bias_force(model, q, v), 10.0)


def test_without_velocities_the_bodies_rest():
    model, q, _ = arm()
    assert not sk.operators(model, q).V.any()


# ---- random expressions against NumPy -----------------------------------------------------------

SQUARE = ["phi", "M", "E_phi", "P", "tau", "tau_bar", "E_psi", "psi", "R", "phi_tilde", "psi_tilde"]
ACROSS = ["G", "K"]  # joints to nodes


@dataclass(frozen=True)
class Typed:
    """An expression, and what it is through NumPy.

    factors: (matrix, gross) of each. gross·ε·|x| is what roundings in a factor may do to it times
    x. That of a product sums, over the factors, what the error of one becomes: times the norm of
    all factors before it, which is that of their product, and of all behind it.
    """

    operator: Operator
    factors: tuple[tuple[np.ndarray, float], ...]

    @property
    def matrix(self):
        return reduce(np.matmul, [matrix for matrix, _ in self.factors])

    @property
    def gross(self):
        total = 0.0
        for k, (_, gross) in enumerate(self.factors):
            before, behind = self.factors[:k], self.factors[k + 1 :]
            total += norm_of_product(before) * gross * norm_of_product(behind)
        return total

    @staticmethod
    def plain(operator, matrix):
        return Typed(operator, ((matrix, max(1.0, norm_of_product([(matrix, 0.0)]))),))

    def times(self, other):
        return Typed(self.operator @ other.operator, self.factors + other.factors)

    def plus(self, other):
        whole = (self.matrix + other.matrix, self.gross + other.gross)
        return Typed(self.operator + other.operator, (whole,))

    def multiple(self, number, typed):
        (matrix, gross), *rest = self.factors
        return Typed(typed, ((number * matrix, abs(number) * gross), *rest))

    def star(self):
        starred = tuple((matrix.T, gross) for matrix, gross in reversed(self.factors))
        return Typed(self.operator.T, starred)


def norm_of_product(factors):
    if not factors:
        return 1.0
    return float(np.linalg.norm(reduce(np.matmul, [matrix for matrix, _ in factors]), 2))


@st.composite
def expressions(draw, depth=3):
    """An expression over the nodes, of random shape."""
    kind = draw(st.sampled_from(["leaf", "leaf", "sum", "difference", "product", "number", "T"]))
    if depth == 0 or kind == "leaf":
        name = draw(st.sampled_from([*SQUARE, *ACROSS]))
        typed = Typed.plain(getattr(ops(), name), getattr(dense(), name))
        return typed if name in SQUARE else typed.times(Typed.plain(ops().H, dense().H))
    a = draw(expressions(depth=depth - 1))
    if kind == "number":
        c = draw(st.sampled_from([-1.0, 0.5, 2, -3]))
        return a.multiple(
            c, draw(st.sampled_from([c * a.operator, a.operator * c, a.operator / (1 / c)]))
        )
    if kind == "T":
        return a.star()
    if kind in ("sum", "difference") and draw(st.booleans()):
        b = Typed.plain(ops().Id, np.eye(len(a.matrix)))
    else:
        b = draw(expressions(depth=depth - 1))
    if kind == "product":
        return a.times(b)
    return a.plus(b if kind == "sum" else b.multiple(-1.0, -b.operator))


ROUNDINGS = 2000  # of a leaf, from a Riccati equation whose D⁻¹ is not well-conditioned


@examples(150, suppress_health_check=[HealthCheck.too_slow])
@given(expressions())
def test_random_expressions_agree_with_numpy(case):
    operator, matrix, size = case.operator, case.matrix, case.gross
    x = np.random.default_rng(1).normal(size=len(matrix))
    near(operator @ x, matrix @ x, size * np.linalg.norm(x), ROUNDINGS)
    near(x @ operator, x @ matrix, size * np.linalg.norm(x), ROUNDINGS)
    near(operator.dense(), matrix, size, ROUNDINGS)
    near(written_out(operator), matrix, size, ROUNDINGS)
    namespace = {name: getattr(ops(), name) for name in NAMES} | {"Id": ops().Id}
    again = eval(operator.text(), namespace)  # what is printed can be typed
    near(again.dense(), matrix, size, ROUNDINGS)
    assert operator.latex().count("{") == operator.latex().count("}")


@pytest.mark.parametrize("count", [3, 6, 8])
def test_the_bound_of_random_expressions_says_something_of_long_products(count):
    rng, shares = np.random.default_rng(count), []
    for _ in range(50):
        leaves = [Typed.plain(getattr(ops(), n), getattr(dense(), n)) for n in SQUARE]
        case = reduce(Typed.times, [leaves[k] for k in rng.integers(len(leaves), size=count)])
        largest = np.abs(case.matrix).max()
        if largest > 1e-9 * case.gross:  # not zero, as τ̄τ is
            shares.append(ROUNDINGS * EPS * case.gross / largest)
    assert len(shares) > 20
    assert np.quantile(shares, 0.9) < 1e-5


# ---- lazy: no matrix is formed -----------------------------------------------------------------


def listing_14(g, T):
    z = g.psi @ (g.K @ T + g.P @ g.a + g.b)
    nu = g.D.inverse() @ (T - g.H @ z)
    alpha = g.psi.T @ (g.H.T @ nu + g.a)
    return nu - g.G.T @ g.E_phi.T @ alpha


def test_applying_an_expression_forms_no_matrix(monkeypatch):
    model, q, v = arm()
    g = sk.operators(model, q, v)

    def formed(*_):
        raise AssertionError("a matrix was formed")

    for name in ("dense", "_dense", "written_out"):
        monkeypatch.setattr(materialise, name, formed)
    monkeypatch.setattr(sk.sko.Blocks, "dense", formed)
    monkeypatch.setattr(np, "eye", formed)
    T = np.ones(model.nv)
    near(listing_14(g, T), sk.forward_dynamics(model, q, v, T), roundings=1e7)
    mass = g.H @ g.phi @ g.M @ g.phi.T @ g.H.T
    near(mass @ (mass.inverse() @ T), T, roundings=1e7)
    with pytest.raises(AssertionError):
        mass.dense()


def test_typing_computes_nothing(monkeypatch):
    g = sk.operators(*arm())
    monkeypatch.setattr(sk.sko, "riccati", None)  # calling it would fail
    whole = (g.Id - g.H @ g.psi @ g.K).T @ g.D.inverse() @ (g.Id - g.H @ g.psi @ g.K)
    assert "psi" in repr(whole)
    assert "psi" in whole._repr_latex_()


def test_the_riccati_equation_is_solved_once(monkeypatch):
    g = sk.operators(*arm())
    calls = []
    solve = sk.sko.riccati
    monkeypatch.setattr(sk.sko, "riccati", lambda model: calls.append(1) or solve(model))
    for name in ("P", "D", "psi", "K", "Upsilon"):
        getattr(g, name).dense()
    assert calls == [1]


def calls_of(function):
    """How many calls of Python and C functions it makes."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.skipif(jit.JIT_DISABLED, reason="without the compiler kernels are Python loops")
@pytest.mark.skipif(jit.guards.CHECKING, reason="guards are made and looked at in Python")
def test_python_makes_as_many_calls_for_a_thousand_bodies_as_for_ten():
    counts = []
    for n in (10, 1000):
        b = sk.ModelBuilder()
        for k in range(n):
            parent = f"b{k // 2 - 1}" if k > 1 else "world"
            b.add_body(f"b{k}", parent, sk.Revolute(), mass=1, inertia=(1, 1, 1))
        g = sk.operators(b.build(), np.zeros(n))
        T = np.ones(n)
        inverse = (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T).inverse()
        B = g.pickoff([("b0", (0, 0, 1)), ("b9", (0, 0, 1))])
        runs = (
            lambda g=g, T=T: listing_14(g, T),
            lambda g=g: (g.phi_tilde @ g.psi.T) @ g.a,
            lambda inverse=inverse, T=T: inverse @ T,
            lambda g=g, B=B: B.T @ g.a,
        )
        for run in runs:
            run()  # what is made once is made now
        counts.append([calls_of(run) for run in runs])
    assert counts[0] == counts[1]


# ---- dense, by the decompositions ----------------------------------------------------------------


DECOMPOSED = {
    "forward": lambda g: g.phi @ g.M @ g.phi.T,
    "forward with two kinds": lambda g: g.phi @ g.M @ g.psi.T,
    "forward with several between": lambda g: g.psi @ (g.tau_bar @ g.P) @ g.phi.T,
    "backward": lambda g: g.psi.T @ g.H.T @ g.D.inverse() @ g.H @ g.psi,
    "backward with two kinds": lambda g: g.phi.T @ g.P @ g.psi,
    "mass matrix": lambda g: g.H @ g.phi @ g.M @ g.phi.T @ g.H.T,
    "mass matrix of others": lambda g: g.G.T @ g.psi @ g.R @ g.psi.T @ g.G,
    "columns": lambda g: g.phi @ g.K,
    "rows": lambda g: g.H @ g.phi,
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_decompositions_give_what_the_identity_columns_give(name):
    operator = DECOMPOSED[name](ops())
    assert name.startswith(materialise.dense_rule(operator))
    near(operator.dense(), written_out(operator))


def test_large_matrices_are_announced_with_their_size(monkeypatch):
    monkeypatch.setattr(materialise, "LARGE", 1000.0)
    N = ops().node_space.size
    with pytest.warns(LargeMatrixWarning, match=rf"{N} × {N} matrix of \d+ MB"):
        ops().phi.dense()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sk.operators(arm()[0], arm()[1], bodies=["b0"]).D.dense()


# ---- inverses ------------------------------------------------------------------------------------


def typed_out(g):
    """K as Listing 7 types it."""
    return g.E_phi @ g.P @ g.H.T @ (g.H @ g.P @ g.H.T).inverse()


INVERTIBLE = {
    "D": lambda g: g.D,
    "M": lambda g: g.M,
    "a product of blocks": lambda g: g.H @ g.P @ g.H.T,
    "a sum of blocks": lambda g: g.M + 2 * g.R,
    "phi": lambda g: g.phi,
    "psi": lambda g: g.psi,
    "phi.T": lambda g: g.phi.T,
    "Id - E_phi": lambda g: g.Id - g.E_phi,
    "Id - E_phi @ tau_bar": lambda g: g.Id - g.E_phi @ g.tau_bar,
    "Id + M @ E_phi": lambda g: g.Id + g.M @ g.E_phi,
    "Innovations": lambda g: g.Id + g.H @ g.phi @ g.K,
    "Innovations, other order": lambda g: g.H @ g.phi @ g.K + g.Id,
    "Innovations, typed out": lambda g: g.Id + g.H @ g.phi @ typed_out(g),
    "Innovations, starred": lambda g: g.Id + (g.H @ g.phi @ g.K).T,
    "its inverse": lambda g: g.Id - g.H @ g.psi @ g.K,
    "its inverse, starred": lambda g: (g.Id - g.H @ g.psi @ g.K).T,
    "phi over psi": lambda g: g.Id + g.phi @ g.K @ g.H,
    "psi over phi": lambda g: g.Id - g.K @ g.H @ g.psi,
    "the mass matrix": lambda g: g.H @ g.phi @ g.M @ g.phi.T @ g.H.T,
    "a product": lambda g: 2 * (g.Id + g.H @ g.phi @ g.K) @ g.D,
}


@pytest.mark.parametrize("name", INVERTIBLE)
def test_inverses_undo(name):
    operator = INVERTIBLE[name](ops())
    x = np.random.default_rng(2).normal(size=operator.shape[1])
    kappa = np.linalg.cond(operator.dense())
    near(operator.inverse() @ (operator @ x), x, 1.0, 100 * kappa)
    near(operator @ (operator.inverse() @ x), x, 1.0, 100 * kappa)
    near(operator.inverse().inverse() @ x, operator @ x, 0.0, 100 * kappa)


def test_known_inverses_are_expressions_of_the_papers():
    g = ops()
    assert (g.Id + g.H @ g.phi @ g.K).inverse().text() == "Id - H @ psi @ K"
    assert (g.Id - g.H @ g.psi @ g.K).inverse().text() == "Id + H @ phi @ K"
    assert (g.Id - g.E_phi).inverse() is g.phi
    assert g.psi.inverse().inverse() is g.psi
    mass = g.H @ g.phi @ g.M @ g.phi.T @ g.H.T
    factor = "(Id - H @ psi @ K)"
    assert mass.inverse().text() == f"{factor}.T @ D.inverse() @ {factor}"


# ---- blocks by name ------------------------------------------------------------------------------


def test_blocks_rows_and_columns_by_name():
    g = ops()
    for operator in (g.phi, g.psi.T, g.phi_tilde, g.K, g.M, g.Omega, g.H @ g.phi, 2 * g.Id + g.R):
        matrix = operator.dense()
        rows, cols = operator.spaces
        for i in g.bodies:
            near(operator[i, :], matrix[rows.slice_of(i)], 1.0)
            near(operator[:, i], matrix[:, cols.slice_of(i)], 1.0)
            near(operator[i], matrix[rows.slice_of(i), cols.slice_of(i)], 1.0)
            for j in g.bodies:
                block = matrix[rows.slice_of(i), cols.slice_of(j)]
                near(operator[i, j], block, np.abs(matrix).max())


def test_blocks_of_phi_are_products_along_the_path():
    g, model = ops(), ops().model
    for j in g.bodies:
        for i in g.bodies:
            product = np.zeros((model.sizes[g.tree.resolve(i)], model.sizes[g.tree.resolve(j)]))
            if i == j or g.tree.is_ancestor(i, j):
                product = np.eye(model.sizes[g.tree.resolve(j)])
                for k in g.tree.path(i, j)[:0:-1]:
                    product = model.weights[k] @ product
            near(g.phi[i, j], product)


def test_stacked_vectors_by_name():
    g = ops()
    T = g.joint_vector({"b3": 2.0})
    assert isinstance(T, StackedVector)
    assert (T["b3"] == 2.0).all()
    T["b3"] = 3.0
    assert T.sum() == 3.0 * len(T["b3"])
    whole = g.H.T @ T
    assert isinstance(whole, StackedVector)
    near(whole["b3"], g.H["b3"].T @ T["b3"])
    near((2 * whole + whole)["b3"], 3 * whole["b3"])
    assert type(whole[2:4]) is np.ndarray
    assert (whole == whole).dtype == bool
    assert np.allclose(whole, np.asarray(whole))
    assert type(whole.reshape(-1, 1) @ np.ones((1, 1))) is np.ndarray
    many = g.phi.T @ np.stack([np.asarray(whole)] * 2, axis=1)
    near(many["b3"][:, 1], (g.phi.T @ whole)["b3"])
    whole += whole
    near(whole["b3"], 2 * g.H["b3"].T @ T["b3"])


# ---- pick-offs -----------------------------------------------------------------------------------


def test_pickoffs_give_jacobians_and_compliances():
    model, q, _ = arm()
    nodes = [("b3", (0.1, -0.2, 0.3)), ("b5", (0, 0, 1.0)), ("b3", (0, 0, 0))]
    g = ops()
    B = g.pickoff(nodes)
    J = B.T @ g.phi.T @ g.H.T
    expected = np.concatenate([sk.jacobian(model, q, body, point) for body, point in nodes])
    near(J.dense(), expected, 1.0)
    near(J[1, "b5"], expected[6:12, model.v_slice("b5")], 1.0)
    compliance = sk.operational_space_compliance(model, q, nodes)
    near((B.T @ g.Omega @ B).dense(), compliance, roundings=1e6)
    force = np.random.default_rng(3).normal(size=18)
    near(g.H @ g.phi @ B @ force, expected.T @ force, 10.0)


def test_pickoffs_of_general_models_take_nodes_and_matrices():
    g = sk.operators(sko_cases.case_of(40).model)
    matrix = np.arange(2.0 * g.node_space.sizes[3]).reshape(-1, 2)
    B = g.pickoff([3, (0, None), (3, matrix)])  # integers are numbers of nodes
    at = g.node_space.slice_of(3)
    assert (B.dense()[at, -2:] == matrix).all()
    assert (B.dense()[at, : at.stop - at.start] == np.eye(at.stop - at.start)).all()


# ---- subtrees ------------------------------------------------------------------------------------


def limbs():
    b = sk.ModelBuilder(gravity=(0, 0.5, -9.81))
    common = {"translation": (0.2, 0.1, 0.4), "mass": 1.5, "com": (0, 0.1, 0.2)}
    common["inertia"] = (0.2, 0.3, 0.25)
    for name, parent, joint in (
        ("trunk", "world", sk.Free()),
        ("upper", "trunk", sk.Spherical()),
        ("lower", "upper", sk.Revolute()),
        ("finger", "lower", sk.Universal()),
        ("thumb", "lower", sk.Revolute()),
        ("leg", "trunk", sk.Revolute()),
    ):
        b.add_body(name, parent, joint, **common)
    return b.build()


def test_a_subtree_is_the_limb_alone_on_a_mount_that_holds_still():
    model = limbs()
    q, v = model.random_state(np.random.default_rng(5))
    bodies = ("lower", "thumb", "finger", "upper")
    g = sk.operators(model, q, v, bodies=bodies)
    assert set(g.bodies) == set(bodies)
    rotations, positions = sk.forward_kinematics(model, q)
    mount, at = rotations[0], positions[0]
    alone = sk.ModelBuilder(gravity=model.gravity)
    for name in ("upper", "lower", "finger", "thumb"):
        k = model.body_index(name)
        parent = model.body_names[model.parent[k]]
        placed = {"translation": model.translation[k], "rotation": model.rotation[k]}
        if name == "upper":
            parent = "world"
            placed = {
                "translation": at + mount @ model.translation[k],
                "rotation": mount @ model.rotation[k],
            }
        alone.add_body(
            name, parent, model.joints[k], **placed,
            mass=model.mass[k], com=model.com[k], inertia=model.inertia[k],
        )  # fmt: skip
    limb = alone.build()
    q_limb, v_limb, tau = np.zeros(limb.nq), np.zeros(limb.nv), np.ones(limb.nv)
    for name in limb.joint_names:
        q_limb[limb.q_slice(name)] = q[model.q_slice(name)]
        v_limb[limb.v_slice(name)] = v[model.v_slice(name)]
    assert g.bodies == limb.body_names
    near(listing_14(g, tau), sk.forward_dynamics(limb, q_limb, v_limb, tau), roundings=1e6)
    V, _, _ = sk.velocities(limb, q_limb, v_limb)
    near(g.V, V.ravel(), 1.0)
    J = g.pickoff([("thumb", (0, 0, 1))]).T @ g.phi.T @ g.H.T
    near(J.dense(), sk.jacobian(limb, q_limb, "thumb", (0, 0, 1)), 1.0)


def test_a_subtree_of_a_general_model_has_the_blocks_of_its_nodes():
    model = sko_cases.case_of(46).model
    root = max(range(model.n_nodes), key=lambda k: model.tree.subtree_end[k] - k if k else 0)
    nodes = range(root, model.tree.subtree_end[root])
    assert len(nodes) > 1
    g, whole = sk.operators(model, bodies=nodes), sk.operators(model)
    assert g.bodies == tuple(model.names[k] for k in nodes)
    for i, k in enumerate(nodes):
        near(g.M.block(i, i), model.M[k])
        near(g.a.block(i), whole.a.block(k))
        for j, m in enumerate(nodes):
            near(g.phi.block(i, j), whole.phi.block(k, m))


# ---- words ---------------------------------------------------------------------------------------


def test_expressions_read_as_typed():
    g = ops()
    mass = g.H @ g.phi @ g.M @ g.phi.T @ g.H.T
    assert repr(mass) == "H @ phi @ M @ phi.T @ H.T  (nv × nv, lazy)"
    assert mass._repr_latex_() == r"$H\,\phi\,\mathbf{M}\,\phi^*\,H^*$"
    assert (g.Id - g.H @ g.psi @ g.K).T.text() == "(Id - H @ psi @ K).T"
    assert (-2 * g.phi + g.M / 4 - g.P).text() == "-2 * phi + 0.25 * M - P"
    assert (0.1 * g.phi + g.M / 3).text() == "0.1 * phi + 0.3333333333333333 * M"
    assert (g.M @ (g.P - g.R)).text() == "M @ (P - R)"
    assert (g.H @ g.P @ g.H.T).inverse().text() == "(H @ P @ H.T).inverse()"
    assert repr(g.Id) == "Id  (fits any space)"
    assert g.D.inverse().latex() == r"\mathcal{D}^{-1}"
    assert repr(g).startswith("<the operators of model 'model' (all 11 bodies) at state ")


def test_explain_names_the_recursions_in_order_and_counts_them(capsys):
    model = sk.load("scenarios/models/double_pendulum.toml")
    g = sk.operators(model, model.neutral())
    (g.H @ g.psi @ g.M @ g.phi.T @ g.H.T).explain()
    assert capsys.readouterr().out == (
        "H @ psi @ M @ phi.T @ H.T\n"
        "on one column, nv = 2 -> nv = 2, 2 nodes:\n"
        "   1  H.T    block by block                          12\n"
        "   2  phi.T  scatter, base to tips (Lemma 2)         36\n"
        "   3  M      block by block                          72\n"
        "   4  psi    gather, tips to base (Lemma 1)          36\n"
        "   5  H      block by block                          12\n"
        "total 168 multiply-adds, 84 for each node: O(n)\n"
        "once for this state: the Riccati equation, one gather (eq. 33)\n"
        "dense(): applied to the columns of the identity\n"
    )


# ---- zero and identity ---------------------------------------------------------------------------


def test_is_zero_and_is_identity_tell_roundings_from_values():
    g = ops()
    assert (g.H @ g.tau_bar).is_zero()
    assert not (g.H @ g.tau).is_zero()
    assert not (g.phi - (1 + 1e-8) * g.phi).is_zero()
    assert (g.phi - (1 + 1e-8) * g.phi).is_zero(rtol=1e-7)
    assert (g.phi - g.phi).is_zero()
    assert (0 * g.M).is_zero()
    assert not g.M.is_zero()
    assert not g.Id.is_zero()
    assert g.Id.is_identity()
    assert (g.psi @ (g.Id - g.E_psi)).is_identity()
    assert not (g.psi @ (g.Id - g.E_phi)).is_identity()
    assert not g.G.is_identity()


# ---- what is refused ----------------------------------------------------------------------------


def other(**changes):
    model, q, v = arm()
    given = {"q": q, "v": v} | changes
    return sk.operators(given.pop("model", model), given.pop("q"), given.pop("v"), **given)


MIXED = {
    "another state": lambda: other(q=arm()[0].neutral()),
    "other velocities": lambda: other(v=None),
    "a subtree": lambda: other(bodies=["b0"]),
    "another model": lambda: sk.operators(limbs(), limbs().neutral()),
    "a general model": lambda: sk.operators(sko_cases.case_of(3).model),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixing_is_refused_with_both_named(name):
    theirs = MIXED[name]()
    for mixed in (
        lambda: ops().H @ theirs.phi,
        lambda: ops().phi + theirs.M,
        lambda: ops().Id - theirs.M,
        lambda: ops().phi @ theirs.a,
        lambda: ops().a + theirs.a,
        lambda: ops().E_phi.lyapunov_recursion(theirs.M),
    ):
        with pytest.raises(sk.StateError, match="only operators of the same model") as caught:
            mixed()
        assert ops().origin.title in str(caught.value)
        assert theirs.origin.title in str(caught.value)


def test_the_same_state_typed_twice_may_be_mixed():
    again = other()
    assert again is not ops()
    near((ops().H @ again.phi).dense(), (ops().H @ ops().phi).dense())


REFUSED = {
    "order": (lambda g: g.phi @ g.H, "phi takes a node vector .* but H gives a joint vector"),
    "sum": (lambda g: g.H + g.phi, "H is nv × N and phi is N × N"),
    "Id": (lambda g: g.Id + g.H, "H is nv × N, not square"),
    "star": (lambda g: g.H * g.phi, "multiplied with @"),
    "number": (lambda g: g.H * "2", "multiplied by '2'"),
    "nan": (lambda g: g.H * np.nan, "multiplied by nan"),
    "zero": (lambda g: g.H / 0, "divided by zero"),
    "array": (lambda g: g.H + np.ones(3), "An operator \\+ an array"),
    "three": (lambda g: 3 + g.phi, "c \\* Id"),
    "shape": (lambda g: g.phi @ np.ones(3), r"phi takes node vectors .* x has shape \(3,\)"),
    "words": (lambda g: g.phi @ "x", "phi is applied to str"),
    "infinite": (lambda g: g.D @ np.full(g.joint_space.size, np.inf), "is inf; give finite"),
    "infinities that cancel": (
        lambda g: g.D @ np.resize([np.inf, -np.inf], g.joint_space.size),
        r"x\[0\] is inf; give finite",
    ),
    "space": (lambda g: g.D @ g.a, "D takes a joint vector .* this is a node vector"),
    "vectors": (lambda g: g.a + g.joint_vector(), "A node vector .* meets a joint vector"),
    "size of Id": (lambda g: g.Id.dense(), "Id stands alone"),
    "inverse": (lambda g: (g.phi + g.psi).inverse(), "What can be inverted: block-diagonal"),
    "inverse of H": (lambda g: g.H.inverse(), "H has no inverse that skodyn knows"),
    "inverse of phi_tilde": (lambda g: g.phi_tilde.inverse(), "phi_tilde has no inverse"),
    "Lyapunov": (lambda g: g.E_phi.lyapunov_recursion(g.phi), "phi is not block-diagonal"),
    "Lyapunov of K": (lambda g: g.K.lyapunov_recursion(g.M), "K maps joints to nodes"),
    "slice": (lambda g: g.phi[1:2, "b0"], "is not a body"),
    "pick-off": (lambda g: g.pickoff("b0"), r"nodes is 'b0'; give a list \[\(body, point\)"),
    "point": (lambda g: g.pickoff([("b0", (1, 2))]), "point has shape"),
    "picked": (lambda g: g.pickoff(["b0"])["b0", 4], "4 is not a picked-off point"),
    "vector": (lambda g: g.joint_vector(np.ones(2)), r"The vector has shape \(2,\)"),
    "model": (lambda g: sk.operators("arm"), "model is str"),
    "no state": (lambda g: sk.operators(arm()[0]), "A rigid model needs a state"),
    "q of an SKO model": (lambda g: sk.operators(g.model, arm()[1]), "leave out q"),
    "v": (lambda g: sk.operators(*arm()[:2], np.ones(2)), r"v has shape \(2,\)"),
    "V": (lambda g: sk.operators(g.model).V, "V needs generalised velocities"),
    "no bodies": (lambda g: sk.operators(*arm(), bodies=[]), "bodies is empty"),
    "a word": (lambda g: sk.operators(*arm(), bodies="b0"), "give a list of names"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_refused_in_a_sentence(name):
    call, words = REFUSED[name]
    with pytest.raises(sk.StateError, match=words):
        call(ops())


def test_unknown_bodies_are_refused_with_a_guess():
    model = limbs()
    g = sk.operators(model, model.neutral())
    with pytest.raises(sk.TopologyError, match="did you mean 'thumb'"):
        g.phi["thum", "upper"]
    with pytest.raises(sk.TopologyError, match="no node 'foot'"):
        sk.operators(model, model.neutral(), bodies=["upper", "foot"])


def test_bodies_that_are_not_connected_are_refused_with_their_roots():
    model = limbs()
    with pytest.raises(sk.StateError, match="not connected: 'finger' and 'thumb'"):
        sk.operators(model, model.neutral(), bodies=["finger", "thumb"])


def test_a_singular_block_is_named():
    g = ops()
    with pytest.raises(sk.DynamicsError, match=r"The block of tau_bar at 'b.*' is singular"):
        g.tau_bar.inverse() @ np.ones(g.node_space.size)


def test_the_number_of_a_transposed_multiple_is_kept():
    model = sk.load("scenarios/models/double_pendulum.toml")
    ops = sk.operators(model, [0.3, 0.2])
    expected = -2.0 * ops.phi.dense() @ ops.phi.dense().T
    for typed in (
        ops.phi @ (-2 * ops.phi).T,
        (-2 * ops.phi) @ ops.phi.T,
        (-ops.phi) @ (2 * ops.phi).T,
    ):
        np.testing.assert_allclose(typed.dense(), expected, rtol=1e-14)
        np.testing.assert_allclose(typed @ np.eye(ops.phi.shape[0]), expected, rtol=1e-14)
    twice = ((2 * ops.H) @ ops.phi).T
    np.testing.assert_allclose(twice.dense(), 2 * (ops.H @ ops.phi).dense().T, rtol=1e-14)


def test_equality_of_operators_is_refused_with_what_to_ask_instead():
    ops = sk.operators(sk.examples.pendulum(2), [0.1, 0.2])
    assert ops.phi == ops.phi
    assert ops.phi != 3
    with pytest.raises(sk.StateError, match=r"phi == psi would compare.*\(A - B\).is_zero\(\)"):
        _ = ops.phi == ops.psi
    with pytest.raises(sk.StateError, match="compare expressions"):
        _ = ops.phi != ops.psi
