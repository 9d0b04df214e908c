"""The law of contact: what two shapes that overlap do to each other (docs/contact.md, the law).

Normal force (Hunt and Crossley 1975), with depth δ and its rate δ̇:

    N = k·δᵖ·(1 + c·δ̇)₊,   p = 1 or 1.5

Friction by a bristle s, a spring and a damper behind a slider (Azad and Featherstone 2010):

    f* = −(kt·sₜ + d·vₜ),   f = f*·min(1, μN/|f*|),   ṡ = −(f + kt·s)/d + ωc × s

Torsion and rolling have a bristle of their own, ζ, with the relative rotation times a length in
place of vₜ; one limit holds for all of them together. What is lost is never negative:

    k·c·δᵖ·δ̇² (or −k·δᵖ·δ̇ where the force is cut)  +  d·|ṡ|²  +  r(1 − r)·|f*|²/d,  ṡ without ωc
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.contact.contact_geometry import number
from skodyn.lanes import any_lane, fma, select, splat, sqrt
from skodyn.model.contact import contact_layout as its
from skodyn.spatial.linear3 import add_cross, add_scaled, dot, negate, scale

__all__ = [
    "Bristle",
    "Push",
    "across",
    "bristle_law",
    "elastic_energy",
    "normal_law",
    "relax",
    "stored_in",
]


class Push(NamedTuple):
    """What the normal does: force, its elastic part, and what is lost."""

    force: Any
    elastic: Any
    loss: Any


class Bristle(NamedTuple):
    """What friction does: force and moment on a, rates of both bristles, loss, the share r."""

    force: Any
    moment: Any
    rate: Any
    turn_rate: Any
    loss: Any
    share: Any


@helper
def across(n, a):
    """The part of a across n."""
    return add_scaled(a, -dot(n, a), n)


@helper
def normal_law(work, contacts, at, gap, speed):
    """Normal force where the gap is negative; `speed` is n·v, at which the gap opens."""
    law = contacts.codes[at + its.LAW_AT]
    depth, rate = -gap, -speed
    zero = splat(work, 0.0)
    elastic = number(work, contacts, law + its.STIFFNESS) * depth
    if contacts.codes[at + its.HERTZ] > 0:
        elastic = elastic * sqrt(select(depth > 0.0, depth, zero))
    brake = fma(number(work, contacts, law + its.DISSIPATION), rate, splat(work, 1.0))
    force = elastic * select(brake > 0.0, brake, zero)
    return Push(force, elastic, (force - elastic) * rate)


@helper
def elastic_energy(work, contacts, at, gap, elastic):
    """k·δ^(p + 1)/(p + 1)."""
    return (0.4 if contacts.codes[at + its.HERTZ] > 0 else 0.5) * -(elastic * gap)


@helper
def friction_limit(work, contacts, law, slip, force):
    """μN with μ = μk + (μs − μk)/(1 + (v/vs)²)."""
    kinetic = number(work, contacts, law + its.FRICTION)
    vs = number(work, contacts, law + its.SLIP_SPEED)
    more = number(work, contacts, law + its.STATIC) - kinetic
    if any_lane(more > 0.0):  # adding 0 changes nothing
        return (kinetic + more / (1.0 + dot(slip, slip) / (vs * vs))) * force
    return kinetic * force


@helper
def damping_of(work, contacts, law):
    """d."""
    time = number(work, contacts, law + its.DAMPING_TIME)
    kt = number(work, contacts, law + its.TANGENTIAL)
    return fma(time, kt, number(work, contacts, law + its.DAMPING))


@helper
def twisted(work, n, a, torsion, rolling):
    """The part of a along n times one length, and across it times another."""
    along = dot(n, a)
    return add_scaled(scale(rolling, add_scaled(a, -along, n)), torsion * along, n)


@helper
def bristle_law(work, contacts, at, touched, motion, bristles, force):
    """Friction at a point that is touched.

    motion: (v, ω) of a relative to b there; bristles: (s, ζ); force: the normal force.
    """
    law, n = contacts.codes[at + its.LAW_AT], touched.normal
    kt, d = number(work, contacts, law + its.TANGENTIAL), damping_of(work, contacts, law)
    fluid = 1.0 / d
    s, zeta = bristles
    slip = across(n, motion[0])
    pull = negate(add_scaled(scale(kt, across(n, s)), d, slip))
    square = dot(pull, pull)
    twist, torsion, rolling = pull, kt, kt
    if contacts.codes[at + its.TURNS] > 0:
        friction = number(work, contacts, law + its.FRICTION)
        torsion = number(work, contacts, law + its.TORSIONAL) / friction
        rolling = number(work, contacts, law + its.ROLLING) / friction
        one, zero = splat(work, 1.0), splat(work, 0.0)
        held = twisted(
            work, n, zeta, select(torsion > 0.0, one, zero), select(rolling > 0.0, one, zero)
        )
        turning = twisted(work, n, motion[1], torsion, rolling)
        twist = negate(add_scaled(scale(kt, held), d, turning))
        square = square + dot(twist, twist)
    size = sqrt(square)
    limit = friction_limit(work, contacts, law, slip, force)
    slips = size > limit
    share = splat(work, 1.0)
    if any_lane(slips):
        share = select(slips, limit / select(slips, size, share), share)
    f = scale(share, pull)
    own = scale(-fluid, add_scaled(f, kt, s))
    lost = fma(d, dot(own, own), share * (1.0 - share) * square * fluid)
    flat = contacts.codes[at + its.SURFACE] == its.FLOOR  # which does not turn
    rate = own if flat else add_cross(own, touched.turn, s)
    if contacts.codes[at + its.TURNS] > 0:
        g = scale(share, twist)
        own = scale(-fluid, add_scaled(g, kt, zeta))
        lost = fma(d, dot(own, own), lost)
        moment = twisted(work, n, g, torsion, rolling)
        turn_rate = own if flat else add_cross(own, touched.turn, zeta)
        return Bristle(f, moment, rate, turn_rate, lost, share)
    none = scale(splat(work, 0.0), f)
    return Bristle(f, none, rate, none, lost, share)


@helper
def relax(work, contacts, at, s):
    """(rate of a bristle where nothing touches, what it loses)."""
    law = contacts.codes[at + its.LAW_AT]
    d = damping_of(work, contacts, law)
    rate = scale(-(number(work, contacts, law + its.TANGENTIAL) / d), s)
    return rate, d * dot(rate, rate)


@helper
def stored_in(work, contacts, at, s):
    """½·kt·s²."""
    kt = number(work, contacts, contacts.codes[at + its.LAW_AT] + its.TANGENTIAL)
    return 0.5 * kt * dot(s, s)
