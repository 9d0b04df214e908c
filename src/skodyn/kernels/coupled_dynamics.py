"""Forward dynamics and the inverse of the mass matrix for models with mimic joints.

The O(N) recursions run on the full tree; coupled_accelerations.py makes its joints follow.
"""

from __future__ import annotations

from typing import NamedTuple

from skodyn.jit import helper
from skodyn.kernels.coupled_accelerations import (
    couple_accelerations,
    coupling_logdet,
    factor_couplings,
)
from skodyn.kernels.entries import batch, one_state, per_dof, per_dof_of_x, square
from skodyn.kernels.forward_dynamics import accelerate_placed
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mass_matrix_logdet import shape as one_number
from skodyn.kernels.mass_matrix_solve import prepare, solve
from skodyn.kernels.mimics import (
    expand_coordinates,
    expand_rates,
    factor_lanes,
    full_dof,
    full_model,
    mimic_count,
    pick_rates,
    scratch_slot,
    source_count,
    spread_forces,
)
from skodyn.kernels.packed_model import body_count, velocity_count
from skodyn.kernels.solve_entries import solve_kernel
from skodyn.kernels.status import NOT_FINITE, OK, failure, first_trouble
from skodyn.kernels.tuples import all_finite
from skodyn.kernels.workspace import DOF, dof_slot
from skodyn.lanes import Rows, load, load_rows, logarithm, splat, states, store_rows
from skodyn.model.layout import NQ, NV


class FullTables(NamedTuple):
    """Rows over the full tree, behind the factors."""

    q: Rows
    v: Rows
    tau: Rows
    rates: Rows


@helper
def tables(work, model):
    full = full_model(model)
    nq, nv = full.tree[NQ], full.tree[NV]
    start = scratch_slot(model) + factor_lanes(source_count(model), mimic_count(model), nv)
    n = states(work)
    return FullTables(
        Rows(work.lanes, n * start, nq),
        Rows(work.lanes, n * (start + nq), nv),
        Rows(work.lanes, n * (start + nq + nv), nv),
        Rows(work.lanes, n * (start + nq + 2 * nv), nv),
    )


@helper
def sweep(work, model, given, vdot):
    """v̇; x holds tau."""
    full, table = full_model(model), tables(work, model)
    expand_coordinates(work, model, given.q, table.q)
    expand_rates(work, model, given.v, table.v)
    spread_forces(work, model, given.x, table.tau)
    first = scatter_rates(work, full, table.q, table.v)
    second = accelerate_placed(work, full, table.tau, given.f_ext, False, table.rates)
    third = factor_couplings(work, model)
    fourth = couple_accelerations(work, model, table.rates)
    pick_rates(work, model, table.rates, vdot)
    return first_trouble(first, second, third if third != OK else fourth)


@helper
def prepare_coupled(work, model, q):
    """Articulated inertias of the full tree, and the factors of the couplings."""
    table = tables(work, model)
    expand_coordinates(work, model, q, table.q)
    status = prepare(work, full_model(model), table.q)
    answer = factor_couplings(work, model)
    return status if status != OK else answer


@helper
def solve_coupled(work, model, rhs, out):
    """(Gᵀ𝓜G)⁻¹·rhs for one row per state; prepare_coupled has run."""
    table = tables(work, model)
    spread_forces(work, model, rhs, table.tau)
    status = solve(work, full_model(model), table.tau, table.rates)
    answer = couple_accelerations(work, model, table.rates)
    pick_rates(work, model, table.rates, out)
    return status if status != OK else answer


@helper
def sweep_solve(work, model, given, out):
    """(Gᵀ𝓜G)⁻¹·x."""
    status = prepare_coupled(work, model, given.q)
    return status if status != OK else solve_coupled(work, model, given.x, out)


@helper
def sweep_inverse(work, model, given, out):
    """(Gᵀ𝓜G)⁻¹ column by column down to the diagonal, and by symmetry the rest."""
    status = prepare_coupled(work, model, given.q)
    if status != OK:
        return status
    full, table, nv = full_model(model), tables(work, model), velocity_count(model)
    for column in range(nv):
        for i in range(full.tree[NV]):
            store_rows(work, table.tau, i, splat(work, 0.0))
        store_rows(work, table.tau, full_dof(model, column), splat(work, 1.0))
        answer = solve(work, full, table.tau, table.rates)
        status = status if status != OK else answer
        answer = couple_accelerations(work, model, table.rates)
        status = status if status != OK else answer
        for i in range(column + 1):
            x = load_rows(work, table.rates, full_dof(model, i))
            store_rows(work, out, i * nv + column, x)
            store_rows(work, out, column * nv + i, x)
    return status


@helper
def sweep_logdet(work, model, given, out):
    """log det Gᵀ𝓜G, one number per state."""
    full = full_model(model)
    status = prepare_coupled(work, model, given.q)
    total = coupling_logdet(work, model)
    for dof in range(full.tree[NV]):
        total = total - logarithm(load(work, dof_slot(body_count(full), dof) + DOF.PIVOT))
    store_rows(work, out, 0, total)
    if status == OK and not all_finite(total):
        status = failure(NOT_FINITE, 0)
    return status


# ---- entry points -----------------------------------------------------------------------------


mass_matrix_solve = solve_kernel("mass_matrix_solve", prepare_coupled, solve_coupled)


forward_dynamics = one_state("forward_dynamics", sweep, per_dof_of_x, "q v x f")
forward_dynamics_batch = batch("forward_dynamics_batch", sweep, per_dof)
mass_matrix_solve_batch = batch("mass_matrix_solve_batch", sweep_solve, per_dof)
mass_matrix_inverse = one_state("mass_matrix_inverse", sweep_inverse, square, "q", dimensions=2)
mass_matrix_inverse_batch = batch("mass_matrix_inverse_batch", sweep_inverse, square)
mass_matrix_logdet = one_state("mass_matrix_logdet", sweep_logdet, one_number, "q")
mass_matrix_logdet_batch = batch("mass_matrix_logdet_batch", sweep_logdet, one_number)
