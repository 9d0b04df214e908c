"""The right-hand side of a tree of which contacts, and nothing else, push the bodies.

The same equations as system.py in fewer passes: kinematics once, forces on bodies in lanes, free
roots solved at once (kernels/pushed_dynamics.py), and the work of contacts taken from the contacts.
Mimic joints, loops, prescribed motions and other forces on bodies take contacts as an element among
others.
"""

from __future__ import annotations

from skodyn.jit import call_part, helper
from skodyn.kernels.entries import is_given
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.pushed_dynamics import (
    gather_pushed_residuals,
    scatter_motion,
    scatter_pushed_accelerations,
)
from skodyn.kernels.status import first_trouble
from skodyn.lanes import Rows, Work, fma, load_rows, splat, store_rows
from skodyn.simulation.contact.contacts import contact_tables, push_lanes, sum_contacts
from skodyn.simulation.element_forces import each_element
from skodyn.simulation.forces import (
    CODES_HEADER,
    CODES_RECORD,
    CONTROLLERS,
    ELEMENTS,
    FIXMAN,
    GRAVITY_COMPENSATED,
    PASSIVE,
    passive_torques,
)
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import (
    FIXMAN_PART,
    GRAVITY_PART,
    Effects,
    size_of,
    start_of,
    table,
)
from skodyn.simulation.systems.system import F_EXT, GRAVITY, TAU, control

__all__ = ["evaluate_touching"]


@helper
def act_on_joints(work, system, t, state, effects):
    """Generalised forces of everything but contacts and controllers."""
    if system.codes[PASSIVE] > 0:
        passive_torques(work, system, state, effects.tau)
    else:
        clear(size_of(work, effects.tau), start_of(effects.tau))
    if system.codes[FIXMAN] > 0:
        call_part(system.parts[FIXMAN_PART], work, system, state.q, effects.tau)
    if system.codes[GRAVITY_COMPENSATED] > 0:
        call_part(system.parts[GRAVITY_PART], work, system, state.q, effects.gravity)
    each_element(work, system, system.codes[ELEMENTS] - 1, t, state, effects)


@helper
def joints_are_driven(system):
    """Is there any generalised force? Contacts are the last element."""
    codes = system.codes
    passive = codes[PASSIVE] > 0 or codes[FIXMAN] > 0
    return passive or codes[ELEMENTS] > 1 or codes[CONTROLLERS] > 0


@helper
def power_on_joints(work, model, y, tau):
    total = splat(work, 0.0)
    if is_given(tau):
        for i in range(velocity_count(model)):
            total = fma(load_rows(work, y, i), load_rows(work, tau, i), total)
    return total


@helper
def evaluate_touching(work, system, t, state, rates):
    """rates = ẏ at time t."""
    model, tau, pushed = system.model, table(system, TAU), table(system, F_EXT)
    if joints_are_driven(system):
        act_on_joints(work, system, t, state, Effects(tau, rates, table(system, GRAVITY), pushed))
        control(work, system, t, state, rates, tau)
    else:
        clear(size_of(work, tau), start_of(tau))
        tau = Rows(tau.data, tau.first, 0)  # free roots need not look
    clear(size_of(work, pushed), start_of(pushed))
    forces = Work(work.width, start_of(pushed))
    placed = scatter_motion(work, model, state.q, state.y)
    at = CODES_HEADER + CODES_RECORD * (system.codes[ELEMENTS] - 1)
    contacts, tables = contact_tables(system, at, state, rates)
    done = sum_contacts(push_lanes, work, model, contacts, tables, forces)
    work_done = rates.stride - 1
    store_rows(work, rates, work_done, done + power_on_joints(work, model, state.y, tau))
    second = gather_pushed_residuals(work, model, tau, forces, rates)
    return first_trouble(placed, second, scatter_pushed_accelerations(work, model, rates))
