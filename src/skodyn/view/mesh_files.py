"""Mesh files of visual shapes, read by trimesh (extra `view`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.view.shapes import Mesh, unit_vectors

__all__ = ["read_mesh"]

LARGEST = 1e30  # pages hold single floats


def read_mesh(path: str) -> Mesh:
    """The triangles of an STL, OBJ, PLY, OFF, glTF or Collada file, flat shaded where it has no
    normals of its own."""
    if not Path(path).is_file():
        raise _refused(path, "this mesh file of a visual shape does not exist", "check its name.")
    try:
        import trimesh
    except ImportError:
        remedy = "install it with: pip install 'skodyn[view]'"
        raise _refused(path, "mesh files need the package trimesh", remedy) from None
    try:
        with np.errstate(all="ignore"):  # what came of it is looked at below
            mesh = trimesh.load(path, force="mesh", process=True)
            corners = np.asarray(mesh.faces, dtype=np.int64)
            vertices, normals = np.asarray(mesh.vertices), np.asarray(mesh.vertex_normals)
    except Exception as error:  # its readers raise whatever their formats bring up
        raise _refused(path, f"this mesh file cannot be read ({error})", "repair it.") from error
    if not len(corners):
        raise _refused(path, "this mesh file has no triangles", "give another one.")
    if not np.all(np.abs(vertices) <= LARGEST):
        raise _refused(path, "this mesh file has corners that are not finite", "repair it.")
    upright = unit_vectors(normals.astype(np.float64))
    return Mesh(vertices.astype(np.float32), upright.astype(np.float32), corners.astype(np.uint32))


def _refused(path: str, problem: str, remedy: str) -> ModelError:
    return ModelError(Fault(problem, remedy, file=path))
