"""Mass matrix of trees with flexible bodies, and its inverse applied.

Composite inertias R(k) are those of rigid bodies, of the shape that bodies have; with modes

    R_rη = P_rη + Σ φRΠ,   R_ηη = P_ηη + Σ ΠᵀRΠ

and a force R·h on its way inward also meets the modes whose node it passes, by Πᵀ.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import eliminate_joint, pass_force_inward, passed_force
from skodyn.kernels.entries import batch, one_state, per_dof, square
from skodyn.kernels.flexible.flexible_bending import carried_column
from skodyn.kernels.flexible.flexible_body import gain_of, own_inertia, pair_row
from skodyn.kernels.flexible.flexible_dynamics import (
    gather_bent_inertias,
    hang_force,
    hang_inertia,
    scatter_bent_accelerations,
)
from skodyn.kernels.flexible.flexible_modes import load_modes
from skodyn.kernels.flexible.flexible_table import (
    clear_columns,
    field,
    flexible_record,
    lanes_of,
    node_record,
)
from skodyn.kernels.flexible.flexible_tree import scatter_masses
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import body_inertia
from skodyn.kernels.mass_matrix import project, put_pair
from skodyn.kernels.matrices import deliver_lanes, get, place_to_write, put
from skodyn.kernels.packed_model import armature, body_count, entry, velocity_count
from skodyn.kernels.solve_entries import solve_kernel
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite_spatial, load3, load_inertia, load_matrix, store_inertia
from skodyn.kernels.workspace import BODY, SUMS, body_slot, free_slot, sum_slot
from skodyn.lanes import load, splat
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import FLEXIBLE, N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import articulated_from_inertia
from skodyn.spatial.inertia import add_inertia, apply_inertia, shift_inertia
from skodyn.spatial.motion import dot_spatial, shift_force


@helper
def gather_bent_composite(work, model, k, r):
    """R(k), six by six, and what it adds to the modes of the body it hangs on."""
    record = flexible_record(model, k)
    if record > 0:
        composite = own_inertia(work, model, k, record)
    else:
        composite = body_inertia(work, model, k, r)
    if entry(model, k, SUBTREE_END) > k + 1:
        composite = add_inertia(composite, load_inertia(work, sum_slot(model, -1) + SUMS.INERTIA))
    parent = entry(model, k, PARENT)
    if parent >= 0:
        hang_inertia(work, model, k, articulated_from_inertia(composite))
        shifted = shift_inertia(composite, load3(work, body_slot(k) + BODY.ARM))
        inner = sum_slot(model, parent) + SUMS.INERTIA
        if entry(model, k, SUBTREE_END) != entry(model, parent, SUBTREE_END):
            shifted = add_inertia(shifted, load_inertia(work, inner))
        store_inertia(
            work, sum_slot(model, -1) + SUMS.INERTIA if parent == k - 1 else inner, shifted
        )
    return composite


@routine
def project_inward(work, model, k, f, dof, mass):
    """A force at body k into the row and column of `dof`, for all that moves its ancestors."""
    inner = k
    while entry(model, inner, PARENT) >= 0:
        node, parent = node_record(model, inner), entry(model, inner, PARENT)
        if node > 0:
            record = flexible_record(model, parent)
            for i in range(field(model, record, its.MODES)):
                x = dot_spatial(carried_column(work, model, record, node, i), f)
                put_pair(work, mass, dof, field(model, record, its.MODE_V) + i, x)
        f = shift_force(load3(work, body_slot(inner) + BODY.ARM), f)
        inner = parent
        project(work, model, inner, f, dof, mass)


@helper
def write_mode_columns(work, model, k, record, mass):
    """Columns of the modes of body k; are they finite?"""
    start, sound = field(model, record, its.MODE_V), True
    for i in range(field(model, record, its.MODES)):
        f, dof = gain_of(work, model, record, i), start + i
        sound = sound and finite_spatial(f)
        for j in range(i + 1):
            x = load(work, pair_row(model, record, i) + j)
            put_pair(work, mass, dof, start + j, x + armature(work, model, dof) if j == i else x)
        project(work, model, k, f, dof, mass)
        project_inward(work, model, k, f, dof, mass)
    return sound


@helper
def bent_free_slot(model):
    """Behind the lanes of flexible bodies."""
    return free_slot(model) + model.tree[model.tree[FLEXIBLE] + its.FLEXIBLE_LANES]


@helper
def sweep(work, model, given, out):
    """𝓜."""
    status = scatter_masses(work, model, given.q)
    n, nv, at = body_count(model), velocity_count(model), bent_free_slot(model)
    mass = place_to_write(work, nv, out, at)
    for i in range(nv):
        for j in range(nv):
            put(work, mass, i, j, splat(work, 0.0))
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        composite, sound = gather_bent_composite(work, model, k, r), True
        record = flexible_record(model, k)
        if record > 0:
            sound = write_mode_columns(work, model, k, record, mass)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            f = apply_inertia(composite, joint_column(work, model, k, i, r))
            sound = sound and finite_spatial(f)
            project(work, model, k, f, dof, mass)
            put(work, mass, dof, dof, get(work, mass, dof, dof) + armature(work, model, dof))
            project_inward(work, model, k, f, dof, mass)
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    deliver_lanes(work, nv, at, out)
    return status


flexible_mass_matrix = one_state("flexible_mass_matrix", sweep, square, "q", dimensions=2)
flexible_mass_matrix_batch = batch("flexible_mass_matrix_batch", sweep, square)


# ---- 𝓜·x = rhs ---------------------------------------------------------------------------------


@helper
def prepare(work, model, q):
    """M(k) and P: what every right-hand side shares."""
    first = scatter_masses(work, model, q)
    second = gather_bent_inertias(work, model)
    return first if first != OK else second


@helper
def solve(work, model, rhs, out):
    """One right-hand side per state; `prepare` has run."""
    n = body_count(model)
    for k in range(n):
        record = flexible_record(model, k)
        if record > 0:
            clear_columns(work, lanes_of(model, record, its.LOADS), field(model, record, its.MODES))
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        z, record = passed_force(work, model, k), flexible_record(model, k)
        if record > 0:
            z = load_modes(work, model, record, z, rhs)
        z = eliminate_joint(work, model, k, r, z, rhs)
        hang_force(work, model, k, z)
        pass_force_inward(work, model, k, z, False)
    return scatter_bent_accelerations(work, model, (zero3(work), zero3(work)), False, out)


@helper
def sweep_solve(work, model, given, out):
    """𝓜⁻¹·x."""
    status = prepare(work, model, given.q)
    return status if status != OK else solve(work, model, given.x, out)


flexible_solve = solve_kernel("flexible_solve", prepare, solve)
flexible_solve_batch = batch("flexible_solve_batch", sweep_solve, per_dof)
