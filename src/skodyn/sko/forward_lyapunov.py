"""𝔸X𝔹* for block-diagonal X: the forward Lyapunov equation (Jain 2011-II, Lemma 3).

Its diagonal Y is a tips-to-base gather (eq. 14); every other block follows from Y along one path
(eq. 15) and is zero for unrelated nodes: Z = Y + 𝔸̃Y + Y𝔹̃* (eq. 11). With 𝔹 = 𝔸 and X = M, Y is the
composite inertia R (Algorithm 4.1).
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from skodyn.errors import StateError
from skodyn.jit import COUNT, FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import Blocks, Floats
from skodyn.sko.model import SKOModel
from skodyn.sko.small import add_product, add_product_transposed, clear, copy
from skodyn.sko.sweeps import check_edges
from skodyn.topology import Tree

__all__ = ["composite_inertias", "forward_element", "forward_lyapunov"]


def composite_inertias(model: SKOModel) -> Blocks:
    """R(k) of every node (Algorithm 4.1); O(N)."""
    return forward_lyapunov(model.tree, model.weights, model.M)


def forward_lyapunov(tree: Tree, A: Blocks, X: Blocks, B: Blocks | None = None) -> Blocks:
    """Y with X = Y − ℰ_𝔸Yℰ_𝔹*: the diagonal blocks of 𝔸X𝔹*; 𝔹 = 𝔸 unless given. O(N)."""
    B = A if B is None else B
    check_diagonal(tree, A, X, B)
    Y = Blocks(X.data.copy(), X.rows, X.cols)
    forward_lyapunov_sweep.ready(
        tree.parent, A.col_starts, B.col_starts, A.data, A.starts, B.data, B.starts,
        Y.data, Y.starts, np.empty(scratch_size(A, B)),
    )  # fmt: skip
    return Y.freeze()


def forward_element(
    tree: Tree, A: Blocks, Y: Blocks, i: Hashable, j: Hashable, B: Blocks | None = None
) -> Floats:
    """Z(i, j) of Z = 𝔸X𝔹* from its diagonal Y (eq. 15); takes time by the length of the path."""
    B = A if B is None else B
    check_diagonal(tree, A, Y, B)
    row, col = tree.resolve(i), tree.resolve(j)
    Z = np.zeros((int(A.cols[row]), int(B.cols[col])))
    scratch = np.empty(2 * scratch_size(A, B))
    forward_element_walk.ready(
        tree.parent, tree.subtree_end, A.col_starts, B.col_starts, A.data, A.starts,
        B.data, B.starts, Y.data, Y.starts, row, col, scratch, Z.reshape(-1),
    )  # fmt: skip
    return Z


def check_diagonal(tree: Tree, A: Blocks, X: Blocks, B: Blocks) -> None:
    """Are 𝔸 and 𝔹 weights on this tree, and X block-diagonal between them?"""
    check_edges(tree, A, A.cols)
    check_edges(tree, B, B.cols)
    if not (np.array_equal(X.rows, A.cols) and np.array_equal(X.cols, B.cols)):
        raise StateError(
            "The block-diagonal operator does not fit the weights; give one block per node, of as "
            "many rows and columns as the weights of that node have columns."
        )


def scratch_size(A: Blocks, B: Blocks) -> int:
    """Room for any block between the two."""
    return max(1, int(A.cols.max(initial=0)) * int(B.cols.max(initial=0)))


_LYAPUNOV = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, RESULT, INTS, RESULT)
_ELEMENT = (INTS, INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, INTS, COUNT, COUNT,
            RESULT, RESULT)  # fmt: skip


@kernel(*_LYAPUNOV)
def forward_lyapunov_sweep(parent, left, right, a, a_start, b, b_start, y, y_start, scratch):
    """Y(k) = Σ 𝔸(k, j)·Y(j)·𝔹*(k, j) + X(k) over the children j of k (eq. 14); Y comes in as X."""
    for back in range(parent.size):
        k = parent.size - 1 - back
        p = parent[k]
        if p >= 0:
            m, n = left[k + 1] - left[k], right[k + 1] - right[k]
            rows, cols = left[p + 1] - left[p], right[p + 1] - right[p]
            clear(scratch, 0, rows * n)
            add_product(a, a_start[k], y, y_start[k], rows, m, n, scratch, 0)
            add_product_transposed(scratch, 0, b, b_start[k], rows, n, cols, y, y_start[p])


@kernel(*_ELEMENT)
def forward_element_walk(
    parent, subtree_end, left, right, a, a_start, b, b_start, y, y_start, i, j, scratch, z
):
    """Z(i, j) by eq. 15, inward from Y of the outer node; z comes in as zeros."""
    half = scratch.size // 2
    outer, inner = max(i, j), min(i, j)
    if not outer < subtree_end[inner]:
        return  # unrelated
    k, at = outer, 0
    m, n = left[k + 1] - left[k], right[k + 1] - right[k]
    copy(y, y_start[k], m * n, scratch, at)
    while k != inner:
        p = parent[k]
        if i < j:  # Z(p, j) = 𝔸(p, k)·Z(k, j)
            rows, n = left[p + 1] - left[p], right[j + 1] - right[j]
            m = left[k + 1] - left[k]
            clear(scratch, half - at, rows * n)
            add_product(a, a_start[k], scratch, at, rows, m, n, scratch, half - at)
        else:  # Z(i, p) = Z(i, k)·𝔹*(p, k)
            m, cols = left[i + 1] - left[i], right[p + 1] - right[p]
            n = right[k + 1] - right[k]
            clear(scratch, half - at, m * cols)
            add_product_transposed(scratch, at, b, b_start[k], m, n, cols, scratch, half - at)
        k, at = p, half - at
    copy(scratch, at, z.size, z, 0)
