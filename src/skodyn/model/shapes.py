"""Shapes to look at: what a viewer draws of a body. They carry no mass and touch nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skodyn.model.columns import Floats

__all__ = ["Box", "Capsule", "Cylinder", "Ellipsoid", "Mesh", "Shape", "Sphere", "Visual"]

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Box:
    """Edges of these lengths along x, y and z, centred."""

    size: Triple


@dataclass(frozen=True)
class Cylinder:
    """About z, centred."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """About z, centred: a cylinder of this length with a half sphere at either end."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """Centred."""

    radius: float


@dataclass(frozen=True)
class Ellipsoid:
    """Half axes along x, y and z, centred."""

    radii: Triple


@dataclass(frozen=True)
class Mesh:
    """A mesh file as it was named, and where it is; None if it is in no search path."""

    filename: str
    path: Path | None
    scale: Triple = (1.0, 1.0, 1.0)


Shape = Box | Cylinder | Capsule | Sphere | Ellipsoid | Mesh


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape, its axes and origin in the body frame, and its colour (red, green, blue, alpha)."""

    shape: Shape
    rotation: Floats
    translation: Floats
    color: tuple[float, float, float, float] | None = None
    name: str = ""
