"""The loop of methods that choose their steps: one chunk of attempted steps.

Rows for the log come from dense output at multiples of the interval, so that logging does not
change the sequence of steps, unless one of them would fill all rows of a chunk. `clock` holds what
must survive between chunks, and in checkpoints: time, next step length, previous error, steps
taken, steps rejected, rows written so far.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, NUMBER, RESULT, Group, helper, kernel
from skodyn.kernels.entries import named_like
from skodyn.kernels.status import LOOP_OPEN, NOT_FINITE, OK, STEP_TOO_SMALL, code_of
from skodyn.lanes import WIDTH_1, Rows, pointer
from skodyn.simulation.control.control_records import CONTROL_RECORD, SAMPLE_STEPS, TIMING_AT, UNIT
from skodyn.simulation.fixed_step import (
    LOG_ROWS,
    STATE_ARRAYS,
    check_velocities,
    copy_state,
    states_of,
)
from skodyn.simulation.forces import CONTROLLERS, CONTROLLERS_AT, SAMPLED
from skodyn.simulation.steppers import explicit
from skodyn.simulation.structures import SYSTEM_ARRAYS, State, opened
from skodyn.simulation.systems.system import close, follow, take_samples

TIME, STEP_LENGTH, PREVIOUS_ERROR, STEPS, REJECTED, ROWS = range(6)
CLOCK = 6


class AdaptiveSchedule(NamedTuple):
    """How far to go, and how carefully."""

    attempts: int
    end: float
    rtol: float
    atol: float
    max_step: float
    max_speed: float
    interval: float  # between rows of the log


SCHEDULE = Group(AdaptiveSchedule, (COUNT, *[NUMBER] * 6))


@helper
def end_of_step(system, schedule, time):
    """Where the next step must not go beyond: the end, or the next sample of a controller."""
    codes, end = system.codes, schedule.end
    if codes[SAMPLED] > 0:
        for c in range(codes[CONTROLLERS]):
            at = codes[CONTROLLERS_AT] + CONTROL_RECORD * c
            if codes[at + SAMPLE_STEPS] > 0:
                unit = system.numbers[codes[at + TIMING_AT] + UNIT]
                end = min(end, (int(time / unit + 1e-9) + 1) * unit)
    return end


@helper
def length_of_step(clock, schedule, end, capacity):
    """What the next attempt takes; a chunk has room for every row of its longest step."""
    left = end - clock[TIME]
    dt = min(clock[STEP_LENGTH], schedule.max_step, (capacity - 4) * schedule.interval)
    return left if left <= dt * (1.0 + 1e-6) else dt  # leave nothing that time cannot resolve


class RowsOfStep(NamedTuple):
    """Where rows of one step go, and up to which time."""

    q: Rows
    y: Rows
    row: int
    after: float
    interval: float


@helper
def write_rows(dense_output, work, system, clock, dt, state, new, log):
    """Rows of the log that lie in the step from clock[TIME]; how many there are."""
    interval, after, first = log.interval, log.after, log.row
    row = first
    nq, ny = state.q.stride, state.y.stride
    while (clock[ROWS] + 1) * interval <= after * (1.0 + 1e-15):
        part = min(((clock[ROWS] + 1) * interval - clock[TIME]) / dt, 1.0)
        out = State(Rows(log.q, row * nq, nq), Rows(log.y, row * ny, ny))
        dense_output(work, system, part, dt, state, new, out)
        at = (clock[ROWS] + 1) * interval
        follow(work, system, at, out)
        take_samples(work, system, at, out)
        close(work, system, at, out)  # the row, not the state: the interpolant leaves the manifold
        row += 1
        clock[ROWS] += 1
    return row - first


def adaptive_steps(
    name: str, scaled_error: Any, next_step: Any, dense_output: Any, shrink_most: float
) -> Any:
    """The kernel of an explicit method with error control: (attempts made, rows written, status).

    It stops early at `end` or when the rows are full. scaled_error: of a step, good below 1.
    next_step: factors for the next step and for another try. dense_output: the state inside a step.
    shrink_most: the factor after a step in which loops came open.
    """

    def entry(arrays, states, clock, schedule, log):
        work, system = opened(WIDTH_1, arrays)
        state, new = states_of(system, states, 0)
        capacity = log.q.size // max(state.q.stride, 1)
        row, trouble = 0, OK
        for tried in range(schedule.attempts):
            time = clock[TIME]
            if time >= schedule.end:
                return tried, row, OK
            end = end_of_step(system, schedule, time)
            dt = length_of_step(clock, schedule, end, capacity)
            if row + int(dt / schedule.interval) + 2 > capacity:
                return tried, row, OK
            if time + 1e-3 * dt == time or dt < 1e-18 * schedule.end:  # the second is for time 0
                return tried, row, STEP_TOO_SMALL if trouble == OK else trouble
            status = explicit.step_as_last_stage(work, system, time, dt, state, new)
            if status != OK and code_of(status) not in (NOT_FINITE, LOOP_OPEN):
                return tried, row, status
            trouble = status if code_of(status) == LOOP_OPEN else OK
            error = scaled_error(system, dt, schedule.rtol, schedule.atol, state, new)
            grow, shrink = next_step(error, clock[PREVIOUS_ERROR])
            if not (status == OK and error <= 1.0):
                clock[STEP_LENGTH] = dt * (shrink if trouble == OK else shrink_most)
                clock[REJECTED] += 1
                continue
            after = end if dt == end - time else time + dt
            status = follow(work, system, after, new)
            if status == OK:
                status = check_velocities(work, system, new.y, schedule.max_speed)
            if status != OK:
                return tried, row, status
            rows = RowsOfStep(pointer(log.q), pointer(log.y), row, after, schedule.interval)
            row += write_rows(dense_output, work, system, clock, dt, state, new, rows)
            take_samples(work, system, after, new)
            copy_state(work, state, new)
            clock[TIME] = after
            clock[STEPS] += 1
            clock[PREVIOUS_ERROR] = max(error, 1e-4)
            clock[STEP_LENGTH] = (
                dt * grow if dt == clock[STEP_LENGTH] else max(dt * grow, clock[STEP_LENGTH])
            )
        return schedule.attempts, row, OK

    return kernel(SYSTEM_ARRAYS, STATE_ARRAYS, RESULT, SCHEDULE, LOG_ROWS)(
        named_like(entry, name, scaled_error)
    )
