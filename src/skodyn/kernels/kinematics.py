"""Base-to-tips scatter of poses, angular velocities and Coriolis accelerations.

Only angular velocities are needed for dynamics: with each body's own origin as reference point and
world axes, linear velocities enter neither a(k) nor b(k).
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.joint_motion import (
    coriolis_acceleration,
    joint_pose,
    relative_velocity,
    zero3,
)
from skodyn.kernels.status import NOT_UNIT, OK, failure
from skodyn.kernels.turns import prepare_turns
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    OMEGA,
    ROTATION,
    body_count,
    body_parameters,
    body_slot,
    entry,
    load3,
    load_matrix,
    parameter3,
    parameter_sym,
    store3,
    store6,
    store_matrix,
)
from skodyn.lanes import parameter, splat
from skodyn.model.layout import FIRST_MOMENT, GRAVITY, MASS, PARENT, SECOND_MOMENT
from skodyn.spatial.inertia import rotate_inertia
from skodyn.spatial.linear3 import add


@helper
def begin_scatter(w, tree, q, q_first, nq, ws):
    """What placing a first body needs: turns of joints, and in record 0 the ground's motion."""
    prepare_turns(w, tree, q, q_first, nq, ws)
    one, zero = splat(w, 1.0), splat(w, 0.0)
    store_matrix(w, ws, ROTATION, (one, zero, zero, zero, one, zero, zero, zero, one))
    store3(w, ws, OMEGA, (zero, zero, zero))


@helper
def ground_acceleration(w, p):
    """Gravity as an upward acceleration of the ground."""
    g = parameter3(w, p, GRAVITY)
    zero = splat(w, 0.0)
    return zero3(w), (zero - g[0], zero - g[1], zero - g[2])


@helper
def body_inertia(w, p, k, r):
    """M(k) as (m, h, J) about the body origin, in world axes."""
    i = body_parameters(k)
    inertia = (
        splat(w, parameter(w, p, i + MASS)),
        parameter3(w, p, i + FIRST_MOMENT),
        parameter_sym(w, p, i + SECOND_MOMENT),
    )
    return rotate_inertia(r, inertia)


@helper
def place_body(w, tree, p, k, q, q_first, nq, ws):
    """Store and return (R, l) of body k; the parent must have been placed."""
    r, l, sound = joint_pose(  # noqa: E741
        w, tree, p, k, load_matrix(w, ws, body_slot(entry(tree, k, PARENT)) + ROTATION),
        q, q_first, nq, ws,
    )  # fmt: skip
    slot = body_slot(k)
    store_matrix(w, ws, slot + ROTATION, r)
    store3(w, ws, slot + ARM, l)
    return r, l, sound


@helper
def scatter_poses(w, tree, p, q, q_first, nq, ws):
    """R and l of every body."""
    begin_scatter(w, tree, q, q_first, nq, ws)
    status = OK
    for k in range(body_count(tree)):
        _, _, sound = place_body(w, tree, p, k, q, q_first, nq, ws)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def move_body(w, tree, p, k, r, l, v, v_first, nv, ws):  # noqa: E741
    """Store ω(k); return (ω, a(k))."""
    parent_omega = load3(w, ws, body_slot(entry(tree, k, PARENT)) + OMEGA)
    motion = relative_velocity(w, tree, p, k, r, v, v_first, nv, ws)
    omega = add(parent_omega, motion[0])
    store3(w, ws, body_slot(k) + OMEGA, omega)
    return omega, coriolis_acceleration(parent_omega, l, motion)


@helper
def scatter_rates(w, tree, p, q, q_first, nq, v, v_first, nv, ws):
    """R, l, ω and a(k) of every body."""
    begin_scatter(w, tree, q, q_first, nq, ws)
    status = OK
    for k in range(body_count(tree)):
        r, l, sound = place_body(w, tree, p, k, q, q_first, nq, ws)  # noqa: E741
        _, a = move_body(w, tree, p, k, r, l, v, v_first, nv, ws)
        store6(w, ws, body_slot(k) + CORIOLIS, a)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status
