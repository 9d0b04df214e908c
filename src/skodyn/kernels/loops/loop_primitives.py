"""The primitives of closing joints (model/loops/closing.py): gap, γ and pair of forces of each row.

Every row of a loop is a pair of unit forces, one at each end, that act when its multiplier is one.
Accelerations for θ̈ = 0 are gathered on the way inward, relative to the closest common ancestor:
what it does itself moves both ends alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.loops.loop_filling import path_cell
from skodyn.kernels.packed_model import entry, parameter3
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import load_rows, sincos, sqrt
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.linear3 import add, add_scaled, cross, dot, multiply_vector, negate, subtract
from skodyn.spatial.motion import shift_motion

__all__ = [
    "End",
    "RowOf",
    "along_row",
    "dot_row",
    "end_of",
    "from_a_to_b",
    "helix_row",
    "joint_velocity",
    "length_row",
]


class End(NamedTuple):
    """One end of a loop, in world axes; velocities and accelerations for θ̈ = 0 and an ancestor
    that does not accelerate."""

    arm: Any  # from the body's origin
    place: Any  # from the origin of the last body before the closest common ancestor
    foot: Any  # of that body, from the origin of the ancestor
    spin: Any  # ω of the body
    turning: Any  # angular acceleration
    acceleration: Any  # of the point
    velocity: Any  # of the point, relative to the ancestor's origin; only where rows need it


@helper
def end_of(velocity_by, work, model, body, origin, path, v, moving):
    """Walk from an end inward; moving: 1 for accelerations, 2 for velocities too.

    velocity_by: `joint_velocity`, or what takes its place where bodies bend.
    """
    r = load_matrix(work, body_slot(body) + BODY.ROTATION)
    arm = multiply_vector(r, parameter3(work, model, origin))
    spin, zero = load3(work, body_slot(body) + BODY.OMEGA), zero3(work)
    place, turning, velocity = arm, zero, zero
    acceleration = cross(spin, cross(spin, arm)) if moving > 0 else zero
    top, foot = body, zero
    for i in range(path.length):
        place = add(place, foot)
        k = path_cell(model, path, i * its.PATH_CELLS + its.PATH_BODY)
        if moving > 0:
            a = load6(work, body_slot(k) + BODY.CORIOLIS)
            turning = add(turning, a[0])
            acceleration = add(acceleration, shift_motion(place, a)[1])
        if moving > 1:
            velocity = add(velocity, velocity_by(work, model, k, place, v))
        foot = load3(work, body_slot(k) + BODY.ARM)
        top = entry(model, k, PARENT)
    if moving > 1:
        velocity = add(velocity, cross(load3(work, body_slot(top) + BODY.OMEGA), add(place, foot)))
    return End(arm, place, foot, spin, turning, acceleration, velocity)


@helper
def from_a_to_b(a, b):
    """d. What both ends have in common, however far away, cancels before it can round."""
    return add(subtract(b.place, a.place), subtract(b.foot, a.foot))


@helper
def joint_velocity(work, model, k, place, v):
    """What joint k adds to the velocity of a point that lies at `place` from its body's origin."""
    total = zero3(work)
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    for i in range(entry(model, k, N_DOF)):
        h = joint_column(work, model, k, i, r)
        rate = load_rows(work, v, entry(model, k, V_START) + i)
        total = add_scaled(total, rate, shift_motion(place, h)[1])
    return total


class RowOf(NamedTuple):
    """A row: gap, γ, and the forces at both ends that its multiplier stands for."""

    gap: Any
    gamma: Any
    force_a: Any
    force_b: Any


@helper
def dot_row(work, a, b, u, w, c):
    """u·w = c."""
    n, none = cross(u, w), zero3(work)
    carried_u, carried_w = cross(a.spin, u), cross(b.spin, w)
    gamma = dot(n, subtract(a.turning, b.turning))
    gamma = gamma + dot(cross(a.spin, carried_u), w) + dot(u, cross(b.spin, carried_w))
    gamma = gamma + 2.0 * dot(carried_u, carried_w)
    return RowOf(dot(u, w) - c, gamma, (n, none), (negate(n), none))


@helper
def along_row(work, a, b, d, u):
    """u·d = 0."""
    carried = cross(a.spin, u)
    turned = add(cross(a.turning, u), cross(a.spin, carried))
    moved = subtract(b.velocity, a.velocity)
    gamma = dot(turned, d) + 2.0 * dot(carried, moved)
    gamma = gamma + dot(u, subtract(b.acceleration, a.acceleration))
    return RowOf(dot(u, d), gamma, (cross(u, d), negate(u)), (zero3(work), u))


@helper
def length_row(work, a, b, d, c):
    """|d| = c."""
    size = sqrt(dot(d, d))
    inverse = 1.0 / size
    e = (inverse * d[0], inverse * d[1], inverse * d[2])
    rate, none = subtract(b.velocity, a.velocity), zero3(work)
    along = dot(e, rate)
    gamma = dot(e, subtract(b.acceleration, a.acceleration))
    gamma = gamma + (dot(rate, rate) - along * along) * inverse
    return RowOf(size - c, gamma, (none, negate(e)), (none, e))


@helper
def helix_row(work, ends, d, u, w, e, pitch):
    """pitch·sin(turn − u·d/pitch) = 0; G and γ are those of aligned axes, where other rows hold."""
    a, b = ends
    slide = along_row(work, a, b, d, u)
    s, c = sincos(slide.gap / pitch)
    sine, cosine = dot(cross(u, e), w), dot(e, w)
    gap = pitch * (sine * c - cosine * s)
    gamma = pitch * dot(u, subtract(b.turning, a.turning)) - slide.gamma
    turn = (pitch * u[0], pitch * u[1], pitch * u[2])
    force_a = negate(add(turn, slide.force_a[0])), negate(slide.force_a[1])
    return RowOf(gap, gamma, force_a, (turn, negate(slide.force_b[1])))
