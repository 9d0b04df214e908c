"""Where loops close, and what of them moves on its own: lines between two ends, arrows of wrenches.

Their shapes belong to no body. They are made anew for each frame, in the picture's axes; the page
makes the same (page/closures.js).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.model.model import Model
from skodyn.view.rotations import rotated

__all__ = [
    "ARROW_LOOKS",
    "CLOSING",
    "ArrowScale",
    "Ends",
    "arrows",
    "instances",
    "lines",
    "loop_ends",
    "places_of",
    "rgb",
]

CLOSING = "#A3254F"
"""The colour of closing joints."""

FORCE, MOMENT = "#F0801E", "#8A4FC0"
_LONGEST = 0.3  # of the model's extent
_BEYOND = 1.3  # arrows beyond the scale grow to so much of the longest one
_SHAFT, _HEAD, _HEAD_LENGTH = 0.006, 0.018, 0.055  # radii and length, of the extent
_USUAL = 0.9  # quantile of all frames: what is larger for a moment does not set the scale
LEAST = 1e-2  # length of a line, of the extent; between frames, closed pins come open a little
_NOTHING = 1e-9  # of the other kind of arrow times the extent

Floats = NDArray[np.float64]


def rgb(colour: str) -> list[float]:
    """Red, green and blue of a colour as #RRGGBB, from 0 to 1."""
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


ARROW_LOOKS: dict[str, Any] = {
    "colours": {"line": rgb(CLOSING), "force": rgb(FORCE), "moment": rgb(MOMENT)},
    "longest": _LONGEST,
    "beyond": _BEYOND,
    "shaft": _SHAFT,
    "head": _HEAD,
    "headLength": _HEAD_LENGTH,
    "least": LEAST,
}
"""The same for the page."""


class Ends(NamedTuple):
    """The frames that loops close, A of one body and B of another; −1 is the ground."""

    body_a: NDArray[np.int64]
    point_a: Floats  # (loops, 3), in their bodies; on the ground in the picture's axes
    body_b: NDArray[np.int64]
    point_b: Floats

    def places(self, positions: Floats, turns: Floats) -> tuple[Floats, Floats]:
        """Where A and B are, (…, loops, 3), given poses of all bodies, (…, n, 3) and (…, n, 4)."""
        a, b = (
            places_of(body, point, positions, turns)
            for body, point in ((self.body_a, self.point_a), (self.body_b, self.point_b))
        )
        return a, b


def loop_ends(model: Model, upright: Floats) -> Ends:
    """upright: from world axes to those of the picture."""

    def ends(which: str) -> tuple[NDArray[np.int64], Floats]:
        names = [getattr(loop, f"body_{which}") for loop in model.loops.values()]
        bodies = [-1 if name == GROUND else model.body_index(name) for name in names]
        points = [getattr(loop, f"translation_{which}") for loop in model.loops.values()]
        numbers = np.array(bodies, dtype=np.int64)
        places = np.reshape(np.array(points, dtype=np.float64), (-1, 3))
        places[numbers < 0] = places[numbers < 0] @ upright.T
        return numbers, places

    return Ends(*ends("a"), *ends("b"))


def places_of(
    bodies: NDArray[np.int64], points: Floats, positions: Floats, turns: Floats
) -> Floats:
    """Where points of bodies are."""
    shape = (*positions.shape[:-2], 1)
    origins = np.concatenate((np.zeros((*shape, 3)), positions), axis=-2)[..., bodies + 1, :]
    level = np.broadcast_to((1.0, 0.0, 0.0, 0.0), (*shape, 4))
    turned = np.concatenate((level, turns), axis=-2)[..., bodies + 1, :]
    return origins + rotated(turned, np.broadcast_to(points, origins.shape))


# ---- shapes of one frame, rows of scene.INSTANCE ------------------------------------------------


def lines(a: Floats, b: Floats, radius: float, extent: float) -> Floats:
    """Cylinders from points to others, where they can be told apart."""
    along = b - a
    length = np.linalg.norm(along, axis=1)
    far = length > LEAST * extent
    sizes = np.stack((np.full(far.sum(), radius),) * 2 + (length[far],), axis=1)
    return instances((a + b)[far] / 2, along[far], sizes, CLOSING)


class ArrowScale(NamedTuple):
    """What the longest arrow stands for, N or N·m; 0 if there is nothing to draw."""

    extent: float
    force: float
    moment: float

    @classmethod
    def of(cls, wrenches: Floats, extent: float) -> ArrowScale:
        """For (frames, loops, 6): moment; force."""
        sizes = [np.linalg.norm(wrenches[..., part], axis=2) for part in (slice(3, 6), slice(0, 3))]
        force, moment = (
            float(np.quantile(size.max(axis=1, initial=0.0), _USUAL)) if size.size else 0.0
            for size in sizes
        )
        return cls(
            extent,
            force if force * extent > _NOTHING * moment else 0.0,
            moment if moment > _NOTHING * force * extent else 0.0,
        )

    @property
    def length(self) -> float:
        """Of the arrows that stand for `force` or `moment`, m."""
        return _LONGEST * self.extent


def arrows(places: Floats, wrenches: Floats, scale: ArrowScale) -> dict[str, Floats]:
    """Instances by mesh for (loops, 3) places and (loops, 6) wrenches. A moment's arrow has two
    heads."""
    shafts, heads = [], []
    kinds = ((slice(3, 6), scale.force, FORCE, 1), (slice(0, 3), scale.moment, MOMENT, 2))
    for part, unit, colour, count in kinds:
        if not unit:
            continue
        vectors = wrenches[:, part] * (scale.length / unit)
        length = np.linalg.norm(vectors, axis=1)
        seen = length > _HEAD_LENGTH * scale.extent / 3
        at, along, length = places[seen], vectors[seen], length[seen]
        along = along / length[:, None]
        length = np.minimum(length, _BEYOND * scale.length)
        head = np.minimum(_HEAD_LENGTH * scale.extent, 0.6 * length)
        shaft = length - head
        shafts.append(_arrow_part(at, along, shaft / 2, shaft, _SHAFT * scale.extent, colour))
        for i in range(count):
            middle = length - head * (0.5 + 0.7 * i)
            heads.append(_arrow_part(at, along, middle, head, _HEAD * scale.extent, colour))
    if not shafts:
        return {}
    return {"cylinder": np.concatenate(shafts), "cone": np.concatenate(heads)}


def _arrow_part(
    at: Floats, along: Floats, middle: Floats, length: Floats, radius: float, colour: str
) -> Floats:
    wide = np.full(len(length), radius)
    sizes = np.stack((wide, wide, length), axis=1)
    return instances(at + middle[:, None] * along, along, sizes, colour)


def instances(places: Floats, along: Floats, sizes: Floats, colour: str | Sequence[str]) -> Floats:
    """Rows of shapes about z, turned to these directions; one colour, or one for each."""
    ground = np.full((len(places), 1), -1.0)
    painted = rgb(colour) if isinstance(colour, str) else np.reshape([*map(rgb, colour)], (-1, 3))
    colours = np.broadcast_to(painted, places.shape)
    return np.concatenate((ground, places, _turns_from_z(along), sizes, colours), axis=1)


def _turns_from_z(directions: Floats) -> Floats:
    """The shortest turns that bring z to these directions, as quaternions."""
    x, y, z = (directions / np.linalg.norm(directions, axis=1, keepdims=True)).T
    turns = np.stack((1.0 + z, -y, x, np.zeros_like(z)), axis=1)
    turns[1.0 + z < 1e-9] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(turns / np.linalg.norm(turns, axis=1, keepdims=True))
