"""𝔸*X𝔹 for block-diagonal X: the backward Lyapunov equation (Jain 2011-II, Lemma 5).

Its diagonal Y is a base-to-tips scatter (eq. 24); every other block follows from Y of the closest
common ancestor (Algorithm 4.3), and is zero where there is none.

Eq. 29, the case of a serial chain, is printed as `for k = 1 … n`. With the papers' numbering, tips
first, each Y(k) needs Y(k + 1), so the loop must run from n down to 1.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from skodyn.jit import COUNT, FLOATS, INTS, PLACES, RESULT, helper, kernel
from skodyn.sko.blocks import Blocks, Floats
from skodyn.sko.forward_lyapunov import check_diagonal, scratch_size
from skodyn.sko.small import add_product, add_transposed_product, clear, copy
from skodyn.topology import Tree

__all__ = ["backward_element", "backward_lyapunov"]


def backward_lyapunov(tree: Tree, A: Blocks, X: Blocks, B: Blocks | None = None) -> Blocks:
    """Y with X = Y − diagOf{ℰ_𝔸*Yℰ_𝔹}: the diagonal blocks of 𝔸*X𝔹; 𝔹 = 𝔸 unless given. O(N)."""
    B = A if B is None else B
    check_diagonal(tree, A, X, B)
    Y = Blocks(X.data.copy(), X.rows, X.cols)
    backward_lyapunov_sweep.ready(
        tree.parent, A.col_starts, B.col_starts, A.data, A.starts, B.data, B.starts,
        Y.data, Y.starts, np.empty(scratch_size(A, B)),
    )  # fmt: skip
    return Y.freeze()


def backward_element(
    tree: Tree, A: Blocks, Y: Blocks, i: Hashable, j: Hashable, B: Blocks | None = None
) -> Floats:
    """Z(i, j) of Z = 𝔸*X𝔹 from its diagonal Y (eq. 25); takes time by the length of the paths."""
    B = A if B is None else B
    check_diagonal(tree, A, Y, B)
    return walk_to_element(tree, A, Y, tree.resolve(i), tree.resolve(j), B)


def walk_to_element(tree: Tree, A: Blocks, Y: Blocks, i: int, j: int, B: Blocks) -> Floats:
    """Z(i, j), of nodes given by index, without looking at the blocks first."""
    Z = np.zeros((int(A.cols[i]), int(B.cols[j])))
    path = np.empty(max(int(tree.level[i]), int(tree.level[j])) + 1, dtype=np.int64)
    backward_element_walk.ready(
        tree.parent, tree.subtree_end, A.col_starts, B.col_starts, A.data, A.starts,
        B.data, B.starts, Y.data, Y.starts, i, j, path,
        np.empty(2 * scratch_size(A, B)), Z.reshape(-1),
    )  # fmt: skip
    return Z


_LYAPUNOV = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, RESULT, INTS, RESULT)
_ELEMENT = (INTS, INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, INTS, COUNT, COUNT,
            PLACES, RESULT, RESULT)  # fmt: skip


@kernel(*_LYAPUNOV)
def backward_lyapunov_sweep(parent, left, right, a, a_start, b, b_start, y, y_start, scratch):
    """Y(k) = 𝔸*(℘(k), k)·Y(℘(k))·𝔹(℘(k), k) + X(k) (eq. 24); Y comes in as X."""
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            m, n = left[k + 1] - left[k], right[k + 1] - right[k]
            rows, cols = left[p + 1] - left[p], right[p + 1] - right[p]
            clear(scratch, 0, rows * n)
            add_product(y, y_start[p], b, b_start[k], rows, cols, n, scratch, 0)
            add_transposed_product(a, a_start[k], scratch, 0, m, rows, n, y, y_start[k])


@helper
def climb(parent, top, k, path):
    """Write the nodes from k up to but not including top; how many there are."""
    count = 0
    while k != top:
        path[count] = k
        count += 1
        k = parent[k]
    return count


@kernel(*_ELEMENT)
def backward_element_walk(
    parent, subtree_end, left, right, a, a_start, b, b_start, y, y_start, i, j, path, scratch, z
):
    """Z(i, j) by the four cases of Algorithm 4.3; z comes in as zeros.

    From Y of the closest common ancestor c outward to Z(i, c) (case 2; nothing to do if i = c, as
    in case 3), then to Z(i, j) (case 3; nothing to do if j = c). For i = j it is Y (case 1).
    """
    c = min(i, j)
    while c >= 0 and max(i, j) >= subtree_end[c]:
        c = parent[c]
    if c < 0:
        return
    half, at = scratch.size // 2, 0
    m, n = left[c + 1] - left[c], right[c + 1] - right[c]
    copy(y, y_start[c], m * n, scratch, at)
    count = climb(parent, c, i, path)
    for back in range(count):  # Z(k, c) = 𝔸*(℘(k), k)·Z(℘(k), c)
        k = path[count - 1 - back]
        size = left[k + 1] - left[k]
        clear(scratch, half - at, size * n)
        add_transposed_product(a, a_start[k], scratch, at, size, m, n, scratch, half - at)
        m, at = size, half - at
    count = climb(parent, c, j, path)
    for back in range(count):  # Z(i, k) = Z(i, ℘(k))·𝔹(℘(k), k)
        k = path[count - 1 - back]
        size = right[k + 1] - right[k]
        clear(scratch, half - at, m * size)
        add_product(scratch, at, b, b_start[k], m, n, size, scratch, half - at)
        n, at = size, half - at
    copy(scratch, at, z.size, z, 0)
