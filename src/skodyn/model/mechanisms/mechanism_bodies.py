"""A mechanism whose tree is known, as bodies and loops."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.model.builder_entries import BodyDescription
from skodyn.model.columns import read_column, read_rotations
from skodyn.model.mechanisms.mechanism_checks import text_of
from skodyn.model.mechanisms.mechanism_graph import Graph
from skodyn.model.products import applied, product
from skodyn.model.subjects import MODEL
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = ["as_bodies", "with_lists"]


def with_lists(described: ModelBuilder, **lists: list[Any]) -> ModelBuilder:
    other = copy(described)
    for name, given in lists.items():
        setattr(other, name, given)
    return other


@dataclass(frozen=True)
class _Places:
    """The body frames of links, in the axes that the links were described in."""

    number: dict[str, int]  # of each link
    rotation: Floats
    translation: Floats

    def moved(self, given: list[Any], body: str, translation: str, rotation: str) -> list[Any]:
        """The same things, placed in the body frames of the links they are fixed in.

        The last three are the names of their fields. What is no number is left as it was: the
        checks of the model will say so.
        """
        rows = [k for k, x in enumerate(given) if text_of(getattr(x, body)) in self.number]
        links = [self.number[getattr(given[k], body)] for k in rows]
        shifts, turns = ([getattr(given[k], key) for k in rows] for key in (translation, rotation))
        origin, faults = read_column(shifts, (3,), translation, lambda k: MODEL)
        axes, more = read_rotations(turns, lambda k: MODEL)
        if faults or more or not rows:
            return [*given]
        back = self.rotation[links].transpose(0, 2, 1)
        origin = applied(back, origin - self.translation[links])
        axes = product(back, axes)
        found = list(given)
        for k, x, r in zip(rows, origin, axes, strict=True):
            found[k] = replace(given[k], **{translation: x, rotation: r})
        return found


def as_bodies(
    graph: Graph, through: list[int], frames: dict[str, Floats], columns: tuple[Floats, Floats]
) -> ModelBuilder:
    described = graph.described
    places = _places(graph, through, frames)
    joints = places.moved(described.joints, "body_a", "translation_a", "rotation_a")
    joints = places.moved(joints, "body_b", "translation_b", "rotation_b")
    loops = places.moved(described.loops, "body_a", "translation_a", "rotation_a")
    loops = places.moved(loops, "body_b", "translation_b", "rotation_b")
    back = places.rotation.transpose(0, 2, 1)
    com = applied(back, columns[0] - places.translation)
    inertia = product(product(back, columns[1]), places.rotation)
    bodies = places.moved(described.bodies, "parent", "translation", "rotation")
    for i, link in enumerate(described.links):
        number = through[graph.first_link + i]
        joint = joints[number - graph.first_joint]
        carried_by, turned = joint.joint, graph.edges[number].a == graph.first_link + i
        parent, at, axes = (
            (joint.body_b, joint.translation_b, joint.rotation_b)
            if turned
            else (joint.body_a, joint.translation_a, joint.rotation_a)
        )
        carried_by = replace(carried_by.reversed() if turned else carried_by, name=joint.name)
        bodies.append(
            BodyDescription(link.name, parent, carried_by, at, axes, link.mass, com[i], inertia[i])
        )
    used = set(through)
    loops = loops + [x for x in joints if graph.joint[x.name] not in used]
    lists = {
        name: places.moved(getattr(described, name), "body", "translation", "rotation")
        for name in ("frames", "collisions", "visuals")
    }
    return with_lists(described, bodies=bodies, loops=loops, links=[], joints=[], **lists)


def _places(graph: Graph, through: list[int], frames: dict[str, Floats]) -> _Places:
    links = range(graph.first_link, len(through))
    numbers = [through[k] for k in links]
    ends = ["a" if graph.edges[n].a == k else "b" for k, n in zip(links, numbers, strict=True)]

    def column(label: str, shape: tuple[int, ...]) -> Floats:
        rows = [
            frames[f"{label}_{end}"][n - graph.first_joint]
            for end, n in zip(ends, numbers, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, *shape)

    number = {link.name: i for i, link in enumerate(graph.described.links)}
    return _Places(number, _sharpened(column("rotation", (3, 3))), column("translation", (3,)))


def _sharpened(rotations: Floats) -> Floats:
    """The nearest rotations, by one step of Newton's; exact ones keep their bits.

    Otherwise what was rounded to 1e-9 in two places would be off by more in their product.
    """
    gram = product(rotations.transpose(0, 2, 1), rotations)
    return product(rotations, 1.5 * np.eye(3) - 0.5 * gram)
