"""Poses, spatial velocities and accelerations of all bodies: base-to-tips scatters.

Written per body as 30 numbers: R (kernel frame, nine), position (three), V (six), a(k) (six),
b(k) (six). What is not asked for (no v) is zero.
"""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, is_given, one_state
from skodyn.kernels.joint_motion import relative_velocity
from skodyn.kernels.kinematics import body_inertia, scatter_poses, scatter_rates
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite3, finite_spatial, load3, load6, load_matrix, store3, store6
from skodyn.kernels.workspace import BODY, SUMS, body_slot, sum_slot
from skodyn.lanes import splat, store_rows
from skodyn.model.layout import PARENT
from skodyn.spatial.inertia import gyroscopic_force
from skodyn.spatial.linear3 import add
from skodyn.spatial.motion import shift_motion

POSITION = SUMS.FORCE  # this algorithm gathers no force
ROW = 30
"""Numbers per body in the output."""


@helper
def scatter_positions(work, model):
    """Origins in world axes, from the arms."""
    zero = splat(work, 0.0)
    store3(work, sum_slot(model, -1) + POSITION, (zero, zero, zero))
    for k in range(body_count(model)):
        inner = load3(work, sum_slot(model, entry(model, k, PARENT)) + POSITION)
        store3(
            work, sum_slot(model, k) + POSITION, add(inner, load3(work, body_slot(k) + BODY.ARM))
        )


@helper
def scatter_velocities(work, model, v):
    """V(k) = φ*(℘(k), k)·V(℘(k)) + H*(k)·v(k), into MOTION; rates must be in the workspace."""
    zero = splat(work, 0.0)
    store6(work, BODY.MOTION, ((zero, zero, zero), (zero, zero, zero)))
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        carried = shift_motion(load3(work, slot + BODY.ARM), inner)
        spin, slide, _, _ = relative_velocity(work, model, k, r, v)
        store6(work, slot + BODY.MOTION, (add(carried[0], spin), add(carried[1], slide)))


@helper
def write_body(work, model, k, moving, out):
    """The row of body k; are its numbers finite?"""
    slot = body_slot(k)
    r = load_matrix(work, slot + BODY.ROTATION)
    at = k * ROW
    store_row3(work, out, at, (r[0], r[1], r[2]))
    store_row3(work, out, at + 3, (r[3], r[4], r[5]))
    store_row3(work, out, at + 6, (r[6], r[7], r[8]))
    position = load3(work, sum_slot(model, k) + POSITION)
    store_row3(work, out, at + 9, position)
    sound = finite3(position)
    if moving:
        velocity, a = load6(work, slot + BODY.MOTION), load6(work, slot + BODY.CORIOLIS)
        b = gyroscopic_force(body_inertia(work, model, k, r), load3(work, slot + BODY.OMEGA))
        store_row3(work, out, at + 12, velocity[0])
        store_row3(work, out, at + 15, velocity[1])
        store_row3(work, out, at + 18, a[0])
        store_row3(work, out, at + 21, a[1])
        store_row3(work, out, at + 24, b[0])
        store_row3(work, out, at + 27, b[1])
        sound = sound and finite_spatial(velocity) and finite_spatial(a) and finite_spatial(b)
    else:
        for i in range(12, ROW):
            store_rows(work, out, at + i, splat(work, 0.0))
    return sound


@helper
def sweep(work, model, given, out):
    """A row for each body."""
    moving = is_given(given.v)
    if moving:
        status = scatter_rates(work, model, given.q, given.v)
        scatter_velocities(work, model, given.v)
    else:
        status = scatter_poses(work, model, given.q)
    scatter_positions(work, model)
    for k in range(body_count(model)):
        sound = write_body(work, model, k, moving, out)
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    return status


@helper
def shape(model, count):
    return body_count(model), ROW


velocities = one_state("velocities", sweep, shape, "q v", dimensions=2)
forward_kinematics_batch = batch("forward_kinematics_batch", sweep, shape)
