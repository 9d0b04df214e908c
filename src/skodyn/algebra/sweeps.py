"""The doors to the recursions of `sko` for arrays that are known to fit.

`sko.gather` and its sisters look at every block and every number first. Here blocks come from one
checked model and the vector was looked at when the expression was applied, so that a small model
pays for the recursion alone. Each function takes and gives contiguous matrices of columns.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from skodyn.sko import sweeps
from skodyn.sko.blocks import Blocks, Floats, Ints, apply_blocks, apply_blocks_transposed
from skodyn.topology import Tree

__all__ = ["apply_diagonal", "apply_edges", "propagate"]


def propagate(tree: Tree, weights: Blocks, x: Floats, strict: bool, transpose: bool) -> Floats:
    """𝔸x by a gather or 𝔸*x by a scatter (Lemmas 1 and 2); 𝔸̃ if strict (Corollary 3.1)."""
    y = np.empty(x.shape)
    _sweep(strict, transpose)(
        tree.parent, weights.col_starts, weights.data, weights.starts,
        x.reshape(-1), x.shape[1], y.reshape(-1),
    )  # fmt: skip
    return y


def apply_edges(tree: Tree, edges: Blocks, x: Floats, node_starts: Ints, transpose: bool) -> Floats:
    """ℰx, each parent from its children, or ℰ*x, each child from its parent."""
    begin, end = node_starts, edges.col_starts
    begin, end = (begin, end) if transpose else (end, begin)
    y = np.zeros((int(end[-1]), x.shape[1]))
    _step(transpose)(
        tree.parent, begin, end, edges.data, edges.starts,
        x.reshape(-1), x.shape[1], y.reshape(-1),
    )  # fmt: skip
    return y


def apply_diagonal(blocks: Blocks, x: Floats, transpose: bool) -> Floats:
    """Block by block."""
    end = blocks.col_starts if transpose else blocks.row_starts
    y = np.zeros((int(end[-1]), x.shape[1]))
    _apply(transpose)(
        blocks.data, blocks.starts, blocks.row_starts, blocks.col_starts,
        x.reshape(-1), x.shape[1], y.reshape(-1),
    )  # fmt: skip
    return y


# looking a kernel up by its signature takes longer than a small sweep, so each is looked up once


@cache
def _sweep(strict: bool, transpose: bool) -> Any:
    if transpose:
        return (sweeps.scatter_strictly if strict else sweeps.scatter_all).ready
    return (sweeps.gather_strictly if strict else sweeps.gather_all).ready


@cache
def _step(transpose: bool) -> Any:
    return (sweeps.send_to_children if transpose else sweeps.send_to_parent).ready


@cache
def _apply(transpose: bool) -> Any:
    return (apply_blocks_transposed if transpose else apply_blocks).ready
