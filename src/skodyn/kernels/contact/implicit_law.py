"""What a contact point does within one implicit step, as a function of the velocity at its end.

With h the step, δ₀ the depth at its start (signed) and s the bristle there, the impulses

    γn = h·k·(δ₀ − h·vn)₊ᵖ·(1 − c·vn)₊
    γt = −h·a·w·min(1, F/(a·|w|)),   a = h·kt + d,   w = vt + kt·s/a

never rise along their velocities: they are slopes of a convex function. Its second derivatives, by
which the point is an inertia to Newton's method,

    Gn = h·k·(p·h·xᵖ⁻¹·(1 − c·vn) + c·xᵖ),   Gt = h·a·1 or (h·F/|w|)·(1 − ŵŵᵀ)

(docs/contact.md, the implicit step; after Castro, Permenter and Han 2022). F = μN is that of the
start of the step, then that of the first solution. Torsion and rolling are three further components
of w, rotations times lengths.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import Record, helper
from skodyn.kernels.contact.contact_geometry import (
    choose3,
    number,
    origin_of,
    spin_of,
    touch,
    velocity_at,
)
from skodyn.kernels.contact.contact_law import (
    across,
    damping_of,
    friction_limit,
    normal_law,
    twisted,
)
from skodyn.kernels.contact.contact_points import bristles_at
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.tuples import load3, load6, store3, store6
from skodyn.lanes import any_lane, fma, load, select, splat, sqrt, store
from skodyn.model.contact import contact_layout as its
from skodyn.spatial.linear3 import add, add_cross, add_scaled, dot, scale, subtract

__all__ = ["POINT", "Response", "give_limit", "prepare_point", "respond", "turning_lengths"]

POINT = Record(
    "contact point of an implicit step",
    NORMAL=(3, "from b to a"),
    ARMS=(6, "from the origins of a and b to the point"),
    DEPTH=(1, "at the start, negative apart"),
    START=(6, "[ω; v] of a relative to b at the start"),
    MOTION=(6, "the same where the iteration is"),
    NEXT=(6, "and where it goes"),
    BENT=(6, "[ζ; s] at the start, turned along with the contact"),
    HELD=(6, "kt/a times what of them acts"),
    LIMIT=(1, "F"),
    IMPULSE=(6, "[moment; force] times h, on a"),
    EXPECTED=(6, "the impulse that Newton's step expects"),
    ALONG=(1, "Gn"),
    ACROSS=(1, "Gt without its direction"),
    SLIPS=(1, "1 where ŵŵᵀ is taken off"),
    WAY=(6, "ŵ of rotation, then of shift"),
    LOAD=(6, "between two bodies: an impulse to answer"),
    RESPONSE=(6, "and the answer"),
)


class Response(NamedTuple):
    """Impulses, and what Newton's method needs to know of their slopes."""

    along: Any  # γn
    force: Any  # γt
    twist: Any  # γ of rotation, times 1/length
    stiff_along: Any
    stiff_across: Any
    slips: Any
    way: Any
    way_turn: Any


@helper
def turning_lengths(work, contacts, at):
    """(of torsion, of rolling), over the coefficient of friction."""
    law = contacts.codes[at + its.LAW_AT]
    friction = number(work, contacts, law + its.FRICTION)
    return (
        number(work, contacts, law + its.TORSIONAL) / friction,
        number(work, contacts, law + its.ROLLING) / friction,
    )


@helper
def turned_along(work, s, turn, h):
    """A bristle that turns with the contact for a step; its length stays."""
    moved = add_cross(s, scale(h * splat(work, 1.0), turn), s)
    size = dot(moved, moved)
    bent = size > 0.0
    one = splat(work, 1.0)
    ratio = sqrt(dot(s, s)) / sqrt(select(bent, size, one))
    return choose3(bent, scale(ratio, moved), s)


