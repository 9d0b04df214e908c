"""The right-hand side of models with loops and flexible bodies, and the way back onto the manifold.

Forces are those of flexible_system.py, loops those of looped_system.py: steppers close every state
before it is evaluated, and the end of every step.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.entries import Given
from skodyn.kernels.flexible.flexible_loop_closing import close_bent_state
from skodyn.kernels.flexible.flexible_loops import accelerate_bent_looped
from skodyn.kernels.flexible.flexible_tree import scatter_bent_rates
from skodyn.kernels.loops.loop_filling import ACCELERATIONS, GAMMAS
from skodyn.kernels.loops.loop_projection import remember_factored, was_factored
from skodyn.kernels.mimics import full_model
from skodyn.kernels.status import OK
from skodyn.simulation.structures import start_of, table
from skodyn.simulation.systems.flexible_system import act_bent
from skodyn.simulation.systems.system import LOOPS_READY, TAU, forces_on_bodies


@helper
def evaluate_bent_looped(work, system, t, state, rates):
    """rates = ẏ at time t, of a state whose loops are closed."""
    model, ready = full_model(system.model), start_of(table(system, LOOPS_READY))
    placed, f_ext = act_bent(work, system, t, state, rates), forces_on_bodies(system)
    first = OK if f_ext.stride > 0 else scatter_bent_rates(work, model, state.q, state.y)
    known = ready[0] == 1.0 and was_factored(work, model, state.q)
    ready[0] = 0.0
    given = Given(state.q, state.y, table(system, TAU), f_ext)
    what = GAMMAS if known else ACCELERATIONS
    second = accelerate_bent_looped(work, model, given, rates, what, False)
    status = first if first != OK else second
    return placed if placed != OK else status


@helper
def close_bent_loops(work, system, state, changes, what):
    """Move a state onto the manifold, whatever is asked for besides: no impulses, no Newton steps.

    Rows stay factored: the next evaluation, if it is that of the same coordinates, has them ready.
    """
    model, ready = full_model(system.model), start_of(table(system, LOOPS_READY))
    status = close_bent_state(work, model, state.q, state.y)
    remember_factored(work, model, state.q)
    ready[0] = 1.0 if status == OK else 0.0
    return status
