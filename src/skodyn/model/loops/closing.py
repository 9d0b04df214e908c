"""What closes a loop: rows g(q) = 0, written with a few primitives of one or three equations.

Frame A sits in body a, frame B in body b; d = x_B − x_A leads from one origin to the other; u is
fixed in A, w in B.

    POINT    d = 0, three equations
    DOT      u·w = c
    ALONG    u·d = 0
    LENGTH   |d| = c
    HELIX    c·sin(turn − u·d/c) = 0, the turn from e in A to w in B about u; c is the pitch

A coupling is a row of joint coordinates: POLYNOMIAL, q = c₀ + c₁·s + … + c₄·s⁴, or LINEAR,
Σ factor·q = offset.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skodyn.model.products import applied, norm
from skodyn.typing import Floats

__all__ = [
    "ALONG",
    "DOT",
    "HELIX",
    "IN_PLANE",
    "LENGTH",
    "LINEAR",
    "POINT",
    "POLYNOMIAL",
    "ClosingFrames",
    "Row",
    "across",
    "row_count",
]

POINT, DOT, ALONG, LENGTH, HELIX, POLYNOMIAL, LINEAR = range(7)
IN_PLANE = 7
"""What is left of POINT in a plane: two equations (planar_loops.py)."""

_ZERO = np.zeros(3)


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


class ClosingFrames(NamedTuple):
    """Axes of a closing joint's frames in their bodies; directions below are in these frames."""

    rotation_a: Floats
    rotation_b: Floats

    def at_angle(self, u: Floats, w: Floats, c: float = 0.0) -> Row:
        """u of A and w of B keep their angle, whose cosine is c."""
        return Row(DOT, applied(self.rotation_a, u), applied(self.rotation_b, w), c)

    def along(self, u: Floats) -> Row:
        """The origins do not part along u of A."""
        return Row(ALONG, applied(self.rotation_a, u))

    def on_line(self, axis: Floats) -> list[Row]:
        """The origins part along an axis of A only."""
        return [self.along(e) for e in across(axis)]

    def parallel(self, axis: Floats) -> list[Row]:
        """An axis is the same in both frames."""
        return [self.at_angle(e, axis) for e in across(axis)]

    def unturned(self) -> list[Row]:
        """All axes are the same in both frames."""
        x, y, z = np.eye(3)
        return [self.at_angle(x, y), self.at_angle(y, z), self.at_angle(z, x)]

    def helix(self, axis: Floats, pitch: float) -> Row:
        """The frames turn about an axis as they part along it."""
        e = across(axis)[0]
        u, turned = applied(self.rotation_a, axis), applied(self.rotation_a, e)
        return Row(HELIX, u, applied(self.rotation_b, e), pitch, turned)


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
