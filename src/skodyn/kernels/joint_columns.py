"""Every column of H* in world axes about its body's origin: six numbers per degree of freedom."""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, OK, coordinates_fit
from skodyn.kernels.workspace import (
    ROTATION,
    body_count,
    body_slot,
    entry,
    load_matrix,
    store_row3,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer
from skodyn.model.layout import N_DOF, NQ, NV, V_START


@helper
def sweep(w, tree, p, row, q, out, ws):
    """The columns of the states that begin at `row`: rows of 6·nv numbers."""
    stride = 6 * tree[NV]
    status = scatter_poses(w, tree, p, q, row * tree[NQ], tree[NQ], ws)
    for k in range(body_count(tree)):
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        for i in range(entry(tree, k, N_DOF)):
            at = 6 * (entry(tree, k, V_START) + i)
            u, t = joint_column(w, tree, p, k, i, r, ws)
            store_row3(w, out, row * stride, stride, at, u)
            store_row3(w, out, row * stride, stride, at + 3, t)
    return status


@brief_kernel(*one_state(0, dimensions=2))
def joint_columns(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == 6 * tree[NV]):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(out), ws)


@kernel(*BATCH)
def joint_columns_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(out), pointer(ws)
        )
        if status != OK:
            return status, first
    return OK, 0
