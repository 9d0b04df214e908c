"""An operator at a state, drawn: how large its entries are, in blocks under the names of bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.algebra.expression import Operator
from skodyn.algebra.tables import BlockTable
from skodyn.typing import Floats
from skodyn.view.plots import style
from skodyn.view.plots.sparsity import GRID_LINE, MOST_NAMES

__all__ = ["operator_picture"]

DECADES = 6  # below the largest entry, smaller ones have the lightest colour
_LONGER, _MARGIN, _SHORTEST = 5.5, 1.6, 1.2  # inches


def operator_picture(operator: Operator, *, order: str = "tips first", title: str = "") -> Any:
    """A matplotlib figure of the matrix: its entries by their size, zeros blank.

    order: "tips first", as the papers print, or "base first", as stacked vectors are.
    """
    style.matplotlib_needed()
    table = BlockTable(operator, order)
    sizes = [
        [int(space.sizes[k]) for k in parts]
        for space, parts in zip(operator.spaces, (table.rows, table.columns), strict=True)
    ]
    matrix = _entries(table)
    tall, wide = (_LONGER * side / max(*matrix.shape, 1) for side in matrix.shape)
    figure = style.new_figure(max(wide, _SHORTEST) + 2 * _MARGIN, max(tall, _SHORTEST) + _MARGIN)
    with style.settings():
        axes = figure.add_subplot()
        _draw(figure, axes, matrix)
        _mark(axes.set_yticks, axes.axhline, sizes[0], table.row_names)
        _mark(axes.set_xticks, axes.axvline, sizes[1], table.column_names, rotation=90)
        words = f"{operator.text()}, {matrix.shape[0]} × {matrix.shape[1]}, {order}"
        figure.suptitle(title or words, x=0.01, ha="left", fontsize=10.5)
    return figure


def _entries(table: BlockTable) -> Floats:
    """The matrix in the order of the table."""
    columns = range(len(table.columns))
    rows = [np.hstack([table.block(i, j) for j in columns]) for i in range(len(table.rows))]
    return np.vstack(rows) if rows else np.zeros((0, 0))


def _draw(figure: Any, axes: Any, matrix: Floats) -> None:
    from matplotlib.colors import LogNorm

    axes.grid(False)
    size = np.abs(matrix)
    largest = float(size.max(initial=0.0))
    top = largest if 0.0 < largest < np.inf else 1.0
    least = top / 10**DECADES
    scale = LogNorm(vmin=least, vmax=top, clip=True)
    drawn = np.ma.masked_where(size == 0.0, size)
    picture = axes.imshow(drawn, cmap="viridis_r", norm=scale, interpolation="none")
    if largest > 0.0:
        end = "min" if (drawn < least).any() else "neither"  # a pointed end: that, or less
        figure.colorbar(picture, ax=axes, label="size of an entry", shrink=0.8, extend=end)


def _mark(ticks: Any, line: Any, sizes: list[int], names: tuple[str, ...], **turned: float) -> None:
    """Lines between bodies, and their names where there is room for them."""
    ends = np.cumsum(sizes)
    for end in ends[:-1].tolist():
        line(end - 0.5, color=GRID_LINE, linewidth=0.5)
    if len(names) > MOST_NAMES:
        ticks([])
        return
    centres = ends - np.array(sizes) / 2 - 0.5
    ticks(centres, names, fontsize=min(8.0, 320.0 / max(len(names), 1)), **turned)
