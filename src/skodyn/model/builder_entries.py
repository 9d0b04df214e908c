"""What each `add_…` of `ModelBuilder` was given, one record a call. Nothing is judged here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skodyn.model.joints import Joint
from skodyn.model.shapes import Surface

__all__ = [
    "BodyDescription",
    "CollisionDescription",
    "CouplingDescription",
    "FrameDescription",
    "LinkDescription",
    "LoopDescription",
    "MimicDescription",
    "VisualDescription",
]


@dataclass(frozen=True, slots=True)
class BodyDescription:
    """One body and the joint that carries it, as given."""

    name: str
    parent: str
    joint: Joint
    translation: Any
    rotation: Any
    mass: Any
    com: Any
    inertia: Any
    flexible: Any = None
    at: Any = None


@dataclass(frozen=True, slots=True)
class FrameDescription:
    """A named frame fixed in a body, as given."""

    name: str
    body: str
    translation: Any
    rotation: Any
    at: Any = None


@dataclass(frozen=True, slots=True)
class MimicDescription:
    """A joint that follows another, as given."""

    joint: str
    source: str
    multiplier: Any
    offset: Any


@dataclass(frozen=True, slots=True)
class LinkDescription:
    """A body whose joints are given by themselves, as given."""

    name: str
    mass: Any
    com: Any
    inertia: Any


@dataclass(frozen=True, slots=True)
class LoopDescription:
    """A joint that closes a loop, or one between links, and the frames it joins, as given."""

    name: str
    body_a: str
    body_b: str
    joint: Joint
    translation_a: Any
    rotation_a: Any
    translation_b: Any
    rotation_b: Any


@dataclass(frozen=True, slots=True)
class CouplingDescription:
    """A relation of joint coordinates, as given."""

    name: str
    joint: Any
    source: Any
    coefficients: Any
    terms: Any
    offset: Any


@dataclass(frozen=True, slots=True)
class CollisionDescription:
    """A shape of a body that can touch others, as given."""

    name: Any
    body: Any
    shape: Any
    translation: Any
    rotation: Any
    surface: Surface | None = None


@dataclass(frozen=True, slots=True)
class VisualDescription:
    """A shape of a body to look at, as given."""

    name: Any
    body: Any
    shape: Any
    translation: Any
    rotation: Any
    color: Any = None
