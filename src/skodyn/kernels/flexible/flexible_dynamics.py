"""Forward dynamics of trees with flexible bodies in O(N): modes yield first, the joint second.

A. Jain and G. Rodriguez, Recursive flexible multibody system dynamics using spatial operators,
Journal of Guidance, Control, and Dynamics 15 (1992) 1453. A body has 6 + m velocities but passes
6 × 6 numbers inward: its modes yield one at a time as the degrees of freedom of a joint do,

    P ← P − u uᵀ/d,   uⱼ ← uⱼ − eⱼ u/d,   Eⱼᵢ ← Eⱼᵢ − eⱼ eᵢ/d

with u = P_rη and e = P_ηη of the mode. What hangs on a node adds ΠᵀP⁺Π, φP⁺Π and Πᵀz⁺.
"""

from skodyn.jit import helper, shared_routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.articulated_inertia import (
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
    project_joint,
)
from skodyn.kernels.entries import batch, is_given, one_state, per_dof, per_dof_of_x
from skodyn.kernels.flexible.flexible_body import (
    mode_slot,
    own_bias,
    own_inertia,
    pair_row,
    yielded_gain,
)
from skodyn.kernels.flexible.flexible_modes import project_loaded_modes, project_modes
from skodyn.kernels.flexible.flexible_table import (
    columns6,
    field,
    flexible_record,
    lanes_of,
    load6_apart,
    node_lanes,
    node_record,
    store_columns6,
)
from skodyn.kernels.flexible.flexible_tree import add_modes, scatter_bent_rates
from skodyn.kernels.forward_dynamics import add_outer_force, project_loaded_joint
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import row6
from skodyn.kernels.status import NOT_FINITE, OK, SINGULAR, failure, first_trouble
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot
from skodyn.lanes import (
    absolute,
    all_lanes,
    expect_rows,
    fma,
    load,
    load_rows,
    single,
    states,
    store_rows,
)
from skodyn.lanes.columns import columns_at_once, load_columns, store_columns
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.articulated import add_applied_articulated, apply_articulated
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)

_INFINITY = float("inf")


@helper
def pair_felt(work, model, record, at):
    """P_ηη += Πᵀ·P⁺Π, the former at `at`, the latter in FELT."""
    pairs, masters = lanes_of(model, record, its.PAIRS), field(model, record, its.MODE_PITCH)
    felt = lanes_of(model, record, its.FELT)
    for i in range(field(model, record, its.MODES)):
        f, row = load6_apart(work, felt + i, masters), pairs + i * masters
        for j in range(0, i + 1, columns_at_once(work)):
            more = dot_spatial(f, columns6(work, at + j, masters))
            store_columns(work, row + j, load_columns(work, row + j) + more)


@helper
def hang_inertia(work, model, k, p_plus):
    """Add what body k passes inward to the modes that move its node."""
    node = node_record(model, k)
    if node > 0:
        record, at = flexible_record(model, entry(model, k, PARENT)), node_lanes(model, node)
        l, gains = load3(work, body_slot(k) + BODY.ARM), lanes_of(model, record, its.GAINS)
        felt, masters = lanes_of(model, record, its.FELT), field(model, record, its.MODE_PITCH)
        for i in range(0, field(model, record, its.MODES), columns_at_once(work)):
            f = apply_articulated(p_plus, columns6(work, at + i, masters))
            store_columns6(work, felt + i, masters, f)
            u = add_spatial(columns6(work, gains + i, masters), shift_force(l, f))
            store_columns6(work, gains + i, masters, u)
        pair_felt(work, model, record, at)


@helper
def hang(work, model, k, p_plus, z_plus):
    """Both: inertia and force."""
    node = node_record(model, k)
    if node > 0:
        record, at = flexible_record(model, entry(model, k, PARENT)), node_lanes(model, node)
        l, gains = load3(work, body_slot(k) + BODY.ARM), lanes_of(model, record, its.GAINS)
        loads, masters = lanes_of(model, record, its.LOADS), field(model, record, its.MODE_PITCH)
        felt = lanes_of(model, record, its.FELT)
        for i in range(0, field(model, record, its.MODES), columns_at_once(work)):
            column = columns6(work, at + i, masters)
            f = apply_articulated(p_plus, column)
            store_columns6(work, felt + i, masters, f)
            u = add_spatial(columns6(work, gains + i, masters), shift_force(l, f))
            store_columns6(work, gains + i, masters, u)
            more = dot_spatial(z_plus, column)
            store_columns(work, loads + i, load_columns(work, loads + i) + more)
        pair_felt(work, model, record, at)


@helper
def hang_force(work, model, k, z_plus):
    """The same for a force: z_η += Πᵀz⁺."""
    node = node_record(model, k)
    if node > 0:
        record, at = flexible_record(model, entry(model, k, PARENT)), node_lanes(model, node)
        loads, masters = lanes_of(model, record, its.LOADS), field(model, record, its.MODE_PITCH)
        for i in range(0, field(model, record, its.MODES), columns_at_once(work)):
            more = dot_spatial(z_plus, columns6(work, at + i, masters))
            store_columns(work, loads + i, load_columns(work, loads + i) + more)


