"""Blocks, rows and columns of an expression, by the names of bodies."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from skodyn.algebra.composite import Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Propagator
from skodyn.algebra.structure import diagonal_blocks, is_block_diagonal
from skodyn.errors import StateError
from skodyn.sko.blocks import Floats

__all__ = ["block", "element"]

ALL = slice(None)


class NamedBlock(np.ndarray[Any, np.dtype[np.float64]]):
    """`phi["hand"]`: an array, of which a second name is the column, `phi["hand"]["upper"]`."""

    operator: Operator | None = None
    key: Any = None

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str) or self.operator is None:
            return super().__getitem__(key)
        if isinstance(self.key, tuple):
            raise StateError(
                f"{self.operator.text()}[{_typed(self.key)}] is an array and has no names",
                "give row and column, as in [row, column] or [row][column].",
            )
        return element(self.operator, (self.key, key))


def element(operator: Operator, key: Any) -> Floats:
    """operator[row, column], operator[row, :], operator[:, column], or operator[body] for both."""
    found = _element(operator, key).view(NamedBlock)
    found.operator, found.key = operator, key
    return found


def _typed(key: Any) -> str:
    parts = key if isinstance(key, tuple) else (key,)
    return ", ".join(":" if part == ALL else repr(part) for part in parts)


def _element(operator: Operator, key: Any) -> Floats:
    row, column = key if isinstance(key, tuple) and len(key) == 2 else (key, key)
    for part in (row, column):
        if isinstance(part, slice) and part != ALL:
            raise StateError(f"{part} is not a body", "give a name, or : for all rows or columns.")
    rows, cols = operator.spaces
    if isinstance(row, slice) and isinstance(column, slice):
        return operator.dense()
    if isinstance(row, slice):
        return operator.run(cols.columns_at(cols.resolve(column)), False)
    if isinstance(column, slice):
        return operator.run(rows.columns_at(rows.resolve(row)), True).T
    return block(operator, row, column)


def block(operator: Operator, row: Hashable, column: Hashable) -> Floats:
    """The block of two bodies; of φ and ψ as the product of the weights along their path."""
    rows, cols = operator.spaces
    return _block(operator, rows.resolve(row), cols.resolve(column))


def _block(operator: Operator, i: int, j: int) -> Floats:
    rows, cols = operator.spaces
    if isinstance(operator, Transposed):
        return _block(operator.inner, j, i).T
    if isinstance(operator, Propagator):
        return _along_the_path(operator, i, j)
    if is_block_diagonal(operator) and i == j:
        return np.array(diagonal_blocks(operator)[i])
    if int(rows.sizes[i]) < int(cols.sizes[j]):
        return operator.run(rows.columns_at(i), True)[cols.slice_at(j)].T
    return operator.run(cols.columns_at(j), False)[rows.slice_at(i)]


def _along_the_path(operator: Propagator, i: int, j: int) -> Floats:
    """φ(i, j) = φ(i, ·)…φ(·, j) for an ancestor i of j, zero for others; φ̃(i, i) = 0."""
    tree, sizes = operator.spaces[0].forest, operator.spaces[0].sizes
    if i != j and not tree.holds(i, j):
        return np.zeros((int(sizes[i]), int(sizes[j])))
    value = np.eye(int(sizes[j])) if i != j or not operator.strict else np.zeros((sizes[j],) * 2)
    while j != i:
        value = operator.blocks[j] @ value
        j = int(tree.parent[j])
    return value
