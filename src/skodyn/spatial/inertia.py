"""Spatial inertia of a rigid body: mass m, first moment h = m·c, second moment J about the origin.

M = [[J, h̃], [−h̃, m·I]]
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.lanes import fma
from skodyn.spatial.linear3 import (
    add,
    add_cross,
    add_scaled,
    add_sym,
    cross,
    dot,
    multiply_sym_vector,
    multiply_vector,
    rotate_sym,
    scale,
)


@helper
def rotate_inertia(r, inertia):
    """The same body with its axes turned by r."""
    m, h, j = inertia
    return m, multiply_vector(r, h), rotate_sym(r, j)


@helper
def apply_inertia(inertia, v):
    """M·v: momentum of a velocity, or force of an acceleration."""
    m, h, j = inertia
    angular = add_cross(multiply_sym_vector(j, v[0]), h, v[1])
    linear = add_cross(scale(m, v[1]), v[0], h)
    return angular, linear


@helper
def shift_second_moment(j, m, h, l):
    """Second moment about a point −l away: J + parallel-axis terms, φ·M·φ* in its upper block.

    With c' = c + l the moments gain (2 h·l + m l·l)·I − h lᵀ − l hᵀ − m l lᵀ.
    """
    ml_h = add_scaled(h, m, l)
    k = dot(h, l) + dot(l, ml_h)
    return (
        j[0] + fma(-ml_h[0], l[0], fma(-h[0], l[0], k)),
        j[1] - fma(ml_h[0], l[1], h[1] * l[0]),
        j[2] - fma(ml_h[0], l[2], h[2] * l[0]),
        j[3] + fma(-ml_h[1], l[1], fma(-h[1], l[1], k)),
        j[4] - fma(ml_h[1], l[2], h[2] * l[1]),
        j[5] + fma(-ml_h[2], l[2], fma(-h[2], l[2], k)),
    )


@helper
def shift_inertia(inertia, l):
    """φ·M·φ*: the same body about a point from which its frame's origin lies at l."""
    m, h, j = inertia
    return m, add_scaled(h, m, l), shift_second_moment(j, m, h, l)


@helper
def add_inertia(a, b):
    return a[0] + b[0], add(a[1], b[1]), add_sym(a[2], b[2])


@helper
def gyroscopic_force(inertia, w):
    """b(k): the force that ω alone asks for, with the origin's acceleration as reference."""
    _, h, j = inertia
    return cross(w, multiply_sym_vector(j, w)), cross(w, cross(w, h))


@helper
def add_gyroscopic_force(f, inertia, w):
    """f + b(k)."""
    _, h, j = inertia
    return add_cross(f[0], w, multiply_sym_vector(j, w)), add_cross(f[1], w, cross(w, h))


@helper
def inertia_about_com(m, com, i):
    """(m, h, J) from mass, centre of mass and the second moment about it."""
    zero = (0.0 * com[0], 0.0 * com[1], 0.0 * com[2])
    return m, scale(m, com), shift_second_moment(i, m, zero, com)
