"""A group of bodies that loops bind together, as one joint of the tree: constraint embedding.

It moves with θ̇ = Xu, θ̈ = Xu̇ + x_p (A. Jain, Nonlinear Dynamics 67, 2012, parts I and II;
loop_groups.py makes X and x_p). Inside, bodies pass their inertias inward rigidly, as composite
bodies do, and the group yields as a whole where its parent c is reached. With F_i = R(k)h_i,
ρ = τ − Hζ, 𝓜 the composite mass matrix of the group and Φ_i = φ(c, k)F_i:

    D = X*𝓜X = LL*,   Y = L⁻¹X*Φ*,   y = L⁻¹X*ρ        P⁺ = R_c − Y*Y,   z⁺ = ζ_c + Y*y
    outward:  u̇ = L⁻*(y − Yα(c)),   θ̈ = Xu̇ + x_p

𝓜X and Φ are made in group_mass.py.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.dense import cholesky, solve_lower, solve_lower_rows, solve_upper
from skodyn.kernels.joint_motion import REVOLUTE, joint_column, zero3
from skodyn.kernels.loops.group_mass import apply_mass, inner_motion
from skodyn.kernels.loops.loop_range import in_range_space
from skodyn.kernels.loops.loop_table import group_at, group_count, group_of, loop_lane
from skodyn.kernels.loops.loop_variables import dof_place, dof_scale, member_body, member_dof
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.status import LOOP_SINGULAR, NOT_FINITE, OK, failure
from skodyn.kernels.tuples import (
    all_finite,
    load6,
    load_articulated,
    load_matrix,
    store6,
    store_articulated,
)
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, sum_slot
from skodyn.lanes import all_lanes, fma, load, load_rows, splat, store, store_rows
from skodyn.model.layout import KIND, N_DOF, PARENT, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.articulated import apply_articulated, subtract_rank_one
from skodyn.spatial.linear3 import dot, multiply_sym_vector, multiply_vector_transposed, z_axis
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, dot_spatial

SINGULAR_PIVOT = 1e-14


@helper
def moves_with_group(model, places, k):
    """Is body k a member of a group that yields as a whole?"""
    g = model.tree[places.membership + k]
    return g >= 0 and not in_range_space(model, places.groups + g * its.GROUP_RECORD)


@routine
def add_particular(work, model):
    """a(k) ← a(k) + H*x_p of every member of a group; α̂, for u̇ = 0 and c at rest, into MOTION."""
    for g in range(group_count(model)):
        group = group_at(model, g)
        if in_range_space(model, group):
            continue
        values = loop_lane(model, group + its.VALUE_LANE)
        for i in range(model.tree[group + its.MEMBERS]):
            k, first = member_body(model, group, i), member_dof(model, group, i)
            slot = body_slot(k)
            r, a = load_matrix(work, slot + BODY.ROTATION), load6(work, slot + BODY.CORIOLIS)
            for j in range(entry(model, k, N_DOF)):
                x = load(work, values + first + j) * dof_scale(work, model, group, first + j)
                a = add_scaled_spatial(a, x, joint_column(work, model, k, j, r))
            store6(work, slot + BODY.CORIOLIS, a)
            if entry(model, k, PARENT) != model.tree[group + its.PARENT_BODY]:
                a = add_spatial(a, inner_motion(work, model, k))
            store6(work, slot + BODY.MOTION, a)


# ---- inward ------------------------------------------------------------------------------------


@helper
def carry_rigidly(work, model, k, r, big_r, zeta, tau):
    """What a member of a group keeps of its joint: F and ρ of every degree of freedom.

    `zeta` has the acceleration a(k) alone; that of the members further in acts on F as well.
    """
    n, group = body_count(model), group_at(model, group_of(model, k))
    inside = entry(model, k, PARENT) != model.tree[group + its.PARENT_BODY]
    alpha = inner_motion(work, model, k) if inside else (zero3(work), zero3(work))
    if entry(model, k, KIND) == REVOLUTE:  # the commonest joint has a half of h only
        dof, z = entry(model, k, V_START), z_axis(r)
        gain = multiply_sym_vector(big_r[0], z), multiply_vector_transposed(big_r[1], z)
        store6(work, dof_slot(n, dof) + DOF.GAIN, gain)
        rest = load_rows(work, tau, dof) - dot(z, zeta[0])
        store(work, dof_slot(n, dof) + DOF.RESIDUE, rest - dot_spatial(gain, alpha))
        return
    for i in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + i
        h = joint_column(work, model, k, i, r)
        gain = apply_articulated(big_r, h)
        store6(work, dof_slot(n, dof) + DOF.GAIN, gain)
        rest = load_rows(work, tau, dof) - dot_spatial(h, zeta)
        store(work, dof_slot(n, dof) + DOF.RESIDUE, rest - dot_spatial(gain, alpha))


@helper
def _reduce_mass(work, model, group):
    """D = LL* of 𝓜X in PRODUCT; is it positive definite, beyond rounding?"""
    x, mass = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.MASS_LANE)
    m, product = model.tree[group + its.MOBILITY], loop_lane(model, group + its.PRODUCT_LANE)
    rates = loop_lane(model, group + its.RATE_LANE)
    for u in range(m):
        for t in range(u, m):
            total = splat(work, 0.0)
            for i in range(model.tree[group + its.DOFS]):
                total = fma(load(work, x + i * m + t), load(work, product + i * m + u), total)
            store(work, mass + t * m + u, total)
        store(work, rates + u, load(work, mass + u * m + u))
    sound = cholesky(work, mass, m)
    for u in range(m):
        pivot = load(work, mass + u * m + u)
        size = load(work, rates + u)
        sound = sound and all_lanes(SINGULAR_PIVOT * size * (pivot * pivot) < 1.0)
    return sound


@helper
def _reduce_residues(work, model, group):
    """X*ρ, into RATE."""
    x, rates = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.RATE_LANE)
    m, n = model.tree[group + its.MOBILITY], body_count(model)
    values = loop_lane(model, group + its.VALUE_LANE)
    for t in range(m):
        store(work, rates + t, splat(work, 0.0))
    for i in range(model.tree[group + its.DOFS]):
        dof, scale = dof_place(model, group, i), dof_scale(work, model, group, i)
        given = load(work, values + i) * scale
        rest = load(work, dof_slot(n, dof) + DOF.RESIDUE)
        rest = fma(-armature(work, model, dof), given, rest) * scale  # rotors feel x_p, too
        for t in range(m):
            total = fma(load(work, x + i * m + t), rest, load(work, rates + t))
            store(work, rates + t, total)


@routine
def close_group(work, model, group):
    """Let a group yield as a whole."""
    apply_mass(work, model, group)
    return project_whole_group(work, model, group)


@routine
def project_whole_group(work, model, group):
    """D, Y and y from 𝓜X, and what the sums of the group's parent become."""
    mass, rates = loop_lane(model, group + its.MASS_LANE), loop_lane(model, group + its.RATE_LANE)
    m, passed = model.tree[group + its.MOBILITY], loop_lane(model, group + its.PASSED_LANE)
    sound = _reduce_mass(work, model, group)
    _reduce_residues(work, model, group)
    solve_lower(work, mass, m, rates, 1)
    solve_lower_rows(work, mass, m, passed, 6)
    if model.tree[group + its.PARENT_BODY] >= 0:
        at = sum_slot(model, -1)
        p, f = load_articulated(work, at + SUMS.INERTIA), load6(work, at + SUMS.FORCE)
        for t in range(m):
            y = load6(work, passed + 6 * t)
            p = subtract_rank_one(p, y, splat(work, 1.0))
            f = add_scaled_spatial(f, load(work, rates + t), y)
        store_articulated(work, at + SUMS.INERTIA, p)
        store6(work, at + SUMS.FORCE, f)
    return OK if sound else failure(LOOP_SINGULAR, model.tree[group + its.FIRST_CONSTRAINT])


