"""The geoms of a MuJoCo model as shapes to look at."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.io.robots.findings import Findings
from skodyn.io.robots.meshes import MeshFinder
from skodyn.model.columns import quaternion_to_matrix
from skodyn.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere, Visual
from skodyn.typing import Floats

__all__ = ["mesh_place", "read_visuals", "shape_of"]

_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)  # mjtGeom


def read_visuals(mj: Any, meshes: MeshFinder, findings: Findings) -> list[tuple[Visual, ...]]:
    """The shapes of every body, in axes of that body; the world first."""
    found: list[list[Visual]] = [[] for _ in range(mj.nbody)]
    for g in range(mj.ngeom):
        name = mj.geom(g).name
        shape = shape_of(mj, g, meshes)
        if shape is None:
            findings.unused("Geoms that cannot be drawn", name or f"number {g}")
            continue
        rotation, translation = quaternion_to_matrix(mj.geom_quat[g]), np.array(mj.geom_pos[g])
        if isinstance(shape, Mesh):
            rotation, translation = mesh_place(mj, g, rotation, translation)
        visual = Visual(shape, rotation, translation, _color(mj, g), name)
        found[int(mj.geom_bodyid[g])].append(visual)
    return [tuple(visuals) for visuals in found]


def mesh_place(mj: Any, g: int, rotation: Floats, translation: Floats) -> tuple[Floats, Floats]:
    """Where the file's vertices are: MuJoCo centres meshes, which is undone."""
    m = int(mj.geom_dataid[g])
    turned = rotation @ quaternion_to_matrix(mj.mesh_quat[m]).T
    return turned, translation - turned @ mj.mesh_pos[m]


def shape_of(mj: Any, g: int, meshes: MeshFinder) -> Shape | None:
    """The shape of a geom, if it has one that can be drawn."""
    kind = int(mj.geom_type[g])
    a, b, c = mj.geom_size[g].tolist()
    if kind == _MESH:
        m = int(mj.geom_dataid[g])
        name = _mesh_file(mj, m)
        x, y, z = mj.mesh_scale[m].tolist()
        return Mesh(name, meshes.find(name), (x, y, z)) if name else None
    made: dict[int, Shape] = {
        _SPHERE: Sphere(a),
        _CAPSULE: Capsule(a, 2 * b),
        _ELLIPSOID: Ellipsoid((a, b, c)),
        _CYLINDER: Cylinder(a, 2 * b),
        _BOX: Box((2 * a, 2 * b, 2 * c)),
    }
    return made.get(kind)


def _mesh_file(mj: Any, m: int) -> str:
    """The file that a mesh came from; empty if its vertices stand in the model."""
    start = int(mj.mesh_pathadr[m])
    return bytes(mj.paths)[start:].split(b"\0")[0].decode() if start >= 0 else ""


def _color(mj: Any, g: int) -> tuple[float, float, float, float]:
    material = int(mj.geom_matid[g])
    red, green, blue, alpha = (mj.mat_rgba[material] if material >= 0 else mj.geom_rgba[g]).tolist()
    return (red, green, blue, alpha)
