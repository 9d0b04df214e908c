"""What implicit_contact does otherwise where joints follow others: a part of its own.

The step is that of the full tree, whose state lies in tables of its own (coupled_system.py); in the
end, what the state has of it is picked.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.contact.implicit_mimics import backsubstitute_coupled, sweep_coupled
from skodyn.kernels.contact.implicit_pairs import correct_for_pairs
from skodyn.kernels.mimics import full_dof, full_model, pick_rates
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import OK
from skodyn.lanes import load_rows, store_rows
from skodyn.simulation.contact.implicit_newton import ACT, END, EXPAND, SWEEP
from skodyn.simulation.steppers.implicit_contact import FULL_END, RATES, implicit_codes, places_of
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import size_of, start_of, table
from skodyn.simulation.systems.coupled_system import copy_integrals, expand_state, take_integrals
from skodyn.simulation.systems.system import FULL_RATES, FULL_TAU, TAU, control


@helper
def newton_coupled(work, system, t, h, state, what):
    """EXPAND the state, let controllers ACT, one Newton step, or END: pick what the state has."""
    if what == EXPAND:
        return expand_state(work, system, state)
    if what == ACT:
        act_on_state(work, system, t, state)
        return OK
    if what == END:
        full_y = table(system, FULL_END)
        pick_rates(work, system.model, full_y, state.y)
        take_integrals(work, system.model, state.y, full_model(system.model), full_y)
        return OK
    if what == SWEEP:
        places = places_of(system, implicit_codes(system))
        status = sweep_coupled(work, full_model(system.model), places)
        if status == OK and places.n_pairs > 0:
            correct_for_pairs(backsubstitute_coupled, work, full_model(system.model), places)
        return status
    return OK


@helper
def act_on_state(work, system, t, state):
    """Controllers see the state as it is, without joints that follow."""
    model, full = system.model, full_model(system.model)
    tau, rates = table(system, TAU), table(system, RATES)
    full_tau, full_rates = table(system, FULL_TAU), table(system, FULL_RATES)
    clear(size_of(work, tau), start_of(tau))
    take_integrals(work, model, rates, full, full_rates)
    control(work, system, t, state, rates, tau)
    copy_integrals(work, model, full_rates, full, rates)
    for i in range(velocity_count(model)):
        dof = full_dof(model, i)
        push = load_rows(work, full_tau, dof) + load_rows(work, tau, i)
        store_rows(work, full_tau, dof, push)
