"""Onto the manifold of closed loops: positions by Newton's method, then velocities.

Both take the smallest change of coordinates, Δ = −G⁺g and −G⁺Gv with metres and radians made
comparable: one smooth map, which does not depend on how the rows were pivoted. (A map that moved
"the dependent coordinates" would depend on it, and cost RK4 two orders.) The factor of the first
Newton step serves the next ones as well; points are so near that it converges as fast. Each lane
stops moving when it is closed to rounding, whatever its neighbours do.
"""

from __future__ import annotations

from skodyn.jit import helper, routine
from skodyn.kernels.joint_motion import FREE, SPHERICAL
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.loop_factor import (
    factor_stage,
    make_gram,
    make_x,
    particular_solution,
    reflect_side,
    take_along_x_away,
)
from skodyn.kernels.loop_range import (
    in_range_space,
    make_rows,
    smallest_solution,
    take_effect_away,
)
from skodyn.kernels.loop_rows import COLUMNS, GAPS, RATES, Filling, fill_stage, stage_rates
from skodyn.kernels.loop_table import (
    dof_place,
    dof_scale,
    group_at,
    group_count,
    group_length,
    loop_lane,
    member_body,
    member_dof,
    scaled_rate,
    stage_at,
)
from skodyn.kernels.status import LOOP_OPEN, OK, failure
from skodyn.kernels.workspace import entry, row3, row4, store_row3
from skodyn.lanes import (
    absolute,
    all_lanes,
    lane_at,
    load,
    load_rows,
    select,
    splat,
    store,
    store_rows,
)
from skodyn.model.layout import KIND, N_DOF, Q_START
from skodyn.model.loop_layout import (
    DOFS,
    GAP_LANE,
    LAST_GAP_LANE,
    MEMBERS,
    SIDE_LANE,
    STAGE_LIST_AT,
    STAGE_ROWS,
    STAGES,
    VALUE_LANE,
)
from skodyn.model.manifold import integrate_free, integrate_spherical

CLOSED = 4.0 * 2.0**-52
"""Gaps below this part of the group's length are rounding."""
NEARLY = 1e-12
"""Gaps below this, too, if another step makes them no smaller: long loops round more."""
ROUNDING = 2.0**-50
"""And what the coordinates themselves round: a crank that has turned a thousand times does."""
STEPS = 12
_INFINITY = float("inf")
FRESH = 4
"""Newton steps that share a factor."""


@routine
def largest_gap(work, model, group):
    """Of all rows of a group, in parts of its length."""
    largest = splat(work, 0.0)
    for s in range(model.tree[group + STAGES]):
        stage = stage_at(model, group, s)
        for row in range(model.tree[stage + STAGE_ROWS]):
            gap = absolute(load(work, loop_lane(model, stage, GAP_LANE) + row))
            largest = select(gap <= largest, largest, gap)  # NaN goes through
    return largest / group_length(work, model, group)


@routine
def largest_coordinate(work, model, group, q):
    """Of all joints of a group, in radians or parts of its length."""
    largest = splat(work, 1.0)
    for i in range(model.tree[group + MEMBERS]):
        k, first = member_body(model, group, i), member_dof(model, group, i)
        if entry(model, k, KIND) in (SPHERICAL, FREE):
            continue
        for j in range(entry(model, k, N_DOF)):
            x = absolute(load_rows(work, q, entry(model, k, Q_START) + j))
            x = x / dof_scale(work, model, group, first + j)
            largest = select(x > largest, x, largest)
    return largest


@routine
def fill_group(work, model, group, q, v, what):
    for s in range(model.tree[group + STAGES]):
        fill_stage(work, model, Filling(group, stage_at(model, group, s), q, v, what))


@routine
def factor_group(work, model, group, q, v):
    """Rows and factors at poses that are in the workspace, ready for projections; Gv is in SIDE."""
    for s in range(model.tree[group + STAGES]):
        filling = Filling(group, stage_at(model, group, s), q, v, COLUMNS)
        fill_stage(work, model, filling)
        stage_rates(work, model, filling)
        factor_stage(work, model, group, filling.stage)
    if in_range_space(model, group):
        make_rows(work, model, group)
    else:
        make_x(work, model, group)
        make_gram(work, model, group)


@helper
def least_change(work, model, group):
    """The smallest Δ with GΔ = −SIDE, into VALUE."""
    if in_range_space(model, group):
        reflect_side(work, model, stage_at(model, group, 0))
        smallest_solution(work, model, group)
    else:
        particular_solution(work, model, group)
        take_along_x_away(work, model, group)


@helper
def _change(work, model, group, i, still):
    """Δ of degree of freedom i, none in lanes that stand still."""
    x = load(work, loop_lane(model, group, VALUE_LANE) + i) * dof_scale(work, model, group, i)
    return select(still, splat(work, 0.0), x)


@routine
def move_members(work, model, group, q, still):
    """q ← q ⊞ Δ of the joints of a group."""
    for i in range(model.tree[group + MEMBERS]):
        k, first = member_body(model, group, i), member_dof(model, group, i)
        at, kind = entry(model, k, Q_START), entry(model, k, KIND)
        if kind in (SPHERICAL, FREE):
            _move_turning(work, model, group, i, q, still)
            continue
        for j in range(entry(model, k, N_DOF)):
            x = _change(work, model, group, first + j, still)
            store_rows(work, q, at + j, load_rows(work, q, at + j) + x)


