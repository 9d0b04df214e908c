"""Symmetric positive definite matrices with a narrow band: Cholesky factorisation in O(n).

Row i of `bands` holds A[i, i], A[i, i − 1], …, A[i, i − width].
"""

from __future__ import annotations

import math

from skodyn.jit import FLAG, FLOATS, MATRIX, RESULT, kernel


@kernel(FLOATS.of(3), FLOATS.of(3), FLAG.of(2), MATRIX)
def pick_bands(diagonal, below, left_out, bands):
    """Of a block tridiagonal matrix, what is left without some of its rows and columns.

    below[k] is its block with k − 1. The bands come in as zeros, wide enough for two blocks.
    """
    row = 0
    blocks, size = left_out.shape
    for k in range(blocks):
        for i in range(size):
            if left_out[k, i]:
                continue
            at = 0
            for j in range(i, -1, -1):
                if not left_out[k, j]:
                    bands[row, at] = diagonal[k, i, j]
                    at += 1
            if k > 0:
                for j in range(size - 1, -1, -1):
                    if not left_out[k - 1, j]:
                        bands[row, at] = below[k, i, j]
                        at += 1
            row += 1


@kernel(MATRIX)
def factorize(bands):
    """L of A = L·L* in the place of A; −1, or the row at which A is not positive definite."""
    n, width = bands.shape[0], bands.shape[1] - 1
    for i in range(n):
        low = max(0, i - width)
        for j in range(low, i + 1):
            x = bands[i, i - j]
            for k in range(max(low, j - width), j):
                x -= bands[i, i - k] * bands[j, j - k]
            if j < i:
                bands[i, i - j] = x / bands[j, 0]
            elif x > 0.0:
                bands[i, 0] = math.sqrt(x)
            else:
                return i
    return -1


@kernel(FLOATS.of(2), RESULT)
def solve(factor, x):
    """A⁻¹·x in the place of x."""
    n, width = factor.shape[0], factor.shape[1] - 1
    for i in range(n):
        for k in range(max(0, i - width), i):
            x[i] -= factor[i, i - k] * x[k]
        x[i] /= factor[i, 0]
    for back in range(n):
        i = n - 1 - back
        x[i] /= factor[i, 0]
        for k in range(max(0, i - width), i):
            x[k] -= factor[i, i - k] * x[i]
