"""Forward dynamics and the inverse of the mass matrix for models with mimic joints.

The O(N) recursions run on the full tree; coupled_accelerations.py makes its joints follow.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels import forward_dynamics as fd
from skodyn.kernels.coupled_accelerations import (
    couple_accelerations,
    coupling_logdet,
    factor_couplings,
)
from skodyn.kernels.mass_matrix_solve import prepare, solve
from skodyn.kernels.mimics import (
    expand_coordinates,
    expand_rates,
    factor_lanes,
    full_dof,
    full_tree,
    pick_rates,
    scratch_slot,
    spread_forces,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import (
    BAD_INPUT,
    NOT_FINITE,
    OK,
    coordinates_fit,
    failure,
    finite,
    state_fits,
)
from skodyn.kernels.workspace import PIVOT, body_count, dof_slot, unpack
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    load,
    load_rows,
    logarithm,
    pointer,
    shift_pointer,
    splat,
    store_rows,
)
from skodyn.model.layout import NQ, NV

_INFINITY = float("inf")


@helper
def tables(tree, lanes, ws):
    """Rows over the full tree, behind the factors: q, v, tau, accelerations."""
    full = full_tree(tree)
    start = scratch_slot(tree) + factor_lanes(tree)
    return (
        shift_pointer(ws, lanes * start),
        shift_pointer(ws, lanes * (start + full[NQ])),
        shift_pointer(ws, lanes * (start + full[NQ] + full[NV])),
        shift_pointer(ws, lanes * (start + full[NQ] + 2 * full[NV])),
    )


@helper
def sweep(w, lanes, tree, p, row, q, v, tau, f_ext, f_stride, vdot, ws):
    """v̇ of the states that begin at `row`."""
    full = full_tree(tree)
    nq, nv = full[NQ], full[NV]
    full_q, full_v, full_tau, rates = tables(tree, lanes, ws)
    expand_coordinates(w, tree, p, q, row * tree[NQ], tree[NQ], full_q, nq)
    expand_rates(w, tree, p, v, row * tree[NV], tree[NV], full_v, nv)
    spread_forces(w, tree, tau, row * tree[NV], tree[NV], full_tau, nv)
    forces = shift_pointer(f_ext, row * f_stride)
    status = fd.sweep(
        w, full, p, 0, full_q, full_v, full_tau, forces, f_stride, rates, nv, False, ws
    )
    second = factor_couplings(w, lanes, tree, p, ws)
    third = couple_accelerations(w, lanes, tree, p, rates, nv, ws)
    pick_rates(w, tree, rates, nv, vdot, row * tree[NV], tree[NV])
    if status != OK:
        return status
    return second if second != OK else third


@helper
def prepare_coupled(w, lanes, tree, p, q, q_first, ws):
    """Articulated inertias of the full tree, and the factors of the couplings."""
    full = full_tree(tree)
    full_q, _, _, _ = tables(tree, lanes, ws)
    expand_coordinates(w, tree, p, q, q_first, tree[NQ], full_q, full[NQ])
    status = prepare(w, full, p, full_q, 0, full[NQ], ws)
    answer = factor_couplings(w, lanes, tree, p, ws)
    return status if status != OK else answer


@helper
def solve_coupled(w, lanes, tree, p, rhs, first, out, ws):
    """(Gᵀ𝓜G)⁻¹·rhs for one row per state; prepare_coupled has run."""
    full = full_tree(tree)
    _, _, full_tau, rates = tables(tree, lanes, ws)
    spread_forces(w, tree, rhs, first, tree[NV], full_tau, full[NV])
    status = solve(w, full, p, full_tau, 0, full[NV], rates, ws)
    answer = couple_accelerations(w, lanes, tree, p, rates, full[NV], ws)
    pick_rates(w, tree, rates, full[NV], out, first, tree[NV])
    return status if status != OK else answer


@helper
def invert_coupled(w, lanes, tree, p, first, out, ws):
    """(Gᵀ𝓜G)⁻¹ column by column down to the diagonal, and by symmetry the rest."""
    nv, full = tree[NV], full_tree(tree)
    _, _, full_tau, rates = tables(tree, lanes, ws)
    status = OK
    for column in range(nv):
        for i in range(full[NV]):
            store_rows(w, full_tau, 0, full[NV], i, splat(w, 0.0))
        store_rows(w, full_tau, 0, full[NV], full_dof(tree, column), splat(w, 1.0))
        answer = solve(w, full, p, full_tau, 0, full[NV], rates, ws)
        status = status if status != OK else answer
        answer = couple_accelerations(w, lanes, tree, p, rates, full[NV], ws)
        status = status if status != OK else answer
        for i in range(column + 1):
            x = load_rows(w, rates, 0, full[NV], full_dof(tree, i))
            store_rows(w, out, first, nv * nv, i * nv + column, x)
            store_rows(w, out, first, nv * nv, column * nv + i, x)
    return status


@helper
def sweep_logdet(w, lanes, tree, p, row, q, out, ws):
    """log det Gᵀ𝓜G, one number per state."""
    full = full_tree(tree)
    status = prepare_coupled(w, lanes, tree, p, q, row * tree[NQ], ws)
    total = coupling_logdet(w, tree, ws)
    for dof in range(full[NV]):
        total = total - logarithm(load(w, ws, dof_slot(body_count(full), dof) + PIVOT))
    store_rows(w, out, row, 1, 0, total)
    if status == OK and not all_lanes(absolute(total) < _INFINITY):
        status = failure(NOT_FINITE, 0)
    return status


# ---- entry points -----------------------------------------------------------------------------


@brief_kernel(*one_state(3))
def forward_dynamics(block, q, v, tau, f_ext, vdot):
    """One state, with or without external forces."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and tau.size == nv and vdot.size == nv
    if not (sizes and state_fits(tree, q, v, f_ext) and finite(tau)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, 1, tree, p, 0, pointer(q), pointer(v), pointer(tau), pointer(f_ext), f_ext.size,
        pointer(vdot), ws,
    )  # fmt: skip


