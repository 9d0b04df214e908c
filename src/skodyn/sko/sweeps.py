"""Products of an SPO operator and stacked vectors: gather, scatter, and single steps.

Jain 2011-II: 𝔸x is a tips-to-base gather (Lemma 1, eq. 5), 𝔸*x a base-to-tips scatter (Lemma 2,
eq. 8); 𝔸̃ = 𝔸 − I without the diagonal is Corollary 3.1, where print has 𝔸̃ for 𝔸 in the weights
(the two agree for a child and its parent). The weights are an argument: the same sweeps serve 𝔸
and ψ. Nodes are numbered base first, so a gather is a descending loop and a scatter an ascending
one. Matrices are stacked vectors side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import StateError
from skodyn.jit import COUNT, FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import Blocks, Floats, Ints, offsets, stacked_columns
from skodyn.sko.small import add_product, add_transposed_product, clear, copy, part_of, small
from skodyn.topology import Tree

__all__ = ["gather", "pass_inward", "pass_outward", "scatter"]


def gather(tree: Tree, weights: Blocks, x: ArrayLike, *, strict: bool = False) -> Floats:
    """𝔸x: a recursion from the tips to the base, O(N) for each column.

    Parameters
    ----------
    tree : Tree
        The tree of the nodes.
    weights : Blocks
        One weight for each edge.
    x : array_like, shape (N,) or (N, k)
        A stacked vector over the nodes, or columns of them.
    strict : bool
        Without the node itself: 𝔸̃ = 𝔸 − I.

    Returns
    -------
    y : ndarray, of the shape of x
    """
    return _sweep(gather_strictly if strict else gather_all, tree, weights, x)


def scatter(tree: Tree, weights: Blocks, x: ArrayLike, *, strict: bool = False) -> Floats:
    """𝔸*x: a recursion from the base to the tips, O(N) for each column.

    Parameters
    ----------
    tree : Tree
        The tree of the nodes.
    weights : Blocks
        One weight for each edge.
    x : array_like, shape (N,) or (N, k)
        A stacked vector over the nodes, or columns of them.
    strict : bool
        Without the node itself: 𝔸̃ = 𝔸 − I.

    Returns
    -------
    y : ndarray, of the shape of x
    """
    return _sweep(scatter_strictly if strict else scatter_all, tree, weights, x)


def pass_inward(tree: Tree, edges: Blocks, x: ArrayLike, sizes: Ints | None = None) -> Floats:
    """ℰx: every node receives edge(k)·x(k) of its children.

    Parameters
    ----------
    tree : Tree
        The tree of the nodes.
    edges : Blocks
        One block for each edge.
    x : array_like, shape (N,) or (N, k)
        A stacked vector over the nodes, or columns of them.
    sizes : array of int, optional
        Sizes of the nodes' parts of the result, where they are not those of x.

    Returns
    -------
    y : ndarray
    """
    check_blocks(tree, edges, "edges")
    out = offsets(edges.cols if sizes is None else sizes)
    return _step(send_to_parent, tree, edges, x, edges.col_starts, out)


def pass_outward(tree: Tree, edges: Blocks, x: ArrayLike, sizes: Ints | None = None) -> Floats:
    """ℰ*x: every node receives edge*(k)·x(℘(k)) from its parent.

    Parameters
    ----------
    tree : Tree
        The tree of the nodes.
    edges : Blocks
        One block for each edge.
    x : array_like, shape (N,) or (N, k)
        A stacked vector over the nodes, or columns of them.
    sizes : array of int, optional
        Sizes of the nodes' parts of the result, where they are not those of x.

    Returns
    -------
    y : ndarray
    """
    check_blocks(tree, edges, "edges")
    inner = offsets(edges.cols if sizes is None else sizes)
    return _step(send_to_children, tree, edges, x, inner, edges.col_starts)


def check_blocks(tree: Any, blocks: Any, what: str) -> None:
    """A StateError for what is no tree, or are no blocks."""
    if not isinstance(tree, Tree):
        raise StateError(f"tree is {type(tree).__name__}", "give a Tree, such as model.tree.")
    if not isinstance(blocks, Blocks):
        raise StateError(
            f"{what} is {type(blocks).__name__}",
            "give Blocks, such as model.weights or Blocks.of(matrices).",
        )


def check_edges(tree: Tree, edges: Blocks, sizes: Ints) -> None:
    """Are there blocks for the edges of this tree, with as many rows as the parent's size?"""
    if len(edges) != tree.n or len(sizes) != tree.n:
        raise StateError(
            f"There are {len(edges)} blocks for a tree of {tree.n} nodes", "give one each."
        )
    inner = np.where(tree.parent < 0, 0, sizes[tree.parent]) if tree.n else sizes
    wrong = np.flatnonzero(inner != edges.rows)
    if len(wrong):
        k = int(wrong[0])
        raise StateError(
            f"The block of node {tree.names[k]!r} has {edges.rows[k]} rows",
            f"its parent needs {inner[k]} (none for a base).",
        )


