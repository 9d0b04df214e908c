"""Every column of a log with a name, a unit and the family it is drawn with."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory
from skodyn.model.joints import Joint
from skodyn.model.model import Model
from skodyn.view.family import Family
from skodyn.view.loop_signals import LOOP_CHANNELS, loop_families

__all__ = ["CHANNELS", "Family", "drawable", "families", "relative_change"]

CHANNELS = ("q", "v", "vdot", "tau", "energy", "momentum", *LOOP_CHANNELS)
"""The channels that are curves over time."""

LARGEST = 1e30
"""What lies beyond has blown up; axes and the page's single floats cannot hold it."""

_RATES = {"rad": ("rad/s", "rad/s²", "N·m"), "m": ("m/s", "m/s²", "N")}
_WORDS = {"q": "position", "v": "velocity", "vdot": "acceleration", "tau": "joint force"}


def drawable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, with NaN, which is a gap, for what no axis can hold."""
    return np.where(np.abs(values) <= LARGEST, values, np.nan)


def families(
    trajectory: Trajectory,
    channels: Iterable[str] | None = None,
    joints: Iterable[str] = (),
    loops: Iterable[str] = (),
) -> list[Family]:
    """The curves of a trajectory; `joints` restricts q, v, vdot and tau to joints of these
    names or patterns, `loops` the errors and forces of loops and couplings."""
    wanted = [c for c in CHANNELS if c in trajectory.channels] if channels is None else channels
    found: list[Family] = []
    with trajectory:
        model = trajectory.model
        for channel in wanted:
            if channel not in CHANNELS:
                raise LogError(
                    f"Channel {channel!r} cannot be plotted; choose from {', '.join(CHANNELS)}."
                )
            values = drawable(trajectory[channel])
            if channel == "energy":
                found += _energy(values)
            elif channel == "momentum":
                found += _momentum(values)
            elif channel in LOOP_CHANNELS:
                found += loop_families(model, channel, values, loops, partial(_force_unit, model))
            else:
                found += _joint_families(trajectory, model, channel, values, joints)
    return found


def _joint_families(
    trajectory: Trajectory,
    model: Model,
    channel: str,
    values: NDArray[np.float64],
    joints: Iterable[str],
) -> list[Family]:
    kept_joints = _known(trajectory, joints)
    names = np.array(trajectory.q_names if channel == "q" else trajectory.v_names, dtype=object)
    owners = _owners(model, channel)
    units = np.array([unit for _, joint in _joints(model) for unit in _units(joint, channel)])
    kept = np.array([owner in kept_joints for owner in owners], dtype=bool)
    found = []
    for unit in sorted(set(units[kept].tolist()), key=_unit_order):
        columns = np.flatnonzero(kept & (units == unit))
        title = f"{_kind(unit)} {_WORDS[channel]}" if unit else "orientation quaternion"
        title = {"N·m": "joint torque", "N": "joint force"}.get(unit, title)
        found.append(Family(channel, title, unit, tuple(names[columns]), values[:, columns]))
    return found


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


def _owners(model: Model, channel: str) -> list[str]:
    """The joint that each column belongs to."""
    return [name for name, joint in _joints(model) for _ in _units(joint, channel)]


def _joints(model: Model) -> list[tuple[str, Joint]]:
    """Those that have columns in a log."""
    return [(name, model.joints[model.joint_index(name)]) for name in model.independent_joints]


def _unit_order(unit: str) -> int:
    """Angles, lengths, quaternions: the same in every channel, so that panels face each other."""
    return 2 if not unit else int(not unit.startswith(("rad", "N·m")))


def _kind(unit: str) -> str:
    return "angular" if unit.startswith("rad") else "linear"


def _units(joint: Joint, channel: str) -> list[str]:
    """The unit of each column of a joint; "" for a quaternion, which has none."""
    if joint.type_name == "spherical":
        of_v, of_q = ["rad"] * 3, [""] * 4
    elif joint.type_name == "free":
        of_v, of_q = ["rad"] * 3 + ["m"] * 3, [""] * 4 + ["m"] * 3
    else:
        of_v = of_q = ["rad" if any(u) else "m" for u, _t in joint.twists()]
    if channel == "q":
        return of_q
    return [_RATES[unit][("v", "vdot", "tau").index(channel)] for unit in of_v]


def _force_unit(model: Model, joint: str) -> str:
    """N·m or N: the unit of the force in a joint with one coordinate."""
    return _units(model.joints[model.joint_index(joint)], "tau")[0]


def _energy(values: NDArray[np.float64]) -> list[Family]:
    total = values.sum(axis=1, keepdims=True)
    parts = np.concatenate((values, total), axis=1)
    change = relative_change(values)[:, None]
    return [
        Family("energy", "energy", "J", ("kinetic", "potential", "total"), parts),
        Family("energy", "change of total energy, relative", "", ("total",), change),
    ]


def relative_change(energy: NDArray[np.float64]) -> NDArray[np.float64]:
    """(E − E₀)/s with s the largest of |E| and of the kinetic energy: 0 if nothing ever moves."""
    total = energy.sum(axis=1)
    sizes = np.abs(np.concatenate((total, energy[:, 0])))
    scale = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
    return np.asarray((total - total[:1]) / (scale or 1.0))


def _momentum(values: NDArray[np.float64]) -> list[Family]:
    return [
        Family("momentum", "angular momentum", "N·m·s", ("x", "y", "z"), values[:, :3]),
        Family("momentum", "linear momentum", "N·s", ("x", "y", "z"), values[:, 3:]),
    ]
