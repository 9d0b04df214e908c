"""The rows of a run that are drawn, as force elements are shown them (`Element.drawn`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.dynamics import deflections, forward_kinematics, gravity_force, node_poses, velocities
from skodyn.dynamics.flexible_nodes import node_jacobian
from skodyn.model.model import Model
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.element import place_of

__all__ = ["DrawnRows"]

Floats = NDArray[np.float64]


class DrawnRows:
    """Times and states, and where things are in them, in world axes: (rows, 3) each.

    exaggerate: what modes are multiplied by in the picture; forces are those of the run.
    """

    def __init__(
        self, model: Model, t: Floats, q: Floats, v: Floats, exaggerate: float = 1.0
    ) -> None:
        self.model, self.t, self.exaggerate = model, t, exaggerate
        self.q, self.v = np.ascontiguousarray(q), np.ascontiguousarray(v)

    @cached_property
    def poses(self) -> tuple[Floats, Floats]:
        """Rotations and positions of all bodies."""
        return forward_kinematics(self.model.opened, self.q)

    @cached_property
    def spatial(self) -> Floats:
        """[ω; velocity of the origin] of all bodies, (rows, bodies, 6)."""
        return velocities(self.model.opened, self.q, self.v)[0]

    @cached_property
    def _weights(self) -> Floats:
        return gravity_force(self.model.opened.uncoupled, self._all_q)

    @cached_property
    def _all_q(self) -> Floats:
        return self.model.expand_q(self.q) if self.model.mimics else self.q

    @cached_property
    def _all_v(self) -> Floats:
        return self.model.expand_v(self.v) if self.model.mimics else self.v

    def place(self, name: str, point: Sequence[float], node: str = "") -> Floats:
        """Where a point of a body or frame is, or a node of a flexible body."""
        if node:
            return self._node_poses(name, node)[:, :3, 3]
        return place_of(self.model, name, point, *self.poses)

    def _node_poses(self, name: str, node: str) -> Floats:
        return node_poses(self.model, self.q, name)[:, self._node(name, node)]

    def _node(self, name: str, node: str) -> int:
        return list(self.model.flexible[name].nodes).index(node)

    def drawn_node(self, name: str, node: str) -> Floats:
        """Where a node is drawn, in axes of its body."""
        q = self.q.copy()
        q[:, self.model.mode_slice(name)] *= self.exaggerate
        moved = deflections(self.model, q, name)[:, self._node(name, node)]
        return np.asarray(self.model.flexible[name].nodes[node].position + moved)

    def speed(self, name: str, point: Sequence[float], node: str = "") -> Floats:
        """How fast it moves."""
        if node:
            rows = node_jacobian(self.model, self.q, name, node, np.zeros(3))[:, 3:]
            return np.asarray((rows @ self.v[..., None])[..., 0])
        body = self.model.frame(name).body
        if body == GROUND:
            return np.zeros((len(self.t), 3))
        k = self.model.body_index(body)
        arm = self.place(name, point) - self.poses[1][:, k]
        return np.asarray(self.spatial[:, k, 3:] + np.cross(self.spatial[:, k, :3], arm))

    def turned(self, name: str, vector: Sequence[float], node: str = "") -> Floats:
        """A vector that is fixed in a body or frame, or in the axes of a node."""
        if node:
            return self._node_poses(name, node)[:, :3, :3] @ np.asarray(vector, dtype=np.float64)
        return self.place(name, vector) - self.place(name, (0.0, 0.0, 0.0))

    def joint(self, name: str) -> tuple[Floats, Floats]:
        """(q, v) of a joint with one degree of freedom, (rows,) each."""
        full = self.model.uncoupled
        return self._all_q[:, full.q_slice(name).start], self._all_v[:, full.v_slice(name).start]

    def weight_at(self, name: str) -> Floats:
        """What holds the system against gravity at such a joint, (rows,)."""
        return self._weights[:, self.model.uncoupled.v_slice(name).start]

    def at_joint(self, name: str, torque: Floats) -> Arrow:
        """A torque or force on such a joint, along its axis, at the body that it carries."""
        k = self.model.joint_index(name)
        ((turn, slide),) = self.model.joints[k].twists()
        axis = np.asarray(turn if any(turn) else slide, dtype=np.float64)
        axes = self.turned(self.model.body_names[k], (axis / np.linalg.norm(axis)).tolist())
        return Arrow(self.model.body_names[k], torque[:, None] * axes, is_moment=any(turn))
