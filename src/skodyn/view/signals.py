"""Every column of a log with a name, a unit and the family it is drawn with."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import CHANNELS, built_in_data, drawn_channels
from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory

__all__ = ["Family", "drawable", "families", "is_curve"]

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
) -> list[Family]:
    """The curves of a trajectory; `joints` restricts q, v, vdot and tau to joints of these
    names or patterns, `loops` the errors and forces of loops and couplings."""
    at_hand = [name for name in (*drawn_channels(), *trajectory.channels) if is_curve(name)]
    wanted = [c for c in dict.fromkeys(at_hand) if c in trajectory.channels]
    found: list[Family] = []
    kept, loops = _known(trajectory, joints), tuple(loops)
    with trajectory:
        model = trajectory.model
        for name in wanted if channels is None else _data_sets(channels):
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
    return found


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
