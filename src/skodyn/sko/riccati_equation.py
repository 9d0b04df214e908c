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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import DynamicsError, StateError
from skodyn.jit import INTS, RESULT, Group, helper, kernel
from skodyn.sko.blocks import Blocks, Floats, stacked_columns
from skodyn.sko.model import MODEL, H_of, SKOModel, check_model, weight_of
from skodyn.sko.small import (
    add_congruence,
    add_product,
    add_product_transposed,
    clear,
    copy,
    factor_cholesky,
    small,
    solve_lower,
    solve_upper,
    subtract_product,
    subtract_square,
)
from skodyn.sko.solve import solve_blocks

__all__ = ["Riccati", "riccati", "solution_of"]

SINGULAR_PIVOT = 1e-14
"""A pivot of D below this part of the terms it is summed from is rounding and no inertia; the same
bound as in the kernels for rigid bodies."""


@dataclass(frozen=True, eq=False, repr=False)
class Riccati:
    """The solution of the Riccati equation; one block per node, or per edge to the parent."""

    model: SKOModel  # whose it is
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
    """The solution of the Riccati equation: P, D, G, τ, τ̄, P⁺, ψ and K of every node, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.

    Returns
    -------
    solution : Riccati
        Articulated inertias and what follows from them; a DynamicsError names a node without D⁻¹.

    Examples
    --------
    >>> gears = sk.sko_model(sk.examples.pendulum(3), [0.3, 0.2, 0.1])
    >>> len(sk.sko.riccati(gears).P)
    3
    """
    check_model(model)
    m, n, inner = model.sizes, model.dofs, model.weights.rows
    P = Blocks(model.M.data.copy(), m, m)
    D, factor, G = Blocks.zeros(n, n), Blocks.zeros(n, n), Blocks.zeros(m, n)
    tau, tau_bar, P_plus = (Blocks.zeros(m, m) for _ in range(3))
    psi, K = Blocks.zeros(inner, m), Blocks.zeros(inner, n)
    largest = int(m.max(initial=0))
    failed = riccati_sweep.ready(
        model.arrays,
        RiccatiArrays(
            P.data, D.data, factor.data, D.starts, G.data, tau.data, tau_bar.data, P_plus.data,
            psi.data, K.data, K.starts,
        ),
        np.zeros(largest),
        np.zeros(max(largest**2, 1)),
    )  # fmt: skip
    if failed >= 0:
        raise DynamicsError(_explain(model, int(failed), D))
    for blocks in (P, D, factor, G, tau, tau_bar, P_plus, psi, K):
        blocks.freeze()
    return Riccati(model, P, D, factor, G, tau, tau_bar, P_plus, psi, K)


def solution_of(model: SKOModel, solution: Riccati | None) -> Riccati:
    """The solution that was given, or a new one; a StateError if it is another model's.

    Models that differ in a and b alone have one solution.
    """
    if solution is None:
        return riccati(model)
    check_model(model)
    if not isinstance(solution, Riccati):
        raise StateError(
            f"solution is {type(solution).__name__}", "give riccati(model), or nothing."
        )
    if solution.model is not model:
        where = _first_difference(model, solution.model)
        if where:
            raise StateError(
                f"The solution is that of another model, {solution.model!r}: {where}",
                "give riccati(model), or nothing.",
            )
    return solution


def _first_difference(model: SKOModel, other: SKOModel) -> str:
    """Where two models have not the same Riccati equation; nothing if they have."""
    if model.names != other.names or not np.array_equal(model.tree.parent, other.tree.parent):
        return "it has another tree"
    pairs = {"A": (model.weights, other.weights), "H": (model.H, other.H), "M": (model.M, other.M)}
    for what, (mine, theirs) in pairs.items():
        for k, name in enumerate(model.names):
            if not np.array_equal(mine[k], theirs[k]):
                return f"its {what} of node {name!r} differs"
    return ""


def _explain(model: SKOModel, k: int, D: Blocks) -> str:
    name = model.names[k]
    if not np.isfinite(D[k]).all():
        return (
            f"Node {name!r}: D is not finite, although every input is; the numbers are too large "
            "for double precision, so check units."
        )
    return (
        f"Node {name!r} has no inertia in one of its freedoms: D = HPH* is not positive definite "
        "there; give it or the nodes outboard of it inertia, or remove the freedom."
    )


class RiccatiArrays(NamedTuple):
    """A `Riccati` solution as the sweep writes it.

    P, τ, τ̄ and P⁺ lie as M does, G as H, ψ as the weights.
    """

    P: Any
    D: Any
    D_factor: Any
    D_starts: Any  # of D_factor as well
    G: Any
    tau: Any
    tau_bar: Any
    P_plus: Any
    psi: Any
    K: Any
    K_starts: Any


RICCATI = Group(
    RiccatiArrays,
    (RESULT, RESULT, RESULT, INTS, RESULT, RESULT, RESULT, RESULT, RESULT, RESULT, INTS),
)


@helper
def least_pivots(H, P, least):
    """SINGULAR_PIVOT times the size Σ|h·P·h| of the terms that each diagonal entry of D sums."""
    h, h0, n, m = H
    p, p0 = P.data, P.at
    for r in range(n):
        total = 0.0
        for i in range(m):
            for j in range(m):
                total += abs(h[h0 + r * m + i] * p[p0 + i * m + j] * h[h0 + r * m + j])
        least[r] = SINGULAR_PIVOT * total


@kernel(MODEL, RICCATI, RESULT, RESULT)
def riccati_sweep(model, solution, least, scratch):
    """Eq. 33. P comes in as M; the node at fault is returned, −1 if none is."""
    parent = model.parent
    for back in range(parent.size):
        k = parent.size - 1 - back
        H = H_of(model, k)
        n, m = H.rows, H.cols
        square = model.M_starts[k]
        P, P_plus = small(solution.P, square, m, m), small(solution.P_plus, square, m, m)
        tau_bar = small(solution.tau_bar, square, m, m)
        G = small(solution.G, model.H_starts[k], m, n)
        copy(P, P_plus)
        for i in range(m):
            tau_bar.data[square + i * m + i] = 1.0
        if n > 0:
            D = small(solution.D, solution.D_starts[k], n, n)
            factor = small(solution.D_factor, solution.D_starts[k], n, n)
            W = small(scratch, 0, n, m)
            clear(W)
            add_product(H, P, W)  # HP so far
            add_product_transposed(W, H, D)
            least_pivots(H, P, least)
            if not factor_cholesky(D, least, factor):
                return k
            solve_lower(factor, W)  # W = L⁻¹HP
            subtract_square(W, P_plus)
            solve_upper(factor, W)  # G* from here on
            for i in range(m):
                for j in range(n):
                    G.data[G.at + i * n + j] = scratch[j * m + i]
            add_product(G, H, small(solution.tau, square, m, m))
            subtract_product(G, H, tau_bar)
        q = parent[k]
        if q >= 0:
            weight = weight_of(model, q, k)
            rows, edge = weight.rows, weight.at
            P_q = small(solution.P, model.M_starts[q], rows, rows)
            add_congruence(weight, P_plus, scratch, P_q)
            add_product(weight, tau_bar, small(solution.psi, edge, rows, m))
            add_product(weight, G, small(solution.K, solution.K_starts[k], rows, n))
    return -1
