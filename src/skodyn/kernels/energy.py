"""Kinetic and potential energy, momentum and centre of mass: one scatter and a sum over bodies.

Twelve numbers per state: kinetic, potential, momentum about the world origin [angular; linear],
centre of mass, total mass. Rotors (armature) count in the kinetic energy only. Potential energy is
zero with all mass at the world origin. The moment of momentum is summed about the first body's
origin and carried to the world origin at the end, so that a system far away loses no digits in the
sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper, shared_routine
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions, scatter_velocities
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.kinematics import body_inertia, scatter_rates
from skodyn.kernels.packed_model import armature, body_count, parameter3, velocity_count
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import fma, load_rows, splat, store_rows
from skodyn.model.layout import GRAVITY
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import add, add_cross, add_scaled, dot, scale, subtract
from skodyn.spatial.motion import dot_spatial

ROW = 12


class Sums(NamedTuple):
    """What is summed over bodies; moments are about the origin of the first."""

    kinetic: Any
    mass: Any
    angular: Any
    linear: Any
    moment: Any  # mass times centre of mass


@helper
def no_sums(work):
    zero, none = splat(work, 0.0), zero3(work)
    return Sums(zero, zero, none, none, none)


@helper
def add_body(sums, inertia, momentum, kinetic, arm):
    """With a body whose origin is at `arm`; kinetic: the energy of all bodies with this one."""
    return Sums(
        kinetic,
        sums.mass + inertia[0],
        add_cross(add(sums.angular, momentum[0]), arm, momentum[1]),
        add(sums.linear, momentum[1]),
        add(sums.moment, add_scaled(inertia[1], inertia[0], arm)),
    )


@helper
def with_rotors(work, model, v, kinetic):
    """The kinetic energy with that of all rotors."""
    for dof in range(velocity_count(model)):
        rate = load_rows(work, v, dof)
        kinetic = fma(0.5 * armature(work, model, dof) * rate, rate, kinetic)
    return kinetic


@helper
def work_of_gravity(work, model, sums, reference):
    """What gravity does while the system comes here from the world origin."""
    g = parameter3(work, model, GRAVITY)
    return dot(g, sums.moment) + sums.mass * dot(g, reference)


@helper
def write_sums(work, sums, energies, reference, out):
    """The twelve numbers; are the (kinetic, potential) energies finite?"""
    kinetic, potential = energies
    store_rows(work, out, 0, kinetic)
    store_rows(work, out, 1, potential)
    store_row3(work, out, 2, add_cross(sums.angular, reference, sums.linear))
    store_row3(work, out, 5, sums.linear)
    store_row3(work, out, 8, add(reference, scale(1.0 / sums.mass, sums.moment)))
    store_rows(work, out, 11, sums.mass)
    return all_finite(kinetic + potential)


@shared_routine
def sweep(work, model, given, out):
    """The twelve numbers; rows of v may be longer than velocities."""
    status = scatter_rates(work, model, given.q, given.v)
    scatter_positions(work, model)
    scatter_velocities(work, model, given.v)
    reference, sums = load3(work, sum_slot(model, 0) + POSITION), no_sums(work)
    for k in range(body_count(model)):
        slot = body_slot(k)
        inertia = body_inertia(work, model, k, load_matrix(work, slot + BODY.ROTATION))
        velocity = load6(work, slot + BODY.MOTION)
        momentum = apply_inertia(inertia, velocity)
        kinetic = fma(0.5, dot_spatial(velocity, momentum), sums.kinetic)
        arm = subtract(load3(work, sum_slot(model, k) + POSITION), reference)
        sums = add_body(sums, inertia, momentum, kinetic, arm)
    kinetic = with_rotors(work, model, given.v, sums.kinetic)
    potential = -work_of_gravity(work, model, sums, reference)
    sound = write_sums(work, sums, (kinetic, potential), reference, out)
    return failure(NOT_FINITE, 0) if status == OK and not sound else status


@helper
def shape(model, count):
    return ROW, 1


energy = one_state("energy", sweep, shape, "q v")
energy_batch = batch("energy_batch", sweep, shape)
