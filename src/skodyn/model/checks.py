"""Judge a description: every fault at once, one sentence each, with name, value and remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.errors import ModelError, TopologyError
from skodyn.model.columns import Floats, read_column, read_rotations
from skodyn.model.description import BodyDescription, FrameDescription
from skodyn.model.inertia_checks import check_inertias, nearest_valid
from skodyn.model.joints import Joint
from skodyn.topology import Tree

__all__ = ["CheckedModel", "check"]


@dataclass(frozen=True)
class CheckedModel:
    """A description found sound: columns of numbers, in the order the bodies were given."""

    tree: Tree
    joints: tuple[Joint, ...]
    joint_names: tuple[str, ...]
    gravity: Floats
    rotation: Floats
    translation: Floats
    mass: Floats
    com: Floats
    inertia: Floats
    frame_rotation: Floats
    frame_translation: Floats
    repairs: tuple[str, ...]


def check(
    gravity: Any,
    bodies: Sequence[BodyDescription],
    frames: Sequence[FrameDescription],
    repair_inertia: bool,
) -> CheckedModel:
    """The checked columns, or a ModelError that lists every fault."""
    faults: list[str] = [] if bodies else ["The model has no body; add at least one."]

    def body(k: int) -> str:
        return f"Body {bodies[k].name!r}"

    def frame(k: int) -> str:
        return f"Frame {frames[k].name!r}"

    names_ok = _name_faults("Body", [b.name for b in bodies], faults)
    tree = _tree(bodies, faults) if names_ok else None
    joint_names = _joint_names(bodies, faults)
    _joint_faults(bodies, faults)

    def column(values: list[Any], shape: tuple[int, ...], label: str, owner: Any) -> Floats:
        array, found = read_column(values, shape, label, owner)
        faults.extend(found)
        return array

    field = gravity.tolist() if isinstance(gravity, np.ndarray) else gravity
    gravity_row = column([field], (3,), "gravity", lambda _: "The model")
    translation = column([b.translation for b in bodies], (3,), "translation", body)
    mass = column([b.mass for b in bodies], (), "mass", body)
    com = column([b.com for b in bodies], (3,), "com", body)
    inertia = column([_full_inertia(b.inertia) for b in bodies], (3, 3), "inertia", body)
    rotation, found = read_rotations([b.rotation for b in bodies], body)
    faults.extend(found)

    faults.extend(
        f"{body(k)}: mass is {mass[k]:.6g}, which is negative; give its mass in kilograms."
        for k in np.flatnonzero(mass < 0.0).tolist()
    )
    repairs = _judge_inertias(inertia, body, repair_inertia, faults)
    if tree is not None:
        _massless_faults(tree, bodies, mass, inertia, faults)

    _name_faults("Frame", [f.name for f in frames], faults)
    known = {b.name for b in bodies if isinstance(b.name, str)} | {GROUND}
    faults.extend(
        f"{frame(k)}: there is no body {f.body!r} to fix it in; name a body of the model."
        for k, f in enumerate(frames)
        if not isinstance(f.body, str) or f.body not in known
    )
    frame_translation = column([f.translation for f in frames], (3,), "translation", frame)
    frame_rotation, found = read_rotations([f.rotation for f in frames], frame)
    faults.extend(found)

    if faults or tree is None:
        raise ModelError(faults)
    return CheckedModel(
        tree=tree,
        joints=tuple(b.joint for b in bodies),
        joint_names=tuple(joint_names),
        gravity=gravity_row[0],
        rotation=rotation,
        translation=translation,
        mass=mass,
        com=com,
        inertia=0.5 * (inertia + inertia.transpose(0, 2, 1)),
        frame_rotation=frame_rotation,
        frame_translation=frame_translation.reshape(-1, 3),
        repairs=repairs,
    )


def _name_faults(what: str, names: list[Any], faults: list[str]) -> bool:
    """Add faults of type and emptiness; say whether every name is at least a string."""
    sound = True
    for k, name in enumerate(names):
        if not isinstance(name, str):
            faults.append(f"{what} number {k + 1} is named {name!r}; give a text.")
            sound = False
        elif what == "Frame" and not name.strip():
            faults.append(f"Frame number {k + 1} has an empty name; give it one.")
    if what == "Frame" and sound:
        faults.extend(_duplicate_faults(what, names))
    return sound


def _duplicate_faults(what: str, names: list[str]) -> list[str]:
    return [
        f"{what} name {name!r} is used {count} times; give each its own name."
        for name, count in Counter(names).items()
        if count > 1
    ]


def _tree(bodies: Sequence[BodyDescription], faults: list[str]) -> Tree | None:
    bad_parents = [b for b in bodies if not isinstance(b.parent, str)]
    if bad_parents:
        faults.extend(
            f"Body {b.name!r}: parent is {b.parent!r}; name a body, or {GROUND!r}."
            for b in bad_parents
        )
        return None
    try:
        return Tree.from_named_parents([b.name for b in bodies], [b.parent for b in bodies], GROUND)
    except TopologyError as error:
        faults.extend(error.faults)
        return None


def _joint_names(bodies: Sequence[BodyDescription], faults: list[str]) -> list[str]:
    names = []
    for b in bodies:
        given = b.joint.joint_name if isinstance(b.joint, Joint) else None
        if given is not None and (not isinstance(given, str) or not given.strip()):
            faults.append(f"Body {b.name!r}: its joint is named {given!r}; give a text.")
            given = None
        names.append(given if given is not None else str(b.name))
    body_names = Counter(str(b.name) for b in bodies)
    faults.extend(
        fault
        for fault in _duplicate_faults("Joint", names)
        if not any(count > 1 and repr(name) in fault for name, count in body_names.items())
    )
    return names


def _joint_faults(bodies: Sequence[BodyDescription], faults: list[str]) -> None:
    for b in bodies:
        if not isinstance(b.joint, Joint):
            faults.append(
                f"Body {b.name!r}: joint is {b.joint!r}; give a joint such as "
                "Revolute(axis=(0, 0, 1))."
            )
            continue
        where = f"Body {b.name!r}, {b.joint.type_name} joint"
        faults.extend(f"{where}: {fault}." for fault in b.joint.faults())


def _full_inertia(given: Any) -> Any:
    """Three principal moments stand for a diagonal matrix; anything else is left to the column."""
    try:
        if len(given) == 3 and not any(hasattr(x, "__len__") for x in given):
            a, b, c = given
            return [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
    except TypeError:
        pass
    return given


def _judge_inertias(
    inertia: Floats, owner: Callable[[int], str], repair: bool, faults: list[str]
) -> tuple[str, ...]:
    finite = np.where(np.isfinite(inertia).all(axis=(1, 2), keepdims=True), inertia, 0.0)
    found = check_inertias(finite, owner)
    if not repair:
        faults.extend(found.values())
        return ()
    repairs = []
    for k, fault in found.items():
        before = inertia[k].tolist()
        inertia[k] = nearest_valid(inertia[k])
        reason = fault.split("; ")[0]
        repairs.append(f"{reason}; replaced {before} by {inertia[k].tolist()}.")
    return tuple(repairs)


def _massless_faults(
    tree: Tree,
    bodies: Sequence[BodyDescription],
    mass: Floats,
    inertia: Floats,
    faults: list[str],
) -> None:
    """A body that can move must carry something with inertia: itself or what hangs from it."""
    order = tree.order
    massive = (mass[order] > 0.0) | (np.abs(inertia[order]).max(axis=(1, 2)) > 0.0)
    before = np.concatenate(([0], np.cumsum(massive)))
    nothing = before[tree.subtree_end] == before[:-1]
    for k in np.flatnonzero(nothing).tolist():
        described = bodies[order[k]]
        if isinstance(described.joint, Joint) and described.joint.nv > 0:
            faults.append(
                f"Body {described.name!r}: it can move ({described.joint.type_name} joint) but "
                "neither it nor anything it carries has mass or inertia; give it a mass, or fix it."
            )
