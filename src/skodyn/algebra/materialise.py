"""Operators written out as matrices: by the Lyapunov decompositions where they apply.

φXφ* with block-diagonal X has the diagonal Y of the forward Lyapunov equation, and every other
block follows from it along one path (Jain 2011-II Lemma 3); ψ*Xψ likewise, backward (Lemma 5);
HφXφ*H* is Algorithm 4.2. Whatever else is applied to the columns, or rows, of the identity; for
𝓜⁻¹ of eq. 51 that takes less than the way through Ω would.
"""

from __future__ import annotations

import warnings

import numpy as np

from skodyn import sko
from skodyn.algebra.composite import Identity, Product, Scaled, Sum, Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Edges, Named, Propagator
from skodyn.algebra.spaces import Space
from skodyn.algebra.structure import diagonal_blocks, factors_of, is_block_diagonal
from skodyn.errors import StateError
from skodyn.sko import SKOModel
from skodyn.sko.blocks import Blocks, Floats, Ints
from skodyn.topology import Tree
from skodyn.wording import listed

__all__ = [
    "LARGE",
    "ORDERS",
    "LargeMatrixWarning",
    "dense",
    "dense_rule",
    "entries_in",
    "written_out",
]

LARGE = 64e6
"""Bytes from which on a matrix is called large."""

ORDERS = ("base first", "tips first")

COLUMNS = 256
"""So many columns are swept at a time, which bounds what lies between the factors."""


class LargeMatrixWarning(UserWarning):
    """dense() was asked for a matrix that takes much memory."""


def dense(operator: Operator) -> Floats:
    """The matrix; a LargeMatrixWarning says how large it is when that matters."""
    rows, cols = operator.shape
    if 8 * rows * cols > LARGE:
        warnings.warn(
            f"{operator.text()} is written out as a {rows} × {cols} matrix of "
            f"{8e-6 * rows * cols:.0f} MB; apply it to vectors instead if you can.",
            LargeMatrixWarning,
            stacklevel=3,
        )
    return _dense(operator)


def entries_in(space: Space, order: str) -> Ints | None:
    """Where the entries of a space lie if its parts are told in this order; None: as they are."""
    if order not in ORDERS:
        raise StateError(f"order is {order!r}", f"give one of {listed(ORDERS)}.")
    if order == ORDERS[0]:
        return None
    parts = range(len(space.sizes)) if space.tree is None else space.tree.canonical_order().tolist()
    pieces = [np.arange(space.starts[k], space.starts[k + 1]) for k in parts]
    return np.concatenate([*pieces, np.zeros(0, dtype=np.int64)])


def _dense(operator: Operator) -> Floats:
    if isinstance(operator, Identity):
        return np.eye(operator.shape[0])
    if isinstance(operator, Named):
        return _dense(operator.definition)
    if isinstance(operator, Transposed):
        return _dense(operator.inner).T.copy()
    if isinstance(operator, Scaled):
        return operator.number * _dense(operator.inner)
    if isinstance(operator, Sum):
        return np.asarray(np.add.reduce([_dense(term) for term in operator.terms]))
    rule = dense_rule(operator)
    if rule == "blocks":
        return diagonal_blocks(operator).dense()
    if rule == "edges":
        assert isinstance(operator, Edges)
        return _dense_edges(operator)
    if rule == "forward":
        return _forward(*_sandwich(operator))
    if rule == "backward":
        return _backward(*_sandwich(operator))
    if rule == "mass matrix":
        return _mass_matrix(operator)
    return written_out(operator)


def dense_rule(operator: Operator) -> str:
    """Which way `dense` goes for a product or a leaf."""
    if is_block_diagonal(operator):
        return "blocks"
    if isinstance(operator, Edges):
        return "edges"
    factors = factors_of(operator) if isinstance(operator, Product) else [operator]
    inner = [is_block_diagonal(factor) for factor in factors[1:-1]]
    if len(factors) >= 2 and all(inner):
        if _propagates(factors[0]) and _propagates_outward(factors[-1]):
            return "forward"
        if _propagates_outward(factors[0]) and _propagates(factors[-1]):
            return "backward"
    if len(factors) >= 4 and _is_mass_matrix(factors):
        return "mass matrix"
    return "columns" if operator.shape[1] <= operator.shape[0] else "rows"


