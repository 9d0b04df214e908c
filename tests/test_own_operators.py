"""A user's own operators, parts of a model as operators, traces, determinants, tables."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import adapters
import naive
import sko_cases
import skodyn as sk
from skodyn import topology

EPS = np.finfo(float).eps


@cache
def arm():
    """A branched model with every kind of joint and some rotors, and its operators."""
    rng = np.random.default_rng(17)
    model = adapters.build(naive.random_bodies(rng, 11, branching=0.5, rotors=0.3))
    return sk.operators(model, *model.random_state(rng))


@cache
def ragged(seed):
    return sk.operators(sko_cases.case_of(seed).model)


BENCHES = {"rigid": arm, **{f"ragged {s}": (lambda s=s: ragged(s)) for s in (21, 30, 39, 46)}}


@pytest.fixture(params=BENCHES)
def ops(request):
    return BENCHES[request.param]()


def close(actual, expected, size=1.0):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    scale = max(size, np.abs(expected).max(initial=0.0))
    assert np.abs(actual - expected).max(initial=0.0) <= 1e4 * EPS * scale


def dense(ops, *words):
    """The product of operators' matrices, each written out, by NumPy."""
    found = None
    for word in words:
        matrix = getattr(ops, word.removesuffix(".T")).dense()
        matrix = matrix.T if word.endswith(".T") else matrix
        found = matrix if found is None else found @ matrix
    return found


def sized(ops, *words):
    """A size for the roundings of such a product."""
    return np.prod(
        [np.abs(getattr(ops, w.removesuffix(".T")).dense()).max(initial=1) for w in words]
    )


# ---- a block-diagonal operator, and an SKO operator, of one's own -------------------------------


def test_blocks_may_be_a_function_a_dict_a_list_a_matrix_or_a_number():
    ops = arm()
    sizes = [ops.node_space.sizes[k] for k in range(ops.tree.n)]
    rng = np.random.default_rng(0)
    blocks = {name: rng.normal(size=(m, m)) for name, m in zip(ops.bodies, sizes, strict=True)}
    forms = [blocks, blocks.__getitem__, list(blocks.values())]
    whole = [ops.block_diagonal("Q", form).dense() for form in forms]
    expected = np.zeros((ops.node_space.size,) * 2)
    for k, name in enumerate(ops.bodies):
        at = ops.node_space.slice_at(k)
        expected[at, at] = blocks[name]
    for matrix in whole:
        np.testing.assert_array_equal(matrix, expected)
    np.testing.assert_array_equal(
        ops.block_diagonal("c", 2.5, rows="joint", cols="joint").dense(),
        2.5 * np.eye(ops.joint_space.size),
    )
    first = ops.bodies[0]
    lone = ops.block_diagonal("Q", {first: blocks[first]}).dense()
    assert np.count_nonzero(lone) == blocks[first].size
    single = sk.operators(sk.SKOModel([-1, 0], A=[None, 1.0], H=[1.0] * 2, M=[1.0] * 2))
    np.testing.assert_array_equal(single.block_diagonal("Q", [3.0, 4.0]).dense(), np.diag([3, 4]))
    np.testing.assert_array_equal(single.block_diagonal("Q", [[3.0]]).dense(), np.diag([3, 3]))


def test_own_operators_take_part_in_expressions_and_recursions(ops):
    rng = np.random.default_rng(1)
    Q = ops.block_diagonal("Q", lambda name: 0.5 * np.eye(size(ops, name)), symbol=r"\mathcal{Q}")
    S = ops.block_diagonal("S", lambda name: rng.normal(size=(size(ops, name),) * 2))
    E = ops.kernel("E_chi", lambda name: 0.3 * weight(ops, name))
    chi = ops.propagator("chi", E, symbol=r"\chi")
    one = np.eye(ops.node_space.size)
    close(chi.dense(), np.linalg.inv(one - E.dense()), sized(ops, "phi"))
    assert ((ops.Id - E) @ chi).is_identity()
    assert (chi - (ops.Id - E).inverse()).is_zero()
    x = rng.normal(size=ops.node_space.size)
    expected = (S.dense() + chi.dense() @ Q.dense() @ chi.dense().T) @ x
    close((S + chi @ Q @ chi.T) @ x, expected, np.abs(chi.dense()).max() ** 2)
    Y = E.lyapunov_recursion(Q)
    assert (Q - (Y - diagonal(ops, E @ Y @ E.T))).is_zero()
    assert (chi @ Q @ chi.T - (Y + (chi - ops.Id) @ Y + Y @ (chi - ops.Id).T)).is_zero()  # Lemma 3
    assert (Q.inverse() @ Q).is_identity()
    assert (ops.H @ chi @ Q).text() == "H @ chi @ Q"
    assert (ops.H @ chi @ Q).latex() == r"H\,\chi\,\mathcal{Q}"


