"""A height field: bicubic between its heights, with continuous slopes, level beyond its edges.

Through four heights in a row, Catmull and Rom's cubic; of four such rows, the same once more. Lanes
are in different cells, so each is looked up by itself, with the same operations at every width.
"""

from skodyn.jit import helper
from skodyn.kernels.workspace import SUMS, sum_slot
from skodyn.lanes import fma, lane_at, load, parameter, shift_pointer, sqrt, states
from skodyn.model.contact import contact_layout as its

PLACE = 12  # behind centre and axes: smallest x and y, points per metre in x and y
HEIGHTS = 16


@helper
def cubic(a, b, c, d, t):
    """(value, slope) at t from b to c, through a and d."""
    first, last = 0.5 * (c - a), 0.5 * (d - b)
    rise = c - b
    third = fma(-2.0, rise, first + last)
    second = fma(3.0, rise, -fma(2.0, first, last))
    value = fma(fma(fma(third, t, second), t, first), t, b)
    return value, fma(fma(3.0 * third, t, 2.0 * second), t, first)


@helper
def scalar(work, contacts, i, lane):
    """Number i of one lane."""
    return lane_at(parameter(work, contacts.numbers, i), lane)


@helper
def row_at(work, contacts, first, columns, j, t, lane):
    """(height, slope) along a row of the grid."""
    return cubic(
        scalar(work, contacts, first + max(j - 1, 0), lane),
        scalar(work, contacts, first + j, lane),
        scalar(work, contacts, first + j + 1, lane),
        scalar(work, contacts, first + min(j + 2, columns - 1), lane),
        t,
    )


@helper
def cell_of(place, count):
    """(cell, part of the way through it, is it inside?) of a place among `count` grid points."""
    inside = 0.0 <= place <= count - 1.0
    held = min(max(place, 0.0), count - 1.0) if place == place else 0.0
    i = min(int(held), count - 2)
    return i, held - i, inside


@helper
def look_up(work, contacts, at, x, y, lane):
    """(height, slope in x, slope in y) at one place."""
    codes = contacts.codes
    i, rows, columns = codes[at + its.SURFACE_AT], codes[at + its.ROWS], codes[at + its.COLUMNS]
    dense_x = scalar(work, contacts, i + PLACE + 2, lane)
    dense_y = scalar(work, contacts, i + PLACE + 3, lane)
    row, s, along_x = cell_of((x - scalar(work, contacts, i + PLACE, lane)) * dense_x, rows)
    column, t, along_y = cell_of(
        (y - scalar(work, contacts, i + PLACE + 1, lane)) * dense_y, columns
    )
    first = i + HEIGHTS
    before = first + max(row - 1, 0) * columns
    after = first + min(row + 2, rows - 1) * columns
    here = first + row * columns
    za, ya = row_at(work, contacts, before, columns, column, t, lane)
    zb, yb = row_at(work, contacts, here, columns, column, t, lane)
    zc, yc = row_at(work, contacts, here + columns, columns, column, t, lane)
    zd, yd = row_at(work, contacts, after, columns, column, t, lane)
    z, slope_x = cubic(za, zb, zc, zd, s)
    slope_y, _ = cubic(ya, yb, yc, yd, s)
    return (z, slope_x * dense_x if along_x else 0.0, slope_y * dense_y if along_y else 0.0)


@helper
def field_at(work, model, contacts, at, place):
    """(height, unit normal) below a place, in the field's axes."""
    slot = sum_slot(model, -1) + SUMS.INERTIA  # free until inertias are gathered
    for lane in range(states(work)):
        x, y = lane_at(place[0], lane), lane_at(place[1], lane)
        z, slope_x, slope_y = look_up(work, contacts, at, x, y, lane)
        shift_pointer(work.lanes, slot * states(work) + lane)[0] = z
        shift_pointer(work.lanes, (slot + 1) * states(work) + lane)[0] = slope_x
        shift_pointer(work.lanes, (slot + 2) * states(work) + lane)[0] = slope_y
    z, slope_x, slope_y = load(work, slot), load(work, slot + 1), load(work, slot + 2)
    over = 1.0 / sqrt(fma(slope_x, slope_x, fma(slope_y, slope_y, 1.0 + 0.0 * z)))
    return z, (-slope_x * over, -slope_y * over, over)
