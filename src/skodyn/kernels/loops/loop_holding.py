"""The smallest change that closes loops while driven joints stay where their motion has put them.

With P the projection onto null(G), e_j the driven variables of a group and Δ₀ = −G⁺g the smallest
change of all, every solution is Δ₀ + P·w. The smallest one that leaves driven variables alone is

    Δ = Δ₀ + P·E*λ,      (E·P·E*)·λ = −E·Δ₀      (E: the rows of driven variables)

since Δ₀ is orthogonal to all P·w: one smooth map, as that without drives. E·P·E* is singular where
loops tie driven joints to one another or hold one of them, as in a lock position.

Scratch, in lanes behind those of loops, with d driven velocities: a column of nv for each, then
the factor of E·P·E* (d²), λ (d) and room for nv numbers. Dynamics under drives (driven_looped.py)
keep S·E*, the factor of E·S·E* and u in the same places.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.loops.loop_groups import least_change
from skodyn.kernels.loops.loop_range import in_range_space
from skodyn.kernels.loops.loop_table import header_lane, loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import member_body, member_dof
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.lanes import all_lanes, fma, load, splat, store
from skodyn.model.layout import N_DOF
from skodyn.model.loops import loop_layout as its
from skodyn.model.prescribed_layout import PRESCRIBED

TIED = 1e-12
"""Pivots of E·P·E*, whose diagonal is at most one, below which driven joints are not free to be
driven: squares of what a unit of their motion leaves to be chosen."""


@helper
def is_driven(model, k):
    """Has the joint of body k a motion?"""
    return model.tree[model.tree[PRESCRIBED] + k] > 0


@routine
def driven_total(model):
    """d, of the whole model."""
    total = 0
    for k in range(body_count(model)):
        total += entry(model, k, N_DOF) if is_driven(model, k) else 0
    return total


@helper
def scratch_of_drives(model):
    """(d, lanes where columns, factor and λ begin)."""
    d = driven_total(model)
    columns = header_lane(model, its.LOOP_LANES)  # the first that loops do not need
    factor = columns + d * velocity_count(model)
    return d, columns, factor, factor + d * d


@routine
def driven_variable(model, group, j):
    """Driven variable j of a group among its own, or −1 behind the last."""
    passed = 0
    for i in range(model.tree[group + its.MEMBERS]):
        k = member_body(model, group, i)
        if is_driven(model, k):
            dofs = entry(model, k, N_DOF)
            if j < passed + dofs:
                return member_dof(model, group, i) + j - passed
            passed += dofs
    return -1


@routine
def project_unit(work, model, group, variable, out, u):
    """P·e of a variable, into lanes from `out` on; u: room for as many lanes as X has columns."""
    x, gram = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.GRAM_LANE)
    long = in_range_space(model, group)
    m = (
        model.tree[stage_at(model, group, 0) + its.RANK]
        if long
        else model.tree[group + its.MOBILITY]
    )
    for i in range(m):
        store(work, u + i, load(work, x + variable * m + i))
    solve_lower(work, gram, m, u, 1)
    solve_upper(work, gram, m, u)
    sign = -1.0 if long else 1.0  # x holds W, and P = I − W(W*W)⁻¹W*
    for k in range(model.tree[group + its.DOFS]):
        total = splat(work, 1.0 if long and k == variable else 0.0)
        for i in range(m):
            total = fma(sign * load(work, x + k * m + i), load(work, u + i), total)
        store(work, out + k, total)


@routine
def hold_driven(work, model, group):
    """Make VALUE, the smallest change of all, one that leaves driven variables alone; can it be?"""
    total, columns, factor, weights = scratch_of_drives(model)
    n, values = model.tree[group + its.DOFS], loop_lane(model, group + its.VALUE_LANE)
    d = 0
    while d < total and driven_variable(model, group, d) >= 0:
        project_unit(
            work, model, group, driven_variable(model, group, d), columns + d * n, weights + total
        )
        d += 1
    for j in range(d):
        for i in range(j + 1):
            x = load(work, columns + j * n + driven_variable(model, group, i))
            store(work, factor + j * d + i, x)
        store(work, weights + j, -load(work, values + driven_variable(model, group, j)))
    sound = cholesky(work, factor, d)
    for j in range(d):  # the reciprocal of the root of a pivot
        root = load(work, factor + j * d + j)
        sound = sound and all_lanes(TIED * root * root < 1.0)
    solve_lower(work, factor, d, weights, 1)
    solve_upper(work, factor, d, weights)
    for j in range(d):
        for k in range(n):
            moved = fma(
                load(work, weights + j), load(work, columns + j * n + k), load(work, values + k)
            )
            store(work, values + k, moved)
    for j in range(d):  # exactly, whatever rounding has done
        store(work, values + driven_variable(model, group, j), splat(work, 0.0))
    return sound


@helper
def least_held_change(work, model, group):
    """The smallest Δ with GΔ = −SIDE and no change of driven joints, into VALUE; is there one?"""
    least_change(work, model, group)
    return hold_driven(work, model, group)
