"""The rows of loops and couplings: gaps g(q), their derivatives G, and γ of g̈ = Gθ̈ + γ.

Every row of a loop is a pair of unit forces, one at each end, that act when its multiplier is one:
its columns are what these forces do on the joints of the cycle, walked inward like any force. That
gives G for each kind of row and each joint, and the reaction wrench later. Accelerations for θ̈ = 0
are gathered on the way inward too, relative to the closest common ancestor: what it does itself
moves both ends alike.

Matrices of a stage hold G with radians made comparable to metres: rows that are angles are
multiplied by the length of the group, and so are columns of lengths (a power of two: exact).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper, routine
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.loop_table import (
    constraint_at,
    group_length,
    loop_lane,
    scaled_rate,
    touched_variable,
)
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    OMEGA,
    ROTATION,
    body_slot,
    entry,
    load3,
    load6,
    load_matrix,
    parameter3,
)
from skodyn.lanes import fma, load, load_rows, parameter, sincos, splat, sqrt, store
from skodyn.model.closing import ALONG, DOT, IN_PLANE, LENGTH, POINT, POLYNOMIAL
from skodyn.model.layout import N_DOF, PARENT, Q_START, V_START
from skodyn.model.loop_layout import (
    BODY_A,
    BODY_B,
    CLOSED_BY_JOINT,
    DOFS,
    ESSENTIAL_COUNT,
    ESSENTIALS,
    ESSENTIALS_AT,
    EVERY_ROW,
    GAP_LANE,
    KIND_OF,
    MATRIX_LANE,
    NEEDS_RATE,
    ORIGIN_A,
    ORIGIN_B,
    PARAMETERS_AT,
    PATH_A,
    PATH_A_AT,
    PATH_B,
    PATH_B_AT,
    PATH_BODY,
    PATH_CELLS,
    PATH_LINEAR,
    PATH_SLOT,
    POLYNOMIAL_NUMBERS,
    PRIMITIVE_CELLS,
    PRIMITIVES,
    PRIMITIVES_AT,
    ROW_C,
    ROW_COUNT,
    ROW_E,
    ROW_U,
    ROW_W,
    SIDE_LANE,
    STAGE_CONSTRAINTS,
    STAGE_LIST_AT,
    STAGE_ROWS,
    TOUCHED,
)
from skodyn.spatial.linear3 import (
    add,
    add_scaled,
    column,
    cross,
    dot,
    multiply_vector,
    negate,
    scale,
    subtract,
)
from skodyn.spatial.motion import dot_spatial, shift_force, shift_motion

GAPS, COLUMNS, ACCELERATIONS, GAMMAS = range(4)
"""What to compute: g alone; g and G; g, G and γ; g and γ, without touching the matrix."""


class Filling(NamedTuple):
    """Whose rows are filled, with what."""

    group: int
    stage: int
    q: Any
    v: Any
    what: int
    every: bool  # rows that say nothing in a plane, too


@helper
def fills_columns(filling):
    """Is the matrix of the stage to be filled?"""
    return filling.what in (COLUMNS, ACCELERATIONS)


@helper
def accelerates(filling):
    """Is γ wanted?"""
    return filling.what in (ACCELERATIONS, GAMMAS)


@helper
def rows_of(model, filling):
    """How many rows a stage has."""
    return model.tree[filling.stage + (EVERY_ROW if filling.every else STAGE_ROWS)]


class Path(NamedTuple):
    """The way from an end of a loop inward: where its cells are, and how many bodies it has."""

    at: int
    length: int


class End(NamedTuple):
    """One end of a loop, in world axes; velocities and accelerations for θ̈ = 0 and an ancestor
    that does not accelerate."""

    arm: Any  # from the body's origin
    place: Any  # from the origin of the last body before the closest common ancestor
    foot: Any  # of that body, from the origin of the ancestor
    spin: Any  # ω of the body
    turning: Any  # angular acceleration
    acceleration: Any  # of the point
    velocity: Any  # of the point, relative to the ancestor's origin; only where rows need it


@helper
def _path_cell(model, path, cell):
    return model.tree[path.at + cell]


@helper
def _end(work, model, body, origin, path, v, moving):
    """Walk from an end inward; moving: 1 for accelerations, 2 for velocities too."""
    r = load_matrix(work, body_slot(body) + ROTATION)
    arm = multiply_vector(r, parameter3(work, model, origin))
    spin, zero = load3(work, body_slot(body) + OMEGA), zero3(work)
    place, turning, velocity = arm, zero, zero
    acceleration = cross(spin, cross(spin, arm)) if moving > 0 else zero
    top, foot = body, zero
    for i in range(path.length):
        place = add(place, foot)
        k = _path_cell(model, path, i * PATH_CELLS + PATH_BODY)
        if moving > 0:
            a = load6(work, body_slot(k) + CORIOLIS)
            turning = add(turning, a[0])
            acceleration = add(acceleration, shift_motion(place, a)[1])
        if moving > 1:
            velocity = add(velocity, _joint_velocity(work, model, k, place, v))
        foot = load3(work, body_slot(k) + ARM)
        top = entry(model, k, PARENT)
    if moving > 1:
        velocity = add(velocity, cross(load3(work, body_slot(top) + OMEGA), add(place, foot)))
    return End(arm, place, foot, spin, turning, acceleration, velocity)


@helper
def _from_a_to_b(a, b):
    """d. What both ends have in common, however far away, cancels before it can round."""
    return add(subtract(b.place, a.place), subtract(b.foot, a.foot))


@helper
def _joint_velocity(work, model, k, place, v):
    """What joint k adds to the velocity of a point that lies at `place` from its body's origin."""
    total = zero3(work)
    r = load_matrix(work, body_slot(k) + ROTATION)
    for i in range(entry(model, k, N_DOF)):
        h = joint_column(work, model, k, i, r)
        rate = load_rows(work, v, entry(model, k, V_START) + i)
        total = add_scaled(total, rate, shift_motion(place, h)[1])
    return total


