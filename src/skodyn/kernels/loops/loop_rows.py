"""The rows of loops and couplings: gaps g(q), their derivatives G, and γ of g̈ = Gθ̈ + γ.

Every row of a loop is a pair of unit forces, one at each end, that act when its multiplier is one:
its columns are what these forces do on the joints of the cycle, walked inward like any force. That
gives G for each kind of row and each joint, and the reaction wrench later. The forces are those of
loop_primitives.py; couplings act on joints alone (coupling_rows.py).

Matrices of a stage hold G with radians made comparable to metres: rows that are angles are
multiplied by the length of the group, and so are columns of lengths (a power of two: exact).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper, routine
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.loops.coupling_rows import fill_linear, fill_polynomial
from skodyn.kernels.loops.loop_filling import (
    accelerates,
    fills_columns,
    path_cell,
    paths,
    row_at,
    rows_of,
)
from skodyn.kernels.loops.loop_primitives import (
    along_row,
    dot_row,
    end_of,
    from_a_to_b,
    helix_row,
    joint_velocity,
    length_row,
)
from skodyn.kernels.loops.loop_table import constraint_at, loop_lane
from skodyn.kernels.loops.loop_variables import group_length, scaled_rate, touched_variable
from skodyn.kernels.packed_model import entry, parameter3
from skodyn.kernels.tuples import load3, load_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import fma, load, parameter, splat, store
from skodyn.model.layout import N_DOF
from skodyn.model.loops import loop_layout as its
from skodyn.model.loops.closing import ALONG, DOT, IN_PLANE, LENGTH, POINT, POLYNOMIAL
from skodyn.spatial.linear3 import add, dot, multiply_vector, scale, subtract, x_axis, y_axis
from skodyn.spatial.motion import dot_spatial, shift_force, shift_motion

# ---- into the matrix of a stage ----------------------------------------------------------------


@routine
def store_path(work, model, path, at, scales, arm, force):
    """Columns of one row along a path: what a force at its end does on the joints.

    scales: of the row, and of the columns of lengths.
    """
    f = shift_force(arm, force)
    for i in range(path.length):
        k = path_cell(model, path, i * its.PATH_CELLS + its.PATH_BODY)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        for j in range(entry(model, k, N_DOF)):
            x = scales[0] * dot_spatial(joint_column(work, model, k, j, r), f)
            if (path_cell(model, path, i * its.PATH_CELLS + its.PATH_LINEAR) >> j) & 1 > 0:
                x = x * scales[1]
            store(work, at + path_cell(model, path, i * its.PATH_CELLS + its.PATH_SLOT) + j, x)
        f = shift_force(load3(work, body_slot(k) + BODY.ARM), f)


@routine
def _store_row(work, model, filling, c, row, scale, ends, found):
    """A row of a loop, multiplied by `scale`."""
    stage, tree = filling.stage, model.tree
    store(work, loop_lane(model, stage + its.GAP_LANE) + row, scale * found.gap)
    if accelerates(filling):
        store(work, loop_lane(model, stage + its.SIDE_LANE) + row, scale * found.gamma)
    if not fills_columns(filling):
        return
    at, scales = row_at(model, stage, row), (scale, group_length(work, model, filling.group))
    path_a, path_b = paths(tree, c)
    store_path(work, model, path_a, at, scales, ends[0].arm, found.force_a)
    store_path(work, model, path_b, at, scales, ends[1].arm, found.force_b)


class Axes(NamedTuple):
    """Along which a vector becomes rows: those of the world or, where `two`, the first two of a
    body whose third is normal to the plane of a loop."""

    two: bool
    first: Any
    second: Any


@helper
def _axes(work, body):
    """The axes of a body; −1: of the world."""
    if body < 0:
        return Axes(False, zero3(work), zero3(work))
    r = load_matrix(work, body_slot(body) + BODY.ROTATION)
    return Axes(True, x_axis(r), y_axis(r))


@helper
def _store_vector(work, at, step, x, axes):
    """A vector as rows, `step` lanes apart."""
    if axes.two:
        store(work, at, dot(axes.first, x))
        store(work, at + step, dot(axes.second, x))
        return
    store(work, at, x[0])
    store(work, at + step, x[1])
    store(work, at + 2 * step, x[2])


@helper
def _store_point_path(work, model, filling, path, at, arm, sign, axes):
    """Columns of a point's rows along a path: the velocities that its joints make at their end."""
    touched = model.tree[filling.stage + its.TOUCHED]
    for i in range(path.length):
        cells = i * its.PATH_CELLS
        k = path_cell(model, path, cells + its.PATH_BODY)
        slot = path_cell(model, path, cells + its.PATH_SLOT)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        for j in range(entry(model, k, N_DOF)):
            x = scale(sign, shift_motion(arm, joint_column(work, model, k, j, r))[1])
            if (path_cell(model, path, cells + its.PATH_LINEAR) >> j) & 1 > 0:
                x = scale(group_length(work, model, filling.group), x)
            _store_vector(work, at + slot + j, touched, x, axes)
        arm = add(arm, load3(work, body_slot(k) + BODY.ARM))


