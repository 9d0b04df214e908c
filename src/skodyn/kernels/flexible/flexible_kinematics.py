"""Poses and velocities of all bodies of a tree in which some are flexible, and of a node.

Written per body as in forward_kinematics.py; a(k) and b(k) are those of its six velocities alone.
A node is given as x: its body, and s, φ and ψ of its shapes in the axes of the kernel.
"""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, is_given, one_state
from skodyn.kernels.flexible.flexible_tree import add_modes, scatter_bent_poses, scatter_bent_rates
from skodyn.kernels.forward_kinematics import POSITION, ROW, scatter_positions
from skodyn.kernels.joint_motion import relative_velocity, zero3
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite3, finite_spatial, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import splat, store_rows
from skodyn.model.layout import PARENT
from skodyn.spatial.linear3 import add
from skodyn.spatial.motion import shift_motion


@helper
def scatter_bent_velocities(work, model, v):
    """V of every body into MOTION; rates must be in the workspace."""
    store6(work, BODY.MOTION, (zero3(work), zero3(work)))
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        carried = add_modes(work, model, k, v, shift_motion(load3(work, slot + BODY.ARM), inner))
        spin, slide, _, _ = relative_velocity(work, model, k, r, v)
        store6(work, slot + BODY.MOTION, (add(carried[0], spin), add(carried[1], slide)))


@helper
def write_bent_body(work, model, k, moving, out):
    """The row of body k; are its numbers finite?"""
    slot, at = body_slot(k), k * ROW
    r = load_matrix(work, slot + BODY.ROTATION)
    position = load3(work, sum_slot(model, k) + POSITION)
    for i in range(12, ROW):
        store_rows(work, out, at + i, splat(work, 0.0))
    for i in range(3):
        store_row3(work, out, at + 3 * i, load3(work, slot + BODY.ROTATION + 3 * i))
    store_row3(work, out, at + 9, position)
    sound = finite3(position) and finite3((r[0], r[1], r[2]))
    if moving:
        velocity, a = load6(work, slot + BODY.MOTION), load6(work, slot + BODY.CORIOLIS)
        store_row3(work, out, at + 12, velocity[0])
        store_row3(work, out, at + 15, velocity[1])
        store_row3(work, out, at + 18, a[0])
        store_row3(work, out, at + 21, a[1])
        sound = sound and finite_spatial(velocity) and finite_spatial(a)
    return sound


@helper
def sweep(work, model, given, out):
    """A row for each body."""
    moving = is_given(given.v)
    if moving:
        status = scatter_bent_rates(work, model, given.q, given.v)
        scatter_bent_velocities(work, model, given.v)
    else:
        status = scatter_bent_poses(work, model, given.q)
    scatter_positions(work, model)
    for k in range(body_count(model)):
        sound = write_bent_body(work, model, k, moving, out)
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    return status


@helper
def shape(model, count):
    return body_count(model), ROW


flexible_kinematics = one_state("flexible_kinematics", sweep, shape, "q", dimensions=2)
flexible_velocities = one_state("flexible_velocities", sweep, shape, "q v", dimensions=2)
flexible_kinematics_batch = batch("flexible_kinematics_batch", sweep, shape)
