"""Hybrid dynamics of any SKO model: θ̈ of some nodes given and 𝒯 of the others, all found in O(N).

A node whose θ̈ is given has no freedom left: its H has no rows, and H*θ̈ joins its a. Algorithm 6.1
of Jain 2011-II on what is left gives θ̈ of the others, Algorithm 3.1 on the whole 𝒯 of the given.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from skodyn.sko.articulated_body import forward_dynamics
from skodyn.sko.blocks import Blocks, Floats, stacked_vector
from skodyn.sko.model import SKOModel, check_model
from skodyn.sko.newton_euler import inverse_dynamics

__all__ = ["hybrid_dynamics"]


def hybrid_dynamics(
    model: SKOModel, tau: ArrayLike, vdot: ArrayLike, nodes: Iterable[Hashable]
) -> tuple[Floats, Floats]:
    """Accelerations of some nodes' joints and forces of the others, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    tau : array_like, shape (nv,)
        Generalised forces; those of the named nodes are not read.
    vdot : array_like, shape (nv,)
        Generalised accelerations; only those of the named nodes are read.
    nodes : iterable of hashable
        Names or numbers of the nodes whose accelerations are given.

    Returns
    -------
    vdot : ndarray, shape (nv,)
    tau : ndarray, shape (nv,)
        Of all joints.
    """
    check_model(model)
    forces = stacked_vector(tau, model.nv, "tau")
    rates = stacked_vector(vdot, model.nv, "vdot")
    chosen = {model.tree.index_of(name) for name in nodes}
    known = np.zeros(model.nv, dtype=np.bool_)
    for k in chosen:
        known[model.dof_starts[k] : model.dof_starts[k + 1]] = True
    moved = model.a + model.H.apply(np.where(known, rates, 0.0), transpose=True)
    H = Blocks.of(
        np.zeros((0, int(model.sizes[k]))) if k in chosen else model.H[k]
        for k in range(model.n_nodes)
    )
    held = SKOModel.from_packed(model.tree, model.weights, H, model.M, moved, model.b)
    found = np.where(known, rates, 0.0)
    found[~known] = forward_dynamics(held, forces[~known])
    needed = inverse_dynamics(model, found)
    return found, np.where(known, needed, forces)
