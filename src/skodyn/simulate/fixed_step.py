"""The jitted loop of fixed-step methods: one chunk of steps, rows for the log collected on the way.

Time is step·dt, never a running sum, and a chunk ends between steps: how a run is cut into chunks
does not change a bit of it. A step that fails is not taken; the last good state stays in place.
"""

from __future__ import annotations

from skodyn.jit import helper, kernel
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer, shift_pointer
from skodyn.model.layout import NQ, NV
from skodyn.simulate.signatures import FIXED_STEPS
from skodyn.simulate.steppers import implicit_midpoint, rk4, semi_implicit_euler
from skodyn.simulate.steppers.tables import copy
from skodyn.simulate.system import extended_size

OUT_OF_BOUNDS = 6
"""Status code: a velocity beyond the bound; with the degree of freedom, not the body."""


@helper
def check_velocities(lanes, nv, ny, y, max_speed):
    """OK, or what is wrong with which degree of freedom."""
    for lane in range(lanes):
        for i in range(ny):
            x = abs(y[lane * ny + i])
            if not x < float("inf"):
                return failure(NOT_FINITE, min(i, nv - 1))
            if i < nv and x > max_speed:
                return failure(OUT_OF_BOUNDS, i)
    return OK


@helper
def run(step, w, lanes, tree, p, codes, numbers, controller, settings, n_settings, first, steps, dt,
        tolerance, max_speed, every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    """(steps taken, rows written, status)."""
    nq, nv, ny = tree[NQ], tree[NV], extended_size(tree, codes)
    new_q, new_y = scratch, shift_pointer(scratch, lanes * nq)
    row = 0
    for done in range(steps):
        status = step(
            w, lanes, tree, p, codes, numbers, controller, settings, n_settings,
            (first + done) * dt, dt, tolerance, q, y, new_q, new_y, memory, ws,
        )  # fmt: skip
        if status == OK:
            status = check_velocities(lanes, nv, ny, new_y, max_speed)
        if status != OK:
            return done, row, status
        copy(lanes * nq, q, new_q)
        copy(lanes * ny, y, new_y)
        if (first + done + 1) % every == 0:
            copy(lanes * nq, shift_pointer(rows_q, row * lanes * nq), q)
            copy(lanes * ny, shift_pointer(rows_y, row * lanes * ny), y)
            row += 1
    return steps, row, OK


@kernel(*FIXED_STEPS)
def rk4_run(tree, p, codes, numbers, controller, settings, first, steps, dt, tolerance, max_speed,
            every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    return run(
        rk4.step, WIDTH_1, 1, pointer(tree), pointer(p), pointer(codes), pointer(numbers),
        controller, pointer(settings), settings.size, first, steps, dt, tolerance, max_speed,
        every, pointer(q), pointer(y), pointer(scratch), pointer(memory), pointer(ws),
        pointer(rows_q), pointer(rows_y),
    )  # fmt: skip


@kernel(*FIXED_STEPS)
def rk4_run_lanes(tree, p, codes, numbers, controller, settings, first, steps, dt, tolerance,
                  max_speed, every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    return run(
        rk4.step, WIDTH_N, LANES, pointer(tree), pointer(p), pointer(codes), pointer(numbers),
        controller, pointer(settings), settings.size, first, steps, dt, tolerance, max_speed,
        every, pointer(q), pointer(y), pointer(scratch), pointer(memory), pointer(ws),
        pointer(rows_q), pointer(rows_y),
    )  # fmt: skip


@kernel(*FIXED_STEPS)
def euler_run(tree, p, codes, numbers, controller, settings, first, steps, dt, tolerance,
              max_speed, every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    return run(
        semi_implicit_euler.step, WIDTH_1, 1, pointer(tree), pointer(p), pointer(codes),
        pointer(numbers), controller, pointer(settings), settings.size, first, steps, dt,
        tolerance, max_speed, every, pointer(q), pointer(y), pointer(scratch), pointer(memory),
        pointer(ws), pointer(rows_q), pointer(rows_y),
    )  # fmt: skip


@kernel(*FIXED_STEPS)
def euler_run_lanes(tree, p, codes, numbers, controller, settings, first, steps, dt, tolerance,
                    max_speed, every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    return run(
        semi_implicit_euler.step, WIDTH_N, LANES, pointer(tree), pointer(p), pointer(codes),
        pointer(numbers), controller, pointer(settings), settings.size, first, steps, dt,
        tolerance, max_speed, every, pointer(q), pointer(y), pointer(scratch), pointer(memory),
        pointer(ws), pointer(rows_q), pointer(rows_y),
    )  # fmt: skip


@kernel(*FIXED_STEPS)
def midpoint_run(tree, p, codes, numbers, controller, settings, first, steps, dt, tolerance,
                 max_speed, every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    return run(
        implicit_midpoint.step, WIDTH_1, 1, pointer(tree), pointer(p), pointer(codes),
        pointer(numbers), controller, pointer(settings), settings.size, first, steps, dt,
        tolerance, max_speed, every, pointer(q), pointer(y), pointer(scratch), pointer(memory),
        pointer(ws), pointer(rows_q), pointer(rows_y),
    )  # fmt: skip


@kernel(*FIXED_STEPS)
def midpoint_run_lanes(tree, p, codes, numbers, controller, settings, first, steps, dt, tolerance,
                       max_speed, every, q, y, scratch, memory, ws, rows_q, rows_y):  # fmt: skip
    return run(
        implicit_midpoint.step, WIDTH_N, LANES, pointer(tree), pointer(p), pointer(codes),
        pointer(numbers), controller, pointer(settings), settings.size, first, steps, dt,
        tolerance, max_speed, every, pointer(q), pointer(y), pointer(scratch), pointer(memory),
        pointer(ws), pointer(rows_q), pointer(rows_y),
    )  # fmt: skip