def written_out(operator: Operator) -> Floats:
    """The operator applied to the identity, by columns or by rows, whichever are fewer."""
    rows, cols = operator.shape
    transpose = rows < cols
    count, length = (rows, cols) if transpose else (cols, rows)
    result = np.empty((length, count))
    for start in range(0, count, COLUMNS):
        stop = min(start + COLUMNS, count)
        piece = np.zeros((count, stop - start))
        piece[np.arange(start, stop), np.arange(stop - start)] = 1.0
        result[:, start:stop] = operator.run(piece, transpose)
    return result.T.copy() if transpose else result


def _propagates(factor: Operator) -> bool:
    return isinstance(factor, Propagator) and not factor.strict


def _propagates_outward(factor: Operator) -> bool:
    return isinstance(factor, Transposed) and _propagates(factor.inner)


def _is_mass_matrix(factors: list[Operator]) -> bool:
    """L A X A* L* with block-diagonal L and symmetric X, written with one leaf each."""
    left, first, *middle, last, right = factors
    if len(middle) != 1 or not is_block_diagonal(left):
        return False
    symmetric = getattr(middle[0], "symmetric", False)
    return symmetric and _propagates(first) and last is first.T and right is left.T


def _sandwich(operator: Operator) -> tuple[Tree, Blocks, Blocks, Blocks]:
    """(tree, weights of A, X, weights of B) of A X B* or A* X B."""
    factors, bench = factors_of(operator), operator.bench
    outer = [f.inner if isinstance(f, Transposed) else f for f in (factors[0], factors[-1])]
    space = outer[0].spaces[0]
    inner = tuple(factors[1:-1]) or (Identity(bench, space),)
    X = diagonal_blocks(inner[0] if len(inner) == 1 else Product(inner))
    weights = [f.blocks for f in outer if isinstance(f, Propagator)]
    return space.forest, weights[0], X, weights[1]


def _forward(tree: Tree, A: Blocks, X: Blocks, B: Blocks) -> Floats:
    """Eq. 15, inward: all columns of a subtree lie side by side, so each edge is one product."""
    Y = sko.forward_lyapunov(tree, A, X, B)
    Z, at, to = Y.dense(), A.col_starts, B.col_starts
    for k in range(tree.n - 1, -1, -1):
        p, end = int(tree.parent[k]), int(tree.subtree_end[k])
        if p >= 0:
            rows, cols = slice(at[k], at[k + 1]), slice(to[k], to[k + 1])
            below, beside = slice(at[k], at[end]), slice(to[k], to[end])
            Z[at[p] : at[p + 1], beside] = A[k] @ Z[rows, beside]
            Z[below, to[p] : to[p + 1]] = Z[below, cols] @ B[k].T
    return Z


def _backward(tree: Tree, A: Blocks, X: Blocks, B: Blocks) -> Floats:
    """Eq. 25, outward: what comes before k in packed order is no descendant of k, so that all of
    its blocks with them follow from those of the parent."""
    Y = sko.backward_lyapunov(tree, A, X, B)
    Z, at, to = Y.dense(), A.col_starts, B.col_starts
    for k in range(tree.n):
        p = int(tree.parent[k])
        if p >= 0:
            parent_rows, parent_cols = slice(at[p], at[p + 1]), slice(to[p], to[p + 1])
            Z[at[k] : at[k + 1], : to[k]] = A[k].T @ Z[parent_rows, : to[k]]
            Z[: at[k], to[k] : to[k + 1]] = Z[: at[k], parent_cols] @ B[k]
    return Z


def _mass_matrix(operator: Operator) -> Floats:
    """Algorithm 4.2 for any block-diagonal pair in the places of H and M."""
    left, first, middle, *_ = factors_of(operator)
    assert isinstance(first, Propagator)
    maps, inertias = diagonal_blocks(left), diagonal_blocks(middle)
    return sko.mass_matrix(
        SKOModel.from_packed(first.spaces[0].forest, first.blocks, maps, inertias)
    )


def _dense_edges(operator: Edges) -> Floats:
    full, tree = np.zeros(operator.shape), operator.spaces[0].forest
    rows, cols = (space.starts for space in operator.spaces)
    for k, p in enumerate(tree.parent.tolist()):
        if p >= 0:
            full[rows[p] : rows[p + 1], cols[k] : cols[k + 1]] = operator.blocks[k]
    return full
