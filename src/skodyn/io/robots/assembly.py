"""Parts joined into bodies: a part on a fixed joint becomes a frame of what carries it.

The mass m, centre of mass c and inertia I (about c) of a body made of parts k, all in its axes:

    m = Σ m_k      c = Σ m_k c_k / m      I = Σ R_k I_k R_kᵀ + m_k (|d|² 1 − d dᵀ),  d = c_k − c

which is the parallel axis theorem about the common centre of mass: no large numbers cancel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from skodyn.conventions import GROUND
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Fixed, Joint
from skodyn.model.products import applied, dot, product, total
from skodyn.model.shapes import Visual
from skodyn.typing import Floats

__all__ = [
    "Carrier",
    "Part",
    "Weight",
    "assemble",
    "beyond",
    "combined",
    "placed_visuals",
    "seen_from",
]

IDENTITY: Floats = np.eye(3)
IDENTITY.setflags(write=False)
ORIGIN: Floats = np.zeros(3)
ORIGIN.setflags(write=False)


class Weight(NamedTuple):
    """Mass, centre of mass, and inertia about it."""

    mass: float
    com: Floats
    inertia: Floats


WEIGHTLESS = Weight(0.0, ORIGIN, np.zeros((3, 3)))


@dataclass(frozen=True)
class Part:
    """One link as a file describes it, its joint frame placed in the parent part."""

    name: str
    parent: str
    joint: Joint
    rotation: Floats = field(default_factory=lambda: IDENTITY)
    translation: Floats = field(default_factory=lambda: ORIGIN)
    weight: Weight = WEIGHTLESS
    visuals: tuple[Visual, ...] = ()


class Carrier(NamedTuple):
    """The body that a part belongs to, and the part's frame in it."""

    body: str
    rotation: Floats
    translation: Floats


def assemble(
    builder: ModelBuilder, parts: Sequence[Part], ground: Iterable[str], merge_fixed: bool
) -> dict[str, Carrier]:
    """Add the parts, parents first, to a builder; say where each went.

    ground: the parts that are the world itself.
    """
    carriers = {GROUND: Carrier(GROUND, IDENTITY, ORIGIN)}
    carriers |= dict.fromkeys(ground, carriers[GROUND])
    gathered: dict[str, list[Weight]] = {GROUND: []}
    bodies: list[tuple[Part, Carrier]] = []
    for part in parts:
        place = beyond(carriers[part.parent], part.rotation, part.translation)
        if merge_fixed and isinstance(part.joint, Fixed):
            carriers[part.name] = place
        else:
            bodies.append((part, place))
            carriers[part.name] = Carrier(part.name, IDENTITY, ORIGIN)
            gathered[part.name] = []
        inside = carriers[part.name]
        gathered[inside.body].append(seen_from(inside, part.weight))
    for part, place in bodies:
        weight = combined(gathered[part.name])
        builder.add_body(
            part.name, place.body, part.joint, rotation=place.rotation,
            translation=place.translation.tolist(), mass=weight.mass, com=weight.com.tolist(),
            inertia=weight.inertia,
        )  # fmt: skip
    for name, at in carriers.items():
        if name not in (at.body, GROUND):
            origin = at.translation.tolist()
            builder.add_frame(name, at.body, rotation=at.rotation, translation=origin)
    return carriers


def beyond(held: Carrier, rotation: Floats, translation: Floats) -> Carrier:
    """What is placed in a part, seen from the body of that part."""
    origin = held.translation + applied(held.rotation, translation)
    return Carrier(held.body, product(held.rotation, rotation), origin)


def combined(weights: Sequence[Weight]) -> Weight:
    """Several rigid weights, given in the same axes, as one."""
    if len(weights) == 1:
        return weights[0]
    mass = total(w.mass for w in weights)
    com: Floats = sum((w.mass * w.com for w in weights), ORIGIN) / mass if mass else ORIGIN
    inertia = np.zeros((3, 3))
    for w in weights:
        d = w.com - com
        inertia += w.inertia + w.mass * (dot(d, d) * IDENTITY - np.outer(d, d))
    return Weight(mass, com, inertia)


def seen_from(place: Carrier, weight: Weight) -> Weight:
    """A part's weight in the axes of its body."""
    if place.rotation is IDENTITY:
        return weight
    turn = place.rotation
    inertia = product(product(turn, weight.inertia), turn.T)
    com = place.translation + applied(turn, weight.com)
    return Weight(weight.mass, com, 0.5 * (inertia + inertia.T))


def placed_visuals(
    parts: Iterable[Part], carriers: dict[str, Carrier]
) -> dict[str, tuple[Visual, ...]]:
    """What each body shows, in its own axes."""
    shown: dict[str, list[Visual]] = {}
    for part in parts:
        at = carriers[part.name]
        for visual in part.visuals:
            rotation = at.rotation @ visual.rotation
            translation = at.translation + at.rotation @ visual.translation
            moved = replace(visual, rotation=rotation, translation=translation)
            shown.setdefault(at.body, []).append(moved)
    return {body: tuple(visuals) for body, visuals in shown.items()}
