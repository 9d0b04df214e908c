"""Sums of tables: the vector arithmetic of steppers, element by element, the same at any width.

Elements are taken four at a time, whatever the tables hold: the compiler does not find out by
itself that they may be.
"""

from __future__ import annotations

from skodyn.jit import JIT_DISABLED, helper
from skodyn.lanes import (
    WIDTH_1,
    WIDTH_4,
    Work,
    absolute,
    all_lanes,
    fma,
    load,
    shift_pointer,
    splat,
    store,
)

WIDE = WIDTH_1 if JIT_DISABLED else WIDTH_4
AT_ONCE = 1 if JIT_DISABLED else 4


@helper
def clear(count, out):
    wide = Work(WIDE, out)
    zero = splat(wide, 0.0)
    whole = count // AT_ONCE
    for i in range(whole):
        store(wide, i, zero)
    for i in range(AT_ONCE * whole, count):
        out[i] = 0.0


@helper
def copy(count, out, a):
    to, source = Work(WIDE, out), Work(WIDE, a)
    whole = count // AT_ONCE
    for i in range(whole):
        store(to, i, load(source, i))
    for i in range(AT_ONCE * whole, count):
        out[i] = a[i]


@helper
def add_scaled_table(count, out, a, s, b):
    """out = a + s·b."""
    to, first, second = Work(WIDE, out), Work(WIDE, a), Work(WIDE, b)
    whole = count // AT_ONCE
    for i in range(whole):
        store(to, i, fma(s, load(second, i), load(first, i)))
    for i in range(AT_ONCE * whole, count):
        out[i] = fma(s, b[i], a[i])


@helper
def add_two_scaled_tables(count, out, a, scales, tables):
    """out = (a + s·b) + t·c, rounded as by add_scaled_table twice."""
    s, t = scales
    to, first = Work(WIDE, out), Work(WIDE, a)
    second, third = Work(WIDE, tables[0]), Work(WIDE, tables[1])
    whole = count // AT_ONCE
    for i in range(whole):
        store(to, i, fma(t, load(third, i), fma(s, load(second, i), load(first, i))))
    for i in range(AT_ONCE * whole, count):
        out[i] = fma(t, tables[1][i], fma(s, tables[0][i], a[i]))


@helper
def combine(count, out, start, stages, weights, dt, tables):
    """out = start + dt Σ weightsⱼ·tableⱼ over the first `stages` tables, two in a pass."""
    source, waiting = start, -1
    begun = False
    for j in range(stages):
        if weights[j] != 0.0:
            if waiting < 0:
                waiting = j
            else:
                scales = dt * weights[waiting], dt * weights[j]
                both = shift_pointer(tables, waiting * count), shift_pointer(tables, j * count)
                add_two_scaled_tables(count, out, source, scales, both)
                source, waiting, begun = out, -1, True
    if waiting >= 0:
        scale = dt * weights[waiting]
        add_scaled_table(count, out, source, scale, shift_pointer(tables, waiting * count))
    elif not begun:
        copy(count, out, start)


@helper
def within(count, a, limit):
    """Is no element further from zero than the limit, and none NaN?"""
    wide = Work(WIDE, a)
    whole = count // AT_ONCE
    for i in range(whole):
        if not all_lanes(absolute(load(wide, i)) <= limit):
            return False
    sound = True
    for i in range(AT_ONCE * whole, count):
        sound = sound and abs(a[i]) <= limit
    return sound
