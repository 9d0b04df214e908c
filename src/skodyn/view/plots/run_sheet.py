"""The sheet of one run, or of several laid over one another: every logged curve at a glance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Family
from skodyn.channels.entry import CHANNELS, drawn_channels
from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory
from skodyn.view.plots import style
from skodyn.view.signals import families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["sheet"]

MOST_CURVES = 8
MOST_CURVES_OF_SEVERAL = 4  # where every log adds a line for each
MAP_FROM = 40  # curves; as many are drawn as a map, too
MAP_OF = "map of "
DENSE = 4000  # rows; of more, bands are drawn
ROUNDING = float(np.finfo(np.float64).eps)  # on a logarithmic scale, the least value drawn
USUAL_ERROR = 1e-12  # above the errors of sound runs, so that their panels look alike
_ROW_HEIGHT, _HEAD, _WIDTH = 1.9, 0.75, 13.0


class _Curves(NamedTuple):
    """Which of them are wanted, as `families` takes it."""

    channels: Sequence[str] | None
    joints: Sequence[str]
    loops: Sequence[str]
    places: Sequence[str] = ()


class _Run(NamedTuple):
    label: str
    times: NDArray[np.float64]
    families: list[Family]


def sheet(
    trajectories: Sequence[Trajectory],
    *,
    channels: Sequence[str] | None = None,
    joints: Sequence[str] = (),
    loops: Sequence[str] = (),
    places: Sequence[str] = (),
    title: str = "",
    start: float | None = None,
    end: float | None = None,
) -> Figure:
    """A matplotlib figure: positions and velocities by joint, energy, momentum, joint forces, and
    what loops carry and how far they are open.

    channels: some of q, v, vdot, tau, energy, momentum, loop_forces, loop_error; all that were
    logged unless given; world_velocity is v of free joints in world axes. joints, loops: names or
    patterns such as "left_*". places: bodies and frames whose positions are drawn, too. title: what
    stands at the head. start, end: the stretch of time to draw.
    """
    style.matplotlib_needed()
    curves = _Curves(channels, joints, loops, places)
    runs = [_read(one, curves, start, end) for one in trajectories]
    rows = _rows(runs)
    if not rows:
        raise LogError("There is nothing to plot: no channel has a curve.")
    figure = style.new_figure(_WIDTH, _HEAD + _ROW_HEIGHT * len(rows))
    grid = figure.add_gridspec(len(rows), 2)
    axes = None
    with style.settings():
        for i, row in enumerate(rows):
            for j, key in enumerate(row):
                if key is not None:
                    place = grid[i, j] if len(row) > 1 else grid[i, :]
                    draw = _map if key[0].startswith(MAP_OF) else _panel
                    axes = draw(figure, place, runs, key, axes)
        _say_work(figure, trajectories)
        _label_times(figure)
        _head(figure, trajectories, runs, channels)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return cast("Figure", figure)


def _read(trajectory: Trajectory, curves: _Curves, start: float | None, end: float | None) -> _Run:
    with trajectory:
        times = trajectory.t
        low = -math.inf if start is None else start
        high = math.inf if end is None else end
        inside = np.flatnonzero((times >= low) & (times <= high))
        if not len(inside):
            span = f"{times[0]:g} … {times[-1]:g} s" if len(times) else "no rows"
            raise LogError(
                f"{trajectory.label} has no row between {low:g} and {high:g} s; it has {span}."
            )
        chosen = trajectory[int(inside[0]) : int(inside[-1]) + 1]
        found = families(chosen, *curves)
        return _Run(Path(trajectory.label).name, chosen.t, found)


# ---- which panel goes where -------------------------------------------------------------------

Key = tuple[str, str]  # title and unit


def _rows(runs: Sequence[_Run]) -> list[list[Key | None]]:
    """Positions in the left column, velocities in the right; other channels fill rows of two."""
    keys: dict[str, dict[Key, None]] = {channel: {} for channel in drawn_channels()}
    for run in runs:
        for family in run.families:
            keys.setdefault(family.channel, {}).setdefault((family.title, family.unit))
    q, v = ([*keys[c], *_maps(runs, c)] for c in ("q", "v"))
    rows: list[list[Key | None]] = []
    if q and v:
        for i in range(max(len(q), len(v))):
            rows.append([q[i] if i < len(q) else None, v[i] if i < len(v) else None])
    else:
        rows += _pairs(q + v)
    alone = [name for name, entry in drawn_channels().items() if entry.on_its_own]
    for channel in alone:
        rows += _pairs(list(keys[channel]))
    others = [name for name in keys if name not in ("q", "v", *alone)]
    return rows + _pairs([key for channel in others for key in keys[channel]])


def _maps(runs: Sequence[_Run], channel: str) -> list[Key]:
    """Maps of the families of one run that have too many curves to be told apart."""
    if len(runs) > 1:
        return []
    return [
        (MAP_OF + family.title, family.unit)
        for family in runs[0].families
        if family.channel == channel and len(family.names) >= MAP_FROM
    ]


def _pairs(keys: list[Key]) -> list[list[Key | None]]:
    return [list(keys[i : i + 2]) for i in range(0, len(keys), 2)]


# ---- one panel --------------------------------------------------------------------------------


def _panel(figure: Any, place: Any, runs: Sequence[_Run], key: Key, share: Any) -> Any:
    title, unit = key
    drawn = [
        (number, run, family)
        for number, run in enumerate(runs)
        for family in run.families
        if (family.title, family.unit) == key
    ]
    names = list(dict.fromkeys(name for _, _, family in drawn for name in family.names))
    most = MOST_CURVES if len(runs) == 1 else MOST_CURVES_OF_SEVERAL
    shown = [names[i] for i in _spread(len(names), most)]
    if len(shown) < len(names):
        title = f"{title}: {len(shown)} of {len(names)} curves, grey: range of all"
    axes = style.panel(figure, place, title, unit, share)
    _note(axes, [family for _, _, family in drawn])
    on_log_scale = all(family.logarithmic for _, _, family in drawn)
    if on_log_scale:
        drawn = [(number, run, _at_least(family, ROUNDING)) for number, run, family in drawn]
        axes.set_yscale("log")
    for number, run, family in drawn:
        if len(shown) < len(names):
            _band(axes, run.times, family.values)
        for i, name in enumerate(family.names):
            if name in shown:
                look = _look(shown.index(name), number, len(runs))
                label = _name(name, number, run, runs)
                _curve(axes, run.times, family.values[:, i], {"label": label, **look})
    if on_log_scale:
        _show_rounding(axes)
    if "relative" in title:
        axes.yaxis.set_major_formatter("{x:.3g}")
    else:
        style.legend(axes)
    return axes


def _curve(axes: Any, times: NDArray[np.float64], values: Any, look: dict[str, Any]) -> None:
    """A line; where there are more rows than a page has room for, the band from the least to the
    largest value of some rows at a time, so that no swing is lost between them."""
    if len(times) <= DENSE:
        axes.plot(times, values, **look)
        return
    size = -(-len(times) // (DENSE // 2))
    whole = len(times) // size * size
    blocks = values[:whole].reshape(-1, size)
    some = np.isfinite(blocks).any(axis=1)
    low, high = np.full(len(blocks), np.nan), np.full(len(blocks), np.nan)
    low[some], high[some] = np.nanmin(blocks[some], axis=1), np.nanmax(blocks[some], axis=1)
    middle = times[:whole].reshape(-1, size).mean(axis=1)
    axes.fill_between(
        middle, low, high, label=look["label"], facecolor=look["color"], edgecolor=look["color"],
        linewidth=0.8, alpha=0.75,
    )  # fmt: skip


def _note(axes: Any, drawn: Sequence[Family]) -> None:
    """What was left out of a panel, below its title, or in its middle if nothing is left."""
    note = " | ".join(dict.fromkeys(family.note for family in drawn if family.note))
    if note and any(family.names for family in drawn):
        style.subtitle(axes, f"left out, {note}")
    elif note:
        style.say(axes, note.replace("; ", "\n"))
        axes.set_yticks([])


def _at_least(family: Family, floor: float) -> Family:
    """NaN, which is a gap, stays."""
    return family._replace(values=np.maximum(family.values, floor))


def _show_rounding(axes: Any) -> None:
    """A scale of decades, down to where numbers of size 1 end and up to USUAL_ERROR at least."""
    highs = [float(np.nanmax(line.get_ydata(), initial=ROUNDING)) for line in axes.lines]
    highs += [float(axes.dataLim.ymax)] if axes.collections else [ROUNDING]
    axes.set_ylim(0.45 * ROUNDING, max(3 * max(highs), USUAL_ERROR))
    axes.yaxis.set_minor_locator(style.no_ticks())
    axes.axhline(ROUNDING, color="#8a93a0", linewidth=0.8, linestyle=(0, (2, 2)), zorder=0.5)
    style.subtitle(axes, f"on the dotted line: at most {ROUNDING:.1e}, rounding of numbers near 1")


def _map(figure: Any, place: Any, runs: Sequence[_Run], key: Key, share: Any) -> Any:
    """All curves of a family as a map: time across, curves upward, values as colours."""
    (run,) = runs
    title, unit = key[0].removeprefix(MAP_OF), key[1]
    family = next(f for f in run.families if (f.title, f.unit) == (title, unit))
    finite = np.abs(family.values[np.isfinite(family.values)])
    top = float(np.quantile(finite, 0.995)) if len(finite) else 0.0
    words = f"{title} of all {len(family.names)}, colours end at ±{top:.2g} {unit}"
    axes = style.panel(figure, place, words, f"{family.names[0]} … {family.names[-1]}", share)
    thin = max(1, len(run.times) // 800)
    picture = axes.pcolormesh(
        run.times[::thin],
        np.arange(len(family.names)),
        family.values[::thin].T,
        cmap="PuOr",  # told apart by all common kinds of sight
        vmin=-(top or 1.0),
        vmax=top or 1.0,
        shading="nearest",
        rasterized=True,
    )
    axes.grid(visible=False)
    figure.colorbar(picture, cax=axes.inset_axes((1.02, 0.0, 0.02, 1.0)), label=unit)
    return axes


def _spread(count: int, most: int) -> list[int]:
    """Up to `most` of `count` numbers, the first, the last and others evenly between."""
    return sorted({round(x) for x in np.linspace(0, count - 1, min(count, most))})


def _band(axes: Any, times: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    finite = np.where(np.isfinite(values), values, np.nan)
    some = np.isfinite(finite).any(axis=1)
    low, high = np.nanmin(finite[some], axis=1), np.nanmax(finite[some], axis=1)
    axes.fill_between(times[some], low, high, color="#c9d0d8", alpha=0.55, linewidth=0)


def _look(curve: int, run: int, runs: int) -> dict[str, Any]:
    """Colour tells curves apart and the line style runs, unless there are more runs than styles."""
    many = runs > len(style.LINES)
    colour, line = (run, curve) if many else (curve, run)
    return {
        "color": style.COLOURS[colour % len(style.COLOURS)],
        "linestyle": style.LINES[line % len(style.LINES)],
    }


def _name(name: str, number: int, run: _Run, runs: Sequence[_Run]) -> str | None:
    """A legend names each curve once; which line is which run stands at the head of the sheet."""
    many = len(runs) > len(style.LINES)
    if many:
        return f"{name}, {run.label}" if number < 6 else None
    return name if number == 0 else None


# ---- around the panels ------------------------------------------------------------------------


def _say_work(figure: Any, trajectories: Sequence[Trajectory]) -> None:
    """Energy that forces put in or took out is no error of the integrator: say how much it is."""
    work = trajectories[0].summary.get("work_of_forces") if len(trajectories) == 1 else None
    for axes in figure.axes:
        title = axes.get_title(loc="left")
        if work and "relative" in title:
            axes.set_title(f"{title} (forces did {work:.4g} J of work in the whole run)")


def _label_times(figure: Any) -> None:
    """ "time" under the lowest panel of each column."""
    lowest: dict[int, Any] = {}
    for axes in (a for a in figure.axes if a.get_subplotspec() is not None):
        lowest[axes.get_subplotspec().colspan.start] = axes
    for axes in lowest.values():
        axes.set_xlabel("time in s")


def _head(
    figure: Any,
    trajectories: Sequence[Trajectory],
    runs: Sequence[_Run],
    channels: Sequence[str] | None,
) -> None:
    first = trajectories[0]
    source = first.provenance
    words = [first.model.name if len(runs) == 1 else f"{len(runs)} runs"]
    if len(runs) == 1:
        method, dt = source.get("integrator", ""), source.get("dt")
        words += [f"{method}, dt = {dt:g} s"] if method and dt else [method] * bool(method)
        words += [f"{len(first)} rows"]
        words += [first.status] * (first.status != "finished")
        entries = [entry for entry in CHANNELS.built_in.values() if entry.usual]
        usual = [name for e in entries if not e.fault(first.model) for name in e.data]
        missing = [name for name in usual if name not in first.channels]
        if missing and channels is None:
            words.append(f"not logged: {', '.join(missing)}")
    figure.suptitle("   ·   ".join(words), x=0.01, ha="left", fontsize=10.5)
    if 1 < len(runs) <= len(style.LINES):
        from matplotlib.lines import Line2D

        lines = [
            Line2D([], [], color="#333a44", linestyle=style.LINES[i]) for i in range(len(runs))
        ]
        labels = [run.label for run in runs]
        figure.legend(lines, labels, loc="outside upper right", ncols=len(runs), handlelength=3.5)
