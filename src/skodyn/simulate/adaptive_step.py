"""The jitted loop of the adaptive method: one chunk of attempted steps.

Rows for the log come from dense output at multiples of the interval, so that logging does not
change the sequence of steps, unless one of them would fill all rows of a chunk. `clock` holds what
must survive between chunks, and in checkpoints: time, next step length, previous error, steps
taken, steps rejected, rows written so far.
"""

from __future__ import annotations

from skodyn.jit import kernel
from skodyn.kernels.status import NOT_FINITE, OK
from skodyn.lanes import pointer, shift_pointer
from skodyn.model.layout import NQ, NV
from skodyn.simulate.fixed_step import check_velocities
from skodyn.simulate.signatures import ADAPTIVE_STEPS
from skodyn.simulate.steppers.dormand_prince import (
    attempt,
    dense_output,
    next_step,
    scaled_error,
)
from skodyn.simulate.steppers.tables import copy
from skodyn.simulate.system import extended_size

TIME, STEP_LENGTH, PREVIOUS_ERROR, STEPS, REJECTED, ROWS = range(6)
CLOCK = 6

STEP_TOO_SMALL = 7
"""Status code: the tolerance cannot be met with any step that still moves time."""


@kernel(*ADAPTIVE_STEPS)
def dormand_prince_run(tree, p, codes, numbers, controller, settings, clock, attempts, end, rtol,
                       atol, max_step, max_speed, interval, q, y, scratch, memory, ws, rows_q,
                       rows_y):  # fmt: skip
    """(attempts made, rows written, status); stops early at `end` or when the rows are full."""
    t, c = pointer(tree), pointer(codes)
    nq, nv, ny = tree[NQ], tree[NV], extended_size(t, c)
    mem, state_q, state_y = pointer(memory), pointer(q), pointer(y)
    new_q, new_y = pointer(scratch), shift_pointer(pointer(scratch), nq)
    capacity = rows_q.size // max(nq, 1)
    row = 0
    for tried in range(attempts):
        time = clock[TIME]
        if time >= end:
            return tried, row, OK
        # a chunk has room for every row of its longest step
        dt = min(clock[STEP_LENGTH], max_step, (capacity - 4) * interval)
        if end - time <= dt * (1.0 + 1e-6):  # leave no remainder that time cannot resolve
            dt = end - time
        if row + int(dt / interval) + 2 > capacity:
            return tried, row, OK
        if time + 1e-3 * dt == time or dt < 1e-18 * end:  # the second is for time 0
            return tried, row, STEP_TOO_SMALL
        status = attempt(
            t, pointer(p), c, pointer(numbers), controller, pointer(settings), settings.size,
            time, dt, state_q, state_y, new_q, new_y, mem, pointer(ws),
        )  # fmt: skip
        if status != OK and status % 8 != NOT_FINITE:
            return tried, row, status
        error = scaled_error(t, c, dt, rtol, atol, state_y, new_y, mem)
        grow, shrink = next_step(error, clock[PREVIOUS_ERROR])
        if not (status == OK and error <= 1.0):
            clock[STEP_LENGTH] = dt * shrink
            clock[REJECTED] += 1
            continue
        status = check_velocities(1, nv, ny, new_y, max_speed)
        if status != OK:
            return tried, row, status
        after = end if dt == end - time else time + dt
        while (clock[ROWS] + 1) * interval <= after * (1.0 + 1e-15):
            part = min(((clock[ROWS] + 1) * interval - time) / dt, 1.0)
            dense_output(
                t, c, part, dt, state_q, state_y, new_y, mem,
                shift_pointer(pointer(rows_q), row * nq), shift_pointer(pointer(rows_y), row * ny),
            )  # fmt: skip
            row += 1
            clock[ROWS] += 1
        copy(nq, state_q, new_q)
        copy(ny, state_y, new_y)
        clock[TIME] = after
        clock[STEPS] += 1
        clock[PREVIOUS_ERROR] = max(error, 1e-4)
        clock[STEP_LENGTH] = (
            dt * grow if dt == clock[STEP_LENGTH] else max(dt * grow, clock[STEP_LENGTH])
        )
    return attempts, row, OK