# ---- the primitives of model/loops.py ----------------------------------------------------------


class RowOf(NamedTuple):
    """A row: gap, γ, and the forces at both ends that its multiplier stands for."""

    gap: Any
    gamma: Any
    force_a: Any
    force_b: Any


@helper
def _dot_row(work, a, b, u, w, c):
    """u·w = c."""
    n, none = cross(u, w), zero3(work)
    carried_u, carried_w = cross(a.spin, u), cross(b.spin, w)
    gamma = dot(n, subtract(a.turning, b.turning))
    gamma = gamma + dot(cross(a.spin, carried_u), w) + dot(u, cross(b.spin, carried_w))
    gamma = gamma + 2.0 * dot(carried_u, carried_w)
    return RowOf(dot(u, w) - c, gamma, (n, none), (negate(n), none))


@helper
def _along_row(work, a, b, d, u):
    """u·d = 0."""
    carried = cross(a.spin, u)
    turned = add(cross(a.turning, u), cross(a.spin, carried))
    moved = subtract(b.velocity, a.velocity)
    gamma = dot(turned, d) + 2.0 * dot(carried, moved)
    gamma = gamma + dot(u, subtract(b.acceleration, a.acceleration))
    return RowOf(dot(u, d), gamma, (cross(u, d), negate(u)), (zero3(work), u))


@helper
def _length_row(work, a, b, d, c):
    """|d| = c."""
    size = sqrt(dot(d, d))
    inverse = 1.0 / size
    e = (inverse * d[0], inverse * d[1], inverse * d[2])
    rate, none = subtract(b.velocity, a.velocity), zero3(work)
    along = dot(e, rate)
    gamma = dot(e, subtract(b.acceleration, a.acceleration))
    gamma = gamma + (dot(rate, rate) - along * along) * inverse
    return RowOf(size - c, gamma, (none, negate(e)), (none, e))


