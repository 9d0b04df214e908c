"""Shapes of bodies and of the ground as unit meshes, stretched and placed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Disk,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Points,
    Sphere,
)
from skodyn.view.rotations import rotation_from_z
from skodyn.view.shapes import Mesh, unit_vectors

__all__ = ["Part", "height_mesh", "shape_parts"]

Floats = NDArray[np.float64]
_SLAB = 3.0  # half the width of a half space that is drawn, in the model's extent
_THIN = 0.02  # of the extent: how thick that is


class Part(NamedTuple):
    """A unit mesh, its stretch, and its place and axes in the frame of the shape."""

    mesh: str
    scale: tuple[float, float, float]
    offset: Floats
    rotation: Floats


def _part(mesh: str, scale: Any, offset: Any = (0.0, 0.0, 0.0), rotation: Any = None) -> Part:
    x, y, z = (float(s) for s in scale)
    turn = np.eye(3) if rotation is None else rotation
    return Part(mesh, (x, y, z), np.asarray(offset, dtype=np.float64), turn)


def shape_parts(shape: Any, extent: float) -> list[Part] | None:
    """What a shape is drawn by; None for meshes and height fields, which bring their own."""
    if isinstance(shape, Box):
        return [_part("box", shape.size)]
    if isinstance(shape, Sphere):
        return [_part("sphere", [shape.radius] * 3)]
    if isinstance(shape, Ellipsoid):
        return [_part("sphere", shape.radii)]
    if isinstance(shape, Cylinder | Capsule):
        r, length = shape.radius, shape.length
        ends = (0.5, -0.5) if isinstance(shape, Capsule) else ()
        caps = [_part("sphere", [r] * 3, (0.0, 0.0, end * length)) for end in ends]
        return [_part("cylinder", (r, r, length)), *caps]
    if isinstance(shape, Disk):
        wide = shape.radius + shape.edge
        return [_part("cylinder", (wide, wide, max(2 * shape.edge, 0.02 * wide)))]
    if isinstance(shape, Points):
        radius = shape.radius or 0.006 * extent
        return [_part("sphere", [radius] * 3, point) for point in shape.points]
    if isinstance(shape, HalfSpace):
        turn = rotation_from_z(np.asarray(shape.normal, dtype=np.float64))
        thick, wide = _THIN * extent, 2 * _SLAB * extent
        middle = np.asarray(shape.point, dtype=np.float64) - turn[:, 2] * thick / 2
        return [_part("box", (wide, wide, thick), middle, turn)]
    return None


def height_mesh(field: HeightField) -> Mesh:
    """The ground of a height field, between the heights that are given."""
    heights = np.asarray(field.heights, dtype=np.float64)
    rows, columns = heights.shape
    x, y = (np.linspace(-s / 2, s / 2, n) for s, n in zip(field.size, heights.shape, strict=True))
    slope_x = np.gradient(heights, x, axis=0) if rows > 1 else np.zeros_like(heights)
    slope_y = np.gradient(heights, y, axis=1) if columns > 1 else np.zeros_like(heights)
    normals = unit_vectors(np.stack((-slope_x, -slope_y, np.ones_like(heights)), axis=-1))
    points = np.stack((*np.meshgrid(x, y, indexing="ij"), heights), axis=-1)
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1, 1)
    lower = np.hstack((first, first + columns, first + columns + 1))
    upper = np.hstack((first, first + columns + 1, first + 1))
    return Mesh(
        points.reshape(-1, 3).astype(np.float32),
        normals.reshape(-1, 3).astype(np.float32),
        np.concatenate((lower, upper)).astype(np.uint32),
    )
