"""∂v̇/∂q and ∂v̇/∂v of forward dynamics, and ∂v̇/∂τ = 𝓜⁻¹.

Differentiating τ = ID(q, v, v̇) along a solution gives ∂v̇/∂x = −𝓜⁻¹ ∂τ/∂x at constant v̇ (Carpentier
and Mansard 2018, doi:10.15607/RSS.2018.XIV.038). Forward dynamics leaves v̇ and the factors of 𝓜⁻¹
behind; then come the derivatives of inverse dynamics, and last either a product with 𝓜⁻¹ or, in
deep trees, a gather and a scatter with all of their columns as right-hand sides: O(N²), where the
product would be O(N³) for a chain.
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper, plain
from skodyn.kernels.derivative_terms import matrix_slot, scatter_screws, screw_lanes
from skodyn.kernels.entries import Given, batch, is_given, one_state
from skodyn.kernels.forward_dynamics import accelerate_placed
from skodyn.kernels.inverse_dynamics_derivatives import Derivatives, gather_pairs, matrix_of
from skodyn.kernels.inverse_times_derivatives import AT_ONCE, multiply_related, recursion_is_cheaper
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.many_right_sides import (
    clear_lanes,
    gather_columns,
    level_count,
    scatter_columns,
)
from skodyn.kernels.mass_matrix_inverse import (
    LANES_BEFORE_MATRIX,
    column_lanes,
    invert,
    matrix_behind,
)
from skodyn.kernels.matrices import Matrix, columns_of, deliver_matrix, matrix_lanes
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import first_trouble
from skodyn.lanes import Rows, shift_pointer, states


def derivative_lanes(indices: Any, nv: int) -> int:
    """Lanes for the screws, for v̇, for 𝓜⁻¹, and behind it for what inverting needs, or later for
    ∂τ/∂q and ∂τ/∂v and either their products and a list or the columns of a recursion.
    """
    size, columns = matrix_lanes(nv), 2 * plain(columns_of)(nv)
    products = 4 * size + nv + 4 * AT_ONCE  # rows are read beyond the end of 𝓜⁻¹
    recursion = 2 * size + 6 * level_count(indices) * columns
    behind = max(products, recursion, column_lanes(indices, nv))
    return int(screw_lanes(len(indices), nv) + nv + LANES_BEFORE_MATRIX + size + behind)


@helper
def in_lanes(work, by_q, by_v, down, across):
    """Both derivatives in lanes of the workspace, from by_q and by_v on."""
    q_rows, v_rows = Rows(work.lanes, by_q, 0), Rows(work.lanes, by_v, 0)
    return Derivatives(Matrix(q_rows, down, across), Matrix(v_rows, down, across))


@helper
def deliver(work, nv, derivatives, inverse, out):
    """∂v̇/∂q, ∂v̇/∂v and 𝓜⁻¹ from lanes, as rows of 3·nv² numbers."""
    by_q, by_v = derivatives.by_q, derivatives.by_v
    deliver_matrix(work, nv, by_q.rows.first, by_q.down, by_q.across, matrix_of(nv, out, 0))
    deliver_matrix(work, nv, by_v.rows.first, by_v.down, by_v.across, matrix_of(nv, out, 1))
    deliver_matrix(work, nv, inverse, columns_of(nv), 1, matrix_of(nv, out, 2))


@helper
def multiply(work, model, pushed, inverse, out):
    """By products, the matrices kept by columns."""
    nv, columns = velocity_count(model), columns_of(velocity_count(model))
    size = nv * columns
    by_q = inverse + size
    by_v, product, related = by_q + size, by_q + 2 * size, by_q + 4 * size
    status = gather_pairs(work, model, pushed, in_lanes(work, by_q, by_v, 1, columns))
    multiply_related(work, model, inverse, by_q, by_v, product, related)
    deliver(work, nv, in_lanes(work, product, product + size, 1, columns), inverse, out)
    return status


@helper
def recur(work, model, pushed, inverse, out):
    """By a gather and a scatter, the matrices side by side."""
    nv, columns = velocity_count(model), columns_of(velocity_count(model))
    by_q, pitch = inverse + nv * columns, 2 * columns
    sums = by_q + nv * pitch
    derivatives = in_lanes(work, by_q, by_q + columns, pitch, 1)
    clear_lanes(work, by_q, nv * pitch)
    status = gather_pairs(work, model, pushed, derivatives)
    gather_columns(work, model, by_q, columns, 2, sums)
    scatter_columns(work, model, by_q, pitch, False, sums)
    deliver(work, nv, derivatives, inverse, out)
    return status


@helper
def sweep(work, model, given, out):
    """All three matrices."""
    nv, at = velocity_count(model), matrix_slot(model)
    vdot = Rows(shift_pointer(work.lanes, states(work) * at), 0, nv)  # in rows, one per state
    inverse = matrix_behind(at + nv)
    first = scatter_rates(work, model, given.q, given.v)
    second = accelerate_placed(work, model, given.x, given.f_ext, False, vdot)
    invert(work, model, inverse, inverse + nv * columns_of(nv))
    scatter_screws(work, model, Given(given.q, given.v, vdot, given.f_ext))
    pushed = is_given(given.f_ext)
    if recursion_is_cheaper(model):
        third = recur(work, model, pushed, inverse, out)
    else:
        third = multiply(work, model, pushed, inverse, out)
    return first_trouble(first, second, third)


@helper
def shape(model, count):
    """Three matrices, nv × nv; a force for each degree of freedom."""
    nv = velocity_count(model)
    return (3, nv * nv) if count == nv else (-1, 1)


forward_dynamics_derivatives = one_state(
    "forward_dynamics_derivatives", sweep, shape, "q v x f", dimensions=3
)
forward_dynamics_derivatives_batch = batch("forward_dynamics_derivatives_batch", sweep, shape)
