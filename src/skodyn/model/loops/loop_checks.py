"""Judge loops: their ends, frames and closing joints, and which bodies they tie together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skodyn.conventions import GROUND
from skodyn.faults import Fault, Subject, shown
from skodyn.model.builder_entries import LoopDescription, MimicDescription
from skodyn.model.columns import as_floats, read_column, read_rotations
from skodyn.model.description import ModelBuilder
from skodyn.model.joint_checks import is_joint, parameter_faults
from skodyn.model.joints import CLOSING, Joint
from skodyn.model.loops.loop_description import Loop
from skodyn.model.name_checks import check_names
from skodyn.model.subjects import joint_subject, subject
from skodyn.topology import Tree
from skodyn.topology.loops import cycle, span
from skodyn.typing import Floats
from skodyn.wording import Spelling

__all__ = ["check_loop_names", "check_loops", "refuse_mimics_beside_loops", "tied_bodies"]


def check_loop_names(described: ModelBuilder, faults: list[Fault]) -> None:
    """Loops and couplings are numbered and logged together, so they share one space of names."""
    loops = [loop.name for loop in described.loops]
    couplings = [coupling.name for coupling in described.couplings]
    check_names("Loop", loops, faults)
    check_names("Coupling", couplings, faults)
    taken = {name for name in loops if isinstance(name, str) and name.strip()}
    both = dict.fromkeys(name for name in couplings if isinstance(name, str) and name in taken)
    for whose in (subject("Coupling", name) for name in both):
        problem = f"{whose.words} has the name of a loop"
        faults.append(whose.fault(problem, "rename one of them."))


def check_loops(
    given: Sequence[LoopDescription],
    joints: Mapping[str, Joint],
    tree: Tree | None,
    faults: list[Fault],
) -> dict[str, Loop]:
    """The loops by name; faults are added, one sentence each.

    joints: by the body that each carries.
    """
    spelling = Spelling((GROUND, *joints))
    for loop in given:
        known = _check_ends(loop, joints, spelling, faults)
        if known and tree is not None:
            _check_motion(loop, joints, tree, faults)
        _check_joint(loop, faults)
    frames = _read_frames(given, faults)
    if faults:  # names among them
        return {}
    return {
        loop.name: Loop(loop.body_a, loop.body_b, loop.joint, *(column[k] for column in frames))
        for k, loop in enumerate(given)
    }


def _check_ends(
    loop: LoopDescription, known: Mapping[str, Joint], spelling: Spelling, faults: list[Fault]
) -> bool:
    """Are both bodies there, and two?"""
    before = len(faults)
    whose, otherwise = subject("Loop", loop.name), f"name a body of the model, or {GROUND!r}"
    for key, body in (("body_a", loop.body_a), ("body_b", loop.body_b)):
        if body is None:
            faults.append(whose.fault(f"{whose.words}: it has no {key}", f"{otherwise}.", key))
        elif not isinstance(body, str) or (body not in known and body != GROUND):
            remedy = spelling.remedy(body if isinstance(body, str) else None, otherwise)
            faults.append(whose.found(key, body, remedy, ", which is not a body"))
    if len(faults) == before and loop.body_a == loop.body_b:
        problem = f"{whose.words}: body_a and body_b are both {loop.body_a!r}"
        remedy = "join two bodies that can move against each other."
        faults.append(whose.fault(problem, remedy, "body_b", loop.body_b))
    return len(faults) == before


def _check_motion(
    loop: LoopDescription, joints: Mapping[str, Joint], tree: Tree, faults: list[Fault]
) -> None:
    between = [joints[str(tree.names[k])] for k in _cycle(loop, tree)]
    if all(is_joint(joint) and joint.nv == 0 for joint in between):
        whose = subject("Loop", loop.name)
        problem = (
            f"{whose.words}: body_a {loop.body_a!r} and body_b {loop.body_b!r} cannot move against "
            "each other, because all joints between them are fixed"
        )
        remedy = "take the loop away, or make one of them a joint that moves."
        faults.append(whose.fault(problem, remedy, "body_a", loop.body_a))


def _cycle(loop: LoopDescription, tree: Tree) -> tuple[int, ...]:
    ends = (loop.body_a, loop.body_b)
    a, b = (-1 if body == GROUND else tree.index_of(body) for body in ends)
    return cycle(tree.parent, a, b)


def _check_joint(loop: LoopDescription, faults: list[Fault]) -> None:
    whose, joint = subject("Loop", loop.name), loop.joint
    if not is_joint(joint):
        example = "Revolute(axis=(0, 0, 1)) or Rod(length=0.5)"
        faults.append(whose.found("joint", joint, f"give a joint such as {example}."))
    elif joint.is_floating:
        problem = f"{whose.words}: joint is free and closes nothing"
        faults.append(whose.fault(problem, "take another, or no loop.", "joint"))
    elif CLOSING.get(joint.type_name) is not type(joint):
        remedy = f"take one of {', '.join(CLOSING)}."
        faults.append(whose.found("joint", joint, remedy, ", which cannot close a loop"))
    else:
        _check_closing(loop, joint, faults)


def _check_closing(loop: LoopDescription, joint: Joint, faults: list[Fault]) -> None:
    """Parameters of a joint that has no coordinate of its own."""
    whose = subject("Loop", loop.name, f", {joint.type_name} joint", "joint")
    armature, name = as_floats(joint.armature), joint.joint_name
    if armature is None or armature.shape != () or armature != 0.0:
        why = ", but a closing joint has no coordinate for a rotor"
        remedy = "take it away, or cut the loop at another joint."
        faults.append(whose.found("armature", joint.armature, remedy, why))
    if name is not None and not (isinstance(name, str) and name == loop.name):
        why = ", but a closing joint goes by the name of its loop"
        faults.append(whose.found("name", name, "take it away.", why))
    faults.extend(parameter_faults(type(joint), [replace(joint, armature=0.0)], [whose]))


def _read_frames(given: Sequence[LoopDescription], faults: list[Fault]) -> tuple[Floats, ...]:
    """rotation_a, translation_a, rotation_b, translation_b of all loops."""

    def owner(k: int) -> Subject:
        return subject("Loop", given[k].name)

    columns = []
    for end in ("a", "b"):
        label = f"rotation_{end}"
        rotation, found = read_rotations([getattr(loop, label) for loop in given], owner, label)
        faults.extend(found)
        label = f"translation_{end}"
        translation, found = read_column(
            [getattr(loop, label) for loop in given], (3,), label, owner
        )
        faults.extend(found)
        columns += [rotation, translation]
    return tuple(columns)


def refuse_mimics_beside_loops(
    mimics: Sequence[MimicDescription], carried: Mapping[str, str], faults: list[Fault]
) -> None:
    """A coupling says the same, and loops know how to live with it."""
    for mimic in mimics:
        body = carried.get(mimic.joint, "") if isinstance(mimic.joint, str) else ""
        whose = joint_subject(mimic.joint, body, "mimic")
        joint, source = shown(mimic.joint), shown(mimic.source)
        numbers = f"({shown(mimic.offset)}, {shown(mimic.multiplier)})"
        what = f"it mimics {source}, but models with loops or couplings take no mimic joints"
        remedy = f"write it as a coupling: add_coupling(name, {joint}, {source}, {numbers})."
        faults.append(whose.fault(f"{whose.words}: {what}", remedy))


def tied_bodies(described: ModelBuilder, tree: Tree, joint_names: Sequence[str]) -> set[int]:
    """Packed numbers of the bodies on cycles of loops and couplings, as far as those are valid."""
    names = {*(b.name for b in described.bodies), GROUND}
    tied: set[int] = set()
    for loop in described.loops:
        ends = (loop.body_a, loop.body_b)
        if all(isinstance(body, str) and body in names for body in ends):
            tied.update(_cycle(loop, tree))
    place = {joint_names[k]: number for number, k in enumerate(tree.order.tolist())}
    for coupling in described.couplings:
        terms = coupling.terms if isinstance(coupling.terms, Mapping) else ()
        joints = [coupling.joint, coupling.source, *terms]
        tied.update(
            span(tree.parent, [place[x] for x in joints if isinstance(x, str) and x in place])
        )
    return tied
