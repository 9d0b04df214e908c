"""What metrics see of contact points: the size of the force, the gap, the slip speed.

A part of its own for runs side by side, and the same of rows that a run alone has left: the
operations are the same, so are the bits.
"""

from __future__ import annotations

import numpy as np

from skodyn.dynamics.contact_functions import forces_of
from skodyn.jit import COUNT, helper, shared_routine
from skodyn.kernels.contact.contact_law import across
from skodyn.kernels.contact.contact_points import meet
from skodyn.kernels.forward_kinematics import scatter_positions, scatter_velocities
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import velocity_count
from skodyn.lanes import Rows, parts_of, select, shift_pointer, splat, sqrt, store_rows
from skodyn.model.contact import contact_layout as its
from skodyn.model.contact.contact_layout import PackedContacts
from skodyn.model.contact.contact_tables import ContactTables
from skodyn.simulation.forces import ACCOUNTS, INTEGRALS
from skodyn.simulation.structures import ROWS, STATE, SYSTEM
from skodyn.spatial.linear3 import dot
from skodyn.typing import Floats

__all__ = ["LOOKS", "LOOK_AT_CONTACTS", "looks_of"]

LOOKS = ("force", "gap", "slip")
"""Of each contact point, in this order."""


@helper
def slip_of(work, contacts, at, met):
    """The speed across the normal where shapes touch and friction does not hold."""
    speed, none = across(met.touched.normal, met.velocity), splat(work, 0.0)
    slip = sqrt(dot(speed, speed))
    if contacts.codes[at + its.BRISTLE] >= 0:
        slip = select(met.share < 1.0, slip, none)
    return select(met.closed, slip, none)


@shared_routine
def look_at_contacts(work, system, at, state, out):
    """LOOKS of every point; `at`: where the integers of contacts begin. The state is that of every
    joint."""
    model = full_model(system.model)
    contacts = PackedContacts(shift_pointer(system.codes, at), system.numbers)
    scatter_rates(work, model, state.q, state.y)
    scatter_positions(work, model)
    scatter_velocities(work, model, state.y)
    # bristles are the last of the integrals before the accounts
    integral = system.codes[INTEGRALS] - system.codes[ACCOUNTS] - contacts.codes[its.BRISTLES]
    first = state.y.first + velocity_count(model) + integral
    bristles = Rows(state.y.data, first, state.y.stride)
    for p in range(contacts.codes[its.POINTS]):
        record = its.CONTACT_HEADER + its.CONTACT_RECORD * p
        met = meet(work, model, contacts, record, bristles)
        x, y, z = met.force
        store_rows(work, out, 3 * p, sqrt(x * x + y * y + z * z))
        store_rows(work, out, 3 * p + 1, met.touched.gap)
        store_rows(work, out, 3 * p + 2, slip_of(work, contacts, record, met))
    return 0


LOOK_AT_CONTACTS = parts_of(look_at_contacts, SYSTEM, COUNT, STATE, ROWS)


def looks_of(tables: ContactTables, found: Floats) -> Floats:
    """(states, points, LOOKS) of what contact_states.py found."""
    forces = forces_of(tables, found)
    x, y, z = np.moveaxis(forces.force, -1, 0)
    slip = np.where(forces.sticks, 0.0, forces.slip_speed)
    return np.stack((np.sqrt(x * x + y * y + z * z), forces.gap, slip), axis=-1)
