"""The rows of loops between bodies of which some bend: those of loop_rows.py, with modes.

A pair of unit forces, walked inward from the ends of a loop, also meets the modes that move the
nodes on its way, by Πᵀ. A body may be met twice: where both ends hang on nodes of their closest
common ancestor its modes have a part in the row, too, so that columns of modes are added up.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.flexible.flexible_bending import carried_column
from skodyn.kernels.flexible.flexible_table import field, flexible_record, node_record
from skodyn.kernels.flexible.flexible_tree import add_modes
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.loops.loop_checks import stage_trouble
from skodyn.kernels.loops.loop_factor import factor_stage
from skodyn.kernels.loops.loop_filling import (
    Filling,
    accelerates,
    fills_columns,
    path_cell,
    paths,
    row_at,
)
from skodyn.kernels.loops.loop_groups import RATED, STRICT
from skodyn.kernels.loops.loop_primitives import RowOf, end_of, from_a_to_b, joint_velocity
from skodyn.kernels.loops.loop_range import make_rows
from skodyn.kernels.loops.loop_rows import fill_rows, row_of_kind, stage_rates, store_path
from skodyn.kernels.loops.loop_table import group_at, loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import dof_scale, group_length
from skodyn.kernels.packed_model import entry
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load3
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import load, splat, store
from skodyn.model.flexible import flexible_layout as bent
from skodyn.model.layout import PARENT
from skodyn.model.loops import loop_layout as its
from skodyn.model.loops.closing import DOT, POINT
from skodyn.spatial.linear3 import add, negate, subtract
from skodyn.spatial.motion import dot_spatial, shift_force, shift_motion


@helper
def bent_velocity(work, model, k, place, v):
    """`joint_velocity`, and what the modes of its parent add."""
    bending = add_modes(work, model, k, v, (zero3(work), zero3(work)))
    return add(joint_velocity(work, model, k, place, v), shift_motion(place, bending)[1])


@routine
def _add_modes_on_path(work, model, group, path, at, scale, arm, force):
    """What a force at the end of a path does on the modes that move nodes on its way."""
    f = shift_force(arm, force)
    for i in range(path.length):
        k = path_cell(model, path, i * its.PATH_CELLS + its.PATH_BODY)
        node = node_record(model, k)
        if node > 0:
            record = flexible_record(model, entry(model, k, PARENT))
            start = field(model, record, bent.MODE_V)
            for j in range(field(model, record, bent.MODES)):
                x = scale * dot_spatial(carried_column(work, model, record, node, j), f)
                x = x * dof_scale(work, model, group, start + j)
                store(work, at + start + j, load(work, at + start + j) + x)
        f = shift_force(load3(work, body_slot(k) + BODY.ARM), f)


@routine
def _store_bent_row(work, model, filling, c, row, scale, ends, found):
    """A row of a loop, multiplied by `scale`; its stage has every velocity in order."""
    stage, group = filling.stage, filling.group
    store(work, loop_lane(model, stage + its.GAP_LANE) + row, scale * found.gap)
    if accelerates(filling):
        store(work, loop_lane(model, stage + its.SIDE_LANE) + row, scale * found.gamma)
    if not fills_columns(filling):
        return
    at, scales = row_at(model, stage, row), (scale, group_length(work, model, group))
    path_a, path_b = paths(model.tree, c)
    store_path(work, model, path_a, at, scales, ends[0].arm, found.force_a)
    store_path(work, model, path_b, at, scales, ends[1].arm, found.force_b)
    _add_modes_on_path(work, model, group, path_a, at, scale, ends[0].arm, found.force_a)
    _add_modes_on_path(work, model, group, path_b, at, scale, ends[1].arm, found.force_b)


@helper
def _unit(work, axis):
    one, zero = splat(work, 1.0), splat(work, 0.0)
    return (one if axis == 0 else zero, one if axis == 1 else zero, one if axis == 2 else zero)


@helper
def _component(a, axis):
    return a[0] if axis == 0 else a[1] if axis == 1 else a[2]


@helper
def _fill_bent_point(work, model, filling, c, row, ends):
    """d = 0, along the axes of the world."""
    none, one, (a, b) = zero3(work), splat(work, 1.0), ends
    d, parting = from_a_to_b(a, b), subtract(b.acceleration, a.acceleration)
    for axis in range(3):
        u = _unit(work, axis)
        force_a, force_b = (none, negate(u)), (none, u)
        found = RowOf(_component(d, axis), _component(parting, axis), force_a, force_b)
        _store_bent_row(work, model, filling, c, row + axis, one, ends, found)


@helper
def _fill_bent_loop(work, model, filling, c, row):
    """The rows of a loop, from `row` on."""
    tree, numbers, v = model.tree, model.tree[c + its.PARAMETERS_AT], filling.v
    moving = (1 + tree[c + its.NEEDS_RATE]) if accelerates(filling) else 0
    path_a, path_b = paths(tree, c)
    by = bent_velocity
    a = end_of(by, work, model, tree[c + its.BODY_A], numbers + its.ORIGIN_A, path_a, v, moving)
    b = end_of(by, work, model, tree[c + its.BODY_B], numbers + its.ORIGIN_B, path_b, v, moving)
    ends, one = (a, b), splat(work, 1.0)
    length, first = group_length(work, model, filling.group), tree[c + its.PRIMITIVES_AT]
    for i in range(tree[c + its.PRIMITIVES]):
        kind = tree[first + i * its.PRIMITIVE_CELLS]
        at = tree[first + i * its.PRIMITIVE_CELLS + 1]
        if kind == POINT:
            _fill_bent_point(work, model, filling, c, row, ends)
            row += 3
        else:
            found = row_of_kind(work, model, c, kind, at, ends)
            scale = length if kind == DOT else one
            _store_bent_row(work, model, filling, c, row, scale, ends, found)
            row += 1


@shared_routine
def fill_bent_rows(work, model, filling):
    """All rows at poses that are in the workspace: gaps, and as `what` says G and γ."""
    fill_rows(_fill_bent_loop, work, model, filling)


@helper
def the_filling(model, q, v, what):
    """The one group and stage that loops between flexible bodies have."""
    group = group_at(model, 0)
    return Filling(group, stage_at(model, group, 0), q, v, what, False)


@shared_routine
def factor_bent_rows(work, model, q, v, what, mode):
    """Rows, and W with its factor; mode: STRICT refuses open loops, RATED leaves Gv in SIDE."""
    status, filling = OK, the_filling(model, q, v, what)
    fill_bent_rows(work, model, filling)
    if mode == STRICT:
        status = stage_trouble(work, model, filling)
    if mode == RATED:
        stage_rates(work, model, filling)
    factor_stage(work, model, filling.group, filling.stage)
    make_rows(work, model, filling.group)
    return status
