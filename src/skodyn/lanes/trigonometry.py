"""Sine and cosine as a pair: range reduction and polynomials, the same at every lane width."""

from __future__ import annotations

from skodyn.jit import JIT_DISABLED, helper
from skodyn.lanes.plain import (
    WIDTH_4,
    Work,
    absolute,
    all_lanes,
    floor,
    fma,
    libm_cos,
    libm_sin,
    load,
    select,
    shift_pointer,
    store,
)

# π/2 in three parts. The first two have 33 significant bits, so that k·part is exact for
# |k| < 2²⁰; together the parts carry 119 bits.
_TWO_OVER_PI = 0.63661977236758134308
_HALF_PI_1 = float.fromhex("0x1.921fb544p+0")
_HALF_PI_2 = float.fromhex("0x1.0b4611a6p-34")
_HALF_PI_3 = float.fromhex("0x1.3198a2e037073p-69")
SINCOS_LIMIT = 1.0e5
"""Up to this magnitude sincos uses its own reduction; beyond it, the C library's."""

# Minimax coefficients for sin and cos on |r| ≤ π/4: the published numbers of Sun's fdlibm
# (k_sin.c and k_cos.c, 1993); absolute error below 2⁻⁵⁸.
_S1, _S2, _S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@helper
def _reduce(x):
    """x = k·π/2 + (r + tail), |r| ≤ π/4 and a little; Cody and Waite's method with three parts."""
    k = floor(fma(x, _TWO_OVER_PI, 0.5))
    a = fma(-k, _HALF_PI_1, x)  # exact
    b = fma(-k, _HALF_PI_2, a)
    lost = fma(-k, _HALF_PI_2, a - b)  # what rounding b dropped, exactly
    c = fma(k, _HALF_PI_3, -lost)
    r = b - c
    return k, r, (b - r) - c


@helper
def _sin_polynomial(r, tail):
    z = r * r
    cubic = z * r
    p = fma(z, fma(z, fma(z, fma(z, _S6, _S5), _S4), _S3), _S2)
    return r - (fma(z, fma(-cubic, p, 0.5 * tail), -tail) - cubic * _S1)


@helper
def _cos_polynomial(r, tail):
    z = r * r
    p = z * fma(z, fma(z, fma(z, fma(z, fma(z, _C6, _C5), _C4), _C3), _C2), _C1)
    half = 0.5 * z
    w = 1.0 - half
    return w + (((1.0 - w) - half) + fma(z, p, -(r * tail)))


@helper
def _libm_where_large(x, s, c):
    large = absolute(x) > SINCOS_LIMIT
    return select(large, libm_sin(x), s), select(large, libm_cos(x), c)


@helper
def sincos(x):
    """(sin x, cos x), each within 1 ulp or so; a few ns where the C library takes 30."""
    k, r, tail = _reduce(x)
    s, c = _sin_polynomial(r, tail), _cos_polynomial(r, tail)
    quadrant = fma(floor(0.25 * k), -4.0, k)  # k mod 4
    odd = absolute(quadrant - 2.0) == 1.0
    sine, cosine = select(odd, c, s), select(odd, s, c)
    sine = select(quadrant >= 2.0, -sine, sine)
    cosine = select(absolute(quadrant - 1.5) < 1.0, -cosine, cosine)
    if not all_lanes(absolute(x) <= SINCOS_LIMIT):  # large, or NaN
        sine, cosine = _libm_where_large(x, sine, cosine)
    return sine, cosine


@helper
def sincos_table(count, angles, sines, cosines):
    """sincos of `count` numbers side by side, four in a register; the last four may overlap."""
    if JIT_DISABLED or count < 4:
        for i in range(count):
            sines[i], cosines[i] = sincos(angles[i])
        return
    for start in range(0, count, 4):
        i = min(start, count - 4)
        s, c = sincos(load(Work(WIDTH_4, shift_pointer(angles, i)), 0))
        store(Work(WIDTH_4, shift_pointer(sines, i)), 0, s)
        store(Work(WIDTH_4, shift_pointer(cosines, i)), 0, c)
