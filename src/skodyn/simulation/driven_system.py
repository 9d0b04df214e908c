"""The right-hand side with joints whose motion is prescribed, and their way into the state.

Forces see driven joints where they are at time t to the last digit, at every stage of a method:
they are put there in a copy of the state, so that the iteration of an implicit method is left
alone, and after each step in the state itself. Hybrid dynamics finds the accelerations of the
others and what the drives must add; their work counts with that of all other forces.
"""

from __future__ import annotations

import math

from skodyn.jit import helper, kernel
from skodyn.kernels.hybrid_dynamics import gather_hybrid_residuals, scatter_answers
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.status import OK, first_trouble
from skodyn.kernels.workspace import velocity_count
from skodyn.lanes import (
    WIDTH_1,
    Rows,
    fma,
    load_rows,
    parameter,
    pointer,
    shift_pointer,
    sincos,
    splat,
    store_rows,
)
from skodyn.model.layout import NQ
from skodyn.simulation.controller_call import call_controller
from skodyn.simulation.element_kinds.torque_table import table_time
from skodyn.simulation.fixed_step import extended_size
from skodyn.simulation.forces import (
    CODE,
    CODES_RECORD,
    COUNT,
    FIRST,
    INTEGRAL,
    MOTIONS,
    MOTIONS_AT,
    OFFSET,
    SECOND,
    SINE,
    SPLINE,
    STEADY,
)
from skodyn.simulation.looped_system import ONE_STATE
from skodyn.simulation.steppers.tables import clear, copy
from skodyn.simulation.structures import (
    SYSTEM_ARRAYS,
    State,
    opened,
    size_of,
    start_of,
    table,
)
from skodyn.simulation.system import (
    DRIVE,
    DRIVEN_Q,
    DRIVEN_Y,
    FOUND,
    GIVEN,
    TAU,
    act,
    forces_on_bodies,
)


@helper
def motion_record(system, m):
    """Where motion m has its record, behind everything else."""
    return system.codes[MOTIONS_AT] + CODES_RECORD * m


@helper
def sine_motion(work, numbers, i, t):
    rate = (2.0 * math.pi) * (splat(work, 1.0) * parameter(work, numbers, i + 1))
    s, c = sincos(fma(rate, t, parameter(work, numbers, i + 2)))
    size = parameter(work, numbers, i)
    offset = parameter(work, numbers, i + 3)
    return fma(size, s, offset), size * rate * c, -(size * rate * rate * s)


@helper
def spline_motion(work, numbers, first, count, t):
    """All times, then six coefficients for each interval; at rest outside."""
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table_time(work, numbers, first + middle) <= t:
            low = middle
        else:
            high = middle
    start, end = table_time(work, numbers, first + low), table_time(work, numbers, first + high)
    s = min(max(t - start, 0.0), end - start)
    inside = 1.0 if start <= t <= end else 0.0
    x, rate, bend = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0)
    for back in range(6):  # Horner's rule, with both derivatives
        c = parameter(work, numbers, first + count + 6 * low + 5 - back)
        bend = fma(s, bend, 2.0 * rate)
        rate = fma(s, rate, x)
        x = fma(s, x, c)
    return x, inside * rate, inside * bend


@helper
def function_motion(work, system, at, t):
    """One state alone: runs with such motions go one by one."""
    out = start_of(table(system, FOUND))
    settings = shift_pointer(system.numbers, system.codes[at + OFFSET])
    part = system.parts[system.codes[at + INTEGRAL]]
    call_controller(part, t, out, out, settings, out, 0, 3, system.codes[at + COUNT])
    one = splat(work, 1.0)
    return one * out[0], one * out[1], one * out[2]


@helper
def motion_at(work, system, m, t):
    """(position, velocity, acceleration) of motion m."""
    at = motion_record(system, m)
    codes, numbers, i = system.codes, system.numbers, system.codes[at + OFFSET]
    if codes[at + CODE] == STEADY:
        speed = splat(work, 1.0) * parameter(work, numbers, i + 1)
        return fma(speed, t, parameter(work, numbers, i)), speed, splat(work, 0.0)
    if codes[at + CODE] == SINE:
        return sine_motion(work, numbers, i, t)
    if codes[at + CODE] == SPLINE:
        return spline_motion(work, numbers, i, codes[at + COUNT], t)
    return function_motion(work, system, at, t)


@helper
def follow_motions(work, system, t, state):
    """Put driven joints where they are at time t, with the velocity they have there."""
    for m in range(system.codes[MOTIONS]):
        at = motion_record(system, m)
        x, rate, _ = motion_at(work, system, m, t)
        store_rows(work, state.q, system.codes[at + SECOND], x)
        store_rows(work, state.y, system.codes[at + FIRST], rate)
    return OK


@helper
def give_accelerations(work, system, t, tau, given):
    """What hybrid dynamics is given: v̇ of driven joints, 𝒯 of the others."""
    for i in range(velocity_count(system.model)):
        store_rows(work, given, i, load_rows(work, tau, i))
    for m in range(system.codes[MOTIONS]):
        _, _, acceleration = motion_at(work, system, m, t)
        store_rows(work, given, system.codes[motion_record(system, m) + FIRST], acceleration)


@helper
def charge_drives(work, system, y, tau, found):
    """What the drives add, into DRIVE and 𝒯; their power."""
    nv, drive, total = velocity_count(system.model), table(system, DRIVE), splat(work, 0.0)
    clear(size_of(work, drive), start_of(drive))
    for m in range(system.codes[MOTIONS]):
        dof = system.codes[motion_record(system, m) + FIRST]
        needed = load_rows(work, found, nv + dof)
        added = needed - load_rows(work, tau, dof)
        store_rows(work, drive, dof, added)
        store_rows(work, tau, dof, needed)
        total = fma(added, load_rows(work, y, dof), total)
    return total


@helper
def evaluate_driven(work, system, t, state, rates):
    """rates = ẏ at time t; TAU has what drives add, too."""
    model, there = system.model, State(table(system, DRIVEN_Q), table(system, DRIVEN_Y))
    copy(size_of(work, state.q), start_of(there.q), start_of(state.q))
    copy(size_of(work, state.y), start_of(there.y), start_of(state.y))
    follow_motions(work, system, t, there)
    placed = act(work, system, t, there, rates)
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    given, found = table(system, GIVEN), table(system, FOUND)
    give_accelerations(work, system, t, tau, given)
    first = placed if f_ext.stride > 0 else scatter_rates(work, model, there.q, there.y)
    second = gather_hybrid_residuals(work, model, given, f_ext)
    third = scatter_answers(work, model, given, found)
    for i in range(velocity_count(model)):
        store_rows(work, rates, i, load_rows(work, found, i))
    added, done = charge_drives(work, system, there.y, tau, found), rates.stride - 1
    store_rows(work, rates, done, load_rows(work, rates, done) + added)
    return first_trouble(first, second, third)


@kernel(SYSTEM_ARRAYS, ONE_STATE)
def follow_start(arrays, given):
    """Put driven joints where a run begins."""
    work, system = opened(WIDTH_1, arrays)
    nq, ny = system.model.tree[NQ], extended_size(system)
    state = State(Rows(pointer(given.q), 0, nq), Rows(pointer(given.y), 0, ny))
    return follow_motions(work, system, 0.0, state)
