"""How much of the force in each joint the three force models explain along a run (SOA slides).

A model that splits f into an inertia term and a residual r explains 1 − ‖r‖/‖f‖ of it. Moments and
forces are weighed by the inverse of the composite inertia R: ‖f‖² = f·R⁻¹f is what f does to all
it carries; where points on a line leave R without an inverse, its pseudo-inverse. Below zero the
inertia term points the wrong way. As in the slides weight is no force of its own: the ground
accelerates upward, so that a body at rest needs Mα with α = −g.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics import sko_model
from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory
from skodyn.model.model import Model
from skodyn.sko import (
    SKOModel,
    articulated_model,
    composite_inertias,
    composite_model,
    inverse_dynamics,
    terminal_model,
)
from skodyn.view.plots import style
from skodyn.view.signals import drawable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MODELS", "explained", "force_picture"]

MODELS = ("terminal", "composite", "articulated")
MOST_ROWS = 200
MOST_BODIES = 8
LOWEST = -0.5


def explained(model: Model, q: Any, v: Any, vdot: Any) -> NDArray[np.float64]:
    """(models, bodies): the part of each joint's force that each model explains, at one state."""
    here = _falling(model, sko_model(model, q, v))
    tau = inverse_dynamics(here, vdot)
    splits = (terminal_model(here, vdot), composite_model(here, vdot), articulated_model(here, tau))
    weighing = [np.linalg.pinv(R, hermitian=True) for R in composite_inertias(here)]
    shares = np.zeros((len(MODELS), here.n_nodes))
    for k in range(here.n_nodes):
        for i, split in enumerate(splits):
            inertia, residual = split.of(k)
            force = inertia + residual
            whole, rest = (float(f @ weighing[k] @ f) for f in (force, residual))
            shares[i, k] = 1.0 - np.sqrt(max(rest, 0.0) / whole) if whole > 0.0 else 1.0
    return shares


def _falling(model: Model, here: SKOModel) -> SKOModel:
    """The same system with gravity as an acceleration of the ground instead of a force in b."""
    a, b = here.a.copy(), here.b.copy()
    for k in range(here.n_nodes):
        linear = slice(here.node_starts[k] + 3, here.node_starts[k] + 6)
        if here.tree.parent[k] < 0:
            a[linear] -= model.gravity
        b[here.node_slice(k)] += here.M[k][:, 3:6] @ model.gravity
    return SKOModel.from_packed(here.tree, here.weights, here.H, here.M, a, b)


def force_picture(trajectory: Trajectory, joints: Sequence[str] = ()) -> Figure:
    """A matplotlib figure with a panel for each body; joints: names or patterns of joints."""
    style.matplotlib_needed()
    model = trajectory.model
    chosen = _chosen(model, joints)
    if "vdot" not in trajectory.channels:
        raise LogError(
            "This log has no accelerations; run again with vdot among the channels of [output]."
        )
    t, q, v, vdot = _some_rows(trajectory)
    shares = np.array([explained(model, *state) for state in zip(q, v, vdot, strict=True)])
    figure = style.new_figure(10.0, 0.8 + 1.5 * len(chosen))
    grid = figure.add_gridspec(len(chosen), 1)
    axes = None
    with style.settings():
        for place, k in zip(grid, chosen, strict=True):
            axes = style.panel(figure, place, model.body_names[k], "explained", axes)
            for i, name in enumerate(MODELS):
                curve = np.maximum(shares[:, i, k], LOWEST)
                axes.plot(t, curve, label=name, color=style.COLOURS[i], linestyle=style.LINES[i])
            axes.set_ylim(LOWEST - 0.05, 1.05)
        for panel in figure.axes:
            style.legend(panel)
        left = _count(model, joints) - len(chosen)
        which = f"{len(chosen)} bodies" + (f", {left} more: choose by --joints" if left else "")
        words = f"{model.name}: part of each joint's force that a force model explains"
        figure.suptitle(f"{words}   ·   {which}", x=0.01, ha="left", fontsize=10.5)
        figure.axes[-1].set_xlabel("time, s")
    return cast("Figure", figure)


def _count(model: Model, patterns: Sequence[str]) -> int:
    """How many bodies there are to choose from."""
    names = model.joint_names
    return sum(not patterns or any(fnmatchcase(n, p) for p in patterns) for n in names)


def _some_rows(trajectory: Trajectory) -> list[NDArray[np.float64]]:
    """t, q, v, v̇ of some rows; those that blew up are left out."""
    states = [np.asarray(trajectory[name]) for name in ("t", "q", "v", "vdot")]
    fine = np.isfinite(states[0])
    for table in states[1:]:
        fine &= np.isfinite(drawable(table)).all(axis=1)
    kept = np.flatnonzero(fine)
    if not len(kept):
        raise LogError(f"{trajectory.label} has no row that can be drawn.")
    rows = kept[np.unique(np.linspace(0, len(kept) - 1, MOST_ROWS).astype(int))]
    return [x[rows] for x in states]


def _chosen(model: Model, patterns: Sequence[str]) -> list[int]:
    """Bodies whose joints match; the first few unless told."""
    if not patterns:
        return list(range(min(model.n_bodies, MOST_BODIES)))
    names = model.joint_names
    found = [k for k, name in enumerate(names) if any(fnmatchcase(name, p) for p in patterns)]
    if not found:
        raise LogError(f"No joint is called {', '.join(patterns)}; joints are {', '.join(names)}.")
    return found[:MOST_BODIES]
