"""The force transmitted through each joint while the system moves under given torques.

After forward dynamics, by either form of the articulated model (Jain, SOA slides 2024):

    f = P·(α − a) + z     on the outboard side of the joint,
    f = P⁺·α⁺ + z⁺        on its inboard side.

Both are written, six numbers each per body; they agree to rounding.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels import forward_dynamics as fd
from skodyn.kernels.articulated_inertia import kept_inertia
from skodyn.kernels.kinematics import body_inertia
from skodyn.kernels.residuals import add_scaled_spatial, kept_force
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, OK, finite, state_fits
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    GAIN,
    MOTION,
    PIVOT,
    RESIDUE,
    ROTATION,
    body_count,
    body_slot,
    dof_slot,
    entry,
    load3,
    load6,
    load_matrix,
    store_row3,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, load, pointer
from skodyn.model.layout import N_DOF, NV, PARENT, V_START
from skodyn.spatial.articulated import add_applied_articulated, apply_articulated, subtract_rank_one
from skodyn.spatial.motion import add_spatial, shift_motion, subtract_spatial

ROW = 12


@helper
def both_sides(w, tree, p, k, f_ext, f_first, f_stride, ws):
    """f(k) from P and z, and from P⁺ and z⁺."""
    slot = body_slot(k)
    inertia = body_inertia(w, p, k, load_matrix(w, ws, slot + ROTATION))
    big_p = kept_inertia(w, tree, k, inertia, ws)
    a = load6(w, ws, slot + CORIOLIS)
    f = kept_force(w, tree, k, ws)
    f = fd.add_outer_force(w, k, f, inertia, f_ext, f_first, f_stride, ws)
    z = add_applied_articulated(f, big_p, a)
    motion = subtract_spatial(load6(w, ws, slot + MOTION), a)
    outboard = add_spatial(apply_articulated(big_p, motion), z)
    for d_back in range(entry(tree, k, N_DOF)):
        i = entry(tree, k, N_DOF) - 1 - d_back
        record = dof_slot(body_count(tree), entry(tree, k, V_START) + i)
        u, pivot = load6(w, ws, record + GAIN), load(w, ws, record + PIVOT)
        big_p = subtract_rank_one(big_p, u, pivot)
        z = add_scaled_spatial(z, load(w, ws, record + RESIDUE) * pivot, u)
    inner = load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION)
    alpha_plus = shift_motion(load3(w, ws, slot + ARM), inner)
    return outboard, add_spatial(apply_articulated(big_p, alpha_plus), z)


@helper
def sweep(w, tree, p, row, q, v, tau, f_ext, f_stride, out, ws):
    """v̇ and both forms of f for the states that begin at `row`: rows of nv + 12·n numbers."""
    n, nv = body_count(tree), tree[NV]
    stride = nv + ROW * n
    status = fd.sweep(w, tree, p, row, q, v, tau, f_ext, f_stride, out, stride, True, ws)
    for k in range(n):
        outboard, inboard = both_sides(w, tree, p, k, f_ext, row * f_stride, f_stride, ws)
        at = nv + ROW * k
        store_row3(w, out, row * stride, stride, at, outboard[0])
        store_row3(w, out, row * stride, stride, at + 3, outboard[1])
        store_row3(w, out, row * stride, stride, at + 6, inboard[0])
        store_row3(w, out, row * stride, stride, at + 9, inboard[1])
    return status


@brief_kernel(*one_state(3))
def joint_forces(block, q, v, tau, f_ext, out):
    """One state."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and tau.size == nv and out.size == nv + ROW * body_count(tree)
    if not (sizes and state_fits(tree, q, v, f_ext) and finite(tau)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, pointer(q), pointer(v), pointer(tau),
        pointer(f_ext), f_ext.size, pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def joint_forces_batch(tree, p, start, stop, q, v, tau, f_ext, f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(tau),
            pointer(f_ext), f_stride, pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