@helper
def _helix_row(work, ends, d, u, w, e, pitch):
    """pitch·sin(turn − u·d/pitch) = 0; G and γ are those of aligned axes, where other rows hold."""
    a, b = ends
    slide = _along_row(work, a, b, d, u)
    s, c = sincos(slide.gap / pitch)
    sine, cosine = dot(cross(u, e), w), dot(e, w)
    gap = pitch * (sine * c - cosine * s)
    gamma = pitch * dot(u, subtract(b.turning, a.turning)) - slide.gamma
    turn = (pitch * u[0], pitch * u[1], pitch * u[2])
    force_a = negate(add(turn, slide.force_a[0])), negate(slide.force_a[1])
    return RowOf(gap, gamma, force_a, (turn, negate(slide.force_b[1])))


# ---- into the matrix of a stage ----------------------------------------------------------------


@helper
def _row_at(model, stage, row):
    """Where a row of a stage's matrix begins."""
    return loop_lane(model, stage + MATRIX_LANE) + row * model.tree[stage + TOUCHED]


@routine
def _store_path(work, model, path, at, scales, arm, force):
    """Columns of one row along a path: what a force at its end does on the joints.

    scales: of the row, and of the columns of lengths.
    """
    f = shift_force(arm, force)
    for i in range(path.length):
        k = _path_cell(model, path, i * PATH_CELLS + PATH_BODY)
        r = load_matrix(work, body_slot(k) + ROTATION)
        for j in range(entry(model, k, N_DOF)):
            x = scales[0] * dot_spatial(joint_column(work, model, k, j, r), f)
            if (_path_cell(model, path, i * PATH_CELLS + PATH_LINEAR) >> j) & 1 > 0:
                x = x * scales[1]
            store(work, at + _path_cell(model, path, i * PATH_CELLS + PATH_SLOT) + j, x)
        f = shift_force(load3(work, body_slot(k) + ARM), f)


@routine
def _store_row(work, model, filling, c, row, scale, ends, found):
    """A row of a loop, multiplied by `scale`."""
    stage, tree = filling.stage, model.tree
    store(work, loop_lane(model, stage + GAP_LANE) + row, scale * found.gap)
    if accelerates(filling):
        store(work, loop_lane(model, stage + SIDE_LANE) + row, scale * found.gamma)
    if not fills_columns(filling):
        return
    at, scales = _row_at(model, stage, row), (scale, group_length(work, model, filling.group))
    path_a, path_b = _paths(tree, c)
    _store_path(work, model, path_a, at, scales, ends[0].arm, found.force_a)
    _store_path(work, model, path_b, at, scales, ends[1].arm, found.force_b)


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
    r = load_matrix(work, body_slot(body) + ROTATION)
    return Axes(True, column(r, 0), column(r, 1))


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
    touched = model.tree[filling.stage + TOUCHED]
    for i in range(path.length):
        cells = i * PATH_CELLS
        k, slot = (
            _path_cell(model, path, cells + PATH_BODY),
            _path_cell(model, path, cells + PATH_SLOT),
        )
        r = load_matrix(work, body_slot(k) + ROTATION)
        for j in range(entry(model, k, N_DOF)):
            x = scale(sign, shift_motion(arm, joint_column(work, model, k, j, r))[1])
            if (_path_cell(model, path, cells + PATH_LINEAR) >> j) & 1 > 0:
                x = scale(group_length(work, model, filling.group), x)
            _store_vector(work, at + slot + j, touched, x, axes)
        arm = add(arm, load3(work, body_slot(k) + ARM))


