"""What is drawn of flexible bodies: surfaces whose points move with the shapes.

A beam is its outline swept along the centre line: each section is carried by a point of that line
(a station) and turns with it. An imported body is its faces: each corner is a station without
turns. The page moves the same points in its vertex shader (page/bent.js).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics.flexible_nodes import shape_amounts, turn
from skodyn.model.flexible.beams import Beam
from skodyn.model.flexible.modal_body import FlexibleBody, FlexibleDisplay
from skodyn.model.model import Model
from skodyn.view.shapes import Mesh, unit_vectors

__all__ = ["LAYER", "SCALE", "BentShape", "bent_shapes", "piece_mesh", "scale_colours"]

LAYER = "bending"
_ROUND = 8  # corners: outlines with more are smooth
_THINNEST = 0.004  # of the model's size: half the width that a thin strip is drawn with

SCALE = ((0.19, 0.24, 0.57), (0.13, 0.53, 0.66), (0.37, 0.73, 0.46), (0.96, 0.82, 0.25),
         (0.84, 0.25, 0.16))  # fmt: skip
"""Colours from no deflection to the largest of the run, in equal steps."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BentShape:
    """The surface of one flexible body, V corners on s stations; n shapes, as in `flexible`."""

    body: int
    flexible: FlexibleBody
    colour: Floats
    stations: Floats  # (s, 3), undeformed
    moves: Floats  # (s, 3, n)
    turns: Floats | None  # (s, 3, n); None: corners are stations, faces say their normals
    station: NDArray[np.int64]  # (V,)
    arms: Floats  # (V, 3), from the station
    normals: Floats  # (V, 3), undeformed
    triangles: NDArray[np.int64]  # (T, 3)

    def moved(self, modes: Floats) -> Floats:
        """How far the stations have moved, (…, s, 3), for modes (…, m)."""
        found: Floats = np.einsum(
            "sxn,...n->...sx", self.moves, shape_amounts(self.flexible, modes)
        )
        return found

    def surface(self, modes: Floats) -> tuple[Floats, Floats, Floats]:
        """Corners and normals in body axes, (V, 3), and how far each moved, (V,)."""
        moved = self.moved(modes)
        points = (self.stations + moved)[self.station]
        far = np.linalg.norm(moved, axis=1)[self.station]
        if self.turns is None:
            return points, _face_normals(points, self.triangles), far
        amounts = shape_amounts(self.flexible, modes)
        turned = turn(np.einsum("sxn,n->sx", self.turns, amounts))[self.station]
        arms, normals = (np.einsum("vij,vj->vi", turned, x) for x in (self.arms, self.normals))
        return points + arms, normals, far


def bent_shapes(model: Model, colours: list[str], extent: float) -> tuple[BentShape, ...]:
    """One for each body with modes that says how it looks."""
    found = []
    for name, body in model.flexible.items():
        k = model.body_index(name)
        if body.display is None or not (len(body.display.faces) or len(body.display.outline)):
            continue  # nobody said how it looks
        colour = np.array([int(colours[k][i : i + 2], 16) / 255 for i in (1, 3, 5)])
        make = _faces if len(body.display.faces) else _swept
        found.append(make(k, body, body.display, colour, extent))
    return tuple(found)


def scale_colours(share: Floats) -> Floats:
    """The colours of shares of the largest deflection, (…, 3)."""
    place = np.linspace(0.0, 1.0, len(SCALE))
    columns = [np.interp(share, place, column) for column in zip(*SCALE, strict=True)]
    return np.stack(columns, axis=-1)


def piece_mesh(beam: Beam | FlexibleBody, extent: float) -> Mesh:
    """A section of a beam with segments, from x = 0 to 1, to be stretched to its piece."""
    assert isinstance(beam, Beam)  # nothing else has segments
    rows = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    made = _sweep(rows, _visible(np.array(beam.numbers.outline), extent))
    corners = (rows[made[0]] + made[1]).astype(np.float32)
    return Mesh(corners, made[2].astype(np.float32), made[3].astype(np.uint32))


