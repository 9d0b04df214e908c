"""The motion of a whole tree about one point: what every derivative is made of.

Elsewhere each body has its own reference point. Derivatives pair every degree of freedom with all
its ancestors, so here a tree shares one point, the origin of its base body, and nothing needs to be
shifted on the way. S is a column of H* about that point, V and A are the velocity and acceleration
of the body-fixed frame that passes through it, gravity included in A. For degree of freedom i let
V₋, A₋ belong to the frame that i turns away from: the parent's, moved by the earlier degrees of
freedom of a series joint. Displacing i by ε e_i moves everything outboard by the twist ε S_i, and

    Ψ̇ = V₋ × S,   Ψ̈ = A₋ × S + V₋ × Ψ̇,   Ṡ = Ψ̇, but V(k) × S in spherical and free joints,
    ∂V/∂q_i = S×V + Ψ̇,          ∂A/∂q_i = S×A + Ψ̇×V + Ψ̈,
    ∂V/∂v_i = S,                 ∂A/∂v_i = S×V + Ψ̇ + Ṡ.

Own derivation; Singh, Russell and Wensing (2022, doi:10.1109/LRA.2022.3141194) have the same
Ψ̇, Ψ̈ for joints whose columns are constant in the child's axes.

The force of a body, M A + V ×* M V, changes by its own turning, by M Ψ̈, and by

    B Ψ̇ = 2 ∫ [ρ × (a × ρ̇); a × ρ̇] dm = [B₁ a; 2 a × p],   a the angular part of Ψ̇,
    B₁ = −2 (ω̃ Σ + h̃ ṽ),   Σ = ∫ ρ ρᵀ dm = ½ tr(J) I − J,   p the linear momentum.

External forces [n; f] at a body's origin keep their world axes, so against a body that turns by a
they turn by −a: the tree's reaction gains E a = [a × n + ρ × (a × f); a × f] = [N a; a × f].
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.joint_motion import FREE, SPHERICAL, joint_column, zero3
from skodyn.kernels.kinematics import (
    begin_scatter,
    body_inertia,
    ground_acceleration,
    place_body,
)
from skodyn.kernels.residuals import add_scaled_spatial
from skodyn.kernels.status import NOT_UNIT, OK, failure
from skodyn.kernels.workspace import (
    body_count,
    entry,
    free_slot,
    load3,
    load6,
    row6,
    store3,
    store6,
    store_inertia,
    store_matrix,
)
from skodyn.lanes import load, load_rows, store
from skodyn.model.layout import KIND, N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia, shift_inertia
from skodyn.spatial.linear3 import add, add_cross, cross, dot, from_columns, scale
from skodyn.spatial.motion import (
    add_spatial,
    cross_force,
    cross_motion,
    shift_force,
    subtract_spatial,
)

# a record per body, in lanes, behind the workspace that every kernel has
PLACE = 0  # from the reference point to the body's origin
VELOCITY = 3
ACCELERATION = 9
COMPOSITE = 15  # what follows is summed from the tips inward: (m, h, J) about the point
TURNING = 25  # B₁
MOMENTUM = 34  # 2 p
FORCE_SUM = 37  # M A + V ×* M V − external force
PUSH = 43  # N
PUSH_FORCE = 52  # f
SCREW_BODY = 55

# a record per degree of freedom
SCREW = 0  # S
SECOND = 6  # Ψ̈
FIRST = 12  # angular part of Ψ̇
BOTH = 15  # Ψ̇ + Ṡ
RATE = 21  # Ṡ
SCREW_DOF = 27


@helper
def screw_body(tree, k):
    """Record of body k; −1 is the ground."""
    return free_slot(tree) + (k + 1) * SCREW_BODY


@helper
def screw_dof(tree, i):
    """Record of degree of freedom i."""
    return screw_body(tree, body_count(tree)) + i * SCREW_DOF


@helper
def matrix_slot(tree):
    """Where the matrices of an algorithm begin."""
    return screw_dof(tree, tree[NV])


def screw_lanes(n_bodies: int, nv: int) -> int:
    """How many lanes the records need."""
    return (n_bodies + 1) * SCREW_BODY + nv * SCREW_DOF


@helper
def turns_with_child(tree, k):
    """Are the columns of joint k constant in the child's axes, and so moved by one another?"""
    return entry(tree, k, KIND) == SPHERICAL or entry(tree, k, KIND) == FREE


