"""Loops and couplings: what joins bodies, or joint coordinates, besides the joints of the tree.

A loop is closed by a joint that has no coordinate: it leaves rows g(q) = 0 behind, which are
written with a few primitives (`Row`), one or three equations each. Frame A sits in body a, frame B
in body b; d = x_B − x_A leads from one origin to the other; u is fixed in A, w in B.

    POINT    d = 0, three equations
    DOT      u·w = c
    ALONG    u·d = 0
    LENGTH   |d| = c
    HELIX    c·sin(turn − u·d/c) = 0, the turn from e in A to w in B about u; c is the pitch

A coupling is a row of joint coordinates: POLYNOMIAL, q = c₀ + c₁·s + … + c₄·s⁴, or LINEAR,
Σ factor·q = offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skodyn.model.columns import Floats
from skodyn.model.joints import Helical, Joint
from skodyn.model.products import applied, dot, norm

__all__ = [
    "ALONG",
    "DOT",
    "HELIX",
    "IN_PLANE",
    "LENGTH",
    "LINEAR",
    "POINT",
    "POLYNOMIAL",
    "JointCoupling",
    "Loop",
    "Row",
    "closing_rows",
    "row_count",
]

POINT, DOT, ALONG, LENGTH, HELIX, POLYNOMIAL, LINEAR = range(7)
IN_PLANE = 7
"""What is left of POINT in a plane: two equations (planar_loops.py)."""

_ZERO = np.zeros(3)


@dataclass(frozen=True, eq=False)
class Loop:
    """A joint without a coordinate between frame A of one body and frame B of another.

    rotation, translation: axes and origin of the frames in their bodies; a body may be "world".
    """

    body_a: str
    body_b: str
    joint: Joint
    rotation_a: Floats
    translation_a: Floats
    rotation_b: Floats
    translation_b: Floats


@dataclass(frozen=True)
class JointCoupling:
    """A relation of joint coordinates, kept exactly.

    With coefficients c, joints are (follower, source): q_follower = c₀ + c₁·q_source + …
    Otherwise Σ factors·q = offset over all joints.
    """

    joints: tuple[str, ...]
    coefficients: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()
    offset: float = 0.0


class Row(NamedTuple):
    """A primitive of a loop; vectors in the axes of their bodies."""

    kind: int
    u: Floats = _ZERO  # in body a
    w: Floats = _ZERO  # in body b
    c: float = 0.0
    e: Floats = _ZERO  # in body a


def row_count(kind: int) -> int:
    """How many equations a primitive is."""
    return {POINT: 3, IN_PLANE: 2}.get(kind, 1)


def closing_rows(joint: Joint, rotation_a: Floats, rotation_b: Floats) -> tuple[Row, ...]:
    """The primitives of a closing joint, given its frames' axes in their bodies."""

    def perpendicular(u: Floats, w: Floats, c: float = 0.0) -> Row:
        return Row(DOT, applied(rotation_a, u), applied(rotation_b, w), c)

    def along(u: Floats) -> Row:
        return Row(ALONG, applied(rotation_a, u))

    def parallel(axis: Floats) -> list[Row]:
        return [perpendicular(e, axis) for e in across(axis)]

    x, y, z = np.eye(3)
    alike = [perpendicular(x, y), perpendicular(y, z), perpendicular(z, x)]
    kind = joint.type_name
    if kind == "rod":
        return (Row(LENGTH, c=float(joint.length)),)  # type: ignore[attr-defined]
    if kind == "spherical":
        return (Row(POINT),)
    if kind == "fixed":
        return (Row(POINT), *alike)
    if kind == "translation":
        return tuple(alike)
    axes = [np.array(u if any(u) else t, dtype=np.float64) for u, t in joint.twists()]
    if kind == "universal":
        return (Row(POINT), perpendicular(axes[0], axes[1], dot(axes[0], axes[1])))
    if kind == "planar":
        return (along(axes[2]), *parallel(axes[2]))
    if kind == "prismatic":
        return (*map(along, across(axes[0])), *alike)
    if kind == "revolute" or (isinstance(joint, Helical) and not joint.pitch):
        return (Row(POINT), *parallel(axes[0]))
    rows = [*map(along, across(axes[0])), *parallel(axes[0])]
    if isinstance(joint, Helical):
        e = across(axes[0])[0]
        u, turned = applied(rotation_a, axes[0]), applied(rotation_a, e)
        rows.append(Row(HELIX, u, applied(rotation_b, e), float(joint.pitch), turned))
    return tuple(rows)


def across(axis: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors that make a right-handed frame with a unit axis as its third."""
    smallest = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = _cross(axis, smallest)
    first = first / norm(first)
    return first, _cross(axis, first)


def _cross(a: Floats, b: Floats) -> Floats:
    """As numpy.cross, in a tenth of its time."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
