"""The right-hand side with mimic joints.

The state has none of them, but forces may act on them: everything is evaluated for the full tree
(kernels/mimics.py), folded into the state's own, and the accelerations of the full tree are made to
follow (kernels/coupled_accelerations.py).
"""

from __future__ import annotations

from skodyn.jit import helper, shared_routine
from skodyn.kernels.coupled_accelerations import couple_accelerations, factor_couplings
from skodyn.kernels.mimics import (
    expand_coordinates,
    expand_rates,
    fold_forces,
    full_model,
    pick_rates,
    spread_forces,
)
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import OK, first_trouble
from skodyn.lanes import load_rows, store_rows
from skodyn.simulation.structures import Effects, State, table
from skodyn.simulation.systems.system import (
    FULL_Q,
    FULL_RATES,
    FULL_TAU,
    FULL_Y,
    GRAVITY,
    TAU,
    accelerate_apart,
    apply_forces,
    control,
    forces_on_bodies,
    power,
)


@helper
def copy_integrals(work, model, out, full, given):
    """What a row of y holds behind its velocities, from the state's to every joint's."""
    nv, nv_full = velocity_count(model), velocity_count(full)
    for i in range(given.stride - nv):
        store_rows(work, out, nv_full + i, load_rows(work, given, nv + i))


@helper
def take_integrals(work, model, out, full, given):
    """And back."""
    nv, nv_full = velocity_count(model), velocity_count(full)
    for i in range(out.stride - nv):
        store_rows(work, out, nv + i, load_rows(work, given, nv_full + i))


@helper
def expand_state(work, system, state):
    """FULL_Q and FULL_Y: where every joint is and how it moves, and the integrals of the state."""
    model, full = system.model, full_model(system.model)
    every = State(table(system, FULL_Q), table(system, FULL_Y))
    expand_coordinates(work, model, state.q, every.q)
    expand_rates(work, model, state.y, every.y)
    copy_integrals(work, model, every.y, full, state.y)
    return OK


@helper
def evaluate_coupled(work, system, t, state, rates):
    """rates = ẏ at time t."""
    placed = act_coupled(work, system, t, state, rates)
    status = accelerate_coupled(work, system, system.model, rates)
    return placed if placed != OK else status


@shared_routine
def act_coupled(work, system, t, state, rates):
    """All forces of a state, folded into its own and spread into FULL_TAU; rates of integrals."""
    model, full = system.model, full_model(system.model)
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    every = State(table(system, FULL_Q), table(system, FULL_Y))
    full_tau, full_rates = table(system, FULL_TAU), table(system, FULL_RATES)
    expand_state(work, system, state)
    effects = Effects(full_tau, full_rates, table(system, GRAVITY), f_ext)
    placed = apply_forces(work, system, t, every, effects)
    fold_forces(work, model, full_tau)
    pick_rates(work, model, full_tau, tau)
    take_integrals(work, model, rates, full, full_rates)
    control(work, system, t, state, rates, tau)
    work_done = rates.stride - 1
    store_rows(work, rates, work_done, power(work, model, state.y, tau, f_ext))
    spread_forces(work, model, tau, full_tau)
    return placed


@helper
def accelerate_coupled(work, system, model, rates):
    """v̇ under FULL_TAU and F_EXT where `act_coupled` has been; the model has the system's tree."""
    every, full_rates = (
        State(table(system, FULL_Q), table(system, FULL_Y)),
        table(system, FULL_RATES),
    )
    full, f_ext = full_model(model), forces_on_bodies(system)
    first = accelerate_apart(work, full, every, table(system, FULL_TAU), f_ext, full_rates)
    second = factor_couplings(work, model)
    third = couple_accelerations(work, model, full_rates)
    pick_rates(work, model, full_rates, rates)
    return first_trouble(first, second, third)
