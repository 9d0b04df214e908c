"""One matrix per node, of any sizes, in one contiguous array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.errors import StateError
from skodyn.forks import cached_property
from skodyn.jit import COUNT, FLOATS, INTS, RESULT, Group, helper, kernel
from skodyn.sko.small import add_product, add_transposed_product, part_of, small

__all__ = [
    "BLOCKS",
    "BLOCKS_TO_WRITE",
    "BlockArrays",
    "Blocks",
    "Floats",
    "Ints",
    "block_of",
    "offsets",
    "stacked_columns",
    "stacked_vector",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BlockArrays(NamedTuple):
    """`Blocks` as kernels take them."""

    data: Any
    starts: Any  # where each block starts in data
    rows: Any
    cols: Any


BLOCKS = Group(BlockArrays, (FLOATS, INTS, INTS, INTS))
BLOCKS_TO_WRITE = Group(BlockArrays, (RESULT, INTS, INTS, INTS))


@helper
def block_of(blocks, k):
    """Block k as a small matrix."""
    return small(blocks.data, blocks.starts[k], blocks.rows[k], blocks.cols[k])


@dataclass(frozen=True, eq=False, repr=False)
class Blocks:
    """A ragged list of matrices: block k is rows[k] × cols[k] and starts at data[starts[k]].

    It is read as a list, `blocks[k]` being a view. What it means depends on where it stands: P or
    H are block-diagonal operators; weights 𝔸(℘(k), k) and K(℘(k), k) belong to the edge from node
    k to its parent and have no rows where there is none.
    """

    data: Floats
    rows: Ints
    cols: Ints

    @classmethod
    def zeros(cls, rows: Ints, cols: Ints) -> Blocks:
        """Writable blocks of the given sizes."""
        rows, cols = np.ascontiguousarray(rows), np.ascontiguousarray(cols)
        return cls(np.zeros(int((rows * cols).sum())), rows, cols)

    @classmethod
    def of(cls, matrices: Iterable[ArrayLike]) -> Blocks:
        """From two-dimensional arrays."""
        arrays = [_matrix(k, m) for k, m in enumerate(matrices)]
        sizes = np.array([a.shape for a in arrays], dtype=np.int64).reshape(-1, 2)
        flat = np.concatenate([a.ravel() for a in arrays]) if arrays else np.zeros(0)
        return cls(flat, sizes[:, 0].copy(), sizes[:, 1].copy())

    @classmethod
    def stacked(cls, matrices: Floats) -> Blocks:
        """From an (n, rows, cols) array; all blocks have one size."""
        n, rows, cols = matrices.shape
        flat = np.ascontiguousarray(matrices, dtype=np.float64).reshape(-1)
        return cls(flat, np.full(n, rows), np.full(n, cols))

    @cached_property
    def starts(self) -> Ints:
        """Where each block starts in `data`, and at the end its length."""
        starts = offsets(self.rows * self.cols)
        starts.setflags(write=False)
        return starts

    @cached_property
    def row_starts(self) -> Ints:
        """Where the rows of each block start in a stacked vector."""
        return offsets(self.rows)

    @cached_property
    def col_starts(self) -> Ints:
        """Where the columns of each block start in a stacked vector."""
        return offsets(self.cols)

    @cached_property
    def arrays(self) -> BlockArrays:
        """What kernels take."""
        return BlockArrays(self.data, self.starts, self.rows, self.cols)

    def freeze(self) -> Blocks:
        """Make all arrays read-only; returns itself."""
        for array in (self.data, self.rows, self.cols):
            array.setflags(write=False)
        return self

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, k: int) -> Floats:
        k = range(len(self.rows))[k]
        start, rows, cols = int(self.starts[k]), int(self.rows[k]), int(self.cols[k])
        return self.data[start : start + rows * cols].reshape(rows, cols)

    def __iter__(self) -> Iterator[Floats]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<Blocks: {len(self)} matrices, {self.data.size} numbers>"

    def same_sizes(self, other: Blocks) -> bool:
        """Have both the same number of blocks, each of the same size?"""
        rows, cols = np.array_equal(self.rows, other.rows), np.array_equal(self.cols, other.cols)
        return rows and cols

    def apply(self, x: ArrayLike, transpose: bool = False) -> Floats:
        """The block-diagonal operator, or its transpose, times a stacked vector or columns."""
        inner, outer = (self.rows, self.cols) if transpose else (self.cols, self.rows)
        columns, shape = stacked_columns(x, int(inner.sum()), "x")
        y = np.zeros((int(outer.sum()), columns.shape[1]))
        entry = apply_blocks_transposed if transpose else apply_blocks
        entry.ready(
            self.data, self.starts, self.row_starts, self.col_starts,
            columns.reshape(-1), columns.shape[1], y.reshape(-1),
        )  # fmt: skip
        return y.reshape(len(y), *shape[1:])

    def dense(self) -> Floats:
        """The block-diagonal matrix written out: slow, large, for a look or a check."""
        full = np.zeros((int(self.rows.sum()), int(self.cols.sum())))
        for k, block in enumerate(self):
            i, j = int(self.row_starts[k]), int(self.col_starts[k])
            full[i : i + block.shape[0], j : j + block.shape[1]] = block
        return full


def _matrix(k: int, given: ArrayLike) -> Floats:
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"Block {k} is not an array of real numbers", "give a matrix.") from None
    if matrix.ndim != 2:
        raise StateError(f"Block {k} has shape {matrix.shape}", "give a matrix.")
    return matrix


def offsets(sizes: Ints | Sequence[int]) -> Ints:
    """0, s₀, s₀ + s₁, …: where pieces of these sizes start in one array, and its length."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def stacked_columns(x: ArrayLike, length: int, name: str) -> tuple[Floats, tuple[int, ...]]:
    """(x as a contiguous matrix of columns, its own shape), or a StateError."""
    try:
        given = np.asarray(x)
        if given.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        raise StateError(
            f"{name} is not an array of real numbers", f"give floats of shape ({length},)."
        ) from None
    if given.ndim not in (1, 2) or given.shape[0] != length:
        raise StateError(
            f"{name} has shape {given.shape}", f"give ({length},), or ({length}, columns)."
        )
    table = np.ascontiguousarray(given, dtype=np.float64)
    table = table.reshape(length, 1) if given.ndim == 1 else table
    if not np.isfinite(table).all():
        where = np.argwhere(~np.isfinite(given))[0]
        raise StateError(f"{name}{where.tolist()} is {given[tuple(where)]}", "give finite numbers.")
    return table, given.shape


