"""Banded matrices without symmetry: LU factorisation with row exchanges, in O(n).

Entry (i, j) lies in `bands[i, j − i + below]` for i − below ≤ j ≤ i + above + below: exchanges of
rows move entries up to `below` places to the right, for which the last columns are left free.
"""

from __future__ import annotations

from skodyn.fixman.pencil_blocks import PencilBlocks
from skodyn.jit import COUNT, FLAG, FLOATS, INTS, MATRIX, PLACES, RESULT, Group, kernel

__all__ = ["PENCIL", "factorize", "fill", "solve"]

PENCIL = Group(
    PencilBlocks, (FLOATS.of(3), FLOATS.of(3), FLOATS.of(3), FLOATS.of(3), FLAG.of(2), INTS)
)


@kernel(PENCIL, COUNT, MATRIX)
def fill(pencil, below, bands):
    """[[M, C*], [C, 0]] with the multipliers of body k before its twist; bands come in as zeros."""
    n = pencil.hard.shape[0]
    for k in range(n):
        row = pencil.start[k]
        twist = pencil.start[k + 1] - 6
        last = pencil.start[k] - 6  # the twist of body k − 1
        for i in range(6):
            for j in range(6):
                bands[twist + i, j - i + below] += pencil.inertia[k, i, j]
                if k > 0:
                    x = pencil.rotors[k, i, j]
                    bands[twist + i, last + j - twist - i + below] += x
                    bands[last + j, twist + i - last - j + below] += x
        for i in range(6):
            if not pencil.hard[k, i]:
                continue
            for j in range(6):
                x = pencil.own[k, i, j]
                bands[row, twist + j - row + below] = x
                bands[twist + j, row - twist - j + below] = x
                if k > 0:
                    y = -pencil.carried[k, i, j]
                    bands[row, last + j - row + below] = y
                    bands[last + j, row - last - j + below] = y
            row += 1


@kernel(COUNT, COUNT, MATRIX, PLACES)
def factorize(below, above, bands, exchanged):
    """L and U in the place of the matrix; −1, or the first row without a pivot."""
    n = bands.shape[0]
    for i in range(n):
        last = min(n - 1, i + below)
        best = i
        for r in range(i + 1, last + 1):
            if abs(bands[r, i - r + below]) > abs(bands[best, i - best + below]):
                best = r
        exchanged[i] = best
        if not abs(bands[best, i - best + below]) > 0.0:
            return i
        right = min(n - 1, i + above + below)
        if best != i:
            for c in range(i, right + 1):
                x = bands[i, c - i + below]
                bands[i, c - i + below] = bands[best, c - best + below]
                bands[best, c - best + below] = x
        pivot = bands[i, below]
        for r in range(i + 1, last + 1):
            factor = bands[r, i - r + below] / pivot
            bands[r, i - r + below] = factor
            if factor != 0.0:
                for c in range(i + 1, right + 1):
                    bands[r, c - r + below] -= factor * bands[i, c - i + below]
    return -1


@kernel(COUNT, COUNT, FLOATS.of(2), INTS, RESULT)
def solve(below, above, bands, exchanged, x):
    """A⁻¹·x in the place of x."""
    n = bands.shape[0]
    for i in range(n):
        best = exchanged[i]
        y = x[best]
        x[best] = x[i]
        x[i] = y
        for r in range(i + 1, min(n - 1, i + below) + 1):
            x[r] -= bands[r, i - r + below] * y
    for back in range(n):
        i = n - 1 - back
        y = x[i]
        for c in range(i + 1, min(n - 1, i + above + below) + 1):
            y -= bands[i, c - i + below] * x[c]
        x[i] = y / bands[i, below]
