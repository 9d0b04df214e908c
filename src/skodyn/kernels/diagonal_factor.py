"""Coordinates of velocity and force in which the mass matrix is the identity, in O(N).

The Innovations factorisation 𝓜 = m·m* with m = [I + HφK]·D^½ (Jain 2011-II eq. 49) read as a
change of coordinates: ν = m*·v, whose square is twice the kinetic energy, and e = m⁻¹·𝒯. Degrees of
freedom of one joint yield one at a time, so D^½ is the triangular square root of each block of D.
With V⁺ the velocity of the body as far as inner degrees of freedom make it, and u, d those of
articulated_inertia.py,

    ν = √d·v + u·V⁺/√d            a scatter; its inverse is velocity_sample.py
    e = (𝒯 − h·z)/√d              a gather, z ← z + u·e/√d
    𝒯 = √d·e + h·z                its inverse, with the same z
"""

from skodyn.jit import helper
from skodyn.kernels.aba_passes import pass_force_inward, passed_force
from skodyn.kernels.entries import batch, one_state, per_dof, per_dof_of_x
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import load, load_rows, sqrt, store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.motion import add_scaled_spatial, dot_spatial, shift_motion


@helper
def sweep_velocity(work, model, given, out):
    """ν = m*·x, x the velocities."""
    status = prepare(work, model, given.q)
    zero = zero3(work)
    store6(work, BODY.MOTION, (zero, zero))
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        velocity = shift_motion(load3(work, slot + BODY.ARM), inner)  # V⁺
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            record = dof_slot(body_count(model), dof)
            root = sqrt(load(work, record + DOF.PIVOT))  # 1/√d
            rate = load_rows(work, given.x, dof)
            felt = dot_spatial(load6(work, record + DOF.GAIN), velocity)
            nu = rate / root + felt * root
            store_rows(work, out, dof, nu)
            if status == OK and not all_finite(nu):
                status = failure(NOT_FINITE, k)
            velocity = add_scaled_spatial(velocity, rate, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, velocity)
    return status


@helper
def gather_forces(work, model, given, out, inward):
    """e = m⁻¹·x from generalised forces; or, not inward, 𝒯 = m·x from e."""
    n = body_count(model)
    status = prepare(work, model, given.q)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        z = passed_force(work, model, k)
        for d_back in range(entry(model, k, N_DOF)):
            i = entry(model, k, N_DOF) - 1 - d_back
            dof = entry(model, k, V_START) + i
            record = dof_slot(n, dof)
            root = sqrt(load(work, record + DOF.PIVOT))
            x = load_rows(work, given.x, dof)
            felt = dot_spatial(joint_column(work, model, k, i, r), z)
            e = (x - felt) * root if inward else x
            answer = e if inward else x / root + felt
            store_rows(work, out, dof, answer)
            if status == OK and not all_finite(answer):
                status = failure(NOT_FINITE, k)
            z = add_scaled_spatial(z, e * root, load6(work, record + DOF.GAIN))
        pass_force_inward(work, model, k, z, False)
    return status


@helper
def sweep_force(work, model, given, out):
    """e = m⁻¹·x."""
    return gather_forces(work, model, given, out, True)


@helper
def sweep_force_back(work, model, given, out):
    """𝒯 = m·x."""
    return gather_forces(work, model, given, out, False)


diagonal_velocity = one_state("diagonal_velocity", sweep_velocity, per_dof_of_x, "q x")
diagonal_velocity_batch = batch("diagonal_velocity_batch", sweep_velocity, per_dof)
diagonal_force = one_state("diagonal_force", sweep_force, per_dof_of_x, "q x")
diagonal_force_batch = batch("diagonal_force_batch", sweep_force, per_dof)
force_from_diagonal = one_state("force_from_diagonal", sweep_force_back, per_dof_of_x, "q x")
force_from_diagonal_batch = batch("force_from_diagonal_batch", sweep_force_back, per_dof)
