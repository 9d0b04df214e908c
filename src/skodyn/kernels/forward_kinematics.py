"""Poses, spatial velocities and accelerations of all bodies: base-to-tips scatters.

Written per body as 30 numbers: R (kernel frame, nine), position (three), V (six), a(k) (six),
b(k) (six). What is not asked for (no v) is zero.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import relative_velocity
from skodyn.kernels.kinematics import body_inertia, scatter_poses, scatter_rates
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    FORCE,
    MOTION,
    OMEGA,
    ROTATION,
    body_count,
    body_slot,
    entry,
    finite3,
    finite_spatial,
    load3,
    load6,
    load_matrix,
    store3,
    store6,
    store_row3,
    sum_slot,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer, splat, store_rows
from skodyn.model.layout import NQ, NV, PARENT
from skodyn.spatial.inertia import gyroscopic_force
from skodyn.spatial.linear3 import add
from skodyn.spatial.motion import shift_motion

POSITION = FORCE  # this algorithm gathers no force
ROW = 30
"""Numbers per body in the output."""


@helper
def scatter_positions(w, tree, ws):
    """Origins in world axes, from the arms."""
    zero = splat(w, 0.0)
    store3(w, ws, sum_slot(tree, -1) + POSITION, (zero, zero, zero))
    for k in range(body_count(tree)):
        inner = load3(w, ws, sum_slot(tree, entry(tree, k, PARENT)) + POSITION)
        store3(w, ws, sum_slot(tree, k) + POSITION, add(inner, load3(w, ws, body_slot(k) + ARM)))


@helper
def scatter_velocities(w, tree, p, v, v_first, nv, ws):
    """V(k) = φ*(℘(k), k)·V(℘(k)) + H*(k)·v(k), into MOTION; rates must be in the workspace."""
    zero = splat(w, 0.0)
    store6(w, ws, MOTION, ((zero, zero, zero), (zero, zero, zero)))
    for k in range(body_count(tree)):
        slot = body_slot(k)
        r = load_matrix(w, ws, slot + ROTATION)
        inner = load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION)
        carried = shift_motion(load3(w, ws, slot + ARM), inner)
        spin, slide, _, _ = relative_velocity(w, tree, p, k, r, v, v_first, nv, ws)
        store6(w, ws, slot + MOTION, (add(carried[0], spin), add(carried[1], slide)))


@helper
def write_body(w, tree, p, k, moving, out, first, stride, ws):
    """The row of body k; are its numbers finite?"""
    slot = body_slot(k)
    r = load_matrix(w, ws, slot + ROTATION)
    at = k * ROW
    store_row3(w, out, first, stride, at, (r[0], r[1], r[2]))
    store_row3(w, out, first, stride, at + 3, (r[3], r[4], r[5]))
    store_row3(w, out, first, stride, at + 6, (r[6], r[7], r[8]))
    position = load3(w, ws, sum_slot(tree, k) + POSITION)
    store_row3(w, out, first, stride, at + 9, position)
    sound = finite3(position)
    if moving:
        velocity, a = load6(w, ws, slot + MOTION), load6(w, ws, slot + CORIOLIS)
        b = gyroscopic_force(body_inertia(w, p, k, r), load3(w, ws, slot + OMEGA))
        store_row3(w, out, first, stride, at + 12, velocity[0])
        store_row3(w, out, first, stride, at + 15, velocity[1])
        store_row3(w, out, first, stride, at + 18, a[0])
        store_row3(w, out, first, stride, at + 21, a[1])
        store_row3(w, out, first, stride, at + 24, b[0])
        store_row3(w, out, first, stride, at + 27, b[1])
        sound = sound and finite_spatial(velocity) and finite_spatial(a) and finite_spatial(b)
    else:
        for i in range(12, ROW):
            store_rows(w, out, first, stride, at + i, splat(w, 0.0))
    return sound


@helper
def sweep(w, tree, p, row, nq, nv, q, v, moving, out, ws):
    """The rows of the states that begin at `row`."""
    if moving:
        status = scatter_rates(w, tree, p, q, row * nq, nq, v, row * nv, nv, ws)
        scatter_velocities(w, tree, p, v, row * nv, nv, ws)
    else:
        status = scatter_poses(w, tree, p, q, row * nq, nq, ws)
    scatter_positions(w, tree, ws)
    n = body_count(tree)
    for k in range(n):
        sound = write_body(w, tree, p, k, moving, out, row * n * ROW, n * ROW, ws)
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    return status


@helper
def rows_fit(tree, out):
    return out.size == ROW * body_count(tree) and out.shape[0] == body_count(tree)


@brief_kernel(*one_state(0, dimensions=2))
def forward_kinematics(block, q, out):
    """One state, poses only."""
    tree, p, ws = unpack(block)
    if not (rows_fit(tree, out) and coordinates_fit(tree, q)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), pointer(q), False, pointer(out), ws
    )


@brief_kernel(*one_state(1, dimensions=2))
def velocities(block, q, v, out):
    """One state, poses and everything of its motion."""
    tree, p, ws = unpack(block)
    if not (v.size == tree[NV] and rows_fit(tree, out) and coordinates_fit(tree, q) and finite(v)):
        return BAD_INPUT
    return sweep(
        WIDTH_1,
        tree,
        p,
        0,
        tree[NQ],
        tree[NV],
        pointer(q),
        pointer(v),
        v.size > 0,
        pointer(out),
        ws,
    )


@kernel(*BATCH)
def forward_kinematics_batch(tree, p, start, stop, q, v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q), pointer(v),
            v.size > 0, pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
