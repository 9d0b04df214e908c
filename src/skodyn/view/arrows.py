"""Arrows that a replay can show on demand: contacts, velocities, weights, forces, springs.

Each field has some arrows that move with the frames. The page makes its shapes from the same
numbers (page/arrows.js).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.view.closures import ARROW_LOOKS, instances, places_of

__all__ = ["ARROW_LAYERS", "ArrowField", "Frames", "arrow_shapes"]

ARROW_LAYERS = (
    "wrenches", "contacts", "velocities", "weights", "forces", "torques", "springs",
)  # fmt: skip
"""Layers that are drawn in front of what they act on, and cast no shadow."""

_USUAL = 0.9  # quantile over frames of the longest arrow
_SHORTEST = 0.02  # of the longest; shorter arrows are not drawn

Floats = NDArray[np.float64]
Frames = tuple[int, int, float]
"""The frames before and after a time, and how far it is from one to the other."""


@dataclass(frozen=True)
class ArrowField:
    """Arrows of one kind, in the picture's axes."""

    layer: str
    words: str
    unit: str
    vectors: Floats  # (F, k, 3)
    colours: tuple[str, ...]
    keys: tuple[str, ...] = ()  # what the colours mean, if there are several
    places: Floats | None = None  # (F, k, 3), or else fixed in bodies:
    bodies: NDArray[np.int64] | None = None  # (k,), −1 is the ground
    points: Floats | None = None  # (k, 3), in their bodies; (F, k, 3) if they move in them
    states: NDArray[np.uint8] | None = None  # (F, k): which colour
    ends: tuple[NDArray[np.int64], Floats] | None = None  # bodies and points that lines lead to

    @property
    def count(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def sizes(self) -> Floats:
        """The largest of each frame."""
        return np.asarray(np.linalg.norm(self.vectors, axis=2).max(axis=1, initial=0.0))

    @property
    def usual(self) -> float:
        """What a long arrow stands for: what the largest reaches in nine of ten frames that have
        one."""
        found = self.sizes[self.sizes > 1e-9 * self.sizes.max(initial=0.0)]
        return float(np.quantile(found, _USUAL)) if found.size else 1.0

    def at(self, values: Floats, when: Frames) -> Floats:
        i, j, s = when
        return np.asarray((1 - s) * values[i] + s * values[j])

    def starts(self, positions: Floats, turns: Floats, when: Frames) -> Floats:
        """Where the arrows start, (k, 3)."""
        if self.places is not None:
            return self.at(self.places, when)
        assert self.bodies is not None
        assert self.points is not None
        return places_of(self.bodies, self._now(self.points, when), positions, turns)

    def far_ends(self, positions: Floats, turns: Floats, when: Frames) -> Floats:
        """Where the lines lead to, (k, 3)."""
        assert self.ends is not None
        bodies, points = self.ends
        return places_of(bodies, self._now(points, when), positions, turns)

    def _now(self, points: Floats, when: Frames) -> Floats:
        return points if points.ndim == 2 else self.at(points, when)

    @property
    def hung(self) -> Floats:
        """Points of the ground that lines lead to or start from, (points, 3)."""
        if self.ends is None or self.bodies is None or self.points is None:
            return np.zeros((0, 3))
        found = [(self.bodies, self.points), self.ends]
        still = [(k, points if points.ndim == 2 else points[0]) for k, points in found]
        return np.concatenate([points[k < 0] for k, points in still])


def arrow_shapes(
    field: ArrowField, poses: tuple[Floats, Floats], when: Frames, extent: float
) -> dict[str, Floats]:
    """Instances by mesh for one time."""
    looks = ARROW_LOOKS
    starts = field.starts(*poses, when)
    vectors = field.at(field.vectors, when)
    longest = looks["longest"] * extent
    length = np.linalg.norm(vectors, axis=1) * longest / field.usual
    seen = length > _SHORTEST * longest
    at, along = starts[seen], vectors[seen] / np.linalg.norm(vectors[seen], axis=1, keepdims=True)
    length = np.minimum(length[seen], looks["beyond"] * longest)
    head = np.minimum(looks["headLength"] * extent, 0.6 * length)
    shaft = length - head
    states = np.zeros(len(starts), dtype=np.int64)
    if field.states is not None:
        states = field.states[when[0] if when[2] < 0.5 else when[1]].astype(np.int64)
    colours = [field.colours[s] for s in states[seen].tolist()]

    def row(middle: Floats, size: Floats, wide: float) -> Floats:
        widths = np.full(len(size), wide * extent)
        sizes = np.stack((widths, widths, size), axis=1)
        return instances(at + middle[:, None] * along, along, sizes, colours)

    cylinders = [row(shaft / 2, shaft, looks["shaft"])]
    if field.ends is not None:
        line = field.far_ends(*poses, when) - starts
        size = np.linalg.norm(line, axis=1)
        far = size > 1e-6 * extent
        wide = np.full(int(far.sum()), 0.8 * looks["shaft"] * extent)
        sizes = np.stack((wide, wide, size[far]), axis=1)
        paint = [field.colours[-1]] * len(wide)
        cylinders.append(instances((starts + line / 2)[far], line[far], sizes, paint))
    cones = row(length - head / 2, head, looks["head"])
    return {"cylinder": np.concatenate(cylinders), "cone": cones}
