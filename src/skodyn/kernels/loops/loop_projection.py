"""Onto the manifold of closed loops: quaternions of unit length, positions by Newton's method, then
velocities.

A quaternion that is turned step by step loses its length by roundings, 1e-13 in a million steps. In
a rotation matrix that looks like loops that come open, however well they are closed.

Both take the smallest change of coordinates, Δ = −G⁺g and −G⁺Gv with metres and radians made
comparable: one smooth map, which does not depend on how the rows were pivoted. (A map that moved
"the dependent coordinates" would depend on it, and cost RK4 two orders.) The factor of the first
Newton step serves the next ones as well; points are so near that it converges as fast. Each lane
stops moving when it is closed to rounding, whatever its neighbours do.

`change` is how VALUE is found: `least_change`, or, where joints are driven, one that leaves these
alone (loop_holding.py), which may not be possible.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.joint_kinds import has_quaternion, is_free
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.loops.loop_filling import COLUMNS, GAPS
from skodyn.kernels.loops.loop_groups import (
    RATED,
    TRUSTED,
    factor_group,
    fill_group,
    is_thorough,
    make_gram,
)
from skodyn.kernels.loops.loop_range import in_range_space
from skodyn.kernels.loops.loop_table import group_at, group_count, header_lane, loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import (
    dof_place,
    dof_scale,
    group_length,
    member_body,
    member_dof,
)
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import row3, row4, store_row3
from skodyn.kernels.status import LOOP_OPEN, OK, failure
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
from skodyn.model.layout import N_DOF, NQ, NV, Q_START
from skodyn.model.loops import loop_layout as its
from skodyn.model.manifold import integrate_free, integrate_spherical
from skodyn.spatial.rotations import quaternion_norm_squared

CLOSED = 4.0 * 2.0**-52
"""Gaps below this part of the group's length are rounding."""
NEARLY = 1e-12
"""Gaps below this, too, if another step makes them no smaller: long loops round more."""
ROUNDING = 2.0**-50
"""And what the coordinates themselves round: a crank that has turned a thousand times does."""
UNIT = 2.0**-50
"""Squares of lengths of quaternions that differ from one by less are rounding, too."""
STEPS = 12
_INFINITY = float("inf")
FRESH = 4
"""Newton steps that share a factor."""
TINY = 2e-8
"""Behind a step of this length, with factors of its own, what is left of the gap is rounding, half
the square of the step: nobody looks."""
STOOD, ARRIVED, MOVED, HELD = range(4)


@routine
def largest_gap(work, model, group):
    """Of all rows of a group, in parts of its length."""
    largest = splat(work, 0.0)
    for s in range(model.tree[group + its.STAGES]):
        stage = stage_at(model, group, s)
        for row in range(model.tree[stage + its.STAGE_ROWS]):
            gap = absolute(load(work, loop_lane(model, stage + its.GAP_LANE) + row))
            largest = select(gap <= largest, largest, gap)  # NaN goes through
    return largest / group_length(work, model, group)


@routine
def largest_coordinate(work, model, group, q):
    """Of all joints of a group, in radians or parts of its length."""
    largest = splat(work, 1.0)
    for i in range(model.tree[group + its.MEMBERS]):
        k, first = member_body(model, group, i), member_dof(model, group, i)
        if has_quaternion(model, k):
            continue
        for j in range(entry(model, k, N_DOF)):
            x = absolute(load_rows(work, q, entry(model, k, Q_START) + j))
            x = x / dof_scale(work, model, group, first + j)
            largest = select(x > largest, x, largest)
    return largest


@routine
def factor_to_project(work, model, group, q, v, mode):
    """Rows and factors at poses that are in the workspace, ready for projections."""
    factor_group(work, model, group, q, v, COLUMNS, mode)
    if not in_range_space(model, group):
        make_gram(work, model, group)


@helper
def change_of(work, model, group, i, still):
    """Δ of degree of freedom i, none in lanes that stand still."""
    x = load(work, loop_lane(model, group + its.VALUE_LANE) + i) * dof_scale(work, model, group, i)
    return select(still, splat(work, 0.0), x)


