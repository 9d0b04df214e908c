"""Triangles of the unit shapes that scenes are made of."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNIT_SHAPES", "Mesh", "unit_mesh", "unit_vectors"]


class Mesh(NamedTuple):
    """Vertices with unit normals, and triangles that name three of them each."""

    vertices: NDArray[np.float32]  # (V, 3)
    normals: NDArray[np.float32]  # (V, 3)
    triangles: NDArray[np.uint32]  # (T, 3)
    colours: NDArray[np.float32] | None = None  # (V, 3), if a file brings its own


def unit_vectors(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(…, 3), each of length 1; upward for what has no direction, as a triangle without area."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    sound = (lengths > 0.0) & np.isfinite(lengths)
    return np.where(sound, vectors / np.where(sound, lengths, 1.0), (0.0, 0.0, 1.0))


_OPEN_BELOW = 8  # corners: cylinders as coarse as this are links of long chains, and have no ends

UNIT_SHAPES = ("sphere", "cylinder", "box", "cone")
"""A sphere of radius 1; a cylinder and a cone of radius 1 from z = −½ to ½; a box of sides 1."""


@cache
def unit_mesh(shape: str, fineness: int = 24) -> Mesh:
    """A unit shape about its centre, with so many corners around it."""
    makers = {"sphere": _sphere, "cylinder": _cylinder, "box": _box, "cone": _cone}
    return makers[shape](fineness)


def _mesh(vertices: NDArray[np.float64], normals: NDArray[np.float64], faces: object) -> Mesh:
    triangles = np.asarray(faces, dtype=np.uint32).reshape(-1, 3)
    return Mesh(vertices.astype(np.float32), normals.astype(np.float32), triangles)


def _sphere(around: int) -> Mesh:
    down = max(around // 2, 3)
    polar, turn = np.meshgrid(
        np.linspace(0, np.pi, down + 1), np.linspace(0, 2 * np.pi, around + 1), indexing="ij"
    )
    points = np.stack(
        (np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)), axis=-1
    ).reshape(-1, 3)
    faces = _grid_triangles(down, around)
    a, b, c = (points[faces[:, i]] for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return _mesh(points, points, faces[area > 1e-9])  # those at the poles have none


def _grid_triangles(rows: int, columns: int) -> NDArray[np.int64]:
    """Two triangles for each cell of a grid of (rows + 1) × (columns + 1) points."""
    first = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).reshape(-1, 1)
    below = first + columns + 1
    lower = np.hstack((first, below, below + 1))
    upper = np.hstack((first, below + 1, first + 1))
    return np.concatenate((lower, upper))


def _cylinder(around: int) -> Mesh:
    turn = np.linspace(0, 2 * np.pi, around + 1)
    ring = np.stack((np.cos(turn), np.sin(turn), np.zeros_like(turn)), axis=-1)
    top = np.array((0.0, 0.0, 0.5))
    side = np.concatenate((ring + top, ring - top))
    if around < _OPEN_BELOW:
        return _mesh(side, np.concatenate((ring, ring)), _grid_triangles(1, around))
    caps = [np.concatenate(([end], ring + end)) for end in (top, -top)]
    cap_normals = [np.tile(2 * end, (around + 2, 1)) for end in (top, -top)]
    k = np.arange(around)
    start = len(side)
    upper = np.stack((0 * k, k + 1, k + 2), axis=1) + start
    lower = np.stack((0 * k, k + 2, k + 1), axis=1) + start + around + 2
    return _mesh(
        np.concatenate((side, *caps)),
        np.concatenate((ring, ring, *cap_normals)),
        np.concatenate((_grid_triangles(1, around), upper, lower)),
    )


def _cone(around: int) -> Mesh:
    """Tip at z = ½; it has a corner for each face, so that it is smooth around."""
    turn = np.linspace(0, 2 * np.pi, around + 1)
    ring = np.stack((np.cos(turn), np.sin(turn), np.zeros_like(turn)), axis=-1)
    half = np.array((0.0, 0.0, 0.5))
    slant = unit_vectors(ring + half * 2)
    tips = unit_vectors(slant[:-1] + slant[1:])
    base = np.concatenate(([-half], ring - half))
    k = np.arange(around)
    first, second = around + 1, 2 * around + 1
    side = np.stack((k, k + 1, k + first), axis=1)
    below = np.stack((0 * k, k + 2, k + 1), axis=1) + second
    return _mesh(
        np.concatenate((ring - half, np.tile(half, (around, 1)), base)),
        np.concatenate((slant, tips, np.tile(-2 * half, (around + 2, 1)))),
        np.concatenate((side, below)),
    )


def _box(_around: int) -> Mesh:
    vertices: list[NDArray[np.float64]] = []
    normals: list[NDArray[np.float64]] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (0.5, -0.5):
            normal = np.zeros(3)
            normal[axis] = sign
            u, v = np.roll(np.eye(3), axis, axis=1)[1:] / 2
            if sign < 0:
                u, v = v, u
            k = len(vertices)
            vertices += [normal - u - v, normal + u - v, normal + u + v, normal - u + v]
            normals += [2 * normal] * 4
            faces += [(k, k + 1, k + 2), (k, k + 2, k + 3)]
    return _mesh(np.array(vertices), np.array(normals), faces)
