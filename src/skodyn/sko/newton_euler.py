"""Newton–Euler inverse dynamics: 𝒯 from θ̈ by one scatter and one gather (Jain 2011-II, eq. 1).

Algorithm 3.1 also scatters velocities. For an SKO model they are needed only to find a and b, which
the model holds already; `velocities` gives them for their own sake.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.jit import FLOATS, RESULT, kernel
from skodyn.sko.blocks import Floats, stacked_vector
from skodyn.sko.model import MODEL, H_of, M_of, SKOModel, check_model, weight_of
from skodyn.sko.small import add_product, add_transposed_product, copy, part_of
from skodyn.sko.sweeps import scatter

__all__ = ["inverse_dynamics", "velocities"]


def velocities(model: SKOModel, v: ArrayLike) -> Floats:
    """Velocities of all nodes, stacked: V = 𝔸*H*θ̇, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    v : array_like, shape (nv,)
        Generalised velocities.

    Returns
    -------
    V : ndarray, shape (N,)

    Examples
    --------
    >>> gears = sk.sko_model(sk.examples.pendulum(3), [0.3, 0.2, 0.1])
    >>> sk.sko.velocities(gears, [1.0, 0.0, 0.0]).shape
    (18,)
    """
    check_model(model)
    return scatter(model.tree, model.weights, model.H.apply(v, transpose=True))


def inverse_dynamics(model: SKOModel, vdot: ArrayLike) -> Floats:
    """Forces that produce given accelerations: the Newton–Euler recursion, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    vdot : array_like, shape (nv,)
        Generalised accelerations.

    Returns
    -------
    tau : ndarray, shape (nv,)
        𝒯 = H𝔸(Mα + b) with α = 𝔸*(H*θ̈ + a).

    Examples
    --------
    >>> gears = sk.sko_model(sk.examples.pendulum(3), [0.3, 0.2, 0.1])
    >>> sk.sko.inverse_dynamics(gears, np.zeros(3)).shape
    (3,)
    """
    check_model(model)
    given = stacked_vector(vdot, model.nv, "vdot")
    alpha, f, tau = np.empty(model.size), np.empty(model.size), np.zeros(model.nv)
    inverse_dynamics_sweep.ready(model.arrays, given, alpha, f, tau)
    return tau


@kernel(MODEL, FLOATS, RESULT, RESULT, RESULT)
def inverse_dynamics_sweep(model, vdot, alpha, f, tau):
    """Algorithm 3.1; tau comes in as zeros."""
    parent, node, dof = model.parent, model.node_starts, model.dof_starts
    a, b = model.a, model.b
    for k in range(parent.size):
        alpha_k, f_k = part_of(alpha, node, k, 1), part_of(f, node, k, 1)
        copy(part_of(a, node, k, 1), alpha_k)
        add_transposed_product(H_of(model, k), part_of(vdot, dof, k, 1), alpha_k)
        p = parent[k]
        if p >= 0:
            add_transposed_product(weight_of(model, p, k), part_of(alpha, node, p, 1), alpha_k)
        copy(part_of(b, node, k, 1), f_k)
        add_product(M_of(model, k), alpha_k, f_k)
    for back in range(parent.size):
        k = parent.size - 1 - back
        f_k = part_of(f, node, k, 1)
        add_product(H_of(model, k), f_k, part_of(tau, dof, k, 1))
        p = parent[k]
        if p >= 0:
            add_product(weight_of(model, p, k), f_k, part_of(f, node, p, 1))
