"""The mass matrix of a model with loops, solved: X(X*𝓜X)⁻¹X*·x for any right-hand sides.

Forward dynamics (embedded_dynamics.py) with nothing moving, no gravity and no particular solution.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.entries import batch, per_dof
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.loops.embedded_dynamics import gather_embedded, scatter_embedded
from skodyn.kernels.loops.embedded_group import add_particular
from skodyn.kernels.loops.loop_filling import COLUMNS
from skodyn.kernels.loops.loop_groups import factor_groups
from skodyn.kernels.loops.loop_table import group_at, group_count, loop_lane, stage_at
from skodyn.kernels.packed_model import body_count
from skodyn.kernels.solve_entries import solve_kernel
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import store3, store6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import Rows, store
from skodyn.model.loops import loop_layout as its


@routine
def prepare_solve(work, model, q):
    """Poses and factors, with nothing moving and no particular solution."""
    first = scatter_poses(work, model, q)
    second = factor_groups(work, model, q, q, COLUMNS, True)
    stand_still(work, model)
    return first if first != OK else second


@routine
def stop_bodies(work, model):
    """Let nothing move; poses and factors stay."""
    zero = zero3(work)
    for k in range(body_count(model)):
        store3(work, body_slot(k) + BODY.OMEGA, zero)
        store6(work, body_slot(k) + BODY.CORIOLIS, (zero, zero))


@routine
def stand_still(work, model):
    """Let nothing move and no particular solution be left; poses and factors stay."""
    zero = zero3(work)
    stop_bodies(work, model)
    for g in range(group_count(model)):
        group = group_at(model, g)
        for i in range(model.tree[group + its.DOFS]):
            store(work, loop_lane(model, group + its.VALUE_LANE) + i, zero[0])
        stage = stage_at(model, group, 0)
        for row in range(model.tree[stage + its.STAGE_ROWS]):
            store(work, loop_lane(model, stage + its.SIDE_LANE) + row, zero[0])


@shared_routine
def solve_embedded(work, model, x, out):
    """X(X*𝓜X)⁻¹X*·x for one row per state; prepare_solve has run."""
    none, still = zero3(work), Rows(x.data, x.first, 0)
    add_particular(work, model)
    first = gather_embedded(work, model, x, still)
    second = scatter_embedded(work, model, (none, none), out)
    return first if first != OK else second


@helper
def sweep_solve(work, model, given, out):
    """X(X*𝓜X)⁻¹X*·x."""
    status = prepare_solve(work, model, given.q)
    return status if status != OK else solve_embedded(work, model, given.x, out)


mass_matrix_solve = solve_kernel("mass_matrix_solve", prepare_solve, solve_embedded)


mass_matrix_solve_batch = batch("mass_matrix_solve_batch", sweep_solve, per_dof)
