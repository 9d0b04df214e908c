"""O(N) forward dynamics: θ̈ from 𝒯 by one gather and one scatter (Jain 2011-II, Algorithm 6.1).

The sweeps evaluate eq. 54, θ̈ = [I − HψK]*·D⁻¹·[𝒯 − Hψ(K𝒯 + Pa + b)] − K*ψ*a, in the form of eqs. 58
(where print has ℰ_φ for the general ℰ_𝔸).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.jit import FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import Floats, stacked_vector
from skodyn.sko.model import SKOModel
from skodyn.sko.riccati import Riccati, riccati
from skodyn.sko.small import (
    add_product,
    add_transposed_product,
    solve_lower,
    solve_upper,
    subtract_product,
    subtract_transposed_product,
)

__all__ = ["forward_dynamics"]


def forward_dynamics(model: SKOModel, tau: ArrayLike, solution: Riccati | None = None) -> Floats:
    """θ̈ under the generalised forces tau; O(N). Give the Riccati solution if it is at hand."""
    given = stacked_vector(tau, model.nv, "tau")
    solution = riccati(model) if solution is None else solution
    vdot, residual = given.copy(), np.empty(model.nv)
    forward_dynamics_sweep.ready(
        model.tree.parent, model.node_starts, model.dof_starts,
        model.weights.data, model.weights.starts, model.H.data, model.H.starts, model.a,
        solution.P.data, solution.P.starts, solution.G.data,
        solution.D_factor.data, solution.D_factor.starts,
        model.b.copy(), residual, np.zeros(model.size), vdot,
    )  # fmt: skip
    return vdot


_FORWARD = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, FLOATS, INTS, FLOATS, FLOATS,
            INTS, RESULT, RESULT, RESULT, RESULT)  # fmt: skip


@kernel(*_FORWARD)
def forward_dynamics_sweep(
    parent, node, dof, weights, edge, h, h_start, a, p_inertia, square, g, factor, d_start,
    z, residual, alpha, vdot,
):  # fmt: skip
    """Algorithm 6.1; z comes in as b, alpha as zeros, vdot as 𝒯 and is ε, then ν on the way."""
    for back in range(parent.size):
        k = parent.size - 1 - back
        i, m, d, n = node[k], node[k + 1] - node[k], dof[k], dof[k + 1] - dof[k]
        add_product(p_inertia, square[k], a, i, m, m, 1, z, i)
        subtract_product(h, h_start[k], z, i, n, m, 1, vdot, d)  # ε = 𝒯 − H𝔷
        for j in range(n):
            residual[d + j] = vdot[d + j]
        solve_lower(factor, d_start[k], n, 1, vdot, d)
        solve_upper(factor, d_start[k], n, 1, vdot, d)  # ν = D⁻¹ε
        p = parent[k]
        if p >= 0:
            add_product(g, h_start[k], residual, d, m, n, 1, z, i)  # 𝔷⁺ = 𝔷 + Gε
            rows = node[p + 1] - node[p]
            add_product(weights, edge[k], z, i, rows, m, 1, z, node[p])
    for k in range(parent.size):
        i, m, d, n = node[k], node[k + 1] - node[k], dof[k], dof[k + 1] - dof[k]
        p = parent[k]
        if p >= 0:  # α⁺ = 𝔸*(℘(k), k)·α(℘(k))
            rows = node[p + 1] - node[p]
            add_transposed_product(weights, edge[k], alpha, node[p], m, rows, 1, alpha, i)
        subtract_transposed_product(g, h_start[k], alpha, i, n, m, 1, vdot, d)  # θ̈ = ν − G*α⁺
        add_transposed_product(h, h_start[k], vdot, d, m, n, 1, alpha, i)
        for j in range(m):
            alpha[i + j] += a[i + j]  # α = α⁺ + H*θ̈ + a
