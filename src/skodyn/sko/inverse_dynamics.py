"""Newton–Euler inverse dynamics: 𝒯 from θ̈ by one scatter and one gather (Jain 2011-II, eq. 1).

Algorithm 3.1 also scatters velocities. For an SKO model they are needed only to find a and b, which
the model holds already; `velocities` gives them for their own sake.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.jit import FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import Floats, stacked_vector
from skodyn.sko.model import SKOModel
from skodyn.sko.small import add_product, add_transposed_product, copy
from skodyn.sko.sweeps import scatter

__all__ = ["inverse_dynamics", "velocities"]


def velocities(model: SKOModel, v: ArrayLike) -> Floats:
    """V = 𝔸*H*θ̇ of all nodes, stacked; O(N)."""
    return scatter(model.tree, model.weights, model.H.apply(v, transpose=True))


def inverse_dynamics(model: SKOModel, vdot: ArrayLike) -> Floats:
    """𝒯 = H𝔸(Mα + b) with α = 𝔸*(H*θ̈ + a): the forces that produce θ̈; O(N)."""
    given = stacked_vector(vdot, model.nv, "vdot")
    alpha, f, tau = np.empty(model.size), np.empty(model.size), np.zeros(model.nv)
    inverse_dynamics_sweep.ready(
        model.tree.parent, model.node_starts, model.dof_starts,
        model.weights.data, model.weights.starts, model.H.data, model.H.starts,
        model.M.data, model.M.starts, model.a, model.b, given, alpha, f, tau,
    )  # fmt: skip
    return tau


_INVERSE = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, FLOATS,
            FLOATS, RESULT, RESULT, RESULT)  # fmt: skip


@kernel(*_INVERSE)
def inverse_dynamics_sweep(
    parent, node, dof, weights, edge, h, h_start, inertia, square, a, b, vdot, alpha, f, tau
):
    """Algorithm 3.1; tau comes in as zeros."""
    for k in range(parent.size):
        i, m, n = node[k], node[k + 1] - node[k], dof[k + 1] - dof[k]
        copy(a, i, m, alpha, i)
        add_transposed_product(h, h_start[k], vdot, dof[k], m, n, 1, alpha, i)
        p = parent[k]
        if p >= 0:
            rows = node[p + 1] - node[p]
            add_transposed_product(weights, edge[k], alpha, node[p], m, rows, 1, alpha, i)
        copy(b, i, m, f, i)
        add_product(inertia, square[k], alpha, i, m, m, 1, f, i)
    for back in range(parent.size):
        k = parent.size - 1 - back
        i, m, n = node[k], node[k + 1] - node[k], dof[k + 1] - dof[k]
        add_product(h, h_start[k], f, i, n, m, 1, tau, dof[k])
        p = parent[k]
        if p >= 0:
            rows = node[p + 1] - node[p]
            add_product(weights, edge[k], f, i, rows, m, 1, f, node[p])
