"""What controllers integrate along with the state: the errors of servos, a law's own quantities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import Channel, DataSet
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.registry import register

__all__ = ["INTEGRALS", "labelled_integrals", "no_integrals"]


def no_integrals(_model: Model | None = None) -> Fault:
    """What a run without any answers."""
    problem = "Channel 'integrals' needs integrals of controllers, and this run has none"
    remedy = "give a servo ki, or a controller integrals, or leave it out."
    return Fault(problem, remedy, ("channels",), "integrals")


def _draw(name: str, curves: Curves) -> list[Family]:
    labels = curves.labels["integral"]
    return [Family(name, "integrals of controllers", "", labels, curves.values)]


INTEGRALS = register(
    Channel(
        "integrals",
        {"integrals": DataSet(("t", "integral"), "integrals of controllers; rad s, m s, or own")},
        lambda rows: {"integrals": rows.integrals},
        fault=no_integrals,
        draw=_draw,
        order=13,
    )
)


def labelled_integrals(labels: Sequence[str]) -> Channel:
    """The channel of a run that has these."""
    named = tuple(labels)
    return replace(INTEGRALS, labels=lambda _model: {"integral": named}, fault=lambda _model: None)
