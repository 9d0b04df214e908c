"""O(N) hybrid dynamics: v̇ of some joints is given and 𝒯 of the others, and the rest is found.

Algorithm 6.1 of Jain 2011-II with a joint's half left out where its acceleration is known: there
nothing yields, P⁺ = P, and the force that passes inward is that of the motion it is made to follow,

    z⁺ = z + P·H*v̇,      and on the way out      𝒯 = H·(P·α⁺ + z⁺) + (armature)·v̇.

With u = P·h and h·z⁺ kept from the gather, 𝒯 is u·α⁺ + h·z⁺: no third sweep is needed. ψ, K and D
are those of the joints that are left free. x holds v̇ where it is prescribed and 𝒯 elsewhere; the
result is v̇ and then 𝒯 of all.
"""

from skodyn.jit import brief_kernel, helper, shared_routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.articulated_inertia import gathered_inertia, joint_trouble, pass_inertia_inward
from skodyn.kernels.entries import Given, batch, one_state, one_state_signature, row_of
from skodyn.kernels.forward_dynamics import add_outer_force, project_loaded_joint, turn_freely
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration, scatter_rates
from skodyn.kernels.packed_model import armature, body_count, entry, velocity_count
from skodyn.kernels.status import (
    BAD_INPUT,
    NOT_FINITE,
    OK,
    coordinates_fit,
    failure,
    first_trouble,
    forces_fit,
    velocities_fit,
)
from skodyn.kernels.tuples import load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot, unpack
from skodyn.lanes import Rows, absolute, all_lanes, load, load_rows, pointer, store, store_rows
from skodyn.model.layout import KIND, N_DOF, PARENT, V_START
from skodyn.model.prescribed_layout import PRESCRIBED
from skodyn.spatial.articulated import add_applied_articulated, apply_articulated
from skodyn.spatial.linear3 import (
    add_scaled,
    multiply_sym_vector,
    multiply_vector_transposed,
    z_axis,
)
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, dot_spatial, shift_motion

_INFINITY = float("inf")


@helper
def is_prescribed(model, k):
    """Is the acceleration of joint k given?"""
    return model.tree[model.tree[PRESCRIBED] + k] != 0


@helper
def moved_inertia(work, model, k, i, r, big_p):
    """(h, u): column i of H*(k), and u = P·h."""
    if entry(model, k, KIND) == REVOLUTE:
        axis = z_axis(r)
        return joint_column(work, model, k, i, r), (
            multiply_sym_vector(big_p[0], axis),
            multiply_vector_transposed(big_p[1], axis),
        )
    h = joint_column(work, model, k, i, r)
    return h, apply_articulated(big_p, h)


@helper
def follow_joint(work, model, k, r, big_p, z, x):
    """z⁺ of a joint that follows v̇; stores u and h·z⁺ + (armature)·v̇ of each column."""
    n, start = body_count(model), entry(model, k, V_START)
    for i in range(entry(model, k, N_DOF)):
        _, u = moved_inertia(work, model, k, i, r, big_p)
        store6(work, dof_slot(n, start + i) + DOF.GAIN, u)
        z = add_scaled_spatial(z, load_rows(work, x, start + i), u)
    for i in range(entry(model, k, N_DOF)):
        h = joint_column(work, model, k, i, r)
        rotor = armature(work, model, start + i) * load_rows(work, x, start + i)
        store(work, dof_slot(n, start + i) + DOF.RESIDUE, dot_spatial(h, z) + rotor)
    return z


@shared_routine
def gather_hybrid_residuals(work, model, x, f_ext):
    """Tips to base: P, z, and per degree of freedom u with 1/d and ε, or with h·z⁺."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        inertia = body_inertia(work, model, k, r)
        big_p = gathered_inertia(work, model, k, inertia)
        f = passed_force(work, model, k)
        f = add_outer_force(work, k, f, inertia, f_ext)
        z = add_applied_articulated(f, big_p, load6(work, body_slot(k) + BODY.CORIOLIS))
        if is_prescribed(model, k):
            z = follow_joint(work, model, k, r, big_p, z, x)
            pass_inertia_inward(work, model, k, big_p, False)
            pass_force_inward(work, model, k, z, False)
            continue
        p_plus, z_plus, sound = project_loaded_joint(work, model, k, r, big_p, z, x)
        pass_inertia_inward(work, model, k, p_plus, False)
        pass_force_inward(work, model, k, z_plus, False)
        if status == OK and not sound:
            status = joint_trouble(work, model, k)
    return status


@helper
def turn_as_given(work, model, k, axis, inner, rate):
    """𝒯 of a joint that turns about `axis` as prescribed; stores α(k) from the parent's α."""
    record = dof_slot(body_count(model), entry(model, k, V_START))
    alpha = shift_motion(load3(work, body_slot(k) + BODY.ARM), inner)  # α⁺
    torque = load(work, record + DOF.RESIDUE) + dot_spatial(load6(work, record + DOF.GAIN), alpha)
    alpha = add_scaled(alpha[0], rate, axis), alpha[1]
    alpha = add_spatial(alpha, load6(work, body_slot(k) + BODY.CORIOLIS))
    store6(work, body_slot(k) + BODY.MOTION, alpha)
    return torque


