"""Base-to-tips scatter of poses, angular velocities and Coriolis accelerations.

Only angular velocities are needed for dynamics: with each body's own origin as reference point and
world axes, linear velocities enter neither a(k) nor b(k).
"""

from skodyn.jit import helper, shared_routine
from skodyn.kernels.joint_motion import coriolis_acceleration, joint_pose, relative_velocity, zero3
from skodyn.kernels.joint_trigonometry import prepare_sincos
from skodyn.kernels.packed_model import (
    body_count,
    body_parameters,
    entry,
    parameter3,
    parameter_sym,
)
from skodyn.kernels.status import NOT_UNIT, OK, failure
from skodyn.kernels.tuples import load3, load_matrix, store3, store6, store_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import parameter, splat
from skodyn.model.layout import FIRST_MOMENT, GRAVITY, MASS, PARENT, SECOND_MOMENT
from skodyn.spatial.inertia import rotate_inertia
from skodyn.spatial.linear3 import add


@helper
def begin_scatter(work, model, q):
    """What placing a first body needs: turns of joints, and in record 0 the ground's motion."""
    prepare_sincos(work, model, q)
    one, zero = splat(work, 1.0), splat(work, 0.0)
    store_matrix(work, BODY.ROTATION, (one, zero, zero, zero, one, zero, zero, zero, one))
    store3(work, BODY.OMEGA, (zero, zero, zero))


@helper
def ground_acceleration(work, model):
    """Gravity as an upward acceleration of the ground."""
    g = parameter3(work, model, GRAVITY)
    zero = splat(work, 0.0)
    return zero3(work), (zero - g[0], zero - g[1], zero - g[2])


@helper
def body_inertia(work, model, k, r):
    """M(k) as (m, h, J) about the body origin, in world axes."""
    i = body_parameters(k)
    inertia = (
        splat(work, parameter(work, model.parameters, i + MASS)),
        parameter3(work, model, i + FIRST_MOMENT),
        parameter_sym(work, model, i + SECOND_MOMENT),
    )
    return rotate_inertia(r, inertia)


@helper
def place_body(work, model, k, q):
    """Store and return (R, l) of body k; the parent must have been placed."""
    outer = load_matrix(work, body_slot(entry(model, k, PARENT)) + BODY.ROTATION)
    r, l, sound = joint_pose(work, model, k, outer, q)
    slot = body_slot(k)
    store_matrix(work, slot + BODY.ROTATION, r)
    store3(work, slot + BODY.ARM, l)
    return r, l, sound


@helper
def scatter_poses_inlined(work, model, q):
    """R and l of every body; for kernels of nothing but poses, where a call would show."""
    begin_scatter(work, model, q)
    status = OK
    for k in range(body_count(model)):
        _, _, sound = place_body(work, model, k, q)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@shared_routine
def scatter_poses(work, model, q):
    """R and l of every body."""
    return scatter_poses_inlined(work, model, q)


@helper
def move_body(work, model, k, r, l, v):
    """Store ω(k); return (ω, a(k))."""
    parent_omega = load3(work, body_slot(entry(model, k, PARENT)) + BODY.OMEGA)
    motion = relative_velocity(work, model, k, r, v)
    omega = add(parent_omega, motion[0])
    store3(work, body_slot(k) + BODY.OMEGA, omega)
    return omega, coriolis_acceleration(parent_omega, l, motion)


@helper
def scatter_rates_inlined(work, model, q, v):
    """R, l, ω and a(k) of every body; for forward dynamics of trees, where a call would show."""
    begin_scatter(work, model, q)
    status = OK
    for k in range(body_count(model)):
        r, l, sound = place_body(work, model, k, q)
        _, a = move_body(work, model, k, r, l, v)
        store6(work, body_slot(k) + BODY.CORIOLIS, a)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@shared_routine
def scatter_rates(work, model, q, v):
    """R, l, ω and a(k) of every body."""
    return scatter_rates_inlined(work, model, q, v)
