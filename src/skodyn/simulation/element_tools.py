"""What helpers of elements add to: torques on degrees of freedom, forces on bodies."""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.rows import row3, store_row3
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import fma, load_rows, parameter, select, splat, sqrt, store_rows
from skodyn.spatial.linear3 import add, add_cross, dot, multiply_vector, scale, subtract

__all__ = ["add_force", "add_torque", "numbers3", "point_motion", "spring_force"]


@helper
def add_torque(work, tau, dof, torque):
    store_rows(work, tau, dof, load_rows(work, tau, dof) + torque)


@helper
def add_force(work, f_ext, k, force, arm, moment):
    """Add a force at `arm` from the origin of body k, and a moment."""
    if k >= 0:
        total = add(row3(work, f_ext, 6 * k), add_cross(moment, arm, force))
        store_row3(work, f_ext, 6 * k, total)
        store_row3(work, f_ext, 6 * k + 3, add(row3(work, f_ext, 6 * k + 3), force))


@helper
def numbers3(work, numbers, i):
    one = splat(work, 1.0)
    return (
        one * parameter(work, numbers, i),
        one * parameter(work, numbers, i + 1),
        one * parameter(work, numbers, i + 2),
    )


@helper
def point_motion(work, model, k, point):
    """(arm from the body's origin, position, velocity) of a point fixed in body k or the ground."""
    slot = body_slot(k)
    arm = multiply_vector(load_matrix(work, slot + BODY.ROTATION), point)
    omega, origin_velocity = load6(work, slot + BODY.MOTION)
    return (
        arm,
        add(load3(work, sum_slot(model, k) + POSITION), arm),
        add_cross(origin_velocity, omega, arm),
    )


@helper
def spring_force(work, numbers, i, end_a, end_b):
    """The force of a spring and damper on its end a. Each end: position and velocity. Numbers from
    i on: stiffness, damping, length."""
    place_a, speed_a = end_a
    place_b, speed_b = end_b
    line = subtract(place_b, place_a)
    length = sqrt(dot(line, line))
    away = length > 0.0
    direction = scale(select(away, 1.0 / select(away, length, 1.0 + 0.0 * length), 0.0), line)
    rate = dot(direction, subtract(speed_b, speed_a))
    pull = parameter(work, numbers, i) * (length - parameter(work, numbers, i + 2))
    pull = fma(parameter(work, numbers, i + 1), rate, pull)
    return scale(pull, direction)
