"""The extended operational space compliance Ω = ψ*H*D⁻¹Hψ (Jain 2011-II, section 6.2, eq. 60).

For pick-offs of whole nodes, with 𝒥 = 𝔅*𝔸*H*, 𝒥𝓜⁻¹𝒥* = 𝔅*Ω𝔅. H*D⁻¹H is block-diagonal, so Lemma 5
gives the diagonal Υ of Ω by a scatter and any other block by Algorithm 4.3; 𝓜 is not formed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from skodyn.jit import RESULT, kernel
from skodyn.sko.blocks import BLOCKS, BLOCKS_TO_WRITE, Blocks, Floats, block_of, offsets
from skodyn.sko.lyapunov_backward import backward_lyapunov, walk_to_element
from skodyn.sko.model import SKOModel
from skodyn.sko.riccati_equation import Riccati, solution_of
from skodyn.sko.small import copy, small, solve_lower

__all__ = ["compliance", "joint_compliances", "node_compliances"]


def joint_compliances(model: SKOModel, solution: Riccati) -> Blocks:
    """H*(k)·D⁻¹(k)·H(k) of every node, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    solution : Riccati
        What `riccati` returned for this model.

    Returns
    -------
    blocks : Blocks
    """
    solution = solution_of(model, solution)
    X = Blocks.zeros(model.sizes, model.sizes)
    joint_compliance_sweep.ready(
        model.H.arrays,
        solution.D_factor.arrays,
        np.empty(max(1, int((model.sizes * model.dofs).max(initial=0)))),
        X.arrays,
    )
    return X.freeze()


def node_compliances(model: SKOModel, solution: Riccati | None = None) -> Blocks:
    """Υ(k) = Ω(k, k) of every node, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    blocks : Blocks
    """
    solution = solution_of(model, solution)
    return backward_lyapunov(model.tree, solution.psi, joint_compliances(model, solution))


def compliance(
    model: SKOModel, nodes: Iterable[Hashable], solution: Riccati | None = None
) -> Floats:
    """Ω(i, j) for all pairs of some nodes, as one symmetric matrix in their order.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    nodes : iterable of hashable
        Names or numbers.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    compliance : ndarray, shape (m, m)
        m is the sum of the nodes' sizes.
    """
    solution = solution_of(model, solution)
    chosen = model.tree.indices(nodes).tolist()
    upsilon, psi = node_compliances(model, solution), solution.psi
    at = offsets([int(model.sizes[k]) for k in chosen])
    omega = np.empty((int(at[-1]), int(at[-1])))
    for r, i in enumerate(chosen):
        for s, j in enumerate(chosen[: r + 1]):
            block = walk_to_element(model.tree, psi, upsilon, i, j, psi)
            if r == s:
                block = (block + block.T) / 2
            omega[at[r] : at[r + 1], at[s] : at[s + 1]] = block
            omega[at[s] : at[s + 1], at[r] : at[r + 1]] = block.T
    return omega


@kernel(BLOCKS, BLOCKS, RESULT, BLOCKS_TO_WRITE)
def joint_compliance_sweep(H, D_factor, scratch, X):
    """X(k) = W*·W with W = L⁻¹(k)·H(k); symmetric to the last bit."""
    for k in range(H.rows.size):
        H_k, X_k = block_of(H, k), block_of(X, k)
        n, m = H_k.rows, H_k.cols
        W = small(scratch, 0, n, m)
        copy(H_k, W)
        solve_lower(block_of(D_factor, k), W)
        for r in range(m):
            for t in range(r + 1):
                total = 0.0
                for s in range(n):
                    total += scratch[s * m + r] * scratch[s * m + t]
                X_k.data[X_k.at + r * m + t] = total
                X_k.data[X_k.at + t * m + r] = total