def size(ops, name):
    return int(ops.node_space.sizes[ops.tree.index_of(name)])


def weight(ops, name):
    return ops.model.weights[ops.tree.index_of(name)]


def diagonal(ops, operator):
    """The blocks on the diagonal, as an operator again; of numbers that are there already."""
    matrix, space = operator.dense(), ops.node_space
    blocks = [matrix[space.slice_at(k), space.slice_at(k)] for k in range(ops.tree.n)]
    return ops.block_diagonal("diagonal_part", blocks)


def test_own_operators_are_refused_in_sentences():
    ops = arm()
    body = ops.bodies[0]
    cases = [
        (lambda: ops.block_diagonal("H", 1.0), "workbench has a 'H' of its own"),
        (lambda: ops.block_diagonal("two words", 1.0), "The name is 'two words'; give one word"),
        (lambda: ops.block_diagonal("Q", [1.0, 2.0]), "Q has 2 blocks; give 11, one for each"),
        (lambda: ops.block_diagonal("Q", {body: np.eye(2)}), r"has shape \(2, 2\); give 6 × 6"),
        (lambda: ops.block_diagonal("Q", {body: "x"}), "is 'x', no matrix of real numbers"),
        (lambda: ops.block_diagonal("Q", {body: np.full((6, 6), np.nan)}), "not finite"),
        (lambda: ops.block_diagonal("Q", {"nobody": 1.0}), "no node 'nobody'"),
        (lambda: ops.block_diagonal("Q", 1.0, rows="body"), "rows is 'body'; give 'node' and"),
        (lambda: ops.propagator("chi", ops.M), "The kernel of 'chi' is M; give an operator with"),
        (lambda: ops.propagator("chi", ops.K), "The kernel of 'chi' is K; give"),
        (lambda: ops.propagator("chi", 3), "The kernel of 'chi' is int; give"),
        (lambda: ops.phi.lyapunov_recursion(ops.M), "phi has blocks elsewhere than between"),
    ]
    for ask, words in cases:
        with pytest.raises(sk.SkodynError, match=words):
            ask()
    with pytest.raises(sk.StateError) as caught:
        ops.block_diagonal("Q", lambda name: np.eye(2))
    assert len(caught.value.faults) == ops.tree.n


# ---- inverses and recursions of what is typed out -----------------------------------------------


def test_lyapunov_recursions_of_expressions(ops):
    """E_φτ̄ is E_ψ, however it is typed."""
    E = ops.E_phi @ ops.tau_bar
    X = ops.H.T @ ops.D.inverse() @ ops.H
    assert (E.lyapunov_recursion(ops.M) - ops.P).is_zero()  # eq. 36
    for typed in (E.T, ops.tau_bar.T @ ops.E_phi.T):
        assert (typed.lyapunov_recursion(X) - ops.Upsilon).is_zero()  # eq. 24
    half = (0.5 * ops.E_phi + 0.5 * ops.E_phi).lyapunov_recursion(ops.M)
    assert (half - ops.R).is_zero()
    assert (ops.E_phi @ ops.tau_bar).lyapunov_recursion(ops.M).text() == (
        "(E_phi @ tau_bar).lyapunov_recursion(M)"
    )