@helper
def screw_velocity(w, tree, p, k, r, place, outer, v, first, nv, ws):
    """V(k); leaves the columns S of joint k."""
    velocity = outer
    for d in range(entry(tree, k, N_DOF)):
        i = entry(tree, k, V_START) + d
        u, t = joint_column(w, tree, p, k, d, r, ws)
        s = (u, add_cross(t, place, u))
        store6(w, ws, screw_dof(tree, i) + SCREW, s)
        velocity = add_scaled_spatial(velocity, load_rows(w, v, first, nv, i), s)
    return velocity


@helper
def screw_rates(w, tree, k, outer, outer_acceleration, velocity, v, first, vdot, vdot_first, ws):
    """A(k); leaves Ψ̇, Ψ̈ and Ṡ of every degree of freedom of joint k."""
    before, before_acceleration, acceleration = outer, outer_acceleration, outer_acceleration
    with_child, nv = turns_with_child(tree, k), tree[NV]
    for d in range(entry(tree, k, N_DOF)):
        i = entry(tree, k, V_START) + d
        at = screw_dof(tree, i)
        s = load6(w, ws, at + SCREW)
        psi = cross_motion(before, s)
        second = add_spatial(cross_motion(before_acceleration, s), cross_motion(before, psi))
        rate = cross_motion(velocity, s) if with_child else psi
        store6(w, ws, at + SECOND, second)
        store3(w, ws, at + FIRST, psi[0])
        store6(w, ws, at + BOTH, add_spatial(psi, rate))
        store6(w, ws, at + RATE, rate)
        speed = load_rows(w, v, first, nv, i)
        acceleration = add_scaled_spatial(acceleration, speed, rate)
        acceleration = add_scaled_spatial(acceleration, load_rows(w, vdot, vdot_first, nv, i), s)
        if not with_child:
            before, before_acceleration = add_scaled_spatial(before, speed, s), acceleration
    return acceleration


@helper
def turning_matrix(inertia, velocity):
    """B₁ = −2 (ω̃ Σ + h̃ ṽ)."""
    _, h, j = inertia
    omega, v = velocity
    half = 0.5 * (j[0] + j[3] + j[5])
    x = cross(omega, (half - j[0], -j[1], -j[2]))
    y = cross(omega, (-j[1], half - j[3], -j[4]))
    z = cross(omega, (-j[2], -j[4], half - j[5]))
    hv = dot(h, v)
    # h × (v × e) = v (h·e) − e (h·v)
    x = (x[0] + v[0] * h[0] - hv, x[1] + v[1] * h[0], x[2] + v[2] * h[0])
    y = (y[0] + v[0] * h[1], y[1] + v[1] * h[1] - hv, y[2] + v[2] * h[1])
    z = (z[0] + v[0] * h[2], z[1] + v[1] * h[2], z[2] + v[2] * h[2] - hv)
    return from_columns(scale(-2.0, x), scale(-2.0, y), scale(-2.0, z))


@helper
def push_matrix(moment, force, place):
    """N = −ñ + (ρ·f) I − f ρᵀ."""
    along = dot(place, force)
    n, f, x = moment, force, place
    return (
        along - f[0] * x[0], n[2] - f[0] * x[1], -n[1] - f[0] * x[2],
        -n[2] - f[1] * x[0], along - f[1] * x[1], n[0] - f[1] * x[2],
        n[1] - f[2] * x[0], -n[0] - f[2] * x[1], along - f[2] * x[2],
    )  # fmt: skip


