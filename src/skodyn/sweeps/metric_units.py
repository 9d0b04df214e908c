"""Units of metrics, for the axes of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skodyn.channels.joint_curves import column_units
from skodyn.io.schema import Names
from skodyn.model.model import Model

__all__ = ["unit_of"]

_OF_WHOLE = {
    "energy": "J",
    "kinetic": "J",
    "potential": "J",
    "work": "J",
    "contact_loss": "J",
}
_OF_PART = {
    "momentum.angular.": "N·m·s",
    "momentum.linear.": "N·s",
    "com.": "m",
    "position.": "m",
}
_OF_CONTACT = {"force": "N", "gap": "m", "slip": "m/s"}


def unit_of(metric: Mapping[str, Any], model: Model) -> str:
    """The unit of a metric as an index holds it; empty if it has none, or nobody said it.

    model: that of a run; of joints that mimic others, metrics have the coordinates, too.
    """
    kind, of = metric["kind"], str(metric.get("of", ""))
    if kind == "crossing":
        return "s"
    if kind == "energy_drift":
        return ""
    if of in _OF_WHOLE:
        return _OF_WHOLE[of]
    if of.startswith("contact."):
        return _OF_CONTACT.get(of.rpartition(".")[2], "")
    for start, unit in _OF_PART.items():
        if of.startswith(start):
            return unit
    channel, _, name = of.partition(".")
    if channel not in ("q", "v"):
        return ""
    every = model.uncoupled
    labels = Names.of(every).labels[f"{channel}_name"]
    return dict(zip(labels, column_units(every, channel), strict=True)).get(name, "")
