"""O(N) articulated body forward dynamics: Jain 2011-II Algorithm 6.1.

One scatter for the kinematics, one gather for P, D and the residuals z, ε, one scatter for v̇.
Gravity enters as an acceleration of the ground, external forces are taken from b(k).
"""

from __future__ import annotations

from skodyn.jit import helper, kernel
from skodyn.kernels.articulated_inertia import pass_inertia_inward, yield_joint
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration, scatter_rates
from skodyn.kernels.status import NOT_FINITE, OK, SINGULAR, failure
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    FORCE,
    GAIN,
    INERTIA,
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
    load_articulated,
    load_matrix,
    row6,
    store6,
)
from skodyn.lanes import (
    WIDTH_1,
    WIDTH_4,
    absolute,
    all_lanes,
    load,
    load_rows,
    pointer,
    store,
    store_rows,
)
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import (
    add_articulated,
    apply_articulated,
    articulated_from_inertia,
)
from skodyn.spatial.inertia import gyroscopic_force
from skodyn.spatial.linear3 import add_scaled
from skodyn.spatial.motion import (
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)

_INFINITY = float("inf")


@helper
def gather_residuals(w, tree, p, tau, v_first, nv, f_ext, f_first, f_stride, ws):
    """Tips to base: P, z, and per degree of freedom u, 1/d and ε."""
    n = body_count(tree)
    status = OK
    for back in range(n):
        k = n - 1 - back
        slot = body_slot(k)
        r = load_matrix(w, ws, slot + ROTATION)
        inertia = body_inertia(w, p, k, r)
        big_p = articulated_from_inertia(inertia)
        z = gyroscopic_force(inertia, load3(w, ws, slot + OMEGA))
        if f_stride > 0:
            z = subtract_spatial(z, row6(w, f_ext, f_first, f_stride, 6 * k))
        if entry(tree, k, SUBTREE_END) > k + 1:  # it has children, and they have come by
            big_p = add_articulated(big_p, load_articulated(w, ws, slot + INERTIA))
            z = add_spatial(z, load6(w, ws, slot + FORCE))
        z = add_spatial(z, apply_articulated(big_p, load6(w, ws, slot + CORIOLIS)))
        p_plus, sound = yield_joint(w, tree, p, k, r, big_p, ws)
        if not sound:
            status = failure(SINGULAR, k)
        for d_back in range(entry(tree, k, N_DOF)):
            i = entry(tree, k, N_DOF) - 1 - d_back
            dof = entry(tree, k, V_START) + i
            h = joint_column(w, tree, p, k, i, r, ws)
            epsilon = load_rows(w, tau, v_first, nv, dof) - dot_spatial(h, z)
            record = dof_slot(n, dof)
            store(w, ws, record + RESIDUE, epsilon)
            u, ratio = load6(w, ws, record + GAIN), epsilon * load(w, ws, record + PIVOT)
            z = add_scaled(z[0], ratio, u[0]), add_scaled(z[1], ratio, u[1])
        pass_inertia_inward(w, tree, k, p_plus, ws)
        pass_force_inward(w, tree, k, z, ws)
    return status


@helper
def pass_force_inward(w, tree, k, f, ws):
    """Add φ·f to what the parent has gathered; its last child comes first and starts the sum."""
    parent = entry(tree, k, PARENT)
    if parent < 0:
        return
    shifted = shift_force(load3(w, ws, body_slot(k) + ARM), f)
    slot = body_slot(parent) + FORCE
    if entry(tree, k, SUBTREE_END) != entry(tree, parent, SUBTREE_END):
        shifted = add_spatial(shifted, load6(w, ws, slot))
    store6(w, ws, slot, shifted)


@helper
def scatter_accelerations(w, tree, p, vdot, v_first, nv, ws):
    """Base to tips: v̇ and α."""
    n = body_count(tree)
    status = OK
    store6(w, ws, MOTION, ground_acceleration(w, p))
    for k in range(n):
        slot = body_slot(k)
        r = load_matrix(w, ws, slot + ROTATION)
        outer = load6(w, ws, body_slot(entry(tree, k, PARENT)) + MOTION)
        alpha = shift_motion(load3(w, ws, slot + ARM), outer)  # α⁺
        for i in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + i
            record = dof_slot(n, dof)
            rest = load(w, ws, record + RESIDUE) - dot_spatial(load6(w, ws, record + GAIN), alpha)
            rate = rest * load(w, ws, record + PIVOT)
            store_rows(w, vdot, v_first, nv, dof, rate)
            if not all_lanes(absolute(rate) < _INFINITY):
                status = failure(NOT_FINITE, k)
            h = joint_column(w, tree, p, k, i, r, ws)
            alpha = add_scaled(alpha[0], rate, h[0]), add_scaled(alpha[1], rate, h[1])
        store6(w, ws, slot + MOTION, add_spatial(alpha, load6(w, ws, slot + CORIOLIS)))
    return status


@helper
def sweep(w, tree, p, row, nq, nv, q, v, tau, f_ext, f_stride, vdot, ws):
    """v̇ of the states that begin at `row`."""
    q_first, v_first, f_first = row * nq, row * nv, row * f_stride
    first = scatter_rates(w, tree, p, q, q_first, nq, v, v_first, nv, ws)
    second = gather_residuals(w, tree, p, tau, v_first, nv, f_ext, f_first, f_stride, ws)
    third = scatter_accelerations(w, tree, p, vdot, v_first, nv, ws)
    if first != OK:
        return first
    return second if second != OK else third


@kernel
def forward_dynamics(tree, p, q, v, tau, f_ext, vdot, ws):
    """One state."""
    return sweep(
        WIDTH_1, pointer(tree), pointer(p), 0, q.size, v.size, pointer(q), pointer(v),
        pointer(tau), pointer(f_ext), f_ext.size, pointer(vdot), pointer(ws),
    )  # fmt: skip


@kernel
def forward_dynamics_batch(tree, p, start, stop, q, v, tau, f_ext, f_stride, vdot, ws):
    """Rows start … stop − 1 of flat tables, four at a time; the last four may overlap."""
    for row in range(start, stop, 4):
        first = min(row, stop - 4)
        status = sweep(
            WIDTH_4, pointer(tree), pointer(p), first, tree[NQ], tree[NV], pointer(q), pointer(v),
            pointer(tau), pointer(f_ext), f_stride, pointer(vdot), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
