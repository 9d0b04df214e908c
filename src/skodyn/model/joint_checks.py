"""Judge joints: that they are joints, that their parameters are numbers, and their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from skodyn.model.columns import read_column, shown
from skodyn.model.description import BodyDescription
from skodyn.model.joints import Joint
from skodyn.model.name_checks import duplicate_faults, text_fault

__all__ = ["check_joint_names", "check_joints", "is_joint"]


def is_joint(given: Any) -> bool:
    return isinstance(given, Joint) and type(given) is not Joint


def check_joint_names(bodies: Sequence[BodyDescription], faults: list[str]) -> list[str]:
    """The name of each joint; one that has none is called like the body it carries."""
    names = []
    for b in bodies:
        given = b.joint.joint_name if is_joint(b.joint) else None
        fault = text_fault(given) if given is not None else ""
        if fault:
            faults.append(f"Body {shown(b.name)}: its joint {fault}")
        names.append(shown(b.name) if fault or not isinstance(b.name, str) else given or b.name)
    of_bodies = Counter(b.name for b in bodies if isinstance(b.name, str))
    repeated = Counter(name for name in names if of_bodies[name] < 2)
    faults.extend(duplicate_faults("Joint", repeated))
    return names


def check_joints(bodies: Sequence[BodyDescription], faults: list[str]) -> None:
    rows_of: dict[type[Joint], list[int]] = {}
    for k, b in enumerate(bodies):
        if is_joint(b.joint):
            rows_of.setdefault(type(b.joint), []).append(k)
        else:
            faults.append(
                f"Body {shown(b.name)}: joint is {shown(b.joint)}; give a joint such as "
                "Revolute(axis=(0, 0, 1))."
            )
    for joint_type, rows in rows_of.items():
        _check_type(joint_type, [bodies[k] for k in rows], faults)


def _check_type(
    joint_type: type[Joint], bodies: Sequence[BodyDescription], faults: list[str]
) -> None:
    """Parameters that are numbers at all are left to the joint, which knows what they mean."""

    def owner(k: int) -> str:
        return f"Body {shown(bodies[k].name)}, {joint_type.type_name} joint"

    readable = np.full(len(bodies), True)
    for parameter in fields(joint_type):
        if parameter.name != "name":
            values = [getattr(b.joint, parameter.name) for b in bodies]
            shape = () if np.isscalar(parameter.default) else (3,)
            array, found = read_column(values, shape, parameter.name, owner)
            faults.extend(found)
            readable &= ~np.isnan(array.reshape(len(bodies), -1)).any(axis=1)
    for k in np.flatnonzero(readable).tolist():
        faults.extend(f"{owner(k)}: {fault}." for fault in bodies[k].joint.faults())
