"""Many right-hand sides at once: the two halves of Algorithm 6.1 for the columns of a matrix.

The matrix lies in the workspace, a row of lanes for each degree of freedom, and so do the forces z
and the accelerations α of all columns, six rows each. Several states in a register take columns one
by one; a single state takes four to a register, which may reach beyond the columns it is for.

Bodies share those six rows. A last child works where its parent's z or α is, which nobody else asks
for meanwhile; any other child works one level above. In a chain all bodies work on one level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import load, splat, store
from skodyn.lanes.columns import columns_at_once, load_columns, store_columns
from skodyn.model.layout import N_DOF, NV, PARENT, SUBTREE_END, V_START
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
)


@helper
def dofs_end(model, k):
    """One past the last degree of freedom of the subtree of body k."""
    end = entry(model, k, SUBTREE_END)
    return model.tree[NV] if end >= body_count(model) else entry(model, end, V_START)


# ---- levels -----------------------------------------------------------------------------------


@helper
def branches_off(model, k):
    """1 if a later body has the same parent, else 0. The ground is a parent, too."""
    parent = entry(model, k, PARENT)
    end = body_count(model) if parent < 0 else entry(model, parent, SUBTREE_END)
    return 0 if entry(model, k, SUBTREE_END) == end else 1


@helper
def level_before(model, k, level):
    """The level of body k from that of body k + 1."""
    level -= branches_off(model, k + 1)
    inner, stop = k, entry(model, k + 1, PARENT)
    while inner != stop:
        level += branches_off(model, inner)
        inner = entry(model, inner, PARENT)
    return level


@helper
def level_of_parent(model, k, level):
    """The level of the parent of body k from that of body k − 1."""
    inner, stop = k - 1, entry(model, k, PARENT)
    while inner != stop:
        level -= branches_off(model, inner)
        inner = entry(model, inner, PARENT)
    return level


def level_count(indices):
    """How many levels there are; at least one."""
    levels = [0] * len(indices)
    for k, row in enumerate(indices.tolist()):
        inner = row[PARENT]
        last = row[SUBTREE_END] == (len(indices) if inner < 0 else indices[inner, SUBTREE_END])
        levels[k] = (0 if inner < 0 else levels[inner]) + (0 if last else 1)
    return 1 + max(levels, default=0)


# ---- columns ----------------------------------------------------------------------------------


class Span(NamedTuple):
    """Columns begin … end − 1 of 6-vectors, whose components lie `pitch` lanes apart."""

    begin: int
    end: int
    pitch: int


class DegreeOfFreedom(NamedTuple):
    """What forces and accelerations of all columns meet at a joint: see residuals.py."""

    column: Any  # h
    gain: Any  # u
    pivot: Any  # 1/d


@helper
def degree_of_freedom(work, model, k, i, r):
    """Degree of freedom i of body k, whose rotation is r; its joint has yielded before."""
    record = dof_slot(body_count(model), entry(model, k, V_START) + i)
    h, u = joint_column(work, model, k, i, r), load6(work, record + DOF.GAIN)
    return DegreeOfFreedom(h, u, load(work, record + DOF.PIVOT))


@helper
def columns6(work, at, pitch):
    """6-vectors of neighbouring columns; their components lie `pitch` lanes apart."""
    return (
        (
            load_columns(work, at),
            load_columns(work, at + pitch),
            load_columns(work, at + 2 * pitch),
        ),
        (
            load_columns(work, at + 3 * pitch),
            load_columns(work, at + 4 * pitch),
            load_columns(work, at + 5 * pitch),
        ),
    )


@helper
def store_columns6(work, at, pitch, x):
    store_columns(work, at, x[0][0])
    store_columns(work, at + pitch, x[0][1])
    store_columns(work, at + 2 * pitch, x[0][2])
    store_columns(work, at + 3 * pitch, x[1][0])
    store_columns(work, at + 4 * pitch, x[1][1])
    store_columns(work, at + 5 * pitch, x[1][2])


@helper
def clear_lanes(work, at, count):
    for i in range(count):
        store(work, at + i, splat(work, 0.0))


# ---- inward -----------------------------------------------------------------------------------


@helper
def eliminate_columns(work, span, dof, arm, row, z):
    """ε = −b − h·z into the row that holds b, and φ·z⁺ with z⁺ = z + u ε/d in the place of z."""
    h, u, pivot = dof
    for j in range(span.begin, span.end, columns_at_once(work)):
        f = columns6(work, z + j, span.pitch)
        epsilon = (0.0 - load_columns(work, row + j)) - dot_spatial(h, f)
        store_columns(work, row + j, epsilon)
        f = shift_force(arm, add_scaled_spatial(f, epsilon * pivot, u))
        store_columns6(work, z + j, span.pitch, f)


@helper
def shift_columns(work, span, arm, z):
    """φ·z in the place of z, for a joint that is locked."""
    for j in range(span.begin, span.end, columns_at_once(work)):
        f = shift_force(arm, columns6(work, z + j, span.pitch))
        store_columns6(work, z + j, span.pitch, f)


@helper
def join_columns(work, span, z, inner):
    """Add what has come from one child to what has come from others."""
    for j in range(span.begin, span.end, columns_at_once(work)):
        f = add_spatial(columns6(work, inner + j, span.pitch), columns6(work, z + j, span.pitch))
        store_columns6(work, inner + j, span.pitch, f)


@helper
def gather_columns(work, model, matrix, half, halves, sums):
    """Residuals ε in the place of a matrix B, the right-hand sides being −B.

    B is some matrices side by side, each `half` columns wide, in which the row of a body is zero
    behind the columns of its own subtree. `matrix` and `sums` are the lanes where B and the forces
    begin.
    """
    n, pitch, level = body_count(model), half * halves, 0
    for back in range(n):
        k = n - 1 - back
        level = level_before(model, k, level) if back > 0 else 0
        z, end = sums + level * 6 * pitch, dofs_end(model, k)
        if entry(model, k, SUBTREE_END) == k + 1:
            clear_lanes(work, z, 6 * pitch)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        arm = load3(work, body_slot(k) + BODY.ARM)
        for first in range(0, pitch, half):
            span = Span(first, first + end, pitch)
            if entry(model, k, N_DOF) == 0:
                shift_columns(work, span, arm, z)
            for d_back in range(entry(model, k, N_DOF)):
                i = entry(model, k, N_DOF) - 1 - d_back
                row = matrix + (entry(model, k, V_START) + i) * pitch
                way = arm if i == 0 else zero3(work)  # to the parent only when all have yielded
                eliminate_columns(work, span, degree_of_freedom(work, model, k, i, r), way, row, z)
            if branches_off(model, k) == 1:
                join_columns(work, span, z, z - 6 * pitch)


# ---- outward ----------------------------------------------------------------------------------


@helper
def carry_columns(work, span, arm, inner, alpha):
    """α⁺ = φ*·α, for a joint that is locked."""
    for j in range(span.begin, span.end, columns_at_once(work)):
        a = columns6(work, inner + j, span.pitch)
        store_columns6(work, alpha + j, span.pitch, shift_motion(arm, a))


@helper
def backsubstitute_columns(work, span, dof, arm, inner, row, alpha):
    """x = (ε − u·α⁺)/d into the row that holds ε, and α = α⁺ + h x; behind the span ε is zero."""
    step, pitch = columns_at_once(work), span.pitch
    h, u, pivot = dof
    for j in range(span.begin, span.end, step):
        a = shift_motion(arm, columns6(work, inner + j, pitch))
        x = (load_columns(work, row + j) - dot_spatial(u, a)) * pivot
        store_columns(work, row + j, x)
        store_columns6(work, alpha + j, pitch, add_scaled_spatial(a, x, h))
    for j in range((span.end + step - 1) // step * step, pitch, step):
        a = shift_motion(arm, columns6(work, inner + j, pitch))
        x = (0.0 - dot_spatial(u, a)) * pivot  # rounded as above, signs of zeros included
        store_columns(work, row + j, x)
        store_columns6(work, alpha + j, pitch, add_scaled_spatial(a, x, h))


@helper
def scatter_columns(work, model, matrix, pitch, triangle, sums):
    """𝓜⁻¹ times the right-hand sides, in the place of the residuals ε that a gather has left.

    `triangle`: only from the diagonal on, where ε ends with the columns of the body's subtree.
    """
    level, step = 0, columns_at_once(work)
    clear_lanes(work, sums, 6 * pitch)  # the ground's α
    for k in range(body_count(model)):
        level = level_of_parent(model, k, level)
        inner = sums + level * 6 * pitch
        level += branches_off(model, k)
        alpha, start = sums + level * 6 * pitch, entry(model, k, V_START)
        end = dofs_end(model, k) if triangle else pitch
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        arm = load3(work, body_slot(k) + BODY.ARM)
        begin = start // step * step if triangle else 0
        if entry(model, k, N_DOF) == 0:
            carry_columns(work, Span(begin, pitch, pitch), arm, inner, alpha)
        for i in range(entry(model, k, N_DOF)):
            dof, row = degree_of_freedom(work, model, k, i, r), matrix + (start + i) * pitch
            backsubstitute_columns(work, Span(begin, end, pitch), dof, arm, inner, row, alpha)
            arm, inner = zero3(work), alpha  # what is left of the joint starts from there
