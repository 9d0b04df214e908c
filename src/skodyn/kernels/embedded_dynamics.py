"""Forward dynamics of models with loops, by constraint embedding, in O(N) for small groups.

A group of bodies that loops bind together moves as one joint with θ̇ = Xu, θ̈ = Xu̇ + x_p
(A. Jain, Nonlinear Dynamics 67, 2012, parts I and II; loop_factor.py makes X and x_p). Algorithm
6.1 of Jain 2011-II then holds on the tree of groups and single bodies, with

    H(𝔖) = X*·H𝔸,   a(𝔖) = 𝔸*(a + H*x_p)

and no matrix larger than X is formed: inside a group bodies pass their inertias inward rigidly, as
composite bodies do, and the group yields as a whole where its parent c is reached. With
F_i = R(k)h_i, ρ = τ − Hζ and 𝓜 the composite mass matrix of the group (`close_group`):

    D = X*𝓜X = LL*,   Y = L⁻¹X*Φ*,   y = L⁻¹X*ρ        P⁺ = R_c − Y*Y,   z⁺ = ζ_c + Y*y
    outward:  u̇ = L⁻*(y − Yα(c)),   θ̈ = Xu̇ + x_p

Columns of 𝓜X come from one scatter and one gather over the group each, Φ from what arrives at c.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, routine
from skodyn.kernels.articulated_inertia import (
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
)
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.entries import (
    batch,
    one_state,
    one_state_signature,
    per_dof,
    per_dof_of_x,
    row_of,
)
from skodyn.kernels.forward_dynamics import add_outer_force, yield_loaded_joint
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import (
    body_inertia,
    ground_acceleration,
    scatter_poses,
    scatter_rates,
)
from skodyn.kernels.loop_factor import factor_stage, make_x, particular_solution, reflect_side
from skodyn.kernels.loop_range import (
    close_range_group,
    in_range_space,
    make_rows,
    open_range_group,
)
from skodyn.kernels.loop_rows import ACCELERATIONS, COLUMNS, GAMMAS, Filling, fill_stage
from skodyn.kernels.loop_table import (
    dof_place,
    dof_scale,
    first_group_on,
    group_at,
    group_count,
    group_of,
    groups_on,
    loop_lane,
    member_body,
    member_dof,
    scaled_rate,
    stage_at,
    touched_variable,
)
from skodyn.kernels.residuals import (
    add_scaled_spatial,
    answer_acceleration,
    pass_force_inward,
    passed_force,
)
from skodyn.kernels.status import (
    BAD_INPUT,
    LOOP_OPEN,
    LOOP_RATE,
    LOOP_SINGULAR,
    NOT_FINITE,
    OK,
    coordinates_fit,
    failure,
    finite,
    first_trouble,
)
from skodyn.kernels.workspace import (
    ARM,
    CORIOLIS,
    FORCE,
    GAIN,
    INERTIA,
    MOTION,
    OMEGA,
    RESIDUE,
    ROTATION,
    armature,
    body_count,
    body_slot,
    dof_slot,
    entry,
    load3,
    load6,
    load_articulated,
    load_matrix,
    store3,
    store6,
    store_articulated,
    sum_slot,
    unpack,
    velocity_count,
)
from skodyn.lanes import (
    Rows,
    absolute,
    all_lanes,
    fma,
    load,
    load_rows,
    pointer,
    select,
    splat,
    store,
    store_rows,
)
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.model.loop_layout import (
    DOFS,
    FIRST_CONSTRAINT,
    GAP_LANE,
    MASS_LANE,
    MATRIX_LANE,
    MEMBERS,
    MOBILITY,
    PARENT_BODY,
    PASSED_LANE,
    PRODUCT_LANE,
    RATE_LANE,
    SIDE_LANE,
    STAGE_LIST_AT,
    STAGE_ROWS,
    STAGES,
    TOUCHED,
    VALUE_LANE,
    X_LANE,
)
from skodyn.spatial.articulated import (
    add_applied_articulated,
    apply_articulated,
    subtract_rank_one,
)
from skodyn.spatial.motion import add_spatial, dot_spatial, shift_force, shift_motion

OPEN = 1e-6
"""A state whose ends are further apart (metres; radians times the group's length) is refused."""
PARTING = 1e-6
"""Likewise velocities that part them faster than this, beside the fastest joint of the group."""
SINGULAR_PIVOT = 1e-14

_INFINITY = float("inf")


# ---- factors of all groups ---------------------------------------------------------------------


@routine
def stage_trouble(work, model, filling):
    """OK, or the status of a stage whose ends are apart, or part."""
    group, stage = filling.group, filling.stage
    rows, touched = model.tree[stage + STAGE_ROWS], model.tree[stage + TOUCHED]
    first = model.tree[model.tree[stage + STAGE_LIST_AT]]
    for row in range(rows):
        gap = load(work, loop_lane(model, stage, GAP_LANE) + row)
        if not all_lanes(absolute(gap) <= OPEN):
            return failure(LOOP_OPEN, first)
    if filling.what != ACCELERATIONS:
        return OK
    fastest = splat(work, 1.0)
    for i in range(model.tree[group + DOFS]):
        rate = absolute(scaled_rate(work, model, group, filling.v, i))
        fastest = select(rate > fastest, rate, fastest)
    for row in range(rows):
        at = loop_lane(model, stage, MATRIX_LANE) + row * touched
        total = splat(work, 0.0)
        for i in range(touched):
            variable = touched_variable(model, stage, i)
            if variable < model.tree[group + DOFS]:
                rate = scaled_rate(work, model, group, filling.v, variable)
                total = fma(load(work, at + i), rate, total)
        if not all_lanes(absolute(total) <= PARTING * fastest):
            return failure(LOOP_RATE, first)
    return OK


@routine
def factor_groups(work, model, q, v, what, strict):
    """X of every group, and for accelerations x_p; strict: open loops are refused.

    GAMMAS: x_p alone, with the factors that are there.
    """
    status = OK
    for g in range(group_count(model)):
        group = group_at(model, g)
        for s in range(model.tree[group + STAGES]):
            filling = Filling(group, stage_at(model, group, s), q, v, what)
            fill_stage(work, model, filling)
            if strict and status == OK:
                status = stage_trouble(work, model, filling)
            if what != GAMMAS:
                factor_stage(work, model, group, filling.stage)
        if what != GAMMAS:
            finish_factor(work, model, group)
        if what != COLUMNS:
            solve_gammas(work, model, group)
    return status


@helper
def finish_factor(work, model, group):
    """What is made of the factors of a group's stages: X, or independent rows."""
    if in_range_space(model, group):
        make_rows(work, model, group)
    else:
        make_x(work, model, group)


@helper
def solve_gammas(work, model, group):
    """x_p, or what long loops take of γ."""
    if in_range_space(model, group):
        reflect_side(work, model, stage_at(model, group, 0))
    else:
        particular_solution(work, model, group)


@routine
def add_particular(work, model):
    """a(k) ← a(k) + H*x_p of every member of a group; α̂, for u̇ = 0 and c at rest, into MOTION."""
    for g in range(group_count(model)):
        group = group_at(model, g)
        if in_range_space(model, group):
            continue
        values = loop_lane(model, group, VALUE_LANE)
        for i in range(model.tree[group + MEMBERS]):
            k, first = member_body(model, group, i), member_dof(model, group, i)
            slot = body_slot(k)
            r, a = load_matrix(work, slot + ROTATION), load6(work, slot + CORIOLIS)
            for j in range(entry(model, k, N_DOF)):
                x = load(work, values + first + j) * dof_scale(work, model, group, first + j)
                a = add_scaled_spatial(a, x, joint_column(work, model, k, j, r))
            store6(work, slot + CORIOLIS, a)
            if entry(model, k, PARENT) != model.tree[group + PARENT_BODY]:
                a = add_spatial(a, inner_motion(work, model, k))
            store6(work, slot + MOTION, a)


@helper
def inner_motion(work, model, k):
    """φ*·MOTION of the parent of body k."""
    inner = load6(work, body_slot(entry(model, k, PARENT)) + MOTION)
    return shift_motion(load3(work, body_slot(k) + ARM), inner)


# ---- tips to base ------------------------------------------------------------------------------


@helper
def moves_with_group(model, k):
    """Is body k a member of a group that yields as a whole?"""
    g = group_of(model, k)
    return g >= 0 and not in_range_space(model, group_at(model, g))


@helper
def carry_rigidly(work, model, k, r, big_r, zeta, tau):
    """What a member of a group keeps of its joint: F and ρ of every degree of freedom.

    `zeta` has the acceleration a(k) alone; that of the members further in acts on F as well.
    """
    n, group = body_count(model), group_at(model, group_of(model, k))
    inside = entry(model, k, PARENT) != model.tree[group + PARENT_BODY]
    alpha = inner_motion(work, model, k) if inside else (zero3(work), zero3(work))
    for i in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + i
        h = joint_column(work, model, k, i, r)
        gain = apply_articulated(big_r, h)
        store6(work, dof_slot(n, dof) + GAIN, gain)
        rest = load_rows(work, tau, dof) - dot_spatial(h, zeta)
        store(work, dof_slot(n, dof) + RESIDUE, rest - dot_spatial(gain, alpha))


@routine
def _scatter_column(work, model, group, u):
    """V of every member when only variable u moves, with rate one; their sums begin at zero."""
    x, m = loop_lane(model, group, X_LANE), model.tree[group + MOBILITY]
    none = zero3(work), zero3(work)
    for i in range(model.tree[group + MEMBERS]):
        k, first = member_body(model, group, i), member_dof(model, group, i)
        r = load_matrix(work, body_slot(k) + ROTATION)
        inside = entry(model, k, PARENT) != model.tree[group + PARENT_BODY]
        motion = inner_motion(work, model, k) if inside else none
        for j in range(entry(model, k, N_DOF)):
            rate = load(work, x + (first + j) * m + u) * dof_scale(work, model, group, first + j)
            motion = add_scaled_spatial(motion, rate, joint_column(work, model, k, j, r))
        store6(work, body_slot(k) + MOTION, motion)
        store6(work, sum_slot(model, k) + FORCE, none)


@routine
def _gather_column(work, model, group, u):
    """Column u of 𝓜X, times the scales of its rows, into PRODUCT; the column of Φ that arrives."""
    x, m = loop_lane(model, group, X_LANE), model.tree[group + MOBILITY]
    n, product = body_count(model), loop_lane(model, group, PRODUCT_LANE)
    arrived = zero3(work), zero3(work)
    for back in range(model.tree[group + MEMBERS]):
        i = model.tree[group + MEMBERS] - 1 - back
        k, first = member_body(model, group, i), member_dof(model, group, i)
        r = load_matrix(work, body_slot(k) + ROTATION)
        motion = load6(work, body_slot(k) + MOTION)
        outer = load6(work, sum_slot(model, k) + FORCE)
        passed = outer
        for j in range(entry(model, k, N_DOF)):
            dof, scale = entry(model, k, V_START) + j, dof_scale(work, model, group, first + j)
            rate = load(work, x + (first + j) * m + u) * scale
            gain = load6(work, dof_slot(n, dof) + GAIN)
            h = joint_column(work, model, k, j, r)
            momentum = dot_spatial(gain, motion) + dot_spatial(h, outer)
            momentum = fma(armature(work, model, dof), rate, momentum)
            store(work, product + first + j, momentum * scale)
            passed = add_scaled_spatial(passed, rate, gain)
        passed = shift_force(load3(work, body_slot(k) + ARM), passed)
        parent = entry(model, k, PARENT)
        if parent == model.tree[group + PARENT_BODY]:
            arrived = add_spatial(arrived, passed)
        else:
            at = sum_slot(model, parent) + FORCE
            store6(work, at, add_spatial(load6(work, at), passed))
    return arrived


@routine
def reduced_mass(work, model, group):
    """D and X*Φ* of a group; is D positive definite, beyond rounding?"""
    x, mass = loop_lane(model, group, X_LANE), loop_lane(model, group, MASS_LANE)
    m, product = model.tree[group + MOBILITY], loop_lane(model, group, PRODUCT_LANE)
    passed, rates = loop_lane(model, group, PASSED_LANE), loop_lane(model, group, RATE_LANE)
    for u in range(m):
        _scatter_column(work, model, group, u)
        store6(work, passed + 6 * u, _gather_column(work, model, group, u))
        for t in range(u, m):
            total = splat(work, 0.0)
            for i in range(model.tree[group + DOFS]):
                total = fma(load(work, x + i * m + t), load(work, product + i), total)
            store(work, mass + t * m + u, total)
        store(work, rates + u, load(work, mass + u * m + u))
    sound = cholesky(work, mass, m)
    for u in range(m):
        pivot = load(work, mass + u * m + u)
        size = load(work, rates + u)
        sound = sound and all_lanes(SINGULAR_PIVOT * size * (pivot * pivot) < 1.0)
    return sound


@routine
def close_group(work, model, group):
    """Let a group yield as a whole: D, Y and y, and what its parent's sums become."""
    x, mass = loop_lane(model, group, X_LANE), loop_lane(model, group, MASS_LANE)
    rates, passed = loop_lane(model, group, RATE_LANE), loop_lane(model, group, PASSED_LANE)
    m, n = model.tree[group + MOBILITY], body_count(model)
    sound = reduced_mass(work, model, group)
    for t in range(m):
        total = splat(work, 0.0)
        for i in range(model.tree[group + DOFS]):
            dof, scale = dof_place(model, group, i), dof_scale(work, model, group, i)
            given = load(work, loop_lane(model, group, VALUE_LANE) + i) * scale
            rest = load(work, dof_slot(n, dof) + RESIDUE)
            rest = fma(-armature(work, model, dof), given, rest)  # rotors feel x_p, too
            total = fma(load(work, x + i * m + t) * scale, rest, total)
        store(work, rates + t, total)
    solve_lower(work, mass, m, rates, 1)
    for j in range(6):
        solve_lower(work, mass, m, passed + j, 6)
    if model.tree[group + PARENT_BODY] >= 0:
        at = sum_slot(model, -1)
        p, f = load_articulated(work, at + INERTIA), load6(work, at + FORCE)
        for t in range(m):
            y = load6(work, passed + 6 * t)
            p = subtract_rank_one(p, y, splat(work, 1.0))
            f = add_scaled_spatial(f, load(work, rates + t), y)
        store_articulated(work, at + INERTIA, p)
        store6(work, at + FORCE, f)
    return OK if sound else failure(LOOP_SINGULAR, model.tree[group + FIRST_CONSTRAINT])


@helper
def close_groups_on(work, model, k):
    """All groups that body k carries."""
    status = OK
    for i in range(groups_on(model, k)):
        group = group_at(model, first_group_on(model, k) + i)
        if in_range_space(model, group):
            answer = close_range_group(work, model, group)
        else:
            answer = close_group(work, model, group)
        status = status if status != OK else answer
    return status


@routine
def gather_embedded(work, model, tau, f_ext):
    """Tips to base: P, z, u, 1/d and ε of single bodies, D, Y and y of groups."""
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        answer = close_groups_on(work, model, k)
        status = status if status != OK else answer
        r = load_matrix(work, body_slot(k) + ROTATION)
        inertia = body_inertia(work, model, k, r)
        p = gathered_inertia(work, model, k, inertia)
        f = add_outer_force(work, k, passed_force(work, model, k), inertia, f_ext)
        z = add_applied_articulated(f, p, load6(work, body_slot(k) + CORIOLIS))
        if moves_with_group(model, k):
            carry_rigidly(work, model, k, r, p, z, tau)
        else:
            p, z, sound = yield_loaded_joint(work, model, k, r, p, z, tau)
            if status == OK and not sound:
                status = joint_trouble(work, model, k)
        pass_inertia_inward(work, model, k, p, False)
        pass_force_inward(work, model, k, z, False)
    answer = close_groups_on(work, model, -1)
    return status if status != OK else answer


# ---- base to tips ------------------------------------------------------------------------------


@routine
def open_group(work, model, group, out):
    """u̇ from the acceleration of the parent; Xu̇ is kept in ε, θ̈ goes to `out`."""
    x, mass = loop_lane(model, group, X_LANE), loop_lane(model, group, MASS_LANE)
    rates, passed = loop_lane(model, group, RATE_LANE), loop_lane(model, group, PASSED_LANE)
    m, n = model.tree[group + MOBILITY], body_count(model)
    alpha = load6(work, body_slot(model.tree[group + PARENT_BODY]) + MOTION)
    for t in range(m):
        y = load6(work, passed + 6 * t)
        store(work, rates + t, load(work, rates + t) - dot_spatial(y, alpha))
    solve_upper(work, mass, m, rates)
    sound = True
    for i in range(model.tree[group + DOFS]):
        total = splat(work, 0.0)
        for t in range(m):
            total = fma(load(work, x + i * m + t), load(work, rates + t), total)
        scale, dof = dof_scale(work, model, group, i), dof_place(model, group, i)
        total = total * scale
        store(work, dof_slot(n, dof) + RESIDUE, total)
        whole = fma(load(work, loop_lane(model, group, VALUE_LANE) + i), scale, total)
        sound = sound and all_lanes(absolute(whole) < _INFINITY)
        store_rows(work, out, dof, whole)
    return OK if sound else failure(NOT_FINITE, member_body(model, group, 0))


@routine
def scatter_embedded(work, model, ground, out):
    """Base to tips: θ̈ and α, given the acceleration of the ground."""
    n = body_count(model)
    status = OK
    store6(work, MOTION, ground)
    for k in range(n):
        slot, member = body_slot(k), moves_with_group(model, k)
        if group_of(model, k) >= 0:
            group = group_at(model, group_of(model, k))
            if member_body(model, group, 0) == k:
                if member:
                    answer = open_group(work, model, group, out)
                    status = status if status != OK else answer
                else:
                    open_range_group(work, model, group)
        r = load_matrix(work, slot + ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + MOTION)
        alpha = shift_motion(load3(work, slot + ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            if member:
                rate = load(work, dof_slot(n, dof) + RESIDUE)
            else:
                rate = answer_acceleration(work, model, k, i, alpha)
                store_rows(work, out, dof, rate)
                if status == OK and not all_lanes(absolute(rate) < _INFINITY):
                    status = failure(NOT_FINITE, k)
            alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        store6(work, slot + MOTION, add_spatial(alpha, load6(work, slot + CORIOLIS)))
    return status


# ---- the algorithms ----------------------------------------------------------------------------


@helper
def accelerate_embedded(work, model, given, out, what, strict):
    """θ̈; what: ACCELERATIONS, or GAMMAS where groups are factored at this q already.

    strict: states whose loops are open are refused.
    """
    first = scatter_rates(work, model, given.q, given.v)
    closed = factor_groups(work, model, given.q, given.v, what, strict)
    add_particular(work, model)
    second = gather_embedded(work, model, given.x, given.f_ext)
    third = scatter_embedded(work, model, ground_acceleration(work, model), out)
    return first_trouble(first, closed, first_trouble(second, third, OK))


@helper
def sweep(work, model, given, out):
    """θ̈; x holds tau."""
    return accelerate_embedded(work, model, given, out, ACCELERATIONS, True)


@routine
def prepare_solve(work, model, q):
    """Poses and factors, with nothing moving and no particular solution."""
    first = scatter_poses(work, model, q)
    second = factor_groups(work, model, q, q, COLUMNS, True)
    zero = zero3(work)
    for k in range(body_count(model)):
        store3(work, body_slot(k) + OMEGA, zero)
        store6(work, body_slot(k) + CORIOLIS, (zero, zero))
    for g in range(group_count(model)):
        group = group_at(model, g)
        for i in range(model.tree[group + DOFS]):
            store(work, loop_lane(model, group, VALUE_LANE) + i, zero[0])
        stage = stage_at(model, group, 0)
        for row in range(model.tree[stage + STAGE_ROWS]):
            store(work, loop_lane(model, stage, SIDE_LANE) + row, zero[0])
    return first if first != OK else second


@helper
def solve_embedded(work, model, x, out):
    """X(X*𝓜X)⁻¹X*·x for one row per state; prepare_solve has run."""
    none, still = zero3(work), Rows(x.data, x.first, 0)
    add_particular(work, model)
    first = gather_embedded(work, model, x, still)
    second = scatter_embedded(work, model, (none, none), out)
    return first if first != OK else second


@helper
def sweep_solve(work, model, given, out):
    """X(X*𝓜X)⁻¹X*·x."""
    status = prepare_solve(work, model, given.q)
    return status if status != OK else solve_embedded(work, model, given.x, out)


@brief_kernel(*one_state_signature(1))
def mass_matrix_solve(block, q, rhs, out):
    """One state, any number of right-hand sides, each a row of `rhs`."""
    work, model = unpack(block)
    nv = velocity_count(model)
    rows = rhs.size // max(nv, 1)
    sizes = rhs.size == rows * nv and out.size == rhs.size
    if not (sizes and coordinates_fit(model, q) and finite(rhs)):
        return BAD_INPUT
    status = prepare_solve(work, model, row_of(q))
    for row in range(rows):
        given, result = Rows(pointer(rhs), row * nv, nv), Rows(pointer(out), row * nv, nv)
        answer = solve_embedded(work, model, given, result)
        status = status if status != OK else answer
    return status


forward_dynamics = one_state("forward_dynamics", sweep, per_dof_of_x, "q v x f")
forward_dynamics_batch = batch("forward_dynamics_batch", sweep, per_dof)
mass_matrix_solve_batch = batch("mass_matrix_solve_batch", sweep_solve, per_dof)