@routine
def _move_turning(work, model, group, i, q, still):
    """A joint with a quaternion; lanes that stand still keep their bits."""
    k, first = member_body(model, group, i), member_dof(model, group, i)
    at = entry(model, k, Q_START)
    p = row4(work, q, at)
    turn = (
        _change(work, model, group, first, still),
        _change(work, model, group, first + 1, still),
        _change(work, model, group, first + 2, still),
    )
    if entry(model, k, KIND) == SPHERICAL:
        moved = integrate_spherical(p, turn)
    else:
        slide = (
            _change(work, model, group, first + 3, still),
            _change(work, model, group, first + 4, still),
            _change(work, model, group, first + 5, still),
        )
        x = row3(work, q, at + 4)
        moved, place = integrate_free(p, x, turn, slide)
        store_row3(
            work,
            q,
            at + 4,
            (
                select(still, x[0], place[0]),
                select(still, x[1], place[1]),
                select(still, x[2], place[2]),
            ),
        )
    store_rows(work, q, at, select(still, p[0], moved[0]))
    store_row3(
        work,
        q,
        at + 1,
        (
            select(still, p[1], moved[1]),
            select(still, p[2], moved[2]),
            select(still, p[3], moved[3]),
        ),
    )


@routine
def _gaps_to_side(work, model, group):
    for s in range(model.tree[group + STAGES]):
        stage = stage_at(model, group, s)
        for row in range(model.tree[stage + STAGE_ROWS]):
            gap = load(work, loop_lane(model, stage, GAP_LANE) + row)
            store(work, loop_lane(model, stage, SIDE_LANE) + row, gap)


@routine
def close_group_positions(work, model, group, q, v, step):
    """One Newton step of a group; does it stand still in all lanes?"""
    fill_group(work, model, group, q, v, GAPS)
    gap, last = largest_gap(work, model, group), loop_lane(model, group, LAST_GAP_LANE)
    before = load(work, last) if step > 0 else splat(work, _INFINITY)
    store(work, last, gap)
    nearly = NEARLY + ROUNDING * largest_coordinate(work, model, group, q)
    settled = select(gap >= 0.5 * before, gap, splat(work, 1.0)) <= nearly
    still = select(settled, splat(work, 0.0), gap) <= CLOSED
    if all_lanes(still):
        return True
    if step % FRESH == 0:
        factor_group(work, model, group, q, v)
    _gaps_to_side(work, model, group)
    least_change(work, model, group)
    move_members(work, model, group, q, still)
    return False


@routine
def close_positions(work, model, q, v):
    """Move q onto the manifold; its poses are in the workspace then. OK, or LOOP_OPEN."""
    for step in range(STEPS):
        status = scatter_poses(work, model, q)
        if status != OK:
            return status
        closed = True
        for g in range(group_count(model)):
            still = close_group_positions(work, model, group_at(model, g), q, v, step)
            closed = closed and still
        if closed:
            return OK
    return failure(LOOP_OPEN, worst_constraint(work, model))


@routine
def worst_constraint(work, model):
    """The constraint whose row is most open; of several lanes, the first."""
    worst, found = -1.0, 0
    for g in range(group_count(model)):
        group = group_at(model, g)
        for s in range(model.tree[group + STAGES]):
            stage = stage_at(model, group, s)
            for row in range(model.tree[stage + STAGE_ROWS]):
                gap = absolute(load(work, loop_lane(model, stage, GAP_LANE) + row))
                first = lane_at(gap / group_length(work, model, group), 0)
                if not first <= worst:
                    worst, found = first, model.tree[model.tree[stage + STAGE_LIST_AT]]
    return found


@routine
def close_velocities(work, model, q, v):
    """v ← v − G⁺Gv at poses that are in the workspace; leaves the factors of that q behind."""
    for g in range(group_count(model)):
        group = group_at(model, g)
        factor_group(work, model, group, q, v)
        least_change(work, model, group)
        values = loop_lane(model, group, VALUE_LANE)
        for i in range(model.tree[group + DOFS]):
            place = dof_place(model, group, i)
            x = load(work, values + i) * dof_scale(work, model, group, i)
            store_rows(work, v, place, load_rows(work, v, place) + x)


@routine
def _store_changes(work, model, group, out):
    """The values of a group as changes of velocity, or of the way."""
    for i in range(model.tree[group + DOFS]):
        x = load(work, loop_lane(model, group, VALUE_LANE) + i)
        place = dof_place(model, group, i)
        store_rows(work, out, place, x * dof_scale(work, model, group, i))


@routine
def _renewed_change(work, model, group, known):
    """A change made known ← that in the range of the rows which has its effect and meets −SIDE."""
    values, n = loop_lane(model, group, VALUE_LANE), model.tree[group + DOFS]
    if in_range_space(model, group):
        reflect_side(work, model, stage_at(model, group, 0))
        take_effect_away(work, model, group, known)
        smallest_solution(work, model, group)
    else:
        particular_solution(work, model, group)
        for i in range(n):
            x = scaled_rate(work, model, group, known, i)
            store(work, values + i, load(work, values + i) + x)
        take_along_x_away(work, model, group)
    _store_changes(work, model, group, known)


@routine
def renew_changes(work, model, state, changes):
    """What closes q and v, along the rows of another state: the one that was factored last.

    This state has the changes so far; its poses and rates are in the workspace.
    """
    for g in range(group_count(model)):
        group = group_at(model, g)
        fill_group(work, model, group, state.q, state.y, RATES)
        _renewed_change(work, model, group, changes.y)
        _gaps_to_side(work, model, group)
        _renewed_change(work, model, group, changes.q)


@helper
def close_state(work, model, q, v):
    """Move q and v onto the manifold."""
    status = close_positions(work, model, q, v)
    close_velocities(work, model, q, v)
    return status
