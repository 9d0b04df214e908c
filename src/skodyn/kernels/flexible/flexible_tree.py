"""Where the bodies of a tree are and how they move, if some of them are flexible.

A body that hangs on a node has the node's frame where others have that of their parent: turned by
E, away by r, with an angular velocity of its own. All else is as with rigid bodies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper, shared_routine
from skodyn.kernels.entries import is_given
from skodyn.kernels.flexible.flexible_bending import (
    Turn,
    bend,
    bend_moving,
    carried_column,
    carry_modes,
    node_pose,
    node_rates,
    turn_matrix,
)
from skodyn.kernels.flexible.flexible_body import load_body, weigh
from skodyn.kernels.flexible.flexible_strain import strain_body
from skodyn.kernels.flexible.flexible_table import field, flexible_record, node_record
from skodyn.kernels.joint_motion import coriolis_acceleration, joint_pose, relative_velocity, zero3
from skodyn.kernels.kinematics import begin_scatter, move_body
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.status import NOT_UNIT, OK, failure
from skodyn.kernels.tuples import load3, load_matrix, store3, store6, store_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import Rows, load_rows, splat
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import PARENT
from skodyn.spatial.linear3 import add, add_cross, add_scaled, cross, multiply, multiply_vector
from skodyn.spatial.motion import add_scaled_spatial


class Placed(NamedTuple):
    """A body on a node: R, from the node to its origin, from its parent's origin to the node, and
    how the node is turned in its body."""

    rotation: Any
    beyond: Any
    arm: Any
    turn: Any


@helper
def find_node(work, model, parent, node):
    """(axes, from the parent's origin, turn in the parent) of a node; 0: of the parent itself."""
    outer, zero = load_matrix(work, body_slot(parent) + BODY.ROTATION), splat(work, 0.0)
    if node == 0:
        return outer, zero3(work), Turn(zero3(work), zero, zero, zero, zero, zero)
    in_body, turn = node_pose(work, model, flexible_record(model, parent), node)
    return multiply(outer, turn_matrix(turn)), multiply_vector(outer, in_body), turn


@helper
def move_on_node(work, model, k, node, placed, v):
    """Store ω(k); return a(k)."""
    parent = entry(model, k, PARENT)
    record = flexible_record(model, parent)
    outer = load_matrix(work, body_slot(parent) + BODY.ROTATION)
    inner = load3(work, body_slot(parent) + BODY.OMEGA)
    seen = node_rates(work, model, record, node, placed.turn)
    spin, velocity = multiply_vector(outer, seen.spin), multiply_vector(outer, seen.velocity)
    of_node = add(inner, spin)
    motion = relative_velocity(work, model, k, placed.rotation, v)
    store3(work, body_slot(k) + BODY.OMEGA, add(of_node, motion[0]))
    turning, moving = coriolis_acceleration(of_node, placed.beyond, motion)
    faster = add_cross(multiply_vector(outer, seen.spin_rate), inner, spin)
    carried = add_scaled(cross(inner, placed.arm), 2.0, velocity)
    moving = add_cross(add_cross(moving, inner, carried), faster, placed.beyond)
    return add(turning, faster), add(moving, multiply_vector(outer, seen.acceleration))


@helper
def place(work, model, k, q, v):
    """(R, l, a(k), sound) of body k; R, l, ω and Π of its parent's modes are stored.

    Without v, a(k) is zero and nothing turns.
    """
    node, parent, slot = node_record(model, k), entry(model, k, PARENT), body_slot(k)
    axes, arm, turn = find_node(work, model, parent, node)
    r, d, sound = joint_pose(work, model, k, axes, q)
    store_matrix(work, slot + BODY.ROTATION, r)
    a = zero3(work), zero3(work)
    if node == 0:
        store3(work, slot + BODY.ARM, d)
        if is_given(v):
            _, a = move_body(work, model, k, r, d, v)
        return r, d, a, sound
    l = add(arm, d)
    store3(work, slot + BODY.ARM, l)
    outer = load_matrix(work, body_slot(parent) + BODY.ROTATION)
    carry_modes(work, model, flexible_record(model, parent), node, turn, outer, d)
    if is_given(v):
        a = move_on_node(work, model, k, node, Placed(r, d, arm, turn), v)
    return r, l, a, sound


@shared_routine
def scatter_bent_poses(work, model, q):
    """R and l of every body, η of every flexible one, Π of whatever hangs on nodes."""
    begin_scatter(work, model, q)
    status = OK
    for k in range(body_count(model)):
        _, _, _, sound = place(work, model, k, q, Rows(q.data, 0, 0))
        record = flexible_record(model, k)
        if record > 0:
            bend(work, model, record, q)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@shared_routine
def scatter_masses(work, model, q):
    """The same, and M(k) of every flexible body."""
    status = scatter_bent_poses(work, model, q)
    for k in range(body_count(model)):
        record = flexible_record(model, k)
        if record > 0:
            weigh(work, model, k, record, load_matrix(work, body_slot(k) + BODY.ROTATION), False)
    return status


@shared_routine
def scatter_bent_rates(work, model, q, v):
    """R, l, ω and a(k) of every body, M(k) and b(k) of every flexible one."""
    begin_scatter(work, model, q)
    status = OK
    for k in range(body_count(model)):
        r, _, a, sound = place(work, model, k, q, v)
        store6(work, body_slot(k) + BODY.CORIOLIS, a)
        record = flexible_record(model, k)
        if record > 0:
            bend_moving(work, model, record, q, v)
            inertia = weigh(work, model, k, record, r, True)
            load_body(work, model, k, record, r, inertia)
            strain_body(work, model, record, True)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def add_modes(work, model, k, rates, motion):
    """motion + Π·rates: what the modes of its parent add to the motion of body k."""
    node = node_record(model, k)
    if node == 0:
        return motion
    record = flexible_record(model, entry(model, k, PARENT))
    start = field(model, record, its.MODE_V)
    for i in range(field(model, record, its.MODES)):
        rate, column = (
            load_rows(work, rates, start + i),
            carried_column(work, model, record, node, i),
        )
        motion = add_scaled_spatial(motion, rate, column)
    return motion
