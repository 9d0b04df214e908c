"""The right-hand side with joints whose motion is prescribed in models with loops, and the way back
onto the manifold of closed loops with driven joints where they are at time t.

Loops and motions are constraints of the same kind: driven coordinates are given as functions of
time, and the others follow them (loop_holding.py). Forces u of the drives add S·E*·u to the
accelerations w under everything else, S = X(X*𝓜X)⁻¹X*, an O(N) solve for each driven velocity:

    (E·S·E*)·u = a − E·w,      v̇ = w + S·E*·u

The same finds changes of velocities that leave driven ones at given values, which is all that the
midpoint rule needs (steppers/driven_midpoint.py).
"""

from __future__ import annotations

from skodyn.jit import helper, shared_routine
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.loops.embedded_solve import solve_embedded, stand_still
from skodyn.kernels.loops.loop_holding import least_held_change, scratch_of_drives
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import LOOP_OPEN, OK, failure
from skodyn.lanes import Rows, fma, load, load_rows, splat, states, store, store_rows
from skodyn.simulation.forces import MOTIONS
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import size_of, start_of, table
from skodyn.simulation.systems.driven_coupled import driven_dof
from skodyn.simulation.systems.driven_motions import accelerations_of, follow_motions, motion_record
from skodyn.simulation.systems.looped_system import close_by, evaluate_looped
from skodyn.simulation.systems.system import CLOSE, DRIVE, GIVEN, TAU


@helper
def close_held_loops(work, system, state, changes, what):
    """Move a state onto the manifold, or find changes that would; driven joints stay."""
    return close_by(least_held_change, work, system, state, changes, what)


@helper
def follow_closed(work, system, t, state):
    """Put driven joints where they are at time t, and all others where loops want them."""
    follow_motions(work, system, t, state)
    return close_held_loops(work, system, state, state, CLOSE)


@helper
def _column(work, system, columns, j):
    """Column j of S·E*, one row for each state."""
    nv = velocity_count(system.model)
    return Rows(work.lanes, states(work) * (columns + j * nv), nv)


@helper
def solve_for_drives(work, system):
    """S·E*, and the factor of E·S·E*; poses and factors of loops are in the workspace."""
    d, columns, factor, _ = scratch_of_drives(system.model)
    status = OK
    stand_still(work, system.model)
    for j in range(d):
        row = _column(work, system, columns, j)
        clear(size_of(work, row), start_of(row))
        store_rows(work, row, driven_dof(system, j), splat(work, 1.0))
        answer = solve_embedded(work, system.model, row, row)
        status = status if status != OK else answer
        for i in range(j + 1):
            x = load_rows(work, row, driven_dof(system, i))
            store(work, factor + j * d + i, x)
    if not cholesky(work, factor, d) and status == OK:
        status = failure(LOOP_OPEN, 0)
    return status


@shared_routine
def reach(work, system, wanted, rows, forces):
    """rows ← rows + S·E*·u so that driven ones have the values wanted; u, into `forces`."""
    d, columns, factor, u = scratch_of_drives(system.model)
    clear(size_of(work, forces), start_of(forces))
    for j in range(d):
        dof = driven_dof(system, j)
        store(work, u + j, load_rows(work, wanted, dof) - load_rows(work, rows, dof))
    solve_lower(work, factor, d, u, 1)
    solve_upper(work, factor, d, u)
    for j in range(d):
        row, force = _column(work, system, columns, j), load(work, u + j)
        store_rows(work, forces, driven_dof(system, j), force)
        for i in range(velocity_count(system.model)):
            store_rows(work, rows, i, fma(force, load_rows(work, row, i), load_rows(work, rows, i)))
    for j in range(d):  # exactly, whatever rounding has done
        dof = driven_dof(system, j)
        store_rows(work, rows, dof, load_rows(work, wanted, dof))


@helper
def evaluate_driven_looped(work, system, t, state, rates):
    """rates = ẏ at time t, of a state that `follow_closed` has left; TAU has what drives add."""
    given, tau, drive = table(system, GIVEN), table(system, TAU), table(system, DRIVE)
    first = evaluate_looped(work, system, t, state, rates)
    second = solve_for_drives(work, system)
    for m in range(system.codes[MOTIONS]):
        accelerations_of(work, system, motion_record(system, m), t, given)
    reach(work, system, given, rates, drive)
    done = rates.stride - 1
    total = load_rows(work, rates, done)
    for i in range(velocity_count(system.model)):
        force = load_rows(work, drive, i)
        store_rows(work, tau, i, load_rows(work, tau, i) + force)
        total = fma(force, load_rows(work, state.y, i), total)
    store_rows(work, rates, done, total)
    return first if first != OK else second
