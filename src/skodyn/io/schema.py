"""What a log holds: its channels, and the names along their dimensions (docs/hdf5-schema.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError
from skodyn.model.joints import Joint
from skodyn.model.model import Model

__all__ = ["ALWAYS", "CHANNELS", "OF_LOOPS", "Channel", "Names", "chosen_channels"]


class Channel(NamedTuple):
    """A dataset with a leading time axis: its dimensions and what it means."""

    dims: tuple[str, ...]
    meaning: str
    dtype: str = "<f8"


CHANNELS: dict[str, Channel] = {
    "t": Channel(("t",), "time [s]"),
    "step": Channel(("t",), "number of integration steps done", "<i8"),
    "q": Channel(("t", "q_name"), "coordinates [rad, m, unit quaternions]"),
    "v": Channel(("t", "v_name"), "velocities [rad/s, m/s]"),
    "vdot": Channel(("t", "v_name"), "accelerations [rad/s2, m/s2]"),
    "tau": Channel(("t", "v_name"), "joint forces [N m, N]"),
    "positions": Channel(("t", "body", "axis"), "body origins in world axes [m]"),
    "rotations": Channel(("t", "body", "axis", "body_axis"), "rotation matrices, body to world"),
    "energy": Channel(("t", "energy_part"), "energy [J]"),
    "momentum": Channel(("t", "momentum_part"), "spatial momentum in world axes [N m s, N s]"),
    "loop_error": Channel(("t", "loop"), "how far loops and couplings are open [m, rad]"),
    "loop_forces": Channel(
        ("t", "loop", "wrench_part"),
        "wrench of each loop on its body_b at the closure, world axes [N m, N]; NaN: undetermined",
    ),
}
ALWAYS = ("t", "step", "q", "v")
OF_LOOPS = ("loop", "wrench_part")
"""Dimensions that only logs of models with loops have."""

_FIXED_LABELS: dict[str, tuple[str, ...]] = {
    "axis": ("x", "y", "z"),
    "body_axis": ("x", "y", "z"),
    "energy_part": ("kinetic", "potential"),
    "momentum_part": tuple(f"{part}.{c}" for part in ("angular", "linear") for c in "xyz"),
}

_WRENCH_PARTS = tuple(f"{part}.{c}" for part in ("moment", "force") for c in "xyz")

_Q_PARTS = {  # joints whose parts have better names than `_parts` finds
    "planar": ("x", "y", "angle"),
    "translation": ("x", "y", "z"),
    "spherical": ("w", "x", "y", "z"),
    "free": ("w", "x", "y", "z", "px", "py", "pz"),
}
_V_PARTS = _Q_PARTS | {
    "spherical": ("wx", "wy", "wz"),
    "free": ("wx", "wy", "wz", "vx", "vy", "vz"),
}


class Names(NamedTuple):
    """The labels of every dimension but time, and where in q and v each joint lies."""

    labels: dict[str, tuple[str, ...]]
    joints: tuple[str, ...]
    columns: NDArray[np.int64]  # one row per joint: q start, nq, v start, nv
    parents: NDArray[np.int64]

    @classmethod
    def of(cls, model: Model) -> Self:
        labels = {
            "q_name": _coordinate_names(model, _Q_PARTS, "nq"),
            "v_name": _coordinate_names(model, _V_PARTS, "nv"),
            "body": model.body_names,
        }
        if model.has_loops:
            labels |= {"loop": model.loop_names, "wrench_part": _WRENCH_PARTS}
        columns = [
            (q.start, q.stop - q.start, v.start, v.stop - v.start)
            for q, v in ((model.q_slice(n), model.v_slice(n)) for n in model.independent_joints)
        ]
        table = np.array(columns, dtype=np.int64).reshape(-1, 4)
        parents = np.asarray(model.parent, dtype=np.int64)
        return cls(labels | _FIXED_LABELS, model.independent_joints, table, parents)

    def row_shape(self, channel: str) -> tuple[int, ...]:
        """The shape of one row of a channel."""
        if not set(CHANNELS[channel].dims[1:]) <= self.labels.keys():
            raise LogError(
                f"Channel {channel!r} speaks of loops, and the model has none; leave it out."
            )
        return tuple(len(self.labels[dim]) for dim in CHANNELS[channel].dims[1:])

    def row_bytes(self, channel: str) -> int:
        return 8 * int(np.prod(self.row_shape(channel)))


def _coordinate_names(
    model: Model, parts: Mapping[str, tuple[str, ...]], size: str
) -> tuple[str, ...]:
    """Names: "shoulder" for a joint with one coordinate, "ball.w" … for several.

    A mimic joint has no columns: they would repeat those of its source.
    """
    found: list[str] = []
    for name in model.independent_joints:
        joint = model.joints[model.joint_index(name)]
        count = getattr(joint, size)
        words = parts.get(joint.type_name) or _parts(joint, count)
        found += (name,) if count == 1 else (f"{name}.{part}" for part in words)
    return tuple(found)


def _parts(joint: Joint, count: int) -> tuple[str, ...]:
    """An angle or a length for each screw of a joint, numbered where there are several; mere
    numbers for a joint that is no product of screws."""
    words = ["angle" if any(turn) else "length" for turn, _ in joint.twists()]
    if len(words) != count:
        return tuple(map(str, range(1, count + 1)))
    return tuple(
        f"{word}{words[: i + 1].count(word)}" if words.count(word) > 1 else word
        for i, word in enumerate(words)
    )


def chosen_channels(extra: Iterable[str]) -> tuple[str, ...]:
    """t, step, q, v and the channels asked for, in the order of the schema."""
    wanted = {*ALWAYS, *extra}
    for name in sorted(wanted - set(CHANNELS)):
        close = get_close_matches(name, CHANNELS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(CHANNELS)}."
        raise LogError(f"There is no log channel {name!r}; {hint}")
    return tuple(name for name in CHANNELS if name in wanted)