@helper
def turn_joint(work, model, k, r, x, out):
    """Both answers of a revolute joint; are they finite?"""
    dof = entry(model, k, V_START)
    inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
    rate = torque = load_rows(work, x, dof)
    if is_prescribed(model, k):
        torque = turn_as_given(work, model, k, z_axis(r), inner, rate)
    else:
        rate = turn_freely(work, model, k, z_axis(r), inner)
    store_rows(work, out, dof, rate)
    store_rows(work, out, velocity_count(model) + dof, torque)
    return all_lanes(absolute(rate) + absolute(torque) < _INFINITY)


@helper
def move_joint(work, model, k, r, x, out):
    """The same for a joint of any kind."""
    n, nv, slot = body_count(model), velocity_count(model), body_slot(k)
    inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
    before = shift_motion(load3(work, slot + BODY.ARM), inner)  # α⁺
    alpha, sound = before, True
    for i in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + i
        rate = torque = load_rows(work, x, dof)
        if is_prescribed(model, k):
            record = dof_slot(n, dof)
            torque = load(work, record + DOF.RESIDUE) + dot_spatial(
                load6(work, record + DOF.GAIN), before
            )
        else:
            rate = backsubstitute_dof(work, model, k, i, alpha)
        store_rows(work, out, dof, rate)
        store_rows(work, out, nv + dof, torque)
        sound = sound and all_lanes(absolute(rate) + absolute(torque) < _INFINITY)
        alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
    store6(work, slot + BODY.MOTION, add_spatial(alpha, load6(work, slot + BODY.CORIOLIS)))
    return sound


@helper
def scatter_unknowns(work, model, x, out):
    """Base to tips: α, v̇ of joints that are free and 𝒯 of those that are not."""
    status = OK
    store6(work, BODY.MOTION, ground_acceleration(work, model))
    for k in range(body_count(model)):
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        if entry(model, k, KIND) == REVOLUTE:
            sound = turn_joint(work, model, k, r, x, out)
        else:
            sound = move_joint(work, model, k, r, x, out)
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    return status


@helper
def sweep(work, model, given, out):
    """v̇ and 𝒯."""
    first = scatter_rates(work, model, given.q, given.v)
    second = gather_hybrid_residuals(work, model, given.x, given.f_ext)
    third = scatter_unknowns(work, model, given.x, out)
    return first_trouble(first, second, third)


@helper
def shape(model, count):
    """A row of v̇ and a row of 𝒯."""
    nv = velocity_count(model)
    return (2, nv) if count == nv else (-1, 1)


@helper
def choose_known(model, tau, vdot, out):
    """x into the second row of `out`, which is read before it is written; is it finite?"""
    nv, sound = velocity_count(model), True
    for k in range(body_count(model)):
        given = vdot if is_prescribed(model, k) else tau
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            out[nv + dof] = given[dof]
            sound &= abs(given[dof]) < _INFINITY
    return sound


@brief_kernel(*one_state_signature(4, dimensions=2))
def hybrid_dynamics_of_both(block, q, v, tau, vdot, f_ext, out):
    """One state with 𝒯 and v̇ in arrays of their own: mixing them in Python costs as much as
    ten bodies."""
    work, model = unpack(block)
    nv = velocity_count(model)
    sound = coordinates_fit(model, q) and velocities_fit(model, v) and forces_fit(model, f_ext)
    sizes = tau.size == nv and vdot.size == nv and out.shape[0] == 2 and out.size == 2 * nv
    if not (sound and sizes):
        return BAD_INPUT
    if not choose_known(model, pointer(tau), pointer(vdot), pointer(out)):
        return BAD_INPUT
    x, forces = Rows(pointer(out), nv, 1), Rows(pointer(f_ext), 0, f_ext.size)
    return sweep(work, model, Given(row_of(q), row_of(v), x, forces), row_of(out))


hybrid_dynamics = one_state("hybrid_dynamics", sweep, shape, "q v x f", dimensions=2)
hybrid_dynamics_batch = batch("hybrid_dynamics_batch", sweep, shape)
