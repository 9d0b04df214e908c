"""Mesh files of visual shapes, read by trimesh (extra `view`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.view.shapes import Mesh, unit_vectors

__all__ = ["read_mesh"]

LARGEST = 1e30  # pages hold single floats
PLAIN = 0.7  # grey of parts without a colour beside others that have one

Floats = NDArray[np.float64]


def read_mesh(path: str) -> Mesh:
    """The triangles of an STL, OBJ, PLY, OFF, glTF or Collada file with its colours, flat shaded
    where it has no normals of its own."""
    if not Path(path).is_file():
        raise _refused(path, "this mesh file of a visual shape does not exist", "check its name.")
    try:
        import trimesh
    except ImportError:
        remedy = "install it with: pip install 'skodyn[view]'"
        raise _refused(path, "mesh files need the package trimesh", remedy) from None
    try:
        with np.errstate(all="ignore"):  # what came of it is looked at below
            parts = _parts(trimesh.load(path, process=True))
            corners, vertices, normals = _joined(parts)
            colours = _colours(parts) if len(corners) else None
    except Exception as error:  # its readers raise whatever their formats bring up
        raise _refused(path, f"this mesh file cannot be read ({error})", "repair it.") from error
    if not len(corners):
        raise _refused(path, "this mesh file has no triangles", "give another one.")
    if not np.all(np.abs(vertices) <= LARGEST):
        raise _refused(path, "this mesh file has corners that are not finite", "repair it.")
    upright = unit_vectors(normals.astype(np.float64))
    return Mesh(
        vertices.astype(np.float32), upright.astype(np.float32), corners.astype(np.uint32), colours
    )


def _parts(loaded: Any) -> list[Any]:
    """The meshes of a file, each where its scene puts it."""
    found = loaded.dump() if hasattr(loaded, "dump") else [loaded]
    return [part for part in found if hasattr(part, "faces") and len(part.faces)]


def _joined(parts: list[Any]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Triangles, vertices and normals of all parts in one."""
    if not parts:
        return np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 3))
    counts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    corners = [np.asarray(p.faces, np.int64) + n for p, n in zip(parts, counts, strict=False)]
    vertices = [np.asarray(part.vertices, dtype=np.float64) for part in parts]
    normals = [np.asarray(part.vertex_normals, dtype=np.float64) for part in parts]
    return np.concatenate(corners), np.concatenate(vertices), np.concatenate(normals)


def _colours(parts: list[Any]) -> NDArray[np.float32] | None:
    """Red, green and blue of each vertex; None if no part says what colour it has."""
    found = [_colour_of(part) for part in parts]
    if all(colour is None for colour in found):
        return None
    grey = np.full(3, PLAIN)
    rows = [
        np.broadcast_to(grey if colour is None else colour, (len(part.vertices), 3))
        for part, colour in zip(parts, found, strict=True)
    ]
    return np.concatenate(rows).astype(np.float32)


def _colour_of(part: Any) -> Floats | None:
    """One colour, or one for each vertex; a picture on it counts by its colours at the vertices."""
    look = part.visual
    if not look.defined:
        return None
    if look.kind == "texture":
        painted = getattr(look.material, "image", None) or getattr(
            look.material, "baseColorTexture", None
        )
        if painted is None or look.uv is None:
            return np.asarray(look.material.main_color, dtype=np.float64)[:3] / 255
        look = look.to_color()
    return np.asarray(look.vertex_colors, dtype=np.float64)[:, :3] / 255


def _refused(path: str, problem: str, remedy: str) -> ModelError:
    return ModelError(Fault(problem, remedy, file=path))
