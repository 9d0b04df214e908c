"""Rows of a state to rows of all joints and back, compiled; who follows whom is data.

`at`: where each element of the state's row lies in the full row. For mimic joint j, `place[j]` and
`source[j]` are its own and its source's place in the full row.
"""

from __future__ import annotations

from skodyn.jit import FLOATS, INTS, RESULT, brief_kernel


@brief_kernel(FLOATS, INTS, INTS, INTS, FLOATS, FLOATS, RESULT)
def expand_rows(x, at, place, source, multiplier, offset, out):
    """Independent elements copied, the others multiplier·source + offset."""
    n, full = at.size, at.size + place.size
    for row in range(out.size // full):
        first = row * full
        for i in range(n):
            out[first + at[i]] = x[row * n + i]
        for j in range(place.size):
            out[first + place[j]] = multiplier[j] * out[first + source[j]] + offset[j]


@brief_kernel(RESULT, INTS, INTS, INTS, FLOATS, RESULT)
def fold_rows(x, at, place, source, multiplier, out):
    """Gᵀ on every row of x, in place; what the state has of it goes to `out`."""
    n, full = at.size, at.size + place.size
    for row in range(x.size // full):
        first = row * full
        for j in range(place.size):
            x[first + source[j]] += multiplier[j] * x[first + place[j]]
        for i in range(n):
            out[row * n + i] = x[first + at[i]]


@brief_kernel(RESULT, INTS, INTS, INTS, FLOATS, RESULT)
def fold_matrices(x, at, place, source, multiplier, out):
    """Gᵀ·x·G of symmetric matrices, x overwritten; both triangles of the result have one value."""
    n, full = at.size, at.size + place.size
    for block in range(x.size // (full * full)):
        first = block * full * full
        for j in range(place.size):
            for row in range(full):
                at_row = first + row * full
                x[at_row + source[j]] += multiplier[j] * x[at_row + place[j]]
        for j in range(place.size):
            for column in range(full):
                own = x[first + place[j] * full + column]
                x[first + source[j] * full + column] += multiplier[j] * own
        for i in range(n):
            for j in range(i, n):
                value = x[first + at[i] * full + at[j]]
                out[(block * n + i) * n + j] = value
                out[(block * n + j) * n + i] = value
