"""Poses of bodies on the cycles of loops, and how each joint moves them.

Poses may be relative to whatever carries a cycle: of a body whose parent is not among those asked
for, the parent stands still.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skodyn.model import layout
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["STANDING", "Link", "Posed"]

_EYE, _NONE = np.eye(3), np.zeros((3, 3))


class Posed(NamedTuple):
    """A body's axes and origin, and its joint's velocities as rows of [ω, v at a point, point]."""

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

    def posed(self, q: Floats, poses: list[Posed]) -> Posed:
        r, x = STANDING[:2] if self.above is None else poses[self.above][:2]
        return self._moved(q[self.q], r @ self.rotation, x + r @ self.translation)

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
