"""<drake:proximity_properties> of a <collision>: stiffness, dissipation and friction of a shape.

Drake's point contact is the law of docs/contact.md with exponent 1, so its numbers are taken as
they are. What it says of hydroelastic contact is another model, and noted.
"""

from __future__ import annotations

from typing import Any

from skodyn.faults import Subject
from skodyn.io.urdf.values import AttributeReader
from skodyn.io.xml_source import Element
from skodyn.model.shapes import Proximity

__all__ = ["read_proximity"]

_USED = {
    "drake:point_contact_stiffness": "stiffness",
    "drake:hunt_crossley_dissipation": "dissipation",
    "drake:mu_dynamic": "kinetic",
    "drake:mu_static": "static",
}
_HYDROELASTIC = (
    "drake:mesh_resolution_hint", "drake:hydroelastic_modulus", "drake:rigid_hydroelastic",
    "drake:compliant_hydroelastic", "drake:soft_hydroelastic", "drake:hydroelastic_margin",
    "drake:relaxation_time",
)  # fmt: skip


def read_proximity(values: AttributeReader, element: Element, owner: Subject) -> Proximity:
    """The properties of a shape; what is wrong with them is among the findings."""
    values.check(element, owner, once=(*_USED, *_HYDROELASTIC))
    found: dict[str, Any] = {}
    for child in element.children:
        if child.tag in _HYDROELASTIC:
            values.findings.unused(f"<{child.tag}> is not used: contacts are at points", str(owner))
        elif child.tag in _USED:
            values.check(child, owner, attributes=("value",))
            number = values.number(child, "value", owner, least=0.0)
            if number is not None:
                found[_USED[child.tag]] = number
    return Proximity(**found)
