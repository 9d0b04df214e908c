"""Newton–Euler inverse dynamics: Jain 2011-II Algorithm 3.1.

A scatter for V and α, a gather for f and 𝒯. An empty `v` or `vdot` stands for zeros: bias force
(no v̇) and gravity force (neither) are the same sweep.
"""

from skodyn.jit import helper
from skodyn.kernels.aba_passes import pass_force_inward, passed_force
from skodyn.kernels.entries import batch, is_given, one_state, per_dof, per_dof_of_x
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import (
    begin_scatter,
    body_inertia,
    ground_acceleration,
    move_body,
    place_body,
)
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.rows import row6
from skodyn.kernels.status import NOT_FINITE, NOT_UNIT, OK, failure
from skodyn.kernels.tuples import all_finite, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import fma, load_rows, store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia, gyroscopic_force
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_motion,
    subtract_spatial,
)

OWN_FORCE = BODY.CORIOLIS  # this algorithm uses a(k) at once


@helper
def scatter_forces(work, model, q, v, vdot):
    """Base to tips: V, α, and M(k)·α(k) + b(k) of every body."""
    begin_scatter(work, model, q)
    store6(work, BODY.MOTION, ground_acceleration(work, model))
    status = OK
    for k in range(body_count(model)):
        r, l, sound = place_body(work, model, k, q)
        alpha = shift_motion(l, load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION))
        inertia = body_inertia(work, model, k, r)
        if is_given(vdot):
            for i in range(entry(model, k, N_DOF)):
                rate = load_rows(work, vdot, entry(model, k, V_START) + i)
                alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        if is_given(v):
            omega, a = move_body(work, model, k, r, l, v)
            alpha = add_spatial(alpha, a)
            f = add_spatial(apply_inertia(inertia, alpha), gyroscopic_force(inertia, omega))
        else:
            f = apply_inertia(inertia, alpha)
        store6(work, body_slot(k) + BODY.MOTION, alpha)
        store6(work, body_slot(k) + OWN_FORCE, f)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def gather_torques(work, model, vdot, f_ext, tau):
    """Tips to base: f(k) and 𝒯(k) = H(k)·f(k), and what the rotors take."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        slot = body_slot(k)
        f = load6(work, slot + OWN_FORCE)
        if is_given(f_ext):
            f = subtract_spatial(f, row6(work, f_ext, 6 * k))
        f = add_spatial(f, passed_force(work, model, k))
        r = load_matrix(work, slot + BODY.ROTATION)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            torque = dot_spatial(joint_column(work, model, k, i, r), f)
            if is_given(vdot):
                rate = load_rows(work, vdot, dof)
                torque = fma(armature(work, model, dof), rate, torque)
            store_rows(work, tau, dof, torque)
            if status == OK and not all_finite(torque):
                status = failure(NOT_FINITE, k)
        pass_force_inward(work, model, k, f, False)
    return status


@helper
def sweep(work, model, given, tau):
    """𝒯; x holds v̇."""
    first = scatter_forces(work, model, given.q, given.v, given.x)
    second = gather_torques(work, model, given.x, given.f_ext, tau)
    return first if first != OK else second


inverse_dynamics = one_state("inverse_dynamics", sweep, per_dof_of_x, "q v x")
inverse_dynamics_with_f_ext = one_state(
    "inverse_dynamics_with_f_ext", sweep, per_dof_of_x, "q v x f"
)
bias_force = one_state("bias_force", sweep, per_dof, "q v f")
gravity_force = one_state("gravity_force", sweep, per_dof, "q")
inverse_dynamics_batch = batch("inverse_dynamics_batch", sweep, per_dof)
