"""Are the arguments of a batch finite? A look at some of its rows, by whoever works on them."""

from __future__ import annotations

from skodyn.jit import COUNT, FLOATS, helper, kernel

_INFINITY = float("inf")


@helper
def finite_part(table, start, stop, rows):
    """Rows start … stop − 1 of a flat table that has so many; it may be empty."""
    length = table.size // rows
    sound = True
    for i in range(start * length, stop * length):
        sound &= abs(table[i]) < _INFINITY
    return sound


@kernel(COUNT, COUNT, COUNT, FLOATS, FLOATS, FLOATS, FLOATS)
def finite_rows(start, stop, rows, q, v, x, f_ext):
    """Rows start … stop − 1 of flat tables."""
    return (
        finite_part(q, start, stop, rows)
        and finite_part(v, start, stop, rows)
        and finite_part(x, start, stop, rows)
        and finite_part(f_ext, start, stop, rows)
    )
