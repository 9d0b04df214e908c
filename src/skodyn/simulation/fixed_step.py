"""The loop of fixed-step methods: for one run, which leaves rows for the log, and for runs side by
side, which are looked at on the way (lane_loop.py).

Time is step·dt, never a running sum, and a chunk ends between steps: how a run is cut into chunks
does not change a bit of it. A step that fails is not taken; the last good state stays in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, NUMBER, RESULT, Group, helper, kernel
from skodyn.kernels.entries import named_like
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, OUT_OF_BOUNDS, failure
from skodyn.lanes import WIDTH_1, Rows, pointer, shift_pointer, states
from skodyn.model.layout import NQ
from skodyn.simulation.forces import INTEGRALS
from skodyn.simulation.steppers.tables import copy, within
from skodyn.simulation.structures import SYSTEM_ARRAYS, State, opened, size_of, start_of
from skodyn.simulation.systems.system import follow, take_samples

LARGEST = 1.7976931348623157e308
"""The largest finite double."""


class StateArrays(NamedTuple):
    """The state, and where a step puts the next one."""

    q: Any
    y: Any
    new_q: Any
    new_y: Any


class Schedule(NamedTuple):
    """Which steps to take."""

    first: int  # number of the step that comes next
    steps: int
    dt: float
    max_speed: float  # a velocity beyond it ends the run
    every: int  # steps between looks at the state


class LogRows(NamedTuple):
    """Where rows for the log go."""

    q: Any
    y: Any


STATE_ARRAYS = Group(StateArrays, (RESULT,) * 4)
SCHEDULE = Group(Schedule, (COUNT, COUNT, NUMBER, NUMBER, COUNT))
LOG_ROWS = Group(LogRows, (RESULT, RESULT))


@helper
def extended_size(system):
    """ny: velocities and integrals."""
    return velocity_count(system.model) + system.codes[INTEGRALS]


@helper
def check_velocities(work, system, y, max_speed):
    """OK, or what is wrong with which degree of freedom."""
    nv, ny, values = velocity_count(system.model), y.stride, start_of(y)
    if within(size_of(work, y), values, min(max_speed, LARGEST)):
        return OK  # integrals, which have no limit, are within this one, too
    for lane in range(states(work)):
        for i in range(ny):
            x = abs(values[lane * ny + i])
            if not x < float("inf"):
                return failure(NOT_FINITE, min(i, nv - 1))
            if i < nv and x > max_speed:
                return failure(OUT_OF_BOUNDS, i)
    return OK


@helper
def copy_state(work, out, given):
    copy(size_of(work, given.q), start_of(out.q), start_of(given.q))
    copy(size_of(work, given.y), start_of(out.y), start_of(given.y))


@helper
def states_of(system, arrays, group_shift):
    """(state, next state) of the lanes whose rows begin `group_shift` rows further on."""
    nq, ny = system.model.tree[NQ], extended_size(system)
    state = State(
        Rows(pointer(arrays.q), group_shift * nq, nq), Rows(pointer(arrays.y), group_shift * ny, ny)
    )
    new = State(Rows(pointer(arrays.new_q), 0, nq), Rows(pointer(arrays.new_y), 0, ny))
    return state, new


@helper
def run(step, look, work, system, schedule, state, new, seen):
    """(steps taken, looks, status); `look` is called after every so many steps."""
    looks = 0
    for done in range(schedule.steps):
        t = (schedule.first + done) * schedule.dt
        status = step(work, system, t, schedule.dt, state, new)
        placed = follow(work, system, (schedule.first + done + 1) * schedule.dt, new)
        status = status if status != OK else placed
        if status == OK:
            take_samples(work, system, (schedule.first + done + 1) * schedule.dt, new)
            status = check_velocities(work, system, new.y, schedule.max_speed)
        if status != OK:
            return done, looks, status
        copy_state(work, state, new)
        after = schedule.first + done + 1
        if after % schedule.every == 0:
            look(work, system, after * schedule.dt, looks, state, seen)
            looks += 1
    return schedule.steps, looks, OK


@helper
def write_row(work, system, t, row, state, log):
    """Keep the state as a row for the log."""
    q, y = pointer(log.q), pointer(log.y)
    copy(state.q.stride, shift_pointer(q, row * state.q.stride), start_of(state.q))
    copy(state.y.stride, shift_pointer(y, row * state.y.stride), start_of(state.y))


def fixed_steps(name: str, step: Any) -> Any:
    """The kernel that takes a chunk of steps by one state: (steps taken, rows written, status)."""

    def entry(arrays, states, schedule, log):
        work, system = opened(WIDTH_1, arrays)
        state, new = states_of(system, states, 0)
        return run(step, write_row, work, system, schedule, state, new, log)

    return kernel(SYSTEM_ARRAYS, STATE_ARRAYS, SCHEDULE, LOG_ROWS)(named_like(entry, name, step))
