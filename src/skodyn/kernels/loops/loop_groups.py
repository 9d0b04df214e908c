"""A whole group of loops: X with θ̇ = Xu, particular solutions, and those of least norm.

The stages of a group are factored one after the other (loop_factor.py); going back through them
gives X, and a particular solution. Taking the part along X away from it makes it that of least
norm, which does not depend on pivots.

A group may have two plans (loop_structure.py). In the quick one only variables that no other
loop touches come to depend on others, so that stages do not meet. Where one of its pivots is small,
lanes take X and solutions of the thorough plan instead, each for itself: a lane's bits are those of
its own plan, whatever its neighbours need.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.loops.loop_checks import stage_trouble
from skodyn.kernels.loops.loop_factor import factor_stage, reflect_side, solve_stage
from skodyn.kernels.loops.loop_filling import COLUMNS, GAMMAS, Filling
from skodyn.kernels.loops.loop_range import in_range_space, make_rows, smallest_solution
from skodyn.kernels.loops.loop_rows import fill_stage, stage_rates
from skodyn.kernels.loops.loop_table import group_at, group_count, loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import kept_variable, new_variable
from skodyn.kernels.status import OK
from skodyn.lanes import all_lanes, fma, load, select, splat, store
from skodyn.model.loops import loop_layout as its

TRUSTED, STRICT, RATED = range(3)
"""While stages are factored: nothing else; open ones are refused; Gv goes to SIDE."""


@helper
def is_thorough(work, model, group):
    """Does some lane need the thorough plan?"""
    if model.tree[group + its.THOROUGH_AT] == 0:
        return False
    return not all_lanes(load(work, loop_lane(model, group + its.QUICK_LANE)) > 0.5)


@shared_routine
def _fill_plan(work, model, group, q, v, what):
    for s in range(model.tree[group + its.STAGES]):
        fill_stage(work, model, Filling(group, stage_at(model, group, s), q, v, what, False))


@routine
def fill_group(work, model, group, q, v, what):
    """Rows of all stages; without columns, of the plans that were factored last."""
    _fill_plan(work, model, group, q, v, what)
    if is_thorough(work, model, group):
        _fill_plan(work, model, model.tree[group + its.THOROUGH_AT], q, v, what)


# ---- factors -----------------------------------------------------------------------------------


@shared_routine
def _factor_plan(work, model, filling, mode):
    """(in which lanes all pivots are large, status): fill and factor the stages of a plan."""
    large, status = splat(work, 1.0), OK
    group = filling.group
    for s in range(model.tree[group + its.STAGES]):
        stage = stage_at(model, group, s)
        filling = Filling(group, stage, filling.q, filling.v, filling.what, False)
        fill_stage(work, model, filling)
        if mode == STRICT and status == OK:
            status = stage_trouble(work, model, filling)
        if mode == RATED:
            stage_rates(work, model, filling)
        answer = factor_stage(work, model, group, stage)
        large = select(answer > 0.5, large, splat(work, 0.0))
    if in_range_space(model, group):
        make_rows(work, model, group)
    else:
        make_x(work, model, group)
    return large, status


@routine
def factor_group(work, model, group, q, v, what, mode):
    """Rows and factors of a group at poses that are in the workspace, and its X."""
    large, status = _factor_plan(work, model, Filling(group, 0, q, v, what, False), mode)
    thorough = model.tree[group + its.THOROUGH_AT]
    if thorough > 0:
        store(work, loop_lane(model, group + its.QUICK_LANE), large)
        if is_thorough(work, model, group):
            other = RATED if mode == RATED else TRUSTED
            _factor_plan(work, model, Filling(thorough, 0, q, v, what, False), other)
            count = model.tree[group + its.DOFS] * model.tree[group + its.MOBILITY]
            _take_thorough(work, model, group, its.X_LANE, count)
    return status


@routine
def _take_thorough(work, model, group, column, count):
    """Numbers of the thorough plan, in lanes where the quick one has small pivots."""
    at = loop_lane(model, group + column)
    other = loop_lane(model, model.tree[group + its.THOROUGH_AT] + column)
    quick = load(work, loop_lane(model, group + its.QUICK_LANE)) > 0.5
    for i in range(count):
        store(work, at + i, select(quick, load(work, at + i), load(work, other + i)))


@routine
def make_x(work, model, group):
    """X of all variables, from the last stage to the first."""
    x, m = loop_lane(model, group + its.X_LANE), model.tree[group + its.MOBILITY]
    for t in range(m):
        variable = model.tree[model.tree[group + its.FINALS_AT] + t]
        for u in range(m):
            unit = splat(work, 1.0) if t == u else splat(work, 0.0)
            store(work, x + variable * m + u, unit)
    for back in range(model.tree[group + its.STAGES]):
        stage = stage_at(model, group, model.tree[group + its.STAGES] - 1 - back)
        if model.tree[stage + its.DIRECT] == 0:  # else its basis lies in X already
            _multiply_basis(work, model, stage, x, m)


@routine
def _multiply_basis(work, model, stage, x, m):
    """Rows of X of the variables of a stage from those of its new ones."""
    new, basis = model.tree[stage + its.NEW], loop_lane(model, stage + its.BASIS_LANE)
    for i in range(model.tree[stage + its.PIVOTS]):
        row = x + kept_variable(model, stage, i) * m
        for u in range(m):
            total = splat(work, 0.0)
            for t in range(new):
                n = load(work, basis + i * new + t)
                total = fma(n, load(work, x + new_variable(model, stage, t) * m + u), total)
            store(work, row + u, total)


# ---- solutions ---------------------------------------------------------------------------------


@routine
def _solve_plan(work, model, group):
    """Values of the group's variables that solve G·x = −SIDE; those that stay free are 0."""
    values = loop_lane(model, group + its.VALUE_LANE)
    for s in range(model.tree[group + its.STAGES]):
        solve_stage(work, model, stage_at(model, group, s))
    for t in range(model.tree[group + its.MOBILITY]):
        variable = model.tree[model.tree[group + its.FINALS_AT] + t]
        store(work, values + variable, splat(work, 0.0))
    for back in range(model.tree[group + its.STAGES]):
        stage = stage_at(model, group, model.tree[group + its.STAGES] - 1 - back)
        if model.tree[stage + its.DIRECT] > 0:  # its part lies among the values already
            continue
        new, part = model.tree[stage + its.NEW], loop_lane(model, stage + its.PART_LANE)
        basis = loop_lane(model, stage + its.BASIS_LANE)
        for i in range(model.tree[stage + its.PIVOTS]):
            total = load(work, part + i)
            for t in range(new):
                value = load(work, values + new_variable(model, stage, t))
                total = fma(load(work, basis + i * new + t), value, total)
            store(work, values + kept_variable(model, stage, i), total)


