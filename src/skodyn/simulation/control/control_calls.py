"""Controllers inside the loop: laws that are evaluated all the time, and laws that take samples.

Laws are scalar: lanes are asked one after the other, each with the constants of its own run, so
that a run has the same bits at every width. What a sampled law has said is held in y, with rates of
zero, until its next sample: nothing else has to be remembered, however a run is cut into chunks.

Parts of the loop, compiled where a system has controllers.
"""

from __future__ import annotations

from skodyn.jit import call_part, helper, kernel
from skodyn.kernels.packed_model import PackedModel, velocity_count
from skodyn.kernels.status import OK
from skodyn.lanes import WIDTH_1, Rows, Work, pointer, shift_pointer, states
from skodyn.model.layout import NQ
from skodyn.simulation.control.control_records import (
    CONTROL_RECORD,
    DELAY_STEPS,
    FRAMES_AT,
    INTEGRALS_COUNT,
    LAW_PART,
    OWN_INTEGRALS,
    PARAMS_AT,
    PARAMS_COUNT,
    Q_NOISE,
    SAMPLE_STEPS,
    SCRATCH_COUNT,
    TIMING_AT,
    TORQUES,
    TROUBLE,
    UNIT,
    V_NOISE,
    WAITING,
    Dynamics,
    Law,
)
from skodyn.simulation.control.noise import add_noise
from skodyn.simulation.fixed_step import extended_size
from skodyn.simulation.forces import (
    CONTROL_WORK,
    CONTROLLERS,
    CONTROLLERS_AT,
    N_NUMBERS,
    N_PARAMETERS,
)
from skodyn.simulation.lie import move_coordinates
from skodyn.simulation.steppers.tables import clear, copy
from skodyn.simulation.structures import DYNAMICS_AT, SYSTEM_ARRAYS, State, opened, start_of, table
from skodyn.simulation.systems.looped_system import ONE_STATE
from skodyn.simulation.systems.system import CONTROL, MORE, take_samples


@helper
def row_start(rows, lane):
    """Where the row of a lane begins."""
    return shift_pointer(start_of(rows), lane * rows.stride)


@helper
def control_record(system, c):
    return system.codes[CONTROLLERS_AT] + CONTROL_RECORD * c


@helper
def constants_of(system, lane):
    """(parameters, numbers) of the run in a lane, one behind the other as one state has them."""
    run = system.first_run + lane
    return (
        shift_pointer(system.plain_parameters, run * system.codes[N_PARAMETERS]),
        shift_pointer(system.plain_numbers, run * system.codes[N_NUMBERS]),
    )


@helper
def ask_law(system, at, lane, t, q, v, own, rates):
    """Have the law write torques into the table CONTROL; own: its integrals."""
    codes, room = system.codes, start_of(table(system, CONTROL))
    nq, nv = system.model.tree[NQ], velocity_count(system.model)
    parameters, numbers = constants_of(system, lane)
    torques, count = shift_pointer(room, TORQUES), codes[at + INTEGRALS_COUNT]
    clear(nv, torques)
    clear(count, rates)
    dynamics = Dynamics(
        system.model.tree,
        parameters,
        shift_pointer(room, codes[CONTROL_WORK]),
        start_of(table(system, MORE)),
        shift_pointer(system.parts, DYNAMICS_AT),
        shift_pointer(numbers, codes[at + FRAMES_AT]),
        shift_pointer(room, TROUBLE),
    )
    law = Law(
        t, q, v, shift_pointer(numbers, codes[at + PARAMS_AT]), torques, own, rates,
        shift_pointer(torques, 2 * nv + nq), nq, nv, codes[at + PARAMS_COUNT], count,
        codes[at + SCRATCH_COUNT], dynamics,
    )  # fmt: skip
    room[TROUBLE] = 0.0
    call_part(system.parts[codes[at + LAW_PART]], law)
    if room[TROUBLE] > 0.0:  # ends the run at this step
        torques[0] = float("nan")
    return torques


