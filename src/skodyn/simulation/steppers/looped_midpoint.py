"""The implicit midpoint rule on the manifold of closed loops, by a symmetric projection.

A step that is projected at its end only is not its own reverse any more, and energy drifts. Here
half of what closes the loops is added before the step and half behind it, along the rows of the
middle, which both directions of time share (after E. Hairer, BIT 40, 2000):

    q̄ = q₀ ⊞ (C + dt·v̄)/2,   q₁ = q₀ ⊞ (C + dt·v̄),   ȳ = y₀ + (D + dt·ẏ)/2,   y₁ = y₀ + D + dt·ẏ

with C and D in the range of Ḡ* so that g(q₁) = 0 and G(q₁)v₁ = 0; ẏ is taken where the middle is
moved onto the manifold. All of them are found in one fixed-point iteration, each lane for itself.
"""

from __future__ import annotations

from skodyn.jit import call_part, helper
from skodyn.kernels.status import NOT_CONVERGED, OK
from skodyn.kernels.workspace import velocity_count
from skodyn.lanes import fma, states
from skodyn.simulation.lie import move_coordinates
from skodyn.simulation.steppers.implicit_midpoint import (
    CLOSED_Y,
    LEAST_Q,
    LEAST_Y,
    MAX_ITERATIONS,
    MIDDLE_Q,
    MIDDLE_Y,
    MOVED,
    RATES,
    SHIFT_Q,
    SHIFT_Y,
    STAGNANT,
    TOLERANCE,
    WAY,
    evaluate_middle,
    forget_rates,
)
from skodyn.simulation.steppers.tables import clear, copy
from skodyn.simulation.structures import CLOSING, State, size_of, start_of, table
from skodyn.simulation.system import RENEW, close


@helper
def set_way(work, system, dt):
    """(C + dt·v̄)/2."""
    way, y = start_of(table(system, WAY)), start_of(table(system, MIDDLE_Y))
    shift = start_of(table(system, SHIFT_Q))
    for i in range(size_of(work, table(system, WAY))):
        way[i] = 0.5 * fma(dt, y[i], shift[i])


@helper
def set_end(work, system, state, new):
    """q₁ and y₁ as they follow from ȳ, C and D."""
    move_coordinates(work, system.model, state.q, table(system, WAY), 2.0, new.q)
    end, half, start = start_of(new.y), start_of(table(system, MIDDLE_Y)), start_of(state.y)
    for i in range(size_of(work, state.y)):
        end[i] = 2.0 * half[i] - start[i]


@helper
def correct_middle(work, system, dt, state):
    """ȳ ← y₀ + (D + dt·ẏ)/2 of every lane that still moves; how far, into CLOSED_Y."""
    ny, moved = state.y.stride, start_of(table(system, MOVED))
    start, middle = start_of(state.y), start_of(table(system, MIDDLE_Y))
    rate, shift = start_of(table(system, RATES)), start_of(table(system, SHIFT_Y))
    change = start_of(table(system, CLOSED_Y))  # not needed any more
    for lane in range(states(work)):
        for i in range(lane * ny, (lane + 1) * ny):
            change[i] = 0.0
            if not moved[lane] < 0.0:
                better = start[i] + 0.5 * fma(dt, rate[i], shift[i])
                change[i] = abs(better - middle[i])
                middle[i] = better


@helper
def settle_lane(work, system, dt, state, lane):
    """Take the renewed C and D; how far a lane has moved, or −1 at rest."""
    ny, nv = table(system, MIDDLE_Y).stride, velocity_count(system.model)
    before, size, farthest = start_of(table(system, MOVED))[lane], 0.0, 0.0
    middle, change = start_of(table(system, MIDDLE_Y)), start_of(table(system, CLOSED_Y))
    shift_q, shift_y = start_of(table(system, SHIFT_Q)), start_of(table(system, SHIFT_Y))
    least_q, least_y = start_of(table(system, LEAST_Q)), start_of(table(system, LEAST_Y))
    for i in range(lane * ny, (lane + 1) * ny - 1):  # the work done, last, follows from the rest
        size = max(size, abs(middle[i]))
        farthest = max(farthest, change[i])
        if i < lane * ny + nv:
            way, rate = least_q[i] - shift_q[i], least_y[i] - shift_y[i]
            farthest = max(farthest, abs(rate), abs(way) / dt)
            shift_q[i], shift_y[i] = least_q[i], least_y[i]
    settled = farthest <= system.method[TOLERANCE] * size
    rounding, q, nq = 0.0, start_of(state.q), state.q.stride
    for i in range(lane * nq, (lane + 1) * nq):
        rounding = max(rounding, abs(q[i]) * 2.0**-50 / dt)
    stuck = farthest >= before and farthest <= STAGNANT * size + rounding
    return -1.0 if settled or stuck or farthest == 0.0 else farthest


@helper
def step_looped(work, system, t, dt, state, new):
    """The state at t + dt."""
    middle, rates = State(table(system, MIDDLE_Q), table(system, MIDDLE_Y)), table(system, RATES)
    closed = State(middle.q, table(system, CLOSED_Y))
    count, moved = size_of(work, state.y), start_of(table(system, MOVED))
    copy(count, start_of(middle.y), start_of(state.y))
    clear(count, start_of(table(system, SHIFT_Q)))
    clear(count, start_of(table(system, SHIFT_Y)))
    forget_rates(work, system)
    for lane in range(states(work)):
        moved[lane] = float("inf")
    for _ in range(MAX_ITERATIONS):
        set_way(work, system, dt)
        move_coordinates(work, system.model, state.q, table(system, WAY), 1.0, middle.q)
        copy(count, start_of(closed.y), start_of(middle.y))
        status = close(work, system, closed)
        if status == OK:
            status = evaluate_middle(work, system, t + 0.5 * dt, closed, rates)
        if status != OK:
            return status
        correct_middle(work, system, dt, state)
        set_way(work, system, dt)
        set_end(work, system, state, new)
        copy(count, start_of(table(system, LEAST_Q)), start_of(table(system, SHIFT_Q)))
        copy(count, start_of(table(system, LEAST_Y)), start_of(table(system, SHIFT_Y)))
        anew = State(table(system, LEAST_Q), table(system, LEAST_Y))
        call_part(system.parts[CLOSING], work, system, new, anew, RENEW)
        waiting = 0
        for lane in range(states(work)):
            if not moved[lane] < 0.0:
                moved[lane] = settle_lane(work, system, dt, state, lane)
                waiting += 0 if moved[lane] < 0.0 else 1
        if waiting == 0:
            set_way(work, system, dt)
            set_end(work, system, state, new)
            return close(work, system, new)  # roundings, no more
    return NOT_CONVERGED
