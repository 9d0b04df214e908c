"""Onto the manifold of closed loops where bodies bend: loop_projection.py, with modes.

The smallest change of coordinates and of velocities, modes among them: positions by Newton's method
with a factor that serves several steps, each lane for itself until it is closed to rounding.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.flexible.flexible_loop_rows import factor_bent_rows, fill_bent_rows, the_filling
from skodyn.kernels.flexible.flexible_table import field, flexible_record
from skodyn.kernels.flexible.flexible_tree import scatter_bent_poses
from skodyn.kernels.loops.loop_factor import reflect_side
from skodyn.kernels.loops.loop_filling import COLUMNS, GAPS
from skodyn.kernels.loops.loop_groups import RATED, TRUSTED
from skodyn.kernels.loops.loop_projection import (
    CLOSED,
    FRESH,
    STEPS,
    TINY,
    change_of,
    gaps_to_side,
    is_settled,
    largest_gap,
    make_unit_quaternions,
    move_members,
    way_to_go,
    worst_constraint,
)
from skodyn.kernels.loops.loop_range import smallest_solution
from skodyn.kernels.loops.loop_table import group_at, loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import dof_scale
from skodyn.kernels.packed_model import body_count, velocity_count
from skodyn.kernels.status import LOOP_OPEN, OK, failure
from skodyn.lanes import all_lanes, load, load_rows, select, splat, store_rows
from skodyn.model.flexible import flexible_layout as bent
from skodyn.model.loops import loop_layout as its

_INFINITY = float("inf")


@helper
def _least_change(work, model, group):
    """The smallest Δ with GΔ = −SIDE, into VALUE."""
    reflect_side(work, model, stage_at(model, group, 0))
    smallest_solution(work, model, group)


@routine
def _move_modes(work, model, group, q, still):
    """η ← η + Δ."""
    for k in range(body_count(model)):
        record = flexible_record(model, k)
        if record > 0:
            at, dof = field(model, record, bent.MODE_Q), field(model, record, bent.MODE_V)
            for i in range(field(model, record, bent.MODES)):
                x = change_of(work, model, group, dof + i, still)
                store_rows(work, q, at + i, load_rows(work, q, at + i) + x)


@routine
def close_bent_positions(work, model, q, v):
    """Move q onto the manifold; its poses are in the workspace then. OK, or LOOP_OPEN."""
    group = group_at(model, 0)
    make_unit_quaternions(work, model, q)
    status = scatter_bent_poses(work, model, q)
    before, arrived = splat(work, _INFINITY), splat(work, 0.0)
    for step in range(STEPS):
        fresh = step % FRESH == 0
        if fresh:
            factor_bent_rows(work, model, q, v, COLUMNS, TRUSTED)
        else:
            fill_bent_rows(work, model, the_filling(model, q, v, GAPS))
        gap = largest_gap(work, model, group)
        settled = is_settled(work, model, group, q, gap, before)
        open_by = select(arrived > 0.5, splat(work, 0.0), select(settled, splat(work, 0.0), gap))
        still = open_by <= CLOSED
        if all_lanes(still):
            return status
        gaps_to_side(work, model, group)
        _least_change(work, model, group)
        move_members(work, model, group, q, still)
        _move_modes(work, model, group, q, still)
        one = splat(work, 1.0)
        arrived = select(still, one, arrived)  # and so it stays, whatever its neighbours do
        if fresh:
            arrived = select(way_to_go(work, model, group) <= TINY, one, arrived)
        before = gap
        if status == OK:
            status = scatter_bent_poses(work, model, q)
        if status != OK or all_lanes(arrived > 0.5):
            return status
    return failure(LOOP_OPEN, worst_constraint(work, model))


@routine
def close_bent_velocities(work, model, q, v):
    """v ← v − G⁺Gv at poses that are in the workspace; leaves the factors of that q behind."""
    group = group_at(model, 0)
    factor_bent_rows(work, model, q, v, COLUMNS, RATED)
    _least_change(work, model, group)
    values = loop_lane(model, group + its.VALUE_LANE)
    for dof in range(velocity_count(model)):
        x = load(work, values + dof) * dof_scale(work, model, group, dof)
        store_rows(work, v, dof, load_rows(work, v, dof) + x)


@helper
def close_bent_state(work, model, q, v):
    """Move q and v onto the manifold."""
    status = close_bent_positions(work, model, q, v)
    close_bent_velocities(work, model, q, v)
    return status