@helper
def keep_bristles(work, contacts, at, slot, touched, bristles, h):
    """BENT and HELD."""
    s, zeta = bristles_at(work, contacts, at, bristles)
    law, n = contacts.codes[at + its.LAW_AT], touched.normal
    s = turned_along(work, s, touched.turn, h)
    kt = number(work, contacts, law + its.TANGENTIAL)
    share = kt / fma(kt, h, damping_of(work, contacts, law))
    store3(work, slot + POINT.BENT + 3, s)
    store3(work, slot + POINT.HELD + 3, scale(share, across(n, s)))
    if contacts.codes[at + its.TURNS] > 0:
        zeta = turned_along(work, zeta, touched.turn, h)
        torsion, rolling = turning_lengths(work, contacts, at)
        one, zero = splat(work, 1.0), splat(work, 0.0)
        acts = twisted(
            work, n, zeta, select(torsion > 0.0, one, zero), select(rolling > 0.0, one, zero)
        )
        store3(work, slot + POINT.BENT, zeta)
        store3(work, slot + POINT.HELD, scale(share, acts))


@helper
def prepare_point(work, model, contacts, at, slot, bristles, h):
    """All that stays in a step; poses and velocities of its start are in the workspace."""
    touched = touch(work, model, contacts, at)
    a, b = contacts.codes[at + its.BODY_A], contacts.codes[at + its.BODY_B]
    x, n = touched.point, touched.normal
    v = subtract(velocity_at(work, model, a, x), velocity_at(work, model, b, x))
    omega = subtract(spin_of(work, a), spin_of(work, b))
    store3(work, slot + POINT.NORMAL, n)
    store3(work, slot + POINT.ARMS, subtract(x, origin_of(work, model, a)))
    store3(work, slot + POINT.ARMS + 3, subtract(x, origin_of(work, model, b)))
    store(work, slot + POINT.DEPTH, -touched.gap)
    store6(work, slot + POINT.START, (omega, v))
    store6(work, slot + POINT.MOTION, (omega, v))
    store(work, slot + POINT.LIMIT, splat(work, 0.0))
    if contacts.codes[at + its.BRISTLE] >= 0:
        keep_bristles(work, contacts, at, slot, touched, bristles, h)
        pushed = normal_law(work, contacts, at, touched.gap, dot(n, v)).force
        force = select(touched.gap < 0.0, pushed, splat(work, 0.0))
        give_limit(work, contacts, at, slot, force, True)


@helper
def give_limit(work, contacts, at, slot, force, where):
    """F of a normal force, in the lanes where it is to be renewed; did it change?"""
    law = contacts.codes[at + its.LAW_AT]
    slip = across(load3(work, slot + POINT.NORMAL), load3(work, slot + POINT.MOTION + 3))
    limit = friction_limit(work, contacts, law, slip, force)
    store(work, slot + POINT.LIMIT, select(where, limit, load(work, slot + POINT.LIMIT)))


@helper
def normal_response(work, contacts, at, depth, h, speed):
    """(γn, Gn) of a speed along the normal."""
    law = contacts.codes[at + its.LAW_AT]
    zero, one = splat(work, 0.0), splat(work, 1.0)
    x = fma(-h, speed, depth)
    c = number(work, contacts, law + its.DISSIPATION)
    brake = fma(-c, speed, one)
    pushes = (x > 0.0) & (brake > 0.0)
    grade = number(work, contacts, law + its.STIFFNESS)
    elastic = grade * x
    if contacts.codes[at + its.HERTZ] > 0:
        root = sqrt(select(x > 0.0, x, zero))
        elastic, grade = elastic * root, 1.5 * (grade * root)
    gamma = h * elastic * brake
    stiff = h * fma(h * grade, brake, c * elastic)
    return select(pushes, gamma, zero), select(pushes, stiff, zero)


