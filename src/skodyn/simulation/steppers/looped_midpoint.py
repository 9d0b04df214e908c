"""The implicit midpoint rule on the manifold of closed loops, as a variational integrator.

The midpoint rule of velocities, projected, is its own reverse but not symplectic, and a crank that
goes round gains energy. So the action is made stationary instead: dt·L(q̄, v̄) with q̄ = q₀ ⊞ dt/2·v̄
and q₁ = q₀ ⊞ dt·v̄, among ways whose ends are closed (J. E. Marsden, M. West, Acta Numerica 10,
2001; P. Betsch, S. Leyendecker, Int. J. Numer. Meth. Engng. 67, 2006, for X in place of
multipliers). With momenta e ± o at the ends (kernels/discrete_momenta.py) and 𝓜₀v₀ at the start,

    X₀*(e − o − 𝓜₀v₀) = 0,   g(q₁) = 0          give v̄, and then
    X₁*(𝓜₁v₁ − e − o) = 0,   G₁v₁ = 0           v₁.

It is symplectic, symmetric and of second order. Forces act in the middle, at q̄ and v̄, which is off
the manifold by less than dt². v̄ is found by v̄ ← v̄ − X₀(X₀*𝓜₀X₀)⁻¹X₀*(e − o − 𝓜₀v₀) and a Newton
step for q₁, in turns, each lane for itself until it is at rest.
"""

from __future__ import annotations

from skodyn.jit import call_part, helper
from skodyn.kernels.discrete_momenta import add_loads, momenta, momenta_at_ends
from skodyn.kernels.loops.embedded_solve import prepare_solve, solve_embedded
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import NOT_CONVERGED, OK
from skodyn.lanes import fma, states
from skodyn.simulation.lie import move_coordinates
from skodyn.simulation.steppers.implicit_midpoint import (
    CHANGE,
    EVEN_P,
    MAX_ITERATIONS,
    MIDDLE_Q,
    MIDDLE_Y,
    MOVED,
    ODD_P,
    RATES,
    REST,
    SHIFT,
    SPRUNG_MODEL,
    STAGNANT,
    START_P,
    TOLERANCE,
)
from skodyn.simulation.steppers.tables import clear, copy
from skodyn.simulation.structures import CLOSING, State, size_of, start_of, table
from skodyn.simulation.systems.sprung_system import sprung_model
from skodyn.simulation.systems.system import NEWTON, TAU, act, close, forces_on_bodies

ACROSS = 1e-12
"""Newton steps below this part of the largest coordinate are nothing to wait for. A gap is known to
roundings, and a small pivot multiplies them; but they point across the manifold, and closing the
end takes them away."""


@helper
def solve_at(work, model, q, right, out):
    """X(X*𝓜X)⁻¹X*·right, of a model at q."""
    status = prepare_solve(work, model, q)
    return status if status != OK else solve_embedded(work, model, right, out)


@helper
def momenta_of_step(work, system, t, dt, state):
    """e and o of the step with the mean velocity in MIDDLE_Y, and its rest."""
    middle, even, odd = _middle(system), table(system, EVEN_P), table(system, ODD_P)
    move_coordinates(work, system.model, state.q, middle.y, 0.5 * dt, middle.q)
    placed = act(work, system, t + 0.5 * dt, middle, table(system, RATES))
    status = momenta(work, system.model, middle.q, middle.y, even, odd)
    add_loads(work, system.model, table(system, TAU), forces_on_bodies(system), odd)
    momenta_at_ends(work, system.model, dt, middle.y, even, odd)
    rest, start = start_of(table(system, REST)), start_of(table(system, START_P))
    for i in range(size_of(work, even)):
        rest[i] = start_of(even)[i] - start_of(odd)[i] - start[i]
    return placed if placed != OK else status


@helper
def _middle(system):
    return State(table(system, MIDDLE_Q), table(system, MIDDLE_Y))


@helper
def solve_freely(work, system, at_end, q, right, out):
    """X(X*𝓜X)⁻¹X*·right; at the start, with implicit springs, 𝓜 and what they add to it."""
    model = system.model
    if not at_end and system.method[SPRUNG_MODEL] > 0.0:
        model = sprung_model(system)
    return solve_at(work, model, q, right, out)


@helper
def change_integrals(work, system, dt, state):
    """How far the middle of each integral is from where the rates would have it, into CHANGE."""
    ny, nv = state.y.stride, velocity_count(system.model)
    start, middle = start_of(state.y), start_of(table(system, MIDDLE_Y))
    rate, change = start_of(table(system, RATES)), start_of(table(system, CHANGE))
    for lane in range(states(work)):
        for i in range(lane * ny + nv, (lane + 1) * ny):
            change[i] = middle[i] - fma(0.5 * dt, rate[i], start[i])


@helper
def largest_coordinate(state, lane):
    """Of a lane, and at least one: what its roundings are measured by."""
    q, nq, largest = start_of(state.q), state.q.stride, 1.0
    for i in range(lane * nq, (lane + 1) * nq):
        largest = max(largest, abs(q[i]))
    return largest


