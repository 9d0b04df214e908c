"""Jacobian of a point fixed in a body, and the part J̇·v of its acceleration, in world axes.

The column of an ancestor, (u; t) about that ancestor's origin, is (u; t + u × r)
at the point, with r from the ancestor's origin to the point: arms added up on the way inward.
`x` holds (body, point in the kernel frame).
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import scatter_poses, scatter_rates
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
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
    store6,
    store_row3,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer, store_rows
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.linear3 import add, add_cross, cross, multiply_vector
from skodyn.spatial.motion import add_spatial, shift_motion


@helper
def point_arm(w, k, x, node, ws):
    """From the origin of body k to the point of `node` in x, world axes."""
    r = load_matrix(w, ws, body_slot(k) + ROTATION)
    return multiply_vector(r, (x[4 * node + 1], x[4 * node + 2], x[4 * node + 3]))


@helper
def write_column(w, out, first, nv, dof, h):
    """Column `dof` of a 6 × nv matrix, one per state."""
    stride = 6 * nv
    for part in range(2):
        for i in range(3):
            store_rows(w, out, first, stride, (3 * part + i) * nv + dof, h[part][i])


@helper
def sweep(w, tree, p, row, nq, nv, q, x, out, ws):
    """J, 6 × nv, of the states that begin at `row`."""
    status = scatter_poses(w, tree, p, q, row * nq, nq, ws)
    first, stride = row * 6 * nv, 6 * nv
    for i in range(stride):
        store_rows(w, out, first, stride, i, 0.0)
    k = int(x[0])
    arm = point_arm(w, k, x, 0, ws)
    while k >= 0:
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        if status == OK and not finite3(arm):
            status = failure(NOT_FINITE, k)
        for i in range(entry(tree, k, N_DOF)):
            u, t = joint_column(w, tree, p, k, i, r, ws)
            write_column(w, out, first, nv, entry(tree, k, V_START) + i, (u, add_cross(t, u, arm)))
        arm = add(arm, load3(w, ws, body_slot(k) + ARM))
        k = entry(tree, k, PARENT)
    return status


@helper
def sweep_bias(w, tree, p, row, nq, nv, q, v, x, out, ws):
    """J̇·v: the acceleration of the point when v̇ = 0."""
    status = scatter_rates(w, tree, p, q, row * nq, nq, v, row * nv, nv, ws)
    zero = zero3(w)
    store6(w, ws, MOTION, (zero, zero))
    for k in range(body_count(tree)):
        slot = body_slot(k)
        inner = load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION)
        carried = shift_motion(load3(w, ws, slot + ARM), inner)
        store6(w, ws, slot + MOTION, add_spatial(carried, load6(w, ws, slot + CORIOLIS)))
    k = int(x[0])
    arm = point_arm(w, k, x, 0, ws)
    omega = load3(w, ws, body_slot(k) + OMEGA)
    alpha = shift_motion(arm, load6(w, ws, body_slot(k) + MOTION))
    linear = add_cross(alpha[1], omega, cross(omega, arm))
    store_row3(w, out, row * 6, 6, 0, alpha[0])
    store_row3(w, out, row * 6, 6, 3, linear)
    if status == OK and not finite_spatial((alpha[0], linear)):
        status = failure(NOT_FINITE, k)
    return status


@brief_kernel(*one_state(1, dimensions=2))
def jacobian(block, q, x, out):
    """One state."""
    tree, p, ws = unpack(block)
    sizes = x.size == 4 and out.size == 6 * tree[NV] and out.shape[0] == 6
    if not (sizes and coordinates_fit(tree, q) and finite(x)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), pointer(x),
        pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def jacobian_batch(tree, p, start, stop, q, _v, x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q), pointer(x),
            pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0


@brief_kernel(*one_state(2))
def jacobian_dot_v(block, q, v, x, out):
    """One state."""
    tree, p, ws = unpack(block)
    sizes = v.size == tree[NV] and x.size == 4 and out.size == 6
    if not (sizes and coordinates_fit(tree, q) and finite(v) and finite(x)):
        return BAD_INPUT
    return sweep_bias(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), pointer(v),
        pointer(x), pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def jacobian_dot_v_batch(tree, p, start, stop, q, v, x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep_bias(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q), pointer(v),
            pointer(x), pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
