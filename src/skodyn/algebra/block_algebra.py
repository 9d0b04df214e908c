"""Products, transposes and inverses of ragged lists of blocks, for all nodes at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from skodyn.errors import DynamicsError
from skodyn.jit import FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import BLOCKS, BLOCKS_TO_WRITE, Blocks, Floats, Ints, block_of
from skodyn.sko.small import add_product

__all__ = ["identity_blocks", "invert", "multiply", "transpose"]

SINGULAR = 4 * float(np.finfo(np.float64).eps)
"""A block whose reciprocal condition number is below this has no inverse."""


def multiply(A: Blocks, B: Blocks, take_a: Ints | None = None) -> Blocks:
    """A(k)·B(k) for every k, or A(take_a[k])·B(k); where that is −1, a block without rows."""
    take = np.arange(len(B)) if take_a is None else take_a
    rows = np.where(take >= 0, A.rows[take], 0) if len(take) else take
    C = Blocks.zeros(rows, B.cols)
    multiply_sweep.ready(take, A.arrays, B.arrays, C.arrays)
    return C


def transpose(A: Blocks) -> Blocks:
    """A*(k) for every k."""
    C = Blocks.zeros(A.cols, A.rows)
    transpose_sweep.ready(A.data, A.starts, A.rows, A.cols, C.data)
    return C


def identity_blocks(sizes: Ints) -> Blocks:
    """I(k) for every k."""
    C = Blocks.zeros(sizes, sizes)
    identity_sweep.ready(C.starts, C.rows, C.data)
    return C


def invert(A: Blocks, names: Sequence[Hashable], what: str) -> Blocks:
    """A⁻¹(k) for every k; a DynamicsError names a node whose block has none."""
    C = Blocks.zeros(A.cols, A.rows)
    oblong = np.flatnonzero(A.rows != A.cols)
    if len(oblong):
        k = int(oblong[0])
        raise DynamicsError(
            f"The block of {what} at {names[k]!r} is {A.rows[k]} × {A.cols[k]}; only square "
            "blocks can be inverted."
        )
    for size in np.unique(A.rows[A.rows > 0]).tolist():
        nodes = np.flatnonzero(A.rows == size)
        at = A.starts[nodes][:, None] + np.arange(size * size)
        stack = A.data[at].reshape(-1, size, size)
        norm = np.abs(stack).sum(axis=2).max(axis=1)
        try:
            inverse = np.linalg.inv(stack)
        except np.linalg.LinAlgError:  # which does not say where
            inverse = np.array([_inverse_or_nan(block) for block in stack])
        with np.errstate(invalid="ignore", divide="ignore"):
            reciprocal = 1.0 / (norm * np.abs(inverse).sum(axis=2).max(axis=1))
        bad = np.flatnonzero(~(reciprocal > SINGULAR))
        if len(bad):
            name = names[int(nodes[bad[0]])]
            raise DynamicsError(
                f"The block of {what} at {name!r} is singular and has no inverse; only operators "
                "with regular blocks can be inverted."
            )
        C.data[at] = inverse.reshape(len(nodes), -1)
    return C


def _inverse_or_nan(block: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.inv(block))
    except np.linalg.LinAlgError:
        return np.full(block.shape, np.nan)


_TRANSPOSE = (FLOATS, INTS, INTS, INTS, RESULT)
_IDENTITY = (INTS, INTS, RESULT)


@kernel(INTS, BLOCKS, BLOCKS, BLOCKS_TO_WRITE)
def multiply_sweep(take, A, B, C):
    """C(k) = A(take(k))·B(k); C comes in as zeros."""
    for k in range(take.size):
        i = take[k]
        if i >= 0:
            add_product(block_of(A, i), block_of(B, k), block_of(C, k))


@kernel(*_TRANSPOSE)
def transpose_sweep(a, start, rows, cols, c):
    """C(k) = A*(k)."""
    for k in range(rows.size):
        for i in range(rows[k]):
            for j in range(cols[k]):
                c[start[k] + j * rows[k] + i] = a[start[k] + i * cols[k] + j]


@kernel(*_IDENTITY)
def identity_sweep(start, size, c):
    """C(k) = I; C comes in as zeros."""
    for k in range(size.size):
        for i in range(size[k]):
            c[start[k] + i * size[k] + i] = 1.0
