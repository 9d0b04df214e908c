"""log det 𝓜 = Σ log det D(k): Jain 2011-II Corollary 6.1."""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.packed_model import body_count, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite
from skodyn.kernels.workspace import DOF, dof_slot
from skodyn.lanes import load, logarithm, splat, store_rows


@helper
def sweep(work, model, given, out):
    """One number per state."""
    status = prepare(work, model, given.q)
    total = splat(work, 0.0)
    for dof in range(velocity_count(model)):
        total = total - logarithm(load(work, dof_slot(body_count(model), dof) + DOF.PIVOT))
    store_rows(work, out, 0, total)
    if status == OK and not all_finite(total):
        status = failure(NOT_FINITE, 0)
    return status


@helper
def shape(model, count):
    return 1, 1


mass_matrix_logdet = one_state("mass_matrix_logdet", sweep, shape, "q")
mass_matrix_logdet_batch = batch("mass_matrix_logdet_batch", sweep, shape)
