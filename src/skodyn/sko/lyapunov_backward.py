"""𝔸*X𝔹 for block-diagonal X: the backward Lyapunov equation (Jain 2011-II, Lemma 5).

Its diagonal Y is a base-to-tips scatter (eq. 24); every other block follows from Y of the closest
common ancestor (Algorithm 4.3), and is zero where there is none.

Eq. 29, the case of a serial chain, is printed as `for k = 1 … n`. With the papers' numbering, tips
first, each Y(k) needs Y(k + 1), so the loop must run from n down to 1.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from skodyn.jit import INTS, PLACES, RESULT, helper, kernel
from skodyn.sko.blocks import BLOCKS, BLOCKS_TO_WRITE, Blocks, Floats, block_of
from skodyn.sko.lyapunov_forward import (
    ELEMENT,
    Element,
    check_diagonal,
    scratch_size,
    swept_diagonal,
)
from skodyn.sko.small import add_product, add_transposed_product, clear, copy, small
from skodyn.topology import Tree

__all__ = ["backward_element", "backward_lyapunov"]


def backward_lyapunov(tree: Tree, A: Blocks, X: Blocks, B: Blocks | None = None) -> Blocks:
    """Y with X = Y − diagOf{ℰ_𝔸*Yℰ_𝔹}: the diagonal blocks of 𝔸*X𝔹, O(N).

    Parameters
    ----------
    tree : Tree
        The tree of the nodes.
    A : Blocks
        Weights of 𝔸, one for each edge.
    X : Blocks
        Square blocks, one for each node.
    B : Blocks, optional
        Weights of 𝔹; those of 𝔸 if left out.

    Returns
    -------
    Y : Blocks
    """
    return swept_diagonal(backward_lyapunov_sweep, tree, A, X, B)


def backward_element(
    tree: Tree, A: Blocks, Y: Blocks, i: Hashable, j: Hashable, B: Blocks | None = None
) -> Floats:
    """One block Z(i, j) of Z = 𝔸*X𝔹 from its diagonal Y.

    Parameters
    ----------
    tree : Tree
        The tree of the nodes.
    A : Blocks
        Weights of 𝔸, one for each edge.
    Y : Blocks
        The diagonal blocks.
    i : hashable
        Name or number of the row's node.
    j : hashable
        Name or number of the column's node.
    B : Blocks, optional
        Weights of 𝔹; those of 𝔸 if left out.

    Returns
    -------
    block : ndarray
        Takes time by the length of the paths.
    """
    B = A if B is None else B
    check_diagonal(tree, A, Y, B)
    return walk_to_element(tree, A, Y, tree.resolve(i), tree.resolve(j), B)


def walk_to_element(tree: Tree, A: Blocks, Y: Blocks, i: int, j: int, B: Blocks) -> Floats:
    """Z(i, j), of nodes given by index, without looking at the blocks first."""
    Z = np.zeros((int(A.cols[i]), int(B.cols[j])))
    path = np.empty(max(int(tree.level[i]), int(tree.level[j])) + 1, dtype=np.int64)
    backward_element_walk.ready(
        tree.parent,
        tree.subtree_end,
        A.arrays,
        B.arrays,
        Y.arrays,
        Element(i, j, Z.reshape(-1)),
        path,
        np.empty(2 * scratch_size(A, B)),
    )
    return Z


@kernel(INTS, BLOCKS, BLOCKS, BLOCKS_TO_WRITE, RESULT)
def backward_lyapunov_sweep(parent, A, B, Y, scratch):
    """Y(k) = 𝔸*(℘(k), k)·Y(℘(k))·𝔹(℘(k), k) + X(k) (eq. 24); Y comes in as X."""
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            Y_p, weight = block_of(Y, p), block_of(B, k)
            YB = small(scratch, 0, Y_p.rows, weight.cols)
            clear(YB)
            add_product(Y_p, weight, YB)
            add_transposed_product(block_of(A, k), YB, block_of(Y, k))


@helper
def climb(parent, top, k, path):
    """Write the nodes from k up to but not including top; how many there are."""
    count = 0
    while k != top:
        path[count] = k
        count += 1
        k = parent[k]
    return count


@kernel(INTS, INTS, BLOCKS, BLOCKS, BLOCKS, ELEMENT, PLACES, RESULT)
def backward_element_walk(parent, subtree_end, A, B, Y, element, path, scratch):
    """Z(i, j) by the four cases of Algorithm 4.3.

    From Y of the closest common ancestor c outward to Z(i, c) (case 2; nothing to do if i = c, as
    in case 3), then to Z(i, j) (case 3; nothing to do if j = c). For i = j it is Y (case 1).
    """
    i, j = element.i, element.j
    c = min(i, j)
    while c >= 0 and max(i, j) >= subtree_end[c]:
        c = parent[c]
    if c < 0:
        return
    half = scratch.size // 2
    other = half
    Y_c = block_of(Y, c)
    Z = small(scratch, 0, Y_c.rows, Y_c.cols)
    copy(Y_c, Z)
    count = climb(parent, c, i, path)
    for back in range(count):  # Z(k, c) = 𝔸*(℘(k), k)·Z(℘(k), c)
        k = path[count - 1 - back]
        weight = block_of(A, k)
        next_Z = small(scratch, other, weight.cols, Z.cols)
        clear(next_Z)
        add_transposed_product(weight, Z, next_Z)
        Z, other = next_Z, half - other
    count = climb(parent, c, j, path)
    for back in range(count):  # Z(i, k) = Z(i, ℘(k))·𝔹(℘(k), k)
        k = path[count - 1 - back]
        weight = block_of(B, k)
        next_Z = small(scratch, other, Z.rows, weight.cols)
        clear(next_Z)
        add_product(Z, weight, next_Z)
        Z, other = next_Z, half - other
    copy(Z, small(element.Z, 0, Z.rows, Z.cols))
