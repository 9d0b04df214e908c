"""The right-hand side with joints whose motion is prescribed in models with mimic joints.

Let w be the accelerations of all joints under everything but the drives, couplings included
(coupled_system.py). Forces u of the drives add X·u, whose column j is what one unit of force at
driven velocity j does to all joints under the couplings, an O(N) solve. Driven joints are to have
the accelerations a, so with E the rows of driven velocities

    (E·X)·u = a − E·w,      v̇ = w + X·u

and u is what the drives must give. A joint that follows a driven one follows it here as anywhere.
Scratch, in lanes, with d driven velocities: X (d rows of all joints), L of E·X (d²), u (d).
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.coupled_accelerations import answer_row, couple_accelerations
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.mass_matrix_solve import solve
from skodyn.kernels.mimics import behind_factors, full_dof, full_model, pick_rates
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import OK, SINGULAR, failure, first_trouble
from skodyn.lanes import fma, load, load_rows, splat, store, store_rows
from skodyn.simulation.forces import MOTIONS
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import size_of, start_of, table
from skodyn.simulation.systems.coupled_system import accelerate_coupled, act_coupled
from skodyn.simulation.systems.driven_motions import accelerations_of, driven_dofs, motion_record
from skodyn.simulation.systems.driven_system import state_there
from skodyn.simulation.systems.system import DRIVE, FULL_RATES, GIVEN, TAU


@helper
def driven_count(system):
    """d."""
    total = 0
    for m in range(system.codes[MOTIONS]):
        _, dofs = driven_dofs(system, motion_record(system, m))
        total += dofs
    return total


@helper
def driven_dof(system, j):
    """Driven velocity j among those of the state."""
    passed = 0
    for m in range(system.codes[MOTIONS]):
        first, dofs = driven_dofs(system, motion_record(system, m))
        if j < passed + dofs:
            return first + j - passed
        passed += dofs
    return -1


@helper
def places(system):
    """(d, lanes where X, L and u begin)."""
    d, answers = driven_count(system), behind_factors(system.model)
    factor = answers + d * velocity_count(full_model(system.model))
    return d, answers, factor, factor + d * d


@helper
def solve_for_drives(work, system):
    """X, and L of E·X; `accelerate_coupled` has left its factors in the workspace."""
    model, full = system.model, full_model(system.model)
    d, answers, factor, _ = places(system)
    status = OK
    for j in range(d):
        row = answer_row(work, full, answers, j)
        for i in range(velocity_count(full)):
            store_rows(work, row, i, splat(work, 0.0))
        store_rows(work, row, full_dof(model, driven_dof(system, j)), splat(work, 1.0))
        first = solve(work, full, row, row)
        second = couple_accelerations(work, model, row)
        status = first_trouble(status, first, second)
        for i in range(j + 1):
            x = load_rows(work, row, full_dof(model, driven_dof(system, i)))
            store(work, factor + j * d + i, x)
    if not cholesky(work, factor, d) and status == OK:
        status = failure(SINGULAR, 0)
    return status


@helper
def add_drives(work, system, t, y, rates):
    """u, and all accelerations; the power of the drives."""
    model, given, tau = system.model, table(system, GIVEN), table(system, TAU)
    drive, every = table(system, DRIVE), table(system, FULL_RATES)
    d, answers, factor, u = places(system)
    clear(size_of(work, drive), start_of(drive))
    for m in range(system.codes[MOTIONS]):
        accelerations_of(work, system, motion_record(system, m), t, given)
    for j in range(d):
        dof = driven_dof(system, j)
        missing = load_rows(work, given, dof) - load_rows(work, every, full_dof(model, dof))
        store(work, u + j, missing)
    solve_lower(work, factor, d, u, 1)
    solve_upper(work, factor, d, u)
    total = splat(work, 0.0)
    for j in range(d):
        row, force = answer_row(work, full_model(model), answers, j), load(work, u + j)
        for i in range(velocity_count(full_model(model))):
            moved = fma(force, load_rows(work, row, i), load_rows(work, every, i))
            store_rows(work, every, i, moved)
        dof = driven_dof(system, j)
        store_rows(work, drive, dof, force)
        store_rows(work, tau, dof, load_rows(work, tau, dof) + force)
        total = fma(force, load_rows(work, y, dof), total)
    pick_rates(work, model, every, rates)
    for j in range(d):  # exactly, whatever rounding has done
        dof = driven_dof(system, j)
        store_rows(work, rates, dof, load_rows(work, given, dof))
    return total


@helper
def evaluate_driven_coupled(work, system, t, state, rates):
    """rates = ẏ at time t; TAU has what drives add, too."""
    there = state_there(work, system, t, state)
    placed = act_coupled(work, system, t, there, rates)
    first = accelerate_coupled(work, system, system.model, rates)
    second = solve_for_drives(work, system)
    added, done = add_drives(work, system, t, there.y, rates), rates.stride - 1
    store_rows(work, rates, done, load_rows(work, rates, done) + added)
    return first_trouble(placed, first, second)
