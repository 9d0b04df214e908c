"""Semi-implicit (symplectic) Euler: velocities first, then positions with the new velocities.

R. de Vogelaere, 1956. First order; one evaluation per step.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.lanes import shift_pointer
from skodyn.model.layout import NQ
from skodyn.simulate.lie import move_coordinates
from skodyn.simulate.steppers.tables import add_scaled_table
from skodyn.simulate.system import evaluate, extended_size, system_memory


@helper
def step(w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t, dt, tolerance,
         q, y, new_q, new_y, memory, ws):  # fmt: skip
    """(new_q, new_y) at t + dt."""
    ny = extended_size(tree, codes)
    rates = shift_pointer(memory, system_memory(tree, codes, lanes))
    status = evaluate(
        w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t, q, y, rates,
        memory, ws,
    )  # fmt: skip
    add_scaled_table(lanes * ny, new_y, y, dt, rates)
    move_coordinates(w, tree, tree[NQ], ny, q, new_y, dt, new_q)
    return status
