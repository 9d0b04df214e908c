"""Contact points of an implicit step: moved along, measured, and what they leave behind at its end.

The force of a step is that of the law where it ends: rows of a log, which are evaluated from q, v
and bristles, show it again but for the lag of F and for how normals turn within a step.
"""

from __future__ import annotations

from skodyn.jit import helper, routine
from skodyn.kernels.contact.contact_geometry import number
from skodyn.kernels.contact.contact_law import across, damping_of, twisted
from skodyn.kernels.contact.implicit_law import (
    POINT,
    give_limit,
    impulse_of,
    keep_response,
    normal_response,
    prepare_point,
    respond,
    stiffness_of,
    turning_lengths,
)
from skodyn.kernels.contact.implicit_sweep import choose6, point_record, point_slot
from skodyn.kernels.rows import store_row3
from skodyn.kernels.tuples import load3, load6, store6
from skodyn.lanes import absolute, any_lane, fma, load, select, splat, sqrt
from skodyn.model.contact import contact_layout as its
from skodyn.spatial.articulated import apply_articulated
from skodyn.spatial.linear3 import add_scaled, dot, scale
from skodyn.spatial.motion import add_scaled_spatial, dot_spatial, subtract_spatial

__all__ = [
    "advance_points",
    "end_points",
    "impulses_along",
    "keep_responses",
    "largest",
    "measure_points",
    "prepare_points",
    "renew_limits",
    "retreat_points",
]

SMALL_SHARE = 1e-4
"""Of stiffness times speed, what counts as an impulse when residuals are judged: far above rounding
and far below what moves anything."""


@helper
def largest(a, b):
    return select(b > a, b, a)


@helper
def largest3(a):
    return largest(largest(absolute(a[0]), absolute(a[1])), absolute(a[2]))


@helper
def point_count(places):
    return places.contacts.codes[its.POINTS] if places.points >= 0 else 0


@helper
def prepare_points(work, model, places, bristles, h):
    for p in range(point_count(places)):
        prepare_point(
            work, model, places.contacts, point_record(p), point_slot(places, p), bristles, h
        )


@routine
def keep_responses(work, places, h):
    for p in range(point_count(places)):
        keep_response(work, places.contacts, point_record(p), point_slot(places, p), h)


@helper
def advance_points(work, places, done):
    """Go where Newton's step leads, NEXT keeping where one came from; Σ Δ*GΔ."""
    total = splat(work, 0.0)
    for p in range(point_count(places)):
        slot, at = point_slot(places, p), point_record(p)
        here = load6(work, slot + POINT.MOTION)
        there = choose6(done, here, load6(work, slot + POINT.NEXT))
        way = subtract_spatial(there, here)
        stiff = load(work, slot + POINT.ALONG) + load(work, slot + POINT.ACROSS) > 0.0
        impulse = load6(work, slot + POINT.IMPULSE)
        expected = impulse
        if any_lane(stiff):
            change = apply_articulated(stiffness_of(work, places.contacts, at, slot), way)
            total = select(stiff, total + dot_spatial(change, way), total)
            expected = choose6(stiff, subtract_spatial(impulse, change), impulse)
        store6(work, slot + POINT.EXPECTED, expected)
        store6(work, slot + POINT.MOTION, there)
        store6(work, slot + POINT.NEXT, here)
    return total


@helper
def retreat_points(work, places, share, shorter):
    """Go only a share of the way, in the lanes where it is to be shorter."""
    for p in range(point_count(places)):
        slot = point_slot(places, p)
        old, there = load6(work, slot + POINT.NEXT), load6(work, slot + POINT.MOTION)
        partly = add_scaled_spatial(old, share, subtract_spatial(there, old))
        store6(work, slot + POINT.MOTION, choose6(shorter, partly, there))


@helper
def impulses_along(work, places, h, share):
    """Σ γ·Δ at a share of the way."""
    total = splat(work, 0.0)
    for p in range(point_count(places)):
        slot, at = point_slot(places, p), point_record(p)
        old = load6(work, slot + POINT.NEXT)
        way = subtract_spatial(load6(work, slot + POINT.MOTION), old)
        answer = respond(work, places.contacts, at, slot, h, add_scaled_spatial(old, share, way))
        total = total + dot_spatial(impulse_of(work, places.contacts, at, slot, answer), way)
    return total


