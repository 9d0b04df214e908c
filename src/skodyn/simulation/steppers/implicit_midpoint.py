"""The implicit midpoint rule on the manifold, for long conservative runs.

With the middle velocity v̄ the step is  q₁ = q₀ ⊞ dt·v̄,  y₁ = y₀ + dt·ẏ(t + dt/2, q₀ ⊞ dt/2·v̄, ȳ),
ȳ = (y₀ + y₁)/2: of second order and time-symmetric, so that the energy of a reversible system
oscillates but does not drift (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
2006, chapters V and XI). ȳ is found by fixed-point iteration, each lane for itself, until it moves
by less than `tolerance` relative to its largest element, or until rounding keeps it from coming any
closer; failure to converge is reported. With loops a step is another one (looped_midpoint.py).
Springs of joints whose periods are short beside dt can be made implicit (sprung_system.py).
"""

from __future__ import annotations

import numpy as np

from skodyn.jit import call_part, helper
from skodyn.kernels.loops.loop_table import has_loops
from skodyn.kernels.status import NOT_CONVERGED, OK
from skodyn.lanes import fma, states
from skodyn.model.keys import BOOLEAN, SMALL
from skodyn.registry import register
from skodyn.simulation.fixed_step import fixed_steps
from skodyn.simulation.lane_loop import lane_steps
from skodyn.simulation.lie import move_coordinates_inlined
from skodyn.simulation.memory import Sections
from skodyn.simulation.steppers.method import Method, Setting
from skodyn.simulation.steppers.tables import clear, copy
from skodyn.simulation.structures import MIDPOINT, SPRUNG, State, size_of, start_of, table
from skodyn.simulation.systems.system import FULL_RATES, SYSTEM_MEMORY, evaluate

MEMORY = Sections(
    SYSTEM_MEMORY,
    MIDDLE_Q=(1, "q", "coordinates in the middle of the step"),
    MIDDLE_Y=(1, "y", "ȳ"),
    RATES=(1, "y", "ẏ in the middle"),
    MOVED=(1, "one", "how far the last iteration moved ȳ, one number per lane"),
    START_P=(1, "loop y", "momenta at the start of the step: looped_midpoint.py, as the others"),
    EVEN_P=(1, "loop y", "momenta, even part: half the sum of those at both ends"),
    ODD_P=(1, "loop y", "momenta, odd part: half their difference"),
    REST=(1, "loop y", "of the equation for the start"),
    CHANGE=(1, "loop y", "of the mean velocity, and of the middle of integrals"),
    SHIFT=(1, "loop y", "what closes the coordinates at the end"),
)
MIDDLE_Q, MIDDLE_Y, RATES, MOVED = MEMORY.indices[:4]
START_P, EVEN_P, ODD_P, REST, CHANGE, SHIFT = MEMORY.indices[4:]

# of `method`; SPRUNG_MODEL: how far behind the parameters those of the sprung model lie, or 0
TOLERANCE, HALF_STEP, SPRUNG_MODEL = range(3)
MAX_ITERATIONS = 100
STAGNANT = 1e-9
"""An iteration that has come this close, relative, and moves no less than before, is at rest: what
still moves it is rounding, in a system whose accelerations are large beside its velocities."""


@helper
def correct_lane(dt, tolerance, y, middle, rates, lane, before):
    """ȳ ← y + dt/2·ẏ for one row: how far it moved, or −1 if it has come to rest."""
    ny = y.stride
    at, start, old, rate = lane * ny, start_of(y), start_of(middle), start_of(rates)
    moved, size = 0.0, 0.0
    for i in range(at, at + ny):
        better = fma(0.5 * dt, rate[i], start[i])
        if i < at + ny - 1:  # the work done, last, follows from the rest
            moved = max(moved, abs(better - old[i]))
            size = max(size, abs(better))
        old[i] = better
    settled = moved <= tolerance * size
    stuck = moved >= before and moved <= STAGNANT * size
    return -1.0 if settled or stuck else moved


@helper
def correct_lanes(work, system, dt, state, middle, rates):
    """One correction of every lane that still moves; how many do."""
    moved, waiting = start_of(table(system, MOVED)), 0
    for lane in range(states(work)):
        if not moved[lane] < 0.0:
            tolerance = system.method[TOLERANCE]
            moved[lane] = correct_lane(dt, tolerance, state.y, middle.y, rates, lane, moved[lane])
            if not moved[lane] < 0.0:
                waiting += 1
    return waiting


@helper
def evaluate_middle(work, system, t, state, rates):
    """ẏ, or with implicit springs what comes closer to it than the rates of the last iteration."""
    if system.method[SPRUNG_MODEL] > 0.0:
        return call_part(system.parts[SPRUNG], work, system, t, state, rates)
    return evaluate(work, system, t, state, rates)


@helper
def forget_rates(work, system):
    """Let the iteration of implicit springs begin at rest, not with what the last step left."""
    if system.method[SPRUNG_MODEL] > 0.0:
        for section in (RATES, FULL_RATES):
            rates = table(system, section)
            clear(size_of(work, rates), start_of(rates))


@helper
def step(work, system, t, dt, state, new):
    """The state at t + dt."""
    if has_loops(system.model):
        return call_part(system.parts[MIDPOINT], work, system, t, dt, state, new)
    middle, rates = State(table(system, MIDDLE_Q), table(system, MIDDLE_Y)), table(system, RATES)
    count, moved = size_of(work, state.y), start_of(table(system, MOVED))
    copy(count, start_of(middle.y), start_of(state.y))
    forget_rates(work, system)
    for lane in range(states(work)):
        moved[lane] = float("inf")
    for _ in range(MAX_ITERATIONS):
        move_coordinates_inlined(work, system.model, state.q, middle.y, 0.5 * dt, middle.q)
        status = evaluate_middle(work, system, t + 0.5 * dt, middle, rates)
        if status != OK:
            return status
        if correct_lanes(work, system, dt, state, middle, rates) == 0:
            move_coordinates_inlined(work, system.model, state.q, middle.y, dt, new.q)
            end, half, start = start_of(new.y), start_of(middle.y), start_of(state.y)
            for i in range(count):
                end[i] = 2.0 * half[i] - start[i]
            return OK
    return NOT_CONVERGED


METHOD = register(
    Method(
        "implicit_midpoint",
        MEMORY,
        fixed_steps("midpoint_run", step),
        lane_steps("midpoint_sweep", step),
        numbers=lambda settings: np.array([settings.tolerance, 0.5 * settings.dt, 0.0]),
        settings=(
            Setting("tolerance", 1e-14, SMALL, "of the implicit equations"),
            Setting(
                "implicit_springs",
                False,
                BOOLEAN,
                "solve springs and dampers of joints implicitly, so that steps can be long beside "
                "their periods",
            ),
        ),
        closes_loops=True,
    )
)
