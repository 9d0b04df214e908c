"""Judge what joints have besides their geometry: passive forces, and limits.

Which values a field takes is said where it is declared (properties.py); here is what several of
them, or they and the joint, decide together. Files, Python and sweeps are judged by these rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from skodyn.faults import Fault, Subject, shown
from skodyn.model.joints import Joint
from skodyn.model.keys import key_faults
from skodyn.model.properties import JointLimits, JointProperties

__all__ = [
    "count_faults",
    "field_faults",
    "limit_faults",
    "property_faults",
    "quaternion_faults",
    "stops_fault",
]

_NEED_ANGLES = ("stiffness", "rest", "lower", "upper", "stop_stiffness", "stop_damping")
_ACTING = ("stiffness", "lower", "upper")
"""Those without which the others of these do nothing."""


def property_faults(given: Any, joint: Joint, whose: Subject) -> list[Fault]:
    """What is wrong with the passive forces of a joint."""
    if not isinstance(given, JointProperties):
        return [whose.fault(f"{whose}: it is {shown(given)}", "give JointProperties(…).")]
    if faults := key_faults(given, whose):
        return faults
    if faults := count_faults(given, joint, whose):
        return faults
    found = stops_fault(whose, given.lower, given.upper)
    none = JointProperties()
    acting = [key for key in _ACTING if getattr(given, key) != getattr(none, key)]
    return [*([found] if found else []), *quaternion_faults(acting, joint, whose)]


def count_faults(given: JointProperties, joint: Joint, whose: Subject) -> list[Fault]:
    """Lists have one number for each degree of freedom of the joint."""
    wrong = [
        (key, value)
        for key in ("stiffness", "damping")
        if isinstance(value := getattr(given, key), list | tuple | np.ndarray)
        and len(value) != joint.nv
    ]
    remedy = f"give one number, or {joint.nv}: one for each degree of freedom."
    return [whose.found(key, value, remedy) for key, value in wrong]


def stops_fault(whose: Subject, lower: float, upper: float, key: str = "lower") -> Fault | None:
    """A fault unless the lower stop is below the upper one; `key` is the one that was given."""
    if lower < upper:
        return None
    if key == "lower":
        value, why = lower, f", not below upper = {upper}"
    else:
        value, why = upper, f", not above lower = {lower}"
    return whose.found(key, value, "exchange or correct them.", why)


def quaternion_faults(keys: Iterable[str], joint: Joint, whose: Subject) -> list[Fault]:
    """Springs and stops need a joint with angles or lengths; `keys` are those that were given."""
    if joint.nq == joint.nv:
        return []
    what = "is for joints with angles or lengths, but"
    why = f"{what} {whose.joint!r} is {joint.type_name} and has a quaternion"
    remedy = "leave it out, or use a point spring."
    wrong = [key for key in keys if key in _NEED_ANGLES]
    return [whose.fault(f"{whose.named(key)} {why}", remedy, key) for key in wrong]


def limit_faults(given: JointLimits, whose: Subject) -> list[Fault]:
    """What is wrong with the limits of a joint."""
    if faults := key_faults(given, whose):
        return faults
    if given.lower <= given.upper:
        return []
    why = f", above upper = {given.upper}"
    return [whose.found("lower", given.lower, "exchange or correct them.", why)]


def field_faults(
    given: Any, whose: Subject, may_be_infinite: tuple[str, ...] = ("limit",)
) -> list[Fault]:
    """Every field that does not hold what its annotation says: a name, a truth value, numbers."""
    faults = []
    for entry in fields(given):
        value, remedy = getattr(given, entry.name), ""
        kind = getattr(entry.type, "__name__", entry.type)  # a class, without `annotations`
        if kind == "str":
            remedy = "" if isinstance(value, str) else "give a name"
        elif kind == "bool":
            remedy = "" if isinstance(value, bool | np.bool_) else "give True or False"
        else:
            remedy = _number_fault(value, str(kind), entry.name in may_be_infinite)
        if remedy:
            faults.append(whose.found(entry.name, value, f"{remedy}."))
    return faults


def _number_fault(value: Any, kind: str, may_be_infinite: bool) -> str:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return "give numbers"
    if array.dtype.kind not in "iuf" and array.size:
        return "give numbers"
    if kind == "float" and array.ndim:
        return "give one number"
    if kind == "Vector" and array.shape != (3,):
        return "give three numbers"
    if np.isnan(array).any() or (np.isinf(array).any() and not may_be_infinite):
        return "give finite numbers"
    return ""
