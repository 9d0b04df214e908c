"""The jitted loop of a sweep: runs side by side in registers, each with its own parameters.

`p` and `numbers` hold one table per group of LANES runs, with their values of every constant next
to each other; q, y and the accumulators hold LANES rows per group. One call takes group after group
to the end of its runs, until its budget of steps is used up: `place` says where it stands (group,
steps done, whether its state was sampled). Time is step·dt, so that how a sweep is cut into calls
does not change a bit.

A step in which any lane fails is not taken. The call returns its status; `lane_batch.py` finds out
which lane it was, takes it out and calls again: the neighbours repeat the step and see nothing.
"""

from __future__ import annotations

from skodyn.jit import helper, kernel
from skodyn.kernels.status import OK
from skodyn.lanes import LANES, WIDTH_N_OWN_PARAMETERS, pointer, shift_pointer
from skodyn.model.layout import NQ, NV
from skodyn.simulate.fixed_step import check_velocities
from skodyn.simulate.steppers import implicit_midpoint, rk4, semi_implicit_euler
from skodyn.simulate.steppers.tables import copy
from skodyn.simulate.system import extended_size
from skodyn.sweep.sampling import ACCUMULATORS, COUNT, sample
from skodyn.sweep.signatures import GROUPS

GROUP, STEP, SAMPLED = range(3)


@helper
def run_group(step, w, lanes, tree, p, codes, numbers, controller, settings, n_settings, total, dt,
              tolerance, max_speed, every, place, budget, q, y, scratch, memory, ws, metrics,
              levels, function, values, kept):  # fmt: skip
    """(steps taken, status) of one group, from where it stands to its end or that of the budget."""
    nq, nv, ny = tree[NQ], tree[NV], extended_size(tree, codes)
    new_q, new_y = scratch, shift_pointer(scratch, lanes * nq)
    taken = 0
    while True:
        if place[SAMPLED] == 0:
            sample(w, lanes, place[STEP] == 0, every * dt, place[STEP] * dt, tree, p, metrics,
                   levels, function, q, y, ny, values, kept, ws)  # fmt: skip
            place[SAMPLED] = 1
        if taken == budget or place[STEP] == total:
            return taken, OK
        status = step(
            w, lanes, tree, p, codes, numbers, controller, settings, n_settings,
            place[STEP] * dt, dt, tolerance, q, y, new_q, new_y, memory, ws,
        )  # fmt: skip
        if status == OK:
            status = check_velocities(lanes, nv, ny, new_y, max_speed)
        if status != OK:
            return taken, status
        copy(lanes * nq, q, new_q)
        copy(lanes * ny, y, new_y)
        taken += 1
        place[STEP] += 1
        if place[STEP] % every == 0:
            place[SAMPLED] = 0


@helper
def run_groups(step, tree, p, codes, numbers, controller, settings, total, dt, tolerance,
               max_speed, every, groups, place, budget, q, y, scratch, memory, ws, metrics, levels,
               function, values, kept):  # fmt: skip
    """(steps taken, status): as many groups as the budget allows, or up to a failing step."""
    nq, ny = tree[NQ], extended_size(pointer(tree), pointer(codes))
    size_p, size_n = p.size // groups, numbers.size // groups
    size_kept = LANES * metrics[COUNT] * ACCUMULATORS
    left = budget
    while left > 0 and place[GROUP] < groups:
        g = place[GROUP]
        taken, status = run_group(
            step, WIDTH_N_OWN_PARAMETERS, LANES, pointer(tree),
            shift_pointer(pointer(p), g * size_p), pointer(codes),
            shift_pointer(pointer(numbers), g * size_n), controller, pointer(settings),
            settings.size, total, dt, tolerance, max_speed, every, pointer(place), left,
            shift_pointer(pointer(q), g * LANES * nq), shift_pointer(pointer(y), g * LANES * ny),
            pointer(scratch), pointer(memory), pointer(ws), pointer(metrics), pointer(levels),
            function, pointer(values), shift_pointer(pointer(kept), g * size_kept),
        )  # fmt: skip
        left -= taken
        if status != OK:
            return budget - left, status
        if place[STEP] == total:
            place[GROUP], place[STEP], place[SAMPLED] = g + 1, 0, 0
    return budget - left, OK


@kernel(*GROUPS)
def rk4_sweep(tree, p, codes, numbers, controller, settings, total, dt, tolerance, max_speed,
              every, groups, place, budget, q, y, scratch, memory, ws, metrics, levels, function,
              values, kept):  # fmt: skip
    return run_groups(rk4.step, tree, p, codes, numbers, controller, settings, total, dt, tolerance,
                      max_speed, every, groups, place, budget, q, y, scratch, memory, ws, metrics,
                      levels, function, values, kept)  # fmt: skip


@kernel(*GROUPS)
def euler_sweep(tree, p, codes, numbers, controller, settings, total, dt, tolerance, max_speed,
                every, groups, place, budget, q, y, scratch, memory, ws, metrics, levels, function,
                values, kept):  # fmt: skip
    return run_groups(semi_implicit_euler.step, tree, p, codes, numbers, controller, settings,
                      total, dt, tolerance, max_speed, every, groups, place, budget, q, y, scratch,
                      memory, ws, metrics, levels, function, values, kept)  # fmt: skip


@kernel(*GROUPS)
def midpoint_sweep(tree, p, codes, numbers, controller, settings, total, dt, tolerance, max_speed,
                   every, groups, place, budget, q, y, scratch, memory, ws, metrics, levels,
                   function, values, kept):  # fmt: skip
    return run_groups(implicit_midpoint.step, tree, p, codes, numbers, controller, settings, total,
                      dt, tolerance, max_speed, every, groups, place, budget, q, y, scratch, memory,
                      ws, metrics, levels, function, values, kept)  # fmt: skip
