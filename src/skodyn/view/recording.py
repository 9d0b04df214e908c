"""The poses and signals of a run, thinned to what a replay needs."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics import forward_kinematics
from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory
from skodyn.model.model import Model
from skodyn.view.rotations import quaternions, rotation_from_z
from skodyn.view.scene import Scene, axis_tips, scene_of
from skodyn.view.signals import Family, families

__all__ = ["Recording", "record", "still"]

MOST_FRAMES = 4000
MOST_POSES = 600_000
"""Frames times bodies: 600 frames of 1000 bodies, about 15 MB in a page."""

_LARGEST = 1e9  # m; what lies beyond is not drawn

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """Frames of a replay; z is up, whatever the model's gravity says."""

    title: str
    model: Model
    times: Floats  # (F,)
    positions: Floats  # (F, n, 3), of body origins
    turns: Floats  # (F, n, 4), quaternions
    signals: list[Family]
    upright: Floats  # 3×3: from world axes to those of the picture
    scene: Scene
    notes: tuple[str, ...] = ()

    def at(self, t: float) -> tuple[Floats, Floats]:
        """(positions, quaternions) of all bodies at a time, between two frames if need be."""
        i = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 1))
        j = min(i + 1, len(self.times) - 1)
        gap = self.times[j] - self.times[i]
        s = float(np.clip((t - self.times[i]) / gap, 0, 1)) if gap > 0 else 0.0
        a, b = self.turns[i], self.turns[j]
        same = np.where((a * b).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        turns = (1 - s) * a + s * same * b
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        return (1 - s) * self.positions[i] + s * self.positions[j], turns

    def centres(self) -> Floats:
        """Centres of mass of the bodies, (F, n, 3)."""
        return self._moved(self.model.com)

    def outline(self, most: int = 30_000) -> Floats:
        """Origins of bodies and the tips of their inertia ellipsoids, (some frames, 7 n, 3)."""
        step = max(1, len(self.times) * self.model.n_bodies // most)
        few = replace(self, positions=self.positions[::step], turns=self.turns[::step])
        tips = axis_tips(self.model)
        offsets = [s * tips[:, i] + self.model.com for i in range(3) for s in (1.0, -1.0)]
        return np.concatenate((few.positions, *(few._moved(o) for o in offsets)), axis=1)

    def _moved(self, offsets: Floats) -> Floats:
        """Where a point of each body is, (F, n, 3)."""
        w, axis = self.turns[..., :1], self.turns[..., 1:]
        offset = np.broadcast_to(offsets, self.positions.shape)
        twice = 2 * np.cross(axis, offset)
        return np.asarray(self.positions + offset + w * twice + np.cross(axis, twice))


def record(
    trajectory: Trajectory, model: Model | None = None, frames: int | None = None
) -> Recording:
    """The replay of a trajectory. model: instead of the one that the log keeps."""
    known = model if model is not None else trajectory.model
    if (known.body_names, known.independent_joints) != (
        trajectory.body_names,
        trajectory.joint_names,
    ):
        raise LogError(
            f"{trajectory.label} was not run with model {known.name!r}: names of bodies or joints "
            "differ; give the model that it was run with."
        )
    if not known.n_bodies:
        raise LogError(f"{trajectory.label}: its model has no body, there is nothing to see.")
    limit = frames or max(2, min(MOST_FRAMES, MOST_POSES // known.n_bodies))
    step = max(1, -(-(len(trajectory) - 1) // max(limit - 1, 1)))
    with trajectory:
        chosen = trajectory[::step]
        q = chosen.q
        fine = np.all(np.abs(q) < _LARGEST, axis=1)  # false for NaN
        if not fine.any():
            raise LogError(f"{trajectory.label} has no row that can be drawn.")
        signals = [_rows(family, fine) for family in families(chosen)]
        made = _poses(known, q[fine], chosen.t[fine])
    notes = [f"every {_ordinal(step)} row of {len(trajectory)}"] * (step > 1)
    notes += made.scene.notes
    notes += [f"{(~fine).sum()} rows without finite coordinates left out"] * (not fine.all())
    if trajectory.status != "finished":
        notes.append(f"run {trajectory.status}")
    return replace(
        made, title=_title(trajectory) or known.name, signals=signals, notes=tuple(notes)
    )


def _title(trajectory: Trajectory) -> str:
    """The title of the scenario that was run, if there was one."""
    try:
        return str(tomllib.loads(trajectory.scenario_text).get("title", ""))
    except tomllib.TOMLDecodeError:
        return ""


def still(model: Model, q: Floats | None = None) -> Recording:
    """One frame: a model with its joints at q, or at their neutral positions."""
    if not model.n_bodies:
        raise LogError(f"Model {model.name!r} has no body, there is nothing to see.")
    place = model.neutral() if q is None else q
    return _poses(model, place[None], np.zeros(1))


def _poses(model: Model, q: Floats, times: Floats) -> Recording:
    upright = _upright(model.gravity)
    rotations, positions = forward_kinematics(model, np.ascontiguousarray(q))
    turns = quaternions(upright @ rotations)
    scene = scene_of(model)
    world = positions @ upright.T
    return Recording(model.name, model, times, world, turns, [], upright, scene, scene.notes)


def _upright(gravity: Floats) -> Floats:
    """The rotation that brings "up" to z; no rotation if it is there, or if there is no up."""
    size = float(np.linalg.norm(gravity))
    if size == 0.0 or gravity[2] <= -0.999 * size:
        return np.eye(3)
    return rotation_from_z(-gravity).T


def _rows(family: Family, rows: NDArray[np.bool_]) -> Family:
    return family._replace(values=family.values[rows])


def _ordinal(number: int) -> str:
    teens = 10 < number % 100 < 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
