"""Poses of bodies on the cycles of loops, and how each joint moves them.

Poses may be relative to whatever carries a cycle: of a body whose parent is not among those asked
for, the parent stands still.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skodyn.model import layout
from skodyn.model.flexible.modal_body import FlexibleBody, FlexibleNode
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["STANDING", "Link", "Posed", "link_dofs"]

_EYE, _NONE = np.eye(3), np.zeros((3, 3))


class Posed(NamedTuple):
    """A body's axes and origin, and its joint's velocities as rows of [ω, v at a point, point];
    behind them those of the modes that move the node which it hangs on."""

    rotation: Floats
    origin: Floats
    screws: Floats


STANDING = Posed(_EYE, np.zeros(3), np.zeros((0, 9)))


class Link:
    """A body and its joint, as they were described."""

    def __init__(self, model: Model, k: int, slots: dict[int, int]) -> None:
        joint = model.joints[k]
        start = int(model.indices[k, layout.Q_START])
        self.above = slots.get(int(model.tree.parent[k]))
        self.rotation, self.translation = model.rotation[k], model.translation[k]
        self.joint, self.q = joint, slice(start, start + joint.nq)
        twists = [(np.array(u, np.float64), np.array(t, np.float64)) for u, t in joint.twists()]
        self.twists = [(u, t, _skew(u) if u.any() else None) for u, t in twists]

        self.node = _node_of(model, k)

    def posed(self, q: Floats, poses: list[Posed]) -> Posed:
        r, x = STANDING[:2] if self.above is None else poses[self.above][:2]
        if self.node is None:
            return self._moved(q[self.q], r @ self.rotation, x + r @ self.translation)
        r, x, bending = self.node.posed(q, r, x)
        moved = self._moved(q[self.q], r @ self.rotation, x + r @ self.translation)
        return moved._replace(screws=np.concatenate((moved.screws, bending)))

    def _moved(self, q: Floats, r: Floats, x: Floats) -> Posed:
        """The body's pose behind its joint, whose frame has axes r and origin x."""
        if self.joint.has_quaternion:
            x = x + r @ q[4:] if self.joint.is_floating else x
            r = r @ _quaternion_matrix(q[:4])
            parts = [_screws(r, _NONE, x)]
            parts += [_screws(_NONE, r, x)] if self.joint.is_floating else []
            return Posed(r, x, np.concatenate(parts))
        screws = np.empty((len(self.twists), 9))
        for i, (axis, along, skew) in enumerate(self.twists):
            screws[i, :3], screws[i, 3:6], screws[i, 6:] = r @ axis, r @ along, x
            x = x + screws[i, 3:6] * q[i]
            r = r if skew is None else r @ _turn(skew, float(q[i]))
        return Posed(r, x, screws)


def link_dofs(model: Model, k: int) -> list[int]:
    """Where the velocities of a body's screws lie in v."""
    first, node = int(model.indices[k, layout.V_START]), _node_of(model, k)
    own = list(range(first, first + model.joints[k].nv))
    return own if node is None else [*own, *range(*node.dofs.indices(model.nv))]


class _Node(NamedTuple):
    """A node of a flexible body, and where the modes of the body lie."""

    body: FlexibleBody
    node: FlexibleNode
    modes: slice
    dofs: slice

    def posed(self, q: Floats, r: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Axes and origin of the node of a body with axes r and origin x; its modes' screws."""
        eta = q[self.modes]
        slope = self.body.slaves @ eta  # ∂ξ/∂η
        shapes = np.concatenate((eta, 0.5 * (slope @ eta)))
        moved, turned = self.node.translation, self.node.rotation
        theta, m = turned @ shapes, len(eta)
        place = x + r @ (self.node.position + moved @ shapes)
        turn, rates = _turn_and_rates(theta)
        spin = r @ rates @ (turned[:, :m] + turned[:, m:] @ slope)
        slide = r @ (moved[:, :m] + moved[:, m:] @ slope)
        at = np.broadcast_to(place, (m, 3))
        return r @ turn, place, np.concatenate((spin.T, slide.T, at), axis=1)


def _node_of(model: Model, k: int) -> _Node | None:
    """The node that body k hangs on; None where nothing bends between it and its parent."""
    name = model.attached.get(model.body_names[k])
    if name is None:
        return None
    parent = model.body_names[int(model.tree.parent[k])]
    body = model.flexible[parent]
    places = model.mode_slice(parent), model.mode_slice(parent, "v")
    return _Node(body, body.nodes[name], *places)


def _turn_and_rates(theta: Floats) -> tuple[Floats, Floats]:
    """exp θ̃, and T of the angular velocity T·θ̇."""
    skew, square = _skew(theta), float(theta @ theta)
    angle = math.sqrt(square)
    if angle < 1e-4:  # what is left out is below rounding
        sine, a, b = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        sine = math.sin(angle) / angle
        a, b = (1.0 - math.cos(angle)) / square, (1.0 - sine) / square
    twice = skew @ skew
    return _EYE + sine * skew + a * twice, _EYE + a * skew + b * twice


def _screws(turning: Floats, sliding: Floats, x: Floats) -> Floats:
    """Rows of [ω, v, point] from matrices whose columns are directions."""
    return np.concatenate([turning.T, sliding.T, np.broadcast_to(x, (3, 3))], axis=1)


def _skew(u: Floats) -> Floats:
    x, y, z = u.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _turn(skew: Floats, angle: float) -> Floats:
    """Rodrigues' matrix of a turn about a unit vector."""
    turn: Floats = _EYE + math.sin(angle) * skew + (1.0 - math.cos(angle)) * (skew @ skew)
    return turn


def _quaternion_matrix(p: Floats) -> Floats:
    w, x, y, z = p.tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )
