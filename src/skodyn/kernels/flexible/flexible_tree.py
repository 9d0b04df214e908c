"""Where the bodies of a tree are and how they move, if some of them are flexible.

A body that hangs on a node has the node's frame where others have that of their parent: turned by
E, away by r, with an angular velocity of its own. All else is as with rigid bodies.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.aba_passes import add_scaled_spatial
from skodyn.kernels.flexible.flexible_bending import (
    bend,
    bend_moving,
    carried_column,
    carry_modes,
    known_pose,
    node_pose,
    node_rates,
    turn_matrix,
)
from skodyn.kernels.flexible.flexible_body import load_body, weigh
from skodyn.kernels.flexible.flexible_strain import strain_body
from skodyn.kernels.flexible.flexible_table import field, flexible_record, node_record
from skodyn.kernels.joint_motion import coriolis_acceleration, joint_pose, relative_velocity
from skodyn.kernels.kinematics import begin_scatter, move_body, place_body
from skodyn.kernels.status import NOT_UNIT, OK, failure
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    OMEGA,
    ROTATION,
    body_count,
    body_slot,
    entry,
    load3,
    load_matrix,
    store3,
    store6,
    store_matrix,
)
from skodyn.lanes import load_rows
from skodyn.model.flexible.flexible_layout import MODE_V, MODES
from skodyn.model.layout import PARENT
from skodyn.spatial.linear3 import (
    add,
    add_cross,
    add_scaled,
    cross,
    multiply,
    multiply_vector,
)


@helper
def place(work, model, k, q):
    """(R, l, sound) of body k; Π of its parent's modes, if it hangs on a node."""
    node = node_record(model, k)
    if node == 0:
        return place_body(work, model, k, q)
    parent = entry(model, k, PARENT)
    record, outer = flexible_record(model, parent), load_matrix(work, body_slot(parent) + ROTATION)
    place_in_body, turn = node_pose(work, model, record, node)
    r, d, sound = joint_pose(work, model, k, multiply(outer, turn_matrix(turn)), q)
    l = add(multiply_vector(outer, place_in_body), d)
    slot = body_slot(k)
    store_matrix(work, slot + ROTATION, r)
    store3(work, slot + ARM, l)
    carry_modes(work, model, record, node, turn, outer, d)
    return r, l, sound


@helper
def move(work, model, k, r, l, v):
    """Store ω(k); return a(k)."""
    node = node_record(model, k)
    if node == 0:
        _, a = move_body(work, model, k, r, l, v)
        return a
    parent = entry(model, k, PARENT)
    record, outer = flexible_record(model, parent), load_matrix(work, body_slot(parent) + ROTATION)
    inner = load3(work, body_slot(parent) + OMEGA)
    place_in_body, turn = known_pose(work, model, record, node)
    seen = node_rates(work, model, record, node, turn)
    arm = multiply_vector(outer, place_in_body)
    spin, velocity = multiply_vector(outer, seen.spin), multiply_vector(outer, seen.velocity)
    of_node = add(inner, spin)
    motion = relative_velocity(work, model, k, r, v)
    store3(work, body_slot(k) + OMEGA, add(of_node, motion[0]))
    d = (l[0] - arm[0], l[1] - arm[1], l[2] - arm[2])
    turning, moving = coriolis_acceleration(of_node, d, motion)
    faster = add_cross(multiply_vector(outer, seen.spin_rate), inner, spin)
    carried = add_scaled(cross(inner, arm), 2.0, velocity)
    moving = add_cross(add_cross(moving, inner, carried), faster, d)
    return add(turning, faster), add(moving, multiply_vector(outer, seen.acceleration))


@helper
def scatter_bent_poses(work, model, q):
    """R and l of every body, η of every flexible one, Π of whatever hangs on nodes."""
    begin_scatter(work, model, q)
    status = OK
    for k in range(body_count(model)):
        _, _, sound = place(work, model, k, q)
        record = flexible_record(model, k)
        if record > 0:
            bend(work, model, record, q)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def scatter_masses(work, model, q):
    """The same, and M(k) of every flexible body."""
    status = scatter_bent_poses(work, model, q)
    for k in range(body_count(model)):
        record = flexible_record(model, k)
        if record > 0:
            weigh(work, model, k, record, load_matrix(work, body_slot(k) + ROTATION), False)
    return status


@helper
def scatter_bent_rates(work, model, q, v):
    """R, l, ω and a(k) of every body, M(k) and b(k) of every flexible one."""
    begin_scatter(work, model, q)
    status = OK
    for k in range(body_count(model)):
        r, l, sound = place(work, model, k, q)
        a = move(work, model, k, r, l, v)
        store6(work, body_slot(k) + CORIOLIS, a)
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
    start = field(model, record, MODE_V)
    for i in range(field(model, record, MODES)):
        rate, column = (
            load_rows(work, rates, start + i),
            carried_column(work, model, record, node, i),
        )
        motion = add_scaled_spatial(motion, rate, column)
    return motion
