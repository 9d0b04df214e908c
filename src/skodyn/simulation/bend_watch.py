"""What is watched of flexible bodies while a run goes on: how far they bend, and the step."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.assembled_frequency import RK4_LIMIT, highest_frequency
from skodyn.dynamics.flexible_nodes import deflections
from skodyn.model.flexible.beams import Beam
from skodyn.model.flexible.modal_body import ROOT, TIP
from skodyn.model.model import Model
from skodyn.simulation.elements import Forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.typing import Floats

__all__ = ["BendWatch", "notes_before"]

FAR = 0.15
"""Part of its length beyond which a body bends further than its modes are for."""


class BendWatch:
    """The largest deflection of every flexible body, of all rows so far."""

    def __init__(
        self, model: Model, settings: IntegratorSettings, q: Floats, forces: Forces
    ) -> None:
        self.model = model
        self.notes = notes_before(model, settings, np.array(q), forces)
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
            "warnings": [*far, *self.notes],
        }


def notes_before(
    model: Model, settings: IntegratorSettings, q: Floats, forces: Forces
) -> list[str]:
    """What can be said before a run begins, from q on: of the nodes that forces act at, and of the
    step, one sentence each."""
    if not model.flexible:
        return []
    return [*_load_notes(model, forces), *_step_note(model, settings, q)]


def _load_notes(model: Model, forces: Forces) -> list[str]:
    """Nodes that take a force, and whose static shapes are not among the modes."""
    frames = {
        name: (body, hanging.node)
        for body, bent in model.bent.items()
        for name, hanging in bent.frames.items()
    }
    ends = [
        frames.get(body, (body, getattr(one, f"node{end}", "")))
        for one in forces.elements
        for end in ("", "_a", "_b")
        if (body := getattr(one, f"body{end}", None)) is not None
    ]
    return [
        f"a force acts at node {node!r} of body {body!r}: its static shape is not among the modes; "
        f'add loaded = ["{node}"]'
        for body, node in dict.fromkeys(ends)
        if node and body in model.flexible and not _has_static_shapes(model, body, node)
    ]


def _has_static_shapes(model: Model, body: str, node: str) -> bool:
    """Are they among the modes? Of matrices and saved bodies nobody knows; a root is held."""
    bent = model.bent.get(body)
    if bent is None or not isinstance(bent.described, Beam):
        return True
    parts = {ROOT: 0.0, TIP: 1.0, **bent.described.nodes}
    known = {ROOT, *bent.described.loaded, *(one.node for one in bent.carried.values())}
    return float(parts[node]) in {float(parts[one]) for one in known}


def _step_note(model: Model, settings: IntegratorSettings, q: Floats) -> list[str]:
    """Of steps that are too long for RK4."""
    if settings.method != "rk4":
        return []
    frequency = highest_frequency(model, q)
    longest = RK4_LIMIT / frequency
    if settings.dt <= longest:
        return []
    return [
        f"dt = {settings.dt:.3g} s is too long for rk4 with vibrations of "
        f"{frequency / (2.0 * np.pi):.4g} Hz; use dt up to {longest:.2g} s, or implicit_midpoint"
    ]