@helper
def respond(work, contacts, at, slot, h, motion):
    """The response to a motion [ω; v] of a relative to b."""
    zero, one, none = splat(work, 0.0), splat(work, 1.0), zero3(work)
    n, limit = load3(work, slot + POINT.NORMAL), load(work, slot + POINT.LIMIT)
    along, stiff = normal_response(
        work, contacts, at, load(work, slot + POINT.DEPTH), h, dot(n, motion[1])
    )
    rubs = limit > 0.0
    if contacts.codes[at + its.BRISTLE] < 0 or not any_lane(rubs):
        return Response(along, none, none, stiff, zero, zero, none, none)
    law = contacts.codes[at + its.LAW_AT]
    a = fma(number(work, contacts, law + its.TANGENTIAL), h, damping_of(work, contacts, law))
    w, turn = add(across(n, motion[1]), load3(work, slot + POINT.HELD + 3)), none
    square = dot(w, w)
    if contacts.codes[at + its.TURNS] > 0:
        torsion, rolling = turning_lengths(work, contacts, at)
        turn = add(twisted(work, n, motion[0], torsion, rolling), load3(work, slot + POINT.HELD))
        square = square + dot(turn, turn)
    size = sqrt(square)
    slips = a * size > limit
    over = 1.0 / select(slips, size, one)
    reach = h * select(slips, limit * over, a)
    way = choose3(rubs, scale(over, w), none)
    force = choose3(rubs, scale(-reach, w), none)
    gives, reach = select(slips & rubs, one, zero), select(rubs, reach, zero)
    if contacts.codes[at + its.TURNS] > 0:
        twist = choose3(rubs, scale(-reach, turn), none)
        way_turn = choose3(rubs, scale(over, turn), none)
        return Response(along, force, twist, stiff, reach, gives, way, way_turn)
    return Response(along, force, none, stiff, reach, gives, way, none)


@helper
def impulse_of(work, contacts, at, slot, answer):
    """[moment; force] on a."""
    n = load3(work, slot + POINT.NORMAL)
    force = add_scaled(answer.force, answer.along, n)
    if contacts.codes[at + its.TURNS] > 0:
        torsion, rolling = turning_lengths(work, contacts, at)
        return twisted(work, n, answer.twist, torsion, rolling), force
    return answer.twist, force


@helper
def keep_response(work, contacts, at, slot, h):
    """IMPULSE and its slopes where the iteration is."""
    answer = respond(work, contacts, at, slot, h, load6(work, slot + POINT.MOTION))
    store6(work, slot + POINT.IMPULSE, impulse_of(work, contacts, at, slot, answer))
    store(work, slot + POINT.ALONG, answer.stiff_along)
    store(work, slot + POINT.ACROSS, answer.stiff_across)
    store(work, slot + POINT.SLIPS, answer.slips)
    store6(work, slot + POINT.WAY, (answer.way_turn, answer.way))


@helper
def is_stiff(work, slot):
    """Mask: does the point resist at all?"""
    return load(work, slot + POINT.ALONG) + load(work, slot + POINT.ACROSS) > 0.0


@helper
def _outer(s, a):
    """s·a·aᵀ, symmetric."""
    x, y, z = s * a[0], s * a[1], s * a[2]
    return (x * a[0], x * a[1], x * a[2], y * a[1], y * a[2], z * a[2])


@helper
def _added(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@helper
def stiffness_of(work, contacts, at, slot):
    """G as (A, B, C) of [ω; v], about the point."""
    n = load3(work, slot + POINT.NORMAL)
    along, side = load(work, slot + POINT.ALONG), load(work, slot + POINT.ACROSS)
    cut = -(side * load(work, slot + POINT.SLIPS))
    zero = splat(work, 0.0)
    way = load3(work, slot + POINT.WAY + 3)
    c = _added(_outer(along - side, n), _outer(cut, way))
    c = (c[0] + side, c[1], c[2], c[3] + side, c[4], c[5] + side)
    if contacts.codes[at + its.TURNS] > 0:
        torsion, rolling = turning_lengths(work, contacts, at)
        turn = twisted(work, n, load3(work, slot + POINT.WAY), torsion, rolling)
        roll = side * rolling * rolling
        a = _added(_outer(side * torsion * torsion - roll, n), _outer(cut, turn))
        a = (a[0] + roll, a[1], a[2], a[3] + roll, a[4], a[5] + roll)
        x, y, z = cut * turn[0], cut * turn[1], cut * turn[2]
        b = (
            x * way[0], x * way[1], x * way[2],
            y * way[0], y * way[1], y * way[2],
            z * way[0], z * way[1], z * way[2],
        )  # fmt: skip
        return a, b, c
    none = (zero, zero, zero, zero, zero, zero)
    return none, (zero, zero, zero, zero, zero, zero, zero, zero, zero), c
