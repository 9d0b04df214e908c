"""Contacts in the right-hand side: forces on bodies, rates of bristles, work and loss.

Parts of their own call this (touching_system.py, or as an element among others): who has no contact
neither compiles it nor pays for it. Behind y's velocities and
the integrals of controllers lie the bristles of all points, then the work that contacts have done
on bodies and what they have lost; the work of all forces stays last.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.contact.contact_geometry import choose3, origin_of
from skodyn.kernels.contact.contact_points import meet
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.rows import row3, store_row3
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load6, store3, store6
from skodyn.lanes import Rows, all_lanes, any_lane, shift_pointer, splat, store_rows
from skodyn.model.contact import contact_layout as its
from skodyn.model.contact.contact_layout import PackedContacts
from skodyn.simulation.forces import FIRST, INTEGRAL
from skodyn.spatial.linear3 import add, add_cross, negate, subtract

__all__ = ["apply_contacts", "contact_tables", "push_lanes", "sum_contacts"]


@helper
def push_rows(work, f_ext, k, closed, torque, force):
    """Add a force and its torque about the origin of body k to rows, in the lanes that touch."""
    turned, pulled = row3(work, f_ext, 6 * k), row3(work, f_ext, 6 * k + 3)
    store_row3(work, f_ext, 6 * k, choose3(closed, add(turned, torque), turned))
    store_row3(work, f_ext, 6 * k + 3, choose3(closed, add(pulled, force), pulled))


@helper
def push_lanes(work, forces, k, closed, torque, force):
    """The same to lanes. Where all touch, by a branch: masked stores are slow on some machines."""
    turned, pulled = load6(forces, 6 * k)
    if all_lanes(closed):
        store6(forces, 6 * k, (add(turned, torque), add(pulled, force)))
    else:
        store3(forces, 6 * k, choose3(closed, add(turned, torque), turned))
        store3(forces, 6 * k + 3, choose3(closed, add(pulled, force), pulled))


@helper
def push_both(push, work, model, contacts, record, met, forces):
    """The force of a point on a, the opposite on b."""
    a, b = contacts.codes[record + its.BODY_A], contacts.codes[record + its.BODY_B]
    if a >= 0:
        arm = subtract(met.touched.point, origin_of(work, model, a))
        push(work, forces, a, met.closed, add_cross(met.moment, arm, met.force), met.force)
    if b >= 0:
        arm, force = subtract(met.touched.point, origin_of(work, model, b)), negate(met.force)
        push(work, forces, b, met.closed, add_cross(negate(met.moment), arm, force), force)


@helper
def sum_contacts(push, work, model, contacts, tables, forces):
    """All contact points in turn: their forces, and the rates of bristles; returns (power, loss).

    tables: rows of bristles and of their rates; forces: what `push` adds to.
    """
    bristles, bristle_rates = tables
    done, lost = splat(work, 0.0), splat(work, 0.0)
    for p in range(contacts.codes[its.POINTS]):
        record = its.CONTACT_HEADER + its.CONTACT_RECORD * p
        met = meet(work, model, contacts, record, bristles)
        if any_lane(met.closed):
            push_both(push, work, model, contacts, record, met, forces)
            done = done + met.power
        lost = lost + met.loss
        own = contacts.codes[record + its.BRISTLE]
        if own >= 0:
            store_row3(work, bristle_rates, own, met.rate)
            if contacts.codes[record + its.TURNS] > 0:
                store_row3(work, bristle_rates, own + 3, met.turn_rate)
    count = contacts.codes[its.BRISTLES]
    store_rows(work, bristle_rates, count, done)
    store_rows(work, bristle_rates, count + 1, lost)
    return done


@helper
def contact_tables(system, at, state, rates):
    """(tables of contacts, rows of bristles and of their rates) of the element at `at`."""
    model = full_model(system.model)
    contacts = PackedContacts(shift_pointer(system.codes, system.codes[at + FIRST]), system.numbers)
    first = velocity_count(model) + system.codes[at + INTEGRAL]
    y = state.y
    return contacts, (
        Rows(y.data, y.first + first, y.stride),
        Rows(rates.data, rates.first + first, rates.stride),
    )


@helper
def apply_contacts(work, system, at, t, state, effects):
    """As an element among others; the state and the effects are those of every joint."""
    contacts, tables = contact_tables(system, at, state, effects.rates)
    model = full_model(system.model)
    sum_contacts(push_rows, work, model, contacts, tables, effects.f_ext)
    return OK
