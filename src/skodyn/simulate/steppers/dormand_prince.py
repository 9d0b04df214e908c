"""Dormand–Prince 5(4) as a Munthe-Kaas method, with step size control and dense output.

J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980); the PI controller (β = 0.04) and the
fourth-order interpolant are those of E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary
Differential Equations I (1993), sections II.5 and II.6. Errors are measured in the algebra: of the
way u, and of y.
"""

from __future__ import annotations

import numpy as np

from skodyn.jit import helper
from skodyn.lanes import WIDTH_1, shift_pointer
from skodyn.model.layout import NQ, NV
from skodyn.simulate.lie import move_coordinates
from skodyn.simulate.steppers.explicit import (
    combine,
    explicit_stages,
    finish_explicit,
    stage_memory,
)
from skodyn.simulate.system import extended_size

STAGES = 7
C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
B = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0])
_ROWS = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
A = np.array([row + [0] * (STAGES - len(row)) for row in _ROWS], dtype=np.float64).reshape(-1)
# difference of the fifth- and fourth-order weights
E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
# the interpolant's own weights
D = np.array(
    [
        -12715105075 / 11282082432,
        0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)

SAFETY, SHRINK_MOST, GROW_MOST, BETA = 0.9, 0.2, 10.0, 0.04


@helper
def attempt(tree, p, codes, numbers, controller, settings, n_settings, t, dt, q, y, new_q, new_y,
            memory, ws):  # fmt: skip
    """All stages, and the end of the step; status of the evaluations."""
    status = explicit_stages(
        WIDTH_1, 1, STAGES, A, C, tree, p, codes, numbers, controller, settings, n_settings,
        t, dt, q, y, memory, ws,
    )  # fmt: skip
    finish_explicit(WIDTH_1, 1, STAGES, B, tree, codes, dt, q, y, new_q, new_y, memory)
    return status


@helper
def scaled_error(tree, codes, dt, rtol, atol, y, new_y, memory):
    """Root mean square of the error over its tolerance; the step is good below 1."""
    nv, ny = tree[NV], extended_size(tree, codes)
    base, m_at = stage_memory(tree, codes, 1)
    way = shift_pointer(memory, base + tree[NQ])
    work = shift_pointer(memory, base + tree[NQ] + ny)
    total = 0.0
    _zero(ny, work)
    combine(ny, work, work, STAGES, E, 0, dt, shift_pointer(memory, m_at))
    for i in range(nv):
        allowed = atol + rtol * abs(way[i])
        total += (work[i] / allowed) ** 2
    _zero(ny, work)
    combine(ny, work, work, STAGES, E, 0, dt, shift_pointer(memory, m_at + STAGES * ny))
    for i in range(ny - 1):  # the work done is a witness, not a state to be controlled
        allowed = atol + rtol * max(abs(y[i]), abs(new_y[i]))
        total += (work[i] / allowed) ** 2
    return (total / max(nv + ny - 1, 1)) ** 0.5


@helper
def _zero(count, a):
    for i in range(count):
        a[i] = 0.0


@helper
def next_step(error, previous_error):
    """(factor for the next step, if accepted; for another try, if not)."""
    order = 0.2 - 0.75 * BETA
    if not error < float("inf"):
        return SHRINK_MOST, SHRINK_MOST
    grown = SAFETY * max(error, 1e-10) ** -order * previous_error**BETA
    shrunk = SAFETY * max(error, 1e-10) ** -order
    return min(GROW_MOST, max(SHRINK_MOST, grown)), min(1.0, max(SHRINK_MOST, shrunk))


@helper
def interpolate(count, part, dt, start, end, rates, out):
    """The interpolant at `part` of the step, for a quantity with the given rates at all stages."""
    for i in range(count):
        change = end[i] - start[i]
        curve = dt * rates[i] - change
        rest = change - dt * rates[6 * count + i] - curve
        bend = 0.0
        for s in range(STAGES):
            bend += D[s] * rates[s * count + i]
        inner = curve + part * (rest + (1.0 - part) * dt * bend)
        out[i] = start[i] + part * (change + (1.0 - part) * inner)


@helper
def dense_output(tree, codes, part, dt, q, y, new_y, memory, out_q, out_y):
    """State at `part` of the step just attempted."""
    nq, ny = tree[NQ], extended_size(tree, codes)
    base, m_at = stage_memory(tree, codes, 1)
    way = shift_pointer(memory, base + nq)
    zero = shift_pointer(memory, base + nq + ny)  # stage_y is free now
    partly = shift_pointer(memory, m_at + 2 * STAGES * ny)
    _zero(ny, zero)
    interpolate(ny, part, dt, zero, way, shift_pointer(memory, m_at), partly)
    interpolate(ny, part, dt, y, new_y, shift_pointer(memory, m_at + STAGES * ny), out_y)
    move_coordinates(WIDTH_1, tree, nq, ny, q, partly, 1.0, out_q)
