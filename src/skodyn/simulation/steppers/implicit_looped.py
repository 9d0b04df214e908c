"""Newton's steps of implicit_contact in models with loops: a part of their own.

Velocities are found on the affine set of those that keep loops closed to first order
(implicit_loops.py); the end of the step is then moved onto the manifold, as with every
method.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.contact.implicit_loop_pairs import backsubstitute_with_loops
from skodyn.kernels.contact.implicit_loops import factor_loops, sweep_looped
from skodyn.kernels.contact.implicit_pairs import correct_for_pairs
from skodyn.kernels.loops.loop_filling import ACCELERATIONS, GAMMAS
from skodyn.kernels.loops.loop_projection import was_factored
from skodyn.kernels.status import OK
from skodyn.simulation.contact.implicit_newton import BEGIN
from skodyn.simulation.steppers.implicit_contact import implicit_codes, places_of
from skodyn.simulation.structures import start_of, table
from skodyn.simulation.systems.system import LOOPS_READY


@helper
def newton_looped(work, system, t, h, state, what):
    """What stays in a step, or one Newton step; poses of `state` are in the workspace."""
    if what == BEGIN:
        ready = start_of(table(system, LOOPS_READY))
        known = ready[0] == 1.0 and was_factored(work, system.model, state.q)
        ready[0] = 0.0
        rows = GAMMAS if known else ACCELERATIONS
        return factor_loops(work, system.model, state.q, state.y, rows, h)
    places = places_of(system, implicit_codes(system))
    status = sweep_looped(work, system.model, places)
    if status == OK and places.n_pairs > 0:
        correct_for_pairs(backsubstitute_with_loops, work, system.model, places)
    return status