@routine
def particular_solution(work, model, group):
    """x with G·x = −SIDE, into VALUE; which one depends on pivots."""
    _solve_plan(work, model, group)
    if is_thorough(work, model, group):
        _solve_plan(work, model, model.tree[group + its.THOROUGH_AT])
        _take_thorough(work, model, group, its.VALUE_LANE, model.tree[group + its.DOFS])


@routine
def make_gram(work, model, group):
    """The Cholesky factor of X*X."""
    x, gram = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.GRAM_LANE)
    m = model.tree[group + its.MOBILITY]
    for i in range(m):
        for j in range(i + 1):
            total = splat(work, 0.0)
            for k in range(model.tree[group + its.DOFS]):
                total = fma(load(work, x + k * m + i), load(work, x + k * m + j), total)
            store(work, gram + i * m + j, total)
    cholesky(work, gram, m)


@routine
def take_along_x_away(work, model, group):
    """Make the values of least norm: x − X(X*X)⁻¹X*x; `make_gram` has run."""
    x, values = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.VALUE_LANE)
    gram, u = loop_lane(model, group + its.GRAM_LANE), loop_lane(model, group + its.RATE_LANE)
    m, n = model.tree[group + its.MOBILITY], model.tree[group + its.DOFS]
    for i in range(m):
        total = splat(work, 0.0)
        for k in range(n):
            total = fma(load(work, x + k * m + i), load(work, values + k), total)
        store(work, u + i, total)
    solve_lower(work, gram, m, u, 1)
    solve_upper(work, gram, m, u)
    for k in range(n):
        total = load(work, values + k)
        for i in range(m):
            total = fma(-load(work, x + k * m + i), load(work, u + i), total)
        store(work, values + k, total)


@helper
def least_change(work, model, group):
    """The smallest Δ with GΔ = −SIDE, into VALUE; there is always one."""
    if in_range_space(model, group):
        reflect_side(work, model, stage_at(model, group, 0))
        smallest_solution(work, model, group)
    else:
        particular_solution(work, model, group)
        take_along_x_away(work, model, group)
    return True


# ---- all groups --------------------------------------------------------------------------------


@routine
def factor_groups(work, model, q, v, what, strict):
    """X of every group, and for accelerations x_p; strict: open loops are refused.

    GAMMAS: x_p alone, with the factors that are there.
    """
    status = OK
    for g in range(group_count(model)):
        group = group_at(model, g)
        if what == GAMMAS:
            fill_group(work, model, group, q, v, what)
        else:
            answer = factor_group(work, model, group, q, v, what, STRICT if strict else TRUSTED)
            status = status if status != OK else answer
        if what != COLUMNS and in_range_space(model, group):
            reflect_side(work, model, stage_at(model, group, 0))
        elif what != COLUMNS:
            particular_solution(work, model, group)
    return status
