"""Where the operators of a model can be other than zero, drawn as in Jain 2012-I, figures 6 and 7.

Rows and columns are in the papers' order, tips first, so that ℰ and 𝔸 are lower triangular. Blocks
on the diagonal are serial segments; what joins two segments has another colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from skodyn.model.model import Model
from skodyn.sko import SKOModel, Sparsity, sparsity
from skodyn.sko.sparsity_patterns import OPERATORS
from skodyn.view.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["sparsity_picture"]

WITHIN, BETWEEN = style.COLOURS[0], style.COLOURS[1]
GRID_LINE = "#8a93a0"
MOST_NAMES = 40  # more would not be readable
SYMBOLS = {  # the font of the plots lacks the letters that OPERATORS has
    "E": r"$\mathcal{E}$",
    "A": r"$\mathbb{A}$",
    "mass_matrix": r"$\mathcal{M}$",
    "mass_matrix_inverse": r"$\mathcal{M}^{-1}$",
    "Omega": r"$\Omega$",
}


def sparsity_picture(model: Model | SKOModel) -> Figure:
    """A matplotlib figure with a panel for each of ℰ, 𝔸, 𝓜, 𝓜⁻¹ and Ω."""
    style.matplotlib_needed()
    zeros = sparsity(model)
    figure = style.new_figure(13.0, 3.4 if zeros.tree.n <= MOST_NAMES else 3.0)
    grid = figure.add_gridspec(1, len(OPERATORS))
    with style.settings():
        for place, operator in zip(grid, OPERATORS, strict=True):
            _panel(figure, place, zeros, operator)
        _legend(figure)
        words = f"{zeros.tree.n} nodes in {len(zeros.segments)} serial segments, tips first"
        figure.suptitle(f"{getattr(model, 'name', 'SKO model')}: {words}", x=0.01, ha="left")
    return cast("Figure", figure)


def _legend(figure: Any) -> None:
    """What the colours mean."""
    from matplotlib.patches import Patch

    kinds = ((WITHIN, "within a serial segment"), (BETWEEN, "between segments"), ("white", "zero"))
    marks = [Patch(facecolor=c, edgecolor=GRID_LINE, linewidth=0.5, label=w) for c, w in kinds]
    figure.legend(handles=marks, loc="outside lower left", ncols=len(marks), fontsize=8)


def picture_of(zeros: Sparsity, operator: str) -> NDArray[np.int64]:
    """0 for a zero, 1 for a block within a segment, 2 for one between segments; tips first."""
    of = zeros.segments.segment_of
    pattern = zeros.pattern(operator).astype(np.int64)
    kinds = pattern * np.where(of[:, None] == of, 1, 2)
    return kinds[::-1, ::-1]


def _panel(figure: Any, place: Any, zeros: Sparsity, operator: str) -> None:
    from matplotlib.colors import ListedColormap

    axes = figure.add_subplot(place)
    colours = ListedColormap(["white", WITHIN, BETWEEN])
    axes.imshow(picture_of(zeros, operator), cmap=colours, vmin=0, vmax=2, interpolation="none")
    axes.set_title(f"{SYMBOLS[operator]}   {zeros.density(operator):.0%}")
    axes.grid(False)
    n = zeros.tree.n
    for start in zeros.segments.start.tolist():
        cut = n - start - 0.5
        axes.axhline(cut, color=GRID_LINE, linewidth=0.5)
        axes.axvline(cut, color=GRID_LINE, linewidth=0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    if operator == next(iter(OPERATORS)) and n <= MOST_NAMES:
        names = [str(name) for name in reversed(zeros.tree.names)]
        axes.set_yticks(range(n), names, fontsize=min(8.0, 160.0 / n))
