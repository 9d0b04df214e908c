"""Where a sweep keeps what it computes: a flat array of lanes.

One record per body for its motion, one for the sums it gathers, one per degree of freedom, and
the sines and cosines of all coordinates; `map_of` prints it.

Record 0 belongs to the ground, so that the parent of a base body (−1) needs no special case.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skodyn.jit import guards, helper, plain
from skodyn.kernels.records import Record
from skodyn.lanes import (
    WIDTH_1,
    Work,
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


class PackedModel(NamedTuple):
    """A model as kernels see it: two pointers, laid out by model/layout.py."""

    tree: Any  # integers: sizes, then parent, joint kind, … of every body
    parameters: Any  # doubles: gravity, placements, inertias, …


BODY = Record(
    "body",
    ROTATION=(9, "R, kernel frame to world"),
    ARM=(3, "l, from the parent's origin to this one's, world axes"),
    OMEGA=(3, "ω"),
    CORIOLIS=(6, "a(k)"),
    MOTION=(6, "α(k), or V(k)"),
)
ROTATION, ARM, OMEGA, CORIOLIS, MOTION = BODY.offsets
BODY_LANES = BODY.size

SUMS = Record(
    "sums: what children have passed inward",
    FORCE=(6, "f(k), z(k)"),
    INERTIA=(21, "R(k) as (m, h, J), or P(k) as (A, B, C)"),
)
FORCE, INERTIA = SUMS.offsets
SUM_LANES = SUMS.size

DOF = Record(
    "degree of freedom",
    COLUMN=(6, "a column of H*, world axes, about the body origin"),
    GAIN=(6, "u = P·H*, before this degree of freedom has yielded"),
    PIVOT=(1, "1/d with d = H·u"),
    RESIDUE=(1, "ε"),
)
COLUMN, GAIN, PIVOT, RESIDUE = DOF.offsets
DOF_LANES = DOF.size

BLOCK_HEADER = 2  # where parameters and workspace begin

_INFINITY = float("inf")


@helper
def entry(model, k, column):
    """One integer of body k: its parent, joint kind, …"""
    return model.tree[(k + 1) * INDEX_COLUMNS + column]


@helper
def body_count(model):
    return model.tree[N_BODIES]


@helper
def velocity_count(model):
    return model.tree[NV]


# ---- where a record begins: the lanes of the workspace, in this order --------------------------


@helper
def sums_at(n):
    """Behind the records of n bodies and the ground."""
    return (n + 1) * BODY_LANES


@helper
def dofs_at(n):
    """Behind their records of sums."""
    return (n + 1) * (BODY_LANES + SUM_LANES)


@helper
def sines_at(n, nv):
    """Behind the records of degrees of freedom."""
    return (n + 1) * (BODY_LANES + SUM_LANES) + nv * DOF_LANES


@helper
def body_slot(k):
    """Record of body k; −1 is the ground."""
    return (k + 1) * BODY_LANES


@helper
def sum_slot(model, k):
    """Record of the sums of body k. The ground gathers nothing: its record (−1) carries the sum
    that is on its way from a first child to its parent, so that in a serial chain no other record
    is touched and the sums stay in the fastest cache.
    """
    return sums_at(body_count(model)) + (k + 1) * SUM_LANES


@helper
def carried_slot(model, k, parent):
    """Where body k leaves what its parent gathers: a first child in the record that is carried."""
    return sum_slot(model, -1 if parent == k - 1 else parent)


@helper
def dof_slot(n, i):
    """Record of degree of freedom i in a model of n bodies."""
    return dofs_at(n) + i * DOF_LANES


@helper
def sine_slot(model):
    """Sines of all coordinates, then their cosines: see kernels/joint_trigonometry.py."""
    return sines_at(body_count(model), model.tree[NV])


@helper
def free_slot(model):
    """Behind all records: what else an algorithm keeps."""
    return sine_slot(model) + 2 * model.tree[NQ]


def workspace_lanes(n_bodies: int, nq: int, nv: int) -> int:
    """How many lanes a workspace needs: all that lies before `free_slot`."""
    return int(plain(sines_at)(n_bodies, nv)) + 2 * nq


def map_of(n_bodies: int, nq: int, nv: int) -> str:
    """The workspace of a model in words, for whoever debugs one."""
    sums, dofs, sines = (
        plain(sums_at)(n_bodies),
        plain(dofs_at)(n_bodies),
        workspace_lanes(n_bodies, 0, nv),
    )
    return "\n".join(
        [
            f"{0:8} {n_bodies + 1} × {BODY}",
            f"{sums:8} {n_bodies + 1} × {SUMS}",
            f"{dofs:8} {nv} × {DOF}",
            f"{sines:8} sines, cosines of {nq} coordinates",
            f"{workspace_lanes(n_bodies, nq, nv):8} free",
        ]
    )


@helper
def body_parameters(k):
    """Where the constants of body k begin."""
    return HEADER + k * BODY_RECORD


@helper
def dof_parameters(n, i):
    """Where the constants of degree of freedom i begin."""
    return HEADER + n * BODY_RECORD + i * DOF_RECORD


@helper
def armature(work, model, i):
    """Rotor inertia of degree of freedom i."""
    return parameter(work, model.parameters, dof_parameters(body_count(model), i) + ARMATURE)


@helper
def unpack(block):
    """(work, model) of the block that single calls take; see `pack_block`."""
    data = pointer(block)
    sizes = integers(data)
    model = PackedModel(shift_pointer(sizes, BLOCK_HEADER), shift_pointer(data, sizes[0]))
    return Work(WIDTH_1, shift_pointer(data, sizes[1])), model


def pack_block(tree: Any, parameters: Any, lanes: int) -> Any:
    """A model and a workspace of width 1 in one array: an argument costs as much as a body."""
    at = BLOCK_HEADER + tree.size
    behind = whole_lines(at + parameters.size)
    block = line_zeros(behind + lanes)
    whole = block.view(np.int64)
    whole[:2] = at, behind
    whole[BLOCK_HEADER:at] = tree
    block[at : at + parameters.size] = parameters
    if guards.CHECKING:
        guards.seal(block, behind)
    return block


# ---- tuples in and out of the workspace -------------------------------------------------------


@helper
def load3(work, i):
    return (load(work, i), load(work, i + 1), load(work, i + 2))


@helper
def store3(work, i, a):
    store(work, i, a[0])
    store(work, i + 1, a[1])
    store(work, i + 2, a[2])


@helper
def finite3(a):
    """Are all three numbers finite, in every lane?"""
    return all_lanes(absolute(a[0]) + absolute(a[1]) + absolute(a[2]) < _INFINITY)


@helper
def finite_spatial(a):
    """Are all six numbers finite, in every lane?"""
    return finite3(a[0]) and finite3(a[1])


@helper
def load6(work, i):
    """A 6-vector."""
    return load3(work, i), load3(work, i + 3)


@helper
def store6(work, i, a):
    store3(work, i, a[0])
    store3(work, i + 3, a[1])


@helper
def load_matrix(work, i):
    a, b, c = load3(work, i), load3(work, i + 3), load3(work, i + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@helper
def store_matrix(work, i, m):
    store3(work, i, (m[0], m[1], m[2]))
    store3(work, i + 3, (m[3], m[4], m[5]))
    store3(work, i + 6, (m[6], m[7], m[8]))


@helper
def load_sym(work, i):
    a, b = load3(work, i), load3(work, i + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def store_sym(work, i, s):
    store3(work, i, (s[0], s[1], s[2]))
    store3(work, i + 3, (s[3], s[4], s[5]))


@helper
def load_articulated(work, i):
    return load_sym(work, i), load_matrix(work, i + 6), load_sym(work, i + 15)


@helper
def store_articulated(work, i, p):
    store_sym(work, i, p[0])
    store_matrix(work, i + 6, p[1])
    store_sym(work, i + 15, p[2])


@helper
def load_inertia(work, i):
    return load(work, i), load3(work, i + 1), load_sym(work, i + 4)


@helper
def store_inertia(work, i, inertia):
    store(work, i, inertia[0])
    store3(work, i + 1, inertia[1])
    store_sym(work, i + 4, inertia[2])


# ---- constants and rows -----------------------------------------------------------------------


@helper
def parameter3(work, model, i):
    p = model.parameters
    return (parameter(work, p, i), parameter(work, p, i + 1), parameter(work, p, i + 2))


@helper
def parameter_sym(work, model, i):
    a, b = parameter3(work, model, i), parameter3(work, model, i + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def parameter_matrix(work, model, i):
    a, b, c = (
        parameter3(work, model, i),
        parameter3(work, model, i + 3),
        parameter3(work, model, i + 6),
    )
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@helper
def row3(work, a, i):
    return (
        load_rows(work, a, i),
        load_rows(work, a, i + 1),
        load_rows(work, a, i + 2),
    )


@helper
def row4(work, a, i):
    v = row3(work, a, i + 1)
    return (load_rows(work, a, i), v[0], v[1], v[2])


@helper
def row6(work, a, i):
    return row3(work, a, i), row3(work, a, i + 3)


@helper
def store_row3(work, a, i, x):
    store_rows(work, a, i, x[0])
    store_rows(work, a, i + 1, x[1])
    store_rows(work, a, i + 2, x[2])
