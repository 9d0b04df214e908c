"""Long loops: the range of G instead of its null space, so that a ring of N links costs O(N).

A group with much freedom has a basis X as large as itself. Here its joints yield as those of any
tree while c is held, and its few independent rows W = Q₁*G are made to hold afterwards (H. Brandl,
R. Johanni, M. Otter, 1988, in square-root form). One sweep over the group for each row gives what
its unit multiplier leaves at the joints, B = D^(−1/2)(I − HψK)W*, and what of it arrives at c, S:

    B = QR,   e = Wθ̈₀ + γ       P⁺ = P⁺_tree + S(R*R)⁻¹S*,   z⁺ = z⁺_tree − S(R*R)⁻¹e
    outward:  ε ← ε − D^(1/2)QR⁻*(e − S*α(c)),   and on as in a tree

θ̈₀ are accelerations of the group with c at rest. Singular values of B are known to rounding; those
of Λ = B*B would be known to its root only, which is why Λ is not formed.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import backsubstitute_dof
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.loops.loop_factor import change_back, shape_of
from skodyn.kernels.loops.loop_table import loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import dof_place, dof_scale, member_body, member_dof
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.status import LOOP_SINGULAR, OK, failure
from skodyn.kernels.tuples import (
    load3,
    load6,
    load_articulated,
    load_matrix,
    store6,
    store_articulated,
)
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, sum_slot
from skodyn.lanes import all_lanes, fma, load, select, splat, sqrt, store
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.articulated import subtract_rank_one
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
)


@helper
def in_range_space(model, group):
    return model.tree[group + its.MODE] == its.RANGE_SPACE


# ---- independent rows, and the smallest change that satisfies them -------------------------------


@routine
def make_rows(work, model, group):
    """W, a row for each degree of freedom, and the Cholesky factor of W*W in scaled variables."""
    stage, n = stage_at(model, group, 0), model.tree[group + its.DOFS]
    rank, touched = model.tree[stage + its.RANK], model.tree[stage + its.TOUCHED]
    at = loop_lane(model, stage + its.MATRIX_LANE) + model.tree[stage + its.CONSUMED]
    rows, gram = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.GRAM_LANE)
    zero, one = splat(work, 0.0), splat(work, 1.0)
    for i in range(rank):
        pivot = load(work, loop_lane(model, stage + its.PIVOT_LANE) + i)
        alive = pivot != 0.0
        for k in range(n):
            x = zero
            if k > i:
                x = load(work, at + i * touched + k)
            elif k == i:
                x = one / select(alive, pivot, one)
            store(work, rows + k * rank + i, select(alive, x, zero))
    for i in range(rank):
        for j in range(i + 1):
            total = zero
            for k in range(n):
                total = fma(load(work, rows + k * rank + i), load(work, rows + k * rank + j), total)
            store(work, gram + i * rank + j, select(total == 0.0, one if i == j else zero, total))
    cholesky(work, gram, rank)
    change_back(work, shape_of(model, stage), rows, rank)


@routine
def smallest_solution(work, model, group):
    """VALUE = −W(W*W)⁻¹Q₁*SIDE; `reflect_side` has run."""
    stage, n = stage_at(model, group, 0), model.tree[group + its.DOFS]
    rank, side = model.tree[stage + its.RANK], loop_lane(model, stage + its.SIDE_LANE)
    rows, gram = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.GRAM_LANE)
    solve_lower(work, gram, rank, side, 1)
    solve_upper(work, gram, rank, side)
    for k in range(n):
        total = splat(work, 0.0)
        for i in range(rank):
            total = fma(-load(work, rows + k * rank + i), load(work, side + i), total)
        store(work, loop_lane(model, group + its.VALUE_LANE) + k, total)


# ---- tips to base ------------------------------------------------------------------------------


@routine
def _gather_row(work, model, group, i):
    """ε/√d of every joint under multiplier i alone, into PRODUCT; what arrives at c."""
    rank = model.tree[stage_at(model, group, 0) + its.RANK]
    rows = loop_lane(model, group + its.X_LANE)
    answers = loop_lane(model, group + its.PRODUCT_LANE)
    n, none = body_count(model), (zero3(work), zero3(work))
    for m in range(model.tree[group + its.MEMBERS]):
        store6(work, sum_slot(model, member_body(model, group, m)) + SUMS.FORCE, none)
    arrived = none
    for back in range(model.tree[group + its.MEMBERS]):
        m = model.tree[group + its.MEMBERS] - 1 - back
        k, first = member_body(model, group, m), member_dof(model, group, m)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        z = load6(work, sum_slot(model, k) + SUMS.FORCE)
        for j_back in range(entry(model, k, N_DOF)):
            j = entry(model, k, N_DOF) - 1 - j_back
            record = dof_slot(n, entry(model, k, V_START) + j)
            scale = dof_scale(work, model, group, first + j)
            given = load(work, rows + (first + j) * rank + i) / scale
            epsilon = given - dot_spatial(joint_column(work, model, k, j, r), z)
            pivot = load(work, record + DOF.PIVOT)
            store(work, answers + (first + j) * rank + i, epsilon * sqrt(pivot))
            z = add_scaled_spatial(z, epsilon * pivot, load6(work, record + DOF.GAIN))
        z = shift_force(load3(work, body_slot(k) + BODY.ARM), z)
        parent = entry(model, k, PARENT)
        if parent == model.tree[group + its.PARENT_BODY]:
            arrived = add_spatial(arrived, z)
        else:
            at = sum_slot(model, parent) + SUMS.FORCE
            store6(work, at, add_spatial(load6(work, at), z))
    return arrived


@routine
def orthogonalise(work, model, group):
    """B = QR in place, each column twice by Gram–Schmidt; R as a lower factor of R*R, with the
    reciprocals of its diagonal. Are all numbers?

    A row that has vanished, as in a singular position, has a column of zeros and no multiplier.
    """
    rank, n = model.tree[stage_at(model, group, 0) + its.RANK], model.tree[group + its.DOFS]
    q = loop_lane(model, group + its.PRODUCT_LANE)
    factor = loop_lane(model, group + its.MASS_LANE)
    sound, zero = True, splat(work, 0.0)
    for j in range(rank):
        for i in range(j):
            store(work, factor + j * rank + i, zero)
        for _ in range(2):
            for i in range(j):
                total = zero
                for k in range(n):
                    total = fma(load(work, q + k * rank + i), load(work, q + k * rank + j), total)
                for k in range(n):
                    x = fma(-total, load(work, q + k * rank + i), load(work, q + k * rank + j))
                    store(work, q + k * rank + j, x)
                place = factor + j * rank + i
                store(work, place, load(work, place) + total)
        size = zero
        for k in range(n):
            x = load(work, q + k * rank + j)
            size = fma(x, x, size)
        sound, there = sound and all_lanes(size >= 0.0), size > 0.0
        inverse = select(there, 1.0 / sqrt(select(there, size, splat(work, 1.0))), zero)
        for k in range(n):
            store(work, q + k * rank + j, load(work, q + k * rank + j) * inverse)
        store(work, factor + j * rank + j, inverse)
    return sound


@routine
def add_free_rates(work, model, group, bent):
    """e = γ + Wθ̈₀ into RATE, by a scatter over the group with c at rest; bent: with γ."""
    stage = stage_at(model, group, 0)
    rank, e = model.tree[stage + its.RANK], loop_lane(model, group + its.RATE_LANE)
    rows, none = loop_lane(model, group + its.X_LANE), (zero3(work), zero3(work))
    for i in range(rank):
        side = load(work, loop_lane(model, stage + its.SIDE_LANE) + i)
        store(work, e + i, side if bent else splat(work, 0.0))
    for m in range(model.tree[group + its.MEMBERS]):
        k, first = member_body(model, group, m), member_dof(model, group, m)
        r, alpha = load_matrix(work, body_slot(k) + BODY.ROTATION), none
        if entry(model, k, PARENT) != model.tree[group + its.PARENT_BODY]:
            inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
            alpha = shift_motion(load3(work, body_slot(k) + BODY.ARM), inner)
        for j in range(entry(model, k, N_DOF)):
            rate = backsubstitute_dof(work, model, k, j, alpha)
            alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, j, r))
            scaled = rate / dof_scale(work, model, group, first + j)
            for i in range(rank):
                x = fma(load(work, rows + (first + j) * rank + i), scaled, load(work, e + i))
                store(work, e + i, x)
        alpha = add_spatial(alpha, load6(work, body_slot(k) + BODY.CORIOLIS))
        store6(work, body_slot(k) + BODY.MOTION, alpha)


@routine
def close_range_group(work, model, group):
    """What the rows of a long loop add to its parent's sums."""
    rank = model.tree[stage_at(model, group, 0) + its.RANK]
    passed, e = loop_lane(model, group + its.PASSED_LANE), loop_lane(model, group + its.RATE_LANE)
    factor = loop_lane(model, group + its.MASS_LANE)
    for i in range(rank):
        store6(work, passed + 6 * i, _gather_row(work, model, group, i))
    sound = orthogonalise(work, model, group)
    add_free_rates(work, model, group, True)
    solve_lower(work, factor, rank, e, 1)
    for j in range(6):
        solve_lower(work, factor, rank, passed + j, 6)
    if model.tree[group + its.PARENT_BODY] >= 0:
        at = sum_slot(model, -1)
        p, f = load_articulated(work, at + SUMS.INERTIA), load6(work, at + SUMS.FORCE)
        for i in range(rank):
            s = load6(work, passed + 6 * i)
            p = subtract_rank_one(p, s, splat(work, -1.0))
            f = add_scaled_spatial(f, -load(work, e + i), s)
        store_articulated(work, at + SUMS.INERTIA, p)
        store6(work, at + SUMS.FORCE, f)
    return OK if sound else failure(LOOP_SINGULAR, model.tree[group + its.FIRST_CONSTRAINT])


# ---- base to tips ------------------------------------------------------------------------------


@routine
def open_range_group(work, model, group):
    """ε of the group's joints with the forces of its loops, from the acceleration of its parent."""
    rank, n = model.tree[stage_at(model, group, 0) + its.RANK], body_count(model)
    passed, e = loop_lane(model, group + its.PASSED_LANE), loop_lane(model, group + its.RATE_LANE)
    q = loop_lane(model, group + its.PRODUCT_LANE)
    alpha = load6(work, body_slot(model.tree[group + its.PARENT_BODY]) + BODY.MOTION)
    for i in range(rank):
        s = load6(work, passed + 6 * i)
        store(work, e + i, load(work, e + i) - dot_spatial(s, alpha))
    for k in range(model.tree[group + its.DOFS]):
        total = splat(work, 0.0)
        for i in range(rank):
            total = fma(load(work, q + k * rank + i), load(work, e + i), total)
        record = dof_slot(n, dof_place(model, group, k))
        root = sqrt(1.0 / load(work, record + DOF.PIVOT))
        store(work, record + DOF.RESIDUE, fma(-root, total, load(work, record + DOF.RESIDUE)))
