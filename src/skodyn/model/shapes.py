"""Shapes of bodies: those to look at (`Visual`) and those that touch (`Collision`).

None of them carries mass. What touches what, and how hard, is said by contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from skodyn.typing import Floats

__all__ = [
    "SHAPES",
    "Box",
    "Capsule",
    "Collision",
    "Cylinder",
    "Disk",
    "Ellipsoid",
    "HalfSpace",
    "HeightField",
    "Mesh",
    "Points",
    "Shape",
    "Sphere",
    "Touching",
    "Visual",
    "shape_text",
    "shape_word",
    "shape_words",
]

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


@dataclass(frozen=True)
class HalfSpace:
    """Everything below a plane: on the far side of `point` from where `normal` looks to."""

    point: Triple = (0.0, 0.0, 0.0)
    normal: Triple = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Disk:
    """A circle about z, centred, swept by a sphere of radius `edge`: a wheel, a coin, a ring.

    It reaches as far as radius + edge from its axis; with edge 0 its rim is sharp.
    """

    radius: float
    edge: float = 0.0


@dataclass(frozen=True)
class Points:
    """A cloud of points, or of equal small spheres."""

    points: tuple[Triple, ...]
    radius: float = 0.0


@dataclass(frozen=True)
class HeightField:
    """Ground whose height z is given on a grid over the rectangle of this size in x and y, centred.

    heights[i][j] is the height at the i-th x and the j-th y. Between them it is bicubic, with
    continuous slopes; beyond its edges the ground goes on level.
    """

    size: tuple[float, float]
    heights: tuple[tuple[float, ...], ...]


Shape = Box | Cylinder | Capsule | Sphere | Ellipsoid | Mesh
Touching = Shape | HalfSpace | Disk | Points | HeightField

SHAPES: dict[str, type[Touching]] = {
    "box": Box,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "disk": Disk,
    "ellipsoid": Ellipsoid,
    "half_space": HalfSpace,
    "height_field": HeightField,
    "mesh": Mesh,
    "points": Points,
    "sphere": Sphere,
}
"""Every shape by its word in files."""


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape, its axes and origin in the body frame, and its colour (red, green, blue, alpha)."""

    shape: Touching
    rotation: Floats
    translation: Floats
    color: tuple[float, float, float, float] | None = None
    name: str = ""


@dataclass(frozen=True)
class Surface:
    """What a robot file says of a shape that touches, besides its size; MuJoCo's words.

    Two shapes may touch if a bit of one's contype is in the other's conaffinity; never shapes in
    `apart`, always those in `paired` ("body/shape"). invweight: compliance of the body.
    """

    contype: int = 1
    conaffinity: int = 1
    apart: tuple[str, ...] = ()
    paired: tuple[str, ...] = ()
    friction: Triple = (0.0, 0.0, 0.0)  # sliding; torsional and rolling, m
    condim: int = 3
    priority: int = 0
    solmix: float = 1.0
    solref: tuple[float, ...] = (0.02, 1.0)
    solimp: tuple[float, ...] = (0.9, 0.95, 0.001, 0.5, 2.0)
    margin: float = 0.0
    gap: float = 0.0
    invweight: float = 0.0

    def lets(self, other: Surface) -> bool:
        """Whether bits of both let them touch."""
        return bool(self.contype & other.conaffinity or other.contype & self.conaffinity)


@dataclass(frozen=True)
class Proximity(Surface):
    """Drake's properties of a shape, which a URDF file gives; None where it does not."""

    stiffness: float | None = None  # point_contact_stiffness, N/m
    dissipation: float | None = None  # hunt_crossley_dissipation, s/m
    kinetic: float = 0.0  # mu_dynamic
    static: float = 0.0  # mu_static


@dataclass(frozen=True, eq=False)
class Collision:
    """A shape that can touch others, its axes and origin in the body frame, and its name."""

    shape: Touching
    rotation: Floats
    translation: Floats
    name: str
    surface: Surface | None = None


def shape_word(shape: Touching) -> str:
    """What a shape is called in files."""
    return next(word for word, kind in SHAPES.items() if isinstance(shape, kind))


def shape_text(shape: Touching) -> str:
    """All that decides a shape, as a text; where its file lies on this machine does not."""
    return repr(replace(shape, path=None) if isinstance(shape, Mesh) else shape)


def shape_words(shape: Touching) -> str:
    """A shape and its size, short."""
    word = shape_word(shape).replace("_", " ")
    if isinstance(shape, Points):
        return f"{len(shape.points)} points of radius {shape.radius:.6g}"
    if isinstance(shape, HeightField):
        return f"{word}, {len(shape.heights)} × {len(shape.heights[0])}"
    if isinstance(shape, Mesh):
        return f"{word} {shape.filename}"
    sizes = (f"{f.name} {_short(getattr(shape, f.name))}" for f in fields(shape))
    return f"{word}, {', '.join(sizes)}"


def _short(value: float | Triple) -> str:
    if isinstance(value, tuple):
        return " × ".join(f"{x:.6g}" for x in value)
    return f"{value:.6g}"
