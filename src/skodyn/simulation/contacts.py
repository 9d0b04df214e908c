"""Contacts in the right-hand side: forces on bodies, rates of bristles, work and loss.

A part of its own: who has no contact neither compiles it nor pays for it. Behind y's velocities and
the integrals of controllers lie the bristles of all points, then the work that contacts have done
on bodies and what they have lost; the work of all forces stays last.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.contact_geometry import choose3, origin_of
from skodyn.kernels.contact_points import meet
from skodyn.kernels.mimics import full_model
from skodyn.kernels.status import OK
from skodyn.kernels.workspace import row3, store_row3, velocity_count
from skodyn.lanes import Rows, any_lane, shift_pointer, splat, store_rows
from skodyn.model.contact_layout import (
    BODY_A,
    BODY_B,
    BRISTLE,
    BRISTLES,
    CONTACT_HEADER,
    CONTACT_RECORD,
    POINTS,
    TURNS,
    PackedContacts,
)
from skodyn.simulation.forces import FIRST, INTEGRAL
from skodyn.simulation.parts import element_part
from skodyn.spatial.linear3 import add, add_cross, negate, subtract

__all__ = ["CONTACTS"]


@helper
def push(work, model, f_ext, k, met, force, moment):
    """Add a force at the point of contact to body k, in the lanes that touch."""
    if k >= 0:
        arm = subtract(met.touched.point, origin_of(work, model, k))
        torque, pull = row3(work, f_ext, 6 * k), row3(work, f_ext, 6 * k + 3)
        turned = add(torque, add_cross(moment, arm, force))
        store_row3(work, f_ext, 6 * k, choose3(met.closed, turned, torque))
        store_row3(work, f_ext, 6 * k + 3, choose3(met.closed, add(pull, force), pull))


@helper
def apply_contacts(work, system, at, t, state, effects):
    """All contact points in turn; the state and the effects are those of every joint."""
    model = full_model(system.model)
    contacts = PackedContacts(shift_pointer(system.codes, system.codes[at + FIRST]), system.numbers)
    first = velocity_count(model) + system.codes[at + INTEGRAL]
    y, rates = state.y, effects.rates
    bristles = Rows(y.data, y.first + first, y.stride)
    bristle_rates = Rows(rates.data, rates.first + first, rates.stride)
    done, lost = splat(work, 0.0), splat(work, 0.0)
    for p in range(contacts.codes[POINTS]):
        record = CONTACT_HEADER + CONTACT_RECORD * p
        met = meet(work, model, contacts, record, bristles)
        if any_lane(met.closed):
            a, b = contacts.codes[record + BODY_A], contacts.codes[record + BODY_B]
            push(work, model, effects.f_ext, a, met, met.force, met.moment)
            push(work, model, effects.f_ext, b, met, negate(met.force), negate(met.moment))
            done = done + met.power
        lost = lost + met.loss
        own = contacts.codes[record + BRISTLE]
        if own >= 0:
            store_row3(work, bristle_rates, own, met.rate)
            if contacts.codes[record + TURNS] > 0:
                store_row3(work, bristle_rates, own + 3, met.turn_rate)
    count = contacts.codes[BRISTLES]
    store_rows(work, bristle_rates, count, done)
    store_rows(work, bristle_rates, count + 1, lost)
    return OK


CONTACTS = element_part(apply_contacts)
