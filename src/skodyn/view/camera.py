"""A first view that shows the motion: where to look from, and whether to follow a body."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.model.shapes import HalfSpace
from skodyn.view.outline import level
from skodyn.view.recording import Recording

__all__ = [
    "FIELD_OF_VIEW",
    "Camera",
    "View",
    "first_view",
    "floor_height",
    "kept_in_sight",
    "looking",
    "with_room",
]

FIELD_OF_VIEW = math.radians(32)  # the smaller of height and width
_ELEVATION = math.radians(14)
_ASIDE = math.radians(22)  # off the direction that would show a plane motion flat
_WIDE = 1.2  # pictures are at least so much wider than high
_SUNK = 0.05  # of the extent: so far below height 0 what is held to the world may reach
_FAR, _FAR_ON_GROUND = 2.5, 8.0  # sizes that a free model travels before it is followed
_FILLED = 0.8  # share of the picture's height that the motion takes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Camera:
    """What a person asks of a film: a body to follow by name, angles in degrees, a zoom."""

    follow: str | None = None
    azimuth: float | None = None
    elevation: float | None = None
    zoom: float = 1.0


@dataclass(frozen=True)
class View:
    """An eye on a sphere around a target. Follow: the target moves with a body (−1: none)."""

    target: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    follow: int
    floor: float  # height of the floor
    cell: float  # width of a cell of the grid on it
    close: bool = False  # a zoom was asked for: what is followed need not be whole in sight

    def axes(self) -> Floats:
        """Rows: right, up, and back towards the eye."""
        a, e = self.azimuth, self.elevation
        back = np.array((math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)))
        right = np.array((-math.sin(a), math.cos(a), 0.0))
        return np.stack((right, np.cross(back, right), back))


def first_view(recording: Recording, extent: float) -> View:
    """All of the motion in view; if a free model travels far, the model itself."""
    points = recording.outline()
    middle = points.mean(axis=1, keepdims=True)
    whole = float(np.linalg.norm(points - points.mean(axis=(0, 1)), axis=2).max())
    own = float(np.linalg.norm(points - middle, axis=2).max())
    follow = -1
    floor = floor_height(recording, extent)
    if (
        whole > (_FAR_ON_GROUND if recording.model.collisions.get(GROUND) else _FAR) * own
        and recording.model.joints[0].is_floating
    ):
        follow = 0
        points = points - middle
    flat = points.reshape(-1, 3)
    azimuth = _facing(flat - flat.mean(axis=0))
    view = View((0.0, 0.0, 0.0), 1.0, azimuth, _ELEVATION, follow, floor, 1.0)
    if follow < 0:  # what stands around the motion, as far as it is near
        size = float(np.linalg.norm(np.ptp(flat, axis=0)))
        low, high = flat.min(axis=0) - size / 2, flat.max(axis=0) + size / 2
        flat = np.concatenate((flat, np.clip(recording.surroundings(), low, high)))
    target, distance = _fitted(view.axes(), flat, 0.02 * extent)
    if follow >= 0:
        target = recording.centres()[0, 0]
    x, y, z = (float(c) for c in target)
    return View((x, y, z), distance, azimuth, _ELEVATION, follow, floor, _round(distance / 10))


def floor_height(recording: Recording, extent: float) -> float:
    """Where the floor is: at a level half space of the ground; at height 0 for what is held to the
    world, unless the motion goes well below it; else at the lowest point of the motion."""
    model = recording.model
    heights = []
    for one in model.collisions.get(GROUND, ()):
        if isinstance(one.shape, HalfSpace) and level(one, model.gravity):
            point = one.translation + one.rotation @ np.asarray(one.shape.point, dtype=np.float64)
            heights.append(float(recording.upright[2] @ point))
    if heights:
        return max(heights)
    lowest = float(recording.outline()[..., 2].min())
    roots = [j for j, p in zip(model.joints, model.parent.tolist(), strict=True) if p < 0]
    held = not all(joint.is_floating for joint in roots)
    if held and lowest > -_SUNK * extent:
        return 0.0
    return lowest - 0.06 * extent if held else lowest


def with_room(view: View, recording: Recording) -> View:
    """A view for a motion that is not known yet: what is held to the world stays in sight wherever
    its joints may go, and above the floor, unless that is the ground or at height 0."""
    model = recording.model
    if model.joints[0].is_floating:
        return replace(view, distance=1.3 * view.distance)
    depths: list[float] = []
    for p, arm in zip(model.parent.tolist(), model.translation, strict=True):
        depths.append(0.0 if p < 0 else depths[p] + float(np.linalg.norm(arm)))
    own = np.linalg.norm(model.com, axis=1) + recording.scene.reaches
    reach = float((np.array(depths) + own).max())
    root = recording.positions[0, 0]
    distance = max(view.distance, 1.1 * reach / math.sin(FIELD_OF_VIEW / 2))
    floor = view.floor
    if floor != 0.0 and not model.collisions.get(GROUND):
        floor = min(floor, float(root[2]) - 1.02 * reach)
    return replace(view, target=_triple(root), distance=distance, floor=floor)


def looking(view: View, camera: Camera, recording: Recording) -> View:
    """The view with what a person asked for instead of what was found."""
    model = recording.model
    if camera.follow is not None:
        k = model.body_index(camera.follow)
        view = replace(view, follow=k, target=_triple(recording.centres()[0, k]))
    if camera.azimuth is not None:
        view = replace(view, azimuth=math.radians(camera.azimuth))
    if camera.elevation is not None:
        view = replace(view, elevation=math.radians(camera.elevation))
    return replace(view, distance=view.distance / camera.zoom, close=camera.zoom != 1.0)


def kept_in_sight(view: View, centres: Floats, reaches: Floats) -> View:
    """Follow at this frame: look at the body, and back off as far as the whole needs, unless a
    zoom was asked for. centres: of all bodies, (n, 3). The page does the same (camera.js)."""
    if view.follow < 0:
        return view
    target = centres[view.follow]
    distance = view.distance
    if not view.close:
        reach = float((np.linalg.norm(centres - target, axis=1) + reaches).max())
        distance = max(distance, 1.04 * reach / math.sin(FIELD_OF_VIEW / 2))
    return replace(view, target=_triple(target), distance=distance)


def _triple(point: Floats) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in point)
    return x, y, z


def _fitted(axes: Floats, points: Floats, margin: float) -> tuple[Floats, float]:
    """Target and distance that fill the picture with these points."""
    seen = points @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    offset = seen - (low + high) / 2
    half = math.tan(FIELD_OF_VIEW / 2) * _FILLED
    across = np.maximum(np.abs(offset[:, 0]) / _WIDE, np.abs(offset[:, 1])) + margin
    return axes.T @ ((low + high) / 2), float((across / half + offset[:, 2]).max())


def _facing(points: Floats) -> float:
    """The azimuth of the eye, across the horizontal direction in which most happens."""
    spread = points[:, :2].T @ points[:, :2]
    along = np.linalg.eigh(spread)[1][:, 1]
    along = along if along[np.argmax(np.abs(along))] > 0 else -along
    return math.atan2(-along[0], along[1]) + _ASIDE


def _round(size: float) -> float:
    """1, 2 or 5 times a power of ten, near this size."""
    power = 10.0 ** math.floor(math.log10(size))
    return min((1.0, 2.0, 5.0, 10.0), key=lambda m: abs(m * power - size)) * power
