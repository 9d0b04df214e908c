"""Which numbers behind the velocities are integrals of controllers, and what they are called."""

from __future__ import annotations

from collections import Counter

from skodyn.errors import ModelError
from skodyn.model.model import Model
from skodyn.simulation.control.control_records import INTEGRALS_COUNT, OWN_INTEGRALS
from skodyn.simulation.element import Element, Packed
from skodyn.simulation.elements import Controller, FixmanForce, Forces
from skodyn.simulation.force_tables import ForceTables

__all__ = ["has_integrals", "named_integrals"]


def has_integrals(model: Model, forces: Forces) -> bool:
    """Does anything in this run integrate?"""
    try:
        return any(_count(model, element) for element in forces.elements)
    except ModelError:  # told where all forces are packed
        return True


def named_integrals(model: Model, forces: Forces, tables: ForceTables) -> dict[str, int]:
    """The place in y of each by its name: the joint of a servo, a controller's function."""
    found: list[tuple[str, int]] = []
    at = model.nv
    for element in forces.elements:
        if element.control_law(model) is None:
            count = _count(model, element)
            name = str(getattr(element, "joint", element.type_name))
            found += _numbered(name, at, count)
            at += count
    for controller, record in zip(tables.control.controllers, tables.control.records, strict=True):
        first, count = model.nv + record[OWN_INTEGRALS], record[INTEGRALS_COUNT]
        found += _numbered(controller.label, first, count)
    total, seen = Counter(name for name, _ in found), Counter[str]()
    places = {}
    for name, place in found:
        seen[name] += 1
        places[f"{name} ({seen[name]})" if total[name] > 1 else name] = place
    return places


def _numbered(name: str, first: int, count: int) -> list[tuple[str, int]]:
    if count == 1:
        return [(name, first)]
    return [(f"{name}[{i}]", first + i) for i in range(count)]


def _count(model: Model, element: Element) -> int:
    law = element.control_law(model)
    if isinstance(law, Controller):
        return law.integrals
    if isinstance(element, FixmanForce):
        return 0
    return int(Packed(*element.pack(model.uncoupled)).integrals)
