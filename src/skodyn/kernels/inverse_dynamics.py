"""Newton–Euler inverse dynamics: Jain 2011-II Algorithm 3.1.

A scatter for V and α, a gather for f and 𝒯. An empty `v` or `vdot` stands for zeros: bias force
(no v̇) and gravity force (neither) are the same sweep.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import (
    begin_scatter,
    body_inertia,
    ground_acceleration,
    move_body,
    place_body,
)
from skodyn.kernels.residuals import add_scaled_spatial, pass_force_inward, passed_force
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import (
    BAD_INPUT,
    NOT_FINITE,
    NOT_UNIT,
    OK,
    coordinates_fit,
    failure,
    finite,
    state_fits,
)
from skodyn.kernels.workspace import (
    CORIOLIS,
    MOTION,
    ROTATION,
    armature,
    body_count,
    body_slot,
    entry,
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
    fma,
    load_rows,
    pointer,
    store_rows,
)
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia, gyroscopic_force
from skodyn.spatial.motion import add_spatial, dot_spatial, shift_motion, subtract_spatial

_INFINITY = float("inf")

OWN_FORCE = CORIOLIS  # this algorithm uses a(k) at once


@helper
def scatter_forces(w, tree, p, q, q_first, nq, v, vdot, v_first, nv, moving, driven, ws):
    """Base to tips: V, α, and M(k)·α(k) + b(k) of every body."""
    begin_scatter(w, tree, q, q_first, nq, ws)
    store6(w, ws, MOTION, ground_acceleration(w, p))
    status = OK
    for k in range(body_count(tree)):
        r, l, sound = place_body(w, tree, p, k, q, q_first, nq, ws)  # noqa: E741
        alpha = shift_motion(l, load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION))
        inertia = body_inertia(w, p, k, r)
        if driven:
            for i in range(entry(tree, k, N_DOF)):
                rate = load_rows(w, vdot, v_first, nv, entry(tree, k, V_START) + i)
                alpha = add_scaled_spatial(alpha, rate, joint_column(w, tree, p, k, i, r, ws))
        if moving:
            omega, a = move_body(w, tree, p, k, r, l, v, v_first, nv, ws)
            alpha = add_spatial(alpha, a)
            f = add_spatial(apply_inertia(inertia, alpha), gyroscopic_force(inertia, omega))
        else:
            f = apply_inertia(inertia, alpha)
        store6(w, ws, body_slot(k) + MOTION, alpha)
        store6(w, ws, body_slot(k) + OWN_FORCE, f)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def gather_torques(w, tree, p, vdot, driven, f_ext, f_first, f_stride, tau, v_first, nv, ws):
    """Tips to base: f(k) and 𝒯(k) = H(k)·f(k), and what the rotors take."""
    n = body_count(tree)
    status = OK
    for back in range(n):
        k = n - 1 - back
        slot = body_slot(k)
        f = load6(w, ws, slot + OWN_FORCE)
        if f_stride > 0:
            f = subtract_spatial(f, row6(w, f_ext, f_first, f_stride, 6 * k))
        f = add_spatial(f, passed_force(w, tree, k, ws))
        r = load_matrix(w, ws, slot + ROTATION)
        for i in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + i
            torque = dot_spatial(joint_column(w, tree, p, k, i, r, ws), f)
            if driven:
                torque = fma(armature(w, p, n, dof), load_rows(w, vdot, v_first, nv, dof), torque)
            store_rows(w, tau, v_first, nv, dof, torque)
            if status == OK and not all_lanes(absolute(torque) < _INFINITY):
                status = failure(NOT_FINITE, k)
        pass_force_inward(w, tree, k, f, False, ws)
    return status


@helper
def sweep(w, tree, p, row, nq, nv, q, v, moving, vdot, driven, f_ext, f_stride, tau, ws):
    """𝒯 of the states that begin at `row`."""
    v_first = row * nv
    first = scatter_forces(w, tree, p, q, row * nq, nq, v, vdot, v_first, nv, moving, driven, ws)
    second = gather_torques(
        w, tree, p, vdot, driven, f_ext, row * f_stride, f_stride, tau, v_first, nv, ws
    )
    return first if first != OK else second


@brief_kernel(*one_state(2))
def inverse_dynamics(block, q, v, vdot, tau):
    """One state without external forces: an argument less is 5 % of a small robot's call."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and vdot.size == nv and tau.size == nv
    if not (sizes and coordinates_fit(tree, q) and finite(v) and finite(vdot)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], nv, pointer(q), pointer(v), True, pointer(vdot), True,
        pointer(v), 0, pointer(tau), ws,
    )  # fmt: skip


@brief_kernel(*one_state(3))
def inverse_dynamics_pushed(block, q, v, vdot, f_ext, tau):
    """One state with external forces."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and vdot.size == nv and tau.size == nv
    if not (sizes and state_fits(tree, q, v, f_ext) and finite(vdot)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], nv, pointer(q), pointer(v), True, pointer(vdot), True,
        pointer(f_ext), f_ext.size, pointer(tau), ws,
    )  # fmt: skip


@brief_kernel(*one_state(2))
def bias_force(block, q, v, f_ext, tau):
    """One state, v̇ = 0."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    if not (v.size == nv and tau.size == nv and state_fits(tree, q, v, f_ext)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], nv, pointer(q), pointer(v), True, pointer(v), False,
        pointer(f_ext), f_ext.size, pointer(tau), ws,
    )  # fmt: skip


@brief_kernel(*one_state(0))
def gravity_force(block, q, tau):
    """One state at rest."""
    tree, p, ws = unpack(block)
    if not (tau.size == tree[NV] and coordinates_fit(tree, q)):
        return BAD_INPUT
    none = pointer(tau)
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], tree[NV], pointer(q), none, False, none, False, none, 0,
        pointer(tau), ws,
    )  # fmt: skip


@kernel(*BATCH)
def inverse_dynamics_batch(tree, p, start, stop, q, v, vdot, f_ext, f_stride, tau, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q), pointer(v),
            v.size > 0, pointer(vdot), vdot.size > 0, pointer(f_ext), f_stride, pointer(tau),
            pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
