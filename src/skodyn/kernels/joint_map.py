"""H in world axes: a row [u; t] of six numbers for each degree of freedom."""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.status import BAD_INPUT, coordinates_fit
from skodyn.kernels.workspace import (
    ROTATION,
    body_count,
    body_slot,
    entry,
    load_matrix,
    store_row3,
    unpack,
)
from skodyn.lanes import WIDTH_1, pointer
from skodyn.model.layout import N_DOF, NQ, NV, V_START


@helper
def sweep(w, tree, p, q, out, ws):
    """The rows of H, nv × 6."""
    status = scatter_poses(w, tree, p, q, 0, tree[NQ], ws)
    for k in range(body_count(tree)):
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        for i in range(entry(tree, k, N_DOF)):
            u, t = joint_column(w, tree, p, k, i, r, ws)
            at = 6 * (entry(tree, k, V_START) + i)
            store_row3(w, out, 0, 6 * tree[NV], at, u)
            store_row3(w, out, 0, 6 * tree[NV], at + 3, t)
    return status


@brief_kernel
def joint_map(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (out.size == 6 * tree[NV] and coordinates_fit(tree, q)):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, pointer(q), pointer(out), ws)
