"""log det 𝓜 = Σ log det D(k): Jain 2011-II Corollary 6.1."""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure
from skodyn.kernels.workspace import PIVOT, body_count, dof_slot, unpack
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    load,
    logarithm,
    pointer,
    splat,
    store_rows,
)
from skodyn.model.layout import NQ, NV

_INFINITY = float("inf")


@helper
def sweep(w, tree, p, row, nq, nv, q, out, ws):
    """One number per state."""
    status = prepare(w, tree, p, q, row * nq, nq, ws)
    total = splat(w, 0.0)
    for dof in range(nv):
        total = total - logarithm(load(w, ws, dof_slot(body_count(tree), dof) + PIVOT))
    store_rows(w, out, row, 1, 0, total)
    if status == OK and not all_lanes(absolute(total) < _INFINITY):
        status = failure(NOT_FINITE, 0)
    return status


@brief_kernel(*one_state(0))
def mass_matrix_logdet(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == 1):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), pointer(out),
        ws,
    )  # fmt: skip


@kernel(*BATCH)
def mass_matrix_logdet_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q),
            pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
