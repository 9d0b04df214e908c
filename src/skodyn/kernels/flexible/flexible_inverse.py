"""Newton–Euler inverse dynamics of trees with flexible bodies: inverse_dynamics.py, with modes.

𝒯 of a mode is what its body's inertia asks for, the force of strain and damping, and Πᵀf of what
hangs on nodes.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.aba_passes import pass_force_inward, passed_force
from skodyn.kernels.entries import batch, is_given, one_state, per_dof, per_dof_of_x
from skodyn.kernels.flexible.flexible_bending import bend, bend_moving
from skodyn.kernels.flexible.flexible_body import (
    gain_of,
    load_body,
    own_bias,
    own_inertia,
    pair_row,
    weigh,
)
from skodyn.kernels.flexible.flexible_dynamics import hang_force
from skodyn.kernels.flexible.flexible_strain import strain_body
from skodyn.kernels.flexible.flexible_table import clear_columns, field, flexible_record, lanes_of
from skodyn.kernels.flexible.flexible_tree import add_modes, place
from skodyn.kernels.inverse_dynamics import OWN_FORCE
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import begin_scatter, body_inertia, ground_acceleration
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.rows import row6
from skodyn.kernels.status import NOT_FINITE, NOT_UNIT, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import fma, load, load_rows, splat, store, store_rows
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia, gyroscopic_force
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_motion,
    subtract_spatial,
)


@routine
def push_modes(work, model, record, alpha, vdot):
    """Add P_ηr·α + P_ηη·η̈ to LOADS of every mode; return P_rη·η̈."""
    start, loads = field(model, record, its.MODE_V), lanes_of(model, record, its.LOADS)
    zero = splat(work, 0.0)
    f = (zero, zero, zero), (zero, zero, zero)
    given, m = is_given(vdot), field(model, record, its.MODES)
    for i in range(m):
        u = gain_of(work, model, record, i)
        own = load(work, loads + i) + dot_spatial(u, alpha)
        if given:
            f = add_scaled_spatial(f, load_rows(work, vdot, start + i), u)
            for j in range(m):
                pair = pair_row(model, record, max(i, j)) + min(i, j)
                own = fma(load(work, pair), load_rows(work, vdot, start + j), own)
        store(work, loads + i, own)
    return f


@helper
def bent_force(work, model, k, r, given, alpha):
    """M(k)·α(k) + b(k) of a flexible body, six numbers; those of modes go to LOADS."""
    record = flexible_record(model, k)
    moving = is_given(given.v)
    if moving:
        bend_moving(work, model, record, given.q, given.v)
    else:
        bend(work, model, record, given.q)
    inertia = weigh(work, model, k, record, r, moving)
    f = apply_inertia(own_inertia(work, model, k, record), alpha)
    if moving:
        load_body(work, model, k, record, r, inertia)
        f = add_spatial(f, own_bias(work, model, record))
    else:
        clear_columns(work, lanes_of(model, record, its.LOADS), field(model, record, its.MODES))
    strain_body(work, model, record, moving)
    return add_spatial(f, push_modes(work, model, record, alpha, given.x))


@helper
def scatter_bent_forces(work, model, given):
    """Base to tips: α, and M(k)·α(k) + b(k) of every body."""
    begin_scatter(work, model, given.q)
    store6(work, BODY.MOTION, ground_acceleration(work, model))
    status = OK
    for k in range(body_count(model)):
        r, l, a, sound = place(work, model, k, given.q, given.v)
        alpha = shift_motion(l, load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION))
        if is_given(given.x):
            alpha = add_modes(work, model, k, given.x, alpha)
            for i in range(entry(model, k, N_DOF)):
                rate = load_rows(work, given.x, entry(model, k, V_START) + i)
                alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        if is_given(given.v):
            alpha = add_spatial(alpha, a)
        store6(work, body_slot(k) + BODY.MOTION, alpha)
        if flexible_record(model, k) > 0:
            f = bent_force(work, model, k, r, given, alpha)
        else:
            inertia = body_inertia(work, model, k, r)
            f = apply_inertia(inertia, alpha)
            if is_given(given.v):
                omega = load3(work, body_slot(k) + BODY.OMEGA)
                f = add_spatial(f, gyroscopic_force(inertia, omega))
        store6(work, body_slot(k) + OWN_FORCE, f)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def write_modes(work, model, record, vdot, tau):
    """𝒯 of the modes of a body whose children have passed theirs; are they finite?"""
    start, sound = field(model, record, its.MODE_V), True
    for i in range(field(model, record, its.MODES)):
        torque = load(work, lanes_of(model, record, its.LOADS) + i)
        if is_given(vdot):
            rate = load_rows(work, vdot, start + i)
            torque = fma(armature(work, model, start + i), rate, torque)
        store_rows(work, tau, start + i, torque)
        sound = sound and all_finite(torque)
    return sound


@helper
def gather_bent_torques(work, model, vdot, f_ext, tau):
    """Tips to base: f(k) and 𝒯(k)."""
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
        record, sound = flexible_record(model, k), True
        if record > 0:
            sound = write_modes(work, model, record, vdot, tau)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            torque = dot_spatial(joint_column(work, model, k, i, r), f)
            if is_given(vdot):
                torque = fma(armature(work, model, dof), load_rows(work, vdot, dof), torque)
            store_rows(work, tau, dof, torque)
            sound = sound and all_finite(torque)
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
        hang_force(work, model, k, f)
        pass_force_inward(work, model, k, f, False)
    return status


@shared_routine
def sweep(work, model, given, tau):
    """𝒯; x holds v̇."""
    first = scatter_bent_forces(work, model, given)
    second = gather_bent_torques(work, model, given.x, given.f_ext, tau)
    return first if first != OK else second


flexible_inverse = one_state("flexible_inverse", sweep, per_dof_of_x, "q v x")
flexible_inverse_with_f_ext = one_state(
    "flexible_inverse_with_f_ext", sweep, per_dof_of_x, "q v x f"
)
flexible_bias = one_state("flexible_bias", sweep, per_dof, "q v f")
flexible_gravity = one_state("flexible_gravity", sweep, per_dof, "q")
flexible_inverse_batch = batch("flexible_inverse_batch", sweep, per_dof)
