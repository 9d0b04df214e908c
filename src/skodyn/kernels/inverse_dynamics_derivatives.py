"""∂τ/∂q and ∂τ/∂v of inverse dynamics, analytic, O(N·depth).

With the quantities of screws.py, sums over the subtree of the outer of two bodies (composites,
written with a superscript c; Jain 2011-II Algorithm 4.1), and a an ancestor of d or d itself,

    ∂τ_a/∂q_d = S_a·(Mᶜ Ψ̈_d + Bᶜ Ψ̇_d + Eᶜ S_d + S_d ×* fᶜ)
    ∂τ_d/∂q_a = S_d·(Mᶜ Ψ̈_a + Bᶜ Ψ̇_a + Eᶜ S_a)
    ∂τ_i/∂v_j = S_i·(Mᶜ (Ψ̇_j + Ṡ_j) + Bᶜ S_j)

In the second line S_d turns along with q_a, which takes S_a ×* fᶜ away; in a spherical or free
joint every column does, so the first line loses that term for a and d of the same joint.
A degree of freedom carries Mᶜ S, Bᶜ* S, Eᶜ* S and the first and third bracket to its ancestors, so
a related pair costs 27 multiplications for four numbers, and no other pair is visited.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.matrices import (
    clear_unrelated_pairs,
    columns_of,
    deliver_lanes,
    matrix_lanes,
    place_to_write,
    put,
)
from skodyn.kernels.screws import (
    BOTH,
    COMPOSITE,
    FIRST,
    FORCE_SUM,
    MOMENTUM,
    PUSH,
    PUSH_FORCE,
    SCREW,
    SECOND,
    TURNING,
    apply_turning,
    apply_turning_transposed,
    matrix_slot,
    pass_sums_inward,
    scatter_screws,
    screw_body,
    screw_dof,
    screw_lanes,
    turns_with_child,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, failure, finite, state_fits
from skodyn.kernels.workspace import (
    body_count,
    entry,
    finite_spatial,
    load3,
    load6,
    load_inertia,
    load_matrix,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import dot
from skodyn.spatial.motion import add_spatial, cross_force, dot_spatial


def derivative_lanes(n_bodies: int, nv: int) -> int:
    """Lanes for the screws and for both matrices."""
    return screw_lanes(n_bodies, nv) + 2 * matrix_lanes(nv)


@helper
def carried(w, tree, k, i, pushed, ws):
    """What degree of freedom i of body k carries to its ancestors: (Mᶜ S, Bᶜ* S, Eᶜ* S, first
    bracket without and with S ×* fᶜ, third bracket).
    """
    at, of = screw_body(tree, k), screw_dof(tree, i)
    inertia = load_inertia(w, ws, at + COMPOSITE)
    b, p2 = load_matrix(w, ws, at + TURNING), load3(w, ws, at + MOMENTUM)
    s, second = load6(w, ws, of + SCREW), load6(w, ws, of + SECOND)
    weight = apply_inertia(inertia, s)
    turning = apply_turning_transposed(b, p2, s)
    bracket = apply_turning(b, p2, load3(w, ws, of + FIRST))
    bracket = add_spatial(bracket, apply_inertia(inertia, second))
    push = zero3(w)
    if pushed:
        n, f = load_matrix(w, ws, at + PUSH), load3(w, ws, at + PUSH_FORCE)
        push = apply_turning_transposed(n, f, s)
        bracket = add_spatial(bracket, apply_turning(n, f, s[0]))
    turned = add_spatial(bracket, cross_force(s, load6(w, ws, at + FORCE_SUM)))
    by_speed = apply_turning(b, p2, s[0])
    by_speed = add_spatial(by_speed, apply_inertia(inertia, load6(w, ws, of + BOTH)))
    return weight, turning, push, bracket, turned, by_speed


@helper
def write_pair(w, tree, a, d, load_on, down, across, dq, dq_first, dv, dv_first, stride, ws):
    """All four derivatives of an ancestor a and a degree of freedom d.

    Row i, column j of a matrix is element i·down + j·across.
    """
    weight, turning, push, bracket, by_speed = load_on
    of = screw_dof(tree, a)
    s, second = load6(w, ws, of + SCREW), load6(w, ws, of + SECOND)
    both = load6(w, ws, of + BOTH)
    inward = dot_spatial(weight, second) + dot(turning, load3(w, ws, of + FIRST))
    put(w, dq, dq_first, stride, d * down + a * across, inward + dot(push, s[0]))
    put(w, dq, dq_first, stride, a * down + d * across, dot_spatial(s, bracket))
    rate = dot_spatial(weight, both) + dot(turning, s[0])
    put(w, dv, dv_first, stride, d * down + a * across, rate)
    put(w, dv, dv_first, stride, a * down + d * across, dot_spatial(s, by_speed))


@helper
def gather_pairs(w, tree, pushed, down, across, dq, dq_first, dv, dv_first, stride, ws):
    """Tips to base: the sums, and every related pair."""
    n = body_count(tree)
    status = OK
    for back in range(n):
        k = n - 1 - back
        for e in range(entry(tree, k, N_DOF)):
            d = entry(tree, k, V_START) + e
            weight, turning, push, bracket, turned, by_speed = carried(w, tree, k, d, pushed, ws)
            if status == OK and not (finite_spatial(turned) and finite_spatial(by_speed)):
                status = failure(NOT_FINITE, k)
            own = bracket if turns_with_child(tree, k) else turned
            for a in range(entry(tree, k, V_START), d + 1):
                write_pair(
                    w, tree, a, d, (weight, turning, push, own, by_speed), down, across, dq,
                    dq_first, dv, dv_first, stride, ws,
                )  # fmt: skip
            inner = entry(tree, k, PARENT)
            while inner >= 0:
                for c in range(entry(tree, inner, N_DOF)):
                    write_pair(
                        w, tree, entry(tree, inner, V_START) + c, d,
                        (weight, turning, push, turned, by_speed), down, across, dq, dq_first,
                        dv, dv_first, stride, ws,
                    )  # fmt: skip
                inner = entry(tree, inner, PARENT)
        pass_sums_inward(w, tree, k, pushed, ws)
    return status


@helper
def sweep(w, tree, p, row, q, v, vdot, f_ext, f_stride, out, ws):
    """Both matrices of the states that begin at `row`: rows of 2·nv² numbers."""
    nv = tree[NV]
    size = nv * nv
    stride = 2 * size
    first = scatter_screws(
        w, tree, p, q, row * tree[NQ], v, row * nv, vdot, row * nv, f_ext, row * f_stride,
        f_stride, ws,
    )  # fmt: skip
    to, by_q = row * stride, matrix_slot(tree)
    by_v = by_q + nv * columns_of(nv)
    dq, dq_first, step, down = place_to_write(w, nv, out, to, stride, ws, by_q)
    dv, dv_first, step, down = place_to_write(w, nv, out, to + size, stride, ws, by_v)
    clear_unrelated_pairs(w, tree, dq, dq_first, step, down, nv)
    clear_unrelated_pairs(w, tree, dv, dv_first, step, down, nv)
    second = gather_pairs(w, tree, f_stride > 0, down, 1, dq, dq_first, dv, dv_first, step, ws)
    deliver_lanes(w, nv, ws, by_q, out, to, stride)
    deliver_lanes(w, nv, ws, by_v, out, to + size, stride)
    return first if first != OK else second


@brief_kernel(*one_state(3, dimensions=3))
def inverse_dynamics_derivatives(block, q, v, vdot, f_ext, out):
    """One state."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and vdot.size == nv and out.size == 2 * nv * nv and out.shape[0] == 2
    if not (sizes and state_fits(tree, q, v, f_ext) and finite(vdot)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, pointer(q), pointer(v), pointer(vdot), pointer(f_ext), f_ext.size,
        pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def inverse_dynamics_derivatives_batch(tree, p, start, stop, q, v, vdot, f_ext, f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(vdot),
            pointer(f_ext), f_stride, pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
