"""The plain-Python meaning, at width 1, of every lane function; compiled.py gives the other.

Numbers are NumPy's, which divide by zero as processors do; Python's own floats raise.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Width:
    """A tag whose numba type carries the lane width, so that one source compiles for each.

    `own_parameters` says that every model constant is stored once per lane (parameter sweeps)
    instead of once for all lanes.
    """

    def __init__(self, lanes: int, own_parameters: bool = False) -> None:
        self.lanes = lanes
        self.own_parameters = own_parameters

    def __repr__(self) -> str:
        return f"Width({self.lanes}{', own_parameters=True' if self.own_parameters else ''})"


WIDTH_1 = Width(1)
WIDTH_4 = Width(4)


class Work(NamedTuple):
    """What a sweep works with: how many states lie side by side, and the lanes that it may use."""

    width: Width
    lanes: Any  # pointer to flat memory in which lane i occupies `width` consecutive doubles


class Rows(NamedTuple):
    """As many rows of a flat table as there are states side by side."""

    data: Any  # pointer to the table
    first: int  # where the first of these rows begins
    stride: int  # from one row to the next; one state has one row, for which any will do


def single(work: Work) -> bool:
    """Is this width 1? Known when a kernel is compiled, so that only one branch is left of two."""
    return True


def states(work: Work) -> int:
    """How many states lie side by side; known when a kernel is compiled."""
    return 1


def pointer(array: Any) -> Any:
    """The data of an array without its reference count, whose upkeep would cost more than the
    arithmetic. Entry points call it once; everything they call works on pointers.
    """
    return array.reshape(-1) if array.ndim > 1 else array  # a view: kernels take contiguous arrays


def integers(source: Any) -> Any:
    """The same memory read as 64-bit integers."""
    return source.view("int64")


def shift_pointer(source: Any, count: int) -> Any:
    """The data from element `count` on."""
    return source[count:]


def splat(work: Work, x: float) -> Any:
    """A lane value with x in every lane."""
    return x


def load(work: Work, i: int) -> Any:
    """Lane i of a flat workspace."""
    return work.lanes[i]


def store(work: Work, i: int, x: Any) -> None:
    """Write lane i of a flat workspace."""
    work.lanes[i] = x


def table_entry(table: Any, i: int) -> Any:
    """Integer i of a table that is read often and written by no kernel (jit/memory_kinds.py)."""
    return table[i]


def load_rows(work: Work, rows: Rows, i: int) -> Any:
    """Column i of the rows, a number for each state."""
    return rows.data[rows.first + i]


def expect_rows(work: Work, rows: Rows, i: int) -> None:
    """Let the cache line of number i behind these rows be fetched: the next rows' in a batch."""


def store_rows(work: Work, rows: Rows, i: int, x: Any) -> None:
    """Write column i of the rows."""
    rows.data[rows.first + i] = x


def parameter(work: Work, array: Any, i: int) -> Any:
    """Model constant i: a float for all lanes, or one value per lane if the tag says so."""
    return array[i]


def lane_at(x: Any, lane: int) -> float:
    """The value in one lane, as a float."""
    return x  # type: ignore[no-any-return]


def fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c, rounded once."""
    return a * b + c


def sqrt(x: Any) -> Any:
    """Correctly rounded square root; NaN below zero."""
    return np.float64(math.sqrt(x) if x >= 0.0 else math.nan)


def floor(x: Any) -> Any:
    """The largest integer not above x, as a float."""
    return np.float64(math.floor(x)) if math.isfinite(x) else x


def absolute(x: Any) -> Any:
    """The magnitude of x."""
    return abs(x)


def select(mask: Any, a: Any, b: Any) -> Any:
    """a where the mask holds, else b; both are evaluated."""
    return a if mask else b


def any_lane(mask: Any) -> bool:
    """Does the mask hold in at least one lane?"""
    return bool(mask)


def all_lanes(mask: Any) -> bool:
    """Does the mask hold in every lane?"""
    return bool(mask)


def logarithm(x: Any) -> Any:
    """Natural logarithm from the C library, lane by lane; NaN below zero."""
    return np.float64(math.log(x) if x > 0.0 else (-math.inf if x == 0.0 else math.nan))


def libm_sin(x: Any) -> Any:
    """Sine from the C library, lane by lane: right for any finite x, slow."""
    return np.float64(math.sin(x) if math.isfinite(x) else math.nan)


def libm_cos(x: Any) -> Any:
    """Cosine from the C library, lane by lane: right for any finite x, slow."""
    return np.float64(math.cos(x) if math.isfinite(x) else math.nan)
