"""What all plots share: figures without a display, colours, legends beside the data, saving."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skodyn.errors import LogError, SkodynError
from skodyn.wording import argument

__all__ = [
    "COLOURS",
    "FORMATS",
    "LINES",
    "check_target",
    "legend",
    "matplotlib_needed",
    "new_figure",
    "no_ticks",
    "panel",
    "save",
    "say",
    "subtitle",
]

# Okabe and Ito's colours without yellow, which is too light for a line
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B5A2B")
LINES = ("-", (0, (5, 2)), (0, (1, 1.3)), (0, (6, 1.5, 1, 1.5)))
FORMATS = (".png", ".svg", ".pdf")

_SETTINGS = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#8a93a0",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e7ec",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.2,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "svg.hashsalt": "skodyn",  # the same picture gives the same file
    "figure.dpi": 110.0,
    "savefig.dpi": 150.0,
}


def matplotlib_needed() -> Any:
    """matplotlib, or a SkodynError that says how to install it; asked for before any work."""
    try:
        import matplotlib
    except ImportError:
        raise SkodynError(
            "Plots need the package matplotlib; install it with: pip install 'skodyn[plot]'"
        ) from None
    return matplotlib


@contextmanager
def settings() -> Iterator[None]:
    """Draw and save inside this block; other users of matplotlib in the process notice nothing."""
    with matplotlib_needed().rc_context(_SETTINGS):
        yield


def new_figure(width: float, height: float) -> Any:
    """A figure of so many inches that needs no display and no cleaning up after."""
    matplotlib_needed()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with settings():
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
    return figure


def panel(figure: Any, place: Any, title: str, unit: str, share: Any = None) -> Any:
    """Axes at a place of a grid; `unit` labels the y axis."""
    with settings():
        axes = figure.add_subplot(place, sharex=share)
        axes.set_title(title)
        axes.set_ylabel(unit)
        axes.margins(x=0.01)
    return axes


def no_ticks() -> Any:
    """A locator for axes whose ticks would say too much."""
    from matplotlib.ticker import NullLocator

    return NullLocator()


def subtitle(axes: Any, words: str) -> None:
    """Small words between the axes and their title."""
    with settings():
        axes.set_title(axes.get_title(loc="left"), pad=15)
        axes.text(0.0, 1.03, words, transform=axes.transAxes, fontsize=7.5, color="#667080")


def say(axes: Any, words: str) -> None:
    """Words in the middle of axes that have nothing to show."""
    with settings():
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center")


def legend(axes: Any) -> None:
    """To the right of the axes, so that it covers no data."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        with settings():
            axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.02))


def check_target(path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """The path of a file to write; LogError if the kind is unknown or the file is there already."""
    matplotlib_needed()
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        kinds = ", ".join(FORMATS)
        raise LogError(f"{target}: plots are written as {kinds}; give a name that ends so.")
    if target.exists() and not overwrite:
        remedy = f"choose another name, or replace it with {argument('overwrite', yes=True)}."
        raise LogError(f"{target} exists; {remedy}")
    return target


def save(figure: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
    """Write a figure as PNG, SVG or PDF; the same figure gives the same bytes."""
    target = check_target(path, overwrite)
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    part = target.with_name(f".{target.name}.part")
    kind = target.suffix.lower()
    try:
        with settings():
            figure.savefig(part, format=kind[1:], metadata=dates.get(kind))
        part.replace(target)
    except OSError as error:
        raise LogError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        part.unlink(missing_ok=True)
    return target
