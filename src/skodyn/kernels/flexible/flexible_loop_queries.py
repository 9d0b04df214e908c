"""What people ask of loops (loop_queries.py), where bodies bend."""

from skodyn.jit import helper, kernel
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.flexible.flexible_loop_rows import factor_bent_rows, fill_bent_rows
from skodyn.kernels.flexible.flexible_tree import scatter_bent_poses
from skodyn.kernels.loops.loop_conditions import CONDITIONS, write_conditions
from skodyn.kernels.loops.loop_filling import COLUMNS, GAPS
from skodyn.kernels.loops.loop_groups import STRICT, TRUSTED
from skodyn.kernels.loops.loop_queries import (
    clear_result,
    dofs_by_freedom,
    freedom,
    per_row,
    rows_by_dofs,
    write_long_basis,
    write_rows,
)
from skodyn.kernels.loops.loop_table import group_at, row_total
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import OK


@helper
def sweep_gaps(work, model, given, out):
    """g(q)."""
    status = scatter_bent_poses(work, model, given.q)
    write_rows(fill_bent_rows, work, model, given, GAPS, False, out)
    return status


@helper
def sweep_rates(work, model, given, out):
    """G(q)·v."""
    status = scatter_bent_poses(work, model, given.q)
    write_rows(fill_bent_rows, work, model, given, COLUMNS, True, out)
    return status


@helper
def sweep_jacobian(work, model, given, out):
    """G(q)."""
    status = scatter_bent_poses(work, model, given.q)
    clear_result(work, row_total(model) * velocity_count(model), out)
    write_rows(fill_bent_rows, work, model, given, COLUMNS, False, out)
    return status


@helper
def sweep_basis(work, model, given, out):
    """X."""
    status = scatter_bent_poses(work, model, given.q)
    closed = factor_bent_rows(work, model, given.q, given.q, COLUMNS, STRICT)
    wide = freedom(model)
    clear_result(work, velocity_count(model) * wide, out)
    write_long_basis(work, model, group_at(model, 0), wide, 0, out)
    return status if status != OK else closed


bent_loop_gaps = one_state("bent_loop_gaps", sweep_gaps, per_row, "q")
bent_loop_gaps_batch = batch("bent_loop_gaps_batch", sweep_gaps, per_row)
bent_loop_rates = one_state("bent_loop_rates", sweep_rates, per_row, "q v")
bent_loop_rates_batch = batch("bent_loop_rates_batch", sweep_rates, per_row)
bent_loop_jacobian = one_state(
    "bent_loop_jacobian", sweep_jacobian, rows_by_dofs, "q", dimensions=2
)
bent_loop_jacobian_batch = batch("bent_loop_jacobian_batch", sweep_jacobian, rows_by_dofs)
bent_loop_basis = one_state("bent_loop_basis", sweep_basis, dofs_by_freedom, "q", dimensions=2)
bent_loop_basis_batch = batch("bent_loop_basis_batch", sweep_basis, dofs_by_freedom)


@helper
def _factor(work, model, q):
    scatter_bent_poses(work, model, q)
    factor_bent_rows(work, model, q, q, COLUMNS, TRUSTED)


@kernel(*CONDITIONS)
def bent_loop_conditions(arrays, q, out, lanes):
    """Of every configuration, how near it is to a singular one; arrays.tree is that of bodies."""
    write_conditions(_factor, arrays, q, out, lanes)
