"""Judge what joints have besides their geometry: passive forces, and limits."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from skodyn.model.properties import JointLimits, JointProperties

__all__ = ["field_faults", "limit_faults", "property_faults"]

_NOT_NEGATIVE = ("stiffness", "damping", "friction", "stop_stiffness", "stop_damping")


def property_faults(given: Any, has_quaternion: bool) -> list[str]:
    """What is wrong with the passive forces of a joint, as ends of sentences."""
    if not isinstance(given, JointProperties):
        return [f"{given!r} is none; give JointProperties(…)."]
    if faults := field_faults(given, may_be_infinite=("lower", "upper")):
        return faults
    faults = [
        f"{key} is {value!r}; give a number from 0."
        for key, value in ((key, getattr(given, key)) for key in _NOT_NEGATIVE)
        if value < 0.0
    ]
    if given.friction_speed <= 0.0:
        faults.append(f"friction_speed is {given.friction_speed!r}; give a number above 0.")
    if not given.lower < given.upper:
        faults.append(f"lower {given.lower!r} is not below upper {given.upper!r}; swap them.")
    bounded = math.isfinite(given.lower) or math.isfinite(given.upper)
    if has_quaternion and (given.stiffness > 0.0 or bounded):
        faults.append(
            "springs and stops need a joint without quaternions; use damping, or a point spring."
        )
    return faults


def limit_faults(given: JointLimits) -> list[str]:
    """What is wrong with the limits of a joint, as ends of sentences."""
    if faults := field_faults(given, may_be_infinite=tuple(f.name for f in fields(given))):
        return faults
    faults = [
        f"{key} is {getattr(given, key)!r}; give a number from 0."
        for key in ("velocity", "effort")
        if getattr(given, key) < 0.0
    ]
    if not given.lower <= given.upper:
        faults.append(f"lower {given.lower!r} is above upper {given.upper!r}; swap them.")
    return faults


def field_faults(given: Any, may_be_infinite: tuple[str, ...] = ("limit",)) -> list[str]:
    """Every field that does not hold what its annotation says: a name, a truth value, numbers."""
    faults = []
    for entry in fields(given):
        value, remedy = getattr(given, entry.name), ""
        if entry.type == "str":
            remedy = "" if isinstance(value, str) else "give a name"
        elif entry.type == "bool":
            remedy = "" if isinstance(value, bool | np.bool_) else "give True or False"
        else:
            remedy = _number_fault(value, str(entry.type), entry.name in may_be_infinite)
        if remedy:
            faults.append(f"{entry.name} is {value!r}; {remedy}.")
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
