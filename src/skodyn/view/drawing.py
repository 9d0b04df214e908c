"""A frame of a replay as an image, without a display: floor, shadows, shaded shapes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.view.arrows import ARROW_LAYERS
from skodyn.view.bent_shapes import LAYER, scale_colours
from skodyn.view.camera import FIELD_OF_VIEW, Camera, View, first_view, kept_in_sight, looking
from skodyn.view.raster import Eye, Floor, fill_triangles, paint_floor
from skodyn.view.recording import Recording
from skodyn.view.rotations import rotated
from skodyn.view.scene import Batch, Scene
from skodyn.view.shapes import Mesh, unit_vectors

__all__ = ["Painter"]

Floats = NDArray[np.float64]

_FINER = 2  # pixels are drawn so many times finer, then averaged
_SKY_TOP, _SKY_LOW = np.array((0.86, 0.89, 0.93)), np.array((0.955, 0.964, 0.976))
_GROUND, _PLAIN = np.array((0.925, 0.935, 0.948)), np.array((0.933, 0.945, 0.961))
_FLOOR, _LINES = np.array((0.985, 0.988, 0.992)), np.array((0.66, 0.71, 0.77))
_LIGHT = np.array((-0.35, -0.55, 1.0)) / np.linalg.norm((-0.35, -0.55, 1.0))
_FLAT = 1e-9  # how thick a shape without thickness is, for the direction of its faces
_IN_FRONT = 1e3  # how much nearer arrows count: they are not hidden by what they act on
_DARK = 0.17  # how much light a shadow takes


class _Shapes(NamedTuple):
    """A batch, ready to be moved: vertices and normals in body frames, one group for each shape."""

    bodies: NDArray[np.int64]
    vertices: Floats  # (shapes, V, 3)
    normals: Floats
    colours: Floats  # (shapes, 1 or V, 3)
    triangles: NDArray[np.int64]  # (shapes · T, 3)
    layer: str


class _Drawn(NamedTuple):
    """Shapes where they are in one frame."""

    shapes: _Shapes
    points: Floats
    normals: Floats


class Painter:
    """Draws frames of one recording at one size (width, height)."""

    def __init__(
        self, recording: Recording, size: tuple[int, int], camera: Camera | None = None
    ) -> None:
        self.recording, self.size = recording, size
        scene = recording.scene
        self.view = looking(first_view(recording, scene.extent), camera or Camera(), recording)
        self.extent = scene.extent
        self.shapes = [_shapes(batch, scene, recording.upright) for batch in _shown(scene)]
        self.with_floor = bool(np.any(recording.model.gravity))

    def frame(self, t: float) -> NDArray[np.uint8]:
        """The picture at a time, (height, width, 3)."""
        positions, turns = self.recording.at(t)
        view = self._view(positions, turns)
        eye = _Eye(view, self.size, _FINER)
        rotations = _matrices(np.concatenate(([[1.0, 0, 0, 0]], turns)))
        origins = np.concatenate((np.zeros((1, 3)), positions))
        drawn = [_Drawn(one, *_moved(one, rotations, origins)) for one in self._shapes_at(t)]
        drawn += [_Drawn(one, *_moved(one, rotations, origins)) for one in self._bent_at(t)]
        image, on_floor = self._background(view)
        if self.with_floor:
            image = image * (1 - _DARK * on_floor * self._shadow(drawn, eye, view))[..., None]
        colours, covered = self._bodies(drawn, eye)
        image = image * (1 - covered[..., None]) + colours
        return np.asarray(np.clip(image * 255 + 0.5, 0, 255), dtype=np.uint8)

    def _shapes_at(self, t: float) -> list[_Shapes]:
        """Those of bodies, and those of loops that are made for each frame."""
        scene = self.recording.scene
        moving = [batch for batch in self.recording.moving(t) if batch.layer in scene.shown]
        level = np.eye(3)  # they are in the picture's axes
        return self.shapes + [_shapes(batch, scene, level) for batch in moving]

    def _bent_at(self, t: float) -> list[_Shapes]:
        """Surfaces of flexible bodies as they are at a time."""
        scene = self.recording.scene
        if LAYER not in scene.shown:
            return []
        largest = self.recording.largest_deflection or 1.0
        found = []
        for shape, modes in self.recording.bending(t):
            vertices, normals, far = shape.surface(modes)
            plain = np.broadcast_to(shape.colour, vertices.shape)
            colours = scale_colours(far / largest) if "deflection" in scene.shown else plain
            parts = (vertices[None], normals[None], colours[None], shape.triangles, LAYER)
            found.append(_Shapes(np.array([shape.body + 1]), *parts))
        return found

    def _bodies(self, drawn: list[_Drawn], eye: _Eye) -> tuple[Floats, Floats]:
        """Colours of the shapes, and the share of each pixel that they cover."""
        nearness, image = eye.canvas()
        for shapes, points, normals in drawn:
            if shapes.layer == LAYER:  # faces of files may run either way round
                away = ((eye.place - points) * normals).sum(axis=2, keepdims=True) < 0
                normals = np.where(away, -normals, normals)
            colours = _shaded(points, normals, shapes.colours, eye.place)
            flat = eye.project(points.reshape(-1, 3))
            flat[:, 2] *= _IN_FRONT if shapes.layer in ARROW_LAYERS else 1.0
            paint = np.ascontiguousarray(colours).reshape(-1, 3)
            fill_triangles(flat, paint, shapes.triangles, nearness, image)
        return _averaged(image), _averaged(nearness > 0)

    def _shadow(self, drawn: list[_Drawn], eye: _Eye, view: View) -> Floats:
        """The share of each pixel where a shape keeps the light from the floor; forces do not."""
        nearness, image = eye.canvas()
        for shapes, points, _normals in drawn:
            if shapes.layer in (*ARROW_LAYERS, "ground", "frames"):
                continue
            above = points.reshape(-1, 3)
            fallen = above - (above[:, 2:] - view.floor) / _LIGHT[2] * _LIGHT
            flat = eye.project(fallen)
            fill_triangles(flat, np.zeros_like(flat), shapes.triangles, nearness, image)
        return _averaged(nearness > 0)

    def _view(self, positions: Floats, turns: Floats) -> View:
        if self.view.follow < 0:
            return self.view
        centres = positions + rotated(turns, self.recording.model.com)
        return kept_in_sight(self.view, centres, self.recording.scene.reaches)

    def _background(self, view: View) -> tuple[Floats, Floats]:
        """Sky and floor, and how much floor each pixel shows."""
        eye = _Eye(view, self.size)
        sky = _sky(eye) if self.with_floor else np.broadcast_to(_PLAIN, (eye.height, eye.width, 3))
        sky = np.ascontiguousarray(sky)
        on_floor = np.zeros((eye.height, eye.width))
        if self.with_floor:
            target, reach = np.array(view.target), 3 * view.distance
            floor = Floor(target, reach, view.floor, view.cell, _FLOOR, _LINES)
            paint_floor(Eye(eye.place, eye.axes, eye.focus), floor, sky, on_floor)
        return sky, on_floor


class _Eye:
    """Where the picture is seen from, and where on it points lie."""

    def __init__(self, view: View, size: tuple[int, int], finer: int = 1) -> None:
        self.axes = view.axes()
        self.place = np.array(view.target) + view.distance * self.axes[2]
        self.width, self.height = width, height = finer * size[0], finer * size[1]
        self.focus = min(width, height) / 2 / math.tan(FIELD_OF_VIEW / 2)  # in pixels

    def project(self, points: Floats) -> Floats:
        """(V, 3): x, y in pixels, nearness."""
        seen = (points - self.place) @ self.axes.T
        with np.errstate(divide="ignore"):
            near = np.where(seen[:, 2] < 0, -1 / seen[:, 2], 0.0)
        x = self.width / 2 + self.focus * seen[:, 0] * near
        y = self.height / 2 - self.focus * seen[:, 1] * near
        return np.stack((x, y, near), axis=1)

    def canvas(self) -> tuple[Floats, Floats]:
        """Nearness and colours of an empty picture."""
        return np.zeros((self.height, self.width)), np.zeros((self.height, self.width, 3))


def _sky(eye: _Eye) -> Floats:
    """Sky above the horizon, ground below it, as in the page."""
    x = (np.arange(eye.width) + 0.5 - eye.width / 2)[None, :, None] / eye.focus
    y = (eye.height / 2 - np.arange(eye.height) - 0.5)[:, None, None] / eye.focus
    rays = x * eye.axes[0] + y * eye.axes[1] - eye.axes[2]
    rise = unit_vectors(rays)[..., 2:]
    up = np.clip(rise / 0.6, 0, 1)
    sky = _SKY_LOW + up * up * (3 - 2 * up) * (_SKY_TOP - _SKY_LOW)
    below = _GROUND + 0.35 * np.exp(8 * np.minimum(rise, 0)) * (_SKY_LOW - _GROUND)
    soft = np.clip(rise * eye.focus + 0.5, 0, 1)
    return np.asarray(below + soft * (sky - below))


def _averaged(fine: NDArray[Any]) -> Floats:
    """The mean over the fine pixels of each pixel."""
    parts = [fine[i::_FINER, j::_FINER] for i in range(_FINER) for j in range(_FINER)]
    return np.asarray(sum(part.astype(np.float64) for part in parts) / len(parts))


def _shown(scene: Scene) -> list[Batch]:
    return [batch for batch in scene.batches if batch.layer in scene.shown]


def _shapes(batch: Batch, scene: Scene, upright: Floats) -> _Shapes:
    mesh: Mesh = scene.meshes[batch.mesh]
    rows = batch.upright(upright).astype(np.float64)
    place, stretch = rows[:, None, 1:4], rows[:, None, 8:11]
    turn = _matrices(rows[:, 4:8]).transpose(0, 2, 1)
    vertices = (mesh.vertices.astype(np.float64) * stretch) @ turn + place
    thick = np.where(stretch == 0.0, _FLAT, stretch)
    normals = unit_vectors((mesh.normals / thick) @ turn)
    first = np.arange(len(rows))[:, None, None] * len(mesh.vertices)
    triangles = (mesh.triangles.astype(np.int64) + first).reshape(-1, 3)
    bodies = rows[:, 0].astype(np.int64) + 1  # 0 is the ground
    paint = 1.0 if mesh.colours is None else mesh.colours.astype(np.float64)
    return _Shapes(bodies, vertices, normals, rows[:, None, 11:14] * paint, triangles, batch.layer)


def _moved(shapes: _Shapes, rotations: Floats, origins: Floats) -> tuple[Floats, Floats]:
    turn = rotations[shapes.bodies].transpose(0, 2, 1)
    return shapes.vertices @ turn + origins[shapes.bodies][:, None], shapes.normals @ turn


def _shaded(points: Floats, normals: Floats, colours: Floats, eye: Floats) -> Floats:
    """The same light as in the page's shader."""
    view = unit_vectors(eye - points)
    sun = np.maximum(normals @ _LIGHT, 0.0)[..., None]
    sky = 0.5 + 0.5 * normals[..., 2:]
    half = unit_vectors(view + _LIGHT)
    shine = np.maximum((normals * half).sum(axis=2, keepdims=True), 0.0) ** 40
    head = np.maximum((normals * view).sum(axis=2, keepdims=True), 0.0)
    light = 0.28 + 0.24 * sky + 0.42 * sun + 0.22 * head
    return np.asarray(colours * light + 0.16 * shine)


def _matrices(turns: Floats) -> Floats:
    """Rotation matrices of unit quaternions, (n, 3, 3)."""
    w, x, y, z = turns.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.asarray(np.moveaxis(np.array(rows), 2, 0))