@kernel(*BATCH)
def forward_dynamics_batch(tree, p, start, stop, q, v, tau, f_ext, f_stride, vdot, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, LANES, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(tau),
            pointer(f_ext), f_stride, pointer(vdot), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0


@brief_kernel(*one_state(1))
def mass_matrix_solve(block, q, rhs, out):
    """One state, any number of right-hand sides, each a row of `rhs`."""
    tree, p, ws = unpack(block)
    nv, rows = tree[NV], rhs.size // max(tree[NV], 1)
    sizes = rhs.size == rows * nv and out.size == rhs.size
    if not (sizes and coordinates_fit(tree, q) and finite(rhs)):
        return BAD_INPUT
    status = prepare_coupled(WIDTH_1, 1, tree, p, pointer(q), 0, ws)
    for row in range(rows):
        answer = solve_coupled(WIDTH_1, 1, tree, p, pointer(rhs), row * nv, pointer(out), ws)
        status = status if status != OK else answer
    return status


@kernel(*BATCH)
def mass_matrix_solve_batch(tree, p, start, stop, q, _v, rhs, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    t, c, s = pointer(tree), pointer(p), pointer(ws)
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = prepare_coupled(WIDTH_N, LANES, t, c, pointer(q), first * tree[NQ], s)
        if status == OK:
            at = first * tree[NV]
            status = solve_coupled(WIDTH_N, LANES, t, c, pointer(rhs), at, pointer(out), s)
        if status != OK:
            return status, first
    return OK, 0


@brief_kernel(*one_state(0, dimensions=2))
def mass_matrix_inverse(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == tree[NV] ** 2 and out.shape[0] == tree[NV]):
        return BAD_INPUT
    status = prepare_coupled(WIDTH_1, 1, tree, p, pointer(q), 0, ws)
    return invert_coupled(WIDTH_1, 1, tree, p, 0, pointer(out), ws) if status == OK else status


@kernel(*BATCH)
def mass_matrix_inverse_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    t, c, s = pointer(tree), pointer(p), pointer(ws)
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = prepare_coupled(WIDTH_N, LANES, t, c, pointer(q), first * tree[NQ], s)
        if status == OK:
            status = invert_coupled(WIDTH_N, LANES, t, c, first * tree[NV] ** 2, pointer(out), s)
        if status != OK:
            return status, first
    return OK, 0


@brief_kernel(*one_state(0))
def mass_matrix_logdet(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == 1):
        return BAD_INPUT
    return sweep_logdet(WIDTH_1, 1, tree, p, 0, pointer(q), pointer(out), ws)


@kernel(*BATCH)
def mass_matrix_logdet_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    t, c, s = pointer(tree), pointer(p), pointer(ws)
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep_logdet(WIDTH_N, LANES, t, c, first, pointer(q), pointer(out), s)
        if status != OK:
            return status, first
    return OK, 0