def _sweep(entry: Any, tree: Tree, weights: Blocks, x: ArrayLike) -> Floats:
    check_blocks(tree, weights, "weights")
    check_edges(tree, weights, weights.cols)
    columns, shape = stacked_columns(x, int(weights.col_starts[-1]), "x")
    y = np.empty(columns.shape)
    entry.ready(
        tree.parent, weights.col_starts, weights.data, weights.starts,
        columns.reshape(-1), columns.shape[1], y.reshape(-1),
    )  # fmt: skip
    return y.reshape(shape)


def _step(
    entry: Any, tree: Tree, edges: Blocks, x: ArrayLike, start_in: Ints, start_out: Ints
) -> Floats:
    check_edges(tree, edges, np.diff(start_in if entry is send_to_children else start_out))
    columns, shape = stacked_columns(x, int(start_in[-1]), "x")
    y = np.zeros((int(start_out[-1]), columns.shape[1]))
    entry.ready(
        tree.parent, start_in, start_out, edges.data, edges.starts,
        columns.reshape(-1), columns.shape[1], y.reshape(-1),
    )  # fmt: skip
    return y.reshape(len(y), *shape[1:])


_SWEEP = (INTS, INTS, FLOATS, INTS, FLOATS, COUNT, RESULT)
_STEP = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, COUNT, RESULT)


@kernel(*_SWEEP)
def gather_all(parent, node, weights, starts, x, columns, y):
    """y(k) = Σ 𝔸(k, j)·y(j) + x(k) over the children j of k (eq. 5).

    A sum is opened with its x just before the sweep reaches it: y passes through the cache once.
    """
    opened = parent.size
    for back in range(parent.size):
        k = parent.size - 1 - back
        p = parent[k]
        while opened > max(p, 0):
            opened -= 1
            copy(part_of(x, node, opened, columns), part_of(y, node, opened, columns))
        if p >= 0:
            y_k, y_p = part_of(y, node, k, columns), part_of(y, node, p, columns)
            add_product(small(weights, starts[k], y_p.rows, y_k.rows), y_k, y_p)


@kernel(*_SWEEP)
def gather_strictly(parent, node, weights, starts, x, columns, y):
    """y(k) = Σ 𝔸(k, j)·[y(j) + x(j)] over the children j of k (Corollary 3.1)."""
    clear(small(y, 0, y.size, 1))
    for back in range(parent.size):
        k = parent.size - 1 - back
        p = parent[k]
        if p >= 0:
            y_k, y_p = part_of(y, node, k, columns), part_of(y, node, p, columns)
            weight = small(weights, starts[k], y_p.rows, y_k.rows)
            add_product(weight, y_k, y_p)
            add_product(weight, part_of(x, node, k, columns), y_p)


@kernel(*_SWEEP)
def scatter_all(parent, node, weights, starts, x, columns, y):
    """y(k) = 𝔸*(℘(k), k)·y(℘(k)) + x(k) (eq. 8)."""
    for k in range(parent.size):
        p = parent[k]
        y_k = part_of(y, node, k, columns)
        copy(part_of(x, node, k, columns), y_k)
        if p >= 0:
            y_p = part_of(y, node, p, columns)
            add_transposed_product(small(weights, starts[k], y_p.rows, y_k.rows), y_p, y_k)


@kernel(*_SWEEP)
def scatter_strictly(parent, node, weights, starts, x, columns, y):
    """y(k) = 𝔸*(℘(k), k)·[y(℘(k)) + x(℘(k))] (Corollary 3.1)."""
    clear(small(y, 0, y.size, 1))
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            y_k, y_p = part_of(y, node, k, columns), part_of(y, node, p, columns)
            weight = small(weights, starts[k], y_p.rows, y_k.rows)
            add_transposed_product(weight, y_p, y_k)
            add_transposed_product(weight, part_of(x, node, p, columns), y_k)


@kernel(*_STEP)
def send_to_parent(parent, start_in, start_out, edges, starts, x, columns, y):
    """y(℘(k)) += E(k)·x(k); y comes in as zeros."""
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            x_k, y_p = part_of(x, start_in, k, columns), part_of(y, start_out, p, columns)
            add_product(small(edges, starts[k], y_p.rows, x_k.rows), x_k, y_p)


@kernel(*_STEP)
def send_to_children(parent, start_in, start_out, edges, starts, x, columns, y):
    """y(k) = E*(k)·x(℘(k)); y comes in as zeros."""
    for k in range(parent.size):
        p = parent[k]
        if p >= 0:
            x_p, y_k = part_of(x, start_in, p, columns), part_of(y, start_out, k, columns)
            add_transposed_product(small(edges, starts[k], x_p.rows, y_k.rows), x_p, y_k)
