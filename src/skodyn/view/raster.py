"""Triangles to pixels with a depth buffer: the renderer where there is no browser."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.jit import FLOATS, INTS, MATRIX, NUMBER, RESULT, Group, helper, kernel

__all__ = ["Eye", "Floor", "fill_triangles", "paint_floor"]


class Eye(NamedTuple):
    """Where a picture is seen from."""

    place: NDArray[np.float64]
    axes: NDArray[np.float64]  # right, up and back, as rows
    focus: float  # in pixels


class Floor(NamedTuple):
    """A plane with a grid."""

    target: NDArray[np.float64]  # the floor fades with the distance from here,
    reach: float  # to nothing at this one
    height: float
    cell: float  # of its grid
    colour: NDArray[np.float64]
    lines: NDArray[np.float64]  # their colour


EYE = Group(Eye, (FLOATS, FLOATS.of(2), NUMBER))
FLOOR = Group(Floor, (FLOATS, NUMBER, NUMBER, NUMBER, FLOATS, FLOATS))


@kernel(FLOATS.of(2), FLOATS.of(2), INTS.of(2), MATRIX, RESULT.of(3))
def fill_triangles(
    points: NDArray[np.float64],  # (V, 3): x, y in pixels, nearness (1/distance)
    colours: NDArray[np.float64],  # (V, 3)
    triangles: NDArray[np.int64],  # (T, 3)
    nearness: NDArray[np.float64],  # (H, W): of what is drawn so far; 0 is infinitely far
    image: NDArray[np.float64],  # (H, W, 3)
) -> None:
    """Draw triangles, nearest on top, colours blended between corners.

    A pixel is inside if its centre is; on an edge that two triangles share, both may draw it.
    Triangles with a corner behind the eye (nearness ≤ 0) are left out.
    """
    height, width = nearness.shape
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if points[a, 2] <= 0.0 or points[b, 2] <= 0.0 or points[c, 2] <= 0.0:
            continue
        ax, ay, bx, by = points[a, 0], points[a, 1], points[b, 0], points[b, 1]
        cx, cy = points[c, 0], points[c, 1]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        first_x = max(0.0, np.floor(min(ax, bx, cx)))
        last_x = min(width - 1.0, np.ceil(max(ax, bx, cx)))
        first_y = max(0.0, np.floor(min(ay, by, cy)))
        last_y = min(height - 1.0, np.ceil(max(ay, by, cy)))
        if first_x > last_x or first_y > last_y:
            continue
        for row in range(int(first_y), int(last_y) + 1):
            y = row + 0.5
            for column in range(int(first_x), int(last_x) + 1):
                x = column + 0.5
                u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
                v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
                w = 1.0 - u - v
                if u < 0.0 or v < 0.0 or w < 0.0:
                    continue
                near = u * points[a, 2] + v * points[b, 2] + w * points[c, 2]
                if near <= nearness[row, column]:
                    continue
                nearness[row, column] = near
                for i in range(3):
                    image[row, column, i] = (
                        u * colours[a, i] + v * colours[b, i] + w * colours[c, i]
                    )


@helper
def _line(x: float, y: float, cell: float, wide: float) -> float:
    """How much of a pixel so wide is grid line."""
    across = min(abs(x / cell - np.rint(x / cell)), abs(y / cell - np.rint(y / cell))) * cell
    return float(max(0.0, 1.0 - across / wide))


@kernel(EYE, FLOOR, RESULT.of(3), MATRIX)
def paint_floor(
    eye: Eye,
    floor: Floor,
    image: NDArray[np.float64],  # (H, W, 3), painted over
    share: NDArray[np.float64],  # (H, W): how much floor there is in each pixel
) -> None:
    """A plane with a grid under the eye; every fifth line is stronger."""
    place, axes, focus = eye
    target, reach, height, cell, plain, lines = floor
    rows, columns = share.shape
    for i in range(rows):
        up = (rows / 2.0 - i - 0.5) / focus
        for j in range(columns):
            right = (j + 0.5 - columns / 2.0) / focus
            down = axes[2, 2] - right * axes[0, 2] - up * axes[1, 2]
            if down <= 1e-6 or place[2] <= height:
                continue
            far = (place[2] - height) / down
            x = place[0] + far * (right * axes[0, 0] + up * axes[1, 0] - axes[2, 0])
            y = place[1] + far * (right * axes[0, 1] + up * axes[1, 1] - axes[2, 1])
            left = (1.0 - np.hypot(x - target[0], y - target[1]) / reach) / 0.65
            if left <= 0.0:
                continue
            left = min(left, 1.0)
            fade = 0.9 * left * left * (3.0 - 2.0 * left)
            wide = 1.2 * far / focus / max(down, 0.05)  # of a pixel, on the floor
            ink = max(0.30 * _line(x, y, cell, wide), 0.55 * _line(x, y, 5.0 * cell, wide))
            share[i, j] = fade
            for k in range(3):
                colour = plain[k] + ink * (lines[k] - plain[k])
                image[i, j, k] += fade * (colour - image[i, j, k])
