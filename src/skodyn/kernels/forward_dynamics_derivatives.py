"""∂v̇/∂q and ∂v̇/∂v of forward dynamics, and ∂v̇/∂τ = 𝓜⁻¹.

Differentiating τ = ID(q, v, v̇) along a solution gives ∂v̇/∂x = −𝓜⁻¹ ∂τ/∂x at constant v̇ (Carpentier
and Mansard 2018, doi:10.15607/RSS.2018.XIV.038). Forward dynamics leaves v̇ and the factors of 𝓜⁻¹
behind; then come the derivatives of inverse dynamics, and last a product in which column c of ∂τ/∂x
is zero but for the ancestors of c and the index range of its subtree.
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import JIT_DISABLED, brief_kernel, helper, kernel
from skodyn.kernels import forward_dynamics as fd
from skodyn.kernels.inverse_dynamics_derivatives import gather_pairs
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mass_matrix_inverse import MARGIN, column_lanes, dofs_end, invert
from skodyn.kernels.screws import (
    matrix_slot,
    scatter_screws,
    screw_lanes,
)
from skodyn.kernels.status import BAD_INPUT, OK, finite, state_fits
from skodyn.kernels.workspace import (
    body_count,
    columns_of,
    deliver_matrix,
    entry,
    matrix_lanes,
    unpack,
)
from skodyn.lanes import (
    WIDTH_1,
    WIDTH_4,
    fma,
    load,
    pointer,
    shift_pointer,
    splat,
    store,
)
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START

MATRICES = 3
COMPILED = not JIT_DISABLED  # plain Python has no lanes that are wide


def derivative_lanes(indices: Any, nv: int) -> int:
    """Lanes for the screws, for v̇, and for 𝓜⁻¹, ∂τ/∂q, ∂τ/∂v and two products.

    What inverting needs beside 𝓜⁻¹ lies where those matrices come later. Sixteen rows are read at
    once, beyond the end of the last row of 𝓜⁻¹ into what follows.
    """
    size = matrix_lanes(nv)
    behind = max(4 * size + 16, column_lanes(indices, nv))
    return int(screw_lanes(len(indices), nv) + nv + MARGIN + size + behind)


@helper
def add_term(w, ws, r, i, c, inverse, dq, dv, columns, sums):
    """Term r of four rows of both products."""
    m = inverse + r * columns + i  # 𝓜⁻¹ is symmetric
    x, y = load(w, ws, dq + c * columns + r), load(w, ws, dv + c * columns + r)
    m0, m1 = load(w, ws, m), load(w, ws, m + 1)
    m2, m3 = load(w, ws, m + 2), load(w, ws, m + 3)
    return (
        fma(m0, x, sums[0]), fma(m1, x, sums[1]), fma(m2, x, sums[2]), fma(m3, x, sums[3]),
        fma(m0, y, sums[4]), fma(m1, y, sums[5]), fma(m2, y, sums[6]), fma(m3, y, sums[7]),
    )  # fmt: skip


@helper
def four_rows(w, tree, k, c, i, inverse, dq, dv, columns, ws):
    """Rows i … i + 3 of column c of 𝓜⁻¹ ∂τ/∂q and 𝓜⁻¹ ∂τ/∂v."""
    zero = splat(w, 0.0)
    sums = (zero, zero, zero, zero, zero, zero, zero, zero)
    for r in range(entry(tree, k, V_START), dofs_end(tree, k)):
        sums = add_term(w, ws, r, i, c, inverse, dq, dv, columns, sums)
    inner = entry(tree, k, PARENT)
    while inner >= 0:
        for d in range(entry(tree, inner, N_DOF)):
            r = entry(tree, inner, V_START) + d
            sums = add_term(w, ws, r, i, c, inverse, dq, dv, columns, sums)
        inner = entry(tree, inner, PARENT)
    return sums


@helper
def multiply_states(w, tree, inverse, dq, dv, columns, product, ws):
    """Both products, column by column, each column of ∂τ/∂q and ∂τ/∂v being a row of lanes."""
    size = tree[NV] * columns
    for i in range(0, tree[NV], 4):  # outside, so that four columns of 𝓜⁻¹ stay in cache
        for k in range(body_count(tree)):
            for d in range(entry(tree, k, N_DOF)):
                c = entry(tree, k, V_START) + d
                s = four_rows(w, tree, k, c, i, inverse, dq, dv, columns, ws)
                at = product + c * columns + i
                for j in range(4):
                    store(w, ws, at + j, -s[j])
                for j in range(4):
                    store(w, ws, at + size + j, -s[4 + j])


@helper
def add_lanes(ws, r, i, c, inverse, dq, dv, columns, sums):
    """Term r of sixteen rows of both products, four rows of one state to a lane."""
    m = shift_pointer(ws, inverse + r * columns + i)
    x, y = load(WIDTH_1, ws, dq + c + r), load(WIDTH_1, ws, dv + c + r)
    m0, m1 = load(WIDTH_4, m, 0), load(WIDTH_4, m, 1)
    m2, m3 = load(WIDTH_4, m, 2), load(WIDTH_4, m, 3)
    return (
        fma(m0, x, sums[0]), fma(m1, x, sums[1]), fma(m2, x, sums[2]), fma(m3, x, sums[3]),
        fma(m0, y, sums[4]), fma(m1, y, sums[5]), fma(m2, y, sums[6]), fma(m3, y, sums[7]),
    )  # fmt: skip


@helper
def sixteen_rows(tree, k, c, i, inverse, dq, dv, columns, ws):
    """Rows i … i + 15 of the column that begins at c, in the same order of additions."""
    zero = splat(WIDTH_4, 0.0)
    sums = (zero, zero, zero, zero, zero, zero, zero, zero)
    for r in range(entry(tree, k, V_START), dofs_end(tree, k)):
        sums = add_lanes(ws, r, i, c, inverse, dq, dv, columns, sums)
    inner = entry(tree, k, PARENT)
    while inner >= 0:
        for d in range(entry(tree, inner, N_DOF)):
            r = entry(tree, inner, V_START) + d
            sums = add_lanes(ws, r, i, c, inverse, dq, dv, columns, sums)
        inner = entry(tree, inner, PARENT)
    return sums


@helper
def multiply_one_state(tree, inverse, dq, dv, columns, product, ws):
    """The same for one state, four rows of it to a lane."""
    size = tree[NV] * columns
    for k in range(body_count(tree)):
        for d in range(entry(tree, k, N_DOF)):
            c = (entry(tree, k, V_START) + d) * columns
            for i in range(0, columns, 16):
                s = sixteen_rows(tree, k, c, i, inverse, dq, dv, columns, ws)
                at = shift_pointer(ws, product + c + i)
                by_speed = shift_pointer(ws, product + size + c + i)
                for j in range(4):
                    if i + 4 * j < columns:
                        store(WIDTH_4, at, j, -s[j])
                        store(WIDTH_4, by_speed, j, -s[4 + j])


@helper
def deliver(w, nv, inverse, product, columns, out, first, ws):
    """−𝓜⁻¹ ∂τ/∂q, −𝓜⁻¹ ∂τ/∂v and 𝓜⁻¹ as rows of 3·nv² numbers."""
    size = nv * nv
    stride = MATRICES * size
    deliver_matrix(w, nv, ws, product, 1, columns, out, first, stride)
    by_speed = product + nv * columns
    deliver_matrix(w, nv, ws, by_speed, 1, columns, out, first + size, stride)
    deliver_matrix(w, nv, ws, inverse, columns, 1, out, first + 2 * size, stride)


@helper
def sweep(w, lanes, tree, p, row, q, v, tau, f_ext, f_stride, out, ws):
    """All three matrices of the states that begin at `row`."""
    nq, nv = tree[NQ], tree[NV]
    v_first, f_first, columns = row * nv, row * f_stride, columns_of(nv)
    at = matrix_slot(tree)
    vdot = shift_pointer(ws, lanes * at)  # rows, one per state
    inverse = at + nv + MARGIN
    dq, dv = inverse + nv * columns, inverse + 2 * nv * columns
    product = dv + nv * columns
    first = scatter_rates(w, tree, p, q, row * nq, nq, v, v_first, nv, ws)
    second = fd.gather_residuals(w, tree, p, tau, v_first, nv, f_ext, f_first, f_stride, False, ws)
    third = fd.scatter_accelerations(w, tree, p, vdot, 0, nv, ws)
    invert(w, tree, p, inverse, dq, ws)
    scatter_screws(w, tree, p, q, row * nq, v, v_first, vdot, 0, f_ext, f_first, f_stride, ws)
    fourth = gather_pairs(w, tree, f_stride > 0, 1, columns, ws, dq, ws, dv, 0, ws)
    if lanes == 1 and COMPILED:
        multiply_one_state(tree, inverse, dq, dv, columns, product, ws)
    else:
        multiply_states(w, tree, inverse, dq, dv, columns, product, ws)
    deliver(w, nv, inverse, product, columns, out, row * MATRICES * nv * nv, ws)
    if first != OK:
        return first
    if second != OK:
        return second
    return third if third != OK else fourth


@brief_kernel
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


@kernel
def forward_dynamics_derivatives_batch(tree, p, start, stop, q, v, tau, f_ext, f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, four at a time; the last four may overlap."""
    for row in range(start, stop, 4):
        first = min(row, stop - 4)
        status = sweep(
            WIDTH_4, 4, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(tau),
            pointer(f_ext), f_stride, pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
