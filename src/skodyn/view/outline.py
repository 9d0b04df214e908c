"""How far what is drawn of bodies reaches, and which half spaces of the ground are level."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics import forward_kinematics
from skodyn.model.model import Model
from skodyn.view.rotations import rotated

if TYPE_CHECKING:
    from skodyn.view.scene import Scene

__all__ = ["extent_of", "hull", "level", "lost_meshes", "reaches", "scenery"]

Floats = NDArray[np.float64]
_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


def level(one: Any, gravity: Floats) -> bool:
    """Is a half space of the ground level?"""
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array((0.0, 0.0, 1.0))
    normal = np.asarray(one.rotation) @ np.asarray(one.shape.normal, dtype=np.float64)
    return bool(normal @ up >= (1.0 - 1e-9) * np.linalg.norm(normal))


def extent_of(model: Model) -> float:
    """The diagonal of the box around all bodies, with joints at their neutral positions."""
    if not model.n_bodies:
        return 1.0
    rotations, positions = forward_kinematics(model.opened, model.neutral())
    coms = positions + np.einsum("nij,nj->ni", rotations, model.com)
    heavy = np.maximum(model.mass, 1e-300)
    spread = np.sqrt(np.trace(model.inertia, axis1=1, axis2=2) * (model.mass > 0) / heavy)
    low = np.minimum(positions, coms - spread[:, None]).min(axis=0)
    high = np.maximum(positions, coms + spread[:, None]).max(axis=0)
    return float(np.linalg.norm(high - low)) or 1.0


def hull(scene: Scene) -> tuple[NDArray[np.int64], Floats]:
    """Bodies and points in them, between which all lies that is shown of them at first."""
    bodies, points = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    for batch in scene.batches:
        rows = batch.instances[batch.instances[:, 0] >= 0].astype(np.float64)
        if batch.layer not in scene.shown or batch.layer == "joints" or not len(rows):
            continue
        corners = _corners(scene, batch.mesh, rows)
        points.append(corners.reshape(-1, 3))
        bodies.append(np.repeat(rows[:, 0].astype(np.int64), corners.shape[1]))
    for bent in scene.bent:  # undeformed
        some = bent.stations[:: max(1, len(bent.stations) // 16)]
        points.append(some)
        bodies.append(np.full(len(some), bent.body))
    return np.concatenate(bodies), np.concatenate(points)


def _corners(scene: Scene, mesh: str, rows: Floats) -> Floats:
    """Points around instances of a mesh, (instances, points, 3)."""
    if mesh == "sphere":
        around = np.concatenate((np.eye(3), -np.eye(3)))
    else:
        vertices = scene.meshes[mesh].vertices
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        around = (low + high) / 2 + _SIGNS * (high - low) / 2
    return np.asarray(
        rows[:, None, 1:4] + rotated(rows[:, None, 4:8], around * rows[:, None, 8:11])
    )


def scenery(scene: Scene, upright: Floats) -> Floats:
    """Points around shapes that stand in the world, in the picture's axes."""
    found = [np.zeros((0, 3))]
    for batch in scene.batches:
        if batch.layer == "shapes" and batch.layer in scene.shown:
            rows = batch.upright(upright).astype(np.float64)
            found.append(_corners(scene, batch.mesh, rows[rows[:, 0] < 0]).reshape(-1, 3))
    return np.concatenate(found)


def reaches(model: Model, scene: Scene) -> Floats:
    """How far what is shown of each body reaches from its centre of mass."""
    bodies, points = hull(scene)
    found = np.zeros(model.n_bodies)
    np.maximum.at(found, bodies, np.linalg.norm(points - model.com[bodies], axis=1))
    return found


def lost_meshes(names: tuple[str, ...]) -> list[str]:
    """One note on all meshes that are in no search path; none if there are none."""
    if not names:
        return []
    first = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    count = "A mesh was" if len(names) == 1 else f"{len(names)} meshes were"
    return [
        f"{count} not found, and what it belongs to is drawn by its inertia: {first}{more}. "
        "--search-path FOLDER (search_paths in Python) says where they or their packages are."
    ]
