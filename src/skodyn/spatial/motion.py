"""6-vectors, their cross products, the shift φ, and the exponential of rigid motions.

φ(p,k) = [[I, l̃], [0, I]] with l from the parent origin to the child origin. Jain 2012-I eq. 1
prints this matrix as φ*; with [moment; force] 6-vectors it is φ itself that carries a force inward
(the moment gains l × force), and its transpose that carries a velocity outward, as eq. 2 needs.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.lanes import fma, select, sincos, sqrt
from skodyn.spatial.linear3 import add, add_cross, add_scaled, cross, dot, subtract
from skodyn.spatial.rotations import half_sinc, quaternion_log


@helper
def shift_force(l, f):
    """φ·f: a force [moment; force] at the child's origin, seen from the parent's."""
    return add_cross(f[0], l, f[1]), f[1]


@helper
def shift_motion(l, v):
    """φ*·v: a velocity or acceleration of the parent's origin, carried rigidly to the child's."""
    return v[0], add_cross(v[1], v[0], l)


@helper
def add_spatial(a, b):
    return add(a[0], b[0]), add(a[1], b[1])


@helper
def subtract_spatial(a, b):
    return subtract(a[0], b[0]), subtract(a[1], b[1])


@helper
def add_scaled_spatial(a, s, b):
    """a + s·b of 6-vectors."""
    return add_scaled(a[0], s, b[0]), add_scaled(a[1], s, b[1])


@helper
def dot_spatial(a, b):
    """Power of a force on a velocity."""
    return dot(a[0], b[0]) + dot(a[1], b[1])


@helper
def cross_motion(v, m):
    """v × m: the rate of a motion vector m that is carried along with velocity v."""
    return cross(v[0], m[0]), add_cross(cross(v[0], m[1]), v[1], m[0])


@helper
def cross_force(v, f):
    """v ×* f: the rate of a force vector f that is carried along with velocity v."""
    return add_cross(cross(v[0], f[0]), v[1], f[1]), cross(v[0], f[1])


@helper
def third_order_coefficient(t2, theta, s):
    """(θ − sin θ)/θ³ from θ², θ and sin θ, by its series below θ = 1/2."""
    p = fma(t2, 1.0 / 1307674368000.0, -1.0 / 6227020800.0)
    p = fma(t2, fma(t2, fma(t2, p, 1.0 / 39916800.0), -1.0 / 362880.0), 1.0 / 5040.0)
    series = fma(t2, fma(t2, p, -1.0 / 120.0), 1.0 / 6.0)
    small = t2 < 0.25
    safe = select(small, 1.0, t2 * theta)
    return select(small, series, (theta - s) / safe)


@helper
def motion_exp(w, v):
    """(quaternion, displacement) after moving for unit time with the constant body twist [w; v]."""
    t2 = dot(w, w)
    theta = sqrt(t2)
    sin_half, cos_half = sincos(0.5 * theta)
    sinc = half_sinc(theta, sin_half)
    a = 2.0 * sinc * sinc  # (1 − cos θ)/θ², free of cancellation
    b = third_order_coefficient(t2, theta, 2.0 * sin_half * cos_half)
    wv = cross(w, v)
    shift = add_scaled(add_scaled(v, a, wv), b, cross(w, wv))
    return (cos_half, sinc * w[0], sinc * w[1], sinc * w[2]), shift


@helper
def motion_log(p, shift):
    """The body twist (w, v) whose motion_exp is (p, shift). Width 1 only."""
    w = quaternion_log(p)
    t2 = dot(w, w)
    if t2 < 0.25:
        k = fma(t2, fma(t2, 691.0 / 1307674368000.0, 1.0 / 47900160.0), 1.0 / 1209600.0)
        k = fma(t2, fma(t2, fma(t2, k, 1.0 / 30240.0), 1.0 / 720.0), 1.0 / 12.0)
    else:
        half = 0.5 * sqrt(t2)
        s, c = sincos(half)
        k = (1.0 - half * c / s) / t2
    ws = cross(w, shift)
    return w, add_scaled(add_scaled(shift, -0.5, ws), k, cross(w, ws))
