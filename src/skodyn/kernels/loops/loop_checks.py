"""Are the loops of a state closed, and do they stay so? Asked before its rows are factored."""

from skodyn.jit import helper
from skodyn.kernels.loops.loop_filling import ACCELERATIONS
from skodyn.kernels.loops.loop_table import loop_lane
from skodyn.kernels.loops.loop_variables import scaled_rate, touched_variable
from skodyn.kernels.status import LOOP_OPEN, LOOP_RATE, OK, failure
from skodyn.lanes import absolute, all_lanes, fma, load, select, splat
from skodyn.model.loops import loop_layout as its

OPEN = 1e-6
"""A state whose ends are further apart (metres; radians times the group's length) is refused."""
PARTING = 1e-6
"""Likewise velocities that part them faster than this, beside the fastest joint of the stage."""


@helper
def stage_trouble(work, model, filling):
    """OK, or the status of a stage whose ends are apart, or part."""
    stage = filling.stage
    first = model.tree[model.tree[stage + its.STAGE_LIST_AT]]
    for row in range(model.tree[stage + its.STAGE_ROWS]):
        gap = load(work, loop_lane(model, stage + its.GAP_LANE) + row)
        if not all_lanes(absolute(gap) <= OPEN):
            return failure(LOOP_OPEN, first)
    if filling.what != ACCELERATIONS:
        return OK
    return OK if _stays_closed(work, model, filling) else failure(LOOP_RATE, first)


@helper
def _stays_closed(work, model, filling):
    """Is Gv rounding, beside the fastest joint that has a part in it?"""
    group, stage = filling.group, filling.stage
    touched, rows = model.tree[stage + its.TOUCHED], model.tree[stage + its.STAGE_ROWS]
    dofs, at = model.tree[group + its.DOFS], loop_lane(model, stage + its.MATRIX_LANE)
    fastest, sound = splat(work, 1.0), True
    for row in range(rows):
        total = splat(work, 0.0)
        for i in range(touched):
            variable = touched_variable(model, stage, i)
            if variable < dofs:
                rate = scaled_rate(work, model, group, filling.v, variable)
                total = fma(load(work, at + row * touched + i), rate, total)
                if row == 0:  # all of them come by
                    fastest = select(absolute(rate) > fastest, absolute(rate), fastest)
        sound = sound and all_lanes(absolute(total) <= PARTING * fastest)
    return sound