@helper
def measure_points(work, places, weight):
    """(slope of the cost at the end of the way, Σ γ·Δ there, largest residual over its scale).

    weight: the largest load of a body that is touched, an impulse to compare residuals with.
    """
    slope, along, rest, size = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0), weight
    for p in range(point_count(places)):
        slot, at = point_slot(places, p), point_record(p)
        impulse, motion = load6(work, slot + POINT.IMPULSE), load6(work, slot + POINT.MOTION)
        way = subtract_spatial(motion, load6(work, slot + POINT.NEXT))
        off = subtract_spatial(load6(work, slot + POINT.EXPECTED), impulse)
        slope = slope + dot_spatial(off, way)
        along = along + dot_spatial(impulse, way)
        stiff = load(work, slot + POINT.ALONG) + load(work, slot + POINT.ACROSS)
        small = SMALL_SHARE * stiff * largest3(motion[1])
        size = largest(size, largest3(impulse[1]) + small)
        rest = largest(rest, largest3(off[1]))
        if places.contacts.codes[at + its.TURNS] > 0:
            torsion, rolling = turning_lengths(work, places.contacts, at)
            arm = largest(torsion, rolling)
            arm = select(arm > 0.0, arm, splat(work, 1.0))
            rest = largest(rest, largest3(off[0]) / arm)
    return slope, along, rest / select(size > 0.0, size, splat(work, 1.0))


@helper
def renew_limits(work, places, h, where):
    """F of the normal force that was found."""
    for p in range(point_count(places)):
        slot, at = point_slot(places, p), point_record(p)
        if places.contacts.codes[at + its.BRISTLE] >= 0:
            speed = dot(load3(work, slot + POINT.NORMAL), load3(work, slot + POINT.MOTION + 3))
            gamma, _ = normal_response(
                work, places.contacts, at, load(work, slot + POINT.DEPTH), h, speed
            )
            give_limit(work, places.contacts, at, slot, gamma / h, where)


@helper
def elastic_at(work, contacts, at, x):
    """k·x^(p + 1)/(p + 1) of a depth, zero apart."""
    x = select(x > 0.0, x, splat(work, 0.0))
    k = number(work, contacts, contacts.codes[at + its.LAW_AT] + its.STIFFNESS)
    if contacts.codes[at + its.HERTZ] > 0:
        return 0.4 * k * x * x * sqrt(x)
    return 0.5 * k * x * x


@helper
def relaxed(work, contacts, at, s, gamma, h):
    """s⁺ = (s − h·f/d)/(1 + h·kt/d)."""
    law = contacts.codes[at + its.LAW_AT]
    d, kt = damping_of(work, contacts, law), number(work, contacts, law + its.TANGENTIAL)
    return scale(1.0 / fma(kt, h, d), add_scaled(scale(d, s), splat(work, -1.0), gamma))


@helper
def end_bristle(work, contacts, at, slot, answer, bristles, h):
    """Write the bristles of the end; (work of friction, what is lost of it)."""
    n, motion = load3(work, slot + POINT.NORMAL), load6(work, slot + POINT.MOTION)
    own = contacts.codes[at + its.BRISTLE]
    kt = number(work, contacts, contacts.codes[at + its.LAW_AT] + its.TANGENTIAL)
    s = load3(work, slot + POINT.BENT + 3)
    after = relaxed(work, contacts, at, s, answer.force, h)
    done = dot(answer.force, across(n, motion[1]))
    square = dot(s, s) - dot(after, after)
    store_row3(work, bristles, own, after)
    if contacts.codes[at + its.TURNS] > 0:
        torsion, rolling = turning_lengths(work, contacts, at)
        zeta = load3(work, slot + POINT.BENT)
        after = relaxed(work, contacts, at, zeta, answer.twist, h)
        done = done + dot(answer.twist, twisted(work, n, motion[0], torsion, rolling))
        square = square + (dot(zeta, zeta) - dot(after, after))
        store_row3(work, bristles, own + 3, after)
    return done, fma(0.5 * kt, square, -done)


@helper
def end_points(work, places, bristles, h):
    """Write the bristles of the end; (work, loss) of all points in the step."""
    done, lost, zero = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0)
    for p in range(point_count(places)):
        slot, at = point_slot(places, p), point_record(p)
        contacts, motion = places.contacts, load6(work, slot + POINT.MOTION)
        answer = respond(work, contacts, at, slot, h, motion)
        depth, vn = load(work, slot + POINT.DEPTH), dot(load3(work, slot + POINT.NORMAL), motion[1])
        pushed = answer.along * vn
        loss = elastic_at(work, contacts, at, depth)
        loss = loss - elastic_at(work, contacts, at, fma(-h, vn, depth)) - pushed
        done, lost = done + pushed, lost + select(loss > 0.0, loss, zero)
        if contacts.codes[at + its.BRISTLE] >= 0:
            rubbed, loss = end_bristle(work, contacts, at, slot, answer, bristles, h)
            done, lost = done + rubbed, lost + select(loss > 0.0, loss, zero)
    return done, lost
