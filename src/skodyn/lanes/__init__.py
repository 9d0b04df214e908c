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
    store_four(work, rows, i, x)    the same for four columns at once, x a tuple of four
    load_columns(work, i)           columns_at_once(work) of a row of lanes: one of several
    store_columns(work, i, x)       states, four of one
    splat_columns(work, x)
    turn_square(work, at, to, pitch)    transpose four by four lanes
    parameter(work, p, i)   a model constant: a float shared by all lanes, or a lane of its own
    parameter_columns(work, p, i)   as many of them as columns are taken at once
    table_entry(tree, i)    an integer that is looked up often
    + − × ÷, unary −, comparisons, select, fma, sqrt, floor, absolute, sincos, any_lane, all_lanes
    single(work)            is this width 1? Known at compile time, as is states(work), the width

`parts_of` makes a helper a part of its own, compiled only when a model needs it (parts.py).

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
    columns_at_once,
    expect_rows,
    floor,
    fma,
    integers,
    lane_at,
    load,
    load_columns,
    load_rows,
    logarithm,
    parameter,
    parameter_columns,
    pointer,
    select,
    shift_pointer,
    single,
    splat,
    splat_columns,
    sqrt,
    states,
    store,
    store_columns,
    store_four,
    store_rows,
    table_entry,
    turn_square,
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
    "columns_at_once",
    "expect_rows",
    "floor",
    "fma",
    "integers",
    "lane_at",
    "load",
    "load_columns",
    "load_rows",
    "logarithm",
    "parameter",
    "parameter_columns",
    "parts_of",
    "pointer",
    "select",
    "shift_pointer",
    "sincos",
    "sincos_table",
    "single",
    "splat",
    "splat_columns",
    "sqrt",
    "states",
    "store",
    "store_columns",
    "store_four",
    "store_rows",
    "table_entry",
    "turn_square",
]
