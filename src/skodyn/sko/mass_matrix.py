"""The mass matrix, block by block from composite inertias (Jain 2011-II, Algorithm 4.2).

𝓜 = HRH* + H𝔸̃RH* + HR𝔸̃*H* (eq. 17). Print has φ(l, j) where the general weight 𝔸(l, j) is meant.
"""

from __future__ import annotations

import numpy as np

from skodyn.jit import FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import Floats
from skodyn.sko.forward_lyapunov import composite_inertias, scratch_size
from skodyn.sko.model import SKOModel
from skodyn.sko.small import add_product, add_product_transposed, clear

__all__ = ["mass_matrix"]


def mass_matrix(model: SKOModel) -> Floats:
    """𝓜 (nv × nv), both triangles; only blocks of related nodes are computed."""
    R = composite_inertias(model)
    mass = np.zeros((model.nv, model.nv))
    mass_matrix_sweep.ready(
        model.tree.parent, model.node_starts, model.dof_starts, model.weights.data,
        model.weights.starts, model.H.data, model.H.starts, R.data, R.starts,
        np.empty(3 * scratch_size(model.weights, model.weights)), mass.reshape(-1),
    )  # fmt: skip
    return mass


_MASS = (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, INTS, RESULT, RESULT)


@kernel(*_MASS)
def mass_matrix_sweep(parent, node, dof, weights, edge, h, h_start, r, r_start, scratch, mass):
    """X(k) = R(k)·H*(k), then inward X(l) = 𝔸(l, j)·X(j) and 𝓜(l, k) = H(l)·X(l)."""
    nv, third = dof[parent.size], scratch.size // 3
    for k in range(parent.size):
        m, n = node[k + 1] - node[k], dof[k + 1] - dof[k]
        if n == 0:
            continue
        at, other, piece = 0, third, 2 * third
        clear(scratch, at, m * n)
        add_product_transposed(r, r_start[k], h, h_start[k], m, m, n, scratch, at)
        j = k
        while j >= 0:
            rows, size = dof[j + 1] - dof[j], node[j + 1] - node[j]
            clear(scratch, piece, rows * n)
            add_product(h, h_start[j], scratch, at, rows, size, n, scratch, piece)
            for s in range(rows):
                for t in range(s + 1 if j == k else n):
                    value = scratch[piece + s * n + t]
                    mass[(dof[j] + s) * nv + dof[k] + t] = value
                    mass[(dof[k] + t) * nv + dof[j] + s] = value
            p = parent[j]
            if p >= 0:
                inner = node[p + 1] - node[p]
                clear(scratch, other, inner * n)
                add_product(weights, edge[j], scratch, at, inner, size, n, scratch, other)
                at, other = other, at
            j = p
