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

from skodyn.jit import helper, plain, shared_routine
from skodyn.kernels.entries import batch, one_state, square
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.many_right_sides import (
    Span,
    clear_lanes,
    columns6,
    degree_of_freedom,
    dofs_end,
    level_count,
    scatter_columns,
    store_columns6,
)
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.matrices import columns_of, deliver_matrix, matrix_lanes
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load_matrix
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot, free_slot
from skodyn.lanes import fma, load, splat, store
from skodyn.lanes.columns import columns_at_once, load_columns, store_columns, turn_square
from skodyn.model.layout import N_DOF, SUBTREE_END, V_START
from skodyn.spatial.linear3 import scale
from skodyn.spatial.motion import add_scaled_spatial, dot_spatial, shift_force

LANES_BEFORE_ROWS = 4
"""Lanes to the left of rows that registers may reach into."""

LANES_BEFORE_MATRIX = LANES_BEFORE_ROWS + 3
"""Lanes before a matrix that begins where a register does."""

TERMS_A_SCATTER_COSTS = 12
"""An element of 𝓜⁻¹ costs the scatter as much as so many terms of the sum."""


@helper
def matrix_behind(at):
    """Where a matrix begins if the lanes before `at` are in use."""
    return columns_of(at) + LANES_BEFORE_ROWS


@helper
def forces_end(columns):
    """Behind the forces of all columns, in lanes that `invert` may use."""
    return 6 * (LANES_BEFORE_ROWS + columns)


@helper
def is_deep(terms, nv):
    """Would so many terms of the sum over the rows of Q cost more than a scatter?"""
    return terms > TERMS_A_SCATTER_COSTS * nv * nv


@helper
def scatter_is_cheaper(model):
    """Cheaper than the updates, that is: the tree is deep."""
    terms = 0
    for k in range(body_count(model)):
        size = dofs_end(model, k) - entry(model, k, V_START)
        terms += entry(model, k, N_DOF) * size * size
    return is_deep(terms, velocity_count(model))


def column_lanes(indices, nv):
    """Lanes for `invert` beside the matrix: forces of all columns, and their accelerations or Q."""
    starts = [int(row[V_START]) for row in indices] + [nv]
    sizes = [starts[row[SUBTREE_END]] - row[V_START] for row in indices.tolist()]
    terms = sum(row[N_DOF] * size**2 for row, size in zip(indices.tolist(), sizes, strict=True))
    columns = plain(columns_of)(nv)
    deep = plain(is_deep)(terms, nv)
    more = 6 * level_count(indices) * columns if deep else LANES_BEFORE_ROWS + matrix_lanes(nv)
    return plain(forces_end)(columns) + more


def inverse_lanes(indices, nv):
    """Lanes for `sweep`."""
    return LANES_BEFORE_MATRIX + matrix_lanes(nv) + column_lanes(indices, nv)


@helper
def store_column(work, at, pitch, x):
    """One column alone."""
    for c in range(3):
        store(work, at + c * pitch, x[0][c])
        store(work, at + (3 + c) * pitch, x[1][c])


@helper
def shift_unit_forces(work, span, arm, z):
    """φ·z for a range of columns, whole registers from its end on."""
    step = columns_at_once(work)
    for j in range(span.end - step, span.begin - step, -step):
        f = columns6(work, z + j, span.pitch)
        store_columns6(work, z + j, span.pitch, shift_force(arm, f))


@helper
def take_residues(work, span, dof, arm, row, z):
    """ε = −h·z into the row, and φ·z⁺ with z⁺ = z + u ε/d, for a range of columns."""
    step = columns_at_once(work)
    h, u, pivot = dof
    for j in range(span.end - step, span.begin - step, -step):
        f = columns6(work, z + j, span.pitch)
        epsilon = -dot_spatial(h, f)
        store_columns(work, row + j, epsilon)
        f = add_scaled_spatial(f, epsilon * pivot, u)
        store_columns6(work, z + j, span.pitch, shift_force(arm, f))


