"""Shapes of robot files that can touch: names that contacts can use, and hulls of meshes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from skodyn.io.robots.assembly import Carrier
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.names import unique
from skodyn.model.description import ModelBuilder
from skodyn.model.products import applied, product
from skodyn.model.shapes import Mesh, Points, Surface, Touching, shape_word
from skodyn.typing import Floats

__all__ = ["FileShape", "add_shapes", "has_size", "hull_points", "thinned"]

MOST_POINTS = 32
"""Of a hull; what lies within these points is left out."""
_IN_PATTERNS = str.maketrans(dict.fromkeys("/*?[]", "_"))


@dataclass(frozen=True)
class FileShape:
    """A shape of a part, placed in it."""

    part: str
    shape: Touching
    rotation: Floats
    translation: Floats
    name: str
    surface: Surface | None = None


def has_size(shape: Touching) -> bool:
    """Whether nothing of it is zero, so that it can touch."""
    if isinstance(shape, Mesh):
        return True
    sizes = (getattr(shape, f.name) for f in fields(shape) if f.name != "length")
    return all(np.all(np.asarray(size) > 0.0) for size in sizes)


def add_shapes(
    builder: ModelBuilder, shapes: Iterable[FileShape], carriers: dict[str, Carrier]
) -> None:
    """Give bodies their shapes; until here `apart` and `paired` of surfaces are their numbers."""
    taken: dict[str, set[str]] = {}
    placed = []
    for one in shapes:
        at = carriers[one.part]
        name = one.name.translate(_IN_PATTERNS).strip() or shape_word(one.shape)
        placed.append((one, at, unique(name, taken.setdefault(at.body, set()))))
    words = [name if at.body == "world" else f"{at.body}/{name}" for _, at, name in placed]
    for one, at, name in placed:
        surface = one.surface
        if surface is not None:
            surface = replace(
                surface,
                apart=tuple(words[int(number)] for number in surface.apart),
                paired=tuple(words[int(number)] for number in surface.paired),
            )
        place = at.translation + applied(at.rotation, one.translation)
        turn = product(at.rotation, one.rotation)
        builder.add_collision(
            at.body, one.shape, translation=place.tolist(), rotation=turn, name=name,
            surface=surface,
        )  # fmt: skip


def hull_points(vertices: Any, name: str, findings: Findings) -> Points | None:
    """The corners of the hull of a mesh; None, and a note, if it has none."""
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        findings.fault(
            0, "Hulls of meshes need the package scipy", "install it, or load without hulls."
        )
        return None
    points = np.unique(np.asarray(vertices, dtype=np.float64), axis=0)
    try:
        corners = points[np.sort(ConvexHull(points).vertices)]
    except (QhullError, ValueError, IndexError):
        findings.unused("Meshes without a hull of their own do not touch", name)
        return None
    kept, lost = thinned(corners)
    words = f"{name}: {len(kept)} corners"
    if len(kept) < len(corners):
        words += f" of {len(corners)}, others up to {lost:.2g} m away"
    findings.unused("Meshes touch by corners of their hulls", words)
    return Points(tuple((float(x), float(y), float(z)) for x, y, z in kept))


def thinned(points: Floats) -> tuple[Floats, float]:
    """(at most so many points, each the farthest from those before; how far others are)."""
    chosen = [int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < min(MOST_POINTS, len(points)):
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return points[sorted(chosen)], float(distance.max())