INVERSES = {
    "Id - E_phi.T": lambda g: g.Id - g.E_phi.T,
    "Id - E_psi.T typed out": lambda g: g.Id - g.tau_bar.T @ g.E_phi.T,
    "H phi G": lambda g: g.H @ g.phi @ g.G,
    "its transpose": lambda g: (g.H @ g.phi @ g.G).T,
    "its multiple": lambda g: -2.0 * (g.H @ g.phi @ g.G),
    "H psi M psi* H*": lambda g: g.H @ g.psi @ g.M @ g.psi.T @ g.H.T,
    "composite": lambda g: g.H @ (g.R + g.phi_tilde @ g.R + g.R @ g.phi_tilde.T) @ g.H.T,
    "composite, R typed": lambda g: composite(g, g.E_phi.lyapunov_recursion(g.M)),
    "composite, PyCraft eq. 20": lambda g: g.H @ (g.phi @ g.R + g.R @ g.phi.T - g.R) @ g.H.T,
    "composite, multiplied out": lambda g: (
        g.H @ g.R @ g.H.T + g.H @ g.phi_tilde @ g.R @ g.H.T + (g.H @ g.phi_tilde @ g.R @ g.H.T).T
    ),
}


def composite(g, R):
    return g.H @ (R + g.phi_tilde @ R + R @ g.phi_tilde.T) @ g.H.T


@pytest.mark.parametrize("name", INVERSES)
def test_inverses_of_more_expressions(ops, name):
    operator = INVERSES[name](ops)
    assert (operator @ operator.inverse()).is_identity()
    assert (operator.inverse() @ operator).is_identity()


def test_inverses_are_the_papers_expressions_and_the_like_of_them_are_refused():
    g = arm()
    assert (g.Id - g.E_phi.T).inverse().text() == "phi.T"
    assert (g.H @ g.phi @ g.G).inverse().text() == "Id - H @ psi @ K"
    assert (g.H @ g.psi @ g.M @ g.psi.T @ g.H.T).inverse().text() == "D.inverse()"
    for wrong in (
        g.H @ (g.R + g.phi_tilde @ g.R) @ g.H.T,
        g.H @ (g.R + 2.0 * g.phi_tilde @ g.R + g.R @ g.phi_tilde.T) @ g.H.T,
        g.H @ (g.M + g.phi_tilde @ g.M + g.M @ g.phi_tilde.T) @ g.H.T,
        g.H @ g.psi @ g.G @ g.H @ g.H.T,
        g.Id - g.E_phi - g.E_phi.T,
    ):
        with pytest.raises(sk.StateError, match="has no inverse that skodyn knows"):
            wrong.inverse()


MODELS = sorted(
    path.stem
    for path in Path("scenarios/models").glob("*.toml")
    if "\nmodes = " not in path.read_text()  # operators refuse bodies with modes
)


@pytest.mark.parametrize("name", MODELS)
def test_identities_on_every_model_of_the_scenarios(name):
    """Parts, inverses, traces and determinants of what is shipped; loops are refused by name."""
    model = sk.load(f"scenarios/models/{name}.toml")
    rng = np.random.default_rng(2)
    if model.has_loops or model.mimics:
        with pytest.raises(sk.ModelError, match="operators does not take"):
            sk.operators(model, model.neutral())
        return
    q, v = model.random_state(rng)
    g = sk.operators(model, q, v)
    mass = g.H @ g.phi @ g.M @ g.phi.T @ g.H.T
    assert (mass @ composite(g, g.R).inverse()).is_identity()
    assert ((g.E_phi @ g.tau_bar).lyapunov_recursion(g.M) - g.P).is_zero()
    assert mass.log_det() == pytest.approx(sk.mass_matrix_logdet(model, q), rel=1e-9, abs=1e-9)
    parts = g.segments()
    x = rng.normal(size=g.node_space.size)
    whole = g.phi @ x
    close(parts.phi.assembled() @ x, whole, np.abs(whole).max())
    spread = g.P + g.phi_tilde @ g.P + g.P @ g.phi_tilde.T
    assert (g.covariances.z - (g.covariances.x - spread)).is_zero()


# ---- traces and determinants --------------------------------------------------------------------

