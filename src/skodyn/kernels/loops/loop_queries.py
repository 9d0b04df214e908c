"""What people ask of loops: gaps, their rates, G and X, in SI units and in the order described."""

from skodyn.jit import helper, routine
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.loops.loop_factor import change_back, shape_of, solve_triangle
from skodyn.kernels.loops.loop_filling import COLUMNS, GAPS, Filling
from skodyn.kernels.loops.loop_groups import factor_groups
from skodyn.kernels.loops.loop_range import in_range_space
from skodyn.kernels.loops.loop_rows import fill_stage, stage_rates
from skodyn.kernels.loops.loop_table import (
    constraint_at,
    group_at,
    group_count,
    group_of,
    loop_lane,
    row_total,
    stage_at,
)
from skodyn.kernels.loops.loop_variables import dof_place, dof_scale, group_length, touched_variable
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.lanes import load, splat, store, store_rows
from skodyn.model.layout import N_DOF, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.model.loops.closing import DOT, POINT


@helper
def is_angle(model, c, row):
    """Is this row of a constraint one of radians?"""
    if model.tree[c + its.KIND_OF] != its.CLOSED_BY_JOINT:
        return model.tree[c + its.NEEDS_RATE] == 0
    for i in range(model.tree[c + its.PRIMITIVES]):
        kind = model.tree[model.tree[c + its.PRIMITIVES_AT] + i * its.PRIMITIVE_CELLS]
        row -= 3 if kind == POINT else 1
        if row < 0:
            return kind == DOT
    return False


@routine
def _write_row(work, model, filling, c, row, at, out):
    """Row `at` of the stage as row `row` of the constraint: gap, rate, or columns of G."""
    one = splat(work, 1.0)
    scale = group_length(work, model, filling.group) if is_angle(model, c, row) else one
    place = model.tree[c + its.FIRST_ROW] + row
    if filling.what == GAPS:
        gap = load(work, loop_lane(model, filling.stage + its.GAP_LANE) + at)
        store_rows(work, out, place, gap / scale)
        return
    touched = model.tree[filling.stage + its.TOUCHED]
    matrix = loop_lane(model, filling.stage + its.MATRIX_LANE) + at * touched
    for i in range(touched):
        dof = touched_variable(model, filling.stage, i)
        if dof < model.tree[filling.group + its.DOFS]:
            column = dof_place(model, filling.group, dof)
            x = load(work, matrix + i) / (scale * dof_scale(work, model, filling.group, dof))
            store_rows(work, out, place * velocity_count(model) + column, x)


@routine
def _write_rate(work, model, filling, c, row, at, out):
    one = splat(work, 1.0)
    scale = group_length(work, model, filling.group) if is_angle(model, c, row) else one
    rate = load(work, loop_lane(model, filling.stage + its.SIDE_LANE) + at)
    store_rows(work, out, model.tree[c + its.FIRST_ROW] + row, rate / scale)


@helper
def write_rows(fill, work, model, given, what, rates, out):
    """All rows of all loops, at poses that are in the workspace."""
    for g in range(group_count(model)):
        group = group_at(model, g)
        for s in range(model.tree[group + its.STAGES]):
            filling = Filling(group, stage_at(model, group, s), given.q, given.v, what, True)
            fill(work, model, filling)
            if rates:
                stage_rates(work, model, filling)
            at = 0
            for i in range(model.tree[filling.stage + its.STAGE_CONSTRAINTS]):
                number = model.tree[model.tree[filling.stage + its.STAGE_LIST_AT] + i]
                c = constraint_at(model, number)
                for row in range(model.tree[c + its.ROW_COUNT]):
                    if rates:
                        _write_rate(work, model, filling, c, row, at, out)
                    else:
                        _write_row(work, model, filling, c, row, at, out)
                    at += 1


@routine
def _write(work, model, given, what, rates, out):
    status = scatter_poses(work, model, given.q)
    write_rows(fill_stage, work, model, given, what, rates, out)
    return status


