"""What contacts do, by contact point; of runs with contacts alone, which give the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import Channel, DataSet
from skodyn.channels.rows import Rows
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.registry import register

__all__ = ["CONTACTS", "labelled", "no_contacts"]

EVENT_PARTS = ("contact", "made", "normal_speed")
"""Of each event, beside its time."""

_TITLES = {
    "contact_force": ("contact force, its size", "N"),
    "contact_gap": ("contact gap", "m"),
    "contact_slip": ("slip speed", "m/s"),
}


def no_contacts(_model: Model | None = None) -> Fault:
    """What a run without contacts answers."""
    problem = "Channel 'contacts' needs contacts, and this run has none"
    return Fault(problem, "give it contacts, or leave it out.", ("channels",), "contacts")


def _compute(rows: Rows) -> dict[str, Any]:
    found = rows.contacts
    return {
        "contact_force": found.force,
        "contact_point": found.point,
        "contact_gap": found.gap,
        "contact_slip": np.where(found.sticks, 0.0, found.slip_speed),
    }


def _draw(name: str, curves: Curves) -> list[Family]:
    """Sizes of forces, gaps, slip speeds; of the points that ever touch."""
    if name not in _TITLES:
        return []
    values = curves.values
    if values.ndim == 3:
        values = np.sqrt(np.sum(values**2, axis=2))
    names = curves.labels["contact"]
    kept = np.ones(len(names), dtype=bool)
    if name != "contact_gap":
        kept = ~np.all(values == 0.0, axis=0)
    still = [label for label, used in zip(names, kept, strict=True) if not used]
    note = f"zero: {', '.join(still[:6])}" + (f" and {len(still) - 6} more" if still[6:] else "")
    some = tuple(label for label, used in zip(names, kept, strict=True) if used)
    title, unit = _TITLES[name]
    return [Family(name, title, unit, some, values[:, kept], note if still else "")]


CONTACTS = register(
    Channel(
        "contacts",
        {
            "contact_force": DataSet(
                ("t", "contact", "axis"), "force on a at each contact point, world axes [N]", "N"
            ),
            "contact_point": DataSet(
                ("t", "contact", "axis"), "contact points, world axes [m]", "m"
            ),
            "contact_gap": DataSet(("t", "contact"), "gap, negative inside [m]", "m"),
            "contact_slip": DataSet(
                ("t", "contact"),
                "speed at which it slips; 0 where friction holds or nothing touches [m/s]",
                "m/s",
            ),
        },
        _compute,
        fault=no_contacts,
        draw=_draw,
        order=11,
    )
)


def labelled(labels: Sequence[str]) -> Channel:
    """The channel of a run that has these contact points; it keeps a table of events, too."""
    return replace(
        CONTACTS,
        labels=lambda _model: {"contact": tuple(labels), "event_part": EVENT_PARTS},
        fault=lambda _model: None,
    )
