"""Columns side by side, at width 1 in plain Python; compiled_columns.py gives the other meaning.

One state leaves most of a register idle: it takes four columns of a row of lanes at once.

    load_columns(work, i)           columns_at_once(work) of a row of lanes: one of several
    store_columns(work, i, x)       states, four of one
    splat_columns(work, x)
    parameter_columns(work, p, i)   as many model constants as columns are taken at once
    store_four(work, rows, i, x)    four columns of rows at once, x a tuple of four
    turn_square(work, at, to, pitch)    transpose four by four lanes
"""

from __future__ import annotations

from typing import Any

from skodyn.lanes.plain import Rows, Work


def store_four(work: Work, rows: Rows, i: int, x: Any) -> None:
    """Write the four numbers of x to columns i … i + 3, as four calls of store_rows would."""
    for j in range(4):
        rows.data[rows.first + i + j] = x[j]


def turn_square(work: Work, at: int, to: int, pitch: int) -> None:
    """Write the transpose of the four by four lanes from `at` on to those from `to` on; rows of
    both lie `pitch` lanes apart.
    """
    for i in range(4):
        for j in range(4):
            work.lanes[to + j * pitch + i] = work.lanes[at + i * pitch + j]


def columns_at_once(work: Work) -> int:
    """How many columns of a row of lanes are taken at once: four of one state, one of several."""
    return 1


def load_columns(work: Work, i: int) -> Any:
    """So many columns from lane i of a flat workspace on."""
    return work.lanes[i]


def store_columns(work: Work, i: int, x: Any) -> None:
    """Write what `load_columns` reads."""
    work.lanes[i] = x


def splat_columns(work: Work, x: float) -> Any:
    """What `load_columns` gives, with x everywhere."""
    return x


def parameter_columns(work: Work, array: Any, i: int) -> Any:
    """As many model constants, from i on, as columns are taken at once."""
    return array[i]
