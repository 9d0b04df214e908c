"""Models with loops: which algorithms they have, and the words for what can go wrong.

Kinematics, energies and forces that hold no acceleration to account are those of the tree without
its loops. Where the mass matrix is to be inverted, kernels of their own do it
(kernels/loops/embedded_dynamics.py). `loop_functions.py` has the functions that speak of loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.coupled import deliver
from skodyn.dynamics.driver import run
from skodyn.errors import DynamicsError, SkodynError, StateError
from skodyn.kernels.status import LOOP_OPEN, LOOP_RATE, LOOP_SINGULAR
from skodyn.model.loops.loop_geometry import constraint_rows
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["as_tree", "loop_failure"]


def as_tree(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """What the tree without its loops has to say."""
    return deliver(run(algorithm, model.opened, shape, q, v, x, f_ext, None, threads), out)


def loop_failure(
    model: Model, code: int, q: Floats, v: Floats, number: int, where: str
) -> SkodynError | None:
    """The error that a status of loops stands for; None for any other code."""
    if code == LOOP_OPEN:
        name, gap, unit = widest_gap(model, q)
        return StateError(
            f"Loop {name!r}{where} is open by {gap:.3g} {unit} at this q",
            "call sk.assemble(model, q) for the nearest closed one.",
        )
    if code == LOOP_RATE:
        name, rate, unit = widest_gap(model, q, v)
        return StateError(
            f"Loop {name!r}{where} opens with {rate:.3g} {unit}/s at this v",
            "call sk.project_velocity(model, q, v) for the nearest velocity that keeps it closed.",
        )
    if code == LOOP_SINGULAR:
        group = next(g for g in model.groups if model.loop_names[number] in g.constraints)
        names = ", ".join(map(repr, group.constraints))
        return DynamicsError(
            f"The joints of {names}{where} have no inertia in a motion that these loops allow, so "
            "that the mass matrix is singular; give their bodies mass or inertia."
        )
    return None


def widest_gap(model: Model, q: Floats, v: Floats | None = None) -> tuple[str, float, str]:
    """(name, size, unit) of the row that is most open; with v, that opens fastest."""
    worst: tuple[str, float, str] = (model.loop_names[0], -1.0, "m")
    for name, rows in zip(model.loop_names, constraint_rows(model, q), strict=True):
        values = rows.g if v is None else rows.G @ v[rows.dofs]
        for value, angular in zip(np.abs(values).tolist(), rows.angular.tolist(), strict=True):
            if value > worst[1]:
                worst = name, value, "rad" if angular else "m"
    return worst
