"""Forward dynamics of trees with flexible bodies in O(N): modes yield first, the joint second.

A. Jain and G. Rodriguez, Recursive flexible multibody system dynamics using spatial operators,
Journal of Guidance, Control, and Dynamics 15 (1992) 1453. A body has 6 + m velocities but passes
6 × 6 numbers inward: its modes yield one at a time as the degrees of freedom of a joint do,

    P ← P − u uᵀ/d,   uⱼ ← uⱼ − eⱼ u/d,   Eⱼᵢ ← Eⱼᵢ − eⱼ eᵢ/d

with u = P_rη and e = P_ηη of the mode. What hangs on a node adds ΠᵀP⁺Π, φP⁺Π and Πᵀz⁺.
"""

from __future__ import annotations

from skodyn.jit import helper, routine
from skodyn.kernels.articulated_inertia import (
    SINGULAR_PIVOT,
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
    yield_joint,
)
from skodyn.kernels.entries import batch, is_given, one_state, per_dof, per_dof_of_x
from skodyn.kernels.flexible_body import mode_slot, own_bias, own_inertia
from skodyn.kernels.flexible_table import (
    field,
    flexible_record,
    lanes_of,
    node_lanes,
    node_record,
    triangle,
)
from skodyn.kernels.flexible_tree import add_modes, scatter_bent_rates
from skodyn.kernels.forward_dynamics import add_outer_force, yield_loaded_joint
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration
from skodyn.kernels.residuals import (
    add_scaled_spatial,
    answer_acceleration,
    pass_force_inward,
    passed_force,
)
from skodyn.kernels.status import NOT_FINITE, OK, SINGULAR, failure, first_trouble
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    DOF_LANES,
    GAIN,
    MOTION,
    PIVOT,
    RESIDUE,
    ROTATION,
    body_count,
    body_slot,
    dof_parameters,
    entry,
    load3,
    load6,
    load_matrix,
    row6,
    store6,
)
from skodyn.lanes import absolute, all_lanes, fma, load, load_rows, parameter, store, store_rows
from skodyn.model.flexible_layout import MODAL_MASS, MODE_V, MODES, PAIRS, SHAPES
from skodyn.model.layout import ARMATURE, DOF_RECORD, N_DOF, PARENT, V_START
from skodyn.spatial.articulated import (
    add_applied_articulated,
    apply_articulated,
    subtract_rank_one,
)
from skodyn.spatial.motion import (
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)

_INFINITY = float("inf")


@routine
def yield_modes(work, model, k, record, p):
    """(P, sound) behind the modes of body k; u, e and 1/d of each stay in the workspace."""
    pairs, sound = lanes_of(model, record, PAIRS), True
    m, first = field(model, record, MODES), mode_slot(model, record, 0)
    rotors = dof_parameters(body_count(model), field(model, record, MODE_V)) + ARMATURE
    least, pitch = field(model, record, MODAL_MASS), field(model, record, SHAPES) + 1
    for back in range(m):
        i = m - 1 - back
        slot, row = first + i * DOF_LANES, pairs + triangle(i)
        rotor = parameter(work, model.parameters, rotors + i * DOF_RECORD)
        d = load(work, row + i) + rotor
        pivot = 1.0 / d
        u = load6(work, slot + GAIN)
        store(work, slot + PIVOT, pivot)
        p = subtract_rank_one(p, u, pivot)
        for j in range(i):
            share = -(pivot * load(work, row + j))
            inner = first + j * DOF_LANES + GAIN
            store6(work, inner, add_scaled_spatial(load6(work, inner), share, u))
            other = pairs + triangle(j)
            for h in range(j + 1):
                store(work, other + h, fma(share, load(work, row + h), load(work, other + h)))
        own = parameter(work, model.parameters, least + i * pitch)
        sound = sound and all_lanes(d > SINGULAR_PIVOT * own)
    return p, sound


@routine
def load_modes(work, model, record, z, tau):
    """z behind the modes, under the forces tau; RESIDUE holds z_η and then ε of each."""
    pairs = lanes_of(model, record, PAIRS)
    m, start = field(model, record, MODES), field(model, record, MODE_V)
    first = mode_slot(model, record, 0)
    for back in range(m):
        i = m - 1 - back
        slot, row = first + i * DOF_LANES, pairs + triangle(i)
        epsilon = load_rows(work, tau, start + i) - load(work, slot + RESIDUE)
        store(work, slot + RESIDUE, epsilon)
        ratio = epsilon * load(work, slot + PIVOT)
        z = add_scaled_spatial(z, ratio, load6(work, slot + GAIN))
        for j in range(i):
            inner = first + j * DOF_LANES + RESIDUE
            store(work, inner, fma(ratio, load(work, row + j), load(work, inner)))
    return z


@routine
def hang_inertia(work, model, k, p_plus):
    """Add what body k passes inward to the modes that move its node."""
    node = node_record(model, k)
    if node > 0:
        record, at = flexible_record(model, entry(model, k, PARENT)), node_lanes(model, node)
        pairs, l = lanes_of(model, record, PAIRS), load3(work, body_slot(k) + ARM)
        first = mode_slot(model, record, 0)
        for i in range(field(model, record, MODES)):
            f = apply_articulated(p_plus, load6(work, at + 6 * i))
            slot, row = first + i * DOF_LANES + GAIN, pairs + triangle(i)
            store6(work, slot, add_spatial(load6(work, slot), shift_force(l, f)))
            for j in range(i + 1):
                more = dot_spatial(f, load6(work, at + 6 * j))
                store(work, row + j, load(work, row + j) + more)


