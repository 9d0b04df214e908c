"""[ground], [shapes] and [contacts] of a scenario: what can touch, and what does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault, dotted
from skodyn.io.shape_tables import IN_FILES, PLACE, read_shape, shape_keys
from skodyn.model.builder_entries import CollisionDescription
from skodyn.model.contact.collision_checks import check_collisions
from skodyn.model.contact.contact_tables import pack_contacts
from skodyn.model.contact.contacts import Contact
from skodyn.model.model import Model
from skodyn.scenario.tables import At, Tables

__all__ = ["read_contacts", "read_shapes"]


def read_shapes(tables: Tables, top: dict[str, Any], model: Model | None) -> Model | None:
    """The model with the shapes that a scenario gives the ground and bodies besides its own."""
    given: list[tuple[At, CollisionDescription]] = []
    for group in ("ground", "shapes"):
        for name, table in tables.named(top, group):
            found = _shape(tables, (group, name), table)
            if found is not None:
                given.append(((group, name), found))
    if model is None or not given:
        return model
    collisions = dict(model.collisions)
    for at, one in given:
        faults: list[Fault] = []
        checked = check_collisions([one], model.body_names, faults)
        own = collisions.get(str(one.body), ())
        if not faults and any(other.name == one.name for other in own):
            what = f"The model has a shape {one.body}/{one.name} already"
            faults.append(Fault(what, "rename this one."))
        tables.add(replace(fault, path=(*at, *_key_of(fault))) for fault in faults)
        if not faults:
            collisions[str(one.body)] = (*own, *checked[str(one.body)])
    return replace(model, collisions=collisions)


def _shape(tables: Tables, at: At, table: dict[str, Any]) -> CollisionDescription | None:
    keys = dict(table)
    body = GROUND
    if at[0] == "shapes":
        body = keys.pop("body", None)
        if not isinstance(body, str):
            tables.fault(at, f"{dotted(*at)} has no body", "name the body that has this shape.")
    read = read_shape(keys, IN_FILES)
    for key, problem, remedy in read.faults:
        where = (*at, key) if key else at
        tables.fault(where, f"{dotted(*at)}: {problem}", remedy)
    if read.shape is None or not isinstance(body, str):
        return None
    place = {"translation": (0.0, 0.0, 0.0), "rotation": None, **read.place}
    return CollisionDescription(at[1], body, read.shape, place["translation"], place["rotation"])


def read_contacts(tables: Tables, top: dict[str, Any], model: Model | None) -> tuple[Contact, ...]:
    """The contacts, checked against the model; to be used only if no fault was found."""
    contacts = []
    for name, table in tables.named(top, "contacts"):
        before = len(tables.found)
        values = tables.values(Contact, table, ("contacts", name))
        if len(tables.found) == before:
            contacts.append(Contact(**values, name=name))
    # a shape that is at fault is not there, which is not the fault of its contacts
    shapes_stand = not any(fault.path[:1] in (("ground",), ("shapes",)) for fault in tables.found)
    if model is not None and contacts and shapes_stand:
        _check(tables, model, contacts)
    return tuple(contacts)


def _check(tables: Tables, model: Model, contacts: list[Contact]) -> None:
    """Laws and pairs, against the model."""
    try:
        pack_contacts(model, contacts)
    except ModelError as error:
        tables.add(error.faults)


def _key_of(fault: Fault) -> tuple[str | int, ...]:
    """The key of a shape that a fault speaks of, from its path in a model file."""
    return fault.path[-1:] if fault.path and fault.path[-1] in _KEYS else ()


_KEYS = {*PLACE, *(key for kind in IN_FILES.values() for key in shape_keys(kind))}