@helper
def sweep_gaps(work, model, given, out):
    """g(q)."""
    return _write(work, model, given, GAPS, False, out)


@helper
def sweep_rates(work, model, given, out):
    """G(q)·v."""
    return _write(work, model, given, COLUMNS, True, out)


@helper
def clear_result(work, count, out):
    for i in range(count):
        store_rows(work, out, i, splat(work, 0.0))


@helper
def sweep_jacobian(work, model, given, out):
    """G(q)."""
    clear_result(work, row_total(model) * velocity_count(model), out)
    return _write(work, model, given, COLUMNS, False, out)


@helper
def freedom(model):
    """How many independent velocities a model has."""
    total = velocity_count(model)
    for g in range(group_count(model)):
        group = group_at(model, g)
        total += model.tree[group + its.MOBILITY] - model.tree[group + its.DOFS]
    return total


@routine
def write_long_basis(work, model, group, wide, first, out):
    """Columns of X of a group that dynamics needs no X for, one by one."""
    stage, values = stage_at(model, group, 0), loop_lane(model, group + its.VALUE_LANE)
    rank, touched = model.tree[stage + its.RANK], model.tree[stage + its.TOUCHED]
    at, n = loop_lane(model, stage + its.MATRIX_LANE), model.tree[group + its.DOFS]
    shape = shape_of(model, stage)
    for t in range(n - rank):
        for i in range(n):
            unit = splat(work, 1.0) if i == rank + t else splat(work, 0.0)
            x = -load(work, at + i * touched + rank + t) if i < rank else unit
            store(work, values + i, x)
        solve_triangle(work, shape, values, 1)
        change_back(work, shape, values, 1)
        for i in range(n):
            x = load(work, values + i) * dof_scale(work, model, group, i)
            store_rows(work, out, dof_place(model, group, i) * wide + first + t, x)


@helper
def sweep_basis(work, model, given, out):
    """X: columns of the groups, one after the other, then of joints outside all groups."""
    status = scatter_poses(work, model, given.q)
    closed = factor_groups(work, model, given.q, given.q, COLUMNS, True)
    wide, first = freedom(model), 0
    clear_result(work, velocity_count(model) * wide, out)
    for g in range(group_count(model)):
        group = group_at(model, g)
        m, x = model.tree[group + its.MOBILITY], loop_lane(model, group + its.X_LANE)
        if in_range_space(model, group):
            write_long_basis(work, model, group, wide, first, out)
            first += m
            continue
        for i in range(model.tree[group + its.DOFS]):
            scale, dof = dof_scale(work, model, group, i), dof_place(model, group, i)
            for t in range(m):
                store_rows(work, out, dof * wide + first + t, load(work, x + i * m + t) * scale)
        first += m
    for k in range(body_count(model)):
        if group_of(model, k) < 0:
            for i in range(entry(model, k, N_DOF)):
                dof = entry(model, k, V_START) + i
                store_rows(work, out, dof * wide + first, splat(work, 1.0))
                first += 1
    return status if status != 0 else closed


@helper
def per_row(model, count):
    return row_total(model), 1


@helper
def rows_by_dofs(model, count):
    return row_total(model), velocity_count(model)


@helper
def dofs_by_freedom(model, count):
    return velocity_count(model), freedom(model)


loop_gaps = one_state("loop_gaps", sweep_gaps, per_row, "q")
loop_gaps_batch = batch("loop_gaps_batch", sweep_gaps, per_row)
loop_rates = one_state("loop_rates", sweep_rates, per_row, "q v")
loop_rates_batch = batch("loop_rates_batch", sweep_rates, per_row)
loop_jacobian = one_state("loop_jacobian", sweep_jacobian, rows_by_dofs, "q", dimensions=2)
loop_jacobian_batch = batch("loop_jacobian_batch", sweep_jacobian, rows_by_dofs)
loop_basis = one_state("loop_basis", sweep_basis, dofs_by_freedom, "q", dimensions=2)
loop_basis_batch = batch("loop_basis_batch", sweep_basis, dofs_by_freedom)
