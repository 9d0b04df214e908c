"""Judge loops: their ends, frames and closing joints, and which bodies they tie together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skodyn.conventions import GROUND
from skodyn.model.columns import Floats, as_floats, read_column, read_rotations, shown
from skodyn.model.description import LoopDescription, MimicDescription, ModelBuilder
from skodyn.model.joint_checks import is_joint, parameter_faults
from skodyn.model.joints import CLOSING, Free, Joint
from skodyn.model.loops import Loop
from skodyn.model.name_checks import check_names
from skodyn.topology import Tree
from skodyn.topology.loops import cycle, span
from skodyn.topology.wording import Spelling

__all__ = ["check_loop_names", "check_loops", "refuse_mimics_beside_loops", "tied_bodies"]


def check_loop_names(described: ModelBuilder, faults: list[str]) -> None:
    """Loops and couplings are numbered and logged together, so they share one space of names."""
    loops = [loop.name for loop in described.loops]
    couplings = [coupling.name for coupling in described.couplings]
    check_names("Loop", loops, faults)
    check_names("Coupling", couplings, faults)
    taken = {name for name in loops if isinstance(name, str) and name.strip()}
    both = dict.fromkeys(name for name in couplings if isinstance(name, str) and name in taken)
    faults.extend(f"Coupling {name!r} has the name of a loop; rename one of them." for name in both)


def check_loops(
    given: Sequence[LoopDescription],
    joints: Mapping[str, Joint],
    tree: Tree | None,
    faults: list[str],
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
    loop: LoopDescription, known: Mapping[str, Joint], spelling: Spelling, faults: list[str]
) -> bool:
    """Are both bodies there, and two?"""
    before = len(faults)
    start = f"Loop {shown(loop.name)}"
    for key, body in (("body_a", loop.body_a), ("body_b", loop.body_b)):
        if body is None:
            faults.append(f"{start}: it has no {key}; name a body of the model, or {GROUND!r}.")
        elif not isinstance(body, str) or (body not in known and body != GROUND):
            guess = body if isinstance(body, str) else None
            remedy = spelling.remedy(guess, f"name a body of the model, or {GROUND!r}")
            faults.append(f"{start}: {key} is {shown(body)}, which is no body; {remedy}")
    if len(faults) == before and loop.body_a == loop.body_b:
        faults.append(
            f"{start}: body_a and body_b are both {loop.body_a!r}; join two bodies that can move "
            "against each other."
        )
    return len(faults) == before


def _check_motion(
    loop: LoopDescription, joints: Mapping[str, Joint], tree: Tree, faults: list[str]
) -> None:
    between = [joints[str(tree.names[k])] for k in _cycle(loop, tree)]
    if all(is_joint(joint) and joint.nv == 0 for joint in between):
        faults.append(
            f"Loop {shown(loop.name)}: body_a {loop.body_a!r} and body_b {loop.body_b!r} cannot "
            "move against each other, because all joints between them are fixed; take the loop "
            "away, or make one of them a joint that moves."
        )


def _cycle(loop: LoopDescription, tree: Tree) -> tuple[int, ...]:
    ends = (loop.body_a, loop.body_b)
    a, b = (-1 if body == GROUND else tree.index_of(body) for body in ends)
    return cycle(tree.parent, a, b)


def _check_joint(loop: LoopDescription, faults: list[str]) -> None:
    start, joint = f"Loop {shown(loop.name)}", loop.joint
    if not is_joint(joint):
        example = "Revolute(axis=(0, 0, 1)) or Rod(length=0.5)"
        faults.append(f"{start}: joint is {shown(joint)}; give a joint such as {example}.")
    elif isinstance(joint, Free):
        faults.append(f"{start}: joint is free and closes nothing; take another, or no loop.")
    elif CLOSING.get(joint.type_name) is not type(joint):
        listed = ", ".join(CLOSING)
        faults.append(
            f"{start}: joint is {shown(joint)}, which cannot close a loop; take one of {listed}."
        )
    else:
        whose = f"{start}, {joint.type_name} joint"
        armature = as_floats(joint.armature)
        if armature is None or armature.shape != () or armature != 0.0:
            faults.append(
                f"{whose}: armature is {shown(joint.armature)}, but a closing joint has no "
                "coordinate for a rotor; take it away, or cut the loop at another joint."
            )
        name = joint.joint_name
        if name is not None and not (isinstance(name, str) and name == loop.name):
            faults.append(
                f"{whose}: name is {shown(name)}, but a closing joint goes by the "
                "name of its loop; take it away."
            )
        faults.extend(parameter_faults(type(joint), [replace(joint, armature=0.0)], [start]))


def _read_frames(given: Sequence[LoopDescription], faults: list[str]) -> tuple[Floats, ...]:
    """rotation_a, translation_a, rotation_b, translation_b of all loops."""

    def owner(k: int) -> str:
        return f"Loop {shown(given[k].name)}"

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


def refuse_mimics_beside_loops(mimics: Sequence[MimicDescription], faults: list[str]) -> None:
    """A coupling says the same, and loops know how to live with it."""
    for mimic in mimics:
        joint, source = shown(mimic.joint), shown(mimic.source)
        numbers = f"({shown(mimic.offset)}, {shown(mimic.multiplier)})"
        faults.append(
            f"Joint {joint}: it mimics {source}, but models with loops or couplings take no mimic "
            f"joints; write it as a coupling: add_coupling(name, {joint}, {source}, {numbers})."
        )


def tied_bodies(described: ModelBuilder, tree: Tree, joint_names: Sequence[str]) -> set[int]:
    """Packed numbers of the bodies on cycles of loops and couplings, as far as those are sound."""
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
