"""Dormand–Prince 5(4) as a Munthe-Kaas method, with step size control and dense output.

J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6 (1980); the PI controller (β = 0.04) and the
fourth-order interpolant are those of E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary
Differential Equations I (1993), sections II.5 and II.6. Errors are measured in the algebra: of the
way u, and of y.
"""

from __future__ import annotations

import math

import numpy as np

from skodyn.jit import helper
from skodyn.model.keys import POSITIVE, POSITIVE_LIMIT, SMALL
from skodyn.model.layout import NV
from skodyn.registry import register
from skodyn.simulation.adaptive_step import adaptive_steps
from skodyn.simulation.lie import move_coordinates_inlined
from skodyn.simulation.memory import Sections
from skodyn.simulation.steppers.explicit import (
    STAGE_K,
    STAGE_M,
    STAGE_U,
    STAGE_Y,
    stage_memory,
    tableau,
)
from skodyn.simulation.steppers.method import Method, Setting
from skodyn.simulation.steppers.tables import clear, combine
from skodyn.simulation.structures import start_of, table

STAGES = 7
MEMORY = Sections(stage_memory(STAGES), PARTLY=(1, "y", "the way to a row of the log"))
(PARTLY,) = MEMORY.indices

TABLEAU = tableau(
    rows=[
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ],
    weights=[35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
    nodes=[0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1],
)
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
def scaled_error(system, dt, rtol, atol, state, new):
    """Root mean square of the error over its tolerance; the step is good below 1."""
    nv, ny = system.model.tree[NV], state.y.stride
    way, work = start_of(table(system, STAGE_U)), start_of(table(system, STAGE_Y))
    y, new_y = start_of(state.y), start_of(new.y)
    total = 0.0
    clear(ny, work)
    combine(ny, work, work, STAGES, E, dt, start_of(table(system, STAGE_M)))
    for i in range(nv):
        allowed = atol + rtol * abs(way[i])
        total += (work[i] / allowed) ** 2
    clear(ny, work)
    combine(ny, work, work, STAGES, E, dt, start_of(table(system, STAGE_K)))
    for i in range(ny - 1):  # the work done is a witness, not a state to be controlled
        allowed = atol + rtol * max(abs(y[i]), abs(new_y[i]))
        total += (work[i] / allowed) ** 2
    return (total / max(nv + ny - 1, 1)) ** 0.5


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
def dense_output(work, system, part, dt, state, new, out):
    """State at `part` of the step just attempted."""
    ny = state.y.stride
    way, zero = start_of(table(system, STAGE_U)), start_of(table(system, STAGE_Y))
    m, k = start_of(table(system, STAGE_M)), start_of(table(system, STAGE_K))
    partly = table(system, PARTLY)
    clear(ny, zero)  # a stage's y is not needed any more
    interpolate(ny, part, dt, zero, way, m, start_of(partly))
    interpolate(ny, part, dt, start_of(state.y), start_of(new.y), k, start_of(out.y))
    move_coordinates_inlined(work, system.model, state.q, partly, 1.0, out.q)


METHOD = register(
    Method(
        "dormand_prince",
        MEMORY,
        adaptive_steps("dormand_prince_run", scaled_error, next_step, dense_output, SHRINK_MOST),
        numbers=lambda settings: TABLEAU,
        settings=(
            Setting("rtol", 1e-9, SMALL, "relative error allowed in a step"),
            Setting("atol", 1e-9, POSITIVE, "absolute error allowed in a step"),
            Setting("first_step", 1e-4, POSITIVE, "length of the first step, s"),
            Setting("max_step", math.inf, POSITIVE_LIMIT, "longest step, s"),
        ),
        adaptive=True,
    )
)