@helper
def gather_rows(work, model, matrix, columns, z):
    """Q, from the diagonal to the right, in rows of lanes; to the left of it, anything."""
    n, pitch = body_count(model), columns + LANES_BEFORE_ROWS
    for back in range(n):
        k = n - 1 - back
        start, end = entry(model, k, V_START), dofs_end(model, k)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        arm = load3(work, body_slot(k) + BODY.ARM)
        if entry(model, k, N_DOF) == 0:
            shift_unit_forces(work, Span(start, end, pitch), arm, z)
        for d_back in range(entry(model, k, N_DOF)):
            i = entry(model, k, N_DOF) - 1 - d_back
            index, row = start + i, matrix + (start + i) * columns
            dof = degree_of_freedom(work, model, k, i, r)
            way = arm if i == 0 else zero3(work)  # to the parent only when all have yielded
            take_residues(work, Span(index + 1, end, pitch), dof, way, row, z)
            for j in range(end, columns_of(end)):  # as far as a register reaches
                store(work, row + j, splat(work, 0.0))
            store(work, row + index, splat(work, 1.0))
            own = scale(dof.pivot, dof.gain[0]), scale(dof.pivot, dof.gain[1])
            store_column(work, z + index, pitch, shift_force(way, own))


@helper
def add_updates(work, model, rows, matrix, columns):
    """𝓜⁻¹, from the diagonal to the right, as a sum over the rows of Q."""
    step = columns_at_once(work)
    clear_lanes(work, matrix, velocity_count(model) * columns)
    for k in range(body_count(model)):
        end = dofs_end(model, k)
        for d in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + d
            pivot = load(work, dof_slot(body_count(model), dof) + DOF.PIVOT)
            row = rows + dof * columns
            for i in range(dof, end):
                x, sums = pivot * load(work, row + i), matrix + i * columns
                for j in range(i // step * step, end, step):
                    y = fma(x, load_columns(work, row + j), load_columns(work, sums + j))
                    store_columns(work, sums + j, y)


@helper
def mirror_rows(work, nv, matrix, columns):
    """Copy what is above the diagonal to below it; this may reach into three rows more."""
    for first in range(0, nv, 4):
        for j in range(0, first, 4):
            turn_square(work, matrix + j * columns + first, matrix + first * columns + j, columns)
        for j in range(first, min(first + 3, nv)):
            for i in range(j + 1, min(first + 4, nv)):
                store(work, matrix + i * columns + j, load(work, matrix + j * columns + i))


@shared_routine
def invert(work, model, matrix, scratch):
    """𝓜⁻¹ in rows of lanes, columns_of(nv) long, LANES_BEFORE_ROWS behind what must stay.

    `prepare` or forward dynamics has run; `scratch` is where column_lanes are free.
    """
    nv = velocity_count(model)
    columns = columns_of(nv)
    z, behind = scratch + LANES_BEFORE_ROWS, scratch + forces_end(columns)
    if scatter_is_cheaper(model):
        gather_rows(work, model, matrix, columns, z)
        scatter_columns(work, model, matrix, columns, True, behind)
    else:
        rows = behind + LANES_BEFORE_ROWS
        gather_rows(work, model, rows, columns, z)
        add_updates(work, model, rows, matrix, columns)
    mirror_rows(work, nv, matrix, columns)


@helper
def sweep(work, model, given, out):
    """𝓜⁻¹."""
    nv = velocity_count(model)
    columns, matrix = columns_of(nv), matrix_behind(free_slot(model))
    status = prepare(work, model, given.q)
    if status != OK:
        return status
    invert(work, model, matrix, matrix + nv * columns)
    deliver_matrix(work, nv, matrix, columns, 1, out)
    for i in range(nv):
        if not all_finite(load(work, matrix + i * columns + i)):
            return failure(NOT_FINITE, 0)
    return OK


mass_matrix_inverse = one_state("mass_matrix_inverse", sweep, square, "q", dimensions=2)
mass_matrix_inverse_batch = batch("mass_matrix_inverse_batch", sweep, square)
