"""Forces at nodes of flexible bodies: parts of their own, in the place of those of rigid bodies.

A force at a node also acts on the modes that move it, by Πᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.errors import ModelError
from skodyn.jit import COUNT as WHOLE
from skodyn.jit import NUMBER, helper, routine
from skodyn.kernels.flexible.flexible_bending import (
    carried_column,
    carry_modes,
    node_pose,
    node_rates,
    turn_matrix,
)
from skodyn.kernels.flexible.flexible_table import field, flexible_record
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.mimics import full_model
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import lane_at, parameter, parts_of
from skodyn.model.flexible import flexible_layout as its
from skodyn.simulation.element_tools import (
    add_force,
    add_torque,
    numbers3,
    point_motion,
    spring_force,
)
from skodyn.simulation.forces import COUNT, FIRST, OFFSET
from skodyn.simulation.structures import EFFECTS, STATE, SYSTEM
from skodyn.spatial.linear3 import add, add_cross, cross, multiply, multiply_vector, negate
from skodyn.spatial.motion import dot_spatial
from skodyn.wording import Spelling

__all__ = ["BENT_SPRING", "BENT_WRENCH", "node_of", "refuse_points"]


@helper
def whole_number(work, numbers, i):
    """A body, node or choice among the numbers: the same in all runs that go side by side."""
    return int(lane_at(parameter(work, numbers, i), 0))


@routine
def push_node(work, model, k, node, force, moment, effects):
    """A force and a moment at a node of body k, world axes."""
    record, r = flexible_record(model, k), load_matrix(work, body_slot(k) + BODY.ROTATION)
    place, turn = node_pose(work, model, record, node)
    add_force(work, effects.f_ext, k, force, multiply_vector(r, place), moment)
    carry_modes(work, model, record, node, turn, r, zero3(work))
    start = field(model, record, its.MODE_V)
    for i in range(field(model, record, its.MODES)):
        share = dot_spatial((moment, force), carried_column(work, model, record, node, i))
        add_torque(work, effects.tau, start + i, share)


@routine
def node_motion(work, model, k, node):
    """(position, velocity) of a node of body k, world axes."""
    record, r = flexible_record(model, k), load_matrix(work, body_slot(k) + BODY.ROTATION)
    place, turn = node_pose(work, model, record, node)
    seen = node_rates(work, model, record, node, turn)
    arm = multiply_vector(r, place)
    omega, velocity = load6(work, body_slot(k) + BODY.MOTION)
    moving = add_cross(add(velocity, multiply_vector(r, seen.velocity)), omega, arm)
    return add(load3(work, sum_slot(model, k) + POSITION), arm), moving


@helper
def bent_wrench(work, system, at, t, state, effects):
    """Numbers: force, moment, and whether they are in the node's axes."""
    model, codes, numbers = full_model(system.model), system.codes, system.numbers
    k, node, i = codes[at + FIRST], codes[at + COUNT], codes[at + OFFSET]
    force, moment = numbers3(work, numbers, i), numbers3(work, numbers, i + 3)
    if whole_number(work, numbers, i + 6) > 0:
        _, turn = node_pose(work, model, flexible_record(model, k), node)
        axes = multiply(load_matrix(work, body_slot(k) + BODY.ROTATION), turn_matrix(turn))
        force, moment = multiply_vector(axes, force), multiply_vector(axes, moment)
    push_node(work, model, k, node, force, moment, effects)
    return OK


@helper
def bent_spring(work, system, at, t, state, effects):
    """Numbers: points, stiffness, damping, length; body and node, or 0, of both ends."""
    model, numbers, i = full_model(system.model), system.numbers, system.codes[at + OFFSET]
    a, node_a = whole_number(work, numbers, i + 9), whole_number(work, numbers, i + 10)
    b, node_b = whole_number(work, numbers, i + 11), whole_number(work, numbers, i + 12)
    arm_a, place_a, speed_a = point_motion(work, model, a, numbers3(work, numbers, i))
    arm_b, place_b, speed_b = point_motion(work, model, b, numbers3(work, numbers, i + 3))
    if node_a > 0:
        place_a, speed_a = node_motion(work, model, a, node_a)
    if node_b > 0:
        place_b, speed_b = node_motion(work, model, b, node_b)
    force = spring_force(work, numbers, i + 6, (place_a, speed_a), (place_b, speed_b))
    none = cross(force, force)
    if node_a > 0:
        push_node(work, model, a, node_a, force, none, effects)
    else:
        add_force(work, effects.f_ext, a, force, arm_a, none)
    if node_b > 0:
        push_node(work, model, b, node_b, negate(force), none, effects)
    else:
        add_force(work, effects.f_ext, b, negate(force), arm_b, none)
    return OK


BENT_WRENCH = parts_of(bent_wrench, SYSTEM, WHOLE, NUMBER, STATE, EFFECTS)
BENT_SPRING = parts_of(bent_spring, SYSTEM, WHOLE, NUMBER, STATE, EFFECTS)


def node_of(model: Any, body: str, node: str) -> int:
    """Where the record of a node lies; ModelError if there is none."""
    model.mode_slice(body)  # it says what is wrong with the body
    known = model.flexible[body].nodes
    if node not in known:
        remedy = Spelling(known).remedy(node, f"it has {', '.join(known)}")
        raise ModelError(f"flexible body {body!r} has no node {node!r}", remedy)
    return int(model._node_places[body, node])


def refuse_points(model: Any, body: str, point: Any) -> None:
    """Only the origin of a flexible body moves with its frame."""
    owner = model.frame(body).body
    if owner in model.flexible and (owner != body or np.any(point)):
        raise ModelError(
            f"{owner!r} is flexible, so that a point in its axes does not move along with it",
            f'give body = "{owner}", node = "tip", or another of its nodes.',
        )
