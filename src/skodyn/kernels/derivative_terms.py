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

from typing import Any, NamedTuple

from skodyn.jit import Record, helper, plain
from skodyn.kernels.entries import is_given
from skodyn.kernels.joint_kinds import has_quaternion
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import begin_scatter, body_inertia, ground_acceleration, place_body
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.rows import row6
from skodyn.kernels.status import NOT_UNIT, OK, failure
from skodyn.kernels.tuples import load3, load6, store3, store6, store_inertia, store_matrix
from skodyn.kernels.workspace import free_slot
from skodyn.lanes import load, load_rows, store
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia, shift_inertia
from skodyn.spatial.linear3 import add, add_cross, cross, dot, from_columns, scale
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    cross_force,
    cross_motion,
    shift_force,
    subtract_spatial,
)

# behind the workspace that every kernel has

SCREW_BODY = Record(
    "body, about the point that its tree shares",
    PLACE=(3, "from the reference point to the body's origin"),
    VELOCITY=(6, "V"),
    ACCELERATION=(6, "A"),
    COMPOSITE=(10, "(m, h, J) about the point; from here on all is summed from the tips inward"),
    TURNING=(9, "B₁"),
    MOMENTUM=(3, "2 p"),
    FORCE_SUM=(6, "M A + V ×* M V − external force"),
    PUSH=(9, "N"),
    PUSH_FORCE=(3, "f"),
)

SCREW_DOF = Record(
    "degree of freedom, about the point that its tree shares",
    SCREW=(6, "S"),
    SECOND=(6, "Ψ̈"),
    FIRST=(3, "angular part of Ψ̇"),
    BOTH=(6, "Ψ̇ + Ṡ"),
    RATE=(6, "Ṡ"),
)


class Motion(NamedTuple):
    """How a body-fixed frame moves that passes through the reference point."""

    velocity: Any  # V
    acceleration: Any  # A


@helper
def records_end(n, nv):
    """Behind the records of n bodies, the ground and nv degrees of freedom."""
    return (n + 1) * SCREW_BODY.size + nv * SCREW_DOF.size


@helper
def screw_body(model, k):
    """Record of body k; −1 is the ground."""
    return free_slot(model) + (k + 1) * SCREW_BODY.size


@helper
def screw_dof(model, i):
    """Record of degree of freedom i."""
    return free_slot(model) + records_end(body_count(model), i)


@helper
def matrix_slot(model):
    """Where the matrices of an algorithm begin."""
    return screw_dof(model, velocity_count(model))


def screw_lanes(n_bodies: int, nv: int) -> int:
    """How many lanes the records need."""
    return int(plain(records_end)(n_bodies, nv))


@helper
def turns_with_child(model, k):
    """Are the columns of joint k constant in the child's axes, and so moved by one another?"""
    return has_quaternion(model, k)


@helper
def screw_velocity(work, model, k, r, place, outer, v):
    """V(k); leaves the columns S of joint k."""
    velocity = outer
    for d in range(entry(model, k, N_DOF)):
        i = entry(model, k, V_START) + d
        u, t = joint_column(work, model, k, d, r)
        s = (u, add_cross(t, place, u))
        store6(work, screw_dof(model, i) + SCREW_DOF.SCREW, s)
        velocity = add_scaled_spatial(velocity, load_rows(work, v, i), s)
    return velocity


