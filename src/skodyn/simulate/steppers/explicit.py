"""Explicit Runge–Kutta–Munthe-Kaas stages, for any tableau.

Each stage works with u, the way from the start of the step in the algebra of the joints' groups
(lie.py), and y. With the weights a of the tableau:

    uᵢ = dt Σ aᵢⱼ mⱼ,  yᵢ = y + dt Σ aᵢⱼ kⱼ,  mᵢ = dexp⁻¹(uᵢ)·vᵢ,  kᵢ = ẏ(t + cᵢ dt, q ⊞ uᵢ, yᵢ)

`memory` behind the system's part:  qᵢ | uᵢ | yᵢ | m₁ … mₛ | k₁ … kₛ
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.status import OK
from skodyn.lanes import shift_pointer
from skodyn.model.layout import NQ
from skodyn.simulate.lie import coordinate_rates, move_coordinates
from skodyn.simulate.steppers.tables import add_scaled_table, copy
from skodyn.simulate.system import evaluate, extended_size, system_memory


@helper
def stage_memory(tree, codes, lanes):
    """Where the stages' part of the memory begins, and where m₁ lies behind it."""
    start = system_memory(tree, codes, lanes)
    ny = extended_size(tree, codes)
    return start, start + lanes * (tree[NQ] + 2 * ny)


@helper
def combine(count, out, start, stages, weights, first, dt, tables):
    """out = start + dt Σ weights[first + j]·tableⱼ over the first `stages` tables."""
    begun = False
    for j in range(stages):
        if weights[first + j] != 0.0:
            table = shift_pointer(tables, j * count)
            if begun:
                add_scaled_table(count, out, out, dt * weights[first + j], table)
            else:
                add_scaled_table(count, out, start, dt * weights[first + j], table)
            begun = True
    if not begun:
        copy(count, out, start)


@helper
def explicit_stages(w, lanes, stages, a, c, tree, p, codes, numbers, controller, settings,
                    n_settings, t, dt, q, y, memory, ws):  # fmt: skip
    """Fill m and k of all stages; a is the full square table, row by row."""
    nq, ny = tree[NQ], extended_size(tree, codes)
    base, m_at = stage_memory(tree, codes, lanes)
    stage_q = shift_pointer(memory, base)
    stage_u = shift_pointer(memory, base + lanes * nq)
    stage_y = shift_pointer(memory, base + lanes * (nq + ny))
    m = shift_pointer(memory, m_at)
    count = lanes * ny
    k = shift_pointer(memory, m_at + stages * count)
    for i in range(stages):
        for n in range(count):
            stage_u[n] = 0.0
        combine(count, stage_u, stage_u, i, a, i * stages, dt, m)
        combine(count, stage_y, y, i, a, i * stages, dt, k)
        move_coordinates(w, tree, nq, ny, q, stage_u, 1.0, stage_q)
        coordinate_rates(w, tree, ny, stage_u, stage_y, shift_pointer(m, i * count))
        status = evaluate(
            w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t + c[i] * dt,
            stage_q, stage_y, shift_pointer(k, i * count), memory, ws,
        )  # fmt: skip
        if status != OK:
            return status
    return OK


@helper
def finish_explicit(w, lanes, stages, b, tree, codes, dt, q, y, new_q, new_y, memory):
    """The end of the step from the weights b; leaves the whole way in u."""
    nq, ny = tree[NQ], extended_size(tree, codes)
    base, m_at = stage_memory(tree, codes, lanes)
    way = shift_pointer(memory, base + lanes * nq)
    count = lanes * ny
    for n in range(count):
        way[n] = 0.0
    combine(count, way, way, stages, b, 0, dt, shift_pointer(memory, m_at))
    combine(count, new_y, y, stages, b, 0, dt, shift_pointer(memory, m_at + stages * count))
    move_coordinates(w, tree, nq, ny, q, way, 1.0, new_q)
