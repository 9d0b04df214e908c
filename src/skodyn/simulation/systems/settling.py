"""The end of a step, moved onto the manifold of closed loops.

Stages are moved there by the least change of coordinates, and so are ends of steps; but near
singular positions velocities that stay are changed by impulses (kernels/loops/loop_impulses.py).
"""

from __future__ import annotations

from skodyn.jit import call_part, helper
from skodyn.kernels.loops.loop_table import has_loops
from skodyn.kernels.status import OK
from skodyn.simulation.forces import MOTIONS
from skodyn.simulation.structures import CLOSING
from skodyn.simulation.systems.system import follow

SETTLE = 2
"""What is asked of the part that closes loops, beside CLOSE and NEWTON."""


@helper
def settle(work, system, t, state):
    """Move the end of a step at time t onto the manifold of its loops, if the model has any."""
    if has_loops(system.model):
        if system.codes[MOTIONS] > 0:
            return follow(work, system, t, state)
        return call_part(system.parts[CLOSING], work, system, state, state, SETTLE)
    return OK
