"""Partitioned SKO models: the parts put together give the whole (Jain 2012-I section 4)."""

import numpy as np
import pytest

import skodyn as sk
from sko_cases import SEEDS, case_of, close
from skodyn import topology


@pytest.fixture(params=SEEDS)
def case(request):
    return case_of(request.param)


def some_nodes(case, salt):
    """A random path-induced set of nodes, by packed index."""
    rng = np.random.default_rng([7, salt, case.model.n_nodes])
    count = int(rng.integers(0, case.model.n_nodes + 1))
    drawn = rng.permutation(case.model.n_nodes)[:count].tolist()
    return list(topology.path_induced_subgraph(case.model.tree, drawn).nodes)


@pytest.mark.parametrize("salt", range(3))
def test_E_and_A_are_assembled_from_the_parts(case, salt):
    parts = case.model.partition(some_nodes(case, salt))
    order = parts.node_order
    assert sorted(order) == list(range(case.model.size))
    whole = case.twin.E[np.ix_(order, order)]
    np.testing.assert_array_equal(parts.kernel_operator(), whole)  # eq. 22
    A = case.twin.A[np.ix_(order, order)]
    close(parts.propagation_operator(), A, scale=np.abs(A).max() ** 2)  # eq. 24


@pytest.mark.parametrize("salt", range(2))
def test_H_and_M_split_into_the_parts(case, salt):
    """Eq. 25."""
    parts = case.model.partition(some_nodes(case, salt))
    pieces = (parts.child, parts.own, parts.parent)
    H = case.twin.H[np.ix_(parts.dof_order, parts.node_order)]
    M = case.twin.M[np.ix_(parts.node_order, parts.node_order)]
    i = j = 0
    for piece in pieces:
        rows, columns = slice(i, i + piece.nv), slice(j, j + piece.size)
        np.testing.assert_array_equal(H[rows, columns], piece.H.dense())
        np.testing.assert_array_equal(M[columns, columns], piece.M.dense())
        np.testing.assert_array_equal(case.twin.a[parts.node_order][columns], piece.a)
        np.testing.assert_array_equal(case.twin.b[parts.node_order][columns], piece.b)
        i, j = i + piece.nv, j + piece.size
    assert (i, j) == H.shape


def test_the_outer_mass_matrix_does_not_depend_on_what_is_inboard(case):
    """Corollary 4.1, eqs. 26 and 27, with 𝒞 empty."""
    tree = case.model.tree
    outer = [k for k in range(tree.n) if k >= tree.n // 2 or tree.parent[k] >= tree.n // 2]
    outer = sorted({d for k in outer for d in range(k, int(tree.subtree_end[k]))})
    parts = case.model.partition(outer)
    assert parts.child.n_nodes == 0
    mass = case.twin.mass[np.ix_(parts.dof_order, parts.dof_order)]
    s = parts.own.nv
    close(mass[:s, :s], sk.sko.mass_matrix(parts.own), scale=np.abs(mass).max(initial=0.0))
    A_s, A_p = (np.linalg.inv(np.eye(len(E)) - E) for E in (
        parts.kernel_operator()[: parts.own.size, : parts.own.size],
        parts.kernel_operator()[parts.own.size :, parts.own.size :],
    ))  # fmt: skip
    seen = parts.own.M.dense() @ A_s.T @ parts.outer_connector.T @ A_p.T @ parts.parent.H.dense().T
    X = parts.own.H.dense() @ A_s @ seen
    Y = parts.parent.H.dense() @ A_p @ parts.outer_connector @ A_s @ seen
    scale = max(np.abs(A_s).max(initial=1), np.abs(A_p).max(initial=1)) ** 4 * np.abs(mass).max(
        initial=0.0
    )
    close(mass[:s, s:], X, scale)
    close(mass[s:, s:], sk.sko.mass_matrix(parts.parent) + Y, scale)
    close(parts.X, X, scale)
    close(parts.Y, Y, scale)


def test_X_and_Y_are_refused_where_nodes_lie_further_out():
    chain = sk.SKOModel(
        [-1, 0, 1], A=[None, [[1.0]], [[1.0]]], H=[[[1.0]]] * 3, M=[[[1.0]]] * 3, names="abc"
    )
    parts = chain.partition(["b"])
    for name in "XY":
        with pytest.raises(sk.StateError, match="nodes lie further out, 'c'; add them"):
            getattr(parts, name)
    outer = chain.partition(["b", "c"])
    np.testing.assert_array_equal(outer.X, [[2.0], [1.0]])
    np.testing.assert_array_equal(outer.Y, [[2.0]])


def test_a_set_with_holes_is_refused_with_what_is_missing():
    chain = sk.SKOModel(
        [-1, 0, 1], A=[None, [[1.0]], [[1.0]]], H=[[[1.0]]] * 3, M=[[[1.0]]] * 3, names="abc"
    )
    with pytest.raises(sk.TopologyError, match="pass through 'b'"):
        chain.partition(["a", "c"])
    with pytest.raises(sk.TopologyError, match="'d'"):
        chain.partition(["d"])