@helper
def _fill_point(work, model, filling, c, row, ends, body):
    """d = 0, along the axes of the world or in a plane, whatever these do meanwhile."""
    a, b = ends
    stage, axes = filling.stage, _axes(work, body)
    side = loop_lane(model, stage + SIDE_LANE) + row
    _store_vector(work, loop_lane(model, stage + GAP_LANE) + row, 1, _from_a_to_b(a, b), axes)
    if accelerates(filling):
        _store_vector(work, side, 1, subtract(b.acceleration, a.acceleration), axes)
    if fills_columns(filling):
        at, (path_a, path_b) = _row_at(model, stage, row), _paths(model.tree, c)
        _store_point_path(work, model, filling, path_a, at, a.arm, -1.0, axes)
        _store_point_path(work, model, filling, path_b, at, b.arm, 1.0, axes)


@helper
def _paths(tree, c):
    return Path(tree[c + PATH_A_AT], tree[c + PATH_A]), Path(tree[c + PATH_B_AT], tree[c + PATH_B])


@helper
def _fill_loop(work, model, filling, c, row):
    """The rows of a loop, from `row` on."""
    tree, numbers = model.tree, model.tree[c + PARAMETERS_AT]
    moving = (1 + tree[c + NEEDS_RATE]) if accelerates(filling) else 0
    path_a, path_b = _paths(tree, c)
    a = _end(work, model, tree[c + BODY_A], numbers + ORIGIN_A, path_a, filling.v, moving)
    b = _end(work, model, tree[c + BODY_B], numbers + ORIGIN_B, path_b, filling.v, moving)
    d, ends = _from_a_to_b(a, b), (a, b)
    length, one = group_length(work, model, filling.group), splat(work, 1.0)
    first = tree[c + PRIMITIVES_AT] if filling.every else tree[c + ESSENTIALS_AT]
    for i in range(tree[c + PRIMITIVES] if filling.every else tree[c + ESSENTIALS]):
        kind, at = tree[first + i * PRIMITIVE_CELLS], tree[first + i * PRIMITIVE_CELLS + 1]
        if kind in (POINT, IN_PLANE):
            _fill_point(work, model, filling, c, row, ends, -1 if kind == POINT else at)
            row += 3 if kind == POINT else 2
            continue
        r_a = load_matrix(work, body_slot(tree[c + BODY_A]) + ROTATION)
        r_b = load_matrix(work, body_slot(tree[c + BODY_B]) + ROTATION)
        u = multiply_vector(r_a, parameter3(work, model, at + ROW_U))
        w = multiply_vector(r_b, parameter3(work, model, at + ROW_W))
        constant = one * parameter(work, model.parameters, at + ROW_C)
        if kind == DOT:
            found = _dot_row(work, a, b, u, w, constant)
        elif kind == ALONG:
            found = _along_row(work, a, b, d, u)
        elif kind == LENGTH:
            found = _length_row(work, a, b, d, constant)
        else:
            e = multiply_vector(r_a, parameter3(work, model, at + ROW_E))
            found = _helix_row(work, ends, d, u, w, e, constant)
        _store_row(work, model, filling, c, row, length if kind == DOT else one, ends, found)
        row += 1


@helper
def _store_coupled(work, model, filling, path, row, i, factor):
    """The column of joint i of a coupling."""
    linear = _path_cell(model, path, i * PATH_CELLS + PATH_LINEAR) > 0
    x = factor * group_length(work, model, filling.group) if linear else factor
    slot = _path_cell(model, path, i * PATH_CELLS + PATH_SLOT)
    store(work, _row_at(model, filling.stage, row) + slot, x)


