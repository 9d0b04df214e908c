"""O(N) forward dynamics: θ̈ from 𝒯 by one gather and one scatter (Jain 2011-II, Algorithm 6.1).

The sweeps evaluate eq. 54, θ̈ = [I − HψK]*·D⁻¹·[𝒯 − Hψ(K𝒯 + Pa + b)] − K*ψ*a, in the form of eqs. 58
(where print has ℰ_φ for the general ℰ_𝔸).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.jit import RESULT, kernel
from skodyn.sko.blocks import BLOCKS, Floats, block_of, stacked_vector
from skodyn.sko.model import MODEL, H_of, SKOModel, weight_of
from skodyn.sko.riccati_equation import Riccati, solution_of
from skodyn.sko.small import (
    add_product,
    add_transposed_product,
    copy,
    part_of,
    solve_lower,
    solve_upper,
    subtract_product,
    subtract_transposed_product,
)

__all__ = ["forward_dynamics"]


def forward_dynamics(model: SKOModel, tau: ArrayLike, solution: Riccati | None = None) -> Floats:
    """Accelerations under generalised forces: the articulated body recursion, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    tau : array_like, shape (nv,)
        Generalised forces.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    vdot : ndarray, shape (nv,)

    Examples
    --------
    >>> gears = sk.sko_model(sk.examples.pendulum(3), [0.3, 0.2, 0.1])
    >>> vdot = sk.sko.forward_dynamics(gears, [1.0, 0.0, 0.0])
    >>> np.allclose(sk.sko.inverse_dynamics(gears, vdot), [1.0, 0.0, 0.0])
    True
    """
    solution = solution_of(model, solution)
    given = stacked_vector(tau, model.nv, "tau")
    vdot, residual = given.copy(), np.empty(model.nv)
    forward_dynamics_sweep.ready(
        model.arrays,
        solution.P.arrays,
        solution.D_factor.arrays,
        solution.G.arrays,
        model.b.copy(),
        residual,
        np.zeros(model.size),
        vdot,
    )
    return vdot


@kernel(MODEL, BLOCKS, BLOCKS, BLOCKS, RESULT, RESULT, RESULT, RESULT)
def forward_dynamics_sweep(model, P, D_factor, G, z, residual, alpha, vdot):
    """Algorithm 6.1; z comes in as b, alpha as zeros, vdot as 𝒯 and is ε, then ν on the way."""
    parent, node, dof, a = model.parent, model.node_starts, model.dof_starts, model.a
    for back in range(parent.size):
        k = parent.size - 1 - back
        z_k, vdot_k = part_of(z, node, k, 1), part_of(vdot, dof, k, 1)
        residual_k, factor = part_of(residual, dof, k, 1), block_of(D_factor, k)
        add_product(block_of(P, k), part_of(a, node, k, 1), z_k)
        subtract_product(H_of(model, k), z_k, vdot_k)  # ε = 𝒯 − H𝔷
        copy(vdot_k, residual_k)
        solve_lower(factor, vdot_k)
        solve_upper(factor, vdot_k)  # ν = D⁻¹ε
        p = parent[k]
        if p >= 0:
            add_product(block_of(G, k), residual_k, z_k)  # 𝔷⁺ = 𝔷 + Gε
            add_product(weight_of(model, p, k), z_k, part_of(z, node, p, 1))
    for k in range(parent.size):
        alpha_k, vdot_k = part_of(alpha, node, k, 1), part_of(vdot, dof, k, 1)
        p = parent[k]
        if p >= 0:  # α⁺ = 𝔸*(℘(k), k)·α(℘(k))
            add_transposed_product(weight_of(model, p, k), part_of(alpha, node, p, 1), alpha_k)
        subtract_transposed_product(block_of(G, k), alpha_k, vdot_k)  # θ̈ = ν − G*α⁺
        add_transposed_product(H_of(model, k), vdot_k, alpha_k)
        for i in range(node[k], node[k + 1]):
            alpha[i] += a[i]  # α = α⁺ + H*θ̈ + a
