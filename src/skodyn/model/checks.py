"""Judge a description: every fault at once, one sentence each, with name, value and remedy."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject
from skodyn.model.builder_entries import BodyDescription
from skodyn.model.columns import Owner, read_column, read_inertias, read_rotations
from skodyn.model.contact.collision_checks import check_collisions
from skodyn.model.description import ModelBuilder
from skodyn.model.inertia_checks import check_inertias, nearest_valid
from skodyn.model.joint_checks import check_joint_names, check_joints, is_joint
from skodyn.model.joints import Joint
from skodyn.model.loops.coupling_checks import check_couplings
from skodyn.model.loops.loop_checks import (
    check_loop_names,
    check_loops,
    refuse_mimics_beside_loops,
    tied_bodies,
)
from skodyn.model.loops.loop_description import JointCoupling, Loop
from skodyn.model.mimic_checks import check_mimics
from skodyn.model.mimics import Mimic
from skodyn.model.name_checks import check_frames, check_names, check_tree
from skodyn.model.shapes import Collision, Visual
from skodyn.model.subjects import MODEL, subject
from skodyn.model.visual_checks import check_visuals
from skodyn.topology import Tree
from skodyn.typing import Floats

__all__ = ["CheckedModel", "check"]


@dataclass(frozen=True)
class CheckedModel:
    """A description found valid: columns of numbers, in the order the bodies were given."""

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
    mimics: dict[str, Mimic]
    loops: dict[str, Loop]
    couplings: dict[str, JointCoupling]
    collisions: dict[str, tuple[Collision, ...]]
    visuals: dict[str, tuple[Visual, ...]]


def check(described: ModelBuilder, repair_inertia: bool) -> CheckedModel:
    """The checked columns, or a ModelError that lists every fault."""
    bodies, frames = described.bodies, described.frames
    nothing = Fault("The model has no body", "add at least one.", ("bodies",))
    faults: list[Fault] = [] if bodies else [nothing]

    def body(k: int) -> Subject:
        return subject("Body", bodies[k].name)

    def frame(k: int) -> Subject:
        return subject("Frame", frames[k].name)

    def checked(found: tuple[Floats, list[Fault]]) -> Floats:
        faults.extend(found[1])
        return found[0]

    names_ok = check_names("Body", [b.name for b in bodies], faults)
    tree = check_tree(bodies, names_ok, faults)
    joint_names = check_joint_names(bodies, faults)
    check_joints(bodies, faults)
    joints = {name: b.joint for name, b in zip(joint_names, bodies, strict=True)}
    carried = {
        n: b.name for n, b in zip(joint_names, bodies, strict=True) if isinstance(b.name, str)
    }
    followed = check_mimics(described.mimics, joints, carried, faults)

    gravity_row = checked(read_column([described.gravity], (3,), "gravity", lambda _: MODEL))
    translation = checked(read_column([b.translation for b in bodies], (3,), "translation", body))
    rotation = checked(read_rotations([b.rotation for b in bodies], body))
    mass = checked(read_column([b.mass for b in bodies], (), "mass", body))
    com = checked(read_column([b.com for b in bodies], (3,), "com", body))
    inertia = checked(read_inertias([b.inertia for b in bodies], body))

    for k in np.flatnonzero(mass < 0.0).tolist():
        problem = f"{body(k).named('mass')} is {mass[k]:.6g}, which is negative"
        faults.append(body(k).fault(problem, "give its mass in kilograms.", "mass", mass[k]))
    repairs = _judge_inertias(inertia, mass, body, repair_inertia, faults)
    if tree is not None:
        tied = tied_bodies(described, tree, joint_names)
        _massless_faults(tree, bodies, mass, inertia, tied, faults)

    check_names("Frame", [f.name for f in frames], faults)
    check_frames(bodies, frames, faults)
    frame_translation = checked(
        read_column([f.translation for f in frames], (3,), "translation", frame)
    )
    frame_rotation = checked(read_rotations([f.rotation for f in frames], frame))

    check_loop_names(described, faults)
    by_body = {b.name: b.joint for b in bodies if isinstance(b.name, str)}
    loops = check_loops(described.loops, by_body, tree, faults)
    couplings = check_couplings(described.couplings, joints, faults)
    if described.loops or described.couplings:
        refuse_mimics_beside_loops(described.mimics, carried, faults)
    collisions = check_collisions(described.collisions, list(by_body), faults)
    visuals = check_visuals(described.visuals, list(by_body), faults)

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
        frame_translation=frame_translation,
        repairs=repairs,
        mimics=followed,
        loops=loops,
        couplings=couplings,
        collisions=collisions,
        visuals=visuals,
    )


def _judge_inertias(
    inertia: Floats, mass: Floats, owner: Owner, repair: bool, faults: list[Fault]
) -> tuple[str, ...]:
    finite = np.where(np.isfinite(inertia).all(axis=(1, 2), keepdims=True), inertia, 0.0)
    found = check_inertias(finite, owner, mass)
    if not repair:
        faults.extend(found.values())
        return ()
    repairs = []
    for k, fault in found.items():
        before = inertia[k].tolist()
        inertia[k] = nearest_valid(inertia[k])
        repairs.append(f"{fault.problem}; replaced {before} by {inertia[k].tolist()}.")
    return tuple(repairs)


def _massless_faults(
    tree: Tree,
    bodies: Sequence[BodyDescription],
    mass: Floats,
    inertia: Floats,
    tied: AbstractSet[int],
    faults: list[Fault],
) -> None:
    """A body that can move must carry something with inertia: itself or what hangs from it.

    tied: bodies that loops or couplings move together with others, whose inertia may do.
    """
    order = tree.order
    massive = (mass[order] != 0.0) | (inertia[order] != 0.0).any(axis=(1, 2))  # NaN: faulty, known
    before = np.concatenate(([0], np.cumsum(massive)))
    nothing = before[tree.subtree_end] == before[:-1]
    for k in (k for k in np.flatnonzero(nothing).tolist() if k not in tied):
        described = bodies[order[k]]
        if is_joint(described.joint) and described.joint.nv > 0:
            whose = subject("Body", described.name)
            problem = (
                f"{whose.words}: it can move ({described.joint.type_name} joint) but neither it "
                "nor anything it carries has mass or inertia"
            )
            faults.append(whose.fault(problem, "give it a mass, or fix it."))
