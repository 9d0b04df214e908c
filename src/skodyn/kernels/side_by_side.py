"""Many right-hand sides at once: the two halves of Algorithm 6.1 for the columns of a matrix.

The matrix lies in the workspace, a row of lanes for each degree of freedom, and so do the forces z
and the accelerations α of all columns, six rows each. Several states in a register take columns one
by one; a single state takes four to a register, which may reach beyond the columns it is for.

Bodies share those six rows. A last child works where its parent's z or α is, which nobody else asks
for meanwhile; any other child works one level above. In a chain all bodies work on one level.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.residuals import add_scaled_spatial
from skodyn.kernels.workspace import (
    ARM,
    GAIN,
    PIVOT,
    ROTATION,
    body_count,
    body_slot,
    dof_slot,
    entry,
    load3,
    load6,
    load_matrix,
)
from skodyn.lanes import columns_at_once, load, load_columns, splat, store, store_columns
from skodyn.model.layout import N_DOF, NV, PARENT, SUBTREE_END, V_START
from skodyn.spatial.motion import add_spatial, dot_spatial, shift_force, shift_motion


@helper
def dofs_end(tree, k):
    """One past the last degree of freedom of the subtree of body k."""
    end = entry(tree, k, SUBTREE_END)
    return tree[NV] if end >= body_count(tree) else entry(tree, end, V_START)


# ---- levels -----------------------------------------------------------------------------------


@helper
def branches_off(tree, k):
    """1 if a later body has the same parent, else 0. The ground is a parent, too."""
    parent = entry(tree, k, PARENT)
    end = body_count(tree) if parent < 0 else entry(tree, parent, SUBTREE_END)
    return 0 if entry(tree, k, SUBTREE_END) == end else 1


@helper
def level_before(tree, k, level):
    """The level of body k from that of body k + 1."""
    level -= branches_off(tree, k + 1)
    inner, stop = k, entry(tree, k + 1, PARENT)
    while inner != stop:
        level += branches_off(tree, inner)
        inner = entry(tree, inner, PARENT)
    return level


@helper
def level_of_parent(tree, k, level):
    """The level of the parent of body k from that of body k − 1."""
    inner, stop = k - 1, entry(tree, k, PARENT)
    while inner != stop:
        level -= branches_off(tree, inner)
        inner = entry(tree, inner, PARENT)
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


@helper
def columns6(w, ws, at, pitch):
    """6-vectors of neighbouring columns; their components lie `pitch` lanes apart."""
    return (
        (
            load_columns(w, ws, at),
            load_columns(w, ws, at + pitch),
            load_columns(w, ws, at + 2 * pitch),
        ),
        (
            load_columns(w, ws, at + 3 * pitch),
            load_columns(w, ws, at + 4 * pitch),
            load_columns(w, ws, at + 5 * pitch),
        ),
    )


@helper
def store_columns6(w, ws, at, pitch, x):
    store_columns(w, ws, at, x[0][0])
    store_columns(w, ws, at + pitch, x[0][1])
    store_columns(w, ws, at + 2 * pitch, x[0][2])
    store_columns(w, ws, at + 3 * pitch, x[1][0])
    store_columns(w, ws, at + 4 * pitch, x[1][1])
    store_columns(w, ws, at + 5 * pitch, x[1][2])


@helper
def clear_lanes(w, ws, at, count):
    for i in range(count):
        store(w, ws, at + i, splat(w, 0.0))


# ---- inward -----------------------------------------------------------------------------------


@helper
def take_columns(w, begin, stop, h, u, pivot, arm, row, z, pitch, ws):
    """ε = −b − h·z into the row that holds b, and φ·z⁺ with z⁺ = z + u ε/d in the place of z."""
    for j in range(begin, stop, columns_at_once(w)):
        f = columns6(w, ws, z + j, pitch)
        epsilon = (0.0 - load_columns(w, ws, row + j)) - dot_spatial(h, f)
        store_columns(w, ws, row + j, epsilon)
        f = shift_force(arm, add_scaled_spatial(f, epsilon * pivot, u))
        store_columns6(w, ws, z + j, pitch, f)


@helper
def shift_columns(w, begin, stop, arm, z, pitch, ws):
    """φ·z in the place of z, for a joint that is locked."""
    for j in range(begin, stop, columns_at_once(w)):
        f = shift_force(arm, columns6(w, ws, z + j, pitch))
        store_columns6(w, ws, z + j, pitch, f)


@helper
def join_columns(w, begin, stop, z, inner, pitch, ws):
    """Add what has come from one child to what has come from others."""
    for j in range(begin, stop, columns_at_once(w)):
        f = add_spatial(columns6(w, ws, inner + j, pitch), columns6(w, ws, z + j, pitch))
        store_columns6(w, ws, inner + j, pitch, f)


@helper
def gather_columns(w, tree, p, matrix, half, halves, sums, ws):
    """Residuals ε in the place of a matrix B, the right-hand sides being −B.

    B is some matrices side by side, each `half` columns wide, in which the row of a body is zero
    behind the columns of its own subtree.
    """
    n, pitch, level = body_count(tree), half * halves, 0
    for back in range(n):
        k = n - 1 - back
        level = level_before(tree, k, level) if back > 0 else 0
        z, end = sums + level * 6 * pitch, dofs_end(tree, k)
        if entry(tree, k, SUBTREE_END) == k + 1:
            clear_lanes(w, ws, z, 6 * pitch)
        r, arm = load_matrix(w, ws, body_slot(k) + ROTATION), load3(w, ws, body_slot(k) + ARM)
        for first in range(0, pitch, half):
            if entry(tree, k, N_DOF) == 0:
                shift_columns(w, first, first + end, arm, z, pitch, ws)
            for d_back in range(entry(tree, k, N_DOF)):
                i = entry(tree, k, N_DOF) - 1 - d_back
                dof = entry(tree, k, V_START) + i
                record, row = dof_slot(n, dof), matrix + dof * pitch
                h, u = joint_column(w, tree, p, k, i, r, ws), load6(w, ws, record + GAIN)
                pivot = load(w, ws, record + PIVOT)
                way = arm if i == 0 else zero3(w)  # to the parent only when all have yielded
                take_columns(w, first, first + end, h, u, pivot, way, row, z, pitch, ws)
            if branches_off(tree, k) == 1:
                join_columns(w, first, first + end, z, z - 6 * pitch, pitch, ws)


# ---- outward ----------------------------------------------------------------------------------


@helper
def carry_columns(w, begin, stop, arm, given, alpha, pitch, ws):
    """α⁺ = φ*·α, for a joint that is locked."""
    for j in range(begin, stop, columns_at_once(w)):
        a = columns6(w, ws, given + j, pitch)
        store_columns6(w, ws, alpha + j, pitch, shift_motion(arm, a))


@helper
def answer_columns(w, begin, end, h, u, pivot, arm, given, row, alpha, pitch, ws):
    """x = (ε − u·α⁺)/d into the row that holds ε, and α = α⁺ + h x; from `end` on ε is zero."""
    step = columns_at_once(w)
    for j in range(begin, end, step):
        a = shift_motion(arm, columns6(w, ws, given + j, pitch))
        x = (load_columns(w, ws, row + j) - dot_spatial(u, a)) * pivot
        store_columns(w, ws, row + j, x)
        store_columns6(w, ws, alpha + j, pitch, add_scaled_spatial(a, x, h))
    for j in range((end + step - 1) // step * step, pitch, step):
        a = shift_motion(arm, columns6(w, ws, given + j, pitch))
        x = (0.0 - dot_spatial(u, a)) * pivot  # rounded as above, signs of zeros included
        store_columns(w, ws, row + j, x)
        store_columns6(w, ws, alpha + j, pitch, add_scaled_spatial(a, x, h))


@helper
def scatter_columns(w, tree, p, matrix, pitch, triangle, sums, ws):
    """𝓜⁻¹ times the right-hand sides, in the place of the residuals ε that a gather has left.

    `triangle`: only from the diagonal on, where ε ends with the columns of the body's subtree.
    """
    n, level, step = body_count(tree), 0, columns_at_once(w)
    clear_lanes(w, ws, sums, 6 * pitch)  # the ground's α
    for k in range(n):
        level = level_of_parent(tree, k, level)
        given = sums + level * 6 * pitch
        level += branches_off(tree, k)
        alpha, start = sums + level * 6 * pitch, entry(tree, k, V_START)
        end = dofs_end(tree, k) if triangle else pitch
        r, arm = load_matrix(w, ws, body_slot(k) + ROTATION), load3(w, ws, body_slot(k) + ARM)
        begin = start // step * step if triangle else 0
        if entry(tree, k, N_DOF) == 0:
            carry_columns(w, begin, pitch, arm, given, alpha, pitch, ws)
        for i in range(entry(tree, k, N_DOF)):
            record, row = dof_slot(n, start + i), matrix + (start + i) * pitch
            h, u = joint_column(w, tree, p, k, i, r, ws), load6(w, ws, record + GAIN)
            pivot = load(w, ws, record + PIVOT)
            answer_columns(w, begin, end, h, u, pivot, arm, given, row, alpha, pitch, ws)
            arm, given = zero3(w), alpha  # what is left of the joint starts from there
