"""𝓜·x = rhs in O(N) per right-hand side.

𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK) (Jain 2011-II, Lemma 11) applied from right to left: a gather of
residuals and a scatter of accelerations, as in forward dynamics but with nothing moving and
nothing falling.
"""

from skodyn.jit import helper, shared_routine
from skodyn.kernels.aba_passes import (
    backsubstitute_dof,
    eliminate_joint,
    pass_force_inward,
    passed_force,
)
from skodyn.kernels.articulated_inertia import gather_articulated_inertias
from skodyn.kernels.entries import batch, per_dof
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.solve_entries import solve_kernel
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.motion import add_scaled_spatial, shift_motion


@shared_routine
def prepare(work, model, q):
    """Poses and articulated inertias: what every right-hand side shares."""
    first = scatter_poses(work, model, q)
    second = gather_articulated_inertias(work, model, False)
    return first if first != OK else second


@helper
def scatter_solution(work, model, out):
    """Base to tips: x from the residuals ε."""
    status = OK
    zero = zero3(work)
    store6(work, BODY.MOTION, (zero, zero))
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        alpha = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        alpha = shift_motion(load3(work, slot + BODY.ARM), alpha)
        for i in range(entry(model, k, N_DOF)):
            x = backsubstitute_dof(work, model, k, i, alpha)
            store_rows(work, out, entry(model, k, V_START) + i, x)
            if status == OK and not all_finite(x):
                status = failure(NOT_FINITE, k)
            alpha = add_scaled_spatial(alpha, x, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, alpha)
    return status


@shared_routine
def solve(work, model, rhs, out):
    """One right-hand side per state; `prepare` has run."""
    n = body_count(model)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        z = passed_force(work, model, k)
        z = eliminate_joint(work, model, k, r, z, rhs)
        pass_force_inward(work, model, k, z, False)
    return scatter_solution(work, model, out)


@helper
def sweep(work, model, given, out):
    """𝓜⁻¹·x."""
    status = prepare(work, model, given.q)
    return status if status != OK else solve(work, model, given.x, out)


mass_matrix_solve = solve_kernel("mass_matrix_solve", prepare, solve)


mass_matrix_solve_batch = batch("mass_matrix_solve_batch", sweep, per_dof)