# ---- beams --------------------------------------------------------------------------------------


def _swept(
    k: int, body: FlexibleBody, display: FlexibleDisplay, colour: Floats, extent: float
) -> BentShape:
    outline = _visible(display.outline, extent)
    parts = _sweep(display.points, outline)
    moves, turns = display.translation, display.rotation
    return BentShape(k, body, colour, display.points, moves, turns, *parts)


def _visible(outline: Floats, extent: float) -> Floats:
    """Counter-clockwise in y and z, and no thinner than can be seen."""
    y, z = outline.T
    area = float((y * np.roll(z, -1) - np.roll(y, -1) * z).sum())
    half = np.abs(outline).max(axis=0)
    wide = np.maximum(half, _THINNEST * extent) / np.where(half > 0, half, 1.0)
    return np.asarray((outline if area >= 0 else outline[::-1]) * wide)


_Corners = tuple[NDArray[np.int64], Floats, Floats, NDArray[np.int64]]


def _sweep(stations: Floats, outline: Floats) -> _Corners:
    """Stations, arms and normals of all corners, and triangles: sides, then both ends."""
    s, k = len(stations), len(outline)
    ahead = np.roll(outline, -1, axis=0)
    along = ahead - outline
    across = unit_vectors(np.stack((0 * along[:, 0], along[:, 1], -along[:, 0]), axis=1))
    if k > _ROUND:
        first = unit_vectors(across + np.roll(across, 1, axis=0))
        normals = np.stack((first, np.roll(first, -1, axis=0)), axis=1)
    else:
        normals = np.stack((across, across), axis=1)
    edge = np.zeros((k, 2, 3))
    edge[:, 0, 1:], edge[:, 1, 1:] = outline, ahead
    # corner (station i, edge j, side e) is 2k·i + 2j + e
    ring = np.arange(2 * k).reshape(k, 2)
    low = (2 * k * np.arange(s - 1)[:, None, None] + ring).reshape(-1, 2)
    a, b, c, d = low[:, 0], low[:, 1], low[:, 0] + 2 * k, low[:, 1] + 2 * k
    sides = np.concatenate((np.stack((a, b, c), axis=1), np.stack((b, d, c), axis=1)))
    station = [np.repeat(np.arange(s), 2 * k)]
    arms = [np.tile(edge.reshape(-1, 3), (s, 1))]
    directions = [np.tile(normals.reshape(-1, 3), (s, 1))]
    triangles = [sides]
    fan = np.stack((np.zeros(k - 2, dtype=np.int64), np.arange(1, k - 1), np.arange(2, k)), axis=1)
    for end, sign in ((0, -1.0), (s - 1, 1.0)):
        start = sum(len(x) for x in station)
        station.append(np.full(k, end))
        arms.append(edge[:, 0])
        directions.append(np.tile((sign, 0.0, 0.0), (k, 1)))
        triangles.append(start + (fan if sign > 0 else fan[:, ::-1]))
    return (
        np.concatenate(station), np.concatenate(arms), np.concatenate(directions),
        np.concatenate(triangles),
    )  # fmt: skip


# ---- imported bodies ----------------------------------------------------------------------------


def _faces(
    k: int, body: FlexibleBody, display: FlexibleDisplay, colour: Floats, _extent: float
) -> BentShape:
    """Each face has corners of its own, so that it is flat; inner points are left out."""
    used, numbers = np.unique(display.faces, return_inverse=True)
    station = numbers.reshape(-1).astype(np.int64)
    triangles = np.arange(len(station), dtype=np.int64).reshape(-1, 3)
    points = display.points[used]
    normals = _face_normals(points[station], triangles)
    arms = np.zeros((len(station), 3))
    moves = display.translation[used]
    return BentShape(k, body, colour, points, moves, None, station, arms, normals, triangles)


def _face_normals(points: Floats, triangles: NDArray[np.int64]) -> Floats:
    """For corners that belong to one face each."""
    a, b, c = (points[triangles[:, i]] for i in range(3))
    return np.repeat(unit_vectors(np.cross(b - a, c - a)), 3, axis=0)
