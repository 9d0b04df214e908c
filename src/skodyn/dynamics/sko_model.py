"""A rigid model in a state as a general SKO model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.driver import Algorithm, run
from skodyn.dynamics.functions import forward_kinematics, velocities
from skodyn.dynamics.inertias import cross_matrices
from skodyn.errors import StateError
from skodyn.kernels import joint_map as kernel
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.sko import Blocks, SKOModel

__all__ = ["sko_model"]

JOINT_MAP = Algorithm(kernel.joint_map, None, "", dimensions=2)  # for one state only


def sko_model(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> SKOModel:
    """The SKO model of rigid bodies at one state; without v they are at rest.

    Nodes are the bodies under their names, six velocities [ω; v] each, in world axes at the body's
    origin; the weights are φ(℘(k), k), H(k) has a row for each degree of freedom of the joint, and
    the degrees of freedom lie as in v. Gravity is part of b, as −M(k)·[0; g], so that α are the
    accelerations of the bodies and 𝒯 = 𝓜θ̈ + 𝒞 is the same as `inverse_dynamics` gives.
    """
    q = np.asarray(q)
    if q.ndim != 1:
        raise StateError(f"q has shape {q.shape}; an SKO model is of one state, ({model.nq},).")
    velocity = np.zeros(model.nv) if v is None else np.asarray(v)
    if velocity.ndim != 1:
        raise StateError(f"v has shape {velocity.shape}; give ({model.nv},).")
    rotation, origin = forward_kinematics(model, q)
    _, a, b = velocities(model, q, velocity)
    rows = run(JOINT_MAP, model, (model.nv, 6), q)
    inertias = _inertias(model, rotation)
    b -= inertias[:, :, 3:] @ model.gravity
    dofs = np.array([joint.nv for joint in model.joints], dtype=np.int64)
    return SKOModel.from_packed(
        model.tree,
        _weights(model, origin),
        Blocks(rows.reshape(-1), dofs, np.full(model.n_bodies, 6)),
        Blocks.stacked(inertias),
        a.reshape(-1),
        b.reshape(-1),
    )


def _weights(model: Model, origin: Floats) -> Blocks:
    """φ(℘(k), k) = [[I, l̃], [0, I]]; nothing for bases."""
    outer = np.flatnonzero(model.parent >= 0)
    shifts = np.broadcast_to(np.eye(6), (len(outer), 6, 6)).copy()
    shifts[:, :3, 3:] = cross_matrices(origin[outer] - origin[model.parent[outer]])
    rows = np.where(model.parent >= 0, 6, 0)
    return Blocks(shifts.reshape(-1), rows, np.full(model.n_bodies, 6))


def _inertias(model: Model, rotation: Floats) -> Floats:
    """M(k) about the body's origin in world axes: [[J − m c̃c̃, m c̃], [−m c̃, m I]]."""
    arm = cross_matrices((rotation @ model.com[:, :, None])[:, :, 0])
    moment = model.mass[:, None, None] * arm
    full = np.zeros((model.n_bodies, 6, 6))
    full[:, :3, :3] = rotation @ model.inertia @ rotation.transpose(0, 2, 1) - moment @ arm
    full[:, :3, :3] = (full[:, :3, :3] + full[:, :3, :3].transpose(0, 2, 1)) / 2
    full[:, :3, 3:] = moment
    full[:, 3:, :3] = -moment
    full[:, 3:, 3:] = model.mass[:, None, None] * np.eye(3)
    return full