SQUARE = {
    "M": lambda g: g.M,
    "phi": lambda g: g.phi,
    "phi tilde": lambda g: g.phi_tilde,
    "E": lambda g: g.E_phi,
    "phi M phi*": lambda g: g.phi @ g.M @ g.phi.T,
    "phi~ M phi*": lambda g: g.phi_tilde @ g.M @ g.phi.T,
    "phi~ M psi~*": lambda g: g.phi_tilde @ g.M @ g.psi_tilde.T,
    "psi* X psi": lambda g: g.Omega,
    "mass matrix": lambda g: g.H @ g.phi @ g.M @ g.phi.T @ g.H.T,
    "minus half of it": lambda g: -0.5 * (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T),
    "composite form": lambda g: composite(g, g.R),
    "its inverse": lambda g: (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T).inverse(),
    "Innovations factor": lambda g: g.Id + g.H @ g.phi @ g.K,
    "its inverse, starred": lambda g: (g.Id - g.H @ g.psi @ g.K).T,
    "H phi G": lambda g: g.H @ g.phi @ g.G,
    "triangular": lambda g: 3.0 * g.H @ g.phi @ g.P @ g.H.T - g.D,
    "of P": lambda g: g.H @ g.psi @ g.P @ g.psi.T @ g.H.T,
    "product": lambda g: g.phi @ g.M @ g.phi.T,
}


@pytest.mark.parametrize("name", SQUARE)
def test_traces_are_those_of_the_matrix(ops, name):
    operator = SQUARE[name](ops)
    matrix = operator.dense()
    assert operator.trace() == pytest.approx(np.trace(matrix), rel=1e-8, abs=1e-8 * norm(matrix))


def norm(matrix):
    return np.abs(matrix).max(initial=1.0)


@pytest.mark.parametrize("name", [n for n in SQUARE if n not in ("phi~ M phi*", "phi~ M psi~*")])
def test_determinants_are_those_of_the_matrix(ops, name):
    operator = SQUARE[name](ops)
    matrix = operator.dense()
    sign, logarithm = np.linalg.slogdet(matrix)
    singular = np.linalg.matrix_rank(matrix) < len(matrix)
    if name == "psi* X psi":
        with pytest.raises(sk.StateError, match="No recursion gives the determinant"):
            operator.log_det()
    elif singular:
        assert operator.det() == pytest.approx(0.0, abs=1e-6)
    elif sign < 0:
        with pytest.raises(sk.DynamicsError, match="is negative and has no logarithm"):
            operator.log_det()
        assert operator.det() == pytest.approx(sign * np.exp(logarithm), rel=1e-6)
    else:
        assert operator.log_det() == pytest.approx(logarithm, rel=1e-7, abs=1e-7)
        if abs(logarithm) < 500:
            assert operator.det() == pytest.approx(np.exp(logarithm), rel=1e-5)


def test_determinants_of_own_mass_matrices_are_by_a_riccati_equation_of_their_own(ops):
    Q = ops.block_diagonal("Q", lambda name: 2.0 * np.eye(size(ops, name)))
    L = ops.block_diagonal(
        "L", lambda n: -3.0 * ops.model.H_block(ops.tree.index_of(n)), rows="joint"
    )
    operator = L @ ops.phi @ Q @ ops.phi.T @ L.T
    assert operator.log_det() == pytest.approx(np.linalg.slogdet(operator.dense())[1], rel=1e-8)
    assert operator.trace() == pytest.approx(np.trace(operator.dense()))


def test_what_is_no_triangle_has_no_determinant_by_mistake():
    g = arm()
    for mixed in (g.Id + g.phi_tilde + g.phi_tilde.T, g.phi.T @ g.M + g.phi @ g.M):
        with pytest.raises(sk.StateError, match="No recursion gives the determinant"):
            mixed.log_det()
    with pytest.raises(sk.StateError, match="H is nv × N, not square"):
        g.H.trace()
    with pytest.raises(sk.StateError, match="No recursion gives the diagonal"):
        (g.phi @ g.M @ g.phi.T @ g.M @ g.phi).trace()
    with pytest.raises(sk.DynamicsError, match="The determinant of E_phi is zero"):
        g.E_phi.log_det()


