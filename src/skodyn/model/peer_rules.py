"""How other libraries write the coordinates and velocities of a joint: rules that joints name.

Between two layouts of the same joint velocities differ by an orthogonal matrix X(q), which serves
forces and accelerations as well (interop/__init__.py). A joint says by which rule each library's
joints stand for it: `Joint.peers`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from skodyn.typing import Floats

__all__ = [
    "CosineSineRule",
    "OffsetRule",
    "PositionFirstRule",
    "SameRule",
    "ScalarLastRule",
    "TurnedPlaneRule",
    "WorldVelocityRule",
]


class SameRule:
    """Both sides agree. Other rules override what differs; q and v of `Ẋ v` are skodyn's.

    winds: the other side knows an angle up to whole turns. in_world: it speaks of the world, so
    that the joint must hang from it.
    """

    winds: ClassVar[bool] = False
    in_world: ClassVar[bool] = False

    def placed(self, ref: float, rotation: Floats, translation: Floats) -> SameRule:
        """The rule of one joint: what the other side calls its initial place, and where the joint
        lies in its parent here."""
        return self

    def q_to(self, q: Floats) -> Floats:
        return q

    def q_from(self, q: Floats) -> Floats:
        return q

    def turn(self, q: Floats, x: Floats) -> Floats:
        """X x, with skodyn's q."""
        return x

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        """Xᵀ x, with skodyn's q."""
        return x

    def drift(self, q: Floats, v: Floats) -> Floats:
        """Ẋ v."""
        return np.zeros_like(v)


@dataclass
class OffsetRule(SameRule):
    """MuJoCo's `ref`: the coordinate that the initial pose is called."""

    ref: float = 0.0

    def placed(self, ref: float, rotation: Floats, translation: Floats) -> SameRule:
        return OffsetRule(ref)

    def q_to(self, q: Floats) -> Floats:
        return q + self.ref

    def q_from(self, q: Floats) -> Floats:
        return q - self.ref


class CosineSineRule(SameRule):
    """An angle as (cos, sin)."""

    winds = True

    def q_to(self, q: Floats) -> Floats:
        return np.concatenate((np.cos(q), np.sin(q)), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        angle: Floats = np.arctan2(q[..., 1:], q[..., :1])
        return angle


class ScalarLastRule(SameRule):
    """A quaternion as (x, y, z, w)."""

    def q_to(self, q: Floats) -> Floats:
        return np.roll(q, -1, axis=-1)

    def q_from(self, q: Floats) -> Floats:
        return np.roll(q, 1, axis=-1)


class PositionFirstRule(SameRule):
    """Position first, quaternion scalar last; linear velocity first."""

    def q_to(self, q: Floats) -> Floats:
        return np.concatenate((q[..., 4:], q[..., 1:4], q[..., :1]), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        return np.concatenate((q[..., 6:], q[..., 3:6], q[..., :3]), axis=-1)

    def turn(self, q: Floats, x: Floats) -> Floats:
        return np.roll(x, 3, axis=-1)

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        return np.roll(x, -3, axis=-1)


class TurnedPlaneRule(SameRule):
    """The angle as (cos, sin), the linear velocity in child axes."""

    def q_to(self, q: Floats) -> Floats:
        return np.concatenate((q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        return np.concatenate((q[..., :2], np.arctan2(q[..., 3:], q[..., 2:3])), axis=-1)

    def turn(self, q: Floats, x: Floats) -> Floats:
        return self._turned(-q[..., 2], x)

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        return self._turned(q[..., 2], x)

    def drift(self, q: Floats, v: Floats) -> Floats:
        along = self.turn(q, v)
        rate = v[..., 2]
        return np.stack((rate * along[..., 1], -rate * along[..., 0], np.zeros_like(rate)), axis=-1)

    @staticmethod
    def _turned(angle: Floats, x: Floats) -> Floats:
        c, s = np.cos(angle), np.sin(angle)
        return np.stack(
            (c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]), axis=-1
        )


@dataclass
class WorldVelocityRule(SameRule):
    """Position in the world, quaternion; linear velocity in world axes, angular in child axes.

    skodyn's free joint starts from a placement in the world, a quaternion and a position.
    """

    rotation: Floats = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    translation: Floats = field(default_factory=lambda: np.zeros(3))
    in_world = True

    def placed(self, ref: float, rotation: Floats, translation: Floats) -> SameRule:
        return WorldVelocityRule(_quaternion(rotation), translation)

    def q_to(self, q: Floats) -> Floats:
        position = self.translation + _rotate(self.rotation, q[..., 4:])
        return np.concatenate((position, _product(self.rotation, q[..., :4])), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        back = _conjugate(self.rotation)
        position = _rotate(back, q[..., :3] - self.translation)
        return np.concatenate((_product(back, q[..., 3:]), position), axis=-1)

    def turn(self, q: Floats, x: Floats) -> Floats:
        to_world = _product(self.rotation, q[..., :4])
        return np.concatenate((_rotate(to_world, x[..., 3:]), x[..., :3]), axis=-1)

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        to_child = _conjugate(_product(self.rotation, q[..., :4]))
        return np.concatenate((x[..., 3:], _rotate(to_child, x[..., :3])), axis=-1)

    def drift(self, q: Floats, v: Floats) -> Floats:
        swept = np.cross(v[..., :3], v[..., 3:])
        return self.turn(q, np.concatenate((np.zeros_like(swept), swept), axis=-1))


def _product(a: Floats, b: Floats) -> Floats:
    """Hamilton product of quaternions, scalar first."""
    s, u, t, w = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = s * t - (u * w).sum(axis=-1, keepdims=True)
    return np.concatenate((scalar, s * w + t * u + np.cross(u, w)), axis=-1)


def _conjugate(a: Floats) -> Floats:
    return np.concatenate((a[..., :1], -a[..., 1:]), axis=-1)


def _rotate(a: Floats, x: Floats) -> Floats:
    """x turned by a unit quaternion."""
    twice = 2.0 * np.cross(a[..., 1:], x)
    turned: Floats = x + a[..., :1] * twice + np.cross(a[..., 1:], twice)
    return turned


def _quaternion(r: Floats) -> Floats:
    """The quaternion of a rotation matrix, from the largest of its four components."""
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    yz, zx, xy = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    sxy, szx, syz = r[1, 0] + r[0, 1], r[0, 2] + r[2, 0], r[2, 1] + r[1, 2]
    rows = np.array(
        [
            [1 + xx + yy + zz, yz, zx, xy],
            [yz, 1 + xx - yy - zz, sxy, szx],
            [zx, sxy, 1 - xx + yy - zz, syz],
            [xy, szx, syz, 1 - xx - yy + zz],
        ]
    )  # each row is the quaternion, times four of its components
    best = rows[np.argmax(np.diag(rows))]
    unit: Floats = best / np.linalg.norm(best)
    return unit


def pinocchio_axes(
    aligned: str, unaligned: str, rule: SameRule | None = None
) -> dict[str, SameRule]:
    """A rule for Pinocchio's joints about x, y, z and about any axis."""
    names = (*(f"{aligned}{axis}" for axis in "XYZ"), unaligned)
    return dict.fromkeys(names, rule or SameRule())
