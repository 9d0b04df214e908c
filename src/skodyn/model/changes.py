"""A model with some of its numbers changed: described anew, checked and packed like any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject
from skodyn.model.model import Model
from skodyn.model.model_data import PACKED
from skodyn.model.places import Places, model_places, set_places, unknown_paths
from skodyn.model.plain import described, model_data
from skodyn.model.properties import JointLimits, JointProperties
from skodyn.model.property_checks import limit_faults, property_faults

__all__ = ["CHANGES", "changed", "flattened"]

CHANGES = ("bodies", "joints", "frames", "loops", "couplings", "limits", "gravity")
"""What can be changed; each but gravity is a table of names."""

_REBUILT = (*(name for name in PACKED), "frames", "bent")


@dataclass(frozen=True)
class _Listed:
    """Tables that a model keeps by joint name beside its packed numbers."""

    attribute: str
    cls: type[Any]


_LISTED = {
    "joints": _Listed("joint_properties", JointProperties),
    "limits": _Listed("limits", JointLimits),
}


def changed(
    model: Model,
    changes: Mapping[str, Any],
    paths: Mapping[str, Any] | None = None,
    *,
    repair_inertia: bool = False,
) -> Model:
    """The model with these changes, or a ModelError that lists every fault.

    changes: nested tables by the names of `CHANGES`; keys may be dotted: {"com.z": 0.1}.
    paths: more of them, by whole paths.
    """
    values, faults = dict[str, Any](), list[Fault]()
    for path, value, fault in (*flattened(_checked_paths(paths or {})), *flattened(changes)):
        if fault:
            faults.append(fault)
        elif path in values:
            faults.append(Fault(f"{path!r} is changed twice", "change it once.", (path,)))
        else:
            values[path] = value
    data = model_data(model)
    known: Places = {path: tuple(at) for path, *at in model_places(data)}
    known |= dict.fromkeys(_listed_paths(model), ())
    unknown = unknown_paths(known, values, f"model {model.name!r}")
    faults += [_of_the_joint(model, path) or fault for path, fault in unknown.items()]
    valid = {path: value for path, value in values.items() if path not in unknown}
    overlaps = _overlaps(valid)
    faults += overlaps
    of_tables = {path: value for path, value in valid.items() if path.split(".")[0] in _LISTED}
    numbers = {path: _plain(v) for path, v in valid.items() if path not in of_tables}
    listed = _listed(model, of_tables, faults)
    rebuilt = model
    try:
        if not overlaps:
            builder = described(set_places(data, known, numbers))
            rebuilt = builder.build(repair_inertia=repair_inertia)
    except ModelError as error:
        faults.extend(error.faults)
    if faults:
        raise ModelError(faults)
    packed = {name: getattr(rebuilt, name) for name in _REBUILT}
    if model.bent:
        listed["joint_properties"] = _with_elastic(model, rebuilt, listed["joint_properties"])
    repairs = (*model.repairs, *rebuilt.repairs)
    return replace(model, **packed, **listed, repairs=repairs, packed_with=())


def _with_elastic(before: Model, after: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """Springs between segments are those of the new beam, unless they were changed themselves."""
    elastic = {
        joint for one in before.bent.values() for joint in one.pieces[1:]
        if given[joint] == before.joint_properties[joint]
    }  # fmt: skip
    kept = {name: one for name, one in given.items() if name not in elastic}
    return {**after.joint_properties, **kept}


def flattened(changes: Mapping[str, Any]) -> Iterator[tuple[str, Any, Fault | None]]:
    """(path, value, fault) of every change; a fault if a table is none."""
    for group, table in changes.items():
        if isinstance(table, Mapping):
            yield from ((path, value, None) for path, value in _leaves(table, group))
        elif group == "gravity" or "." in group:
            yield group, table, None
        else:
            remedy = "give a table for each name, such as {'arm': {'mass': 5.0}}."
            yield group, table, Subject().found(group, table, remedy)


def _checked_paths(paths: Any) -> Mapping[str, Any]:
    if isinstance(paths, Mapping) and all(isinstance(path, str) for path in paths):
        return paths
    remedy = "give a dict such as {'bodies.arm.mass': 5.0}."
    raise ModelError([Subject().found("changes", paths, remedy)])


def _leaves(table: Mapping[Any, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{path}.{key}")
        else:
            yield f"{path}.{key}", value


def _plain(value: Any) -> Any:
    """As a file would hold it; what is no number is judged with everything else."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _overlaps(values: Mapping[str, Any]) -> list[Fault]:
    remedy = "change the one or the other."
    return [
        Fault(
            f"{whole!r} is changed as a whole, and {path!r} is a part of it",
            remedy,
            tuple(path.split(".")),
        )
        for path in values
        for whole in [path.rpartition(".")[0]]
        if whole in values
    ]


# ---- what a model keeps by joint name -----------------------------------------------------------


def _listed_paths(model: Model) -> Iterator[str]:
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        for key in fields(JointProperties) if joint.nv else ():
            yield f"joints.{name}.{key.name}"
        for key in fields(JointLimits) if joint.nv == 1 else ():
            yield f"limits.{name}.{key.name}"


def _listed(model: Model, values: Mapping[str, Any], faults: list[Fault]) -> dict[str, Any]:
    """The tables with what has changed in them."""
    found = {}
    for group, table in _LISTED.items():
        before = dict(getattr(model, table.attribute))
        given: dict[str, dict[str, Any]] = {}
        for path, value in values.items():
            if path.startswith(f"{group}."):
                joint, _, key = path.removeprefix(f"{group}.").rpartition(".")
                given.setdefault(joint, {})[key] = value
        for joint, keys in given.items():
            before[joint] = replace(before.get(joint, table.cls()), **keys)
            whose = Subject((group, joint), f"Joint {joint!r}", joint=joint)
            faults.extend(_judged(model, before[joint], whose))
        found[table.attribute] = before
    return found


def _judged(model: Model, given: Any, whose: Subject) -> list[Fault]:
    if isinstance(given, JointLimits):
        return limit_faults(given, whose)
    return property_faults(given, model.joints[model.joint_index(whose.joint)], whose)


def _of_the_joint(model: Model, path: str) -> Fault | None:
    """A fault for who looks for a parameter of a joint among its passive forces."""
    group, _, rest = path.partition(".")
    joint, _, key = rest.rpartition(".")
    if group != "joints" or joint not in model.joint_names:
        return None
    k = model.joint_index(joint)
    if key.split(".")[0] not in (f.name for f in fields(model.joints[k])):
        return None
    meant = f"bodies.{model.body_names[k]}.joint.{key}"
    problem = f"{path!r} is not a passive force, but a parameter of the joint"
    return Fault(problem, f"change {meant!r}.", tuple(path.split(".")), joint=joint)
