"""An operator's blocks under the names of their bodies: as text, in a notebook, as LaTeX."""

from __future__ import annotations

from html import escape

import numpy as np

from skodyn.algebra.expression import Operator
from skodyn.algebra.materialise import ORDERS, dense, entries_in
from skodyn.algebra.spaces import Space
from skodyn.sko.blocks import Floats

__all__ = ["BlockTable"]

WIDE = 12
"""Names are cut to so many letters in a table of text."""


class BlockTable:
    """`print(phi.table())`: sizes of blocks, zeros as dots; `numbers` has them by name.

    In a notebook it is a table; `latex()` is the matrix with lines between the blocks.
    """

    def __init__(self, operator: Operator, order: str = "base first") -> None:
        self.operator, self.order = operator, order
        for space in operator.spaces:
            entries_in(space, order)  # refuses an unknown order
        self._matrix = dense(operator)
        self.rows, self.columns = (self._parts(space) for space in operator.spaces)
        self.row_names, self.column_names = (
            tuple(space.label(k).strip("'") for k in parts)
            for space, parts in zip(operator.spaces, (self.rows, self.columns), strict=True)
        )

    def _parts(self, space: Space) -> tuple[int, ...]:
        """Numbers of the parts that have entries, in the order of the table."""
        tips = self.order == ORDERS[1] and space.tree is not None
        found = range(len(space.sizes))
        return tuple(k for k in (reversed(found) if tips else found) if space.sizes[k])

    def block(self, i: int, j: int) -> Floats:
        """The numbers in row i and column j of the table."""
        rows, cols = self.operator.spaces
        return self._matrix[rows.slice_at(self.rows[i]), cols.slice_at(self.columns[j])]

    @property
    def numbers(self) -> dict[tuple[str, str], Floats]:
        """The blocks that are not zero, by the names of their rows and columns."""
        return {
            (row, column): self.block(i, j)
            for i, row in enumerate(self.row_names)
            for j, column in enumerate(self.column_names)
            if self.block(i, j).any()
        }

    def _cell(self, i: int, j: int) -> str:
        """What stands for a block: a number, or the largest of several; a dot for zero."""
        block = self.block(i, j)
        if not block.any():
            return "·"
        if block.size == 1:
            return f"{block.item():.4g}"
        return f"{np.abs(block).max():.3g} ({block.shape[0]}×{block.shape[1]})"

    def __repr__(self) -> str:
        count = range(len(self.columns))
        cells = [[self._cell(i, j) for j in count] for i in range(len(self.rows))]
        heads = [_cut(name) for name in self.column_names]
        widths = [max([len(heads[j]), *(len(row[j]) for row in cells)]) for j in count]
        margin = max([len(_cut(name)) for name in self.row_names], default=0)
        title = f"{self.operator!r}, {self.order}; of a block: its largest number and size"
        lines = [title, " ".join([" " * margin, *(f"{heads[j]:>{widths[j]}}" for j in count)])]
        for name, row in zip(self.row_names, cells, strict=True):
            words = [f"{_cut(name):<{margin}}", *(f"{row[j]:>{widths[j]}}" for j in count)]
            lines.append(" ".join(words))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{escape(name)}</th>" for name in self.column_names)
        body = ""
        for i, name in enumerate(self.row_names):
            cells = [f"<td>{escape(self._cell(i, j))}</td>" for j in range(len(self.columns))]
            body += f"<tr><th>{escape(name)}</th>{''.join(cells)}</tr>"
        caption = f"<caption>{escape(self.operator.text())}, {self.order}</caption>"
        return f"<table>{caption}<tr><th></th>{heads}</tr>{body}</table>"

    def latex(self, digits: int = 3) -> str:
        """The matrix as LaTeX, with lines between the blocks of bodies."""
        cols = self.operator.spaces[1]
        columns = "|".join("r" * int(cols.sizes[j]) for j in self.columns)
        lines = []
        for i in range(len(self.rows)):
            whole = np.hstack([self.block(i, j) for j in range(len(self.columns))])
            lines.append(
                "\n".join(" & ".join(_digits(x, digits) for x in row) + r" \\" for row in whole)
            )
        body = "\n\\hline\n".join(lines)
        return rf"\left[\begin{{array}}{{{columns}}}" + f"\n{body}\n" + r"\end{array}\right]"


def _cut(name: str) -> str:
    return name if len(name) <= WIDE else name[: WIDE - 1] + "…"


def _digits(x: float, digits: int) -> str:
    """A number as LaTeX prints it: 1.2e-05 as 1.2\\cdot 10^{-5}."""
    words = f"{x:.{digits}g}"
    if "e" not in words:
        return words
    number, _, power = words.partition("e")
    return rf"{number}\cdot 10^{{{int(power)}}}"
