"""Rotation matrices and unit quaternions (w, x, y, z), by the array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["product", "quaternions", "rotated", "rotation_from_z"]


def quaternions(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """(…, 3, 3) to (…, 4), from the largest of the four components, so that none is lost."""
    m = np.asarray(matrices, dtype=np.float64)
    x, y, z = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack((1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z), axis=-1)
    differences = [m[..., i, j] - m[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0))]
    sums = {(i, j): m[..., i, j] + m[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2))}
    rows = np.stack(
        (
            np.stack((squares[..., 0], *differences), axis=-1),
            np.stack((differences[0], squares[..., 1], sums[0, 1], sums[0, 2]), axis=-1),
            np.stack((differences[1], sums[0, 1], squares[..., 2], sums[1, 2]), axis=-1),
            np.stack((differences[2], sums[0, 2], sums[1, 2], squares[..., 3]), axis=-1),
        ),
        axis=-2,
    )  # each row is the quaternion, times four of its components
    largest = np.argmax(squares, axis=-1)[..., None, None]
    row = np.take_along_axis(rows, largest, axis=-2)[..., 0, :]
    return np.asarray(row / np.linalg.norm(row, axis=-1, keepdims=True))


def rotation_from_z(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation matrix whose third column is this direction."""
    z = np.asarray(direction, dtype=np.float64) / np.linalg.norm(direction)
    helper = np.eye(3)[np.argmin(np.abs(z))]
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.stack((x, np.cross(z, x), z), axis=-1)


def product(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Hamilton's product of two quaternions."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate(([scalar], vector))


def rotated(turns: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(…, 3) vectors turned by (…, 4) unit quaternions."""
    w, axis = turns[..., :1], turns[..., 1:]
    twice = 2 * np.cross(axis, vectors)
    return np.asarray(vectors + w * twice + np.cross(axis, twice))
