"""The SIMD lane value: one kernel source, compiled at width 1 or at width 4.

A kernel takes a *width tag* `w` as its first argument and computes with *lanes*. At width 1 a lane
is a plain float; at width 4 it is an LLVM vector of four doubles, one for each of four independent
states. Everything below works on both, so the same source serves a single state and a batch:

    pointer(array)      what kernels pass around instead of an array
    load(w, ws, i)      lane i of a flat workspace, in which lane i occupies w consecutive doubles
    store(w, ws, i, x)
    load_rows(w, a, first, stride, i)    lane from column i of w consecutive rows of a flat table
    store_rows(w, a, first, stride, i, x)
    store_four(w, a, first, stride, i, x)    the same for four columns at once, x a tuple of four
    load_columns(w, ws, i)               as many columns of a row of lanes as fill a register:
    store_columns(w, ws, i, x)           columns_at_once(w), which is four of one state
    parameter(w, p, i)  a model constant: a float shared by all lanes, or a lane of its own
    + − × ÷, unary −, comparisons, select, fma, sqrt, floor, absolute, sincos, any_lane, all_lanes
    single(w)           is this width 1? Known at compile time

Each lane of a result is bit-identical to the width-1 result for the same input, by construction:
the operations are the correctly rounded ones of IEEE 754, no fast-math flag lets the compiler
reorder or fuse them (see jit.py), and sincos uses the same polynomials at both widths.

Under NUMBA_DISABLE_JIT=1 these functions run as plain Python at width 1. Python 3.11 has no fma, so
there `fma(a, b, c)` is `a*b + c` with two roundings: right to rounding, not to the last bit.
"""

from __future__ import annotations

from skodyn.lanes import compiled as _compiled  # noqa: F401  (registers the compiled meanings)
from skodyn.lanes.plain import (
    WIDTH_1,
    WIDTH_4,
    WIDTH_4_OWN_PARAMETERS,
    Width,
    absolute,
    all_lanes,
    any_lane,
    columns_at_once,
    floor,
    fma,
    integers,
    lane_at,
    load,
    load_columns,
    load_rows,
    logarithm,
    parameter,
    pointer,
    select,
    shift_pointer,
    single,
    splat,
    sqrt,
    store,
    store_columns,
    store_four,
    store_rows,
)
from skodyn.lanes.trigonometry import sincos, sincos_table

__all__ = [
    "WIDTH_1",
    "WIDTH_4",
    "WIDTH_4_OWN_PARAMETERS",
    "Width",
    "absolute",
    "all_lanes",
    "any_lane",
    "columns_at_once",
    "floor",
    "fma",
    "integers",
    "lane_at",
    "load",
    "load_columns",
    "load_rows",
    "logarithm",
    "parameter",
    "pointer",
    "select",
    "shift_pointer",
    "sincos",
    "sincos_table",
    "single",
    "splat",
    "sqrt",
    "store",
    "store_columns",
    "store_four",
    "store_rows",
]
