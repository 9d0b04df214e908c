"""O(N) articulated body forward dynamics: Jain 2011-II Algorithm 6.1.

One scatter for the kinematics, one gather for P, D and the residuals z, ε, one scatter for v̇.
Gravity enters as an acceleration of the ground, external forces are taken from b(k).
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.articulated_inertia import (
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
    yield_joint,
    yield_turn,
)
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration, scatter_rates
from skodyn.kernels.residuals import (
    add_scaled_spatial,
    answer_acceleration,
    pass_force_inward,
    passed_force,
    take_residue,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import (
    BAD_INPUT,
    NOT_FINITE,
    OK,
    coordinates_fit,
    failure,
    finite,
    state_fits,
)
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    GAIN,
    MOTION,
    OMEGA,
    PIVOT,
    RESIDUE,
    ROTATION,
    body_count,
    body_slot,
    dof_slot,
    entry,
    load3,
    load6,
    load_matrix,
    row6,
    store6,
    unpack,
)
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    load,
    load_rows,
    pointer,
    store,
    store_rows,
)
from skodyn.model.layout import KIND, N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.articulated import add_applied_articulated
from skodyn.spatial.inertia import add_gyroscopic_force
from skodyn.spatial.linear3 import add, add_scaled, column, dot, scale
from skodyn.spatial.motion import (
    add_spatial,
    shift_motion,
    subtract_spatial,
)

_INFINITY = float("inf")


@helper
def add_outer_force(w, k, f, inertia, f_ext, f_first, f_stride, ws):
    """f + b(k): the gyroscopic force, less what pushes the body from outside."""
    f = add_gyroscopic_force(f, inertia, load3(w, ws, body_slot(k) + OMEGA))
    if f_stride > 0:
        f = subtract_spatial(f, row6(w, f_ext, f_first, f_stride, 6 * k))
    return f


@helper
def yield_loaded_joint(w, tree, p, k, r, big_p, z, tau, v_first, nv, ws):
    """(P⁺, z⁺, sound): yield_joint and take_residue, in one go for the commonest joint."""
    if entry(tree, k, KIND) == REVOLUTE:
        dof = entry(tree, k, V_START)
        axis = column(r, 2)
        p_plus, u, pivot, sound = yield_turn(w, tree, p, k, axis, big_p, ws)
        epsilon = load_rows(w, tau, v_first, nv, dof) - dot(axis, z[0])
        store(w, ws, dof_slot(body_count(tree), dof) + RESIDUE, epsilon)
        return p_plus, add_scaled_spatial(z, epsilon * pivot, u), sound
    p_plus, sound = yield_joint(w, tree, p, k, r, big_p, ws)
    return p_plus, take_residue(w, tree, p, k, r, z, tau, v_first, nv, ws), sound


@helper
def gather_residuals(w, tree, p, tau, v_first, nv, f_ext, f_first, f_stride, keep, ws):
    """Tips to base: P, z, and per degree of freedom u, 1/d and ε."""
    n = body_count(tree)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(w, ws, body_slot(k) + ROTATION)
        inertia = body_inertia(w, p, k, r)
        big_p = gathered_inertia(w, tree, k, inertia, ws)
        f = passed_force(w, tree, k, ws)
        f = add_outer_force(w, k, f, inertia, f_ext, f_first, f_stride, ws)
        z = add_applied_articulated(f, big_p, load6(w, ws, body_slot(k) + CORIOLIS))
        p_plus, z_plus, sound = yield_loaded_joint(w, tree, p, k, r, big_p, z, tau, v_first, nv, ws)
        pass_inertia_inward(w, tree, k, p_plus, keep, ws)
        pass_force_inward(w, tree, k, z_plus, keep, ws)
        if status == OK and not sound:
            status = joint_trouble(w, tree, k, ws)
    return status


@helper
def turn_freely(w, tree, k, axis, inner, ws):
    """v̇ of a joint that turns about `axis`; stores α(k) from the parent's α.

    v̇ = (ε − u·α⁺)/d is written ε/d − (u/d)·α⁺, half of which is known before the parent's α is.
    a(k) comes last, as in inverse dynamics: both then round α alike, and inverse dynamics gives 𝒯
    back to the last digits. Added first, it left 1e-12 of the weight's torque in 1,000 links.
    """
    record = dof_slot(body_count(tree), entry(tree, k, V_START))
    u, pivot = load6(w, ws, record + GAIN), load(w, ws, record + PIVOT)
    arm = load3(w, ws, body_slot(k) + ARM)
    known = load(w, ws, record + RESIDUE) * pivot
    a = load6(w, ws, body_slot(k) + CORIOLIS)
    alpha = shift_motion(arm, inner)  # α⁺
    turning, sliding = dot(scale(pivot, u[0]), alpha[0]), dot(scale(pivot, u[1]), alpha[1])
    rate = (known - turning) - sliding
    alpha = add(add_scaled(alpha[0], rate, axis), a[0]), add(alpha[1], a[1])
    store6(w, ws, body_slot(k) + MOTION, alpha)
    return rate


@helper
def scatter_accelerations(w, tree, p, vdot, first, stride, ws):
    """Base to tips: v̇ and α."""
    status = OK
    store6(w, ws, MOTION, ground_acceleration(w, p))
    for k in range(body_count(tree)):
        slot = body_slot(k)
        r = load_matrix(w, ws, slot + ROTATION)
        inner = load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION)
        if entry(tree, k, KIND) == REVOLUTE:
            rate = turn_freely(w, tree, k, column(r, 2), inner, ws)
            store_rows(w, vdot, first, stride, entry(tree, k, V_START), rate)
            if status == OK and not all_lanes(absolute(rate) < _INFINITY):
                status = failure(NOT_FINITE, k)
            continue
        alpha = shift_motion(load3(w, ws, slot + ARM), inner)  # α⁺
        for i in range(entry(tree, k, N_DOF)):
            rate = answer_acceleration(w, tree, k, i, alpha, ws)
            store_rows(w, vdot, first, stride, entry(tree, k, V_START) + i, rate)
            if status == OK and not all_lanes(absolute(rate) < _INFINITY):
                status = failure(NOT_FINITE, k)
            alpha = add_scaled_spatial(alpha, rate, joint_column(w, tree, p, k, i, r, ws))
        store6(w, ws, slot + MOTION, add_spatial(alpha, load6(w, ws, slot + CORIOLIS)))
    return status


@helper
def sweep(w, tree, p, row, q, v, tau, f_ext, f_stride, vdot, vdot_stride, keep, ws):
    """v̇ of the states that begin at `row`; `keep` leaves P and z of every body behind."""
    nq, nv = tree[NQ], tree[NV]
    v_first, f_first = row * nv, row * f_stride
    first = scatter_rates(w, tree, p, q, row * nq, nq, v, v_first, nv, ws)
    second = gather_residuals(w, tree, p, tau, v_first, nv, f_ext, f_first, f_stride, keep, ws)
    third = scatter_accelerations(w, tree, p, vdot, row * vdot_stride, vdot_stride, ws)
    if first != OK:
        return first
    return second if second != OK else third


@brief_kernel(*one_state(2))
def forward_dynamics(block, q, v, tau, vdot):
    """One state without external forces: an argument less is 5 % of a small robot's call."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and tau.size == nv and vdot.size == nv
    if not (sizes and coordinates_fit(tree, q) and finite(v) and finite(tau)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, pointer(q), pointer(v), pointer(tau), pointer(v), 0, pointer(vdot),
        nv, False, ws,
    )  # fmt: skip


@brief_kernel(*one_state(3))
def forward_dynamics_pushed(block, q, v, tau, f_ext, vdot):
    """One state with external forces."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and tau.size == nv and vdot.size == nv
    if not (sizes and state_fits(tree, q, v, f_ext) and finite(tau)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, pointer(q), pointer(v), pointer(tau), pointer(f_ext), f_ext.size,
        pointer(vdot), nv, False, ws,
    )  # fmt: skip


@kernel(*BATCH)
def forward_dynamics_batch(tree, p, start, stop, q, v, tau, f_ext, f_stride, vdot, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(tau),
            pointer(f_ext), f_stride, pointer(vdot), tree[NV], False, pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
