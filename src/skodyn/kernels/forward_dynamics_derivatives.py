"""∂v̇/∂q and ∂v̇/∂v of forward dynamics, and ∂v̇/∂τ = 𝓜⁻¹.

Differentiating τ = ID(q, v, v̇) along a solution gives ∂v̇/∂x = −𝓜⁻¹ ∂τ/∂x at constant v̇ (Carpentier
and Mansard 2018, doi:10.15607/RSS.2018.XIV.038). Forward dynamics leaves v̇ and the factors of 𝓜⁻¹
behind; then come the derivatives of inverse dynamics, and last either a product with 𝓜⁻¹ or, in
deep trees, a gather and a scatter with all of their columns as right-hand sides: O(N²), where the
product would be O(N³) for a chain.
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels import forward_dynamics as fd
from skodyn.kernels.inverse_dynamics_derivatives import gather_pairs
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mass_matrix_inverse import ROOM, column_lanes, invert, matrix_behind
from skodyn.kernels.matrices import columns_of, deliver_matrix, matrix_lanes
from skodyn.kernels.related_products import AT_ONCE, multiply_related, recursion_is_cheaper
from skodyn.kernels.screws import matrix_slot, scatter_screws, screw_lanes
from skodyn.kernels.side_by_side import (
    clear_lanes,
    gather_columns,
    level_count,
    scatter_columns,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, OK, finite, state_fits
from skodyn.kernels.workspace import unpack
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer, shift_pointer
from skodyn.model.layout import NQ, NV

MATRICES = 3


def derivative_lanes(indices: Any, nv: int) -> int:
    """Lanes for the screws, for v̇, for 𝓜⁻¹, and behind it for what inverting needs, or later for
    ∂τ/∂q and ∂τ/∂v and either their products and a list or the columns of a recursion.
    """
    size, columns = matrix_lanes(nv), 2 * ((nv + 3) // 4 * 4)
    products = 4 * size + nv + 4 * AT_ONCE  # rows are read beyond the end of 𝓜⁻¹
    recursion = 2 * size + 6 * level_count(indices) * columns
    behind = max(products, recursion, column_lanes(indices, nv))
    return int(screw_lanes(len(indices), nv) + nv + ROOM + size + behind)


@helper
def deliver(w, nv, inverse, by_q, by_v, down, across, out, first, ws):
    """∂v̇/∂q, ∂v̇/∂v and 𝓜⁻¹ as rows of 3·nv² numbers."""
    size = nv * nv
    stride = MATRICES * size
    deliver_matrix(w, nv, ws, by_q, down, across, out, first, stride)
    deliver_matrix(w, nv, ws, by_v, down, across, out, first + size, stride)
    deliver_matrix(w, nv, ws, inverse, columns_of(nv), 1, out, first + 2 * size, stride)


@helper
def multiply(w, lanes, tree, pushed, inverse, out, first, ws):
    """By products, the matrices kept by columns."""
    nv, columns = tree[NV], columns_of(tree[NV])
    size = nv * columns
    by_q = inverse + size
    by_v, product, rows = by_q + size, by_q + 2 * size, by_q + 4 * size
    status = gather_pairs(w, tree, pushed, 1, columns, ws, by_q, ws, by_v, 0, ws)
    multiply_related(w, lanes, tree, inverse, by_q, by_v, product, rows, ws)
    deliver(w, nv, inverse, product, product + size, 1, columns, out, first, ws)
    return status


@helper
def recur(w, tree, p, pushed, inverse, out, first, ws):
    """By a gather and a scatter, the matrices side by side."""
    nv, columns = tree[NV], columns_of(tree[NV])
    by_q, pitch = inverse + nv * columns, 2 * columns
    by_v, sums = by_q + columns, by_q + nv * pitch
    clear_lanes(w, ws, by_q, nv * pitch)
    status = gather_pairs(w, tree, pushed, pitch, 1, ws, by_q, ws, by_v, 0, ws)
    gather_columns(w, tree, p, by_q, columns, 2, sums, ws)
    scatter_columns(w, tree, p, by_q, pitch, False, sums, ws)
    deliver(w, nv, inverse, by_q, by_v, pitch, 1, out, first, ws)
    return status


@helper
def sweep(w, lanes, tree, p, row, q, v, tau, f_ext, f_stride, out, ws):
    """All three matrices of the states that begin at `row`."""
    nq, nv = tree[NQ], tree[NV]
    v_first, f_first = row * nv, row * f_stride
    at = matrix_slot(tree)
    vdot = shift_pointer(ws, lanes * at)  # in rows, one per state
    inverse = matrix_behind(at + nv)
    first = scatter_rates(w, tree, p, q, row * nq, nq, v, v_first, nv, ws)
    second = fd.gather_residuals(w, tree, p, tau, v_first, nv, f_ext, f_first, f_stride, False, ws)
    third = fd.scatter_accelerations(w, tree, p, vdot, 0, nv, ws)
    invert(w, tree, p, inverse, inverse + nv * columns_of(nv), ws)
    scatter_screws(w, tree, p, q, row * nq, v, v_first, vdot, 0, f_ext, f_first, f_stride, ws)
    to = row * MATRICES * nv * nv
    if recursion_is_cheaper(tree):
        fourth = recur(w, tree, p, f_stride > 0, inverse, out, to, ws)
    else:
        fourth = multiply(w, lanes, tree, f_stride > 0, inverse, out, to, ws)
    if first != OK:
        return first
    if second != OK:
        return second
    return third if third != OK else fourth


@brief_kernel(*one_state(3, dimensions=3))
def forward_dynamics_derivatives(block, q, v, tau, f_ext, out):
    """One state."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and tau.size == nv and out.size == 3 * nv * nv and out.shape[0] == 3
    if not (sizes and state_fits(tree, q, v, f_ext) and finite(tau)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, 1, tree, p, 0, pointer(q), pointer(v), pointer(tau), pointer(f_ext), f_ext.size,
        pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def forward_dynamics_derivatives_batch(tree, p, start, stop, q, v, tau, f_ext, f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, LANES, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(tau),
            pointer(f_ext), f_stride, pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
