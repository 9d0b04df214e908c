"""𝓜·x = rhs in O(N) per right-hand side.

𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK) (Jain 2011-II, Lemma 11) applied from right to left: a gather of
residuals and a scatter of accelerations, as in forward dynamics but with nothing moving and
nothing falling.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.articulated_inertia import gather_articulated_inertias
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.matrices import put
from skodyn.kernels.residuals import (
    add_scaled_spatial,
    answer_acceleration,
    pass_force_inward,
    passed_force,
    take_residue,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
from skodyn.kernels.workspace import (
    ARM,
    MOTION,
    ROTATION,
    body_count,
    body_slot,
    entry,
    load3,
    load6,
    load_matrix,
    store6,
    unpack,
)
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    pointer,
)
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.motion import shift_motion

_INFINITY = float("inf")


@helper
def prepare(w, tree, p, q, q_first, nq, ws):
    """Poses and articulated inertias: what every right-hand side shares."""
    first = scatter_poses(w, tree, p, q, q_first, nq, ws)
    second = gather_articulated_inertias(w, tree, p, False, ws)
    return first if first != OK else second


@helper
def scatter_answers(w, tree, p, stop, out, first, stride, step, ws):
    """Base to tips, up to body `stop`: x from the residuals ε; element i is `put` at i·step."""
    status = OK
    zero = zero3(w)
    store6(w, ws, MOTION, (zero, zero))
    for k in range(stop):
        slot = body_slot(k)
        r = load_matrix(w, ws, slot + ROTATION)
        alpha = load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION)
        alpha = shift_motion(load3(w, ws, slot + ARM), alpha)
        for i in range(entry(tree, k, N_DOF)):
            x = answer_acceleration(w, tree, k, i, alpha, ws)
            put(w, out, first, stride, (entry(tree, k, V_START) + i) * step, x)
            if status == OK and not all_lanes(absolute(x) < _INFINITY):
                status = failure(NOT_FINITE, k)
            alpha = add_scaled_spatial(alpha, x, joint_column(w, tree, p, k, i, r, ws))
        store6(w, ws, slot + MOTION, alpha)
    return status


@helper
def solve(w, tree, p, rhs, first, nv, out, ws):
    """One right-hand side per state; `prepare` has run."""
    n = body_count(tree)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        z = passed_force(w, tree, k, ws)
        z = take_residue(w, tree, p, k, r, z, rhs, first, nv, ws)
        pass_force_inward(w, tree, k, z, False, ws)
    return scatter_answers(w, tree, p, n, out, first, nv, 1, ws)


@brief_kernel(*one_state(1))
def mass_matrix_solve(block, q, rhs, out):
    """One state, any number of right-hand sides, each a row of `rhs`."""
    tree, p, ws = unpack(block)
    nv, rows = tree[NV], rhs.size // max(tree[NV], 1)
    sizes = rhs.size == rows * nv and out.size == rhs.size
    if not (sizes and coordinates_fit(tree, q) and finite(rhs)):
        return BAD_INPUT
    t, c, x, y, s = tree, p, pointer(rhs), pointer(out), ws
    status = prepare(WIDTH_1, t, c, pointer(q), 0, tree[NQ], s)
    for row in range(rows):
        answer = solve(WIDTH_1, t, c, x, row * nv, nv, y, s)
        status = status if status != OK else answer
    return status


@kernel(*BATCH)
def mass_matrix_solve_batch(tree, p, start, stop, q, _v, rhs, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    t, c, x, y, s = pointer(tree), pointer(p), pointer(rhs), pointer(out), pointer(ws)
    nq, nv = tree[NQ], tree[NV]
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = prepare(WIDTH_N, t, c, pointer(q), first * nq, nq, s)
        if status == OK:
            status = solve(WIDTH_N, t, c, x, first * nv, nv, y, s)
        if status != OK:
            return status, first
    return OK, 0