# ---- parts --------------------------------------------------------------------------------------


def test_eqs_61_to_63_by_segments(ops):
    parts = ops.segments()
    segments = topology.serial_segments(ops.tree)
    assert len(parts) == len(segments)
    for by_part, whole in ((parts.E_phi, ops.E_phi), (parts.phi, ops.phi), (parts.M, ops.M)):
        assert (by_part.assembled() - whole).is_zero()
    starts = [ops.node_space.slice_at(int(s)).start for s in segments.start]
    ends = [ops.node_space.slice_at(int(e) - 1).stop for e in segments.end]
    at = [slice(a, b) for a, b in zip(starts, ends, strict=True)]
    E, A = ops.E_phi.dense(), ops.phi.dense()
    for j, row in enumerate(parts.names):
        for k, column in enumerate(parts.names):
            np.testing.assert_array_equal(parts.E_phi[row, column].dense(), E[at[j], at[k]])
            close(parts.phi[row, column].dense(), A[at[j], at[k]], norm(A) ** 2)
    related = [(j, k) for j, k in np.argwhere(parts_related(segments)) if j != k]
    for j, k in related:  # 𝔸_{j,k} = 𝔸_j ℰ_{j,i} 𝔸_{i,k}, by its text
        assert parts.phi[parts.names[j], parts.names[k]].text().startswith("phi[")


def parts_related(segments):
    tree = segments.tree
    return np.array([[j == k or tree.holds(j, k) for k in range(tree.n)] for j in range(tree.n)])


def test_the_connector_of_eq_62_is_one_weight_between_tip_and_base():
    model = sk.load("scenarios/models/humanoid.toml")
    ops = sk.operators(model, model.neutral())
    parts = ops.segments()
    joined = [(j, k) for j in parts.names for k in parts.names if j != k and
              parts.E_phi[j, k].dense().any()]  # fmt: skip
    assert joined
    for j, k in joined:
        tip, base = parts.bodies(j)[-1], parts.bodies(k)[0]
        table = parts.E_phi[j, k].table(order="tips first")
        assert [*table.numbers] == [(tip, base)]
        assert (table.row_names[0], table.column_names[-1]) == (tip, base)  # the corner of eq. 62


@pytest.mark.parametrize("salt", range(2))
def test_partitions_as_operators(ops, salt):
    rng = np.random.default_rng([3, salt, ops.tree.n])
    drawn = rng.permutation(ops.tree.n)[: int(rng.integers(1, ops.tree.n + 1))].tolist()
    nodes = list(topology.path_induced_subgraph(ops.tree, drawn).nodes)
    parts = ops.partition(nodes)
    mass = ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T
    assert (parts.E_phi.assembled() - ops.E_phi).is_zero()  # eq. 22
    assert (parts.phi.assembled() - ops.phi).is_zero()  # eq. 24
    assert (parts.mass_matrix.assembled() - mass).is_zero()
    assert (parts.E_phi["own"].lyapunov_recursion(parts.M["own"]).T).shape[0] > 0
    assert ((ops.Id - parts.E_phi["own"]).inverse() - parts.phi["own"]).is_zero()  # eq. 23


def test_X_and_Y_of_eqs_26_and_27_as_operators(ops):
    root = next((int(k) for k in range(ops.tree.n) if ops.tree.parent[k] >= 0), None)
    if root is None:
        return
    outer = list(range(root, int(ops.tree.subtree_end[root])))
    parts = ops.partition(outer)
    model = ops.model.partition(outer)
    close(parts.X.dense(), model.X, norm(model.X))
    close(parts.Y.dense(), model.Y, norm(model.Y))
    H, phi, M = parts.H["parent"], parts.phi["parent"], parts.M["parent"]
    alone = H @ phi @ M @ phi.T @ H.T
    assert (parts.mass_matrix["parent"] - alone - parts.Y).is_zero()  # eq. 26
    assert (parts.mass_matrix["own", "parent"] - parts.X).is_zero()
    assert (parts.mass_matrix["parent", "own"] - parts.X.T).is_zero()