@routine
def _fill_polynomial(work, model, filling, c, row):
    """q_follower − f(q_source), by Horner's rule with its two derivatives."""
    path, numbers = _paths(model.tree, c)[0], model.tree[c + PARAMETERS_AT]
    follower, source = (
        _path_cell(model, path, 0 * PATH_CELLS + PATH_BODY),
        _path_cell(model, path, 1 * PATH_CELLS + PATH_BODY),
    )
    s = load_rows(work, filling.q, entry(model, source, Q_START))
    value, slope, bend = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0)
    for back in range(POLYNOMIAL_NUMBERS):
        c_i = parameter(work, model.parameters, numbers + POLYNOMIAL_NUMBERS - 1 - back)
        bend = fma(bend, s, slope)
        slope = fma(slope, s, value)
        value = fma(value, s, splat(work, 1.0) * c_i)
    scale = _coupling_scale(work, model, filling.group, c)
    gap = load_rows(work, filling.q, entry(model, follower, Q_START)) - value
    store(work, loop_lane(model, filling.stage + GAP_LANE) + row, scale * gap)
    if accelerates(filling):
        rate = load_rows(work, filling.v, entry(model, source, V_START))
        gamma = -(2.0 * bend * rate * rate)
        store(work, loop_lane(model, filling.stage + SIDE_LANE) + row, scale * gamma)
    if fills_columns(filling):
        _store_coupled(work, model, filling, path, row, 0, scale)
        _store_coupled(work, model, filling, path, row, 1, -(scale * slope))


@routine
def _fill_linear(work, model, filling, c, row):
    """Σ factor·q − offset."""
    path, numbers = _paths(model.tree, c)[0], model.tree[c + PARAMETERS_AT]
    scale = _coupling_scale(work, model, filling.group, c)
    one = splat(work, 1.0)
    gap = -(one * parameter(work, model.parameters, numbers))
    for i in range(path.length):
        factor = one * parameter(work, model.parameters, numbers + 1 + i)
        k = _path_cell(model, path, i * PATH_CELLS + PATH_BODY)
        gap = fma(factor, load_rows(work, filling.q, entry(model, k, Q_START)), gap)
        if fills_columns(filling):
            _store_coupled(work, model, filling, path, row, i, scale * factor)
    store(work, loop_lane(model, filling.stage + GAP_LANE) + row, scale * gap)
    if accelerates(filling):  # γ is zero
        store(work, loop_lane(model, filling.stage + SIDE_LANE) + row, splat(work, 0.0))


@helper
def _coupling_scale(work, model, group, c):
    """Rows of couplings in which a joint turns are angles; NEEDS_RATE says that none does."""
    if model.tree[c + NEEDS_RATE] > 0:
        return splat(work, 1.0)
    return group_length(work, model, group)


@routine
def fill_stage(work, model, filling):
    """All rows of a stage: gaps, and as `what` says the matrix over touched variables and γ."""
    stage, tree = filling.stage, model.tree
    if fills_columns(filling):
        at = loop_lane(model, stage + MATRIX_LANE)
        for i in range(rows_of(model, filling) * tree[stage + TOUCHED]):
            store(work, at + i, splat(work, 0.0))
    row = stage - stage  # a zero that is no literal, for which numba would compile all twice
    for i in range(tree[stage + STAGE_CONSTRAINTS]):
        c = constraint_at(model, tree[tree[stage + STAGE_LIST_AT] + i])
        if tree[c + KIND_OF] == CLOSED_BY_JOINT:
            _fill_loop(work, model, filling, c, row)
        elif tree[c + KIND_OF] == POLYNOMIAL:
            _fill_polynomial(work, model, filling, c, row)
        else:
            _fill_linear(work, model, filling, c, row)
        row += tree[c + ROW_COUNT] if filling.every else tree[c + ESSENTIAL_COUNT]


@routine
def stage_rates(work, model, filling):
    """Gv of a stage's rows, before passes have changed the matrix, into SIDE."""
    group, stage = filling.group, filling.stage
    touched = model.tree[stage + TOUCHED]
    for row in range(rows_of(model, filling)):
        at = _row_at(model, stage, row)
        total = splat(work, 0.0)
        for i in range(touched):
            variable = touched_variable(model, stage, i)
            if variable < model.tree[group + DOFS]:
                rate = scaled_rate(work, model, group, filling.v, variable)
                total = fma(load(work, at + i), rate, total)
        store(work, loop_lane(model, stage + SIDE_LANE) + row, total)
