"""Small dense matrices inside flat arrays: the arithmetic that every sweep over blocks shares.

Sums go straight into the result, so that no helper allocates. Sizes are those of the factors: what
a result says of its own is not looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.lanes import pointer


class Small(NamedTuple):
    """A matrix inside a flat array; its rows lie one after another."""

    data: Any  # pointer to the array
    at: int  # where the matrix starts in it
    rows: int
    cols: int


@helper
def small(array, at, rows, cols):
    """The matrix of this size that starts at array[at]."""
    return Small(pointer(array), at, rows, cols)


@helper
def part_of(array, starts, k, columns):
    """Node k's part of a stacked vector, or of so many stacked vectors side by side."""
    return Small(pointer(array), starts[k] * columns, starts[k + 1] - starts[k], columns)


@helper
def clear(out):
    data, o = out.data, out.at
    for i in range(out.rows * out.cols):
        data[o + i] = 0.0


@helper
def copy(given, out):
    x, i = given.data, given.at
    data, o = out.data, out.at
    for j in range(given.rows * given.cols):
        data[o + j] = x[i + j]


@helper
def add_product(A, B, out):
    """out += A·B with A n×m and B m×c."""
    a, i, n, m = A
    b, j, _, c = B
    y, o = out.data, out.at
    if c == 1:  # by far the commonest: the sums stay in registers
        for r in range(n):
            total = y[o + r]
            for s in range(m):
                total += a[i + r * m + s] * b[j + s]
            y[o + r] = total
        return
    for r in range(n):
        for s in range(m):
            factor = a[i + r * m + s]
            for t in range(c):
                y[o + r * c + t] += factor * b[j + s * c + t]


@helper
def subtract_product(A, B, out):
    """out −= A·B with A n×m and B m×c."""
    a, i, n, m = A
    b, j, _, c = B
    y, o = out.data, out.at
    for r in range(n):
        for s in range(m):
            factor = a[i + r * m + s]
            for t in range(c):
                y[o + r * c + t] -= factor * b[j + s * c + t]


@helper
def add_transposed_product(A, B, out):
    """out += A*·B with A m×n and B m×c."""
    a, i, m, n = A
    b, j, _, c = B
    y, o = out.data, out.at
    if c == 1:
        for r in range(n):
            total = y[o + r]
            for s in range(m):
                total += a[i + s * n + r] * b[j + s]
            y[o + r] = total
        return
    for s in range(m):
        for r in range(n):
            factor = a[i + s * n + r]
            for t in range(c):
                y[o + r * c + t] += factor * b[j + s * c + t]


@helper
def subtract_transposed_product(A, B, out):
    """out −= A*·B with A m×n and B m×c."""
    a, i, m, n = A
    b, j, _, c = B
    y, o = out.data, out.at
    for s in range(m):
        for r in range(n):
            factor = a[i + s * n + r]
            for t in range(c):
                y[o + r * c + t] -= factor * b[j + s * c + t]


@helper
def add_product_transposed(A, B, out):
    """out += A·B* with A n×m and B c×m."""
    a, i, n, m = A
    b, j, c, _ = B
    y, o = out.data, out.at
    for r in range(n):
        for t in range(c):
            total = 0.0
            for s in range(m):
                total += a[i + r * m + s] * b[j + t * m + s]
            y[o + r * c + t] += total


@helper
def add_congruence(A, X, scratch, out):
    """out += A·X·A* with A n×m and X symmetric; the sum is symmetric to the last bit."""
    a, i, n, m = A
    y, o = out.data, out.at
    AX = small(scratch, 0, n, m)
    clear(AX)
    add_product(A, X, AX)
    for r in range(n):
        for t in range(r + 1):
            total = 0.0
            for s in range(m):
                total += AX.data[r * m + s] * a[i + t * m + s]
            y[o + r * n + t] += total
            if t != r:
                y[o + t * n + r] += total


@helper
def subtract_square(W, out):
    """out −= W*·W with W n×m; symmetric to the last bit."""
    w, i, n, m = W
    y, o = out.data, out.at
    for r in range(m):
        for t in range(r + 1):
            total = 0.0
            for s in range(n):
                total += w[i + s * m + r] * w[i + s * m + t]
            y[o + r * m + t] -= total
            if t != r:
                y[o + t * m + r] -= total


@helper
def factor_cholesky(A, least, out):
    """L with A = L·L*, zeros above; False as soon as a pivot is not above least[row]."""
    a, i, n, _ = A
    y, o = out.data, out.at
    for r in range(n):
        for t in range(n):
            y[o + r * n + t] = 0.0
    for r in range(n):
        for t in range(r):
            total = a[i + r * n + t]
            for s in range(t):
                total -= y[o + r * n + s] * y[o + t * n + s]
            y[o + r * n + t] = total / y[o + t * n + t]
        pivot = a[i + r * n + r]
        for s in range(r):
            pivot -= y[o + r * n + s] ** 2
        if not pivot > least[r]:
            return False
        y[o + r * n + r] = pivot**0.5
    return True


@helper
def solve_lower(L, X):
    """X becomes L⁻¹·X, with X n×c."""
    factor, i, n, _ = L
    x, j, _, c = X
    for r in range(n):
        for s in range(r):
            f = factor[i + r * n + s]
            for t in range(c):
                x[j + r * c + t] -= f * x[j + s * c + t]
        for t in range(c):
            x[j + r * c + t] /= factor[i + r * n + r]


@helper
def solve_upper(L, X):
    """X becomes L⁻*·X, with X n×c."""
    factor, i, n, _ = L
    x, j, _, c = X
    for back in range(n):
        r = n - 1 - back
        for s in range(r + 1, n):
            f = factor[i + s * n + r]
            for t in range(c):
                x[j + r * c + t] -= f * x[j + s * c + t]
        for t in range(c):
            x[j + r * c + t] /= factor[i + r * n + r]
