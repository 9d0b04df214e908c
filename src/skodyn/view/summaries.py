"""Short tables of models, runs and sweeps for notebooks, as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.io.trajectory import Trajectory
from skodyn.model.drawing import draw, size_words
from skodyn.model.model import Model
from skodyn.sko.model import SKOModel
from skodyn.view.scene import PALETTE

__all__ = ["model_html", "sko_html", "sweep_html", "trajectory_html"]

_MOST_ROWS = 12  # of a table; the rest is counted
_CURVES = 6
_POINTS = 240  # of a curve
_WIDTH, _HEIGHT = 420, 90

Floats = NDArray[np.float64]


def model_html(model: Model) -> str:
    """Sizes, mass, and the tree, folded if it is long."""
    rows = [("bodies", size_words(model)), ("mass", f"{model.mass.sum():.6g} kg")]
    x, y, z = model.gravity.tolist()
    rows.append(("gravity", f"{x:g}, {y:g}, {z:g} m/s²"))
    drawn = html.escape(draw(model))
    unfolded = " open" if model.n_bodies <= _MOST_ROWS else ""
    tree = f"<details{unfolded}><summary>tree</summary><pre>{drawn}</pre></details>"
    return _block(f"Model {model.name}", rows, tree)


def sko_html(model: SKOModel) -> str:
    """Sizes, and the nodes with theirs."""
    rows = [("nodes", str(model.n_nodes)), ("Σ m", str(model.size)), ("nv", str(model.nv))]
    parents = model.tree.parent.tolist()
    names = [str(name) for name in model.names]
    columns = zip(names, parents, model.sizes.tolist(), model.dofs.tolist(), strict=True)
    cells = [(n, names[p] if p >= 0 else "–", m, d) for n, p, m, d in columns]
    return _block("SKO model", rows, _table(("node", "parent", "m", "n"), cells))


def trajectory_html(trajectory: Trajectory, kind: str = "Trajectory") -> str:
    """How a run ended, what it says of itself, and its first coordinates as curves."""
    summary: dict[str, Any] = dict(trajectory.summary)
    end = f": {trajectory.message}" if trajectory.message else ""
    rows = [("status", f"{trajectory.status}{end}"), ("rows", f"{len(trajectory)}")]
    if len(trajectory):
        ends = trajectory[:: max(len(trajectory) - 1, 1)].t
        rows.append(("time", f"{ends[0]:g} … {ends[-1]:g} s"))
    if "steps" in summary:
        speed = summary.get("steps_per_second")
        fast = f", {speed:,.0f} steps/s" if speed else ""
        rows.append(("steps", f"{summary['steps']}{fast}"))
    if summary.get("energy_imbalance") is not None:
        rows.append(("energy error", f"{summary['energy_imbalance']:.2e} (relative to max|E|)"))
    rows += [("warning", sentence) for sentence in summary.get("warnings", ())]
    rows.append(("channels", ", ".join(trajectory.channels)))
    return _block(f"{kind} {trajectory.label}", rows, _curves(trajectory))


def sweep_html(sweep: Any) -> str:
    """How many runs ended how, the ranges of parameters, and of metrics over finished runs."""
    counts = ", ".join(f"{n} {word}" for word, n in sweep.counts().items() if n)
    points = sweep.points
    cells = []
    for i, name in enumerate(sweep.parameter_names):
        column = points[:, i]
        cells.append((name, *_range(column), len(np.unique(column))))
    parameters = _table(("parameter", "least", "median", "largest", "values"), cells)
    ended = sweep.metrics[sweep.finished] if sweep.metric_names else np.zeros((0, 0))
    cells = []
    for i, name in enumerate(sweep.metric_names):
        cells.append((name, *_range(ended[:, i]), int(np.isfinite(ended[:, i]).sum())))
    metrics = _table(("metric", "least", "median", "largest", "runs"), cells)
    rows = [("runs", f"{len(sweep)}: {counts}")]
    return _block(f"Sweep {sweep.path.name}", rows, parameters + metrics)


def _range(values: Floats) -> tuple[str, str, str]:
    sound = values[np.isfinite(values)]
    if not len(sound):
        return ("no number",) * 3
    return f"{sound.min():.4g}", f"{np.median(sound):.4g}", f"{sound.max():.4g}"


# ---- pieces -----------------------------------------------------------------------------------


def _block(title: str, rows: Iterable[tuple[str, str]], more: str) -> str:
    lines = "".join(
        f'<tr><td style="text-align: left">{html.escape(name)}</td>'
        f'<td style="text-align: left">{html.escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<div><b>{html.escape(title)}</b><table>{lines}</table>{more}</div>"


def _table(head: Iterable[str], cells: list[tuple[Any, ...]]) -> str:
    if not cells:
        return ""
    top = "".join(f"<th>{html.escape(word)}</th>" for word in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in cells[:_MOST_ROWS]
    )
    left = len(cells) - _MOST_ROWS
    rest = f"<p>… and {left} more</p>" if left > 0 else ""
    return f"<table><tr>{top}</tr>{lines}</table>{rest}"


def _curves(trajectory: Trajectory) -> str:
    """The first coordinates over time, as a small picture of lines."""
    if len(trajectory) < 2:
        return ""
    some = trajectory[:: max(1, len(trajectory) // _POINTS)]
    t, q = some.t, some.q[:, :_CURVES]
    q = np.where(np.abs(q) < 1e9, q, np.nan)
    if not q.size or not np.isfinite(q).any():
        return ""
    low, high = float(np.nanmin(q)), float(np.nanmax(q))
    span, length = (high - low) or 1.0, float(t[-1] - t[0]) or 1.0
    lines, words = [], []
    for i, name in enumerate(trajectory.q_names[:_CURVES]):
        x = (t - t[0]) / length * _WIDTH
        y = _HEIGHT - (q[:, i] - low) / span * _HEIGHT
        fine = np.isfinite(y)
        dots = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[fine], y[fine], strict=True))
        colour = PALETTE[i % len(PALETTE)]
        lines.append(
            f'<polyline points="{dots}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
        )
        words.append(f'<span style="color: {colour}">{html.escape(name)}</span>')
    left = len(trajectory.q_names) - _CURVES
    words += [f"and {left} more"] * (left > 0)
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT + 4}" viewBox="0 -2 {_WIDTH} {_HEIGHT + 4}">'
        f"{''.join(lines)}</svg><div>q from {low:.4g} to {high:.4g}: {', '.join(words)}</div>"
    )
