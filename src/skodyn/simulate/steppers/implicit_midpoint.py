"""The implicit midpoint rule on the manifold, for long conservative runs.

With the middle velocity v̄ the step is  q₁ = q₀ ⊞ dt·v̄,  y₁ = y₀ + dt·ẏ(t + dt/2, q₀ ⊞ dt/2·v̄, ȳ),
ȳ = (y₀ + y₁)/2: of second order and time-symmetric, so that the energy of a reversible system
oscillates but does not drift (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
2006, chapters V and XI). ȳ is found by fixed-point iteration, each lane for itself, until it moves
by less than `tolerance` relative to its largest element, or until rounding keeps it from coming any
closer; failure to converge is reported.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.status import OK
from skodyn.lanes import fma, shift_pointer
from skodyn.model.layout import NQ
from skodyn.simulate.lie import move_coordinates
from skodyn.simulate.steppers.tables import copy
from skodyn.simulate.system import evaluate, extended_size, system_memory

MAX_ITERATIONS = 100
STAGNANT = 1e-9
"""An iteration that has come this close, relative, and moves no less than before, is at rest: what
still moves it is rounding, in a system whose accelerations are large beside its velocities."""
NOT_CONVERGED = 5
"""Status code: the step is too long for the fixed-point iteration."""


@helper
def correct_lane(ny, dt, tolerance, y, middle, rates, at, before):
    """ȳ ← y + dt/2·ẏ for one row: how far it moved, or −1 if it has come to rest."""
    moved, size = 0.0, 0.0
    for i in range(at, at + ny):
        better = fma(0.5 * dt, rates[i], y[i])
        if i < at + ny - 1:  # the work done, last, follows from the rest
            moved = max(moved, abs(better - middle[i]))
            size = max(size, abs(better))
        middle[i] = better
    settled = moved <= tolerance * size
    stuck = moved >= before and moved <= STAGNANT * size
    return -1.0 if settled or stuck else moved


@helper
def step(w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t, dt, tolerance,
         q, y, new_q, new_y, memory, ws):  # fmt: skip
    """(new_q, new_y) at t + dt."""
    nq, ny = tree[NQ], extended_size(tree, codes)
    base = system_memory(tree, codes, lanes)
    middle_q = shift_pointer(memory, base)
    middle = shift_pointer(memory, base + lanes * nq)
    rates = shift_pointer(memory, base + lanes * (nq + ny))
    moved = shift_pointer(memory, base + lanes * (nq + 2 * ny))  # one number per lane
    copy(lanes * ny, middle, y)
    for lane in range(lanes):
        moved[lane] = float("inf")
    for _ in range(MAX_ITERATIONS):
        move_coordinates(w, tree, nq, ny, q, middle, 0.5 * dt, middle_q)
        status = evaluate(
            w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t + 0.5 * dt,
            middle_q, middle, rates, memory, ws,
        )  # fmt: skip
        if status != OK:
            return status
        waiting = 0
        for lane in range(lanes):
            if not moved[lane] < 0.0:
                moved[lane] = correct_lane(
                    ny, dt, tolerance, y, middle, rates, lane * ny, moved[lane]
                )
                if not moved[lane] < 0.0:
                    waiting += 1
        if waiting == 0:
            move_coordinates(w, tree, nq, ny, q, middle, dt, new_q)
            for i in range(lanes * ny):
                new_y[i] = 2.0 * middle[i] - y[i]
            return OK
    return NOT_CONVERGED
