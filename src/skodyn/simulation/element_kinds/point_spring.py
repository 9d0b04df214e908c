"""A spring and damper between two points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from skodyn.conventions import GROUND
from skodyn.jit import helper
from skodyn.kernels.mimics import full_model
from skodyn.lanes import PartAtWidths
from skodyn.model.keys import BODY_OR_WORLD, NOT_NEGATIVE, TITLE, VECTOR, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.bent_forces import BENT_SPRING, node_of, refuse_points
from skodyn.simulation.element import ORIGIN, Element, Packed, place_of, point_of
from skodyn.simulation.element_tools import add_force, numbers3, point_motion, spring_force
from skodyn.simulation.forces import FIRST, OFFSET, OWN_PART, POINT_SPRING, SECOND
from skodyn.spatial.linear3 import cross, negate
from skodyn.typing import Floats

Vector = Sequence[float]
_PLACE = "where it is attached, in the axes of the body or frame, m"


@helper
def point_spring(work, system, at, f_ext):
    """Numbers: point a, point b, stiffness, damping, length."""
    model, codes, numbers = full_model(system.model), system.codes, system.numbers
    a, b, i = codes[at + FIRST], codes[at + SECOND], codes[at + OFFSET]
    arm_a, place_a, speed_a = point_motion(work, model, a, numbers3(work, numbers, i))
    arm_b, place_b, speed_b = point_motion(work, model, b, numbers3(work, numbers, i + 3))
    force = spring_force(work, numbers, i + 6, (place_a, speed_a), (place_b, speed_b))
    none = cross(force, force)
    add_force(work, f_ext, a, force, arm_a, none)
    add_force(work, f_ext, b, negate(force), arm_b, none)


@register
@fields_checked
@dataclass(frozen=True)
class PointSpring(Element):
    """A spring and damper between two points of bodies.

    Parameters
    ----------
    body_a : str
        Name of a body or frame, or "world".
    body_b : str
        Name of the other.
    stiffness : float
        N/m.
    damping : float
        Along the line between the points, N s/m.
    length : float
        Length at rest, m.
    point_a : sequence of 3 floats
        A point of body a, in its axes from its origin, m.
    point_b : sequence of 3 floats
        A point of body b, likewise.
    node_a : str
        The node of body a that it is tied to, if that is flexible.
    node_b : str
        The node of body b, likewise.

    Examples
    --------
    >>> rope = sk.PointSpring("link2", "world", stiffness=50.0, point_a=(0, 0, -1))
    >>> rope.length
    0.0
    """

    body_a: str = field(metadata=key(BODY_OR_WORLD, "one end"))
    body_b: str = field(metadata=key(BODY_OR_WORLD, "the other end"))
    stiffness: float = field(metadata=key(NOT_NEGATIVE, "N/m"))
    damping: float = field(default=0.0, metadata=key(NOT_NEGATIVE, "along the spring, N·s/m"))
    length: float = field(default=0.0, metadata=key(NOT_NEGATIVE, "without load, m"))
    point_a: Vector = field(default=ORIGIN, metadata=key(VECTOR, _PLACE))
    point_b: Vector = field(default=ORIGIN, metadata=key(VECTOR, _PLACE))
    node_a: str = field(default="", metadata=key(TITLE, "the node of a flexible body, instead"))
    node_b: str = field(default="", metadata=key(TITLE, "the node of a flexible body, instead"))
    type_name = "point_spring"
    on_bodies = True
    code = POINT_SPRING
    part: ClassVar[PartAtWidths] = BENT_SPRING  # at a node; else it is in the common part

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        a, b = given.get("body_a"), given.get("body_b")
        if not a or a != b:
            return []
        return [("body_b", f"has both ends on {a!r}", "name two different bodies.")]

    def pack(self, model: Any) -> Packed:
        for body, point in ((self.body_a, self.point_a), (self.body_b, self.point_b)):
            refuse_points(model, body, point)
        a, point_a = point_of(model, self.body_a, self.point_a)
        b, point_b = point_of(model, self.body_b, self.point_b)
        if self.node_a or self.node_b:
            node_a = node_of(model, self.body_a, self.node_a) if self.node_a else 0
            node_b = node_of(model, self.body_b, self.node_b) if self.node_b else 0
            spring = [*point_a, *point_b, self.stiffness, self.damping, self.length]
            ends = [float(x) for x in (a, node_a, b, node_b)]
            return Packed(a, [*spring, *ends], code=OWN_PART)
        return Packed(a, [*point_a, *point_b, self.stiffness, self.damping, self.length], b)

    def energy(self, model: Any, rotations: Floats, positions: Floats) -> Floats | None:
        if self.node_a or self.node_b:
            return None  # `stored` says where nodes are
        ends = ((self.body_a, self.point_a), (self.body_b, self.point_b))
        return self._stretched(*(place_of(model, *end, rotations, positions) for end in ends))

    def stored(self, rows: Any) -> Floats | None:
        return self._stretched(
            *(
                rows.node_poses(body, node)[..., :3, 3]
                if node
                else place_of(rows.model, body, point, *rows.poses)
                for body, point, node in self._ends
            )
        )

    @property
    def _ends(self) -> tuple[tuple[str, Vector, str], tuple[str, Vector, str]]:
        first = (self.body_a, self.point_a, self.node_a)
        return first, (self.body_b, self.point_b, self.node_b)

    def _stretched(self, a: Floats, b: Floats) -> Floats:
        stretch = np.sqrt(((b - a) ** 2).sum(axis=-1)) - self.length
        stored: Floats = 0.5 * self.stiffness * stretch**2
        return stored

    def drawn(self, rows: Any) -> Sequence[Arrow]:
        """The line between its ends, and what acts on the first body."""
        ends = self._ends
        (a, b), (va, vb) = (rows.place(*end) for end in ends), (rows.speed(*end) for end in ends)
        length = np.linalg.norm(b - a, axis=1, keepdims=True)
        line = (b - a) / np.where(length > 0, length, 1.0)
        rate = ((vb - va) * line).sum(axis=1, keepdims=True)
        pull = self.stiffness * (length - self.length) + self.damping * rate
        return (Arrow(self.body_a, pull * line, self.point_a, ends[1], node=self.node_a),)

    def momentum_obstacle(self) -> str:
        tied = GROUND in (self.body_a, self.body_b)
        return "a spring is tied to the world" if tied else ""
