"""Momenta of joints and slopes of the Lagrangian: what a variational step is made of.

With L(q, v) = ½v*𝓜v − V the momentum of a degree of freedom is p = ∂L/∂v, and its slope s = ∂L/∂q
plus all other forces on it. Moving outward of joint k, column h moves every body behind it; so with
P(k) the momentum and W(k) the weight and pushes of these bodies, gathered to the origin of body k,

    p = h·P(k) + armature·v,   s = (V × h)·P(k) + h·W(k) + τ

where V is the velocity in front of the degree of freedom: that of the parent and, where a joint
turns about one axis after the other, of what it does before. (For quaternions the slope is that of
left translations, with velocities in child axes.)

A step whose middle is q̄ and whose mean velocity is v̄ has the discrete Lagrangian dt·L(q̄, v̄). Its
derivatives by both ends are the momenta there (J. E. Marsden, M. West, Acta Numerica 10, 2001),

    p₁ = e + o,   p₀ = e − o,   e = p̄,   o = dt/2·s̄

and for joints with quaternions, with ad = ad*(dt·v̄) and terms up to the fifth,

    e = (1 + ad²/12 − ad⁴/720)p̄ + (ad/4 − ad³/192)·dt/2·s̄,   o = ad/2·p̄ + dt/2·s̄.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import pass_force_inward, passed_force
from skodyn.kernels.entries import is_given
from skodyn.kernels.forward_kinematics import scatter_velocities
from skodyn.kernels.joint_kinds import has_quaternion, is_free, is_series
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_rates
from skodyn.kernels.packed_model import armature, body_count, entry, parameter3
from skodyn.kernels.rows import row3, row6, store_row3
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import load_rows, store_rows
from skodyn.model.layout import GRAVITY, N_DOF, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import cross, scale
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    cross_force,
    cross_motion,
    dot_spatial,
    shift_motion,
)


@routine
def gather_momenta(work, model, v, p, s):
    """Tips to base: p, and the part of s that comes from motion; V(k) is in MOTION."""
    n = body_count(model)
    for back in range(n):
        k = n - 1 - back
        slot, first = body_slot(k), entry(model, k, V_START)
        r = load_matrix(work, slot + BODY.ROTATION)
        inertia = body_inertia(work, model, k, r)
        momentum = apply_inertia(inertia, load6(work, slot + BODY.MOTION))
        momentum = add_spatial(momentum, passed_force(work, model, k))
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        before = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            h, rate = joint_column(work, model, k, i, r), load_rows(work, v, first + i)
            rotor = armature(work, model, first + i) * rate
            store_rows(work, p, first + i, dot_spatial(h, momentum) + rotor)
            store_rows(work, s, first + i, dot_spatial(cross_motion(before, h), momentum))
            if is_series(model, k):
                before = add_scaled_spatial(before, rate, h)
        pass_force_inward(work, model, k, momentum, False)


@routine
def add_loads(work, model, tau, f_ext, s):
    """s ← s + h·W + τ, tips to base."""
    n, g = body_count(model), parameter3(work, model, GRAVITY)
    for back in range(n):
        k = n - 1 - back
        first = entry(model, k, V_START)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        inertia = body_inertia(work, model, k, r)
        load = (cross(inertia[1], g), scale(inertia[0], g))
        load = add_spatial(load, passed_force(work, model, k))
        if is_given(f_ext):
            load = add_spatial(load, row6(work, f_ext, 6 * k))
        for i in range(entry(model, k, N_DOF)):
            h = joint_column(work, model, k, i, r)
            total = dot_spatial(h, load) + load_rows(work, tau, first + i)
            store_rows(work, s, first + i, load_rows(work, s, first + i) + total)
        pass_force_inward(work, model, k, load, False)


@routine
def momenta(work, model, q, v, p, s):
    """p of a state, and the part of s that comes from motion."""
    status = scatter_rates(work, model, q, v)
    scatter_velocities(work, model, v)
    gather_momenta(work, model, v, p, s)
    return status


# ---- at the ends of a step ---------------------------------------------------------------------


@helper
def _carried(u, f):
    """ad*(u)·f of a force: −u ×* f."""
    x = cross_force(u, f)
    return scale(-1.0, x[0]), scale(-1.0, x[1])


@helper
def _ends_of_motion(dt, u, p, s):
    """(e, o) of a joint with a quaternion, for dt·v̄ = u."""
    half = scale(0.5 * dt, s[0]), scale(0.5 * dt, s[1])
    p1, s1 = _carried(u, p), _carried(u, half)
    p2, s2 = _carried(u, p1), _carried(u, s1)
    p4, s3 = _carried(u, _carried(u, p2)), _carried(u, s2)
    even = add_scaled_spatial(add_scaled_spatial(p, 1.0 / 12.0, p2), -1.0 / 720.0, p4)
    even = add_scaled_spatial(add_scaled_spatial(even, 0.25, s1), -1.0 / 192.0, s3)
    return even, add_scaled_spatial(half, 0.5, p1)


@helper
def _turning_ends(work, j, dt, v, p, s):
    """Of a ball joint: a motion that does not slide."""
    none = scale(0.0, row3(work, v, j))
    u = scale(dt, row3(work, v, j)), none
    even, odd = _ends_of_motion(dt, u, (row3(work, p, j), none), (row3(work, s, j), none))
    store_row3(work, p, j, even[0])
    store_row3(work, s, j, odd[0])


@helper
def _moving_ends(work, j, dt, v, p, s):
    """Of a free joint."""
    u = scale(dt, row3(work, v, j)), scale(dt, row3(work, v, j + 3))
    even, odd = _ends_of_motion(dt, u, row6(work, p, j), row6(work, s, j))
    store_row3(work, p, j, even[0])
    store_row3(work, p, j + 3, even[1])
    store_row3(work, s, j, odd[0])
    store_row3(work, s, j + 3, odd[1])


@routine
def momenta_at_ends(work, model, dt, v, p, s):
    """p̄ and s̄ ← e and o of a step with mean velocity v."""
    for k in range(body_count(model)):
        j = entry(model, k, V_START)
        if is_free(model, k):
            _moving_ends(work, j, dt, v, p, s)
        elif has_quaternion(model, k):
            _turning_ends(work, j, dt, v, p, s)
        else:
            for i in range(j, j + entry(model, k, N_DOF)):
                store_rows(work, s, i, 0.5 * dt * load_rows(work, s, i))
