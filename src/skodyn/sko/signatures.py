"""The types that kernels of this package take: flat contiguous arrays and whole numbers.

Inputs are declared read-only, which arrays of a frozen model are and any other array may become;
so each kernel is compiled once.
"""

from __future__ import annotations

from numba import types

INTS = types.Array(types.int64, 1, "C", readonly=True)
FLOATS = types.Array(types.float64, 1, "C", readonly=True)
RESULT = types.Array(types.float64, 1, "C")
COUNT = types.int64
PLACES = types.Array(types.int64, 1, "C")  # indices that a kernel writes down
