"""∂c/∂x of point_masses.py and its transpose, applied by one recursion along the chain each."""

from __future__ import annotations

from skodyn.jit import FLOATS, MATRIX, helper, kernel


@kernel(FLOATS.of(2), FLOATS.of(3), FLOATS.of(3), FLOATS.of(2), MATRIX)
def gather_forces(bond, to_bond, turn, c, x):
    """x = (∂c/∂x)*·c, from the last mass to the first."""
    n = bond.shape[0]
    moment = (0.0, 0.0, 0.0)  # on ω(k)
    for back in range(n):
        k = n - 1 - back
        g0 = c[k, 0] + _along(turn, k, 0, moment)
        g1 = c[k, 1] + _along(turn, k, 1, moment)
        g2 = c[k, 2] + _along(turn, k, 2, moment)
        f0 = to_bond[k, 0, 0] * g0 + to_bond[k, 1, 0] * g1 + to_bond[k, 2, 0] * g2
        f1 = to_bond[k, 0, 1] * g0 + to_bond[k, 1, 1] * g1 + to_bond[k, 2, 1] * g2
        f2 = to_bond[k, 0, 2] * g0 + to_bond[k, 1, 2] * g1 + to_bond[k, 2, 2] * g2
        x[k, 0] += f0
        x[k, 1] += f1
        x[k, 2] += f2
        if k > 0:
            x[k - 1, 0] -= f0
            x[k - 1, 1] -= f1
            x[k - 1, 2] -= f2
        b0, b1, b2 = bond[k, 0], bond[k, 1], bond[k, 2]
        moment = (
            moment[0] - (b1 * f2 - b2 * f1),
            moment[1] - (b2 * f0 - b0 * f2),
            moment[2] - (b0 * f1 - b1 * f0),
        )


@helper
def _along(turn, k, i, v):
    return turn[k, 0, i] * v[0] + turn[k, 1, i] * v[1] + turn[k, 2, i] * v[2]


@kernel(FLOATS.of(2), FLOATS.of(3), FLOATS.of(3), FLOATS.of(2), MATRIX)
def scatter_rates(bond, to_bond, turn, x, c):
    """c = (∂c/∂x)·x, from the first mass to the last."""
    o0, o1, o2 = 0.0, 0.0, 0.0  # ω(k − 1)
    for k in range(bond.shape[0]):
        r0, r1, r2 = x[k, 0], x[k, 1], x[k, 2]
        if k > 0:
            r0, r1, r2 = r0 - x[k - 1, 0], r1 - x[k - 1, 1], r2 - x[k - 1, 2]
        b0, b1, b2 = bond[k, 0], bond[k, 1], bond[k, 2]
        r0 -= o1 * b2 - o2 * b1
        r1 -= o2 * b0 - o0 * b2
        r2 -= o0 * b1 - o1 * b0
        for i in range(3):
            c[k, i] = to_bond[k, i, 0] * r0 + to_bond[k, i, 1] * r1 + to_bond[k, i, 2] * r2
        for i in range(3):
            o0 += turn[k, 0, i] * c[k, i]
            o1 += turn[k, 1, i] * c[k, i]
            o2 += turn[k, 2, i] * c[k, i]