# ---- outward -----------------------------------------------------------------------------------


@routine
def open_group(work, model, group, out):
    """u̇ from the acceleration of the parent; Xu̇ is kept in ε, θ̈ goes to `out`."""
    x, mass = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.MASS_LANE)
    rates = loop_lane(model, group + its.RATE_LANE)
    passed = loop_lane(model, group + its.PASSED_LANE)
    m, n = model.tree[group + its.MOBILITY], body_count(model)
    values = loop_lane(model, group + its.VALUE_LANE)
    alpha = load6(work, body_slot(model.tree[group + its.PARENT_BODY]) + BODY.MOTION)
    for t in range(m):
        y = load6(work, passed + 6 * t)
        store(work, rates + t, load(work, rates + t) - dot_spatial(y, alpha))
    solve_upper(work, mass, m, rates)
    sound = True
    for i in range(model.tree[group + its.DOFS]):
        total = splat(work, 0.0)
        for t in range(m):
            total = fma(load(work, x + i * m + t), load(work, rates + t), total)
        scale, dof = dof_scale(work, model, group, i), dof_place(model, group, i)
        total = total * scale
        store(work, dof_slot(n, dof) + DOF.RESIDUE, total)
        whole = fma(load(work, values + i), scale, total)
        sound = sound and all_finite(whole)
        store_rows(work, out, dof, whole)
    return OK if sound else failure(NOT_FINITE, member_body(model, group, 0))
