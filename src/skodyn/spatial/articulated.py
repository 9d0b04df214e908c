"""Articulated inertia: P = [[A, B], [Bᵀ, C]], A and C symmetric, 21 numbers."""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.lanes import fma
from skodyn.spatial.linear3 import (
    add,
    add_matrix,
    add_multiplied_sym_vector,
    add_multiplied_vector,
    add_sym,
    multiply_sym_vector,
    multiply_vector,
    multiply_vector_transposed,
    subtract_outer,
    subtract_scaled_outer_sym,
    transpose,
)


@helper
def articulated_from_inertia(inertia):
    """A rigid body's M as an articulated inertia: B = h̃, C = m·I."""
    m, h, j = inertia
    zero = 0.0 * m
    b = (zero, -h[2], h[1], h[2], zero, -h[0], -h[1], h[0], zero)
    return j, b, (m, zero, zero, m, zero, m)


@helper
def add_articulated(p, q):
    return add_sym(p[0], q[0]), add_matrix(p[1], q[1]), add_sym(p[2], q[2])


@helper
def add_inertia_to_articulated(p, inertia):
    """P + M for a rigid body's M, whose zeros cost nothing."""
    a, b, c = p
    m, h, j = inertia
    return (
        add_sym(a, j),
        (
            b[0], b[1] - h[2], b[2] + h[1],
            b[3] + h[2], b[4], b[5] - h[0],
            b[6] - h[1], b[7] + h[0], b[8],
        ),
        (c[0] + m, c[1], c[2], c[3] + m, c[4], c[5] + m),
    )  # fmt: skip


@helper
def add_applied_articulated(f, p, v):
    """f + P·v."""
    a, b, c = p
    return (
        add_multiplied_vector(add_multiplied_sym_vector(f[0], a, v[0]), b, v[1]),
        add_multiplied_vector(add_multiplied_sym_vector(f[1], c, v[1]), transpose(b), v[0]),
    )


@helper
def apply_articulated(p, v):
    """P·v."""
    a, b, c = p
    return (
        add(multiply_sym_vector(a, v[0]), multiply_vector(b, v[1])),
        add(multiply_vector_transposed(b, v[0]), multiply_sym_vector(c, v[1])),
    )


@helper
def subtract_rank_one(p, u, d_inverse):
    """P − u·uᵀ/D: what stays of P after one degree of freedom has yielded."""
    a, b, c = p
    scaled = (d_inverse * u[0][0], d_inverse * u[0][1], d_inverse * u[0][2])
    return (
        subtract_scaled_outer_sym(a, d_inverse, u[0]),
        subtract_outer(b, scaled, u[1]),
        subtract_scaled_outer_sym(c, d_inverse, u[1]),
    )


@helper
def shift_articulated(p, l):
    """φ·P·φ*: P seen from a point from which its origin lies at l.

    With L = l̃ the blocks become A − B·L + L·(Bᵀ − C·L), B + L·C, C.
    """
    a, b, c = p
    x, y, z = l
    # N = B + L·C
    n = (
        fma(y, c[2], fma(-z, c[1], b[0])), fma(y, c[4], fma(-z, c[3], b[1])),
        fma(y, c[5], fma(-z, c[4], b[2])),
        fma(z, c[0], fma(-x, c[2], b[3])), fma(z, c[1], fma(-x, c[4], b[4])),
        fma(z, c[2], fma(-x, c[5], b[5])),
        fma(x, c[1], fma(-y, c[0], b[6])), fma(x, c[3], fma(-y, c[1], b[7])),
        fma(x, c[4], fma(-y, c[2], b[8])),
    )  # fmt: skip
    # A' = A + L·Bᵀ − N·L, of which six entries suffice
    return (
        (
            fma(y, b[2] + n[2], fma(-z, b[1] + n[1], a[0])),
            fma(y, b[5], fma(-z, b[4], fma(z, n[0], fma(-x, n[2], a[1])))),
            fma(y, b[8], fma(-z, b[7], fma(x, n[1], fma(-y, n[0], a[2])))),
            fma(z, b[3] + n[3], fma(-x, b[5] + n[5], a[3])),
            fma(z, b[6], fma(-x, b[8], fma(x, n[4], fma(-y, n[3], a[4])))),
            fma(x, b[7] + n[7], fma(-y, b[6] + n[6], a[5])),
        ),
        n,
        c,
    )
