"""Accelerations under mimic joints from those of the free tree, in O(N) for each coupled joint.

Let C be the coupled joints (mimics and their sources), E the columns of the identity that belong
to them, Λ = Eᵀ𝓜⁻¹E what they yield to one another, w₀ the accelerations if none of them followed
any other, and G_C the rows of G for C, so that w_C = G_C·u with u those of the sources. The forces
f inside the couplings do no work, G_Cᵀf = 0, and w = w₀ + 𝓜⁻¹E f. Hence f = Λ⁻¹(G_C u − w₀_C) and

    (G_Cᵀ Λ⁻¹ G_C)·u = G_Cᵀ Λ⁻¹ w₀_C

Sources move by the mean of what all joints of their group would do, weighted by the inertia Λ⁻¹
felt there. No difference of large numbers is taken, however light one of the joints is, which the
usual form with J𝓜⁻¹Jᵀ (J w = 0) would do. With T = [G, E_mimics] of determinant one,

    log det Gᵀ𝓜G = log det 𝓜 + log det Λ + log det G_CᵀΛ⁻¹G_C

Columns 𝓜⁻¹E reuse the articulated inertias that a gather left in the workspace. Scratch, in lanes,
with k coupled joints, s sources and nv degrees of freedom:

    𝓜⁻¹E (k rows of nv) | L of Λ (k²) | B = L⁻¹G_C (k·s) | L of BᵀB (s²) | z (k) | u (s)

Factors hold the reciprocals of their diagonals.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.dense import cholesky, solve_lower, solve_upper
from skodyn.kernels.mass_matrix_solve import solve
from skodyn.kernels.mimics import (
    coupled,
    full_model,
    mimic_count,
    multiplier,
    scratch_slot,
    source_count,
)
from skodyn.kernels.status import NOT_FINITE, OK, SINGULAR, failure
from skodyn.kernels.tuples import all_finite
from skodyn.lanes import Rows, fma, load, load_rows, logarithm, splat, states, store, store_rows
from skodyn.model.layout import COUPLED_BODY, COUPLED_DOF, FOLLOWS, NV


@helper
def _places(model):
    """Lanes where 𝓜⁻¹E, L, B, the factor of BᵀB, z and u begin."""
    s = source_count(model)
    k = s + mimic_count(model)
    answers = scratch_slot(model)
    factor = answers + k * full_model(model).tree[NV]
    basis = factor + k * k
    inner = basis + k * s
    z = inner + s * s
    return answers, factor, basis, inner, z, z + k


@helper
def answer_row(work, full, answers, c):
    """Row c of 𝓜⁻¹E, one for each state."""
    nv = full.tree[NV]
    return Rows(work.lanes, states(work) * (answers + c * nv), nv)


@routine
def unit_answers(work, model, k, answers):
    """𝓜⁻¹E, one row per coupled joint; each is solved for in its own place."""
    full = full_model(model)
    status = OK
    for c in range(k):
        row = answer_row(work, full, answers, c)
        for i in range(full.tree[NV]):
            store_rows(work, row, i, splat(work, 0.0))
        store_rows(work, row, coupled(model, c, COUPLED_DOF), splat(work, 1.0))
        answer = solve(work, full, row, row)
        status = status if status != OK else answer
    return status


@shared_routine
def factor_couplings(work, model):
    """All that does not depend on a right-hand side; articulated inertias must be there."""
    s = source_count(model)
    k = s + mimic_count(model)
    full = full_model(model)
    answers, factor, basis, inner, _, _ = _places(model)
    status = unit_answers(work, model, k, answers)
    for a in range(k):
        for b in range(a + 1):
            row = answer_row(work, full, answers, b)
            x = load_rows(work, row, coupled(model, a, COUPLED_DOF))
            store(work, factor + a * k + b, x)
    sound = cholesky(work, factor, k)
    for g in range(s):
        for a in range(k):
            mine = coupled(model, a, FOLLOWS) == g
            value = multiplier(work, model, a) if mine else splat(work, 0.0)
            store(work, basis + a * s + g, value)
        solve_lower(work, factor, k, basis + g, s)
    for g in range(s):
        for h in range(g + 1):
            x = splat(work, 0.0)
            for a in range(k):
                x = fma(load(work, basis + a * s + g), load(work, basis + a * s + h), x)
            store(work, inner + g * s + h, x)
    sound = cholesky(work, inner, s) and sound
    if status == OK and not sound:
        status = failure(SINGULAR, coupled(model, 0, COUPLED_BODY))
    return status


@shared_routine
def couple_accelerations(work, model, x):
    """From free accelerations to coupled ones, in place; rows over the full tree."""
    s = source_count(model)
    k = s + mimic_count(model)
    full = full_model(model)
    answers, factor, basis, inner, z, u = _places(model)
    for a in range(k):
        store(work, z + a, load_rows(work, x, coupled(model, a, COUPLED_DOF)))
    solve_lower(work, factor, k, z, 1)
    for g in range(s):
        total = splat(work, 0.0)
        for a in range(k):
            total = fma(load(work, basis + a * s + g), load(work, z + a), total)
        store(work, u + g, total)
    solve_lower(work, inner, s, u, 1)
    solve_upper(work, inner, s, u)
    for a in range(k):
        left = -load(work, z + a)
        for g in range(s):
            left = fma(load(work, basis + a * s + g), load(work, u + g), left)
        store(work, z + a, left)
    solve_upper(work, factor, k, z)
    for a in range(k):
        row, force = answer_row(work, full, answers, a), load(work, z + a)
        for i in range(full.tree[NV]):
            moved = fma(force, load_rows(work, row, i), load_rows(work, x, i))
            store_rows(work, x, i, moved)
    sound = True
    for a in range(k):  # exactly, whatever rounding has done
        value = multiplier(work, model, a) * load(work, u + coupled(model, a, FOLLOWS))
        store_rows(work, x, coupled(model, a, COUPLED_DOF), value)
        sound = sound and all_finite(value)
    return OK if sound else failure(NOT_FINITE, coupled(model, 0, COUPLED_BODY))


@helper
def coupling_logdet(work, model):
    """log det Λ + log det G_CᵀΛ⁻¹G_C, from the factors."""
    s = source_count(model)
    k = s + mimic_count(model)
    _, factor, _, inner, _, _ = _places(model)
    total = splat(work, 0.0)
    for a in range(k):
        total = total - 2.0 * logarithm(load(work, factor + a * k + a))
    for g in range(s):
        total = total - 2.0 * logarithm(load(work, inner + g * s + g))
    return total
