"""Every column of a log with a name, a unit and the family it is drawn with."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import CHANNELS, built_in_data, drawn_channels
from skodyn.dynamics import forward_kinematics
from skodyn.dynamics.frames import frame_poses
from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory

__all__ = ["WORLD_VELOCITY", "Family", "drawable", "families", "is_curve"]

Floats = NDArray[np.float64]

WORLD_VELOCITY = "world_velocity"
"""What velocities of free joints in world axes are called among channels."""

LARGEST = 1e30
"""What lies beyond has blown up; axes and the page's single floats cannot hold it."""


def drawable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, with NaN, which is a gap, for what no axis can hold."""
    return np.where(np.abs(values) <= LARGEST, values, np.nan)


def is_curve(data: str) -> bool:
    """Whether a data set of a log is drawn over time: all that are not skodyn's own are."""
    return data in drawn_channels() or data not in built_in_data()


def families(
    trajectory: Trajectory,
    channels: Iterable[str] | None = None,
    joints: Iterable[str] = (),
    loops: Iterable[str] = (),
    places: Iterable[str] = (),
) -> list[Family]:
    """The curves of a trajectory; `joints` restricts q, v, vdot and tau to joints of these
    names or patterns, `loops` the errors and forces of loops and couplings. `places`: bodies and
    frames whose positions are drawn, too. The channel WORLD_VELOCITY is v of free joints in world
    axes."""
    at_hand = [name for name in (*drawn_channels(), *trajectory.channels) if is_curve(name)]
    wanted = [c for c in dict.fromkeys(at_hand) if c in trajectory.channels]
    found: list[Family] = []
    kept, loops = _known(trajectory, joints), tuple(loops)
    with trajectory:
        model = trajectory.model
        for name in wanted if channels is None else _data_sets(channels):
            if name == WORLD_VELOCITY:
                found += _world_velocities(trajectory, kept)
                continue
            if name not in at_hand:
                choices = ", ".join(dict.fromkeys(at_hand))
                raise LogError(f"Channel {name!r} cannot be plotted; choose from {choices}.")
            values = drawable(trajectory[name])
            entry = drawn_channels().get(name) or CHANNELS.get(name)
            if entry is not None and entry.draw is not None:
                curves = Curves(model, trajectory.labels(name), values, kept, loops)
                found += entry.draw(name, curves)
            else:
                found.append(_plain(trajectory, name, values))
        return found + _positions(trajectory, list(places))


def _sound(trajectory: Trajectory) -> tuple[Floats, NDArray[np.bool_]]:
    """Coordinates with the neutral ones in place of rows that cannot be drawn, and which can."""
    q = drawable(trajectory.q)
    fine = np.asarray(np.isfinite(q).all(axis=1))
    return np.where(fine[:, None], q, trajectory.model.neutral()), fine


def _world_velocities(trajectory: Trajectory, kept: set[str]) -> list[Family]:
    """The velocities of free joints, turned from the axes of their bodies to the world's."""
    model = trajectory.model
    free = [n for n in model.independent_joints if model.joints[model.joint_index(n)].nq == 7]
    free = [name for name in free if name in kept]
    if not free:
        raise LogError(f"{trajectory.label} has no free joint whose velocity could be turned.")
    q, fine = _sound(trajectory)
    rotations, _ = forward_kinematics(model.opened, np.ascontiguousarray(q))
    v = drawable(trajectory.v)
    found = []
    for start, letter, word, unit in ((0, "w", "angular", "rad/s"), (3, "v", "linear", "m/s")):
        names, columns = [], []
        for name in free:
            own = v[:, model.v_slice(name)][:, start : start + 3]
            turned = np.einsum("rij,rj->ri", rotations[:, model.joint_index(name)], own)
            columns.append(np.where(fine[:, None], turned, np.nan))
            names += [f"{name}.{letter}{axis}" for axis in "xyz"]
        title = f"{word} velocity in world axes"
        values = np.concatenate(columns, axis=1)
        found.append(Family(WORLD_VELOCITY, title, unit, tuple(names), values))
    return found


def _positions(trajectory: Trajectory, places: list[str]) -> list[Family]:
    """Origins of bodies and frames in world axes."""
    if not places:
        return []
    model = trajectory.model
    q, fine = _sound(trajectory)
    poses = frame_poses(model.opened, np.ascontiguousarray(q), places)
    values = np.where(fine[:, None], poses[..., :3, 3].reshape(len(q), -1), np.nan)
    names = tuple(f"{place}.{axis}" for place in places for axis in "xyz")
    return [Family("places", "position in world axes", "m", names, values)]


def _data_sets(channels: Iterable[str]) -> list[str]:
    """The data sets of channels that have several; names of data sets stay."""
    found: list[str] = []
    for name in channels:
        entry = CHANNELS.built_in.get(name)
        parts = tuple(entry.data) if entry is not None and entry.draw is not None else ()
        found += [name] if name in parts or not parts else parts
    return found


def _plain(trajectory: Trajectory, name: str, values: NDArray[np.float64]) -> Family:
    """A channel of which nothing is known but what its log says: all its numbers together."""
    labels = trajectory.labels(name).values()
    names = tuple(".".join(parts) for parts in product(*labels)) if labels else (name,)
    unit = trajectory.unit(name)
    return Family(name, name, unit, names, values.reshape(len(values), len(names)))


def _known(trajectory: Trajectory, patterns: Iterable[str]) -> set[str]:
    """The joints that fit one of these patterns; all of them if there is none."""
    wanted = list(patterns)
    found: set[str] = set()
    for pattern in wanted:
        fitting = fnmatch.filter(trajectory.joint_names, pattern)
        if not fitting:
            trajectory.joint(pattern)  # says what the joint may be called
        found.update(fitting)
    return found if wanted else set(trajectory.joint_names)