@helper
def mode_trouble(work, model, k, record):
    """The status for a body whose modes, or whose joint, are not sound."""
    for i in range(field(model, record, its.MODES)):
        size = absolute(load(work, mode_slot(model, record, i) + DOF.PIVOT))
        if not all_lanes(size > 0.0):
            return failure(NOT_FINITE, k)
        if not all_lanes(size < _INFINITY):
            return failure(SINGULAR, k)
    return joint_trouble(work, model, k)


@shared_routine
def gather_bent_residuals(work, model, tau, f_ext):
    """Tips to base: P, z; of modes and degrees of freedom u, 1/d and ε."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        record, sound = flexible_record(model, k), True
        f = passed_force(work, model, k)
        if record > 0:
            p = gathered_inertia(work, model, k, own_inertia(work, model, k, record))
            f = add_spatial(f, own_bias(work, model, record))
            if is_given(f_ext):
                f = subtract_spatial(f, row6(work, f_ext, 6 * k))
            p, f, sound = project_loaded_modes(work, model, record, p, f, tau)
        else:
            inertia = body_inertia(work, model, k, r)
            p = gathered_inertia(work, model, k, inertia)
            f = add_outer_force(work, k, f, inertia, f_ext)
        z = add_applied_articulated(f, p, load6(work, body_slot(k) + BODY.CORIOLIS))
        p_plus, z_plus, free = project_loaded_joint(work, model, k, r, p, z, tau)
        hang(work, model, k, p_plus, z_plus)
        pass_inertia_inward(work, model, k, p_plus, False)
        pass_force_inward(work, model, k, z_plus, False)
        if status == OK and not (sound and free):
            status = (
                mode_trouble(work, model, k, record)
                if record > 0
                else joint_trouble(work, model, k)
            )
    return status


@shared_routine
def gather_bent_inertias(work, model):
    """P alone, with u and 1/d; M(k) must be in the workspace."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        record, sound = flexible_record(model, k), True
        if record > 0:
            p = gathered_inertia(work, model, k, own_inertia(work, model, k, record))
            p, sound = project_modes(work, model, record, p)
        else:
            p = gathered_inertia(work, model, k, body_inertia(work, model, k, r))
        p_plus, free = project_joint(work, model, k, r, p)
        hang_inertia(work, model, k, p_plus)
        pass_inertia_inward(work, model, k, p_plus, False)
        if status == OK and not (sound and free):
            status = (
                mode_trouble(work, model, k, record)
                if record > 0
                else joint_trouble(work, model, k)
            )
    return status


@helper
def backsubstitute_modes(work, model, k, record, alpha, vdot):
    """η̈ of body k, which accelerates with α; are they finite?"""
    start, first, sound = field(model, record, its.MODE_V), mode_slot(model, record, 0), True
    for i in range(field(model, record, its.MODES)):
        slot, row = first + i * DOF.size, pair_row(model, record, i)
        left = load(work, slot + DOF.RESIDUE) - dot_spatial(
            yielded_gain(work, model, record, i), alpha
        )
        for j in range(i):
            left = fma(-load(work, row + j), load_rows(work, vdot, start + j), left)
        rate = left * load(work, slot + DOF.PIVOT)
        store_rows(work, vdot, start + i, rate)
        sound = sound and all_finite(rate)
    return sound


@shared_routine
def scatter_bent_accelerations(work, model, ground, moving, vdot):
    """Base to tips: v̇ and α; moving: a(k) is in the workspace."""
    status = OK
    store6(work, BODY.MOTION, ground)
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        alpha = shift_motion(load3(work, slot + BODY.ARM), inner)  # α⁺
        alpha = add_modes(work, model, k, vdot, alpha)
        sound = True
        for i in range(entry(model, k, N_DOF)):
            rate = backsubstitute_dof(work, model, k, i, alpha)
            store_rows(work, vdot, entry(model, k, V_START) + i, rate)
            sound = sound and all_finite(rate)
            alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        if moving:
            alpha = add_spatial(alpha, load6(work, slot + BODY.CORIOLIS))
        store6(work, slot + BODY.MOTION, alpha)
        record = flexible_record(model, k)
        if record > 0:
            sound = backsubstitute_modes(work, model, k, record, alpha, vdot) and sound
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    return status


@helper
def expect_states(work, model, given, vdot):
    """The next states of a batch are fetched while these are computed."""
    if not single(work):
        for i in range(0, states(work) * given.q.stride, its.LINE):
            expect_rows(work, given.q, i)
        for i in range(0, states(work) * given.v.stride, its.LINE):
            expect_rows(work, given.v, i)
            expect_rows(work, given.x, i)
            expect_rows(work, vdot, i)


@helper
def sweep(work, model, given, vdot):
    """v̇."""
    expect_states(work, model, given, vdot)
    first = scatter_bent_rates(work, model, given.q, given.v)
    second = gather_bent_residuals(work, model, given.x, given.f_ext)
    ground = ground_acceleration(work, model)
    third = scatter_bent_accelerations(work, model, ground, True, vdot)
    return first_trouble(first, second, third)


flexible_forward = one_state("flexible_forward", sweep, per_dof_of_x, "q v x")
flexible_forward_with_f_ext = one_state(
    "flexible_forward_with_f_ext", sweep, per_dof_of_x, "q v x f"
)
flexible_forward_batch = batch("flexible_forward_batch", sweep, per_dof)
