"""A sweep at a glance: for each metric its histogram, a map over two parameters, and slices.

A map shows the median over all other parameters; a slice the median and the middle 80 % of the runs
along one parameter. Runs that failed are crosses on the map, and are counted at the head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError
from skodyn.view.plots import style
from skodyn.view.signals import drawable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Study", "study_picture"]

Floats = NDArray[np.float64]

MOST_METRICS = 5
NO_NUMBER = "no run has a number"
MOST_LEVELS = 40  # more values of a parameter are put into so many bins


class Study(Protocol):
    """What a picture needs of a sweep; `sk.open_sweep` gives one."""

    @property
    def parameter_names(self) -> tuple[str, ...]: ...
    @property
    def metric_names(self) -> tuple[str, ...]: ...
    @property
    def metric_units(self) -> tuple[str, ...]: ...
    @property
    def points(self) -> Floats: ...
    @property
    def metrics(self) -> Floats: ...
    @property
    def finished(self) -> NDArray[np.bool_]: ...
    @property
    def failed(self) -> NDArray[np.bool_]: ...


@dataclass(frozen=True)
class _Part:
    """Some of the runs of a study."""

    parameter_names: tuple[str, ...]
    metric_names: tuple[str, ...]
    metric_units: tuple[str, ...]
    points: Floats
    metrics: Floats
    finished: NDArray[np.bool_]
    failed: NDArray[np.bool_]


class _Metric(NamedTuple):
    """One number for each run."""

    name: str
    unit: str
    values: Floats

    @property
    def label(self) -> str:
        """What stands along an axis."""
        return f"{self.name} in {self.unit}" if self.unit else self.name


def study_picture(
    study: Study,
    metrics: list[str] | None = None,
    *,
    over: Sequence[str] = (),
    at: Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """A matplotlib figure; metrics: which, the first few unless given.

    over: one or two parameters to draw over, the first two that vary unless given. at: values of
    others, at which runs are kept. title: what stands at the head.
    """
    style.matplotlib_needed()
    chosen = _chosen(study, metrics)
    study = _at(study, at or {})
    varied = _over(study, over) or _varied(study)
    columns = 1 + (len(varied) > 1) + min(len(varied), 2)
    figure = style.new_figure(3.3 * columns + 0.4, 0.9 + 2.3 * len(chosen))
    grid = figure.add_gridspec(len(chosen), columns)
    with style.settings():
        for row, name in enumerate(chosen):
            which = study.metric_names.index(name)
            metric = _Metric(name, study.metric_units[which], drawable(study.metrics[:, which]))
            _histogram(figure, grid[row, 0], metric, study.finished)
            if len(varied) > 1:
                _map(figure, grid[row, 1], metric, study, varied[:2])
            for j, i in enumerate(varied[:2]):
                place = grid[row, columns - min(len(varied), 2) + j]
                _slice(figure, place, metric, study, i)
        words = [title] * bool(title) + [_head(study)]
        words += [f"{name} = {value:g}" for name, value in (at or {}).items()]
        figure.suptitle("   ·   ".join(words), x=0.01, ha="left")
    return cast("Figure", figure)


def _known(study: Study, name: str) -> int:
    if name not in study.parameter_names:
        known = ", ".join(study.parameter_names)
        raise LogError(f"There is no parameter {name}; the sweep has {known}.")
    return study.parameter_names.index(name)


def _over(study: Study, names: Sequence[str]) -> list[int]:
    """The parameters that were asked for."""
    if len(names) > 2:
        raise LogError(f"A map has two axes; {len(names)} parameters were named: {list(names)}.")
    found = [_known(study, name) for name in names]
    for i in found:
        if not np.ptp(study.points[:, i]) > 0.0:
            raise LogError(f"Parameter {study.parameter_names[i]} does not vary in these runs.")
    return found


def _at(study: Study, values: Mapping[str, float]) -> Study:
    """The runs in which parameters have these values."""
    if not values:
        return study
    kept = np.ones(len(study.points), dtype=bool)
    for name, value in values.items():
        column = study.points[:, _known(study, name)]
        here = np.isclose(column, value, rtol=1e-6, atol=0.0)
        if not here.any():
            there = np.unique(column)
            some = ", ".join(f"{x:g}" for x in there[:6]) + (", …" if len(there) > 6 else "")
            raise LogError(f"No run has {name} = {value:g}; its values are {some}.")
        kept &= here
    if not kept.any():
        raise LogError("No run has all of these values together.")
    return _Part(
        study.parameter_names,
        study.metric_names,
        study.metric_units,
        study.points[kept],
        study.metrics[kept],
        study.finished[kept],
        study.failed[kept],
    )


def is_geometric(values: Floats) -> bool:
    """Are distinct values spaced by a factor: three or more, all positive, over a decade?"""
    if len(values) < 3 or values[0] <= 0.0 or values[-1] < 10.0 * values[0] * (1 - 1e-9):
        return False
    steps = np.diff(np.log(values))
    return bool(np.ptp(steps) <= 0.02 * steps.mean())


def _varied(study: Study) -> list[int]:
    """The parameters that have several values."""
    points = study.points
    for name, column in zip(study.parameter_names, points.T, strict=True):
        if not np.isfinite(drawable(column)).all():
            raise LogError(f"Parameter {name} has values that are not finite; it cannot be drawn.")
    varied = [i for i in range(points.shape[1]) if len(points) and np.ptp(points[:, i]) > 0.0]
    if not varied:
        raise LogError("No parameter varies in this sweep; there is nothing to draw it over.")
    return varied


def _chosen(study: Study, metrics: list[str] | None) -> list[str]:
    if not study.metric_names:
        raise LogError("This sweep has no metrics; name some under [sweep.metrics].")
    unknown = [name for name in metrics or () if name not in study.metric_names]
    if unknown:
        known = ", ".join(study.metric_names)
        raise LogError(f"There is no metric {', '.join(unknown)}; the sweep has {known}.")
    return list(metrics or study.metric_names)[:MOST_METRICS]


def _head(study: Study) -> str:
    done, lost, all_runs = int(study.finished.sum()), int(study.failed.sum()), len(study.points)
    words = f"{all_runs} runs: {done} finished, {lost} failed"
    left = all_runs - done - lost
    return words + (f", {left} not run yet" if left else "")


def _levels(values: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """(centres, which of them each value belongs to): the values themselves if they are few."""
    distinct, which = np.unique(values, return_inverse=True)
    if len(distinct) <= MOST_LEVELS:
        return distinct, which
    edges = np.linspace(distinct[0], distinct[-1], MOST_LEVELS + 1)
    which = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, MOST_LEVELS - 1)
    return (edges[:-1] + edges[1:]) / 2, which


def _histogram(figure: Any, place: Any, metric: _Metric, finished: Any) -> None:
    axes, values = style.panel(figure, place, metric.name, "runs"), metric.values
    shown = values[finished & np.isfinite(values)]
    if len(shown):
        axes.hist(shown, bins=_bins(shown), color=style.COLOURS[0])
    else:
        style.say(axes, NO_NUMBER)
    left_out = int(finished.sum()) - len(shown)
    axes.set_xlabel(metric.label + (f" (no number in {left_out} runs)" if left_out else ""))


def _bins(values: Floats) -> Floats:
    """Edges of the bars; a single value, or those that differ by roundings, stand in the middle."""
    low, high = float(values.min()), float(values.max())
    around = max(abs(low), abs(high))
    if high - low <= 1e-12 * around or around < 1e-300:
        half = 0.5 * around if around >= 1e-300 else 0.5
        low, high = low - half, high + half
    return np.linspace(low, high, min(40, max(5, int(np.sqrt(len(values))))) + 1)


def _map(figure: Any, place: Any, metric: _Metric, study: Study, over: list[int]) -> None:
    """The median by colour over two parameters; × where a run failed."""
    values = metric.values
    names = [study.parameter_names[i] for i in over]
    (x, i), (y, j) = (_levels(study.points[:, k]) for k in over)
    cell = i * len(y) + j
    good = study.finished & np.isfinite(values)
    axes = style.panel(figure, place, f"median of {metric.name}", names[1])
    axes.grid(False)
    axes.set_xlabel(names[0])
    lost = np.unique(cell[study.failed])
    if len(lost):
        axes.plot(x[lost // len(y)], y[lost % len(y)], "x", color=style.COLOURS[1], markersize=4)
    for levels, set_scale in ((x, axes.set_xscale), (y, axes.set_yscale)):
        if is_geometric(levels):
            set_scale("log")
    if not good.any():
        style.say(axes, NO_NUMBER)
        return
    table = _medians(values[good], cell[good], len(x) * len(y)).reshape(len(x), len(y))
    image = axes.pcolormesh(
        x, y, np.ma.masked_invalid(table.T), shading="nearest", cmap="cividis", rasterized=True
    )
    figure.colorbar(image, ax=axes, label=metric.unit)


def _medians(values: Floats, cell: NDArray[np.int64], count: int) -> Floats:
    """The median of the values in each cell; NaN where there is none."""
    table = np.full(count, np.nan)
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    for where, part in zip(cells, np.split(values[order], starts[1:]), strict=True):
        table[where] = np.median(part)
    return table


def _slice(figure: Any, place: Any, metric: _Metric, study: Study, i: int) -> None:
    """Median and middle 80 % along one parameter."""
    values = metric.values
    levels, which = _levels(study.points[:, i])
    good = study.finished & np.isfinite(values)
    middle = np.full((3, len(levels)), np.nan)
    for k in range(len(levels)):
        part = values[good & (which == k)]
        if len(part):
            middle[:, k] = np.quantile(part, (0.1, 0.5, 0.9))
    axes = style.panel(figure, place, f"{metric.name}, median and middle 80 %", metric.label)
    if not good.any():
        style.say(axes, NO_NUMBER)
    axes.fill_between(levels, middle[0], middle[2], color=style.COLOURS[5], alpha=0.4, linewidth=0)
    axes.plot(levels, middle[1], color=style.COLOURS[0], marker=".", markersize=3)
    axes.set_xlabel(study.parameter_names[i])
    if is_geometric(levels):
        axes.set_xscale("log")
