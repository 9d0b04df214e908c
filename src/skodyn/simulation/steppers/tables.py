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
def combine(count, out, start, stages, weights, dt, tables):
    """out = start + dt Σ weightsⱼ·tableⱼ over the first `stages` tables."""
    begun = False
    for j in range(stages):
        if weights[j] != 0.0:
            added = shift_pointer(tables, j * count)
            if begun:
                add_scaled_table(count, out, out, dt * weights[j], added)
            else:
                add_scaled_table(count, out, start, dt * weights[j], added)
            begun = True
    if not begun:
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
