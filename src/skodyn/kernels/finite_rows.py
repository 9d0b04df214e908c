"""Are the arguments of a batch finite? A look at some of its rows, by whoever works on them."""

from skodyn.jit import COUNT, FLOATS, JIT_DISABLED, helper, kernel
from skodyn.lanes import WIDTH_4, Work, all_lanes, fma, load, pointer, shift_pointer, splat

_INFINITY = float("inf")


@helper
def finite_part(table, start, stop, rows):
    """Rows start … stop − 1 of a flat table that has so many; it may be empty.

    Eight numbers at a time: 0·x is 0 for a finite x and NaN for any other.
    """
    length, data = table.size // rows, pointer(table)
    first, end = start * length, stop * length
    whole = first if JIT_DISABLED else first + (end - first) // 8 * 8
    none = splat(Work(WIDTH_4, data), 0.0)
    left, right = none, none
    for i in range(first, whole, 8):
        eight = Work(WIDTH_4, shift_pointer(data, i))
        left, right = fma(0.0, load(eight, 0), left), fma(0.0, load(eight, 1), right)
    sound = all_lanes(left + right == 0.0)
    for i in range(whole, end):
        sound &= abs(data[i]) < _INFINITY
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
