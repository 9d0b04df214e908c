"""Small dense matrices inside flat arrays: the arithmetic that every sweep over blocks shares.

A matrix is an array, the index where it starts, and its sizes; rows lie one after another. Sums go
straight into the result, so that no helper allocates.
"""

from __future__ import annotations

from skodyn.jit import helper


@helper
def clear(out, o, count):
    for i in range(count):
        out[o + i] = 0.0


@helper
def copy(x, i, count, out, o):
    for j in range(count):
        out[o + j] = x[i + j]


@helper
def add_product(a, i, b, j, n, m, c, out, o):
    """out += A·B with A n×m and B m×c."""
    if c == 1:  # by far the commonest: the sums stay in registers
        for r in range(n):
            total = out[o + r]
            for s in range(m):
                total += a[i + r * m + s] * b[j + s]
            out[o + r] = total
        return
    for r in range(n):
        for s in range(m):
            factor = a[i + r * m + s]
            for t in range(c):
                out[o + r * c + t] += factor * b[j + s * c + t]


@helper
def subtract_product(a, i, b, j, n, m, c, out, o):
    """out −= A·B with A n×m and B m×c."""
    for r in range(n):
        for s in range(m):
            factor = a[i + r * m + s]
            for t in range(c):
                out[o + r * c + t] -= factor * b[j + s * c + t]


@helper
def add_transposed_product(a, i, b, j, n, m, c, out, o):
    """out += A*·B with A m×n and B m×c."""
    if c == 1:
        for r in range(n):
            total = out[o + r]
            for s in range(m):
                total += a[i + s * n + r] * b[j + s]
            out[o + r] = total
        return
    for s in range(m):
        for r in range(n):
            factor = a[i + s * n + r]
            for t in range(c):
                out[o + r * c + t] += factor * b[j + s * c + t]


@helper
def subtract_transposed_product(a, i, b, j, n, m, c, out, o):
    """out −= A*·B with A m×n and B m×c."""
    for s in range(m):
        for r in range(n):
            factor = a[i + s * n + r]
            for t in range(c):
                out[o + r * c + t] -= factor * b[j + s * c + t]


@helper
def add_product_transposed(a, i, b, j, n, m, c, out, o):
    """out += A·B* with A n×m and B c×m."""
    for r in range(n):
        for t in range(c):
            total = 0.0
            for s in range(m):
                total += a[i + r * m + s] * b[j + t * m + s]
            out[o + r * c + t] += total


@helper
def add_congruence(a, i, x, j, n, m, scratch, out, o):
    """out += A·X·A* with A n×m and X symmetric; the sum is symmetric to the last bit."""
    clear(scratch, 0, n * m)
    add_product(a, i, x, j, n, m, m, scratch, 0)
    for r in range(n):
        for t in range(r + 1):
            total = 0.0
            for s in range(m):
                total += scratch[r * m + s] * a[i + t * m + s]
            out[o + r * n + t] += total
            if t != r:
                out[o + t * n + r] += total


@helper
def subtract_square(w, i, n, m, out, o):
    """out −= W*·W with W n×m; symmetric to the last bit."""
    for r in range(m):
        for t in range(r + 1):
            total = 0.0
            for s in range(n):
                total += w[i + s * m + r] * w[i + s * m + t]
            out[o + r * m + t] -= total
            if t != r:
                out[o + t * m + r] -= total


@helper
def factor_cholesky(a, i, n, least, out, o):
    """L with A = L·L*, zeros above; False as soon as a pivot is not above least[row]."""
    for r in range(n):
        for t in range(n):
            out[o + r * n + t] = 0.0
    for r in range(n):
        for t in range(r):
            total = a[i + r * n + t]
            for s in range(t):
                total -= out[o + r * n + s] * out[o + t * n + s]
            out[o + r * n + t] = total / out[o + t * n + t]
        pivot = a[i + r * n + r]
        for s in range(r):
            pivot -= out[o + r * n + s] ** 2
        if not pivot > least[r]:
            return False
        out[o + r * n + r] = pivot**0.5
    return True


@helper
def solve_lower(factor, i, n, c, x, j):
    """X becomes L⁻¹·X, with X n×c."""
    for r in range(n):
        for s in range(r):
            f = factor[i + r * n + s]
            for t in range(c):
                x[j + r * c + t] -= f * x[j + s * c + t]
        for t in range(c):
            x[j + r * c + t] /= factor[i + r * n + r]


@helper
def solve_upper(factor, i, n, c, x, j):
    """X becomes L⁻*·X, with X n×c."""
    for back in range(n):
        r = n - 1 - back
        for s in range(r + 1, n):
            f = factor[i + s * n + r]
            for t in range(c):
                x[j + r * c + t] -= f * x[j + s * c + t]
        for t in range(c):
            x[j + r * c + t] /= factor[i + r * n + r]