@routine
def hang_force(work, model, k, z_plus):
    """The same for a force: z_η += Πᵀz⁺."""
    node = node_record(model, k)
    if node > 0:
        record, at = flexible_record(model, entry(model, k, PARENT)), node_lanes(model, node)
        first = mode_slot(model, record, 0)
        for i in range(field(model, record, MODES)):
            slot = first + i * DOF_LANES + RESIDUE
            more = dot_spatial(z_plus, load6(work, at + 6 * i))
            store(work, slot, load(work, slot) + more)


@routine
def mode_trouble(work, model, k, record):
    """The status for a body whose modes, or whose joint, are not sound."""
    for i in range(field(model, record, MODES)):
        size = absolute(load(work, mode_slot(model, record, i) + PIVOT))
        if not all_lanes(size > 0.0):
            return failure(NOT_FINITE, k)
        if not all_lanes(size < _INFINITY):
            return failure(SINGULAR, k)
    return joint_trouble(work, model, k)


@helper
def gather_bent_residuals(work, model, tau, f_ext):
    """Tips to base: P, z; of modes and degrees of freedom u, 1/d and ε."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + ROTATION)
        record, sound = flexible_record(model, k), True
        f = passed_force(work, model, k)
        if record > 0:
            p = gathered_inertia(work, model, k, own_inertia(work, model, k, record))
            f = add_spatial(f, own_bias(work, model, record))
            if is_given(f_ext):
                f = subtract_spatial(f, row6(work, f_ext, 6 * k))
            p, sound = yield_modes(work, model, k, record, p)
            f = load_modes(work, model, record, f, tau)
        else:
            inertia = body_inertia(work, model, k, r)
            p = gathered_inertia(work, model, k, inertia)
            f = add_outer_force(work, k, f, inertia, f_ext)
        z = add_applied_articulated(f, p, load6(work, body_slot(k) + CORIOLIS))
        p_plus, z_plus, free = yield_loaded_joint(work, model, k, r, p, z, tau)
        hang_inertia(work, model, k, p_plus)
        hang_force(work, model, k, z_plus)
        pass_inertia_inward(work, model, k, p_plus, False)
        pass_force_inward(work, model, k, z_plus, False)
        if status == OK and not (sound and free):
            status = (
                mode_trouble(work, model, k, record)
                if record > 0
                else joint_trouble(work, model, k)
            )
    return status


@helper
def gather_bent_inertias(work, model):
    """P alone, with u and 1/d; M(k) must be in the workspace."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + ROTATION)
        record, sound = flexible_record(model, k), True
        if record > 0:
            p = gathered_inertia(work, model, k, own_inertia(work, model, k, record))
            p, sound = yield_modes(work, model, k, record, p)
        else:
            p = gathered_inertia(work, model, k, body_inertia(work, model, k, r))
        p_plus, free = yield_joint(work, model, k, r, p)
        hang_inertia(work, model, k, p_plus)
        pass_inertia_inward(work, model, k, p_plus, False)
        if status == OK and not (sound and free):
            status = (
                mode_trouble(work, model, k, record)
                if record > 0
                else joint_trouble(work, model, k)
            )
    return status


@routine
def answer_modes(work, model, k, record, alpha, vdot):
    """η̈ of body k, which accelerates with α; are they finite?"""
    pairs, sound = lanes_of(model, record, PAIRS), True
    start, first = field(model, record, MODE_V), mode_slot(model, record, 0)
    for i in range(field(model, record, MODES)):
        slot, row = first + i * DOF_LANES, pairs + triangle(i)
        left = load(work, slot + RESIDUE) - dot_spatial(load6(work, slot + GAIN), alpha)
        for j in range(i):
            left = fma(-load(work, row + j), load_rows(work, vdot, start + j), left)
        rate = left * load(work, slot + PIVOT)
        store_rows(work, vdot, start + i, rate)
        sound = sound and all_lanes(absolute(rate) < _INFINITY)
    return sound


@helper
def scatter_bent_accelerations(work, model, ground, moving, vdot):
    """Base to tips: v̇ and α; moving: a(k) is in the workspace."""
    status = OK
    store6(work, MOTION, ground)
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + MOTION)
        alpha = shift_motion(load3(work, slot + ARM), inner)  # α⁺
        alpha = add_modes(work, model, k, vdot, alpha)
        sound = True
        for i in range(entry(model, k, N_DOF)):
            rate = answer_acceleration(work, model, k, i, alpha)
            store_rows(work, vdot, entry(model, k, V_START) + i, rate)
            sound = sound and all_lanes(absolute(rate) < _INFINITY)
            alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        if moving:
            alpha = add_spatial(alpha, load6(work, slot + CORIOLIS))
        store6(work, slot + MOTION, alpha)
        record = flexible_record(model, k)
        if record > 0:
            sound = answer_modes(work, model, k, record, alpha, vdot) and sound
        if status == OK and not sound:
            status = failure(NOT_FINITE, k)
    return status


@helper
def sweep(work, model, given, vdot):
    """v̇."""
    first = scatter_bent_rates(work, model, given.q, given.v)
    second = gather_bent_residuals(work, model, given.x, given.f_ext)
    ground = ground_acceleration(work, model)
    third = scatter_bent_accelerations(work, model, ground, True, vdot)
    return first_trouble(first, second, third)


flexible_forward = one_state("flexible_forward", sweep, per_dof_of_x, "q v x")
flexible_forward_pushed = one_state("flexible_forward_pushed", sweep, per_dof_of_x, "q v x f")
flexible_forward_batch = batch("flexible_forward_batch", sweep, per_dof)
