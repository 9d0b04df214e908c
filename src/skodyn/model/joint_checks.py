"""Judge joints: that they are joints, that their parameters are numbers, and their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from skodyn.faults import Fault, Subject, shown
from skodyn.model.builder_entries import BodyDescription
from skodyn.model.columns import read_column
from skodyn.model.joints import Joint
from skodyn.model.name_checks import duplicate_faults, name_problem
from skodyn.model.subjects import joint_subject, subject

__all__ = ["carries_bodies", "check_joint_names", "check_joints", "is_joint", "parameter_faults"]


def is_joint(given: Any) -> bool:
    return isinstance(given, Joint) and type(given) is not Joint


def carries_bodies(given: Any) -> bool:
    """A joint of the tree; one that only closes loops has no kind."""
    return is_joint(given) and hasattr(given, "kind")


def check_joint_names(bodies: Sequence[BodyDescription], faults: list[Fault]) -> list[str]:
    """The name of each joint; one that has none is called like the body it carries."""
    names = []
    for b in bodies:
        given = b.joint.joint_name if is_joint(b.joint) else None
        problem = name_problem(given) if given is not None else None
        if problem:
            whose = subject("Body", b.name, "", "joint")
            faults.append(whose.fault(f"{whose.words}: its joint {problem[0]}", problem[1]))
        names.append(shown(b.name) if problem or not isinstance(b.name, str) else given or b.name)
    of_bodies = Counter(b.name for b in bodies if isinstance(b.name, str))
    repeated = Counter(name for name in names if of_bodies[name] < 2)
    last = {name: b.name for name, b in zip(names, bodies, strict=True)}
    faults.extend(duplicate_faults(repeated, lambda name: joint_subject(name, last[name])))
    return names


def check_joints(bodies: Sequence[BodyDescription], faults: list[Fault]) -> None:
    rows_of: dict[type[Joint], list[int]] = {}
    for k, b in enumerate(bodies):
        if carries_bodies(b.joint):
            rows_of.setdefault(type(b.joint), []).append(k)
        elif is_joint(b.joint):
            remedy = "take another joint, or close a loop with it (add_loop)."
            whose = subject("Body", b.name)
            faults.append(whose.found("joint", b.joint, remedy, ", which carries no body"))
        else:
            remedy = "give a joint such as Revolute(axis=(0, 0, 1))."
            faults.append(subject("Body", b.name).found("joint", b.joint, remedy))
    for joint_type, rows in rows_of.items():
        joints = [bodies[k].joint for k in rows]
        more = f", {joint_type.type_name} joint"
        owners = [subject("Body", bodies[k].name, more, "joint") for k in rows]
        faults.extend(parameter_faults(joint_type, joints, owners))


def parameter_faults(
    joint_type: type[Joint], joints: Sequence[Joint], owners: Sequence[Subject]
) -> list[Fault]:
    """What is wrong with joints of one type.

    Parameters that are numbers at all are left to the joint, which knows what they mean.
    """
    faults: list[Fault] = []
    readable = np.full(len(joints), True)
    for parameter in fields(joint_type):
        if parameter.name != "name":
            values = [getattr(joint, parameter.name) for joint in joints]
            shape = () if np.isscalar(parameter.default) else (3,)
            array, found = read_column(values, shape, parameter.name, lambda k: owners[k])
            faults.extend(found)
            readable &= ~np.isnan(array.reshape(len(joints), -1)).any(axis=1)
    for k in np.flatnonzero(readable).tolist():
        faults.extend(_of_owner(owners[k], fault) for fault in joints[k].faults())
    return faults


def _of_owner(owner: Subject, fault: Fault) -> Fault:
    """What a joint says of one of its parameters, with the name of whose joint it is."""
    path = (*owner.path, *fault.path)
    return replace(fault, problem=f"{owner.words}: {fault.problem}", path=path, body=owner.body)
