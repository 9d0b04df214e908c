"""Where a sweep keeps what it computes: a flat array of lanes.

One record per body for its motion, one for the sums it gathers, one per degree of freedom, and
the sines and cosines of all coordinates.

Record 0 belongs to the ground, so that the parent of a base body (−1) needs no special case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.jit import helper
from skodyn.lanes import (
    absolute,
    all_lanes,
    integers,
    load,
    load_rows,
    parameter,
    pointer,
    shift_pointer,
    store,
    store_rows,
)
from skodyn.lanes.cache_lines import line_zeros, whole_lines
from skodyn.model.layout import (
    ARMATURE,
    BODY_RECORD,
    DOF_RECORD,
    HEADER,
    INDEX_COLUMNS,
    N_BODIES,
    NQ,
    NV,
)

# offsets in a body record, in lanes
ROTATION = 0  # R, kernel frame to world
ARM = 9  # l, from the parent's origin to this one's, world axes
OMEGA = 12  # ω
CORIOLIS = 15  # a(k)
MOTION = 21  # α(k), or V(k)
BODY_LANES = 27

# offsets in a record of sums, in lanes: what children have passed inward
FORCE = 0  # f(k), z(k)
INERTIA = 6  # R(k) as (m, h, J) or P(k) as (A, B, C): up to 21 lanes
SUM_LANES = 27

# offsets in a dof record, in lanes
COLUMN = 0  # a column of H*, world axes, about the body origin
GAIN = 6  # u = P·H*, before this degree of freedom has yielded
PIVOT = 12  # 1/d with d = H·u
RESIDUE = 13  # ε
DOF_LANES = 14

BLOCK_HEADER = 2  # where parameters and workspace begin

_INFINITY = float("inf")


@helper
def entry(tree, k, column):
    """One integer of body k: its parent, joint kind, …"""
    return tree[(k + 1) * INDEX_COLUMNS + column]


@helper
def body_count(tree):
    return tree[N_BODIES]


@helper
def body_slot(k):
    """Record of body k; −1 is the ground."""
    return (k + 1) * BODY_LANES


@helper
def sum_slot(tree, k):
    """Record of the sums of body k. The ground gathers nothing: its record (−1) carries the sum
    that is on its way from a first child to its parent, so that in a serial chain no other record
    is touched and the sums stay in the fastest cache.
    """
    return (body_count(tree) + 1) * BODY_LANES + (k + 1) * SUM_LANES


@helper
def carried_slot(tree, k, parent):
    """Where body k leaves what its parent gathers: a first child in the record that is carried."""
    return sum_slot(tree, -1 if parent == k - 1 else parent)


@helper
def dof_slot(n, i):
    """Record of degree of freedom i in a model of n bodies."""
    return (n + 1) * (BODY_LANES + SUM_LANES) + i * DOF_LANES


@helper
def sine_slot(tree):
    """Sines of all coordinates, then their cosines: see kernels/turns.py."""
    return dof_slot(body_count(tree), tree[NV])


@helper
def free_slot(tree):
    """Behind all records: what else an algorithm keeps."""
    return sine_slot(tree) + 2 * tree[NQ]


def workspace_lanes(n_bodies: int, nq: int, nv: int) -> int:
    """How many lanes a workspace needs."""
    return (n_bodies + 1) * (BODY_LANES + SUM_LANES) + nv * DOF_LANES + 2 * nq


@helper
def body_parameters(k):
    """Where the constants of body k begin."""
    return HEADER + k * BODY_RECORD


@helper
def dof_parameters(n, i):
    """Where the constants of degree of freedom i begin."""
    return HEADER + n * BODY_RECORD + i * DOF_RECORD


@helper
def armature(w, p, n, i):
    """Rotor inertia of degree of freedom i."""
    return parameter(w, p, dof_parameters(n, i) + ARMATURE)


@helper
def unpack(block):
    """(tree, parameters, workspace) of the block that single calls take; see `pack_block`."""
    data = pointer(block)
    sizes = integers(data)
    return (
        shift_pointer(sizes, BLOCK_HEADER),
        shift_pointer(data, sizes[0]),
        shift_pointer(data, sizes[1]),
    )


def pack_block(tree: Any, parameters: Any, lanes: int) -> Any:
    """A model and a workspace of width 1 in one array: an argument costs as much as a body."""
    at = BLOCK_HEADER + tree.size
    behind = whole_lines(at + parameters.size)
    block = line_zeros(behind + lanes)
    whole = block.view(np.int64)
    whole[:2] = at, behind
    whole[BLOCK_HEADER:at] = tree
    block[at : at + parameters.size] = parameters
    return block


# ---- tuples in and out of the workspace -------------------------------------------------------


@helper
def load3(w, ws, i):
    return (load(w, ws, i), load(w, ws, i + 1), load(w, ws, i + 2))


@helper
def store3(w, ws, i, a):
    store(w, ws, i, a[0])
    store(w, ws, i + 1, a[1])
    store(w, ws, i + 2, a[2])


@helper
def finite3(a):
    """Are all three numbers finite, in every lane?"""
    return all_lanes(absolute(a[0]) + absolute(a[1]) + absolute(a[2]) < _INFINITY)


@helper
def finite_spatial(a):
    """Are all six numbers finite, in every lane?"""
    return finite3(a[0]) and finite3(a[1])


@helper
def load6(w, ws, i):
    """A 6-vector."""
    return load3(w, ws, i), load3(w, ws, i + 3)


@helper
def store6(w, ws, i, a):
    store3(w, ws, i, a[0])
    store3(w, ws, i + 3, a[1])


@helper
def load_matrix(w, ws, i):
    a, b, c = load3(w, ws, i), load3(w, ws, i + 3), load3(w, ws, i + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@helper
def store_matrix(w, ws, i, m):
    store3(w, ws, i, (m[0], m[1], m[2]))
    store3(w, ws, i + 3, (m[3], m[4], m[5]))
    store3(w, ws, i + 6, (m[6], m[7], m[8]))


@helper
def load_sym(w, ws, i):
    a, b = load3(w, ws, i), load3(w, ws, i + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def store_sym(w, ws, i, s):
    store3(w, ws, i, (s[0], s[1], s[2]))
    store3(w, ws, i + 3, (s[3], s[4], s[5]))


@helper
def load_articulated(w, ws, i):
    return load_sym(w, ws, i), load_matrix(w, ws, i + 6), load_sym(w, ws, i + 15)


@helper
def store_articulated(w, ws, i, p):
    store_sym(w, ws, i, p[0])
    store_matrix(w, ws, i + 6, p[1])
    store_sym(w, ws, i + 15, p[2])


@helper
def load_inertia(w, ws, i):
    return load(w, ws, i), load3(w, ws, i + 1), load_sym(w, ws, i + 4)


@helper
def store_inertia(w, ws, i, inertia):
    store(w, ws, i, inertia[0])
    store3(w, ws, i + 1, inertia[1])
    store_sym(w, ws, i + 4, inertia[2])


# ---- constants and rows -----------------------------------------------------------------------


@helper
def parameter3(w, p, i):
    return (parameter(w, p, i), parameter(w, p, i + 1), parameter(w, p, i + 2))


@helper
def parameter_sym(w, p, i):
    a, b = parameter3(w, p, i), parameter3(w, p, i + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def parameter_matrix(w, p, i):
    a, b, c = parameter3(w, p, i), parameter3(w, p, i + 3), parameter3(w, p, i + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@helper
def row3(w, a, first, stride, i):
    return (
        load_rows(w, a, first, stride, i),
        load_rows(w, a, first, stride, i + 1),
        load_rows(w, a, first, stride, i + 2),
    )


@helper
def row4(w, a, first, stride, i):
    v = row3(w, a, first, stride, i + 1)
    return (load_rows(w, a, first, stride, i), v[0], v[1], v[2])


@helper
def row6(w, a, first, stride, i):
    return row3(w, a, first, stride, i), row3(w, a, first, stride, i + 3)


@helper
def store_row3(w, a, first, stride, i, x):
    store_rows(w, a, first, stride, i, x[0])
    store_rows(w, a, first, stride, i + 1, x[1])
    store_rows(w, a, first, stride, i + 2, x[2])
