"""A model in a state as a general SKO model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.inertias import cross_matrices, joint_columns
from skodyn.dynamics.kinematics import velocities
from skodyn.errors import StateError
from skodyn.model.model import Model
from skodyn.sko import Blocks, SKOModel
from skodyn.sko.blocks import Ints
from skodyn.typing import Floats

__all__ = ["sko_model"]


def sko_model(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> SKOModel:
    """The general SKO model of rigid bodies at one state.

    Nodes are the bodies under their names, six velocities [ω; v] each, in world axes at the body's
    origin; the weights are φ(℘(k), k), H(k) has a row for each degree of freedom of the joint, and
    the degrees of freedom lie as in v. Gravity is part of b, as −M(k)·[0; g], so that α are the
    accelerations of the bodies and 𝒯 = 𝓜θ̈ + 𝒞 is the same as `inverse_dynamics` gives.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,)
        Coordinates of one state.
    v : array_like, shape (nv,), optional
        Velocities; without them the bodies are at rest.

    Returns
    -------
    general : SKOModel

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        The model has mimic joints or loops.

    See Also
    --------
    operators : the algebra on top of it.
    sko : functions of SKO models.

    Notes
    -----
    Where a joint has armature, its rotors move with the joint's own rates and with nothing else:
    these rates follow [ω; v] as further velocities of the node, with the armature as inertia.
    A flexible body has the rates of its modes before these, so that blocks have 6 + m rows; strain
    and damping are part of b.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> general = sk.sko_model(model, [0.5, 0.2])
    >>> np.allclose(sk.sko.mass_matrix(general), sk.mass_matrix(model, [0.5, 0.2]))
    True
    """
    model._refuse_mimics("sko_model")
    model._refuse_loops("sko_model")
    q = np.asarray(q)
    if q.ndim != 1:
        raise StateError(f"q has shape {q.shape}", f"an SKO model is of one state, ({model.nq},).")
    velocity = np.zeros(model.nv) if v is None else np.asarray(v)
    if velocity.ndim != 1:
        raise StateError(f"v has shape {velocity.shape}", f"give ({model.nv},).")
    if model.flexible:
        from skodyn.dynamics.flexible_sko_model import flexible_sko_model  # few models need it

        return flexible_sko_model(model, q, velocity)
    rotation, origin = forward_kinematics(model, q)
    _, a, b = velocities(model, q, velocity)
    inertias = _inertias(model, rotation)
    b -= inertias[:, :, 3:] @ model.gravity
    layout = _Layout(model)
    return SKOModel.from_packed(
        model.tree,
        layout.weights(origin),
        layout.joint_maps(joint_columns(model, q)),
        layout.inertias(inertias),
        layout.vector(a),
        layout.vector(b),
    )


class _Layout:
    """Where the numbers of bodies and rotors lie in ragged blocks."""

    def __init__(self, model: Model) -> None:
        self.parent = model.parent
        self.dofs = np.array([joint.nv for joint in model.joints], dtype=np.int64)
        self.armature = np.array([joint.armature for joint in model.joints], dtype=np.float64)
        self.sizes = 6 + np.where(self.armature > 0.0, self.dofs, 0)
        self.node = np.repeat(np.arange(model.n_bodies), self.dofs)  # of each degree of freedom
        first = np.cumsum(self.dofs) - self.dofs
        self.number = np.arange(model.nv) - first[self.node]  # of it in its joint
        self.turning = np.flatnonzero(self.armature[self.node] > 0.0)  # those with a rotor

    def weights(self, origin: Floats) -> Blocks:
        """φ(℘(k), k) = [[I, l̃], [0, I]], padded with zeros for rotors; nothing for bases."""
        outer = np.flatnonzero(self.parent >= 0)
        shifts = np.broadcast_to(np.eye(6), (len(outer), 6, 6)).copy()
        shifts[:, :3, 3:] = cross_matrices(origin[outer] - origin[self.parent[outer]])
        blocks = Blocks.zeros(np.where(self.parent >= 0, self.sizes[self.parent], 0), self.sizes)
        blocks.data[self._corner(blocks, outer)] = shifts
        return blocks

    def joint_maps(self, rows: Floats) -> Blocks:
        """H(k), and behind it the unit matrix for rotors."""
        blocks = Blocks.zeros(self.dofs, self.sizes)
        start = blocks.starts[self.node] + self.number * self.sizes[self.node]
        blocks.data[start[:, None] + np.arange(6)] = rows
        blocks.data[(start + 6 + self.number)[self.turning]] = 1.0
        return blocks

    def inertias(self, matrices: Floats) -> Blocks:
        """M(k), and below it the armature for rotors."""
        blocks = Blocks.zeros(self.sizes, self.sizes)
        blocks.data[self._corner(blocks, np.arange(len(self.sizes)))] = matrices
        k, i = self.node[self.turning], 6 + self.number[self.turning]
        blocks.data[blocks.starts[k] + i * self.sizes[k] + i] = self.armature[k]
        return blocks

    def vector(self, rows: Floats) -> Floats:
        """Six numbers per body, stacked; zero for rotors."""
        starts = np.cumsum(self.sizes) - self.sizes
        stacked = np.zeros(int(self.sizes.sum()))
        stacked[starts[:, None] + np.arange(6)] = rows
        return stacked

    def _corner(self, blocks: Blocks, nodes: Ints) -> Ints:
        """Where the upper left 6 × 6 numbers of these nodes' blocks lie."""
        steps = np.arange(6)
        rows = blocks.starts[nodes, None] + steps * self.sizes[nodes, None]
        places: Ints = rows[:, :, None] + steps
        return places


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
