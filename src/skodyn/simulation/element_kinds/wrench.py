"""A constant force and moment on a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from skodyn.errors import ModelError
from skodyn.jit import helper
from skodyn.kernels.tuples import load_matrix
from skodyn.kernels.workspace import BODY as BODY_LANES
from skodyn.kernels.workspace import body_slot
from skodyn.lanes import PartAtWidths
from skodyn.model.keys import BODY, TITLE, VECTOR, key, one_of
from skodyn.model.keywords import fields_checked
from skodyn.model.products import applied
from skodyn.registry import register
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.bent_forces import BENT_WRENCH, node_of, refuse_points
from skodyn.simulation.element import ORIGIN, Element, Packed, place_of, point_of, turned
from skodyn.simulation.element_tools import add_force, numbers3
from skodyn.simulation.forces import CODE, FIRST, OFFSET, OWN_PART, WRENCH_BODY, WRENCH_WORLD
from skodyn.spatial.linear3 import multiply_vector
from skodyn.typing import Floats

Vector = Sequence[float]


@helper
def wrench(work, system, at, f_ext):
    """Numbers: point, force, moment."""
    codes, numbers = system.codes, system.numbers
    k, i = codes[at + FIRST], codes[at + OFFSET]
    r = load_matrix(work, body_slot(k) + BODY_LANES.ROTATION)
    arm = multiply_vector(r, numbers3(work, numbers, i))
    force, moment = numbers3(work, numbers, i + 3), numbers3(work, numbers, i + 6)
    if codes[at + CODE] == WRENCH_BODY:
        force, moment = multiply_vector(r, force), multiply_vector(r, moment)
    add_force(work, f_ext, k, force, arm, moment)


@register
@fields_checked
@dataclass(frozen=True)
class Wrench(Element):
    """A constant force and moment on a body.

    Parameters
    ----------
    body : str
        Name of the body, or of a frame that is fixed in one.
    force : sequence of 3 floats
        N.
    moment : sequence of 3 floats
        N m.
    point : sequence of 3 floats
        Where the force acts, in axes of the body or frame from its origin, m.
    frame : {"world", "body"}
        The axes in which force and moment are given; "body" means those of the frame or node, if
        one was named.
    node : str
        The node of a flexible body where it acts.

    Examples
    --------
    >>> push = sk.Wrench("link1", force=(5.0, 0, 0), point=(0, 0, -1))
    >>> sk.simulate(sk.examples.pendulum(1), [0.0], [0.0], duration=1.0, elements=[push]).status
    'finished'
    """

    body: str = field(metadata=key(BODY, "which body or frame it acts on"))
    force: Vector = field(default=ORIGIN, metadata=key(VECTOR, "N"))
    moment: Vector = field(default=ORIGIN, metadata=key(VECTOR, "N·m"))
    point: Vector = field(
        default=ORIGIN, metadata=key(VECTOR, "where the force acts, in its axes, m")
    )
    frame: str = field(
        default="world",
        metadata=key(one_of("world", "body"), "whose axes `force` and `moment` are given in"),
    )
    node: str = field(default="", metadata=key(TITLE, "the node of a flexible body where it acts"))
    type_name = "wrench"
    on_bodies = True
    code = WRENCH_WORLD
    part: ClassVar[PartAtWidths] = BENT_WRENCH  # at a node; else it is in the common part

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        if given.keys() & {"force", "moment"}:
            return []
        return [("", "has neither force nor moment", "give one of them.")]

    def pack(self, model: Any) -> Packed:
        if self.node:
            return self._at_node(model)
        refuse_points(model, self.body, self.point)
        k, point = point_of(model, self.body, self.point)
        if k < 0:
            what = f"{self.body!r} is fixed in the world"
            raise ModelError(what, "name a body, or a frame that is fixed in one.")
        in_body = self.frame == "body"
        force, moment = (
            turned(model, self.body, x) if in_body else x for x in (self.force, self.moment)
        )
        return Packed(k, [*point, *force, *moment], code=WRENCH_BODY if in_body else WRENCH_WORLD)

    def _at_node(self, model: Any) -> Packed:
        refuse_points(model, self.body, self.point)
        node, in_body = node_of(model, self.body, self.node), self.frame == "body"
        k, back = model.body_index(self.body), None
        back = model.alignment[k].T if in_body else np.eye(3)
        force, moment = (applied(back, x).tolist() for x in (self.force, self.moment))
        numbers = [*force, *moment, float(in_body)]
        return Packed(k, numbers, length=node, code=OWN_PART)

    def energy(self, model: Any, rotations: Floats, positions: Floats) -> Floats | None:
        """−F·x of a force that keeps its direction; a moment, or a force that turns along, has
        none."""
        if self.node:
            return None  # `stored` says where the node is
        return self._held(place_of(model, self.body, self.point, rotations, positions))

    def stored(self, rows: Any) -> Floats | None:
        if self.node:
            return self._held(rows.node_poses(self.body, self.node)[..., :3, 3])
        return super().stored(rows)

    def _held(self, there: Floats) -> Floats | None:
        if self.frame != "world" or np.any(self.moment):
            return None
        held: Floats = -(there * np.asarray(self.force)).sum(axis=-1)
        return held

    def drawn(self, rows: Any) -> Sequence[Arrow]:
        found = []
        for given, is_moment in ((self.force, False), (self.moment, True)):
            if np.any(given):
                fixed = np.tile(np.asarray(given, dtype=np.float64), (len(rows.t), 1))
                turns = self.frame == "body"
                vectors = rows.turned(self.body, given, self.node) if turns else fixed
                place = (self.body, vectors, self.point)
                found.append(Arrow(*place, is_moment=is_moment, node=self.node))
        return found

    def momentum_obstacle(self) -> str:
        turns = self.frame != "world" and np.any(self.force)
        return f"a force turns with body {self.body!r}" if turns else ""

    def turning_obstacle(self) -> str:
        return f"a wrench acts on body {self.body!r}"

    def outer_force(self) -> Vector:
        return self.force