@helper
def weigh_body(w, p, k, r, place, velocity, acceleration, f_ext, f_first, f_stride, at, ws):
    """A body's own share of everything that is summed inward."""
    inertia = shift_inertia(body_inertia(w, p, k, r), place)
    momentum = apply_inertia(inertia, velocity)
    force = add_spatial(apply_inertia(inertia, acceleration), cross_force(velocity, momentum))
    store_inertia(w, ws, at + COMPOSITE, inertia)
    store_matrix(w, ws, at + TURNING, turning_matrix(inertia, velocity))
    store3(w, ws, at + MOMENTUM, scale(2.0, momentum[1]))
    if f_stride > 0:
        push = row6(w, f_ext, f_first, f_stride, 6 * k)
        force = subtract_spatial(force, shift_force(place, push))
        store_matrix(w, ws, at + PUSH, push_matrix(push[0], push[1], place))
        store3(w, ws, at + PUSH_FORCE, push[1])
    store6(w, ws, at + FORCE_SUM, force)


@helper
def scatter_screws(w, tree, p, q, q_first, v, v_first, vdot, vdot_first, f_ext, f_first, f_stride,
                   ws):  # fmt: skip
    """Base to tips: every record of bodies and degrees of freedom."""
    nq, nv = tree[NQ], tree[NV]
    status = OK
    begin_scatter(w, tree, q, q_first, nq, ws)
    ground = screw_body(tree, -1)
    zero = zero3(w)
    store6(w, ws, ground + VELOCITY, (zero, zero))
    store6(w, ws, ground + ACCELERATION, ground_acceleration(w, p))
    for k in range(body_count(tree)):
        parent, at = entry(tree, k, PARENT), screw_body(tree, k)
        r, l, sound = place_body(w, tree, p, k, q, q_first, nq, ws)  # noqa: E741
        place = zero
        if parent >= 0:
            place = add(load3(w, ws, screw_body(tree, parent) + PLACE), l)
        outer = load6(w, ws, screw_body(tree, parent) + VELOCITY)
        outer_acceleration = load6(w, ws, screw_body(tree, parent) + ACCELERATION)
        velocity = screw_velocity(w, tree, p, k, r, place, outer, v, v_first, nv, ws)
        acceleration = screw_rates(
            w, tree, k, outer, outer_acceleration, velocity, v, v_first, vdot, vdot_first, ws
        )
        store3(w, ws, at + PLACE, place)
        store6(w, ws, at + VELOCITY, velocity)
        store6(w, ws, at + ACCELERATION, acceleration)
        weigh_body(w, p, k, r, place, velocity, acceleration, f_ext, f_first, f_stride, at, ws)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def pass_sums_inward(w, tree, k, pushed, ws):
    """Add what body k has gathered to its parent."""
    parent = entry(tree, k, PARENT)
    if parent >= 0:
        outer, inner = screw_body(tree, k), screw_body(tree, parent)
        for i in range(COMPOSITE, SCREW_BODY if pushed else PUSH):
            store(w, ws, inner + i, load(w, ws, inner + i) + load(w, ws, outer + i))


@helper
def apply_turning(b, twice_momentum, a):
    """[B₁ a; 2 a × p]; also [N a; a × f]."""
    return (
        (
            dot((b[0], b[1], b[2]), a),
            dot((b[3], b[4], b[5]), a),
            dot((b[6], b[7], b[8]), a),
        ),
        cross(a, twice_momentum),
    )


@helper
def apply_turning_transposed(b, twice_momentum, s):
    """B*·s, of which only the angular part is not zero."""
    a = s[0]
    turned = (
        dot((b[0], b[3], b[6]), a),
        dot((b[1], b[4], b[7]), a),
        dot((b[2], b[5], b[8]), a),
    )
    return add_cross(turned, twice_momentum, s[1])
