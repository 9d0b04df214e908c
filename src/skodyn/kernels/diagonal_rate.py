"""ν̇ along a motion, ν = m*·v with 𝓜 = m·m* (diagonal_factor.py), in O(N).

Everything that ν is made of is differentiated as it is computed, in world axes about the bodies'
own origins: the body's inertia turns with it, Ṁ = Ω M − M Ω, arms change by l̇, columns of H* turn
with the frame that they are fixed in, and so on inward,

    u̇ = Ṗ·h + P·ḣ,   ḋ = 2 ḣ·u + h·Ṗ·h,   Ṗ⁺ = Ṗ − (w uᵀ + u wᵀ)  with  w = u̇/d − ½ ḋ u/d²,

and outward, with V⁺ and A⁺ velocity and acceleration as far as inner degrees of freedom make them,

    ν̇ = √d·v̇ + (u̇·V⁺ + u·A⁺)/√d + ½ ḋ/√d·(v − u·V⁺/d).

x holds v̇. Inserting v̇ = 𝓜⁻¹(𝒯 − 𝒞) makes this the diagonal equation of motion ν̇ = m⁻¹𝒯 − c.
"""

from __future__ import annotations

from skodyn.jit import Record, helper
from skodyn.kernels.articulated_inertia import (
    SINGULAR_PIVOT,
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
    project_column,
)
from skodyn.kernels.entries import batch, one_state, per_dof, per_dof_of_x
from skodyn.kernels.joint_kinds import is_series
from skodyn.kernels.joint_motion import joint_column, relative_velocity, zero3
from skodyn.kernels.kinematics import body_inertia, scatter_rates
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.status import NOT_FINITE, OK, failure, first_trouble
from skodyn.kernels.tuples import (
    all_finite,
    load3,
    load6,
    load_articulated,
    load_matrix,
    store6,
    store_articulated,
)
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot, free_slot
from skodyn.lanes import all_lanes, load, load_rows, sqrt, store, store_rows
from skodyn.model.layout import N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import (
    add_articulated,
    add_inertia_to_articulated,
    apply_articulated,
    shift_articulated,
    subtract_rank_one,
)
from skodyn.spatial.linear3 import add, add_cross, add_scaled, cross, scale, subtract_outer
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, dot_spatial, shift_motion

RATES = Record("degree of freedom, rates", GAIN=(6, "u̇"), PIVOT=(1, "ḋ"))
SUM_RATE = 21  # Ṗ of what children have passed inward, for each body
VELOCITY = BODY.CORIOLIS  # a(k) is not needed: A has it in its parts


def rate_lanes(n_bodies: int, nv: int) -> int:
    """Lanes behind the ordinary records."""
    return SUM_RATE * n_bodies + RATES.size * nv


@helper
def sum_rate_slot(model, k):
    return free_slot(model) + SUM_RATE * k


@helper
def rate_slot(model, dof):
    return free_slot(model) + SUM_RATE * body_count(model) + RATES.size * dof


# ---- rates of what a body is made of -------------------------------------------------------------


@helper
def turned_sym(omega, s):
    """ω̃·S − S·ω̃ of a symmetric S: its rate when it turns with ω."""
    x = cross(omega, (s[0], s[1], s[2]))
    y = cross(omega, (s[1], s[3], s[4]))
    z = cross(omega, (s[2], s[4], s[5]))
    return (x[0] + x[0], x[1] + y[0], x[2] + z[0], y[1] + y[1], y[2] + z[1], z[2] + z[2])


@helper
def turned_inertia(omega, inertia):
    """Ṁ of a rigid body as (0, ḣ, J̇)."""
    m, h, j = inertia
    return 0.0 * m, cross(omega, h), turned_sym(omega, j)


@helper
def arm_rate(work, model, k, r, v):
    """l̇: the parent carries the arm around, and the joint lengthens it."""
    outer = load3(work, body_slot(entry(model, k, PARENT)) + BODY.OMEGA)
    _, slide, _, _ = relative_velocity(work, model, k, r, v)
    return add_cross(slide, outer, load3(work, body_slot(k) + BODY.ARM))


