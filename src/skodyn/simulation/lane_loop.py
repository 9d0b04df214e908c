"""The loop of runs side by side in registers, each with its own parameters: that of a sweep.

`parameters` and `numbers` hold one table per group of LANES runs, with their values of every
constant next to each other; q, y and the accumulators hold LANES rows per group. One call takes
group after group to the end of its runs, until its budget of steps is used up: `place` says where
it stands (group, steps done, whether its start was looked at). Time is step·dt, so that how a sweep
is cut into calls does not change a bit.

A step in which any lane fails is not taken. The call returns its status; `sweeps/lane_batch.py`
finds out which lane it was, takes it out and calls again: the neighbours repeat the step and see
nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, FLOATS, INTS, NUMBER, PLACES, RESULT, Group, call_part, helper, kernel
from skodyn.kernels.entries import named_like
from skodyn.kernels.mimics import full_model, has_mimics
from skodyn.kernels.status import OK
from skodyn.lanes import LANES, WIDTH_N_OWN_PARAMETERS, Rows, pointer, shift_pointer, states
from skodyn.simulation.fixed_step import STATE_ARRAYS, Schedule, run, states_of
from skodyn.simulation.sampling import (
    ACCUMULATORS,
    TOUCH_AT,
    TOUCH_NUMBERS,
    TOUCH_PART,
    MetricArrays,
    Metrics,
    places_of,
    sample,
)
from skodyn.simulation.sampling import COUNT as METRIC_COUNT
from skodyn.simulation.structures import (
    ADDRESS,
    EXPANDING,
    SYSTEM_ARRAYS,
    State,
    of_group,
    opened,
    table,
)
from skodyn.simulation.systems.system import FULL_Q, FULL_Y

GROUP, STEP, SAMPLED = range(3)


class Sweep(NamedTuple):
    """How far to take the groups."""

    total: int  # steps of a run
    dt: float
    max_speed: float
    every: int  # steps between looks
    groups: int
    budget: int  # steps of this call


METRIC_ARRAYS = Group(MetricArrays, (INTS, FLOATS, ADDRESS, RESULT, RESULT))
SWEEP = Group(Sweep, (COUNT, NUMBER, NUMBER, COUNT, COUNT, COUNT))


@helper
def touched_of(work, system, metrics):
    """What contacts do, behind sums and places: a row per lane."""
    places = places_of(work, full_model(system.model), metrics)
    first = places.first + states(work) * places.stride
    return Rows(metrics.values, first, metrics.codes[TOUCH_NUMBERS])


@helper
def look_at_contacts(work, system, state, metrics):
    """Where a metric asks for it."""
    if metrics.codes[TOUCH_NUMBERS] > 0:
        part, at = metrics.codes[TOUCH_PART], metrics.codes[TOUCH_AT]
        call_part(system.parts[part], work, system, at, state, metrics.touched)


@helper
def look_at(work, system, first, t, state, metrics):
    """Take a sample; of every joint, where some are mimics."""
    if has_mimics(system.model):
        call_part(system.parts[EXPANDING], work, system, state)
        every = State(table(system, FULL_Q), table(system, FULL_Y))
        look_at_contacts(work, system, every, metrics)
        sample(work, full_model(system.model), first, t, every, metrics)
    else:
        look_at_contacts(work, system, state, metrics)
        sample(work, system.model, first, t, state, metrics)


@helper
def look(work, system, t, number, state, metrics):
    look_at(work, system, False, t, state, metrics)


@helper
def run_groups(step, work, system, sweep, shifts, place, states, metrics):
    """(steps taken, status): as many groups as the budget allows, or up to a failing step.

    shifts: how much further on the constants, numbers and accumulators of the next group lie.
    """
    left = sweep.budget
    while left > 0 and place[GROUP] < sweep.groups:
        g = place[GROUP]
        mine = of_group(system, g * shifts[0], g * shifts[1], g * LANES)
        kept = shift_pointer(metrics.kept, g * shifts[2])
        seen = Metrics(
            metrics.codes, metrics.levels, metrics.function, metrics.values, kept,
            sweep.every * sweep.dt, touched_of(work, mine, metrics),
        )  # fmt: skip
        state, new = states_of(mine, states, g * LANES)
        if place[STEP] == 0 and place[SAMPLED] == 0:
            look_at(work, mine, True, 0.0, state, seen)
            place[SAMPLED] = 1
        schedule = Schedule(
            place[STEP], min(left, sweep.total - place[STEP]), sweep.dt, sweep.max_speed,
            sweep.every,
        )  # fmt: skip
        taken, _, status = run(step, look, work, mine, schedule, state, new, seen)
        left -= taken
        place[STEP] += taken
        if status != OK:
            return sweep.budget - left, status
        if place[STEP] == sweep.total:
            place[GROUP], place[STEP], place[SAMPLED] = g + 1, 0, 0
    return sweep.budget - left, OK


def lane_steps(name: str, step: Any) -> Any:
    """The kernel that takes groups of runs side by side: (steps taken, status)."""

    def entry(arrays, states, sweep, place, metrics):
        work, system = opened(WIDTH_N_OWN_PARAMETERS, arrays)
        shifts = (
            arrays.parameters.size // sweep.groups,
            arrays.numbers.size // sweep.groups,
            LANES * metrics.codes[METRIC_COUNT] * ACCUMULATORS,
        )
        values = pointer(metrics.values)
        pointers = Metrics(
            pointer(metrics.codes), pointer(metrics.levels), metrics.function,
            values, pointer(metrics.kept), 0.0, Rows(values, 0, 0),
        )  # fmt: skip
        return run_groups(step, work, system, sweep, shifts, pointer(place), states, pointers)

    return kernel(SYSTEM_ARRAYS, STATE_ARRAYS, SWEEP, PLACES, METRIC_ARRAYS)(
        named_like(entry, name, step)
    )
