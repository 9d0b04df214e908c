"""𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK), Jain 2011-II Lemma 11, as a full matrix.

Column i of Q = I − HψK is the residuals ε that a unit force at degree of freedom i leaves on its
path to the base. Then 𝓜⁻¹ = Σ_l Q_l* Q_l / d_l, and row l of Q is zero but for the descendants of
l, which are one range of indices: a rank-one update of one square block for each l. That costs
Σ_l |descendants of l|²/2, next to nothing for what robots and bushy trees are; in a long chain it
grows with N³, and the O(N²) recursion that scatters accelerations for each column takes over.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.mass_matrix_solve import prepare, scatter_answers
from skodyn.kernels.residuals import add_scaled_spatial
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure
from skodyn.kernels.workspace import (
    ARM,
    GAIN,
    PIVOT,
    RESIDUE,
    ROTATION,
    body_count,
    body_slot,
    columns_of,
    deliver_matrix,
    dof_slot,
    entry,
    free_slot,
    get,
    load3,
    load6,
    load_matrix,
    matrix_lanes,
    put,
    unpack,
)
from skodyn.lanes import (
    WIDTH_1,
    WIDTH_4,
    absolute,
    all_lanes,
    fma,
    load,
    pointer,
    splat,
    store,
)
from skodyn.model.layout import KIND, N_DOF, NQ, NV, PARENT, SUBTREE_END, V_START
from skodyn.spatial.linear3 import dot, scale
from skodyn.spatial.motion import dot_spatial, shift_force

_INFINITY = float("inf")

DEEP = 36
"""A pair of columns costs the recursion as much as so many updates cost half a pair."""


@helper
def dofs_end(tree, k):
    """One past the last degree of freedom of the subtree of body k."""
    end = entry(tree, k, SUBTREE_END)
    return tree[NV] if end >= body_count(tree) else entry(tree, end, V_START)


@helper
def is_deep(tree):
    """Is the recursion cheaper than the updates?"""
    cost, nv = 0, tree[NV]
    for k in range(body_count(tree)):
        size = dofs_end(tree, k) - entry(tree, k, V_START)
        cost += entry(tree, k, N_DOF) * size * size
    return cost > DEEP * nv * nv


def inverse_lanes(indices, nv):
    """Lanes for Q and 𝓜⁻¹; none where the recursion writes 𝓜⁻¹ at once."""
    starts = [int(row[V_START]) for row in indices] + [nv]
    sizes = [starts[row[SUBTREE_END]] - row[V_START] for row in indices.tolist()]
    cost = sum(row[N_DOF] * size**2 for row, size in zip(indices.tolist(), sizes, strict=True))
    return 0 if cost > DEEP * nv * nv else 2 * matrix_lanes(nv)


# ---- by updates -------------------------------------------------------------------------------


@helper
def take_residues(w, tree, p, k, stop, dof, z, at, columns, ws):
    """z⁺ after the degrees of freedom of joint k below `stop`; leaves ε in column `dof` of Q."""
    n = body_count(tree)
    at_r = body_slot(k) + ROTATION
    for back in range(stop):
        i = stop - 1 - back
        inner = entry(tree, k, V_START) + i
        if entry(tree, k, KIND) == REVOLUTE:
            axis = (load(w, ws, at_r + 2), load(w, ws, at_r + 5), load(w, ws, at_r + 8))
            epsilon = -dot(axis, z[0])
        else:
            h = joint_column(w, tree, p, k, i, load_matrix(w, ws, at_r), ws)
            epsilon = -dot_spatial(h, z)
        store(w, ws, at + inner * columns + dof, epsilon)
        record = dof_slot(n, inner)
        ratio = epsilon * load(w, ws, record + PIVOT)
        z = add_scaled_spatial(z, ratio, load6(w, ws, record + GAIN))
    return z


@helper
def unit_residues(w, tree, p, at, columns, ws):
    """Q in lanes from `at` on, as far as it is not zero; `prepare` or forward dynamics has run."""
    n = body_count(tree)
    for k in range(n):
        for i in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + i
            record = dof_slot(n, dof)
            store(w, ws, at + dof * columns + dof, splat(w, 1.0))
            pivot, u = load(w, ws, record + PIVOT), load6(w, ws, record + GAIN)
            z = scale(pivot, u[0]), scale(pivot, u[1])
            z = take_residues(w, tree, p, k, i, dof, z, at, columns, ws)
            body, inner = k, entry(tree, k, PARENT)
            while inner >= 0:
                z = shift_force(load3(w, ws, body_slot(body) + ARM), z)
                stop = entry(tree, inner, N_DOF)
                z = take_residues(w, tree, p, inner, stop, dof, z, at, columns, ws)
                body, inner = inner, entry(tree, inner, PARENT)


@helper
def add_updates(w, tree, at, inverse, columns, ws):
    """𝓜⁻¹ in lanes from `inverse` on; its rows are filled up with zeros."""
    nv = tree[NV]
    for i in range(nv * columns):
        store(w, ws, inverse + i, splat(w, 0.0))
    for k in range(body_count(tree)):
        end = dofs_end(tree, k)
        for d in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + d
            pivot = load(w, ws, dof_slot(body_count(tree), dof) + PIVOT)
            q_row = at + dof * columns
            for i in range(dof, end):
                x, row = pivot * load(w, ws, q_row + i), inverse + i * columns
                for j in range(dof, i + 1):
                    y = fma(x, load(w, ws, q_row + j), load(w, ws, row + j))
                    store(w, ws, row + j, y)
    mirror_rows(w, ws, inverse, 0, columns, nv)


@helper
def mirror_rows(w, table, first, stride, columns, nv):
    """Copy what is below the diagonal to above it."""
    for i in range(nv):
        for j in range(i):
            x = get(w, table, first, stride, i * columns + j)
            put(w, table, first, stride, j * columns + i, x)


# ---- by recursion -----------------------------------------------------------------------------


@helper
def leave_unit_residues(w, tree, p, k, i, ws):
    """ε of a unit right-hand side at degree of freedom i of body k, along the path to the base."""
    record = dof_slot(body_count(tree), entry(tree, k, V_START) + i)
    store(w, ws, record + RESIDUE, splat(w, 1.0))
    pivot, u = load(w, ws, record + PIVOT), load6(w, ws, record + GAIN)
    z = scale(pivot, u[0]), scale(pivot, u[1])
    r = load_matrix(w, ws, body_slot(k) + ROTATION)
    z = _keep_residues(w, tree, p, k, i, r, z, ws)
    inner = entry(tree, k, PARENT)
    while inner >= 0:
        z = shift_force(load3(w, ws, body_slot(k) + ARM), z)
        k = inner
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        z = _keep_residues(w, tree, p, k, entry(tree, k, N_DOF), r, z, ws)
        inner = entry(tree, k, PARENT)


@helper
def _keep_residues(w, tree, p, k, stop, r, z, ws):
    """ε = −h·z and z⁺ for the degrees of freedom of joint k below `stop`."""
    for back in range(stop):
        i = stop - 1 - back
        record = dof_slot(body_count(tree), entry(tree, k, V_START) + i)
        epsilon = -dot_spatial(joint_column(w, tree, p, k, i, r, ws), z)
        store(w, ws, record + RESIDUE, epsilon)
        ratio = epsilon * load(w, ws, record + PIVOT)
        z = add_scaled_spatial(z, ratio, load6(w, ws, record + GAIN))
    return z


@helper
def invert_deep(w, tree, p, out, first, stride, columns, ws):
    """Every column of 𝓜⁻¹ down to its diagonal, and by symmetry the rest.

    Bodies are numbered base first, so the scatter to body k needs only those before it.
    """
    status = OK
    for dof in range(tree[NV]):
        store(w, ws, dof_slot(body_count(tree), dof) + RESIDUE, splat(w, 0.0))
    for k in range(body_count(tree)):
        for i in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + i
            leave_unit_residues(w, tree, p, k, i, ws)
            # row `dof` up to its diagonal: the matrix is symmetric
            answer = scatter_answers(w, tree, p, k + 1, out, first + dof * columns, stride, 1, ws)
            status = status if status != OK else answer
            clear_path(w, tree, k, ws)
    mirror_rows(w, out, first, stride, columns, tree[NV])
    return status


@helper
def clear_path(w, tree, k, ws):
    """Take the residuals back that a unit right-hand side at body k left on its way to the base."""
    while k >= 0:
        for i in range(entry(tree, k, N_DOF)):
            record = dof_slot(body_count(tree), entry(tree, k, V_START) + i)
            store(w, ws, record + RESIDUE, splat(w, 0.0))
        k = entry(tree, k, PARENT)


# ---- both -------------------------------------------------------------------------------------


@helper
def deliver(w, tree, inverse, columns, out, first, ws):
    """From lanes to rows, and is every number finite?"""
    nv, status = tree[NV], OK
    deliver_matrix(w, nv, ws, inverse, columns, 1, out, first, nv * nv)
    for i in range(nv):
        x = load(w, ws, inverse + i * columns + i)
        if status == OK and not all_lanes(absolute(x) < _INFINITY):
            status = failure(NOT_FINITE, 0)
    return status


@helper
def sweep(w, tree, p, row, q, out, ws):
    """𝓜⁻¹ of the states that begin at `row`."""
    nv = tree[NV]
    status = prepare(w, tree, p, q, row * tree[NQ], tree[NQ], ws)
    if status != OK:
        return status
    first = row * nv * nv
    if is_deep(tree):
        return invert_deep(w, tree, p, out, first, nv * nv, nv, ws)
    columns, at = columns_of(nv), free_slot(tree)
    unit_residues(w, tree, p, at, columns, ws)
    add_updates(w, tree, at, at + nv * columns, columns, ws)
    return deliver(w, tree, at + nv * columns, columns, out, first, ws)


@brief_kernel
def mass_matrix_inverse(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == tree[NV] ** 2 and out.shape[0] == tree[NV]):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(out), ws)


@kernel
def mass_matrix_inverse_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, four at a time; the last four may overlap."""
    for row in range(start, stop, 4):
        first = min(row, stop - 4)
        status = sweep(
            WIDTH_4, pointer(tree), pointer(p), first, pointer(q), pointer(out), pointer(ws)
        )
        if status != OK:
            return status, first
    return OK, 0