def stacked_vector(x: ArrayLike, length: int, name: str) -> Floats:
    """x as one contiguous vector of this length, or a StateError."""
    columns, shape = stacked_columns(x, length, name)
    if len(shape) != 1:
        raise StateError(f"{name} has shape {shape}", f"give ({length},).")
    return columns.reshape(-1)


_APPLY = (FLOATS, INTS, INTS, INTS, FLOATS, COUNT, RESULT)


@kernel(*_APPLY)
def apply_blocks(data, starts, row_starts, col_starts, x, columns, y):
    """y(k) = B(k)·x(k); y comes in as zeros."""
    for k in range(starts.size - 1):
        x_k, y_k = part_of(x, col_starts, k, columns), part_of(y, row_starts, k, columns)
        add_product(small(data, starts[k], y_k.rows, x_k.rows), x_k, y_k)


@kernel(*_APPLY)
def apply_blocks_transposed(data, starts, row_starts, col_starts, x, columns, y):
    """y(k) = B*(k)·x(k); y comes in as zeros."""
    for k in range(starts.size - 1):
        x_k, y_k = part_of(x, row_starts, k, columns), part_of(y, col_starts, k, columns)
        add_transposed_product(small(data, starts[k], x_k.rows, y_k.rows), x_k, y_k)
