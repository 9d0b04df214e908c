"""Vectors, 3×3 matrices and symmetric 3×3 matrices as tuples."""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.lanes import fma


@helper
def dot(a, b):
    return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]))


@helper
def cross(a, b):
    return (
        fma(a[1], b[2], -(a[2] * b[1])),
        fma(a[2], b[0], -(a[0] * b[2])),
        fma(a[0], b[1], -(a[1] * b[0])),
    )


@helper
def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@helper
def subtract(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@helper
def negate(a):
    return (-a[0], -a[1], -a[2])


@helper
def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


@helper
def add_scaled(a, s, b):
    """a + s·b."""
    return (fma(s, b[0], a[0]), fma(s, b[1], a[1]), fma(s, b[2], a[2]))


@helper
def add_cross(c, a, b):
    """c + a × b."""
    return (
        fma(a[1], b[2], fma(-a[2], b[1], c[0])),
        fma(a[2], b[0], fma(-a[0], b[2], c[1])),
        fma(a[0], b[1], fma(-a[1], b[0], c[2])),
    )


@helper
def component(a, i):
    """a[i] for an i that is known only when it runs."""
    return a[0] if i == 0 else a[1] if i == 1 else a[2]


@helper
def x_axis(m):
    """The first column of a matrix."""
    return (m[0], m[3], m[6])


@helper
def y_axis(m):
    return (m[1], m[4], m[7])


@helper
def z_axis(m):
    return (m[2], m[5], m[8])


@helper
def from_columns(x, y, z):
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])


@helper
def transpose(m):
    return (m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8])


@helper
def multiply_vector(m, a):
    """m·a."""
    return (
        fma(m[0], a[0], fma(m[1], a[1], m[2] * a[2])),
        fma(m[3], a[0], fma(m[4], a[1], m[5] * a[2])),
        fma(m[6], a[0], fma(m[7], a[1], m[8] * a[2])),
    )


@helper
def multiply_vector_transposed(m, a):
    """mᵀ·a."""
    return (
        fma(m[0], a[0], fma(m[3], a[1], m[6] * a[2])),
        fma(m[1], a[0], fma(m[4], a[1], m[7] * a[2])),
        fma(m[2], a[0], fma(m[5], a[1], m[8] * a[2])),
    )


@helper
def multiply(a, b):
    """a·b of two matrices."""
    return from_columns(
        multiply_vector(a, (b[0], b[3], b[6])),
        multiply_vector(a, (b[1], b[4], b[7])),
        multiply_vector(a, (b[2], b[5], b[8])),
    )


@helper
def multiply_sym_vector(s, a):
    """s·a with s symmetric."""
    return (
        fma(s[0], a[0], fma(s[1], a[1], s[2] * a[2])),
        fma(s[1], a[0], fma(s[3], a[1], s[4] * a[2])),
        fma(s[2], a[0], fma(s[4], a[1], s[5] * a[2])),
    )


@helper
def add_multiplied_vector(c, m, a):
    """c + m·a."""
    return (
        fma(m[0], a[0], fma(m[1], a[1], fma(m[2], a[2], c[0]))),
        fma(m[3], a[0], fma(m[4], a[1], fma(m[5], a[2], c[1]))),
        fma(m[6], a[0], fma(m[7], a[1], fma(m[8], a[2], c[2]))),
    )


@helper
def add_multiplied_sym_vector(c, s, a):
    """c + s·a with s symmetric."""
    return add_multiplied_vector(c, (s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]), a)


@helper
def add_sym(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@helper
def add_matrix(a, b):
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2],
        a[3] + b[3], a[4] + b[4], a[5] + b[5],
        a[6] + b[6], a[7] + b[7], a[8] + b[8],
    )  # fmt: skip


@helper
def rotate_sym(r, s):
    """r·s·rᵀ for a matrix r and a symmetric s."""
    x = multiply_sym_vector(s, (r[0], r[1], r[2]))
    y = multiply_sym_vector(s, (r[3], r[4], r[5]))
    z = multiply_sym_vector(s, (r[6], r[7], r[8]))
    return (
        dot((r[0], r[1], r[2]), x),
        dot((r[3], r[4], r[5]), x),
        dot((r[6], r[7], r[8]), x),
        dot((r[3], r[4], r[5]), y),
        dot((r[6], r[7], r[8]), y),
        dot((r[6], r[7], r[8]), z),
    )


@helper
def subtract_scaled_outer_sym(s, k, a):
    """s − k·a·aᵀ with s symmetric."""
    ka = (k * a[0], k * a[1], k * a[2])
    return (
        fma(-ka[0], a[0], s[0]),
        fma(-ka[0], a[1], s[1]),
        fma(-ka[0], a[2], s[2]),
        fma(-ka[1], a[1], s[3]),
        fma(-ka[1], a[2], s[4]),
        fma(-ka[2], a[2], s[5]),
    )


@helper
def subtract_outer(m, a, b):
    """m − a·bᵀ."""
    return (
        fma(-a[0], b[0], m[0]), fma(-a[0], b[1], m[1]), fma(-a[0], b[2], m[2]),
        fma(-a[1], b[0], m[3]), fma(-a[1], b[1], m[4]), fma(-a[1], b[2], m[5]),
        fma(-a[2], b[0], m[6]), fma(-a[2], b[1], m[7]), fma(-a[2], b[2], m[8]),
    )  # fmt: skip
