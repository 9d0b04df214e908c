"""Rotations: matrices, unit quaternions, the exponential and the logarithm.

Quaternions are scalar first and, like the matrices, take child axes to parent axes.
"""

from __future__ import annotations

import math

from skodyn.jit import helper
from skodyn.lanes import fma, select, sincos, sqrt
from skodyn.spatial.linear3 import add_scaled, cross, dot, scale


@helper
def turn_about_z(r, s, c):
    """r·Rz(angle) from the sine and cosine of the angle: only two columns of r change."""
    return (
        fma(c, r[0], s * r[1]), fma(c, r[1], -(s * r[0])), r[2],
        fma(c, r[3], s * r[4]), fma(c, r[4], -(s * r[3])), r[5],
        fma(c, r[6], s * r[7]), fma(c, r[7], -(s * r[6])), r[8],
    )  # fmt: skip


@helper
def axis_angle_matrix(u, s, c):
    """Rodrigues' rotation matrix about the unit vector u: I + s·ũ + (1 − c)·ũ²."""
    k = 1.0 - c
    xy, xz, yz = k * u[0] * u[1], k * u[0] * u[2], k * u[1] * u[2]
    return (
        fma(k, u[0] * u[0], c), fma(-s, u[2], xy), fma(s, u[1], xz),
        fma(s, u[2], xy), fma(k, u[1] * u[1], c), fma(-s, u[0], yz),
        fma(-s, u[1], xz), fma(s, u[0], yz), fma(k, u[2] * u[2], c),
    )  # fmt: skip


@helper
def quaternion_matrix(p):
    """The rotation matrix of a unit quaternion."""
    w, x, y, z = p
    return (
        fma(-2.0, fma(y, y, z * z), 1.0), 2.0 * fma(x, y, -(w * z)), 2.0 * fma(x, z, w * y),
        2.0 * fma(x, y, w * z), fma(-2.0, fma(x, x, z * z), 1.0), 2.0 * fma(y, z, -(w * x)),
        2.0 * fma(x, z, -(w * y)), 2.0 * fma(y, z, w * x), fma(-2.0, fma(x, x, y * y), 1.0),
    )  # fmt: skip


@helper
def quaternion_product(a, b):
    """a ⊗ b: first b, then a."""
    av, bv = (a[1], a[2], a[3]), (b[1], b[2], b[3])
    t = cross(av, bv)
    v = add_scaled(add_scaled(t, a[0], bv), b[0], av)
    return (fma(a[0], b[0], -dot(av, bv)), v[0], v[1], v[2])


@helper
def quaternion_conjugate(p):
    return (p[0], -p[1], -p[2], -p[3])


@helper
def quaternion_norm_squared(p):
    return fma(p[0], p[0], fma(p[1], p[1], fma(p[2], p[2], p[3] * p[3])))


@helper
def half_sinc(theta, sin_half):
    """sin(θ/2)/θ, which tends to 1/2."""
    at_zero = theta == 0.0
    return select(at_zero, 0.5, sin_half / select(at_zero, 1.0, theta))


@helper
def quaternion_exp(w):
    """The unit quaternion of the rotation vector w (axis times angle)."""
    theta = sqrt(dot(w, w))
    s, c = sincos(0.5 * theta)
    v = scale(half_sinc(theta, s), w)
    return (c, v[0], v[1], v[2])


@helper
def quaternion_log(p):
    """The rotation vector of a unit quaternion, the shorter way round. Width 1 only."""
    sign = -1.0 if p[0] < 0.0 else 1.0
    w, v = sign * p[0], scale(sign, (p[1], p[2], p[3]))
    length = math.sqrt(dot(v, v))
    factor = 2.0 / w if length < 1e-150 else 2.0 * math.atan2(length, w) / length
    return scale(factor, v)


@helper
def rotation_log(r):
    """The rotation vector of a rotation matrix. Width 1 only."""
    return quaternion_log(matrix_quaternion(r))


@helper
def matrix_quaternion(r):
    """A unit quaternion of a rotation matrix, by its largest component. Width 1 only."""
    four = (
        1.0 + r[0] + r[4] + r[8],
        1.0 + r[0] - r[4] - r[8],
        1.0 - r[0] + r[4] - r[8],
        1.0 - r[0] - r[4] + r[8],
    )
    if four[0] >= max(four[1], four[2], four[3]):
        p = (four[0], r[7] - r[5], r[2] - r[6], r[3] - r[1])
    elif four[1] >= max(four[2], four[3]):
        p = (r[7] - r[5], four[1], r[1] + r[3], r[2] + r[6])
    elif four[2] >= four[3]:
        p = (r[2] - r[6], r[1] + r[3], four[2], r[5] + r[7])
    else:
        p = (r[3] - r[1], r[2] + r[6], r[5] + r[7], four[3])
    k = 1.0 / math.sqrt(quaternion_norm_squared(p))
    return (k * p[0], k * p[1], k * p[2], k * p[3])


@helper
def rotation_exp(w):
    """The rotation matrix of the rotation vector w."""
    return quaternion_matrix(quaternion_exp(w))
