"""Constant matrices of flexible bodies as kernels multiply them: flexible_layout.FOUR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skodyn.model.flexible.flexible_layout import FOUR, whole_fours
from skodyn.typing import Floats

__all__ = ["by_components", "product_table", "without_rounding"]


def without_rounding(matrix: Floats) -> Floats:
    """What is below rounding of the largest entry is zero; no zero has a sign."""
    least = 1e-14 * np.abs(matrix).max(initial=0.0)
    return np.where(np.abs(matrix) > least, matrix, 0.0)


def product_table(matrix: Floats, put: Callable[[Any], int]) -> list[int]:
    """The integers of a product whose rows come in whole fours; `put` stores its numbers."""
    fours: list[int] = []
    entries: dict[int, tuple[list[int], list[int]]] = {}
    count = 0
    for first in range(0, len(matrix), FOUR):
        block = matrix[first : first + FOUR]
        columns = np.flatnonzero(block.any(axis=0)).tolist()
        if not columns:
            continue
        numbers = put(block[:, columns].T)
        fours += [first, len(columns), numbers, *columns]
        count += 1
        for row in range(FOUR):
            found = entries.setdefault(first + row, ([], []))
            for i, column in enumerate(columns):
                if block[row, column] != 0.0:
                    other = len(columns) > FOUR and i % 2
                    found[other].extend((column, numbers + FOUR * i + row))
    entries = {row: found for row, found in entries.items() if any(found)}
    single = [len(entries)]
    for row, (ours, others) in entries.items():
        single += [row, len(ours) // 2, len(others) // 2, *ours, *others]
    return [count, 2 + len(fours), *fours, *single]


def by_components(table: Floats) -> Floats:
    """(shapes, components) as components of whole fours of shapes."""
    n, components = table.shape
    found = np.zeros((components, whole_fours(n)))
    found[:, :n] = table.T
    return found