@helper
def control_lanes(work, system, t, state, rates, tau):
    """Every controller adds its torques; rates of its integrals, and none of what is held."""
    codes, nv = system.codes, velocity_count(system.model)
    for c in range(codes[CONTROLLERS]):
        at = control_record(system, c)
        first, count = nv + codes[at + OWN_INTEGRALS], codes[at + INTEGRALS_COUNT]
        for lane in range(states(work)):
            y, rate, torque = row_start(state.y, lane), row_start(rates, lane), row_start(tau, lane)
            own, own_rates = shift_pointer(y, first), shift_pointer(rate, first)
            if codes[at + SAMPLE_STEPS] > 0:
                held = shift_pointer(own, count)
                copy(count, own_rates, shift_pointer(held, nv))
                clear(held_count(system, at), shift_pointer(own_rates, count))
                added = held
            else:
                q = row_start(state.q, lane)
                added = ask_law(system, at, lane, t, q, y, own, own_rates)
            for i in range(nv):
                torque[i] += added[i]
    return OK


@helper
def held_count(system, at):
    """How many numbers a sampled controller holds: torques, rates, torques that wait."""
    nv = velocity_count(system.model)
    return nv + system.codes[at + INTEGRALS_COUNT] + system.codes[at + WAITING] * nv


@helper
def measure(system, lane, at, number, q, v):
    """q and v as sensors see them, in the table CONTROL behind the torques."""
    nq, nv = system.model.tree[NQ], velocity_count(system.model)
    parameters, numbers = constants_of(system, lane)
    timing = shift_pointer(numbers, system.codes[at + TIMING_AT])
    room = shift_pointer(start_of(table(system, CONTROL)), TORQUES)
    work, model = Work(WIDTH_1, room), PackedModel(system.model.tree, parameters)
    way, seen_q, seen_v = Rows(room, 0, nv), shift_pointer(room, nv), shift_pointer(room, nv + nq)
    clear(nv, room)
    add_noise(timing, number, 0, timing[Q_NOISE], nv, room)
    move_coordinates(work, model, Rows(q, 0, nq), way, 1.0, Rows(seen_q, 0, nq))
    copy(nv, seen_v, v)
    add_noise(timing, number, nv, timing[V_NOISE], nv, seen_v)
    return seen_q, seen_v


@helper
def sample_lane(system, at, lane, t, step, state):
    """Take the sample of this time, if it is one, and let torques act whose delay is over."""
    codes, nv = system.codes, velocity_count(system.model)
    every, delay, waiting = codes[at + SAMPLE_STEPS], codes[at + DELAY_STEPS], codes[at + WAITING]
    count, y = codes[at + INTEGRALS_COUNT], row_start(state.y, lane)
    own = shift_pointer(y, nv + codes[at + OWN_INTEGRALS])
    held = shift_pointer(own, count)
    rates, queue = shift_pointer(held, nv), shift_pointer(held, nv + count)
    if waiting > 0 and step >= delay and (step - delay) % every == 0:
        copy(nv, held, shift_pointer(queue, (step - delay) // every % waiting * nv))
    if step % every == 0:
        number = step // every
        q, v = measure(system, lane, at, number, row_start(state.q, lane), y)
        torques = ask_law(system, at, lane, t, q, v, own, rates)
        place = held if waiting == 0 else shift_pointer(queue, number % waiting * nv)
        copy(nv, place, torques)


@helper
def sample_lanes(work, system, t, state):
    """All controllers that take samples, at the end of a step."""
    codes = system.codes
    for c in range(codes[CONTROLLERS]):
        at = control_record(system, c)
        if codes[at + SAMPLE_STEPS] > 0:
            for lane in range(states(work)):
                _, numbers = constants_of(system, lane)
                unit = numbers[codes[at + TIMING_AT] + UNIT]
                step = int(t / unit + 0.5)
                if abs(step * unit - t) <= 1e-9 * unit:
                    sample_lane(system, at, lane, t, step, state)
    return OK


@kernel(SYSTEM_ARRAYS, ONE_STATE)
def sample_start(arrays, given):
    """The samples that a run begins with."""
    work, system = opened(WIDTH_1, arrays)
    nq, ny = system.model.tree[NQ], extended_size(system)
    state = State(Rows(pointer(given.q), 0, nq), Rows(pointer(given.y), 0, ny))
    take_samples(work, system, 0.0, state)
    return OK