@routine
def move_members(work, model, group, q, still):
    """q ← q ⊞ Δ of the joints of a group."""
    for i in range(model.tree[group + its.MEMBERS]):
        k, first = member_body(model, group, i), member_dof(model, group, i)
        at = entry(model, k, Q_START)
        if has_quaternion(model, k):
            _move_turning(work, model, group, i, q, still)
            continue
        for j in range(entry(model, k, N_DOF)):
            x = change_of(work, model, group, first + j, still)
            store_rows(work, q, at + j, load_rows(work, q, at + j) + x)


@routine
def _move_turning(work, model, group, i, q, still):
    """A joint with a quaternion; lanes that stand still keep their bits."""
    k, first = member_body(model, group, i), member_dof(model, group, i)
    at = entry(model, k, Q_START)
    p = row4(work, q, at)
    turn = (
        change_of(work, model, group, first, still),
        change_of(work, model, group, first + 1, still),
        change_of(work, model, group, first + 2, still),
    )
    if not is_free(model, k):
        moved = integrate_spherical(p, turn)
    else:
        slide = (
            change_of(work, model, group, first + 3, still),
            change_of(work, model, group, first + 4, still),
            change_of(work, model, group, first + 5, still),
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
def gaps_to_side(work, model, group):
    _plan_gaps_to_side(work, model, group)
    if is_thorough(work, model, group):
        _plan_gaps_to_side(work, model, model.tree[group + its.THOROUGH_AT])


@routine
def _plan_gaps_to_side(work, model, group):
    for s in range(model.tree[group + its.STAGES]):
        stage = stage_at(model, group, s)
        for row in range(model.tree[stage + its.STAGE_ROWS]):
            gap = load(work, loop_lane(model, stage + its.GAP_LANE) + row)
            store(work, loop_lane(model, stage + its.SIDE_LANE) + row, gap)


@routine
def way_to_go(work, model, group):
    """How far all variables of a group are moved together, in radians or parts of its length."""
    total, values = splat(work, 0.0), loop_lane(model, group + its.VALUE_LANE)
    for i in range(model.tree[group + its.DOFS]):
        total = total + absolute(load(work, values + i))
    return total


@helper
def is_settled(work, model, group, q, gap, before):
    """Is what is left of a gap rounding, which another step made no smaller?"""
    nearly = NEARLY + ROUNDING * largest_coordinate(work, model, group, q)
    return select(gap >= 0.5 * before, gap, splat(work, 1.0)) <= nearly


@routine
def close_group_positions(change, work, model, group, q, v, step):
    """One Newton step of a group: STOOD, ARRIVED or MOVED, of what its lanes do the last; or HELD,
    if driven joints do not let it."""
    fresh, zero = step % FRESH == 0, splat(work, 0.0)
    if fresh:
        factor_to_project(work, model, group, q, v, TRUSTED)
    else:
        fill_group(work, model, group, q, v, GAPS)
    gap, last = largest_gap(work, model, group), loop_lane(model, group + its.LAST_GAP_LANE)
    before = load(work, last) if step > 0 else splat(work, _INFINITY)
    settled = is_settled(work, model, group, q, gap, before)
    open_by = select(settled, zero, select(before < 0.0, zero, gap))
    still = open_by <= CLOSED
    if all_lanes(still):
        store(work, last, splat(work, -1.0))
        return STOOD
    gaps_to_side(work, model, group)
    if not change(work, model, group):
        return HELD
    move_members(work, model, group, q, still)
    if fresh:
        gap = select(way_to_go(work, model, group) <= TINY, splat(work, -1.0), gap)
    gap = select(still, splat(work, -1.0), gap)  # and so it stays, whatever its neighbours do
    store(work, last, gap)
    return ARRIVED if all_lanes(gap < 0.0) else MOVED


@routine
def make_unit_quaternions(work, model, q):
    """Give every quaternion its length back; one that has it keeps its bits."""
    if model.tree[NQ] == model.tree[NV]:  # there is none
        return
    for k in range(body_count(model)):
        if has_quaternion(model, k):
            at = entry(model, k, Q_START)
            off = quaternion_norm_squared(row4(work, q, at)) - 1.0
            factor = select(absolute(off) <= UNIT, splat(work, 1.0), 1.0 - 0.5 * off)
            for i in range(4):
                store_rows(work, q, at + i, load_rows(work, q, at + i) * factor)


@shared_routine
def close_positions(change, work, model, q, v):
    """Move q onto the manifold; its poses are in the workspace then. OK, or LOOP_OPEN."""
    make_unit_quaternions(work, model, q)
    status = scatter_poses(work, model, q)
    for step in range(STEPS):
        done = STOOD
        for g in range(group_count(model)):
            group = group_at(model, g)
            done = max(done, close_group_positions(change, work, model, group, q, v, step))
            if done == HELD:
                return failure(LOOP_OPEN, model.tree[group + its.FIRST_CONSTRAINT])
        if done != STOOD and status == OK:
            status = scatter_poses(work, model, q)
        if done != MOVED or status != OK:
            return status
    return failure(LOOP_OPEN, worst_constraint(work, model))


@routine
def worst_constraint(work, model):
    """The constraint whose row is most open; of several lanes, the first."""
    worst, found = -1.0, 0
    for g in range(group_count(model)):
        group = group_at(model, g)
        for s in range(model.tree[group + its.STAGES]):
            stage = stage_at(model, group, s)
            for row in range(model.tree[stage + its.STAGE_ROWS]):
                gap = absolute(load(work, loop_lane(model, stage + its.GAP_LANE) + row))
                first = lane_at(gap / group_length(work, model, group), 0)
                if not first <= worst:
                    worst, found = first, model.tree[model.tree[stage + its.STAGE_LIST_AT]]
    return found


@shared_routine
def close_velocities(change, work, model, q, v):
    """v ← v − G⁺Gv at poses that are in the workspace; leaves the factors of that q behind."""
    status = OK
    for g in range(group_count(model)):
        group = group_at(model, g)
        factor_to_project(work, model, group, q, v, RATED)
        if not change(work, model, group):
            status = failure(LOOP_OPEN, model.tree[group + its.FIRST_CONSTRAINT])
        values = loop_lane(model, group + its.VALUE_LANE)
        for i in range(model.tree[group + its.DOFS]):
            place = dof_place(model, group, i)
            x = load(work, values + i) * dof_scale(work, model, group, i)
            store_rows(work, v, place, load_rows(work, v, place) + x)
    return status


@routine
def newton_changes(change, work, model, q, v, changes):
    """What would close q, by one Newton step; nothing in lanes that are closed to rounding."""
    status = scatter_poses(work, model, q)
    for g in range(group_count(model)):
        group = group_at(model, g)
        factor_to_project(work, model, group, q, v, TRUSTED)
        still = largest_gap(work, model, group) <= CLOSED
        gaps_to_side(work, model, group)
        if not change(work, model, group) and status == OK:
            status = failure(LOOP_OPEN, model.tree[group + its.FIRST_CONSTRAINT])
        for i in range(model.tree[group + its.DOFS]):
            place = dof_place(model, group, i)
            store_rows(work, changes, place, change_of(work, model, group, i, still))
    return status


@helper
def close_state(change, work, model, q, v):
    """Move q and v onto the manifold."""
    first = close_positions(change, work, model, q, v)
    second = close_velocities(change, work, model, q, v)
    return first if first != OK else second


# ---- for whom the factors are ------------------------------------------------------------------


@routine
def remember_factored(work, model, q):
    """Note that poses and factors in the workspace are those of q."""
    at = header_lane(model, its.FACTORED_LANE)
    for i in range(model.tree[NQ]):
        store(work, at + i, load_rows(work, q, i))


@routine
def was_factored(work, model, q):
    """Are these the coordinates that were noted last, to the bit?"""
    at, same = header_lane(model, its.FACTORED_LANE), True
    for i in range(model.tree[NQ]):
        same = same and all_lanes(load(work, at + i) == load_rows(work, q, i))
    return same
