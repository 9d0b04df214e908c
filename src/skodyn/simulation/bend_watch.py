"""What is watched of flexible bodies while a run goes on: how far they bend, and the step."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.assembled_frequency import RK4_LIMIT, highest_frequency
from skodyn.dynamics.flexible_nodes import deflections
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.simulation.settings import IntegratorSettings

__all__ = ["BendWatch", "step_note"]

FAR = 0.15
"""Part of its length beyond which a body bends further than its modes are for."""


class BendWatch:
    """The largest deflection of every flexible body, of all rows so far."""

    def __init__(self, model: Model, settings: IntegratorSettings, q: Floats) -> None:
        self.model = model
        self.note = step_note(model, settings, np.array(q))
        self.largest = dict.fromkeys(model.flexible, (0.0, 0.0))

    def look(self, t: Floats, q: Floats) -> None:
        """Take rows in."""
        if not len(t):
            return
        for name, (most, _) in self.largest.items():
            moved = deflections(self.model, q, name)
            parts = np.sqrt((moved**2).sum(axis=-1)).max(axis=-1) / self.model.flexible[name].length
            worst = int(np.argmax(parts))
            if parts[worst] > most:
                self.largest[name] = float(parts[worst]), float(t[worst])

    def catch_up(self, t: Floats, q: Floats) -> None:
        """Take in the rows that a log has already."""
        self.look(t, np.ascontiguousarray(q))

    def summary(self) -> dict[str, Any]:
        far = [
            f"body {name!r} bends by {100 * part:.0f} % of its length at t = {t:.6g} s; modal "
            "bodies are for small deflections; use segments"
            for name, (part, t) in self.largest.items()
            if part > FAR
        ]
        return {
            "deflection_max": max(part for part, _ in self.largest.values()),
            "warnings": [*far, *self.note],
        }


def step_note(model: Model, settings: IntegratorSettings, q: Floats) -> list[str]:
    """What is wrong with the step before a run begins, from q on: nothing, or one sentence."""
    if settings.method != "rk4" or not model.flexible:
        return []
    frequency = highest_frequency(model, q)
    longest = RK4_LIMIT / frequency
    if settings.dt <= longest:
        return []
    return [
        f"dt = {settings.dt:.3g} s is long for rk4 beside vibrations of "
        f"{frequency / (2.0 * np.pi):.4g} Hz; use dt up to {longest:.2g} s, or implicit_midpoint"
    ]
