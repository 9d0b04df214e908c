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

from __future__ import annotations

from skodyn.jit import helper, routine
from skodyn.kernels.mass_matrix_solve import solve
from skodyn.kernels.mimics import (
    coupled,
    full_tree,
    mimic_count,
    multiplier,
    scratch_slot,
    source_count,
)
from skodyn.kernels.status import NOT_FINITE, OK, SINGULAR, failure
from skodyn.lanes import (
    absolute,
    all_lanes,
    fma,
    load,
    load_rows,
    logarithm,
    shift_pointer,
    splat,
    sqrt,
    store,
    store_rows,
)
from skodyn.model.layout import COUPLED_BODY, COUPLED_DOF, FOLLOWS, NV

_INFINITY = float("inf")


@helper
def _places(tree):
    """Lanes where 𝓜⁻¹E, L, B, the factor of BᵀB, z and u begin."""
    s = source_count(tree)
    k = s + mimic_count(tree)
    answers = scratch_slot(tree)
    factor = answers + k * full_tree(tree)[NV]
    basis = factor + k * k
    inner = basis + k * s
    z = inner + s * s
    return answers, factor, basis, inner, z, z + k


@routine
def cholesky(w, at, n, ws):
    """Factor the lower triangle of an n × n matrix in place; is it positive definite?"""
    sound = True
    for i in range(n):
        for j in range(i + 1):
            x = load(w, ws, at + i * n + j)
            for c in range(j):
                x = fma(-load(w, ws, at + i * n + c), load(w, ws, at + j * n + c), x)
            if i == j:
                sound = sound and all_lanes(x > 0.0)
                store(w, ws, at + i * n + i, 1.0 / sqrt(x))
            else:
                store(w, ws, at + i * n + j, x * load(w, ws, at + j * n + j))
    return sound


@routine
def solve_lower(w, at, n, x, step, ws):
    """x ← L⁻¹x in place; elements lie `step` lanes apart."""
    for i in range(n):
        value = load(w, ws, x + i * step)
        for c in range(i):
            value = fma(-load(w, ws, at + i * n + c), load(w, ws, x + c * step), value)
        store(w, ws, x + i * step, value * load(w, ws, at + i * n + i))


@routine
def solve_upper(w, at, n, x, ws):
    """x ← L⁻ᵀx in place."""
    for back in range(n):
        i = n - 1 - back
        value = load(w, ws, x + i)
        for c in range(i + 1, n):
            value = fma(-load(w, ws, at + c * n + i), load(w, ws, x + c), value)
        store(w, ws, x + i, value * load(w, ws, at + i * n + i))


@routine
def unit_answers(w, lanes, tree, p, k, answers, ws):
    """𝓜⁻¹E, one row per coupled joint; each is solved for in its own place."""
    full = full_tree(tree)
    nv = full[NV]
    status = OK
    for c in range(k):
        row = shift_pointer(ws, lanes * (answers + c * nv))
        for i in range(nv):
            store_rows(w, row, 0, nv, i, splat(w, 0.0))
        store_rows(w, row, 0, nv, coupled(tree, c, COUPLED_DOF), splat(w, 1.0))
        answer = solve(w, full, p, row, 0, nv, row, ws)
        status = status if status != OK else answer
    return status


@routine
def factor_couplings(w, lanes, tree, p, ws):
    """All that does not depend on a right-hand side; articulated inertias must be there."""
    s = source_count(tree)
    k = s + mimic_count(tree)
    nv = full_tree(tree)[NV]
    answers, factor, basis, inner, _, _ = _places(tree)
    status = unit_answers(w, lanes, tree, p, k, answers, ws)
    for a in range(k):
        for b in range(a + 1):
            row = shift_pointer(ws, lanes * (answers + b * nv))
            x = load_rows(w, row, 0, nv, coupled(tree, a, COUPLED_DOF))
            store(w, ws, factor + a * k + b, x)
    sound = cholesky(w, factor, k, ws)
    for g in range(s):
        for a in range(k):
            mine = coupled(tree, a, FOLLOWS) == g
            value = multiplier(w, tree, p, a) if mine else splat(w, 0.0)
            store(w, ws, basis + a * s + g, value)
        solve_lower(w, factor, k, basis + g, s, ws)
    for g in range(s):
        for h in range(g + 1):
            x = splat(w, 0.0)
            for a in range(k):
                x = fma(load(w, ws, basis + a * s + g), load(w, ws, basis + a * s + h), x)
            store(w, ws, inner + g * s + h, x)
    sound = cholesky(w, inner, s, ws) and sound
    if status == OK and not sound:
        status = failure(SINGULAR, coupled(tree, 0, COUPLED_BODY))
    return status


@routine
def couple_accelerations(w, lanes, tree, p, x, stride, ws):
    """From free accelerations to coupled ones, in place; rows over the full tree."""
    s = source_count(tree)
    k = s + mimic_count(tree)
    nv = full_tree(tree)[NV]
    answers, factor, basis, inner, z, u = _places(tree)
    for a in range(k):
        store(w, ws, z + a, load_rows(w, x, 0, stride, coupled(tree, a, COUPLED_DOF)))
    solve_lower(w, factor, k, z, 1, ws)
    for g in range(s):
        total = splat(w, 0.0)
        for a in range(k):
            total = fma(load(w, ws, basis + a * s + g), load(w, ws, z + a), total)
        store(w, ws, u + g, total)
    solve_lower(w, inner, s, u, 1, ws)
    solve_upper(w, inner, s, u, ws)
    for a in range(k):
        left = -load(w, ws, z + a)
        for g in range(s):
            left = fma(load(w, ws, basis + a * s + g), load(w, ws, u + g), left)
        store(w, ws, z + a, left)
    solve_upper(w, factor, k, z, ws)
    for a in range(k):
        row, force = shift_pointer(ws, lanes * (answers + a * nv)), load(w, ws, z + a)
        for i in range(nv):
            moved = fma(force, load_rows(w, row, 0, nv, i), load_rows(w, x, 0, stride, i))
            store_rows(w, x, 0, stride, i, moved)
    sound = True
    for a in range(k):  # exactly, whatever rounding has done
        value = multiplier(w, tree, p, a) * load(w, ws, u + coupled(tree, a, FOLLOWS))
        store_rows(w, x, 0, stride, coupled(tree, a, COUPLED_DOF), value)
        sound = sound and all_lanes(absolute(value) < _INFINITY)
    return OK if sound else failure(NOT_FINITE, coupled(tree, 0, COUPLED_BODY))


@helper
def coupling_logdet(w, tree, ws):
    """log det Λ + log det G_CᵀΛ⁻¹G_C, from the factors."""
    s = source_count(tree)
    k = s + mimic_count(tree)
    _, factor, _, inner, _, _ = _places(tree)
    total = splat(w, 0.0)
    for a in range(k):
        total = total - 2.0 * logarithm(load(w, ws, factor + a * k + a))
    for g in range(s):
        total = total - 2.0 * logarithm(load(w, ws, inner + g * s + g))
    return total
