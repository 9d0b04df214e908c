"""Where a sweep keeps what it computes: a flat array of lanes.

One record per body for its motion, one for the sums it gathers, one per degree of freedom, and
the sines and cosines of all coordinates; `map_of` prints it.

Record 0 belongs to the ground, so that the parent of a base body (−1) needs no special case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.jit import Record, guards, helper, plain
from skodyn.kernels.packed_model import PackedModel, body_count
from skodyn.lanes import WIDTH_1, Work, integers, pointer, shift_pointer
from skodyn.lanes.cache_lines import line_zeros, whole_lines
from skodyn.model.layout import NQ, NV

BODY = Record(
    "body",
    ROTATION=(9, "R, kernel frame to world"),
    ARM=(3, "l, from the parent's origin to this one's, world axes"),
    OMEGA=(3, "ω"),
    CORIOLIS=(6, "a(k)"),
    MOTION=(6, "α(k), or V(k)"),
)

SUMS = Record(
    "sums: what children have passed inward",
    FORCE=(6, "f(k), z(k)"),
    INERTIA=(21, "R(k) as (m, h, J), or P(k) as (A, B, C)"),
)

DOF = Record(
    "degree of freedom",
    COLUMN=(6, "a column of H*, world axes, about the body origin"),
    GAIN=(6, "u = P·H*, before this degree of freedom has yielded"),
    PIVOT=(1, "1/d with d = H·u"),
    RESIDUE=(1, "ε"),
)

BLOCK_HEADER = 2  # where parameters and workspace begin

# ---- where a record begins: the lanes of the workspace, in this order --------------------------


@helper
def sums_at(n):
    """Behind the records of n bodies and the ground."""
    return (n + 1) * BODY.size


@helper
def dofs_at(n):
    """Behind their records of sums."""
    return (n + 1) * (BODY.size + SUMS.size)


@helper
def sines_at(n, nv):
    """Behind the records of degrees of freedom."""
    return (n + 1) * (BODY.size + SUMS.size) + nv * DOF.size


@helper
def body_slot(k):
    """Record of body k; −1 is the ground."""
    return (k + 1) * BODY.size


@helper
def sum_slot(model, k):
    """Record of the sums of body k. The ground gathers nothing: its record (−1) carries the sum
    that is on its way from a first child to its parent, so that in a serial chain no other record
    is touched and the sums stay in the fastest cache.
    """
    return sums_at(body_count(model)) + (k + 1) * SUMS.size


@helper
def carried_slot(model, k, parent):
    """Where body k leaves what its parent gathers: a first child in the record that is carried."""
    return sum_slot(model, -1 if parent == k - 1 else parent)


@helper
def dof_slot(n, i):
    """Record of degree of freedom i in a model of n bodies."""
    return dofs_at(n) + i * DOF.size


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