@helper
def column_rate(work, model, k, i, h, v):
    """ḣ of column i: it turns with the body, or in a series with the frame it is fixed in."""
    omega = load3(work, body_slot(k) + BODY.OMEGA)
    if is_series(model, k):
        omega = load3(work, body_slot(entry(model, k, PARENT)) + BODY.OMEGA)
        for j in range(i):
            dof = entry(model, k, V_START) + j
            rate = load_rows(work, v, dof)
            axis = load6(work, dof_slot(body_count(model), dof) + DOF.COLUMN)[0]
            omega = add_scaled(omega, rate, axis)
    return cross(omega, h[0]), cross(omega, h[1])


@helper
def subtract_pair(p, w, u):
    """P − (w uᵀ + u wᵀ)."""
    a, b, c = p
    return (
        subtract_pair_sym(a, w[0], u[0]),
        subtract_outer(subtract_outer(b, w[0], u[1]), u[0], w[1]),
        subtract_pair_sym(c, w[1], u[1]),
    )


@helper
def subtract_pair_sym(s, x, y):
    return (
        s[0] - (x[0] * y[0] + y[0] * x[0]),
        s[1] - (x[0] * y[1] + y[0] * x[1]),
        s[2] - (x[0] * y[2] + y[0] * x[2]),
        s[3] - (x[1] * y[1] + y[1] * x[1]),
        s[4] - (x[1] * y[2] + y[1] * x[2]),
        s[5] - (x[2] * y[2] + y[2] * x[2]),
    )


@helper
def shift_rate(p, rate, l, ldot):
    """d/dt of φ·P·φ*: φ·Ṗ·φ* and what the change of the arm does, with L̇ = l̇~ and N = B + L·C.

    φ̇·P·φ* = [[L̇·Nᵀ, L̇·C], [0, 0]], and its transpose is added.
    """
    _, n, c = shift_articulated(p, l)
    x = cross(ldot, (n[0], n[1], n[2]))  # columns of L̇·Nᵀ
    y = cross(ldot, (n[3], n[4], n[5]))
    z = cross(ldot, (n[6], n[7], n[8]))
    top = (x[0] + x[0], x[1] + y[0], x[2] + z[0], y[1] + y[1], y[2] + z[1], z[2] + z[2])
    x = cross(ldot, (c[0], c[1], c[2]))  # columns of L̇·C
    y = cross(ldot, (c[1], c[3], c[4]))
    z = cross(ldot, (c[2], c[4], c[5]))
    side = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    none = 0.0 * c[0]
    added = top, side, (none, none, none, none, none, none)
    return add_articulated(shift_articulated(rate, l), added)


# ---- the sweeps ----------------------------------------------------------------------------------


@helper
def gathered_rate(work, model, k, inertia):
    """Ṗ(k): the body's own and what its children have passed inward."""
    none = 0.0 * inertia[0]
    six = (none, none, none, none, none, none)
    passed = six, (*six, none, none, none), six
    if entry(model, k, SUBTREE_END) > k + 1:
        passed = load_articulated(work, sum_rate_slot(model, k))
    return add_inertia_to_articulated(passed, inertia)


@helper
def project_with_rate(work, model, k, r, v, p, rate):
    """(P⁺, Ṗ⁺, sound) of joint k; stores u, 1/d, u̇ and ḋ of every degree of freedom."""
    sound = True
    for d_back in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - d_back
        dof = entry(model, k, V_START) + i
        h = joint_column(work, model, k, i, r)
        hdot = column_rate(work, model, k, i, h, v)
        u, d, size = project_column(p, h)
        d = d + armature(work, model, dof)
        pivot = 1.0 / d
        moved = apply_articulated(rate, h)
        udot = add_spatial(moved, apply_articulated(p, hdot))
        ddot = 2.0 * dot_spatial(hdot, u) + dot_spatial(h, moved)
        record = dof_slot(body_count(model), dof)
        store6(work, record + DOF.GAIN, u)
        store(work, record + DOF.PIVOT, pivot)
        store6(work, rate_slot(model, dof) + RATES.GAIN, udot)
        store(work, rate_slot(model, dof) + RATES.PIVOT, ddot)
        w = scale(pivot, udot[0]), scale(pivot, udot[1])
        w = add_scaled_spatial(w, -0.5 * ddot * pivot * pivot, u)
        rate = subtract_pair(rate, w, u)
        p = subtract_rank_one(p, u, pivot)
        sound = sound and all_lanes(d > SINGULAR_PIVOT * size)
    return p, rate, sound


