"""From checked columns to the frozen arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import JointKind
from skodyn.model import layout
from skodyn.model.builder_entries import FrameDescription
from skodyn.model.checks import CheckedModel, check
from skodyn.model.joint_entry import ONE_AXIS
from skodyn.model.mimics import Mimic, in_body_order
from skodyn.model.model import Frame, Model
from skodyn.model.products import applied, dot, product, square
from skodyn.topology import Tree
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder


def pack(described: ModelBuilder, repair_inertia: bool) -> Model:
    """Check the description and pack it; ModelError lists every fault."""
    checked = check(described, repair_inertia)
    order = checked.tree.order
    joints = tuple(checked.joints[k] for k in order.tolist())
    twists = [joint.twists() for joint in joints]
    alignment = _alignment(joints, twists)
    indices = _indices(checked.tree, joints)
    joint_names = tuple(checked.joint_names[k] for k in order.tolist())
    followed = in_body_order(checked.mimics, joint_names)
    armature = np.repeat([joint.armature for joint in joints], [joint.nv for joint in joints])
    columns = {
        "rotation": checked.rotation[order],
        "translation": checked.translation[order],
        "mass": checked.mass[order],
        "com": checked.com[order],
        "inertia": checked.inertia[order],
    }
    return Model(
        name=described.name,
        tree=checked.tree,
        joints=joints,
        joint_names=joint_names,
        frames=_frames(checked, described.frames),
        repairs=checked.repairs,
        gravity=checked.gravity,
        rotation=columns["rotation"],
        translation=columns["translation"],
        mass=columns["mass"],
        com=columns["com"],
        inertia=columns["inertia"],
        alignment=alignment,
        indices=indices,
        parameters=np.concatenate(
            (
                _parameters(checked.gravity, indices, columns, alignment, twists, armature),
                _mimic_parameters(followed),
                _loop_parameters(checked, joint_names, alignment, columns["translation"]),
            )
        ),
        mimics=followed,
        loops=checked.loops,
        couplings=checked.couplings,
        collisions=checked.collisions,
        visuals=checked.visuals,
    )


def _indices(tree: Tree, joints: Sequence[Any]) -> NDArray[np.int64]:
    indices = np.empty((len(joints), layout.INDEX_COLUMNS), dtype=np.int64)
    nq = np.array([joint.nq for joint in joints])
    nv = np.array([joint.nv for joint in joints])
    indices[:, layout.PARENT] = tree.parent
    indices[:, layout.KIND] = [joint.kind for joint in joints]
    indices[:, layout.Q_START] = np.cumsum(nq) - nq
    indices[:, layout.V_START] = np.cumsum(nv) - nv
    indices[:, layout.N_DOF] = nv
    indices[:, layout.SUBTREE_END] = tree.subtree_end
    return indices


def _alignment(joints: Sequence[Any], twists: Sequence[Any]) -> Floats:
    """Per body, the kernel frame in the body frame: joints with one axis get it along z."""
    alignment = np.broadcast_to(np.eye(3), (len(joints), 3, 3)).copy()
    rows = [k for k, joint in enumerate(joints) if joint.kind in ONE_AXIS]
    if rows:
        axes = np.array([twists[k][0][joints[k].kind == JointKind.PRISMATIC] for k in rows])
        alignment[rows] = rotations_from_z_to(axes)
    return alignment


def rotations_from_z_to(axes: Floats) -> Floats:
    """For each unit row u, a rotation A with A·z = u, exact for the coordinate axes."""
    upper = axes[:, 2] >= 0.0
    x, y, z = np.where(upper[:, None], axes, -axes).T
    k = 1.0 / (1.0 + z)
    # the smallest rotation from z to (x, y, z), z ≥ 0
    turn = np.stack([1 - k * x * x, -k * x * y, x, -k * x * y, 1 - k * y * y, y, -x, -y, z], axis=1)
    turn = turn.reshape(-1, 3, 3)
    # for the lower half, turn to −u and then over about x
    turn[~upper] *= np.array([1.0, -1.0, -1.0])
    return turn


def _parameters(
    gravity: Floats,
    indices: NDArray[np.int64],
    columns: dict[str, Floats],
    alignment: Floats,
    twists: Sequence[Any],
    armature: Floats,
) -> Floats:
    n = len(indices)
    nv = int(indices[:, layout.N_DOF].sum())
    parameters = np.zeros(layout.parameter_count(n, nv))
    parameters[layout.GRAVITY : layout.GRAVITY + 3] = gravity
    stop = layout.HEADER + n * layout.BODY_RECORD
    records = parameters[layout.HEADER : stop].reshape(n, layout.BODY_RECORD)
    parent = indices[:, layout.PARENT]
    of_parent = np.where((parent >= 0)[:, None, None], alignment[parent], np.eye(3))
    place_bodies(records, of_parent, columns, alignment)
    weigh_bodies(records, columns, alignment)
    dofs = parameters[stop:].reshape(nv, layout.DOF_RECORD)
    kinds, starts = indices[:, layout.KIND].tolist(), indices[:, layout.V_START].tolist()
    dofs[:, layout.ARMATURE] = armature
    for k, twist in enumerate(twists):
        if kinds[k] == JointKind.HELICAL:
            u, t = np.array(twist[0])
            records[k, layout.PITCH] = dot(u, t)
        elif kinds[k] == JointKind.SERIES:
            dofs[starts[k] : starts[k] + len(twist), : layout.ARMATURE] = np.reshape(twist, (-1, 6))
    return parameters


def _mimic_parameters(mimics: dict[str, Mimic]) -> Floats:
    rows = [x for mimic in mimics.values() for x in (mimic.multiplier, mimic.offset)]
    return np.array(rows, dtype=np.float64)


def _loop_parameters(
    checked: CheckedModel, joint_names: Sequence[str], alignment: Floats, translation: Floats
) -> Floats:
    if not checked.loops and not checked.couplings:
        return np.empty(0)
    from skodyn.model.loops.loop_numbers import loop_parameters  # few models need it

    tree = checked.tree
    bodies = {str(name): k for k, name in enumerate(tree.names)}
    joints = {name: k for k, name in enumerate(joint_names)}
    return loop_parameters(
        checked.loops, checked.couplings, bodies, joints, alignment, tree.parent, translation
    )


def place_bodies(
    records: Floats, of_parent: Floats, columns: dict[str, Floats], alignment: Floats
) -> None:
    """Joint placements between kernel frames: undo the parent's alignment, apply the child's.

    Each record is computed by itself: a sweep calls this with one body in many versions.
    """
    back = of_parent.transpose(0, 2, 1)
    turned = product(product(back, columns["rotation"]), alignment)
    records[:, layout.PLACE_ROTATION : layout.PLACE_ROTATION + 9] = turned.reshape(-1, 9)
    moved = applied(back, columns["translation"])
    records[:, layout.PLACE_TRANSLATION : layout.PLACE_TRANSLATION + 3] = moved


def weigh_bodies(records: Floats, columns: dict[str, Floats], alignment: Floats) -> None:
    """Mass, first and second moment about the body origin, in kernel-frame axes."""
    back = alignment.transpose(0, 2, 1)
    mass = columns["mass"]
    c = applied(back, columns["com"])
    i = product(product(back, columns["inertia"]), alignment)
    j = i + mass[:, None, None] * (
        square(c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    )
    records[:, layout.MASS] = mass
    records[:, layout.FIRST_MOMENT : layout.FIRST_MOMENT + 3] = mass[:, None] * c
    upper = j[:, (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)]
    records[:, layout.SECOND_MOMENT : layout.SECOND_MOMENT + 6] = upper


def _frames(checked: CheckedModel, frames: Sequence[FrameDescription]) -> dict[str, Frame]:
    return {
        given.name: Frame(given.body, checked.frame_rotation[k], checked.frame_translation[k])
        for k, given in enumerate(frames)
    }
