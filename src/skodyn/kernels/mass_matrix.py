"""Composite body inertias and the mass matrix: Jain 2011-II Algorithms 4.1 and 4.2.

A tips-to-base gather of composite inertias R(k). When body k has been gathered, its columns
R(k)·h are carried inward along its ancestors, so that only related pairs are visited.
"""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state, square
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_poses
from skodyn.kernels.matrices import clear_unrelated_pairs, deliver_lanes, get, place_to_write, put
from skodyn.kernels.packed_model import armature, body_count, entry, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite_spatial, load3, load_inertia, load_matrix, store_inertia
from skodyn.kernels.workspace import BODY, SUMS, body_slot, free_slot, sum_slot
from skodyn.lanes import load
from skodyn.model.layout import KIND, N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.inertia import add_inertia, apply_inertia, shift_inertia
from skodyn.spatial.linear3 import cross, dot, multiply_sym_vector, z_axis
from skodyn.spatial.motion import dot_spatial, shift_force


@helper
def gather_composite_inertia(work, model, k, r):
    """R(k) = M(k) + Σ φ R(j) φ*, Algorithm 4.1; passes it inward."""
    slot = body_slot(k)
    composite = body_inertia(work, model, k, r)
    if entry(model, k, SUBTREE_END) > k + 1:
        composite = add_inertia(composite, load_inertia(work, sum_slot(model, -1) + SUMS.INERTIA))
    parent = entry(model, k, PARENT)
    if parent >= 0:
        shifted = shift_inertia(composite, load3(work, slot + BODY.ARM))
        inner = sum_slot(model, parent) + SUMS.INERTIA
        if entry(model, k, SUBTREE_END) != entry(model, parent, SUBTREE_END):
            shifted = add_inertia(shifted, load_inertia(work, inner))
        # the first child comes right before its parent: its sum is carried, see articulated_inertia
        store_inertia(
            work, sum_slot(model, -1) + SUMS.INERTIA if parent == k - 1 else inner, shifted
        )
    return composite


@helper
def put_pair(work, mass, i, j, x):
    """Both triangles."""
    put(work, mass, i, j, x)
    put(work, mass, j, i, x)


@helper
def project(work, model, j, f, dof, mass):
    """H(j)·f for every degree of freedom of body j, into the row and column of `dof`."""
    slot = body_slot(j)
    if entry(model, j, KIND) == REVOLUTE:
        z = (
            load(work, slot + BODY.ROTATION + 2),
            load(work, slot + BODY.ROTATION + 5),
            load(work, slot + BODY.ROTATION + 8),
        )
        put_pair(work, mass, dof, entry(model, j, V_START), dot(z, f[0]))
        return
    r = load_matrix(work, slot + BODY.ROTATION)
    for i in range(entry(model, j, N_DOF)):
        x = dot_spatial(joint_column(work, model, j, i, r), f)
        put_pair(work, mass, dof, entry(model, j, V_START) + i, x)


@helper
def composite_force(work, model, k, i, r, composite):
    """R(k)·h for column i of H*(k); half of it is zero for a rotation."""
    if entry(model, k, KIND) == REVOLUTE:
        z = z_axis(r)
        return multiply_sym_vector(composite[2], z), cross(z, composite[1])
    return apply_inertia(composite, joint_column(work, model, k, i, r))


@helper
def sweep(work, model, given, out):
    """𝓜."""
    status = scatter_poses(work, model, given.q)
    n, nv, at = body_count(model), velocity_count(model), free_slot(model)
    mass = place_to_write(work, nv, out, at)
    clear_unrelated_pairs(work, model, mass)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        composite = gather_composite_inertia(work, model, k, r)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            f = composite_force(work, model, k, i, r, composite)
            if status == OK and not finite_spatial(f):
                status = failure(NOT_FINITE, k)
            project(work, model, k, f, dof, mass)
            rotor = armature(work, model, dof)  # on the diagonal
            put(work, mass, dof, dof, get(work, mass, dof, dof) + rotor)
            inner, outer = k, entry(model, k, PARENT)
            while outer >= 0:
                f = shift_force(load3(work, body_slot(inner) + BODY.ARM), f)
                inner, outer = outer, entry(model, outer, PARENT)
                project(work, model, inner, f, dof, mass)
    deliver_lanes(work, nv, at, out)
    return status


mass_matrix = one_state("mass_matrix", sweep, square, "q", dimensions=2)
mass_matrix_batch = batch("mass_matrix_batch", sweep, square)
