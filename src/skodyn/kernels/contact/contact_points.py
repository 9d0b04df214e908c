"""Everything about one contact point at a state: geometry, law, and where nothing touches.

Lanes whose shapes are apart are selected out of every sum, not multiplied by zero, so that a point
nobody touches can be passed over and nothing changes a bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.contact.contact_geometry import choose3, spin_of, touch, velocity_at
from skodyn.kernels.contact.contact_law import (
    bristle_law,
    elastic_energy,
    normal_law,
    relax,
    stored_in,
)
from skodyn.kernels.rows import row3
from skodyn.lanes import all_lanes, any_lane, select, splat
from skodyn.model.contact import contact_layout as its
from skodyn.spatial.linear3 import add_scaled, dot, scale, subtract

__all__ = ["Met", "meet"]


class Met(NamedTuple):
    """What a contact point does, on a; zero where nothing touches."""

    touched: Any  # gap, normal, point
    closed: Any  # mask: does it touch?
    speed: Any  # n·v, at which the gap opens
    velocity: Any  # of a relative to b, at the point
    force: Any
    moment: Any
    rate: Any  # of the bristle
    turn_rate: Any  # of the bristle of rotation
    power: Any  # of force and moment on both bodies together
    loss: Any
    share: Any  # r: 1 sticks, less slips


@helper
def bristles_at(work, contacts, at, bristles):
    """(s, ζ) of a point; zero where it has none."""
    zero = splat(work, 0.0)
    none = (zero, zero, zero)
    first = contacts.codes[at + its.BRISTLE]
    if first < 0:
        return none, none
    s = row3(work, bristles, first)
    return s, row3(work, bristles, first + 3) if contacts.codes[at + its.TURNS] > 0 else none


@helper
def at_rest(work, contacts, at, pair):
    """(rates of both bristles, loss) where nothing touches."""
    s, zeta = pair
    if contacts.codes[at + its.BRISTLE] < 0:
        return s, zeta, splat(work, 0.0)
    rate, lost = relax(work, contacts, at, s)
    if contacts.codes[at + its.TURNS] > 0:
        turn_rate, more = relax(work, contacts, at, zeta)
        return rate, turn_rate, lost + more
    return rate, zeta, lost


@helper
def meet(work, model, contacts, at, bristles):
    """The point whose record is at `at`, with poses and velocities in the workspace."""
    touched = touch(work, model, contacts, at)
    closed = touched.gap < 0.0
    pair = bristles_at(work, contacts, at, bristles)
    zero = splat(work, 0.0)
    rate, turn_rate, loss = pair[0], pair[1], zero
    if not all_lanes(closed):  # else no lane takes it
        rate, turn_rate, loss = at_rest(work, contacts, at, pair)
    none = (zero, zero, zero)
    a, b = contacts.codes[at + its.BODY_A], contacts.codes[at + its.BODY_B]
    x = touched.point
    v = velocity_at(work, model, a, x)
    if b >= 0:
        v = subtract(v, velocity_at(work, model, b, x))
    speed = dot(touched.normal, v)
    share = splat(work, 1.0)
    if not any_lane(closed):
        return Met(
            touched, closed, speed, v, none, none, rate, turn_rate, zero, loss, share
        )  # fmt: skip
    pushed = normal_law(work, contacts, at, touched.gap, speed)
    force, moment = scale(pushed.force, touched.normal), none
    power, lost = pushed.force * speed, pushed.loss
    if contacts.codes[at + its.BRISTLE] >= 0:
        omega = spin_of(work, a)
        if b >= 0:
            omega = subtract(omega, spin_of(work, b))
        held = bristle_law(work, contacts, at, touched, (v, omega), pair, pushed.force)
        force = add_scaled(held.force, pushed.force, touched.normal)
        rate = choose3(closed, held.rate, rate)
        lost = lost + held.loss
        power = power + dot(held.force, v)
        share = select(closed, held.share, share)
        if contacts.codes[at + its.TURNS] > 0:
            moment = choose3(closed, held.moment, none)
            turn_rate = choose3(closed, held.turn_rate, turn_rate)
            power = power + dot(held.moment, omega)
    return Met(
        touched,
        closed,
        speed,
        v,
        choose3(closed, force, none),
        moment,
        rate,
        turn_rate,
        select(closed, power, zero),
        select(closed, lost, loss),
        share,
    )


@helper
def stored_at(work, contacts, at, met, bristles):
    """The energy that a point holds: elastic, and of its bristles."""
    zero = splat(work, 0.0)
    pushed = normal_law(work, contacts, at, met.touched.gap, met.speed)
    elastic = elastic_energy(work, contacts, at, met.touched.gap, pushed.elastic)
    energy = select(met.closed, elastic, zero)
    if contacts.codes[at + its.BRISTLE] >= 0:
        s, zeta = bristles_at(work, contacts, at, bristles)
        energy = energy + stored_in(work, contacts, at, s)
        if contacts.codes[at + its.TURNS] > 0:
            energy = energy + stored_in(work, contacts, at, zeta)
    return energy
