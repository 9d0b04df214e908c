"""The extended operational space compliance Ω = ψ*H*D⁻¹Hψ (Jain 2011-II, section 6.2, eq. 60).

For pick-offs of whole nodes, with 𝒥 = 𝔅*𝔸*H*, 𝒥𝓜⁻¹𝒥* = 𝔅*Ω𝔅. H*D⁻¹H is block-diagonal, so Lemma 5
gives the diagonal Υ of Ω by a scatter and any other block by Algorithm 4.3; 𝓜 is not formed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from skodyn.jit import FLOATS, INTS, RESULT, kernel
from skodyn.sko.backward_lyapunov import backward_lyapunov, walk_to_element
from skodyn.sko.blocks import Blocks, Floats, offsets
from skodyn.sko.model import SKOModel
from skodyn.sko.riccati import Riccati, riccati
from skodyn.sko.small import copy, solve_lower

__all__ = ["compliance", "joint_compliances", "node_compliances"]


def joint_compliances(model: SKOModel, solution: Riccati) -> Blocks:
    """H*(k)·D⁻¹(k)·H(k) of every node; O(N)."""
    X = Blocks.zeros(model.sizes, model.sizes)
    joint_compliance_sweep.ready(
        model.node_starts, model.dof_starts, model.H.data, model.H.starts,
        solution.D_factor.data, solution.D_factor.starts,
        np.empty(max(1, int((model.sizes * model.dofs).max(initial=0)))), X.data, X.starts,
    )  # fmt: skip
    return X.freeze()


def node_compliances(model: SKOModel, solution: Riccati | None = None) -> Blocks:
    """Υ(k) = Ω(k, k) of every node (eq. 24 with ψ for both operators); O(N)."""
    solution = riccati(model) if solution is None else solution
    return backward_lyapunov(model.tree, solution.psi, joint_compliances(model, solution))


def compliance(
    model: SKOModel, nodes: Iterable[Hashable], solution: Riccati | None = None
) -> Floats:
    """Ω(i, j) for all pairs of these nodes, as one symmetric matrix in their order."""
    chosen = model.tree.indices(nodes).tolist()
    solution = riccati(model) if solution is None else solution
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


_COMPLIANCE = (INTS, INTS, FLOATS, INTS, FLOATS, INTS, RESULT, RESULT, INTS)


@kernel(*_COMPLIANCE)
def joint_compliance_sweep(node, dof, h, h_start, factor, d_start, scratch, x, square):
    """X(k) = W*·W with W = L⁻¹(k)·H(k); symmetric to the last bit."""
    for k in range(node.size - 1):
        m, n = node[k + 1] - node[k], dof[k + 1] - dof[k]
        copy(h, h_start[k], n * m, scratch, 0)
        solve_lower(factor, d_start[k], n, m, scratch, 0)
        for r in range(m):
            for t in range(r + 1):
                total = 0.0
                for s in range(n):
                    total += scratch[s * m + r] * scratch[s * m + t]
                x[square[k] + r * m + t] = total
                x[square[k] + t * m + r] = total