@helper
def settle_lane(work, system, dt, state, lane):
    """How far a lane wants to move, or −1 at rest."""
    ny, nv = state.y.stride, velocity_count(system.model)
    before, size, speed, way = start_of(table(system, MOVED))[lane], 0.0, 0.0, 0.0
    middle, change = start_of(table(system, MIDDLE_Y)), start_of(table(system, CHANGE))
    shift = start_of(table(system, SHIFT))
    for i in range(lane * ny, (lane + 1) * ny - 1):  # the work done, last, follows from the rest
        size = max(size, abs(middle[i]))
        speed = max(speed, abs(change[i]))
        if i < lane * ny + nv:
            way = max(way, abs(shift[i]))
    largest = largest_coordinate(state, lane)
    farthest = max(speed, way / dt) if way > ACROSS * largest else speed
    still = STAGNANT * size + 2.0**-50 * largest / dt
    stuck = farthest >= before and speed <= still and way <= STAGNANT * largest
    return -1.0 if farthest <= system.method[TOLERANCE] * size or stuck else farthest


@helper
def move_lanes(work, system, dt, state):
    """v̄ and the middle of integrals ← less CHANGE, in lanes that are not at rest; how many."""
    ny, moved, waiting = state.y.stride, start_of(table(system, MOVED)), 0
    middle, change = start_of(table(system, MIDDLE_Y)), start_of(table(system, CHANGE))
    for lane in range(states(work)):
        if not moved[lane] < 0.0:
            moved[lane] = settle_lane(work, system, dt, state, lane)
        if not moved[lane] < 0.0:
            waiting += 1
            for i in range(lane * ny, (lane + 1) * ny):
                middle[i] = middle[i] - change[i]
    return waiting


@helper
def close_end(work, system, dt, state, new):
    """A Newton step for q₁, and v̄ that leads there, in lanes that are not at rest."""
    ny, nv = state.y.stride, velocity_count(system.model)
    middle, moved = table(system, MIDDLE_Y), start_of(table(system, MOVED))
    move_coordinates(work, system.model, state.q, middle, dt, new.q)
    changes = State(table(system, SHIFT), table(system, SHIFT))
    clear(size_of(work, changes.q), start_of(changes.q))
    status = call_part(system.parts[CLOSING], work, system, State(new.q, middle), changes, NEWTON)
    mean, shift = start_of(middle), start_of(table(system, SHIFT))
    for lane in range(states(work)):
        for i in range(lane * ny, lane * ny + nv):
            if not moved[lane] < 0.0:
                mean[i] = mean[i] + shift[i] / dt
    return status


@helper
def end_step(solve, work, system, t, dt, state, new):
    """q₁, v₁ and integrals of a step whose v̄ is known."""
    ny, nv = state.y.stride, velocity_count(system.model)
    middle, even, odd = table(system, MIDDLE_Y), table(system, EVEN_P), table(system, ODD_P)
    move_coordinates(work, system.model, state.q, middle, dt, new.q)
    p, o = start_of(even), start_of(odd)
    for i in range(size_of(work, even)):
        p[i] = p[i] + o[i]
    status = solve(work, system, True, new.q, even, new.y)
    end, half, start = start_of(new.y), start_of(middle), start_of(state.y)
    for lane in range(states(work)):
        for i in range(lane * ny + nv, (lane + 1) * ny):
            end[i] = 2.0 * half[i] - start[i]
    return status if status != OK else close(work, system, t + dt, new)


@helper
def begin_step(work, system, state):
    """v̄ ← v₀, nothing at rest; the momenta at the start."""
    moved, shift = start_of(table(system, MOVED)), table(system, SHIFT)
    copy(size_of(work, state.y), start_of(table(system, MIDDLE_Y)), start_of(state.y))
    for lane in range(states(work)):
        moved[lane] = float("inf")
    for i in range(size_of(work, shift)):
        start_of(shift)[i] = float("inf")
    return momenta(
        work, system.model, state.q, state.y, table(system, START_P), table(system, REST)
    )


@helper
def find_step(solve, work, system, t, dt, state, new):
    """The state at t + dt from the v̄ that is there; `solve` stands for X(X*𝓜X)⁻¹X*."""
    for _ in range(MAX_ITERATIONS):
        status = momenta_of_step(work, system, t, dt, state)
        if status == OK:
            rest, change = table(system, REST), table(system, CHANGE)
            status = solve(work, system, False, state.q, rest, change)
        if status != OK:
            return status
        change_integrals(work, system, dt, state)
        if move_lanes(work, system, dt, state) == 0:
            return end_step(solve, work, system, t, dt, state, new)
        status = close_end(work, system, dt, state, new)
        if status != OK:
            return status
    return NOT_CONVERGED


@helper
def step_looped(work, system, t, dt, state, new):
    """The state at t + dt."""
    status = begin_step(work, system, state)
    return status if status != OK else find_step(solve_freely, work, system, t, dt, state, new)
