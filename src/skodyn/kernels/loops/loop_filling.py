"""Whose rows of loops are filled with what, and where they lie."""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.loops.loop_table import loop_lane
from skodyn.model.loops import loop_layout as its

__all__ = [
    "ACCELERATIONS",
    "COLUMNS",
    "GAMMAS",
    "GAPS",
    "Filling",
    "Path",
    "accelerates",
    "fills_columns",
    "path_cell",
    "paths",
    "row_at",
    "rows_of",
]


GAPS, COLUMNS, ACCELERATIONS, GAMMAS = range(4)
"""What to compute: g alone; g and G; g, G and γ; g and γ, without touching the matrix."""


class Filling(NamedTuple):
    """Whose rows are filled, with what."""

    group: int
    stage: int
    q: Any
    v: Any
    what: int
    every: bool  # rows that say nothing in a plane, too


@helper
def fills_columns(filling):
    """Is the matrix of the stage to be filled?"""
    return filling.what in (COLUMNS, ACCELERATIONS)


@helper
def accelerates(filling):
    """Is γ wanted?"""
    return filling.what in (ACCELERATIONS, GAMMAS)


@helper
def rows_of(model, filling):
    """How many rows a stage has."""
    return model.tree[filling.stage + (its.EVERY_ROW if filling.every else its.STAGE_ROWS)]


@helper
def row_at(model, stage, row):
    """Where a row of a stage's matrix begins."""
    return loop_lane(model, stage + its.MATRIX_LANE) + row * model.tree[stage + its.TOUCHED]


class Path(NamedTuple):
    """The way from an end of a loop inward: where its cells are, and how many bodies it has."""

    at: int
    length: int


@helper
def path_cell(model, path, cell):
    return model.tree[path.at + cell]


@helper
def paths(tree, c):
    return Path(tree[c + its.PATH_A_AT], tree[c + its.PATH_A]), Path(
        tree[c + its.PATH_B_AT], tree[c + its.PATH_B]
    )
