"""Sums of tables: the vector arithmetic of steppers, element by element, the same at any width."""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.lanes import fma


@helper
def clear(count, out):
    for i in range(count):
        out[i] = 0.0


@helper
def copy(count, out, a):
    for i in range(count):
        out[i] = a[i]


@helper
def add_scaled_table(count, out, a, s, b):
    """out = a + s·b."""
    for i in range(count):
        out[i] = fma(s, b[i], a[i])
