"""Kinetic and potential energy, momentum and centre of mass: one scatter and a sum over bodies.

Twelve numbers per state: kinetic, potential, momentum about the world origin [angular; linear],
centre of mass, total mass. Rotors (armature) count in the kinetic energy only. Potential energy is
zero with all mass at the world origin. The moment of momentum is summed about the first body's
origin and carried to the world origin at the end, so that a system far away loses no digits in the
sum.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions, scatter_velocities
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.kinematics import body_inertia, scatter_rates
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
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
    unpack,
)
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    fma,
    load_rows,
    pointer,
    splat,
    store_rows,
)
from skodyn.model.layout import GRAVITY, NQ, NV
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import add, add_cross, add_scaled, dot, scale, subtract
from skodyn.spatial.motion import dot_spatial

_INFINITY = float("inf")
ROW = 12


@helper
def sweep(w, tree, p, row, nq, nv, q, v, out, ws):
    """The row of the states that begin at `row`; rows of v may be longer (nv) than velocities."""
    status = scatter_rates(w, tree, p, q, row * nq, nq, v, row * nv, nv, ws)
    scatter_positions(w, tree, ws)
    scatter_velocities(w, tree, p, v, row * nv, nv, ws)
    reference = load3(w, ws, sum_slot(tree, 0) + POSITION)
    kinetic, mass = splat(w, 0.0), splat(w, 0.0)
    angular, linear, moment = zero3(w), zero3(w), zero3(w)
    for k in range(body_count(tree)):
        slot = body_slot(k)
        inertia = body_inertia(w, p, k, load_matrix(w, ws, slot + ROTATION))
        velocity = load6(w, ws, slot + MOTION)
        momentum = apply_inertia(inertia, velocity)
        arm = subtract(load3(w, ws, sum_slot(tree, k) + POSITION), reference)
        kinetic = fma(0.5, dot_spatial(velocity, momentum), kinetic)
        angular = add_cross(add(angular, momentum[0]), arm, momentum[1])
        linear = add(linear, momentum[1])
        moment = add(moment, add_scaled(inertia[1], inertia[0], arm))
        mass = mass + inertia[0]
    for dof in range(tree[NV]):
        rate = load_rows(w, v, row * nv, nv, dof)
        kinetic = fma(0.5 * armature(w, p, body_count(tree), dof) * rate, rate, kinetic)
    g = parameter3(w, p, GRAVITY)
    potential = -(dot(g, moment) + mass * dot(g, reference))
    store_rows(w, out, row * ROW, ROW, 0, kinetic)
    store_rows(w, out, row * ROW, ROW, 1, potential)
    store_row3(w, out, row * ROW, ROW, 2, add_cross(angular, reference, linear))
    store_row3(w, out, row * ROW, ROW, 5, linear)
    store_row3(w, out, row * ROW, ROW, 8, add(reference, scale(1.0 / mass, moment)))
    store_rows(w, out, row * ROW, ROW, 11, mass)
    if status == OK and not all_lanes(absolute(kinetic + potential) < _INFINITY):
        status = failure(NOT_FINITE, 0)
    return status


@brief_kernel(*one_state(1))
def energy(block, q, v, out):
    """One state."""
    tree, p, ws = unpack(block)
    sizes = v.size == tree[NV] and out.size == ROW
    if not (sizes and coordinates_fit(tree, q) and finite(v)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), pointer(v),
        pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def energy_batch(tree, p, start, stop, q, v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q), pointer(v),
            pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