@helper
def _fill_point(work, model, filling, c, row, ends, body):
    """d = 0, along the axes of the world or in a plane, whatever these do meanwhile."""
    a, b = ends
    stage, axes = filling.stage, _axes(work, body)
    side = loop_lane(model, stage + its.SIDE_LANE) + row
    _store_vector(work, loop_lane(model, stage + its.GAP_LANE) + row, 1, from_a_to_b(a, b), axes)
    if accelerates(filling):
        _store_vector(work, side, 1, subtract(b.acceleration, a.acceleration), axes)
    if fills_columns(filling):
        at, (path_a, path_b) = row_at(model, stage, row), paths(model.tree, c)
        _store_point_path(work, model, filling, path_a, at, a.arm, -1.0, axes)
        _store_point_path(work, model, filling, path_b, at, b.arm, 1.0, axes)


@helper
def row_of_kind(work, model, c, kind, at, ends):
    """A row of a loop that is no point, with its parameters from `at` on."""
    tree, (a, b) = model.tree, ends
    d, one = from_a_to_b(a, b), splat(work, 1.0)
    r_a = load_matrix(work, body_slot(tree[c + its.BODY_A]) + BODY.ROTATION)
    r_b = load_matrix(work, body_slot(tree[c + its.BODY_B]) + BODY.ROTATION)
    u = multiply_vector(r_a, parameter3(work, model, at + its.ROW_U))
    w = multiply_vector(r_b, parameter3(work, model, at + its.ROW_W))
    constant = one * parameter(work, model.parameters, at + its.ROW_C)
    if kind == DOT:
        return dot_row(work, a, b, u, w, constant)
    if kind == ALONG:
        return along_row(work, a, b, d, u)
    if kind == LENGTH:
        return length_row(work, a, b, d, constant)
    e = multiply_vector(r_a, parameter3(work, model, at + its.ROW_E))
    return helix_row(work, ends, d, u, w, e, constant)


@helper
def _fill_loop(work, model, filling, c, row):
    """The rows of a loop, from `row` on."""
    tree, numbers = model.tree, model.tree[c + its.PARAMETERS_AT]
    moving = (1 + tree[c + its.NEEDS_RATE]) if accelerates(filling) else 0
    path_a, path_b = paths(tree, c)
    by, v = joint_velocity, filling.v
    a = end_of(by, work, model, tree[c + its.BODY_A], numbers + its.ORIGIN_A, path_a, v, moving)
    b = end_of(by, work, model, tree[c + its.BODY_B], numbers + its.ORIGIN_B, path_b, v, moving)
    ends = a, b
    length, one = group_length(work, model, filling.group), splat(work, 1.0)
    first = tree[c + its.PRIMITIVES_AT] if filling.every else tree[c + its.ESSENTIALS_AT]
    for i in range(tree[c + its.PRIMITIVES] if filling.every else tree[c + its.ESSENTIALS]):
        kind = tree[first + i * its.PRIMITIVE_CELLS]
        at = tree[first + i * its.PRIMITIVE_CELLS + 1]
        if kind in (POINT, IN_PLANE):
            _fill_point(work, model, filling, c, row, ends, -1 if kind == POINT else at)
            row += 3 if kind == POINT else 2
            continue
        found = row_of_kind(work, model, c, kind, at, ends)
        _store_row(work, model, filling, c, row, length if kind == DOT else one, ends, found)
        row += 1


@helper
def fill_rows(fill_loop, work, model, filling):
    """All rows of a stage, those of loops by `fill_loop`."""
    stage, tree = filling.stage, model.tree
    if fills_columns(filling):
        at = loop_lane(model, stage + its.MATRIX_LANE)
        for i in range(rows_of(model, filling) * tree[stage + its.TOUCHED]):
            store(work, at + i, splat(work, 0.0))
    row = stage - stage  # a zero that is no literal, for which numba would compile all twice
    for i in range(tree[stage + its.STAGE_CONSTRAINTS]):
        c = constraint_at(model, tree[tree[stage + its.STAGE_LIST_AT] + i])
        if tree[c + its.KIND_OF] == its.CLOSED_BY_JOINT:
            fill_loop(work, model, filling, c, row)
        elif tree[c + its.KIND_OF] == POLYNOMIAL:
            fill_polynomial(work, model, filling, c, row)
        else:
            fill_linear(work, model, filling, c, row)
        row += tree[c + its.ROW_COUNT] if filling.every else tree[c + its.ESSENTIAL_COUNT]


@routine
def fill_stage(work, model, filling):
    """All rows of a stage: gaps, and as `what` says the matrix over touched variables and γ."""
    fill_rows(_fill_loop, work, model, filling)


@routine
def stage_rates(work, model, filling):
    """Gv of a stage's rows, before passes have changed the matrix, into SIDE."""
    group, stage = filling.group, filling.stage
    touched = model.tree[stage + its.TOUCHED]
    for row in range(rows_of(model, filling)):
        at = row_at(model, stage, row)
        total = splat(work, 0.0)
        for i in range(touched):
            variable = touched_variable(model, stage, i)
            if variable < model.tree[group + its.DOFS]:
                rate = scaled_rate(work, model, group, filling.v, variable)
                total = fma(load(work, at + i), rate, total)
        store(work, loop_lane(model, stage + its.SIDE_LANE) + row, total)
