"""O(N) articulated body forward dynamics: Jain 2011-II Algorithm 6.1.

One scatter for the kinematics, one gather for P, D and the residuals z, ε, one scatter for v̇.
Gravity enters as an acceleration of the ground, external forces are taken from b(k).
"""

from skodyn.jit import helper, shared_routine
from skodyn.kernels.aba_passes import (
    backsubstitute_dof,
    eliminate_joint,
    pass_force_inward,
    passed_force,
)
from skodyn.kernels.articulated_inertia import (
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
    project_joint,
    turn_gain,
)
from skodyn.kernels.entries import batch, is_given, one_state, per_dof, per_dof_of_x
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration, scatter_rates_inlined
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import row6
from skodyn.kernels.status import NOT_FINITE, OK, failure, first_trouble
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6, store_articulated
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, carried_slot, dof_slot
from skodyn.lanes import load, load_rows, store, store_rows
from skodyn.model.layout import KIND, N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import add_applied_articulated, shift_remainder, subtract_rank_one
from skodyn.spatial.inertia import add_gyroscopic_force
from skodyn.spatial.linear3 import add, add_scaled, dot, scale, z_axis
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)


@helper
def add_outer_force(work, k, f, inertia, f_ext):
    """f + b(k): the gyroscopic force, less what pushes the body from outside."""
    f = add_gyroscopic_force(f, inertia, load3(work, body_slot(k) + BODY.OMEGA))
    if is_given(f_ext):
        f = subtract_spatial(f, row6(work, f_ext, 6 * k))
    return f


@helper
def project_loaded_joint(work, model, k, r, big_p, z, tau):
    """(P⁺, z⁺, sound): project_joint and eliminate_joint, in one go for the commonest joint."""
    if entry(model, k, KIND) == REVOLUTE:
        dof = entry(model, k, V_START)
        axis = z_axis(r)
        u, pivot, sound = turn_gain(work, model, k, axis, big_p)
        epsilon = load_rows(work, tau, dof) - dot(axis, z[0])
        store(work, dof_slot(body_count(model), dof) + DOF.RESIDUE, epsilon)
        z_plus = add_scaled_spatial(z, epsilon * pivot, u)
        return subtract_rank_one(big_p, u, pivot), z_plus, sound
    p_plus, sound = project_joint(work, model, k, r, big_p)
    return p_plus, eliminate_joint(work, model, k, r, z, tau), sound


@helper
def begins_sum(model, k):
    """Is joint k a hinge to a parent that has no child behind it? Most joints are."""
    hinge, parent = entry(model, k, KIND) == REVOLUTE, entry(model, k, PARENT)
    last = hinge and parent >= 0
    return last and entry(model, k, SUBTREE_END) == entry(model, parent, SUBTREE_END)


@helper
def pass_turn_inward(work, model, k, big_p, z, tau):
    """project_loaded_joint and both passes inward, for a joint that begins a sum; sound?"""
    sums = carried_slot(model, k, entry(model, k, PARENT))
    dof, turned = entry(model, k, V_START), body_slot(k) + BODY.ROTATION
    axis = load(work, turned + 2), load(work, turned + 5), load(work, turned + 8)
    u, pivot, sound = turn_gain(work, model, k, axis, big_p)
    epsilon = load_rows(work, tau, dof) - dot(axis, z[0])
    store(work, dof_slot(body_count(model), dof) + DOF.RESIDUE, epsilon)
    arm = load3(work, body_slot(k) + BODY.ARM)
    z_plus = add_scaled_spatial(z, epsilon * pivot, u)
    store6(work, sums + SUMS.FORCE, shift_force(arm, z_plus))
    store_articulated(work, sums + SUMS.INERTIA, shift_remainder(big_p, u, pivot, arm))
    return sound


