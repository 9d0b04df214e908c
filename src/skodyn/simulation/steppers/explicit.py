"""Explicit Runge–Kutta–Munthe-Kaas methods, for any tableau.

Each stage works with u, the way from the start of the step in the algebra of the joints' groups
(lie.py), and y. With the weights a of the tableau:

    uᵢ = dt Σ aᵢⱼ mⱼ,  yᵢ = y + dt Σ aᵢⱼ kⱼ,  mᵢ = dexp⁻¹(uᵢ)·vᵢ,  kᵢ = ẏ(t + cᵢ dt, q ⊞ uᵢ, yᵢ)

With loops, every stage is moved onto their manifold first, and so is the end: the method is then
that for F∘π, π the smooth map onto the manifold, and keeps its order.

The tableau is data: one loop is compiled for all such methods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skodyn.jit import helper
from skodyn.kernels.status import OK
from skodyn.lanes import shift_pointer
from skodyn.simulation.fixed_step import fixed_steps
from skodyn.simulation.lane_loop import lane_steps
from skodyn.simulation.lie import coordinate_rates, copy_velocities, move_coordinates_inlined
from skodyn.simulation.memory import Sections
from skodyn.simulation.steppers.tables import clear, combine
from skodyn.simulation.structures import State, numbered_table, size_of, start_of, table
from skodyn.simulation.systems.settling import settle
from skodyn.simulation.systems.system import SYSTEM_MEMORY, close, evaluate

STAGES = 0  # of `method`: how many, then A row by row, B and C
TABLEAU = 1


def stage_memory(stages: int) -> Sections:
    """What a method of so many stages keeps."""
    return Sections(
        SYSTEM_MEMORY,
        STAGE_Q=(1, "q", "coordinates of a stage"),
        STAGE_U=(1, "y", "the way to it; behind the last stage, that of the whole step"),
        STAGE_Y=(1, "y", "velocities and integrals of a stage"),
        STAGE_M=(stages, "y", "m₁ … mₛ, rates of the way"),
        STAGE_K=(stages, "y", "k₁ … kₛ, rates of y"),
    )


STAGE_Q, STAGE_U, STAGE_Y, STAGE_M, STAGE_K = stage_memory(1).indices


def tableau(
    rows: Sequence[Sequence[float]], weights: Sequence[float], nodes: Sequence[float]
) -> NDArray[np.float64]:
    """`method` of an explicit method: the rows of A below its diagonal, B and C."""
    stages = len(weights)
    square = np.zeros((stages, stages))
    for i, row in enumerate(rows):
        square[i, : len(row)] = row
    return np.concatenate(([float(stages)], square.reshape(-1), weights, nodes))


@helper
def stage_count(method):
    return int(method[STAGES])


@helper
def explicit_stages(work, system, t, dt, state):
    """Fill m and k of all stages."""
    stages = stage_count(system.method)
    a = shift_pointer(system.method, TABLEAU)
    c = shift_pointer(system.method, TABLEAU + stages * (stages + 1))
    stage = State(table(system, STAGE_Q), table(system, STAGE_Y))
    way = table(system, STAGE_U)
    m, k = start_of(table(system, STAGE_M)), start_of(table(system, STAGE_K))
    count = size_of(work, way)
    for i in range(stages):
        here = state  # the first stage has gone no way
        rates_of_way = numbered_table(work, system, STAGE_M, i)
        if i > 0:
            weights = shift_pointer(a, i * stages)
            clear(count, start_of(way))
            combine(count, start_of(way), start_of(way), i, weights, dt, m)
            combine(count, start_of(stage.y), start_of(state.y), i, weights, dt, k)
            move_coordinates_inlined(work, system.model, state.q, way, 1.0, stage.q)
            here = stage
            status = close(work, system, t + c[i] * dt, stage)
            if status != OK:
                return status
            coordinate_rates(work, system.model, way, stage.y, rates_of_way)
        else:
            copy_velocities(work, system.model, state.y, rates_of_way)
        rates = numbered_table(work, system, STAGE_K, i)
        status = evaluate(work, system, t + c[i] * dt, here, rates)
        if status != OK:
            return status
    return OK


@helper
def finish_explicit(land, work, system, t, dt, state, new):
    """The end of the step from m and k; `land` moves it onto the manifold of closed loops."""
    stages = stage_count(system.method)
    b = shift_pointer(system.method, TABLEAU + stages * stages)
    way = table(system, STAGE_U)
    count = size_of(work, way)
    m, k = start_of(table(system, STAGE_M)), start_of(table(system, STAGE_K))
    clear(count, start_of(way))
    combine(count, start_of(way), start_of(way), stages, b, dt, m)
    combine(count, start_of(new.y), start_of(state.y), stages, b, dt, k)
    move_coordinates_inlined(work, system.model, state.q, way, 1.0, new.q)
    return land(work, system, t + dt, new)


@helper
def step(work, system, t, dt, state, new):
    """The state at t + dt."""
    status = explicit_stages(work, system, t, dt, state)
    closed = finish_explicit(settle, work, system, t, dt, state, new)
    return status if status != OK else closed


@helper
def step_as_last_stage(work, system, t, dt, state, new):
    """The same for methods whose last stage is the end of the step: it is closed as stages are."""
    status = explicit_stages(work, system, t, dt, state)
    closed = finish_explicit(close, work, system, t, dt, state, new)
    return status if status != OK else closed


explicit_run = fixed_steps("explicit_run", step)
explicit_sweep = lane_steps("explicit_sweep", step)
