"""The geoms of a MuJoCo model as shapes that touch, with what decides whether and how they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skodyn.io.mjcf.shapes import mesh_place, shape_of
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.meshes import MeshFinder
from skodyn.io.robots.touching import FileShape, has_size, hull_points
from skodyn.model.columns import quaternion_to_matrix
from skodyn.model.shapes import HalfSpace, HeightField, Mesh, Points, Surface, Touching
from skodyn.typing import Floats

__all__ = ["read_touching"]

_PLANE, _HFIELD, _MESH = 0, 1, 7  # mjtGeom


def read_touching(
    mj: Any, called: list[str], origins: dict[str, Floats], meshes: MeshFinder, *, hulls: bool
) -> list[FileShape]:
    """Every geom that can touch, in axes of the part of its body; `called` names bodies."""
    findings = meshes.findings
    paired, excluded = _pairs(mj, findings), _excluded(mj)
    found: dict[int, FileShape] = {}
    for g in range(mj.ngeom):
        if not (mj.geom_contype[g] or mj.geom_conaffinity[g] or g in paired):
            continue
        name = mj.geom(g).name or f"geom{g}"
        shape = _shape(mj, g, meshes, name, hulls)
        if shape is None:
            findings.unused("Geoms that cannot touch here", name)
            continue
        body = called[int(mj.geom_bodyid[g])]
        turn, place = quaternion_to_matrix(mj.geom_quat[g]), np.array(mj.geom_pos[g])
        if isinstance(shape, Mesh):
            turn, place = mesh_place(mj, g, turn, place)
        surface = _surface(mj, g, findings, name)
        found[g] = FileShape(body, shape, turn, place + origins[body], name, surface)
    number = {g: str(i) for i, g in enumerate(found)}
    return [
        replace(
            one,
            surface=replace(
                one.surface,
                paired=_numbers(paired.get(g, ()), number),
                apart=_numbers(excluded.get(g, ()), number),
            ),
        )
        for g, one in found.items()
        if one.surface is not None
    ]


def _numbers(geoms: Sequence[int], number: dict[int, str]) -> tuple[str, ...]:
    return tuple(number[g] for g in geoms if g in number)


def _shape(mj: Any, g: int, meshes: MeshFinder, name: str, hulls: bool) -> Touching | None:
    kind = int(mj.geom_type[g])
    if kind == _PLANE:
        return HalfSpace()
    if kind == _HFIELD:
        return _height_field(mj, g, name, meshes.findings)
    if kind == _MESH and hulls:
        return _hull(mj, g, name, meshes.findings)
    shape = shape_of(mj, g, meshes)
    return shape if shape is not None and has_size(shape) else None


def _height_field(mj: Any, g: int, name: str, findings: Findings) -> HeightField:
    """Heights by x and y; MuJoCo has rows of y, from 0 to 1, and makes triangles of them."""
    h = int(mj.geom_dataid[g])
    rows, columns, start = int(mj.hfield_nrow[h]), int(mj.hfield_ncol[h]), int(mj.hfield_adr[h])
    x, y, top, _ = mj.hfield_size[h].tolist()
    heights = top * mj.hfield_data[start : start + rows * columns].reshape(rows, columns).T
    heights = heights.astype(np.float64)
    # a bicubic surface leaves the planes by about an eighth of the second differences
    bend = [float(np.abs(np.diff(heights, 2, axis=axis)).max(initial=0.0)) for axis in (0, 1)]
    what = f"{name} (up to about {max(bend) / 8.0:.2g} m apart)"
    findings.unused("Height fields are triangles in MuJoCo and bicubic here", what)
    return HeightField((2.0 * x, 2.0 * y), tuple(map(tuple, heights.tolist())))


def _hull(mj: Any, g: int, name: str, findings: Findings) -> Points | None:
    """The vertices as MuJoCo keeps them, in axes of the geom."""
    m = int(mj.geom_dataid[g])
    start, count = int(mj.mesh_vertadr[m]), int(mj.mesh_vertnum[m])
    return hull_points(np.array(mj.mesh_vert[start : start + count]), name, findings)


def _surface(mj: Any, g: int, findings: Findings, name: str) -> Surface:
    margin, gap = float(mj.geom_margin[g]), float(mj.geom_gap[g])
    if "margin" in findings.ignored and (margin or gap):
        findings.unused("Left out as asked for (margin)", name)
        margin = gap = 0.0
    slide, torsion, rolling = mj.geom_friction[g].tolist()
    return Surface(
        contype=int(mj.geom_contype[g]),
        conaffinity=int(mj.geom_conaffinity[g]),
        friction=(slide, torsion, rolling),
        condim=int(mj.geom_condim[g]),
        priority=int(mj.geom_priority[g]),
        solmix=float(mj.geom_solmix[g]),
        solref=tuple(mj.geom_solref[g].tolist()),
        solimp=tuple(mj.geom_solimp[g].tolist()),
        margin=margin,
        gap=gap,
        invweight=float(mj.body_invweight0[int(mj.geom_bodyid[g]), 0]),
    )


def _pairs(mj: Any, findings: Findings) -> dict[int, list[int]]:
    """The geoms that <pair> names together; they touch whatever their bits say."""
    found: dict[int, list[int]] = {}
    for p in range(mj.npair):
        a, b = int(mj.pair_geom1[p]), int(mj.pair_geom2[p])
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
        name = mj.pair(p).name or f"number {p}"
        findings.unused("Pairs of <contact> touch by the law of [contacts], not their own", name)
    return found


def _excluded(mj: Any) -> dict[int, list[int]]:
    """The geoms that <exclude> keeps from each geom."""
    found: dict[int, list[int]] = {}
    bodies = np.asarray(mj.geom_bodyid)
    for signature in mj.exclude_signature.tolist():
        a, b = (np.flatnonzero(bodies == x).tolist() for x in divmod(int(signature), 2**16))
        for one, others in ((a, b), (b, a)):
            for g in one:
                found.setdefault(g, []).extend(others)
    return found
