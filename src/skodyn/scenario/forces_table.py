"""[joints], [controllers], [forces] and [motions] of a scenario: what acts besides gravity, and
what joints are made to follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skodyn.channels.files import absolute, problem_of
from skodyn.faults import Subject, dotted, shown
from skodyn.model.keys import (
    BODY,
    BODY_OR_WORLD,
    JOINT,
    MOVING_JOINT,
    NOT_NEGATIVE,
    POSITIVE,
    keys_of,
)
from skodyn.model.property_checks import count_faults, quaternion_faults, stops_fault
from skodyn.scenario.names import ModelNames
from skodyn.scenario.schema import element_types
from skodyn.scenario.tables import At, Tables, TableValues
from skodyn.simulation.control.control_tables import timing_fault
from skodyn.simulation.element import ELEMENTS, Element
from skodyn.simulation.element_kinds.controller import FRAMES, FUNCTION
from skodyn.simulation.elements import Forces, JointProperties
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat, rate_fault
from skodyn.wording import Spelling

__all__ = ["check_sampling", "read_forces", "read_thermostat"]


def read_forces(
    tables: Tables, top: dict[str, Any], names: ModelNames | None, folder: Path, seed: int
) -> Forces:
    """What acts; to be used only if no fault was found.

    folder: where files of control laws are looked for; they are not run.
    """
    joints = _joints(tables, top, names)
    elements = (
        *_elements(tables, top, "controllers", names, folder),
        *_elements(tables, top, "forces", names, folder),
    )
    motions = tuple(_elements(tables, top, "motions", names, folder))
    _check_motions(tables, motions)
    return Forces(joints, elements, motions=motions, seed=seed)


def check_sampling(tables: Tables, top: dict[str, Any], integrator: IntegratorSettings) -> None:
    """Samples that do not go with the steps of the method."""
    tables_of = top.get("controllers")
    for name, table in tables_of.items() if isinstance(tables_of, dict) else ():
        if not isinstance(table, dict):
            continue  # told already
        given = {key: table.get(key, 0.0) for key in ("sample_time", "delay")}
        if POSITIVE.read(given["sample_time"]) and NOT_NEGATIVE.read(given["delay"]) is not None:
            at = ("controllers", name)
            if found := timing_fault(given["sample_time"], given["delay"], integrator):
                tables.fault((*at, found[0]), f"{dotted(*at)} {found[1]}", found[2])


def _check_motions(tables: Tables, motions: Sequence[Any]) -> None:
    """What no motion has a fault of by itself."""
    driven: set[str] = set()
    for motion in motions:
        if motion.joint in driven:
            tables.fault(
                ("motions",), f"Joint {motion.joint!r} has two motions", "keep one of them."
            )
        driven.add(motion.joint)


def read_thermostat(
    tables: Tables, top: dict[str, Any], seed: int, integrator: IntegratorSettings
) -> AndersenThermostat | None:
    """What keeps the temperature, if anything; to be used only if no fault was found."""
    if "thermostat" not in top:
        return None
    at = ("thermostat",)
    before = len(tables.found)
    values = tables.values(AndersenThermostat, tables.table(top, *at), at)
    if integrator.adaptive:
        what = "thermostat acts between steps of equal length, which "
        what += f"{integrator.method!r} does not take"
        tables.fault(at, what, "use another method, or leave it out.")
    elif "rate" in values and (why := rate_fault(values["rate"], integrator.dt, "thermostat.rate")):
        tables.add([why])
    return AndersenThermostat(**values, seed=seed) if len(tables.found) == before else None


# ---- joints -------------------------------------------------------------------------------------

_NONE = JointProperties()
_NEEDS = {
    "rest": ("stiffness",),
    "friction_speed": ("friction",),
    "stop_stiffness": ("lower", "upper"),
    "stop_damping": ("lower", "upper"),
}


def _joints(
    tables: Tables, top: dict[str, Any], names: ModelNames | None
) -> dict[str, JointProperties]:
    given = dict(tables.named(top, "joints"))
    spoken_for = names.spoken_for(given, ("joints",)) if names else {}
    of_file = names.model.joint_properties if names else {}
    properties: dict[str, JointProperties] = dict(of_file)
    for key, table in given.items():
        at = ("joints", key)
        values = tables.values(JointProperties, table, at)
        joints = spoken_for.get(key, [])
        _check_properties(tables, values, at, [of_file.get(joint, _NONE) for joint in joints])
        for joint in joints:
            properties[joint] = replace(of_file.get(joint, _NONE), **values)
        if names:
            _check_counts(tables, names, properties, at, joints)
            _check_quaternions(tables, names, values, at, joints)
    return properties


def _check_properties(
    tables: Tables, values: TableValues, at: At, before: Sequence[JointProperties]
) -> None:
    """`before`: what the model's file says of the same joints, which the table adds to."""
    for key in (key for key in values if key in _NEEDS):
        needs = _NEEDS[key]
        known = any(getattr(one, n) != getattr(_NONE, n) for one in before for n in needs)
        if values.given.isdisjoint(needs) and not known:
            remedy = f"give {' or '.join(needs)} too, or leave it out"
            tables.fault((*at, key), f"{dotted(*at, key)} has no effect by itself", f"{remedy}.")
    for one in before or [_NONE]:
        lower, upper = values.get("lower", one.lower), values.get("upper", one.upper)
        key = "lower" if "lower" in values else "upper"
        if found := stops_fault(Subject(at), lower, upper, key):
            tables.add([found])
            break


