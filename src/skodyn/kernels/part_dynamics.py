"""A part of a system by itself: what its neighbours need to know of it, and how it moves with them.

A part hangs from a body of another part, its base, and carries further parts at bodies of its own,
its ends. With α the acceleration of the base and F(c) what pushes end c from outside,

    force on the base  = P·α + z − Σ Ψ(c)·F(c)
    α(c)               = Ψ*(c)·α + β(c) + Σ Ω(c, c')·F(c')

where P and z are what Algorithm 6.1 of Jain 2011-II passes inward, Ψ(c) = ψ(base, c), and Ω is the
compliance of eq. 60 with the base held. `place` puts a part where its base is, `find_ends` finds
these matrices, `move` the accelerations once α and F are known. What `find_ends` leaves in the
workspace `move` reads, and leaves as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import FLOATS, INTS, RESULT, Group, helper, kernel
from skodyn.kernels.aba_passes import kept_force
from skodyn.kernels.articulated_inertia import kept_inertia
from skodyn.kernels.compliance import carry_forces_inward, scatter_compliances, write_block
from skodyn.kernels.entries import row_of
from skodyn.kernels.forward_dynamics import add_outer_force, gather_residuals, scatter_accelerations
from skodyn.kernels.jacobian import body_of, node_count
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.joint_trigonometry import prepare_sincos
from skodyn.kernels.kinematics import body_inertia, move_body, place_body
from skodyn.kernels.packed_model import PackedModel, body_count, entry, velocity_count
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import NOT_FINITE, NOT_UNIT, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store3, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot, free_slot
from skodyn.lanes import WIDTH_1, Rows, Work, load, pointer, shift_pointer, store, store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.articulated import add_applied_articulated, shift_articulated, subtract_rank_one
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
)

CARRIED = 72
"""Lanes behind the records: compliance.py's twelve 6-vectors, then ε of every degree of freedom,
then a 6-vector for each body."""


def part_lanes(n_bodies: int, nv: int) -> int:
    """Lanes that a part needs behind an ordinary workspace."""
    return CARRIED + nv + 6 * n_bodies


class PartState(NamedTuple):
    """What a part moves with, and under what."""

    q: Any
    v: Any
    tau: Any
    f_ext: Any


ARRAYS = Group(PackedModel, (INTS, FLOATS))
STATE = Group(PartState, (FLOATS, FLOATS, FLOATS, FLOATS))


@helper
def opened(arrays, lanes):
    model = PackedModel(pointer(arrays.tree), pointer(arrays.parameters))
    return Work(WIDTH_1, pointer(lanes)), model


@helper
def residue_slot(model, dof):
    return free_slot(model) + CARRIED + dof


@helper
def push_slot(model, k):
    return free_slot(model) + CARRIED + velocity_count(model) + 6 * k


@kernel(ARRAYS, FLOATS, STATE, FLOATS, RESULT, RESULT)
def place(arrays, base, state, ends, out, lanes):
    """R and ω of every end, twelve numbers each; base: those of the body that the part hangs from.

    The workspace then has poses, ω and a of all bodies.
    """
    work, model = opened(arrays, lanes)
    q, v, given = row_of(state.q), row_of(state.v), pointer(base)
    prepare_sincos(work, model, q)
    for i in range(9):
        store(work, BODY.ROTATION + i, given[i])
    for i in range(3):
        store(work, BODY.OMEGA + i, given[9 + i])
    status = OK
    for k in range(body_count(model)):
        r, l, sound = place_body(work, model, k, q)
        _, a = move_body(work, model, k, r, l, v)
        store6(work, body_slot(k) + BODY.CORIOLIS, a)
        if not sound:
            status = failure(NOT_UNIT, k)
    nodes, result = Rows(pointer(ends), 0, ends.size), row_of(out)
    for c in range(node_count(nodes)):
        slot = body_slot(body_of(nodes, c))
        for i in range(9):
            store_rows(work, result, 12 * c + i, load(work, slot + BODY.ROTATION + i))
        store_row3(work, result, 12 * c + 9, load3(work, slot + BODY.OMEGA))
    return status


@helper
def passed_to_base(work, model, f_ext):
    """(P, z) that the first body passes inward, seen from the origin of the base."""
    slot = body_slot(0)
    inertia = body_inertia(work, model, 0, load_matrix(work, slot + BODY.ROTATION))
    big_p = kept_inertia(work, model, 0, inertia)
    f = add_outer_force(work, 0, kept_force(work, model, 0), inertia, f_ext)
    z = add_applied_articulated(f, big_p, load6(work, slot + BODY.CORIOLIS))
    for d_back in range(entry(model, 0, N_DOF)):
        i = entry(model, 0, N_DOF) - 1 - d_back
        record = dof_slot(body_count(model), entry(model, 0, V_START) + i)
        u, pivot = load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT)
        big_p = subtract_rank_one(big_p, u, pivot)
        z = add_scaled_spatial(z, load(work, record + DOF.RESIDUE) * pivot, u)
    arm = load3(work, slot + BODY.ARM)
    return shift_articulated(big_p, arm), shift_force(arm, z)


@helper
def write_inertia(work, out, at, p):
    """A symmetric 6 × 6 matrix, row by row."""
    a, b, c = p
    store_row3(work, out, at, (a[0], a[1], a[2]))
    store_row3(work, out, at + 6, (a[1], a[3], a[4]))
    store_row3(work, out, at + 12, (a[2], a[4], a[5]))
    for i in range(3):
        store_row3(work, out, at + 6 * i + 3, (b[3 * i], b[3 * i + 1], b[3 * i + 2]))
        store_row3(work, out, at + 18 + 6 * i, (b[i], b[3 + i], b[6 + i]))
    store_row3(work, out, at + 21, (c[0], c[1], c[2]))
    store_row3(work, out, at + 27, (c[1], c[3], c[4]))
    store_row3(work, out, at + 33, (c[2], c[4], c[5]))


@kernel(ARRAYS, STATE, FLOATS, RESULT, RESULT, RESULT)
def find_ends(arrays, state, ends, out, vdot, lanes):
    """P (36), z (6), and for m ends Ω (6m × 6m), β (6m) and Ψ (a row for each column of the 6m).

    `place` has run. vdot: room for the accelerations with the base held.
    """
    work, model = opened(arrays, lanes)
    tau, f_ext = row_of(state.tau), Rows(pointer(state.f_ext), 0, state.f_ext.size)
    status = gather_residuals(work, model, tau, f_ext, True)
    result = row_of(out)
    if body_count(model) > 0:
        big_p, z = passed_to_base(work, model, f_ext)
        write_inertia(work, result, 0, big_p)
        store_row3(work, result, 36, z[0])
        store_row3(work, result, 39, z[1])
    nodes = Rows(pointer(ends), 0, ends.size)
    m = node_count(nodes)
    if m == 0:
        return status
    answer = scatter_accelerations(work, model, row_of(vdot))
    status = status if status != OK else answer
    scatter_compliances(work, model)
    square = Rows(shift_pointer(pointer(out), 42), 0, 1)
    for a in range(m):
        for b in range(a, m):
            write_block(work, model, nodes, a, b, square)
        motion = load6(work, body_slot(body_of(nodes, a)) + BODY.MOTION)
        store_row3(work, result, 42 + 36 * m * m + 6 * a, motion[0])
        store_row3(work, result, 42 + 36 * m * m + 6 * a + 3, motion[1])
        carry_forces_inward(work, model, nodes, a, -1, free_slot(model))
        for i in range(36):
            at = 42 + 36 * m * m + 6 * m + 36 * a + i
            store_rows(work, result, at, load(work, free_slot(model) + i))
    return status


@helper
def push_ends(work, model, nodes, forces):
    """ε under the forces at the ends: those that the bodies outboard of each joint let through."""
    n = body_count(model)
    for dof in range(velocity_count(model)):
        store(work, residue_slot(model, dof), load(work, dof_slot(n, dof) + DOF.RESIDUE))
    if node_count(nodes) == 0:
        return
    for i in range(6 * n):
        store(work, push_slot(model, 0) + i, 0.0)
    for c in range(node_count(nodes)):
        at = push_slot(model, body_of(nodes, c))
        for i in range(6):
            store(work, at + i, load(work, at + i) + forces[6 * c + i])
    for back in range(n):
        k = n - 1 - back
        r, f = load_matrix(work, body_slot(k) + BODY.ROTATION), load6(work, push_slot(model, k))
        for d_back in range(entry(model, k, N_DOF)):
            i = entry(model, k, N_DOF) - 1 - d_back
            dof = entry(model, k, V_START) + i
            record = dof_slot(n, dof)
            felt = dot_spatial(joint_column(work, model, k, i, r), f)
            at = residue_slot(model, dof)
            store(work, at, load(work, at) + felt)
            f = add_scaled_spatial(
                f, -felt * load(work, record + DOF.PIVOT), load6(work, record + DOF.GAIN)
            )
        parent = entry(model, k, PARENT)
        if parent >= 0:
            shifted = shift_force(load3(work, body_slot(k) + BODY.ARM), f)
            at = push_slot(model, parent)
            store6(work, at, add_spatial(load6(work, at), shifted))


@kernel(ARRAYS, FLOATS, FLOATS, FLOATS, RESULT, RESULT)
def move(arrays, base, forces, ends, vdot, lanes):
    """v̇ of a part whose base accelerates and whose ends are pushed; `find_ends` has run."""
    work, model = opened(arrays, lanes)
    n, given, result = body_count(model), pointer(base), row_of(vdot)
    push_ends(work, model, Rows(pointer(ends), 0, ends.size), pointer(forces))
    store3(work, BODY.MOTION, (given[0], given[1], given[2]))
    store3(work, BODY.MOTION + 3, (given[3], given[4], given[5]))
    status = OK
    for k in range(n):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        alpha = shift_motion(load3(work, slot + BODY.ARM), inner)  # α⁺
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            record = dof_slot(n, dof)
            felt = dot_spatial(load6(work, record + DOF.GAIN), alpha)
            rate = (load(work, residue_slot(model, dof)) - felt) * load(work, record + DOF.PIVOT)
            store_rows(work, result, dof, rate)
            if status == OK and not all_finite(rate):
                status = failure(NOT_FINITE, k)
            alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, add_spatial(alpha, load6(work, slot + BODY.CORIOLIS)))
    return status
