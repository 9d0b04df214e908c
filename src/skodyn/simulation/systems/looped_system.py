"""The right-hand side with loops, and the way back onto their manifold.

Forces see states whose loops are closed; steppers close every state before it is evaluated, and the
end of every step (kernels/loops/loop_projection.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import RESULT, Group, helper, kernel
from skodyn.kernels.entries import Given
from skodyn.kernels.loops.embedded_dynamics import accelerate_embedded
from skodyn.kernels.loops.loop_filling import ACCELERATIONS, GAMMAS
from skodyn.kernels.loops.loop_groups import least_change
from skodyn.kernels.loops.loop_impulses import settle_state
from skodyn.kernels.loops.loop_projection import (
    close_state,
    newton_changes,
    remember_factored,
    was_factored,
)
from skodyn.kernels.status import OK
from skodyn.lanes import WIDTH_1, Rows, pointer
from skodyn.model.layout import NQ
from skodyn.simulation.fixed_step import extended_size
from skodyn.simulation.structures import SYSTEM_ARRAYS, State, opened, start_of, table
from skodyn.simulation.systems.settling import SETTLE
from skodyn.simulation.systems.system import LOOPS_READY, NEWTON, TAU, act, close, forces_on_bodies


@helper
def evaluate_looped(work, system, t, state, rates):
    """rates = ẏ at time t, of a state whose loops are closed."""
    act(work, system, t, state, rates)
    given = Given(state.q, state.y, table(system, TAU), forces_on_bodies(system))
    ready = start_of(table(system, LOOPS_READY))
    known = ready[0] == 1.0 and was_factored(work, system.model, state.q)
    what = GAMMAS if known else ACCELERATIONS
    ready[0] = 0.0
    return accelerate_embedded(work, system.model, given, rates, what, False)


@helper
def close_by(change, work, system, state, changes, what):
    """Move a state onto the manifold; or find changes of its coordinates that would.

    what: CLOSE, or NEWTON; one part for both is compiled in half the time. Groups stay factored:
    the next evaluation, if it is that of the same coordinates, has poses and factors ready.
    """
    ready = start_of(table(system, LOOPS_READY))
    ready[0] = 0.0
    if what == NEWTON:
        return newton_changes(change, work, system.model, state.q, state.y, changes.q)
    status = close_state(change, work, system.model, state.q, state.y)
    remember_ready(work, system, state, status)
    return status


@helper
def remember_ready(work, system, state, status):
    """Note whose poses and factors are in the workspace."""
    remember_factored(work, system.model, state.q)
    start_of(table(system, LOOPS_READY))[0] = 1.0 if status == OK else 0.0


@helper
def close_loops(work, system, state, changes, what):
    """The same, with all joints free to be moved; or SETTLE the end of a step."""
    if what == SETTLE:
        start_of(table(system, LOOPS_READY))[0] = 0.0
        impulse = table(system, TAU)  # the next evaluation fills it anew
        status = settle_state(least_change, work, system.model, state.q, state.y, impulse)
        remember_ready(work, system, state, status)
        return status
    return close_by(least_change, work, system, state, changes, what)


class OneState(NamedTuple):
    """A state as Python passes it."""

    q: Any
    y: Any


ONE_STATE = Group(OneState, (RESULT, RESULT))


@kernel(SYSTEM_ARRAYS, ONE_STATE)
def close_start(arrays, given):
    """Close the state that a run begins with, to the last digits."""
    work, system = opened(WIDTH_1, arrays)
    nq, ny = system.model.tree[NQ], extended_size(system)
    state = State(Rows(pointer(given.q), 0, nq), Rows(pointer(given.y), 0, ny))
    return close(work, system, 0.0, state)
