"""Composite body inertias and the mass matrix: Jain 2011-II Algorithms 4.1 and 4.2.

A tips-to-base gather of composite inertias R(k). When body k has been gathered, its columns
R(k)·h are carried inward along its ancestors, so that only related pairs are visited.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_poses
from skodyn.kernels.matrices import (
    clear_unrelated_pairs,
    deliver_lanes,
    get,
    place_to_write,
    put,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure
from skodyn.kernels.workspace import (
    ARM,
    INERTIA,
    ROTATION,
    armature,
    body_count,
    body_slot,
    entry,
    finite_spatial,
    free_slot,
    load3,
    load_inertia,
    load_matrix,
    store_inertia,
    sum_slot,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, load, pointer
from skodyn.model.layout import KIND, N_DOF, NQ, NV, PARENT, SUBTREE_END, V_START
from skodyn.spatial.inertia import add_inertia, apply_inertia, shift_inertia
from skodyn.spatial.linear3 import column, cross, dot, multiply_sym_vector
from skodyn.spatial.motion import dot_spatial, shift_force


@helper
def gather_composite_inertia(w, tree, p, k, r, ws):
    """R(k) = M(k) + Σ φ R(j) φ*, Algorithm 4.1; passes it inward."""
    slot = body_slot(k)
    composite = body_inertia(w, p, k, r)
    if entry(tree, k, SUBTREE_END) > k + 1:
        composite = add_inertia(composite, load_inertia(w, ws, sum_slot(tree, -1) + INERTIA))
    parent = entry(tree, k, PARENT)
    if parent >= 0:
        shifted = shift_inertia(composite, load3(w, ws, slot + ARM))
        inner = sum_slot(tree, parent) + INERTIA
        if entry(tree, k, SUBTREE_END) != entry(tree, parent, SUBTREE_END):
            shifted = add_inertia(shifted, load_inertia(w, ws, inner))
        # the first child comes right before its parent: its sum is carried, see articulated_inertia
        store_inertia(w, ws, sum_slot(tree, -1) + INERTIA if parent == k - 1 else inner, shifted)
    return composite


@helper
def put_pair(w, table, first, stride, down, i, j, x):
    """Both triangles."""
    put(w, table, first, stride, i * down + j, x)
    put(w, table, first, stride, j * down + i, x)


@helper
def project(w, tree, p, j, f, dof, table, first, stride, down, ws):
    """H(j)·f for every degree of freedom of body j, into the row and column of `dof`."""
    slot = body_slot(j)
    if entry(tree, j, KIND) == REVOLUTE:
        z = (
            load(w, ws, slot + ROTATION + 2),
            load(w, ws, slot + ROTATION + 5),
            load(w, ws, slot + ROTATION + 8),
        )
        put_pair(w, table, first, stride, down, dof, entry(tree, j, V_START), dot(z, f[0]))
        return
    r = load_matrix(w, ws, slot + ROTATION)
    for i in range(entry(tree, j, N_DOF)):
        x = dot_spatial(joint_column(w, tree, p, j, i, r, ws), f)
        put_pair(w, table, first, stride, down, dof, entry(tree, j, V_START) + i, x)


@helper
def add_armature(w, p, n, dof, table, first, stride, down):
    """A rotor's inertia, on the diagonal."""
    own = get(w, table, first, stride, dof * down + dof)
    put(w, table, first, stride, dof * down + dof, own + armature(w, p, n, dof))


@helper
def composite_force(w, tree, p, k, i, r, composite, ws):
    """R(k)·h for column i of H*(k); half of it is zero for a rotation."""
    if entry(tree, k, KIND) == REVOLUTE:
        z = column(r, 2)
        return multiply_sym_vector(composite[2], z), cross(z, composite[1])
    return apply_inertia(composite, joint_column(w, tree, p, k, i, r, ws))


@helper
def sweep(w, tree, p, row, nq, nv, q, mass, ws):
    """𝓜 of the states that begin at `row`."""
    status = scatter_poses(w, tree, p, q, row * nq, nq, ws)
    n, size, at = body_count(tree), nv * nv, free_slot(tree)
    table, first, stride, down = place_to_write(w, nv, mass, row * size, size, ws, at)
    clear_unrelated_pairs(w, tree, table, first, stride, down, nv)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        composite = gather_composite_inertia(w, tree, p, k, r, ws)
        for i in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + i
            f = composite_force(w, tree, p, k, i, r, composite, ws)
            if status == OK and not finite_spatial(f):
                status = failure(NOT_FINITE, k)
            project(w, tree, p, k, f, dof, table, first, stride, down, ws)
            add_armature(w, p, n, dof, table, first, stride, down)
            inner = k
            while entry(tree, inner, PARENT) >= 0:
                f = shift_force(load3(w, ws, body_slot(inner) + ARM), f)
                inner = entry(tree, inner, PARENT)
                project(w, tree, p, inner, f, dof, table, first, stride, down, ws)
    deliver_lanes(w, nv, ws, at, mass, row * size, size)
    return status


@brief_kernel(*one_state(0, dimensions=2))
def mass_matrix(block, q, mass):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and mass.size == tree[NV] ** 2 and mass.shape[0] == tree[NV]):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), pointer(mass),
        ws,
    )  # fmt: skip


@kernel(*BATCH)
def mass_matrix_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, mass, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q),
            pointer(mass), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
