"""The Riccati equation of an SKO model and what follows from it (Jain 2011-II, Lemmas 7 and 8).

One tips-to-base gather (eq. 33) gives articulated inertias P and with D = L·L*, W = L⁻¹HP

    D = HPH*    G = PH*D⁻¹ = (L⁻*W)*    τ = GH    τ̄ = I − τ    P⁺ = τ̄P = P − W*W

and the edges' ψ(℘(k), k) = 𝔸(℘(k), k)·τ̄(k) (eq. 35) and K(℘(k), k) = 𝔸(℘(k), k)·G(k).

Two misprints. Eq. 37 has K = ℰ_ψG; that is zero, because τ̄G = G − GHG = 0. The proofs of eqs. 43
and 52 use K = ℰ_𝔸G, which is what stands here. The last form of eq. 36, M = P − ℰ_𝔸Pℰ_𝔸*, drops
the τ̄: one of the two operators must be ℰ_ψ, as in M = P − ℰ_𝔸Pℰ_ψ*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import DynamicsError
from skodyn.jit import FLOATS, INTS, RESULT, helper, kernel
from skodyn.sko.blocks import Blocks, Floats, stacked_columns
from skodyn.sko.model import SKOModel
from skodyn.sko.small import (
    add_congruence,
    add_product,
    add_product_transposed,
    clear,
    copy,
    factor_cholesky,
    solve_lower,
    solve_upper,
    subtract_product,
    subtract_square,
)
from skodyn.sko.solve import solve_blocks

__all__ = ["Riccati", "riccati"]

SINGULAR_PIVOT = 1e-14
"""A pivot of D below this part of the terms it is summed from is rounding and no inertia; the same
bound as in the kernels for rigid bodies."""


@dataclass(frozen=True, eq=False, repr=False)
class Riccati:
    """The solution of the Riccati equation; one block per node, or per edge to the parent."""

    P: Blocks  # articulated inertias, m_k × m_k
    D: Blocks  # n_k × n_k
    D_factor: Blocks  # L, lower triangular, with D = L·L*
    G: Blocks  # gains, m_k × n_k
    tau: Blocks
    tau_bar: Blocks
    P_plus: Blocks
    psi: Blocks  # weights of ψ: edges, m_℘(k) × m_k
    K: Blocks  # edges, m_℘(k) × n_k

    def solve_D(self, x: ArrayLike) -> Floats:
        """D⁻¹x for a stacked vector of degrees of freedom, or columns of them."""
        columns, shape = stacked_columns(x, int(self.D.row_starts[-1]), "x")
        return solve_blocks(self.D_factor, columns).reshape(shape)

    def __repr__(self) -> str:
        return f"<Riccati: {len(self.P)} nodes>"


def riccati(model: SKOModel) -> Riccati:
    """P, D, G, τ, τ̄, P⁺, ψ and K of every node; O(N). A DynamicsError names a node without D⁻¹."""
    m, n, inner = model.sizes, model.dofs, model.weights.rows
    P = Blocks(model.M.data.copy(), m, m)
    D, factor, G = Blocks.zeros(n, n), Blocks.zeros(n, n), Blocks.zeros(m, n)
    tau, tau_bar, P_plus = (Blocks.zeros(m, m) for _ in range(3))
    psi, K = Blocks.zeros(inner, m), Blocks.zeros(inner, n)
    largest = int(m.max(initial=0))
    failed = riccati_sweep.ready(
        model.tree.parent, model.node_starts, model.dof_starts,
        model.weights.data, model.weights.starts, model.H.data, model.H.starts,
        P.data, P.starts, D.data, factor.data, D.starts, G.data,
        tau.data, tau_bar.data, P_plus.data, psi.data, K.data, K.starts,
        np.zeros(largest), np.zeros(max(largest**2, 1)),
    )  # fmt: skip
    if failed >= 0:
        raise DynamicsError(_explain(model, int(failed), D))
    for blocks in (P, D, factor, G, tau, tau_bar, P_plus, psi, K):
        blocks.freeze()
    return Riccati(P, D, factor, G, tau, tau_bar, P_plus, psi, K)


def _explain(model: SKOModel, k: int, D: Blocks) -> str:
    name = model.names[k]
    if not np.isfinite(D[k]).all():
        return (
            f"Node {name!r}: D is not finite, although every input is; the numbers are too large "
            "for double precision, so check units."
        )
    return (
        f"Node {name!r} moves against no inertia: D = HPH* is not positive definite there; give "
        "it or the nodes outboard of it inertia, or remove the freedom."
    )


_RICCATI = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, RESULT, INTS, RESULT, RESULT, INTS,
            RESULT, RESULT, RESULT, RESULT, RESULT, RESULT, INTS, RESULT, RESULT)  # fmt: skip


@helper
def least_pivots(h, h0, p, p0, n, m, least):
    """SINGULAR_PIVOT times the size Σ|h·P·h| of the terms that each diagonal entry of D sums."""
    for r in range(n):
        total = 0.0
        for i in range(m):
            for j in range(m):
                total += abs(h[h0 + r * m + i] * p[p0 + i * m + j] * h[h0 + r * m + j])
        least[r] = SINGULAR_PIVOT * total


@kernel(*_RICCATI)
def riccati_sweep(
    parent, node, dof, weights, edge, h, h_start, p, square, d, factor, d_start, g,
    tau, tau_bar, p_plus, psi, gain, gain_start, least, scratch,
):  # fmt: skip
    """Eq. 33. P comes in as M; the node at fault is returned, −1 if none is."""
    for back in range(parent.size):
        k = parent.size - 1 - back
        m, n = node[k + 1] - node[k], dof[k + 1] - dof[k]
        at, hk, dk = square[k], h_start[k], d_start[k]
        copy(p, at, m * m, p_plus, at)
        for i in range(m):
            tau_bar[at + i * m + i] = 1.0
        if n > 0:
            clear(scratch, 0, n * m)
            add_product(h, hk, p, at, n, m, m, scratch, 0)  # HP
            add_product_transposed(scratch, 0, h, hk, n, m, n, d, dk)
            least_pivots(h, hk, p, at, n, m, least)
            if not factor_cholesky(d, dk, n, least, factor, dk):
                return k
            solve_lower(factor, dk, n, m, scratch, 0)  # W
            subtract_square(scratch, 0, n, m, p_plus, at)
            solve_upper(factor, dk, n, m, scratch, 0)  # G*
            gk = h_start[k]  # G has as many numbers as H
            for i in range(m):
                for j in range(n):
                    g[gk + i * n + j] = scratch[j * m + i]
            add_product(g, gk, h, hk, m, n, m, tau, at)
            subtract_product(g, gk, h, hk, m, n, m, tau_bar, at)
        q = parent[k]
        if q >= 0:
            rows = node[q + 1] - node[q]
            add_congruence(weights, edge[k], p_plus, at, rows, m, scratch, p, square[q])
            add_product(weights, edge[k], tau_bar, at, rows, m, m, psi, edge[k])
            add_product(weights, edge[k], g, h_start[k], rows, m, n, gain, gain_start[k])
    return -1
