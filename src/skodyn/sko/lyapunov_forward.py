"""𝔸X𝔹* for block-diagonal X: the forward Lyapunov equation (Jain 2011-II, Lemma 3).

Its diagonal Y is a tips-to-base gather (eq. 14); every other block follows from Y along one path
(eq. 15) and is zero for unrelated nodes: Z = Y + 𝔸̃Y + Y𝔹̃* (eq. 11). With 𝔹 = 𝔸 and X = M, Y is the
composite inertia R (Algorithm 4.1).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from skodyn.errors import StateError
from skodyn.jit import COUNT, INTS, RESULT, Group, kernel
from skodyn.sko.blocks import BLOCKS, BLOCKS_TO_WRITE, Blocks, Floats, block_of
from skodyn.sko.model import SKOModel, check_model
from skodyn.sko.small import add_product, add_product_transposed, clear, copy, small
from skodyn.sko.sweeps import check_blocks, check_edges
from skodyn.topology import Tree

__all__ = ["composite_inertias", "forward_element", "forward_lyapunov"]


def composite_inertias(model: SKOModel) -> Blocks:
    """The composite inertia R(k) of every node, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.

    Returns
    -------
    R : Blocks
    """
    check_model(model)
    return forward_lyapunov(model.tree, model.weights, model.M)


def forward_lyapunov(tree: Tree, A: Blocks, X: Blocks, B: Blocks | None = None) -> Blocks:
    """Y with X = Y − ℰ_𝔸Yℰ_𝔹*: the diagonal blocks of 𝔸X𝔹*, O(N).

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
    return swept_diagonal(forward_lyapunov_sweep, tree, A, X, B)


def swept_diagonal(sweep: Any, tree: Tree, A: Blocks, X: Blocks, B: Blocks | None) -> Blocks:
    """What a sweep of one of the two equations makes of X."""
    B = A if B is None else B
    check_diagonal(tree, A, X, B)
    Y = Blocks(X.data.copy(), X.rows, X.cols)
    sweep.ready(tree.parent, A.arrays, B.arrays, Y.arrays, np.empty(scratch_size(A, B)))
    return Y.freeze()


def forward_element(
    tree: Tree, A: Blocks, Y: Blocks, i: Hashable, j: Hashable, B: Blocks | None = None
) -> Floats:
    """One block Z(i, j) of Z = 𝔸X𝔹* from its diagonal Y.

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
        Takes time by the length of the path between the nodes.
    """
    B = A if B is None else B
    check_diagonal(tree, A, Y, B)
    row, col = tree.resolve(i), tree.resolve(j)
    Z = np.zeros((int(A.cols[row]), int(B.cols[col])))
    scratch = np.empty(2 * scratch_size(A, B))
    forward_element_walk.ready(
        tree.parent,
        tree.subtree_end,
        A.arrays,
        B.arrays,
        Y.arrays,
        Element(row, col, Z.reshape(-1)),
        scratch,
    )
    return Z


def check_diagonal(tree: Tree, A: Blocks, X: Blocks, B: Blocks) -> None:
    """Are 𝔸 and 𝔹 weights on this tree, and X block-diagonal between them?"""
    check_blocks(tree, A, "A")
    check_blocks(tree, B, "B")
    check_blocks(tree, X, "The block-diagonal operator")
    check_edges(tree, A, A.cols)
    check_edges(tree, B, B.cols)
    if not (np.array_equal(X.rows, A.cols) and np.array_equal(X.cols, B.cols)):
        raise StateError(
            "The block-diagonal operator does not fit the weights",
            "give one block per node, of as many rows and columns as the weights of that node "
            "have columns.",
        )


def scratch_size(A: Blocks, B: Blocks) -> int:
    """Room for any block between the two."""
    return max(1, int(A.cols.max(initial=0)) * int(B.cols.max(initial=0)))


class Element(NamedTuple):
    """A block Z(i, j) that is asked for, and where it goes."""

    i: int
    j: int
    Z: Any  # comes in as zeros


ELEMENT = Group(Element, (COUNT, COUNT, RESULT))


@kernel(INTS, BLOCKS, BLOCKS, BLOCKS_TO_WRITE, RESULT)
def forward_lyapunov_sweep(parent, A, B, Y, scratch):
    """Y(k) = Σ 𝔸(k, j)·Y(j)·𝔹*(k, j) + X(k) over the children j of k (eq. 14); Y comes in as X."""
    for back in range(parent.size):
        k = parent.size - 1 - back
        p = parent[k]
        if p >= 0:
            weight, Y_k = block_of(A, k), block_of(Y, k)
            AY = small(scratch, 0, weight.rows, Y_k.cols)
            clear(AY)
            add_product(weight, Y_k, AY)
            add_product_transposed(AY, block_of(B, k), block_of(Y, p))


@kernel(INTS, INTS, BLOCKS, BLOCKS, BLOCKS, ELEMENT, RESULT)
def forward_element_walk(parent, subtree_end, A, B, Y, element, scratch):
    """Z(i, j) by eq. 15, inward from Y of the outer node."""
    i, j = element.i, element.j
    half = scratch.size // 2
    outer, inner = max(i, j), min(i, j)
    if not outer < subtree_end[inner]:
        return  # unrelated
    k, other = outer, half
    Y_k = block_of(Y, k)
    Z = small(scratch, 0, Y_k.rows, Y_k.cols)
    copy(Y_k, Z)
    while k != inner:
        if i < j:  # Z(p, j) = 𝔸(p, k)·Z(k, j)
            weight = block_of(A, k)
            next_Z = small(scratch, other, weight.rows, Z.cols)
            clear(next_Z)
            add_product(weight, Z, next_Z)
        else:  # Z(i, p) = Z(i, k)·𝔹*(p, k)
            weight = block_of(B, k)
            next_Z = small(scratch, other, Z.rows, weight.rows)
            clear(next_Z)
            add_product_transposed(Z, weight, next_Z)
        k, other, Z = parent[k], half - other, next_Z
    copy(Z, small(element.Z, 0, Z.rows, Z.cols))
