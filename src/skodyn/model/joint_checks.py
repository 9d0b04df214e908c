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

__all__ = ["carries_bodies", "check_joint_names", "check_joints", "is_joint", "parameter_faults"]


def is_joint(given: Any) -> bool:
    return isinstance(given, Joint) and type(given) is not Joint


def carries_bodies(given: Any) -> bool:
    """A joint of the tree; one that only closes loops has no kind."""
    return is_joint(given) and hasattr(given, "kind")


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
        if carries_bodies(b.joint):
            rows_of.setdefault(type(b.joint), []).append(k)
        elif is_joint(b.joint):
            faults.append(
                f"Body {shown(b.name)}: joint is {shown(b.joint)}, which carries no body; take "
                "another joint, or close a loop with it (add_loop)."
            )
        else:
            faults.append(
                f"Body {shown(b.name)}: joint is {shown(b.joint)}; give a joint such as "
                "Revolute(axis=(0, 0, 1))."
            )
    for joint_type, rows in rows_of.items():
        joints = [bodies[k].joint for k in rows]
        owners = [f"Body {shown(bodies[k].name)}" for k in rows]
        faults.extend(parameter_faults(joint_type, joints, owners))


def parameter_faults(
    joint_type: type[Joint], joints: Sequence[Joint], owners: Sequence[str]
) -> list[str]:
    """What is wrong with joints of one type; owners start the sentences.

    Parameters that are numbers at all are left to the joint, which knows what they mean.
    """

    def owner(k: int) -> str:
        return f"{owners[k]}, {joint_type.type_name} joint"

    faults: list[str] = []
    readable = np.full(len(joints), True)
    for parameter in fields(joint_type):
        if parameter.name != "name":
            values = [getattr(joint, parameter.name) for joint in joints]
            shape = () if np.isscalar(parameter.default) else (3,)
            array, found = read_column(values, shape, parameter.name, owner)
            faults.extend(found)
            readable &= ~np.isnan(array.reshape(len(joints), -1)).any(axis=1)
    for k in np.flatnonzero(readable).tolist():
        faults.extend(f"{owner(k)}: {fault}." for fault in joints[k].faults())
    return faults