@helper
def screw_rates(work, model, k, outer, velocity, given):
    """A(k); leaves Ψ̇, Ψ̈ and Ṡ of every degree of freedom of joint k."""
    before, acceleration = outer, outer.acceleration
    with_child = turns_with_child(model, k)
    for d in range(entry(model, k, N_DOF)):
        i = entry(model, k, V_START) + d
        at = screw_dof(model, i)
        s = load6(work, at + SCREW_DOF.SCREW)
        psi = cross_motion(before.velocity, s)
        second = cross_motion(before.acceleration, s)
        second = add_spatial(second, cross_motion(before.velocity, psi))
        rate = cross_motion(velocity, s) if with_child else psi
        store6(work, at + SCREW_DOF.SECOND, second)
        store3(work, at + SCREW_DOF.FIRST, psi[0])
        store6(work, at + SCREW_DOF.BOTH, add_spatial(psi, rate))
        store6(work, at + SCREW_DOF.RATE, rate)
        speed = load_rows(work, given.v, i)
        acceleration = add_scaled_spatial(acceleration, speed, rate)
        acceleration = add_scaled_spatial(acceleration, load_rows(work, given.x, i), s)
        if not with_child:
            before = Motion(add_scaled_spatial(before.velocity, speed, s), acceleration)
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
def weigh_body(work, model, k, r, place, motion, f_ext):
    """A body's own share of everything that is summed inward."""
    at, velocity = screw_body(model, k), motion.velocity
    inertia = shift_inertia(body_inertia(work, model, k, r), place)
    momentum = apply_inertia(inertia, velocity)
    force = apply_inertia(inertia, motion.acceleration)
    force = add_spatial(force, cross_force(velocity, momentum))
    store_inertia(work, at + SCREW_BODY.COMPOSITE, inertia)
    store_matrix(work, at + SCREW_BODY.TURNING, turning_matrix(inertia, velocity))
    store3(work, at + SCREW_BODY.MOMENTUM, scale(2.0, momentum[1]))
    if is_given(f_ext):
        push = row6(work, f_ext, 6 * k)
        force = subtract_spatial(force, shift_force(place, push))
        store_matrix(work, at + SCREW_BODY.PUSH, push_matrix(push[0], push[1], place))
        store3(work, at + SCREW_BODY.PUSH_FORCE, push[1])
    store6(work, at + SCREW_BODY.FORCE_SUM, force)


@helper
def load_motion(work, at):
    """V and A of the body, or the ground, whose record is at `at`."""
    return Motion(load6(work, at + SCREW_BODY.VELOCITY), load6(work, at + SCREW_BODY.ACCELERATION))


@helper
def store_motion(work, at, motion):
    store6(work, at + SCREW_BODY.VELOCITY, motion.velocity)
    store6(work, at + SCREW_BODY.ACCELERATION, motion.acceleration)


@helper
def scatter_screws(work, model, given):
    """Base to tips: every record of bodies and degrees of freedom. `given.x` is v̇."""
    status = OK
    begin_scatter(work, model, given.q)
    zero = zero3(work)
    still = (zero, zero)
    store_motion(work, screw_body(model, -1), Motion(still, ground_acceleration(work, model)))
    for k in range(body_count(model)):
        parent, at = entry(model, k, PARENT), screw_body(model, k)
        r, l, sound = place_body(work, model, k, given.q)
        place = zero
        if parent >= 0:
            place = add(load3(work, screw_body(model, parent) + SCREW_BODY.PLACE), l)
        outer = load_motion(work, screw_body(model, parent))
        velocity = screw_velocity(work, model, k, r, place, outer.velocity, given.v)
        motion = Motion(velocity, screw_rates(work, model, k, outer, velocity, given))
        store3(work, at + SCREW_BODY.PLACE, place)
        store_motion(work, at, motion)
        weigh_body(work, model, k, r, place, motion, given.f_ext)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def pass_sums_inward(work, model, k, pushed):
    """Add what body k has gathered to its parent."""
    parent = entry(model, k, PARENT)
    if parent >= 0:
        outer, inner = screw_body(model, k), screw_body(model, parent)
        for i in range(SCREW_BODY.COMPOSITE, SCREW_BODY.size if pushed else SCREW_BODY.PUSH):
            store(work, inner + i, load(work, inner + i) + load(work, outer + i))


@helper
def apply_turning(b, twice_momentum, a):
    """[B₁ a; 2 a × p]; also [N a; a × f]."""
    return (
        (dot((b[0], b[1], b[2]), a), dot((b[3], b[4], b[5]), a), dot((b[6], b[7], b[8]), a)),
        cross(a, twice_momentum),
    )


@helper
def apply_turning_transposed(b, twice_momentum, s):
    """B*·s, of which only the angular part is not zero."""
    a = s[0]
    turned = (dot((b[0], b[3], b[6]), a), dot((b[1], b[4], b[7]), a), dot((b[2], b[5], b[8]), a))
    return add_cross(turned, twice_momentum, s[1])
