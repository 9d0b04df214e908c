"""Judge flexible bodies together with what is around them: joints, nodes, loops, shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.faults import Fault, Subject, shown
from skodyn.model.builder_entries import BodyDescription
from skodyn.model.flexible.beams import Beam
from skodyn.model.flexible.modal_body import FlexibleBody
from skodyn.model.joint_checks import carries_bodies
from skodyn.model.subjects import subject
from skodyn.typing import Floats
from skodyn.wording import Spelling, listed

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = ["axis_fault", "besides_faults", "free_fault", "node_faults", "reference_faults"]

_WEIGHT = {"mass": 0.0, "com": (0.0, 0.0, 0.0), "inertia": ((0.0,) * 3,) * 3}


def besides_faults(body: BodyDescription, whose: Subject) -> list[Fault]:
    """mass, com and inertia follow from what bends."""
    remedy = "leave it out, or the table flexible."
    what = "follows from the flexible body"
    return [
        whose.fault(f"{whose.words}: {key} {what}", remedy, key)
        for key, default in _WEIGHT.items()
        if not _same(getattr(body, key), default)
    ]


def _same(given: Any, default: Any) -> bool:
    return isinstance(given, float | int | tuple) and given == default


def node_faults(
    one: Any, owner: Any, nodes: Mapping[str, Sequence[str]], whose: Subject
) -> list[Fault]:
    """at names a node of a flexible body."""
    if one.at is None or not isinstance(owner, str):  # such an owner is a fault of its own
        return []
    if owner not in nodes:
        what = f"{whose.named('at')} is {shown(one.at)}, but {shown(owner)} is rigid"
        return [whose.fault(what, "leave it out, or let that body be flexible.", "at", one.at)]
    known = nodes[owner]
    if isinstance(one.at, str) and one.at in known:
        return []
    guess = one.at if isinstance(one.at, str) else None
    remedy = Spelling(known).remedy(guess, f"{owner!r} has {listed(list(known), 6)}")
    return [whose.fault(f"{whose.named('at')} is {shown(one.at)}", remedy, "at", one.at)]


def reference_faults(described: ModelBuilder, flexible: Mapping[str, Any]) -> list[Fault]:
    """What cannot be fixed to a body that bends, and what does not go together with modes."""
    faults = []
    for loop in described.loops:
        for key in ("body_a", "body_b"):
            faults += _fixed_to(getattr(loop, key), flexible, subject("Loop", loop.name), key)
    for table, word, shapes in (
        ("collisions", "Collision shape", described.collisions),
        ("visuals", "Visual shape", described.visuals),
    ):
        for body in (shape.body for shape in shapes):
            owner = body if isinstance(body, str) else ""
            whose = Subject(("bodies", owner, table), f"{word} of {owner!r}", owner)
            faults += _fixed_to(owner, flexible, whose, "")
    modal = [name for name, body in flexible.items() if not _is_segmented(body.flexible)]
    if described.mimics and modal:
        whose = subject("Body", modal[0])
        problem = f"{whose.words}: bodies with modes cannot be combined with mimic joints"
        remedy = "give it segments instead of modes, or the joints a coupling instead."
        faults.append(whose.fault(problem, remedy, "flexible"))
    return faults


def _is_segmented(given: Any) -> bool:
    return isinstance(given, Beam) and given.segments is not None


def _fixed_to(body: Any, flexible: Mapping[str, Any], whose: Subject, key: str) -> list[Fault]:
    if not isinstance(body, str) or body not in flexible:
        return []
    problem = f"{whose.words}: body {body!r} is flexible"
    if _is_segmented(flexible[body].flexible):
        remedy = f"name one of its pieces, {body + '.1'!r} and so on."
    else:
        remedy = "fix it to a rigid body at one of its nodes."
    return [whose.fault(problem, remedy, key)]


def axis_fault(body: BodyDescription, carries: bool, whose: Subject) -> list[Fault]:
    """A beam without inertia about its axis cannot turn about it by itself."""
    beam = body.flexible
    if not isinstance(beam, Beam):
        return []
    thin = beam.numbers.about_axis == 0.0
    wants_twist = (beam.modes or {}).get("twist", 0) or (beam.segments and beam.numbers.torsion)
    if thin and wants_twist:
        problem = f"{whose.words}: a beam that twists needs inertia about its axis"
        return [whose.fault(problem, "give rotary_inertia.", "flexible")]
    if not thin or carries or not carries_bodies(body.joint) or body.joint.armature:
        return []
    if not _turns_about_x(_turning_axes(body.joint)):
        return []
    problem = (
        f"{whose.words}: its {body.joint.type_name} joint lets it turn about its own axis, about "
        "which it has no inertia"
    )
    return [whose.fault(problem, "give rotary_inertia.", "flexible")]


def _turning_axes(joint: Any) -> Floats:
    if joint.has_quaternion:
        return np.eye(3)
    turns = [turn for turn, slide in joint.twists() if any(turn) and not any(slide)]
    return np.array(turns, dtype=np.float64).reshape(-1, 3)


def _turns_about_x(axes: Floats) -> bool:
    """Is x a combination of these axes?"""
    if not len(axes):
        return False
    rest = np.array([1.0, 0.0, 0.0]) @ (np.eye(3) - np.linalg.pinv(axes) @ axes)
    return bool(np.linalg.norm(rest) < 1e-6)


def free_fault(body: FlexibleBody, free: bool, whose: Subject) -> list[Fault]:
    """Shapes that move the root are those of a body in free flight."""
    if free or body.is_clamped:
        return []
    problem = f"{whose.words}: its modes move the root, but it does not float alone"
    remedy = "use a free joint to the world with nothing attached, or modes with the root fixed."
    return [whose.fault(problem, remedy, "flexible")]
