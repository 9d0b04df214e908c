"""Constant matrices of flexible bodies as kernels multiply them: flexible_layout.FOUR."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from skodyn.model.flexible.flexible_layout import FOUR, whole_fours
from skodyn.typing import Floats

Pattern = tuple[tuple[int, ...], tuple[int, ...]]

__all__ = ["by_components", "product_table", "without_rounding"]


def without_rounding(matrix: Floats) -> Floats:
    """What is below rounding of the largest entry is zero; no zero has a sign."""
    least = 1e-14 * np.abs(matrix).max(initial=0.0)
    return np.where(np.abs(matrix) > least, matrix, 0.0)


def product_table(matrix: Floats, put: Callable[[Any], int]) -> list[int]:
    """The integers of a product whose rows come in whole fours; `put` stores its numbers."""
    fours: list[int] = []
    alike: dict[Pattern, list[int]] = {}
    for first in range(0, len(matrix), FOUR):
        block = matrix[first : first + FOUR]
        columns = np.flatnonzero(block.any(axis=0)).tolist()
        numbers = put(block[:, columns].T) if columns else 0
        fours += [first, len(columns), numbers, *columns]
        for row in range(FOUR):
            pattern = _pattern(block[row], columns)
            alike.setdefault(pattern, []).extend((first + row, numbers + row))
    return [len(matrix) // FOUR, 2 + len(fours), *fours, *_rows_alike(alike)]


def _pattern(row: Floats, columns: list[int]) -> Pattern:
    """Columns of a row that are not zero, each with the place of its number, of both sums."""
    sums: tuple[list[int], list[int]] = ([], [])
    for i, column in enumerate(columns):
        if row[column] != 0.0:
            sums[len(columns) > FOUR and i % 2].extend((column, FOUR * i))
    return tuple(sums[0]), tuple(sums[1])


def _rows_alike(alike: dict[Pattern, list[int]]) -> list[int]:
    """Rows of one pattern four at a time, then those that are left over."""
    fours: list[list[int]] = []
    single: list[list[int]] = []
    for (ours, others), rows in alike.items():
        front, back = [len(ours) // 2, len(others) // 2], [*ours, *others]
        whole = len(rows) - len(rows) % (2 * FOUR)
        fours += [[*front, *rows[i : i + 2 * FOUR], *back] for i in range(0, whole, 2 * FOUR)]
        single += [[*front, *rows[i : i + 2], *back] for i in range(whole, len(rows), 2)]
    return [len(fours), *chain(*fours), len(single), *chain(*single)]


def by_components(table: Floats) -> Floats:
    """(shapes, components) as components of whole fours of shapes."""
    n, components = table.shape
    found = np.zeros((components, whole_fours(n)))
    found[:, :n] = table.T
    return found