def _check_counts(
    tables: Tables,
    names: ModelNames,
    given: Mapping[str, JointProperties],
    at: At,
    joints: list[str],
) -> None:
    for name in joints:
        faults = count_faults(given[name], names.joints[name], Subject(at, joint=name))
        if faults:
            tables.add(faults)
            break


def _check_quaternions(
    tables: Tables, names: ModelNames, values: TableValues, at: At, joints: list[str]
) -> None:
    turning = [name for name in joints if names.joints[name].nq != names.joints[name].nv]
    for name in turning[:1]:
        tables.add(quaternion_faults(values, names.joints[name], Subject(at, joint=name)))


# ---- controllers and forces ---------------------------------------------------------------------


def _elements(
    tables: Tables,
    top: dict[str, Any],
    group: str,
    names: ModelNames | None,
    folder: Path,
) -> Iterator[Any]:
    for name, table in tables.named(top, group):
        at = (group, name)
        cls = _type_of(tables, table, at, group)
        if cls is None:
            continue
        before = len(tables.found)
        values = tables.values(cls, table, at, ("type",))
        if names:
            _check_names(names, cls, values, at)
        _find_functions(tables, cls, values, at, folder)
        _check(tables, cls, values, at)
        if len(tables.found) == before:
            yield cls(**values)


def _type_of(tables: Tables, table: dict[str, Any], at: At, group: str) -> type[Element] | None:
    given = table.get("type")
    found = ELEMENTS.get(given) if isinstance(given, str) and given else None
    if found is not None and found.table == group:
        return found
    types = element_types(group)
    remedy = Spelling(types).remedy(given, f"give one of {', '.join(types)}")
    if "type" in table:
        tables.fault((*at, "type"), f"{dotted(*at, 'type')} is {shown(given)}", remedy)
    else:
        tables.fault(at, f"{dotted(*at)} has no type", remedy)
    return None


def _check(tables: Tables, kind: type[Element], values: TableValues, at: At) -> None:
    """What several values decide together."""
    given = dict.fromkeys(values.given, ()) | dict(values)  # () for what does not fit
    for key, what, remedy in kind.check(given):
        where = (*at, key) if key else at
        tables.fault(where, f"{dotted(*at)} {what}", remedy)


def _find_functions(
    tables: Tables, kind: type[Element], values: TableValues, at: At, folder: Path
) -> None:
    """Functions of files, wherever they are seen from; whether they exist, their text tells."""
    for name in (name for name, key in keys_of(kind).items() if key.kind is FUNCTION):
        if name in values:
            if wrong := problem_of(values[name], folder):
                tables.fault((*at, name), f"{dotted(*at, name)} is {wrong[0]}", wrong[1])
            values[name] = absolute(values[name], folder)


def _check_names(names: ModelNames, kind: type[Element], values: TableValues, at: At) -> None:
    """Joints and bodies that there are none of."""
    for name, key in keys_of(kind).items():
        if name in values and key.kind is JOINT:
            names.one_dof((*at, name), values[name])
        elif name in values and key.kind is MOVING_JOINT:
            names.moving((*at, name), values[name])
        elif name in values and key.kind in (BODY, BODY_OR_WORLD):
            names.body((*at, name), values[name], ground=key.kind is BODY_OR_WORLD)
        elif name in values and key.kind is FRAMES:
            for frame in values[name]:
                names.body((*at, name), frame, ground=False)
