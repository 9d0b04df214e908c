"""The classical fourth-order Runge–Kutta method (W. Kutta, 1901) as a Munthe-Kaas method."""

from __future__ import annotations

import numpy as np

from skodyn.jit import helper
from skodyn.simulate.steppers.explicit import explicit_stages, finish_explicit

STAGES = 4
A = np.array([0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 1, 0], dtype=np.float64)
B = np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6])
C = np.array([0, 0.5, 0.5, 1])


@helper
def step(w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t, dt, tolerance,
         q, y, new_q, new_y, memory, ws):  # fmt: skip
    """(new_q, new_y) at t + dt."""
    status = explicit_stages(
        w, lanes, STAGES, A, C, tree, p, codes, numbers, controller, settings, n_settings,
        t, dt, q, y, memory, ws,
    )  # fmt: skip
    finish_explicit(w, lanes, STAGES, B, tree, codes, dt, q, y, new_q, new_y, memory)
    return status
