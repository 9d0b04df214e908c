"""Kinetic and potential energy, momentum and centre of mass: one scatter and a sum over bodies.

Twelve numbers per state: kinetic, potential, momentum about the world origin [angular; linear],
centre of mass, total mass. Rotors (armature) count in the kinetic energy only. Potential energy is
zero with all mass at the world origin. The moment of momentum is summed about the first body's
origin and carried to the world origin at the end, so that a system far away loses no digits in the
sum.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions, scatter_velocities
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.kinematics import body_inertia, scatter_rates
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.workspace import (
    MOTION,
    ROTATION,
    armature,
    body_count,
    body_slot,
    load3,
    load6,
    load_matrix,
    parameter3,
    store_row3,
    sum_slot,
    velocity_count,
)
from skodyn.lanes import (
    absolute,
    all_lanes,
    fma,
    load_rows,
    splat,
    store_rows,
)
from skodyn.model.layout import GRAVITY
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import add, add_cross, add_scaled, dot, scale, subtract
from skodyn.spatial.motion import dot_spatial

_INFINITY = float("inf")
ROW = 12


@helper
def sweep(work, model, given, out):
    """The twelve numbers; rows of v may be longer than velocities."""
    status = scatter_rates(work, model, given.q, given.v)
    scatter_positions(work, model)
    scatter_velocities(work, model, given.v)
    reference = load3(work, sum_slot(model, 0) + POSITION)
    kinetic, mass = splat(work, 0.0), splat(work, 0.0)
    angular, linear, moment = zero3(work), zero3(work), zero3(work)
    for k in range(body_count(model)):
        slot = body_slot(k)
        inertia = body_inertia(work, model, k, load_matrix(work, slot + ROTATION))
        velocity = load6(work, slot + MOTION)
        momentum = apply_inertia(inertia, velocity)
        arm = subtract(load3(work, sum_slot(model, k) + POSITION), reference)
        kinetic = fma(0.5, dot_spatial(velocity, momentum), kinetic)
        angular = add_cross(add(angular, momentum[0]), arm, momentum[1])
        linear = add(linear, momentum[1])
        moment = add(moment, add_scaled(inertia[1], inertia[0], arm))
        mass = mass + inertia[0]
    for dof in range(velocity_count(model)):
        rate = load_rows(work, given.v, dof)
        kinetic = fma(0.5 * armature(work, model, dof) * rate, rate, kinetic)
    g = parameter3(work, model, GRAVITY)
    potential = -(dot(g, moment) + mass * dot(g, reference))
    store_rows(work, out, 0, kinetic)
    store_rows(work, out, 1, potential)
    store_row3(work, out, 2, add_cross(angular, reference, linear))
    store_row3(work, out, 5, linear)
    store_row3(work, out, 8, add(reference, scale(1.0 / mass, moment)))
    store_rows(work, out, 11, mass)
    if status == OK and not all_lanes(absolute(kinetic + potential) < _INFINITY):
        status = failure(NOT_FINITE, 0)
    return status


@helper
def shape(model, count):
    return ROW, 1


energy = one_state("energy", sweep, shape, "q v")
energy_batch = batch("energy_batch", sweep, shape)