@helper
def gather_rates(work, model, v):
    """Tips to base: P, Ṗ, and of every degree of freedom u, d and their rates."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        parent = entry(model, k, PARENT)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        inertia = body_inertia(work, model, k, r)
        turned = turned_inertia(load3(work, body_slot(k) + BODY.OMEGA), inertia)
        p, rate = gathered_inertia(work, model, k, inertia), gathered_rate(work, model, k, turned)
        p, rate, sound = project_with_rate(work, model, k, r, v, p, rate)
        if status == OK and not sound:
            status = joint_trouble(work, model, k)
        pass_inertia_inward(work, model, k, p, False)
        if parent >= 0:
            ldot = arm_rate(work, model, k, r, v)
            shifted = shift_rate(p, rate, load3(work, body_slot(k) + BODY.ARM), ldot)
            if entry(model, k, SUBTREE_END) != entry(model, parent, SUBTREE_END):
                shifted = add_articulated(
                    shifted, load_articulated(work, sum_rate_slot(model, parent))
                )
            store_articulated(work, sum_rate_slot(model, parent), shifted)
    return status


@helper
def diagonal_rate_of(work, model, dof, velocity, acceleration, rates):
    """ν̇ of a degree of freedom; rates: its v and v̇."""
    record, changing = dof_slot(body_count(model), dof), rate_slot(model, dof)
    u, pivot = load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT)
    udot, ddot = load6(work, changing + RATES.GAIN), load(work, changing + RATES.PIVOT)
    root = sqrt(pivot)
    felt = dot_spatial(udot, velocity) + dot_spatial(u, acceleration)
    slower = rates[0] - pivot * dot_spatial(u, velocity)
    return rates[1] / root + root * (felt + 0.5 * ddot * slower)


@helper
def scatter_rates_of_nu(work, model, v, vdot, out):
    """Base to tips: V, A and ν̇."""
    status = OK
    zero = zero3(work)
    store6(work, BODY.MOTION, (zero, zero))
    store6(work, VELOCITY, (zero, zero))
    for k in range(body_count(model)):
        slot, inner = body_slot(k), body_slot(entry(model, k, PARENT))
        r, l = load_matrix(work, slot + BODY.ROTATION), load3(work, slot + BODY.ARM)
        ldot = arm_rate(work, model, k, r, v)
        velocity = shift_motion(l, load6(work, inner + VELOCITY))
        acceleration = shift_motion(l, load6(work, inner + BODY.MOTION))
        turned = cross(load3(work, inner + BODY.OMEGA), ldot)
        acceleration = acceleration[0], add(acceleration[1], turned)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            rates = load_rows(work, v, dof), load_rows(work, vdot, dof)
            nudot = diagonal_rate_of(work, model, dof, velocity, acceleration, rates)
            store_rows(work, out, dof, nudot)
            if status == OK and not all_finite(nudot):
                status = failure(NOT_FINITE, k)
            h = joint_column(work, model, k, i, r)
            hdot = column_rate(work, model, k, i, h, v)
            velocity = add_scaled_spatial(velocity, rates[0], h)
            acceleration = add_scaled_spatial(acceleration, rates[1], h)
            acceleration = add_scaled_spatial(acceleration, rates[0], hdot)
        store6(work, slot + VELOCITY, velocity)
        store6(work, slot + BODY.MOTION, acceleration)
    return status


@helper
def sweep(work, model, given, out):
    """ν̇; x holds v̇."""
    first = scatter_rates(work, model, given.q, given.v)
    second = gather_rates(work, model, given.v)
    third = scatter_rates_of_nu(work, model, given.v, given.x, out)
    return first_trouble(first, second, third)


diagonal_rate = one_state("diagonal_rate", sweep, per_dof_of_x, "q v x")
diagonal_rate_batch = batch("diagonal_rate_batch", sweep, per_dof)