def test_parts_are_refused_in_sentences():
    ops = arm()
    parts = ops.segments()
    with pytest.raises(sk.StateError, match="There is no part 'nobody'; give one of"):
        _ = parts.E_phi["nobody"]
    with pytest.raises(sk.StateError, match="are for an outer part and an inner one; these are"):
        _ = parts.X if "own" in parts.names else ops.partition(range(ops.tree.n)).X
    with pytest.raises(sk.StateError, match="names no block"):
        _ = parts.E_phi[parts.names[0], parts.names[0], parts.names[0]]
    if len(parts) > 1:
        with pytest.raises(sk.StateError, match="only operators between the same spaces"):
            _ = parts.M[parts.names[0]] + parts.M[parts.names[1]]


# ---- for the eye --------------------------------------------------------------------------------


def test_star_asarray_and_blocks_by_two_names(ops):
    assert ops.phi.star is ops.phi.T
    np.testing.assert_array_equal(np.asarray(ops.phi), ops.phi.dense())
    np.testing.assert_array_equal(np.asarray(ops.M, dtype=np.float32), ops.M.dense().astype("f4"))
    with pytest.raises(ValueError, match="An operator is not an array"):
        np.asarray(ops.M, copy=False)


def test_blocks_row_by_column():
    g = arm()
    for row in g.bodies[:4]:
        for column in g.bodies[:4]:
            np.testing.assert_array_equal(g.phi[row][column], g.phi[row, column])
    assert g.phi[g.bodies[0]][0].shape == (g.node_space.sizes[0],)  # numbers index the array
    with pytest.raises(sk.StateError, match="is an array and has no names; give row and column"):
        _ = g.phi[g.bodies[0], g.bodies[0]]["x"]


def test_tips_first_is_the_papers_order(ops):
    E = ops.E_phi.dense(order="tips first")
    np.testing.assert_array_equal(E, np.tril(E))
    reverse = np.concatenate(
        [np.arange(s.start, s.stop) for s in
         (ops.node_space.slice_at(k) for k in reversed(range(ops.tree.n)))]
    )  # fmt: skip
    np.testing.assert_array_equal(E, ops.E_phi.dense()[np.ix_(reverse, reverse)])
    with pytest.raises(sk.StateError, match="order is 'up'; give one of 'base first' and 'tips"):
        ops.E_phi.dense(order="up")
    with pytest.raises(sk.StateError, match="order is 'up'"):
        ops.E_phi.table(order="up")


def test_tables_name_the_blocks():
    b = sk.ModelBuilder()
    for name, parent in (("upper", "world"), ("lower_left", "upper"), ("lower_right", "upper")):
        b.add_body(name, parent, sk.Revolute(axis=(0, 1, 0)), translation=(0, 0, -1), mass=2.0,
                   com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))  # fmt: skip
    model = b.build()
    g = sk.operators(model, model.neutral())
    table = (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T).table()
    lines = repr(table).splitlines()
    assert lines[0].startswith("H @ phi @ M @ phi.T @ H.T  (nv × nv, lazy), base first")
    assert lines[1].split() == ["upper", "lower_left", "lower_right"]
    assert lines[2].split() == ["upper", "9.8", "1.6", "1.6"]
    assert lines[3].split() == ["lower_left", "1.6", "0.6", "·"]
    assert ("lower_left", "lower_right") not in table.numbers
    assert table.numbers["upper", "upper"].shape == (1, 1)
    assert "<th>lower_left</th>" in table._repr_html_()
    assert table.latex() == (
        "\\left[\\begin{array}{r|r|r}\n9.8 & 1.6 & 1.6 \\\\\n\\hline\n1.6 & 0.6 & 0 \\\\\n"
        "\\hline\n"
        "1.6 & 0 & 0.6 \\\\\n\\end{array}\\right]"
    )
    first = g.phi.table(order="tips first")
    assert first.row_names == ("lower_right", "lower_left", "upper")
    assert "6×6" in repr(first)
    assert g.phi._repr_latex_() == r"$\phi$"
