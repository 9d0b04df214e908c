"""The mass matrix, block by block from composite inertias (Jain 2011-II, Algorithm 4.2).

𝓜 = HRH* + H𝔸̃RH* + HR𝔸̃*H* (eq. 17). Print has φ(l, j) where the general weight 𝔸(l, j) is meant.
"""

from __future__ import annotations

import numpy as np

from skodyn.jit import RESULT, kernel
from skodyn.sko.blocks import BLOCKS, Floats, block_of
from skodyn.sko.lyapunov_forward import composite_inertias, scratch_size
from skodyn.sko.model import MODEL, H_of, SKOModel, weight_of
from skodyn.sko.small import add_product, add_product_transposed, clear, small

__all__ = ["mass_matrix"]


def mass_matrix(model: SKOModel) -> Floats:
    """The mass matrix from composite inertias.

    Parameters
    ----------
    model : SKOModel
        The system in one state.

    Returns
    -------
    mass : ndarray, shape (nv, nv)
        Both triangles; only blocks of related nodes are computed.

    Examples
    --------
    >>> gears = sk.sko_model(sk.examples.pendulum(3), [0.3, 0.2, 0.1])
    >>> sk.sko.mass_matrix(gears).shape
    (3, 3)
    """
    R = composite_inertias(model)
    mass = np.zeros((model.nv, model.nv))
    mass_matrix_sweep.ready(
        model.arrays,
        R.arrays,
        np.empty(3 * scratch_size(model.weights, model.weights)),
        mass.reshape(-1),
    )
    return mass


@kernel(MODEL, BLOCKS, RESULT, RESULT)
def mass_matrix_sweep(model, R, scratch, mass):
    """X(k) = R(k)·H*(k), then inward X(l) = 𝔸(l, j)·X(j) and 𝓜(l, k) = H(l)·X(l)."""
    parent, dof = model.parent, model.dof_starts
    nv, third = dof[parent.size], scratch.size // 3
    for k in range(parent.size):
        H = H_of(model, k)
        n = H.rows
        if n == 0:
            continue
        other, piece = third, 2 * third
        X = small(scratch, 0, H.cols, n)
        clear(X)
        add_product_transposed(block_of(R, k), H, X)
        j = k
        while j >= 0:
            H = H_of(model, j)
            HX = small(scratch, piece, H.rows, n)
            clear(HX)
            add_product(H, X, HX)
            for s in range(H.rows):
                for t in range(s + 1 if j == k else n):
                    value = scratch[piece + s * n + t]
                    mass[(dof[j] + s) * nv + dof[k] + t] = value
                    mass[(dof[k] + t) * nv + dof[j] + s] = value
            p = parent[j]
            if p >= 0:
                weight = weight_of(model, p, j)
                inner = small(scratch, other, weight.rows, n)
                clear(inner)
                add_product(weight, X, inner)
                X, other = inner, X.at
            j = p
