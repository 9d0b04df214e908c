"""Judge what joints have besides their geometry: passive forces, and limits."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from skodyn.faults import Fault, Subject
from skodyn.model.properties import JointLimits, JointProperties, stops_fault

__all__ = ["field_faults", "limit_faults", "property_faults"]

_NOT_NEGATIVE = ("stiffness", "damping", "friction", "stop_stiffness", "stop_damping")


def property_faults(given: Any, has_quaternion: bool, whose: Subject) -> list[Fault]:
    """What is wrong with the passive forces of a joint."""
    if not isinstance(given, JointProperties):
        return [whose.fault(f"{whose}: {given!r} is none", "give JointProperties(…).")]
    if faults := field_faults(given, whose, may_be_infinite=("lower", "upper")):
        return faults
    faults = _negative(given, _NOT_NEGATIVE, whose)
    if given.friction_speed <= 0.0:
        speed = given.friction_speed
        faults.append(whose.found("friction_speed", speed, "give a number above 0."))
    if found := stops_fault(whose, given.lower, given.upper):
        faults.append(found)
    bounded = math.isfinite(given.lower) or math.isfinite(given.upper)
    if has_quaternion and (given.stiffness > 0.0 or bounded):
        problem = f"{whose}: springs and stops need a joint without quaternions"
        key = "stiffness" if given.stiffness > 0.0 else "lower"
        faults.append(whose.fault(problem, "use damping, or a point spring.", key))
    return faults


def limit_faults(given: JointLimits, whose: Subject) -> list[Fault]:
    """What is wrong with the limits of a joint."""
    if faults := field_faults(given, whose, tuple(f.name for f in fields(given))):
        return faults
    faults = _negative(given, ("velocity", "effort"), whose)
    if not given.lower <= given.upper:
        why = f", above upper = {given.upper}"
        faults.append(whose.found("lower", given.lower, "exchange or correct them.", why))
    return faults


def _negative(given: Any, keys: tuple[str, ...], whose: Subject) -> list[Fault]:
    values = {key: getattr(given, key) for key in keys}
    remedy = "give a number of at least 0."
    return [whose.found(key, value, remedy) for key, value in values.items() if value < 0.0]


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
