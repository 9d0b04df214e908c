"""Every inertia of every body, written out: composite R, articulated P and P⁺, compliance Υ.

A look inside the recursions of Jain 2011-II (Algorithm 4.1, eq. 33 and eq. 24 with 𝔸 = 𝔹 = ψ).
Per body 73 numbers: R as (m, h, J), then P, P⁺ and Υ as three blocks each; behind the bodies, the
columns of H*, six numbers per degree of freedom.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.articulated_inertia import gathered_inertia, pass_inertia_inward, yield_joint
from skodyn.kernels.compliance import scatter_compliances
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_poses
from skodyn.kernels.mass_matrix import gather_composite_inertia
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, OK, SINGULAR, failure
from skodyn.kernels.workspace import (
    INERTIA,
    ROTATION,
    body_count,
    body_slot,
    entry,
    load_articulated,
    load_matrix,
    store_row3,
    sum_slot,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer, store_rows
from skodyn.model.layout import N_BODIES, N_DOF, NQ, NV, V_START

COMPOSITE, ARTICULATED, PASSED_ON, COMPLIANCE = 0, 10, 31, 52
ROW = 73


@helper
def row_length(tree):
    return ROW * tree[N_BODIES] + 6 * tree[NV]


@helper
def write_articulated(w, out, first, stride, at, y):
    for i in range(6):
        store_rows(w, out, first, stride, at + i, y[0][i])
        store_rows(w, out, first, stride, at + 15 + i, y[2][i])
    for i in range(9):
        store_rows(w, out, first, stride, at + 6 + i, y[1][i])


@helper
def write_composites(w, tree, p, out, first, stride, ws):
    n = body_count(tree)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        m, h, j = gather_composite_inertia(w, tree, p, k, r, ws)
        at = ROW * k + COMPOSITE
        store_rows(w, out, first, stride, at, m)
        store_row3(w, out, first, stride, at + 1, h)
        for i in range(6):
            store_rows(w, out, first, stride, at + 4 + i, j[i])


@helper
def write_articulated_inertias(w, tree, p, out, first, stride, ws):
    n = body_count(tree)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        big_p = gathered_inertia(w, tree, k, body_inertia(w, p, k, r), ws)
        p_plus, sound = yield_joint(w, tree, p, k, r, big_p, ws)
        pass_inertia_inward(w, tree, k, p_plus, False, ws)
        write_articulated(w, out, first, stride, ROW * k + ARTICULATED, big_p)
        write_articulated(w, out, first, stride, ROW * k + PASSED_ON, p_plus)
        for i in range(entry(tree, k, N_DOF)):
            u, t = joint_column(w, tree, p, k, i, r, ws)
            at = ROW * n + 6 * (entry(tree, k, V_START) + i)
            store_row3(w, out, first, stride, at, u)
            store_row3(w, out, first, stride, at + 3, t)
        if not sound:
            status = failure(SINGULAR, k)
    return status


@helper
def sweep(w, tree, p, row, q, out, ws):
    """The rows of the states that begin at `row`."""
    stride = row_length(tree)
    first = row * stride
    status = scatter_poses(w, tree, p, q, row * tree[NQ], tree[NQ], ws)
    write_composites(w, tree, p, out, first, stride, ws)
    answer = write_articulated_inertias(w, tree, p, out, first, stride, ws)
    scatter_compliances(w, tree, p, ws)
    for k in range(body_count(tree)):
        y = load_articulated(w, ws, sum_slot(tree, k) + INERTIA)
        write_articulated(w, out, first, stride, ROW * k + COMPLIANCE, y)
    return status if status != OK else answer


@brief_kernel(*one_state(0))
def body_inertias(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if q.size != tree[NQ] or out.size != row_length(tree):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(out), ws)


@kernel(*BATCH)
def body_inertias_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(out), pointer(ws)
        )
        if status != OK:
            return status, first
    return OK, 0