@helper
def gather_residuals(work, model, tau, f_ext, keep):
    """Tips to base: P, z, and per degree of freedom u, 1/d and ε."""
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
        if begins_sum(model, k) and not keep:
            sound = pass_turn_inward(work, model, k, big_p, z, tau)
            if status == OK and not sound:
                status = joint_trouble(work, model, k)
            continue
        p_plus, z_plus, sound = project_loaded_joint(work, model, k, r, big_p, z, tau)
        pass_inertia_inward(work, model, k, p_plus, keep)
        pass_force_inward(work, model, k, z_plus, keep)
        if status == OK and not sound:
            status = joint_trouble(work, model, k)
    return status


@helper
def turn_freely(work, model, k, axis, inner):
    """v̇ of a joint that turns about `axis`; stores α(k) from the parent's α.

    v̇ = (ε − u·α⁺)/d is written ε/d − (u/d)·α⁺, half of which is known before the parent's α is.
    a(k) comes last, as in inverse dynamics: both then round α alike, and inverse dynamics gives 𝒯
    back to the last digits. Added first, it left 1e-12 of the weight's torque in 1,000 links.
    """
    record = dof_slot(body_count(model), entry(model, k, V_START))
    u, pivot = load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT)
    arm = load3(work, body_slot(k) + BODY.ARM)
    known = load(work, record + DOF.RESIDUE) * pivot
    a = load6(work, body_slot(k) + BODY.CORIOLIS)
    alpha = shift_motion(arm, inner)  # α⁺
    turning, sliding = dot(scale(pivot, u[0]), alpha[0]), dot(scale(pivot, u[1]), alpha[1])
    rate = (known - turning) - sliding
    alpha = add(add_scaled(alpha[0], rate, axis), a[0]), add(alpha[1], a[1])
    store6(work, body_slot(k) + BODY.MOTION, alpha)
    return rate


@helper
def backsubstitute_body(work, model, k, vdot):
    """v̇ of joint k and α(k) from the parent's α; are all rates finite?"""
    slot = body_slot(k)
    r = load_matrix(work, slot + BODY.ROTATION)
    inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
    if entry(model, k, KIND) == REVOLUTE:
        rate = turn_freely(work, model, k, z_axis(r), inner)
        store_rows(work, vdot, entry(model, k, V_START), rate)
        return all_finite(rate)
    finite = True
    alpha = shift_motion(load3(work, slot + BODY.ARM), inner)  # α⁺
    for i in range(entry(model, k, N_DOF)):
        rate = backsubstitute_dof(work, model, k, i, alpha)
        store_rows(work, vdot, entry(model, k, V_START) + i, rate)
        finite = finite and all_finite(rate)
        alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
    store6(work, slot + BODY.MOTION, add_spatial(alpha, load6(work, slot + BODY.CORIOLIS)))
    return finite


@helper
def scatter_accelerations(work, model, vdot):
    """Base to tips: v̇ and α."""
    status = OK
    store6(work, BODY.MOTION, ground_acceleration(work, model))
    for k in range(body_count(model)):
        finite = backsubstitute_body(work, model, k, vdot)
        if status == OK and not finite:
            status = failure(NOT_FINITE, k)
    return status


@shared_routine
def accelerate_placed(work, model, tau, f_ext, keep, vdot):
    """v̇ of bodies whose rates are known: both passes, for kernels with more to do than these."""
    first = gather_residuals(work, model, tau, f_ext, keep)
    second = scatter_accelerations(work, model, vdot)
    return first if first != OK else second


@helper
def sweep(work, model, given, vdot):
    """v̇."""
    first = scatter_rates_inlined(work, model, given.q, given.v)
    second = gather_residuals(work, model, given.x, given.f_ext, False)
    third = scatter_accelerations(work, model, vdot)
    return first_trouble(first, second, third)


forward_dynamics = one_state("forward_dynamics", sweep, per_dof_of_x, "q v x")
forward_dynamics_with_f_ext = one_state(
    "forward_dynamics_with_f_ext", sweep, per_dof_of_x, "q v x f"
)
forward_dynamics_batch = batch("forward_dynamics_batch", sweep, per_dof)
