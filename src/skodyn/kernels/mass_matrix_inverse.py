"""𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK), Jain 2011-II Lemma 11, as a full matrix: O(N²).

Row l of Q = I − HψK is 1 at degree of freedom l itself, the residual ε that a unit force at each of
its descendants leaves there, and zero elsewhere. One gather takes all unit forces inward together.
In a deep tree one scatter turns row after row of Q into 𝓜⁻¹, from the diagonal to the right; where
few have many descendants, 𝓜⁻¹ = Σ_l Q_l* Q_l / d_l is cheaper, an update of one square block for
each l. The rest is symmetry.

A unit force is on one body at a time, so six rows of lanes are enough for those of all columns.
Registers with four columns reach up to three to the left of where they should begin: into columns
that are not in use yet, or into the end of the row above, which is written later.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.matrices import columns_of, deliver_matrix, matrix_lanes
from skodyn.kernels.residuals import add_scaled_spatial
from skodyn.kernels.side_by_side import (
    clear_lanes,
    columns6,
    dofs_end,
    level_count,
    scatter_columns,
    store_columns6,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure
from skodyn.kernels.workspace import (
    ARM,
    GAIN,
    PIVOT,
    ROTATION,
    body_count,
    body_slot,
    dof_slot,
    entry,
    free_slot,
    load3,
    load6,
    load_matrix,
    unpack,
)
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    columns_at_once,
    fma,
    load,
    load_columns,
    pointer,
    splat,
    store,
    store_columns,
    turn_square,
)
from skodyn.model.layout import N_DOF, NQ, NV, SUBTREE_END, V_START
from skodyn.spatial.linear3 import scale
from skodyn.spatial.motion import dot_spatial, shift_force

_INFINITY = float("inf")

MARGIN = 4
"""Lanes to the left of rows that registers may reach into."""

ROOM = MARGIN + 3
"""Lanes before a matrix that begins where a register does."""

DEEP = 12
"""An element of 𝓜⁻¹ costs the scatter as much as so many terms of the sum."""


@helper
def matrix_behind(at):
    """Where a matrix begins if the lanes before `at` are in use."""
    return columns_of(at) + MARGIN


@helper
def scatter_is_cheaper(tree):
    """Cheaper than the updates, that is: the tree is deep."""
    terms, nv = 0, tree[NV]
    for k in range(body_count(tree)):
        size = dofs_end(tree, k) - entry(tree, k, V_START)
        terms += entry(tree, k, N_DOF) * size * size
    return terms > DEEP * nv * nv


def column_lanes(indices, nv):
    """Lanes for `invert` beside the matrix: forces of all columns, and their accelerations or Q."""
    starts = [int(row[V_START]) for row in indices] + [nv]
    sizes = [starts[row[SUBTREE_END]] - row[V_START] for row in indices.tolist()]
    terms = sum(row[N_DOF] * size**2 for row, size in zip(indices.tolist(), sizes, strict=True))
    columns = (nv + 3) // 4 * 4
    deep = terms > DEEP * nv * nv
    more = 6 * level_count(indices) * columns if deep else MARGIN + matrix_lanes(nv)
    return 6 * (MARGIN + columns) + more


def inverse_lanes(indices, nv):
    """Lanes for `sweep`."""
    return ROOM + matrix_lanes(nv) + column_lanes(indices, nv)


@helper
def store_column(w, ws, at, pitch, x):
    """One column alone."""
    for c in range(3):
        store(w, ws, at + c * pitch, x[0][c])
        store(w, ws, at + (3 + c) * pitch, x[1][c])


@helper
def shift_unit_forces(w, begin, end, arm, z, pitch, ws):
    """φ·z for a range of columns, whole registers from its end on."""
    step = columns_at_once(w)
    for j in range(end - step, begin - step, -step):
        f = columns6(w, ws, z + j, pitch)
        store_columns6(w, ws, z + j, pitch, shift_force(arm, f))


@helper
def take_residues(w, begin, end, h, u, pivot, arm, row, z, pitch, ws):
    """ε = −h·z into the row, and φ·z⁺ with z⁺ = z + u ε/d, for a range of columns."""
    step = columns_at_once(w)
    for j in range(end - step, begin - step, -step):
        f = columns6(w, ws, z + j, pitch)
        epsilon = -dot_spatial(h, f)
        store_columns(w, ws, row + j, epsilon)
        f = add_scaled_spatial(f, epsilon * pivot, u)
        store_columns6(w, ws, z + j, pitch, shift_force(arm, f))


@helper
def gather_rows(w, tree, p, matrix, columns, z, ws):
    """Q, from the diagonal to the right, in rows of lanes; to the left of it, anything."""
    n, pitch = body_count(tree), columns + MARGIN
    for back in range(n):
        k = n - 1 - back
        end = dofs_end(tree, k)
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        arm = load3(w, ws, body_slot(k) + ARM)
        if entry(tree, k, N_DOF) == 0:
            shift_unit_forces(w, entry(tree, k, V_START), end, arm, z, pitch, ws)
        for d_back in range(entry(tree, k, N_DOF)):
            i = entry(tree, k, N_DOF) - 1 - d_back
            dof = entry(tree, k, V_START) + i
            record, row = dof_slot(n, dof), matrix + dof * columns
            h, u = joint_column(w, tree, p, k, i, r, ws), load6(w, ws, record + GAIN)
            pivot = load(w, ws, record + PIVOT)
            way = arm if i == 0 else zero3(w)  # to the parent only when all have yielded
            take_residues(w, dof + 1, end, h, u, pivot, way, row, z, pitch, ws)
            for j in range(end, columns_of(end)):  # as far as a register reaches
                store(w, ws, row + j, splat(w, 0.0))
            store(w, ws, row + dof, splat(w, 1.0))
            own = shift_force(way, (scale(pivot, u[0]), scale(pivot, u[1])))
            store_column(w, ws, z + dof, pitch, own)


@helper
def add_updates(w, tree, rows, matrix, columns, ws):
    """𝓜⁻¹, from the diagonal to the right, as a sum over the rows of Q."""
    step = columns_at_once(w)
    clear_lanes(w, ws, matrix, tree[NV] * columns)
    for k in range(body_count(tree)):
        end = dofs_end(tree, k)
        for d in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + d
            pivot = load(w, ws, dof_slot(body_count(tree), dof) + PIVOT)
            row = rows + dof * columns
            for i in range(dof, end):
                x, sums = pivot * load(w, ws, row + i), matrix + i * columns
                for j in range(i // step * step, end, step):
                    y = fma(x, load_columns(w, ws, row + j), load_columns(w, ws, sums + j))
                    store_columns(w, ws, sums + j, y)


@helper
def mirror_rows(w, nv, matrix, columns, ws):
    """Copy what is above the diagonal to below it; this may reach into three rows more."""
    for first in range(0, nv, 4):
        for j in range(0, first, 4):
            turn_square(w, ws, matrix + j * columns + first, matrix + first * columns + j, columns)
        for j in range(first, min(first + 3, nv)):
            for i in range(j + 1, min(first + 4, nv)):
                store(w, ws, matrix + i * columns + j, load(w, ws, matrix + j * columns + i))


@helper
def invert(w, tree, p, matrix, scratch, ws):
    """𝓜⁻¹ in rows of lanes, columns_of(nv) long and MARGIN lanes behind what must not be touched.

    `prepare` or forward dynamics has run; `scratch` is where column_lanes are free.
    """
    columns = columns_of(tree[NV])
    z, behind = scratch + MARGIN, scratch + 6 * (MARGIN + columns)
    if scatter_is_cheaper(tree):
        gather_rows(w, tree, p, matrix, columns, z, ws)
        scatter_columns(w, tree, p, matrix, columns, True, behind, ws)
    else:
        rows = behind + MARGIN
        gather_rows(w, tree, p, rows, columns, z, ws)
        add_updates(w, tree, rows, matrix, columns, ws)
    mirror_rows(w, tree[NV], matrix, columns, ws)


@helper
def sweep(w, tree, p, row, q, out, ws):
    """𝓜⁻¹ of the states that begin at `row`."""
    nv = tree[NV]
    columns, matrix = columns_of(nv), matrix_behind(free_slot(tree))
    status = prepare(w, tree, p, q, row * tree[NQ], tree[NQ], ws)
    if status != OK:
        return status
    invert(w, tree, p, matrix, matrix + nv * columns, ws)
    deliver_matrix(w, nv, ws, matrix, columns, 1, out, row * nv * nv, nv * nv)
    for i in range(nv):
        if not all_lanes(absolute(load(w, ws, matrix + i * columns + i)) < _INFINITY):
            return failure(NOT_FINITE, 0)
    return OK


@brief_kernel(*one_state(0, dimensions=2))
def mass_matrix_inverse(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == tree[NV] ** 2 and out.shape[0] == tree[NV]):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(out), ws)


@kernel(*BATCH)
def mass_matrix_inverse_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(out), pointer(ws)
        )
        if status != OK:
            return status, first
    return OK, 0
