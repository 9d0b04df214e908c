"""The SIMD lane value: one kernel source, compiled at width 1 or as wide as registers are.

A sweep takes its `work` as first argument: a *width tag* and the lanes it may use. At width 1 a
lane is a plain float; at width 4 or 8 (registers.py) it is an LLVM vector of as many doubles, one
for each of so many independent states. Everything below works on all of them, so the same source
serves a single state and a batch:

    pointer(array)          what kernels pass around instead of an array
    load(work, i)           lane i of the workspace; it occupies `width` consecutive doubles
    store(work, i, x)
    load_rows(work, rows, i)        lane from column i of as many rows of a flat table,
    store_rows(work, rows, i, x)    Rows(data, first, stride)
    expect_rows(work, rows, i)      the next rows' cache line of number i is wanted soon
    parameter(work, p, i)   a model constant: a float shared by all lanes, or a lane of its own
    table_entry(tree, i)    an integer that is looked up often
    + − × ÷, unary −, comparisons, select, fma, sqrt, floor, absolute, sincos, any_lane, all_lanes
    single(work)            is this width 1? Known at compile time, as is states(work), the width

What one state takes side by side has a room of its own, columns.py. `parts_of` makes a helper a
part of its own, compiled only when a model needs it (parts.py).

Each lane of a result is bit-identical to the width-1 result for the same input, by construction:
the operations are the correctly rounded ones of IEEE 754, no fast-math flag lets the compiler
reorder or fuse them (see jit/compiling.py), and sincos uses the same polynomials at both widths.

Under NUMBA_DISABLE_JIT=1 these functions run as plain Python at width 1. Python 3.11 has no fma, so
there `fma(a, b, c)` is `a*b + c` with two roundings: right to rounding, not to the last bit.
"""

from __future__ import annotations

from skodyn.jit import before_compiling
from skodyn.lanes.parts import PartAtWidths, parts_of
from skodyn.lanes.plain import (
    WIDTH_1,
    WIDTH_4,
    Rows,
    Width,
    Work,
    absolute,
    all_lanes,
    any_lane,
    expect_rows,
    floor,
    fma,
    integers,
    lane_at,
    load,
    load_rows,
    logarithm,
    parameter,
    pointer,
    select,
    shift_pointer,
    single,
    splat,
    sqrt,
    states,
    store,
    store_rows,
    table_entry,
)
from skodyn.lanes.registers import LANES, WIDTH_N, WIDTH_N_OWN_PARAMETERS
from skodyn.lanes.trigonometry import sincos, sincos_table

before_compiling("skodyn.lanes.compiled")
before_compiling("skodyn.lanes.compiled_memory")
before_compiling("skodyn.lanes.compiled_columns")

__all__ = [
    "LANES",
    "WIDTH_1",
    "WIDTH_4",
    "WIDTH_N",
    "WIDTH_N_OWN_PARAMETERS",
    "PartAtWidths",
    "Rows",
    "Width",
    "Work",
    "absolute",
    "all_lanes",
    "any_lane",
    "expect_rows",
    "floor",
    "fma",
    "integers",
    "lane_at",
    "load",
    "load_rows",
    "logarithm",
    "parameter",
    "parts_of",
    "pointer",
    "select",
    "shift_pointer",
    "sincos",
    "sincos_table",
    "single",
    "splat",
    "sqrt",
    "states",
    "store",
    "store_rows",
    "table_entry",
]
