"""The right-hand side with joints whose motion is prescribed, and their way into the state.

Forces see driven joints where they are at time t to the last digit, at every stage of a method:
they are put there in a copy of the state, so that the iteration of an implicit method is left
alone, and after each step in the state itself. Hybrid dynamics finds the accelerations of the
others and what the drives must add; their work counts with that of all other forces.
"""

from __future__ import annotations

from skodyn.jit import helper, kernel
from skodyn.kernels.hybrid_dynamics import gather_hybrid_residuals, scatter_unknowns
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import first_trouble
from skodyn.lanes import WIDTH_1, Rows, fma, load_rows, pointer, splat, store_rows
from skodyn.model.layout import NQ
from skodyn.simulation.fixed_step import extended_size
from skodyn.simulation.forces import MOTIONS
from skodyn.simulation.steppers.tables import clear, copy
from skodyn.simulation.structures import SYSTEM_ARRAYS, State, opened, size_of, start_of, table
from skodyn.simulation.systems.driven_motions import (
    accelerations_of,
    driven_dofs,
    follow_motions,
    motion_record,
)
from skodyn.simulation.systems.looped_system import ONE_STATE
from skodyn.simulation.systems.system import (
    DRIVE,
    DRIVEN_Q,
    DRIVEN_Y,
    FOUND,
    GIVEN,
    TAU,
    act,
    forces_on_bodies,
)


@helper
def give_accelerations(work, system, t, tau, given):
    """What hybrid dynamics is given: v̇ of driven joints, 𝒯 of the others."""
    for i in range(velocity_count(system.model)):
        store_rows(work, given, i, load_rows(work, tau, i))
    for m in range(system.codes[MOTIONS]):
        accelerations_of(work, system, motion_record(system, m), t, given)


@helper
def charge_drives(work, system, y, tau, found):
    """What the drives add, into DRIVE and 𝒯; their power."""
    nv, drive, total = velocity_count(system.model), table(system, DRIVE), splat(work, 0.0)
    clear(size_of(work, drive), start_of(drive))
    for m in range(system.codes[MOTIONS]):
        first, dofs = driven_dofs(system, motion_record(system, m))
        for dof in range(first, first + dofs):
            needed = load_rows(work, found, nv + dof)
            added = needed - load_rows(work, tau, dof)
            store_rows(work, drive, dof, added)
            store_rows(work, tau, dof, needed)
            total = fma(added, load_rows(work, y, dof), total)
    return total


@helper
def state_there(work, system, t, state):
    """A copy of the state with driven joints where they are at time t."""
    there = State(table(system, DRIVEN_Q), table(system, DRIVEN_Y))
    copy(size_of(work, state.q), start_of(there.q), start_of(state.q))
    copy(size_of(work, state.y), start_of(there.y), start_of(state.y))
    follow_motions(work, system, t, there)
    return there


@helper
def evaluate_driven(work, system, t, state, rates):
    """rates = ẏ at time t; TAU has what drives add, too."""
    model, there = system.model, state_there(work, system, t, state)
    placed = act(work, system, t, there, rates)
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    given, found = table(system, GIVEN), table(system, FOUND)
    give_accelerations(work, system, t, tau, given)
    first = placed if f_ext.stride > 0 else scatter_rates(work, model, there.q, there.y)
    second = gather_hybrid_residuals(work, model, given, f_ext)
    third = scatter_unknowns(work, model, given, found)
    for i in range(velocity_count(model)):
        store_rows(work, rates, i, load_rows(work, found, i))
    added, done = charge_drives(work, system, there.y, tau, found), rates.stride - 1
    store_rows(work, rates, done, load_rows(work, rates, done) + added)
    return first_trouble(first, second, third)


@kernel(SYSTEM_ARRAYS, ONE_STATE)
def follow_start(arrays, given):
    """Put driven joints where a run begins."""
    work, system = opened(WIDTH_1, arrays)
    nq, ny = system.model.tree[NQ], extended_size(system)
    state = State(Rows(pointer(given.q), 0, nq), Rows(pointer(given.y), 0, ny))
    return follow_motions(work, system, 0.0, state)
