"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

R. de Vogelaere, 1956. First order; one evaluation per step.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.status import OK
from skodyn.registry import register
from skodyn.simulation.fixed_step import fixed_steps
from skodyn.simulation.lane_loop import lane_steps
from skodyn.simulation.lie import move_coordinates_inlined
from skodyn.simulation.memory import Sections
from skodyn.simulation.steppers.method import Method
from skodyn.simulation.steppers.tables import add_scaled_table
from skodyn.simulation.structures import size_of, start_of, table
from skodyn.simulation.systems.settling import settle
from skodyn.simulation.systems.system import SYSTEM_MEMORY, evaluate

MEMORY = Sections(SYSTEM_MEMORY, RATES=(1, "y", "rates of y"))
(RATES,) = MEMORY.indices


@helper
def step(work, system, t, dt, state, new):
    """The state at t + dt."""
    rates = table(system, RATES)
    status = evaluate(work, system, t, state, rates)
    count = size_of(work, rates)
    add_scaled_table(count, start_of(new.y), start_of(state.y), dt, start_of(rates))
    move_coordinates_inlined(work, system.model, state.q, new.y, dt, new.q)
    closed = settle(work, system, t + dt, new)
    return status if status != OK else closed


METHOD = register(
    Method(
        "semi_implicit_euler",
        MEMORY,
        fixed_steps("euler_run", step),
        lane_steps("euler_sweep", step),
    )
)
