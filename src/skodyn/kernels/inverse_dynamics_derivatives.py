"""∂τ/∂q and ∂τ/∂v of inverse dynamics, analytic, O(N·depth).

With the quantities of derivative_terms.py, sums over the subtree of the outer of two bodies
(composites, written with a superscript c; Jain 2011-II Algorithm 4.1), and a an ancestor of d or d
itself,

    ∂τ_a/∂q_d = S_a·(Mᶜ Ψ̈_d + Bᶜ Ψ̇_d + Eᶜ S_d + S_d ×* fᶜ)
    ∂τ_d/∂q_a = S_d·(Mᶜ Ψ̈_a + Bᶜ Ψ̇_a + Eᶜ S_a)
    ∂τ_i/∂v_j = S_i·(Mᶜ (Ψ̇_j + Ṡ_j) + Bᶜ S_j)

In the second line S_d turns along with q_a, which takes S_a ×* fᶜ away; in a spherical or free
joint every column does, so the first line loses that term for a and d of the same joint.
A degree of freedom carries Mᶜ S, Bᶜ* S, Eᶜ* S and the first and third bracket to its ancestors, so
a related pair costs 27 multiplications for four numbers, and no other pair is visited.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.derivative_terms import (
    SCREW_BODY,
    SCREW_DOF,
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
from skodyn.kernels.entries import batch, is_given, one_state
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.matrices import (
    Matrix,
    clear_unrelated_pairs,
    columns_of,
    deliver_lanes,
    matrix_lanes,
    place_to_write,
    put,
)
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite_spatial, load3, load6, load_inertia, load_matrix
from skodyn.lanes import Rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import dot
from skodyn.spatial.motion import add_spatial, cross_force, dot_spatial


def derivative_lanes(n_bodies: int, nv: int) -> int:
    """Lanes for the screws and for both matrices."""
    return screw_lanes(n_bodies, nv) + 2 * matrix_lanes(nv)


class Derivatives(NamedTuple):
    """The two matrices, or where they are to be written."""

    by_q: Matrix
    by_v: Matrix


class Carried(NamedTuple):
    """What a degree of freedom carries to its ancestors."""

    weight: Any  # Mᶜ S
    turning: Any  # Bᶜ* S
    push: Any  # Eᶜ* S
    bracket: Any  # the first; inside a spherical or free joint without S ×* fᶜ
    by_speed: Any  # the third


@helper
def carried(work, model, k, i, pushed):
    """What degree of freedom i of body k carries: to ancestors, and within its own joint."""
    at, of = screw_body(model, k), screw_dof(model, i)
    inertia = load_inertia(work, at + SCREW_BODY.COMPOSITE)
    b, p2 = load_matrix(work, at + SCREW_BODY.TURNING), load3(work, at + SCREW_BODY.MOMENTUM)
    s, second = load6(work, of + SCREW_DOF.SCREW), load6(work, of + SCREW_DOF.SECOND)
    weight = apply_inertia(inertia, s)
    turning = apply_turning_transposed(b, p2, s)
    bracket = apply_turning(b, p2, load3(work, of + SCREW_DOF.FIRST))
    bracket = add_spatial(bracket, apply_inertia(inertia, second))
    push = zero3(work)
    if pushed:
        n, f = load_matrix(work, at + SCREW_BODY.PUSH), load3(work, at + SCREW_BODY.PUSH_FORCE)
        push = apply_turning_transposed(n, f, s)
        bracket = add_spatial(bracket, apply_turning(n, f, s[0]))
    turned = add_spatial(bracket, cross_force(s, load6(work, at + SCREW_BODY.FORCE_SUM)))
    by_speed = apply_turning(b, p2, s[0])
    by_speed = add_spatial(by_speed, apply_inertia(inertia, load6(work, of + SCREW_DOF.BOTH)))
    own = bracket if turns_with_child(model, k) else turned
    return (
        Carried(weight, turning, push, turned, by_speed),
        Carried(weight, turning, push, own, by_speed),
    )


@helper
def write_pair(work, model, a, d, load_on, derivatives):
    """All four derivatives of an ancestor a and a degree of freedom d."""
    of = screw_dof(model, a)
    s, second = load6(work, of + SCREW_DOF.SCREW), load6(work, of + SCREW_DOF.SECOND)
    both = load6(work, of + SCREW_DOF.BOTH)
    inward = dot_spatial(load_on.weight, second) + dot(
        load_on.turning, load3(work, of + SCREW_DOF.FIRST)
    )
    put(work, derivatives.by_q, d, a, inward + dot(load_on.push, s[0]))
    put(work, derivatives.by_q, a, d, dot_spatial(s, load_on.bracket))
    rate = dot_spatial(load_on.weight, both) + dot(load_on.turning, s[0])
    put(work, derivatives.by_v, d, a, rate)
    put(work, derivatives.by_v, a, d, dot_spatial(s, load_on.by_speed))


@helper
def gather_pairs(work, model, pushed, derivatives):
    """Tips to base: the sums, and every related pair."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        for e in range(entry(model, k, N_DOF)):
            d = entry(model, k, V_START) + e
            load_on, own = carried(work, model, k, d, pushed)
            sound = finite_spatial(load_on.bracket) and finite_spatial(load_on.by_speed)
            if status == OK and not sound:
                status = failure(NOT_FINITE, k)
            for a in range(entry(model, k, V_START), d + 1):
                write_pair(work, model, a, d, own, derivatives)
            inner = entry(model, k, PARENT)
            while inner >= 0:
                for c in range(entry(model, inner, N_DOF)):
                    a = entry(model, inner, V_START) + c
                    write_pair(work, model, a, d, load_on, derivatives)
                inner = entry(model, inner, PARENT)
        pass_sums_inward(work, model, k, pushed)
    return status


@helper
def matrix_of(nv, out, n):
    """The rows of matrix n where a state has several, one behind the other."""
    return Rows(out.data, out.first + n * nv * nv, out.stride)


@helper
def sweep(work, model, given, out):
    """Both matrices: rows of 2·nv² numbers."""
    nv = velocity_count(model)
    first = scatter_screws(work, model, given)
    by_q, by_v = matrix_of(nv, out, 0), matrix_of(nv, out, 1)
    q_at = matrix_slot(model)
    v_at = q_at + nv * columns_of(nv)
    derivatives = Derivatives(
        place_to_write(work, nv, by_q, q_at), place_to_write(work, nv, by_v, v_at)
    )
    clear_unrelated_pairs(work, model, derivatives.by_q)
    clear_unrelated_pairs(work, model, derivatives.by_v)
    second = gather_pairs(work, model, is_given(given.f_ext), derivatives)
    deliver_lanes(work, nv, q_at, by_q)
    deliver_lanes(work, nv, v_at, by_v)
    return first if first != OK else second


@helper
def shape(model, count):
    """Two matrices, nv × nv; an acceleration for each degree of freedom."""
    nv = velocity_count(model)
    return (2, nv * nv) if count == nv else (-1, 1)


inverse_dynamics_derivatives = one_state(
    "inverse_dynamics_derivatives", sweep, shape, "q v x f", dimensions=3
)
inverse_dynamics_derivatives_batch = batch("inverse_dynamics_derivatives_batch", sweep, shape)
