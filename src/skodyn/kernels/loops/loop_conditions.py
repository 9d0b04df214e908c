"""How near a configuration is to a singular one: the smallest pivot of its loops over the largest.

Pivots of a factorisation with column pivoting follow the singular values within a small factor
(G. H. Golub, C. F. Van Loan, Matrix Computations, section 5.4), and are at hand after a
factorisation that costs less than an evaluation: so a run can look at each of its rows.
"""

from skodyn.jit import FLOATS, INTS, RESULT, Group, helper, kernel
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.loops.loop_filling import COLUMNS
from skodyn.kernels.loops.loop_groups import factor_groups, is_thorough
from skodyn.kernels.loops.loop_table import group_at, group_count, loop_lane, stage_at
from skodyn.kernels.packed_model import PackedModel
from skodyn.lanes import WIDTH_1, Rows, Work, load, pointer
from skodyn.model.layout import NQ
from skodyn.model.loops import loop_layout as its

_INFINITY = float("inf")


@helper
def group_condition(work, model, group):
    """Of one group; infinite if nothing depends on anything."""
    plan = model.tree[group + its.THOROUGH_AT] if is_thorough(work, model, group) else group
    least, most = _INFINITY, 0.0  # reciprocals are kept; that of a pivot that has vanished is zero
    for s in range(model.tree[plan + its.STAGES]):
        stage = stage_at(model, plan, s)
        for j in range(model.tree[stage + its.RANK]):
            size = abs(load(work, loop_lane(model, stage + its.PIVOT_LANE) + j))
            least, most = min(least, size), max(most, size)
    return least / most if most > 0.0 else least


@helper
def write_conditions(factor, arrays, q, out, lanes):
    """The worst group's, for each of so many configurations, one behind the other in q; factor:
    leaves the factors of all groups at q in the workspace."""
    model = PackedModel(pointer(arrays.tree), pointer(arrays.parameters))
    work, nq = Work(WIDTH_1, pointer(lanes)), model.tree[NQ]
    for row in range(out.size):
        factor(work, model, Rows(pointer(q), row * nq, nq))
        worst = _INFINITY
        for g in range(group_count(model)):
            worst = min(worst, group_condition(work, model, group_at(model, g)))
        out[row] = worst


@helper
def _factor(work, model, q):
    scatter_poses(work, model, q)
    factor_groups(work, model, q, q, COLUMNS, False)


CONDITIONS = (Group(PackedModel, (INTS, FLOATS)), FLOATS, RESULT, RESULT)


@kernel(*CONDITIONS)
def loop_conditions(arrays, q, out, lanes):
    """Of every configuration, how near it is to a singular one."""
    write_conditions(_factor, arrays, q, out, lanes)
