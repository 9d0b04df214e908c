"""What inverse kinematics is asked for: targets of frames as rows, and limits of joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.dynamics.frames import frame_table
from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["Bounds", "Problem", "Target", "read_bounds", "read_targets"]

ORTHONORMAL = 1e-6
"""How far a target's axes may be from a rotation."""


@dataclass(frozen=True, eq=False)
class Target:
    """Where a frame shall be, or some of it.

    Parameters
    ----------
    position : array_like, shape (3,) or (B, 3), optional
        Of its origin in the world, m; without it, anywhere.
    rotation : array_like, shape (3, 3) or (B, 3, 3), optional
        Its axes in the world; without it, turned in any way.
    mask : sequence of six bool, optional
        Which of [angular; linear], in world axes, count; all that are given by default.
    weight : float, optional
        How much an error of this frame counts against those of others, above 0.
    """

    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    mask: tuple[bool, bool, bool, bool, bool, bool] | None = None
    weight: float = 1.0


class Problem(NamedTuple):
    """Targets as rows: which of the six of each frame count, and how much."""

    names: tuple[str, ...]
    table: Floats  # the frames, as kernels take them
    poses: Floats  # (count, frames, 4, 4)
    rows: NDArray[np.int64]  # of 6·frames
    weights: Floats  # of rows
    is_batch: bool

    @property
    def states(self) -> int:
        return len(self.poses)

    def repeated(self, count: int) -> Problem:
        return self._replace(poses=np.repeat(self.poses, count // self.states, axis=0))

    def residuals(self, number: NDArray[np.int64], poses: Floats) -> Floats:
        """What is missing, in world axes: a rotation vector and a way for each frame."""
        wanted = self.poses[number]
        turn = np.matmul(wanted[..., :3, :3], poses[..., :3, :3].swapaxes(-1, -2))
        way = wanted[..., :3, 3] - poses[..., :3, 3]
        both = np.concatenate((rotation_vectors(turn), way), axis=-1)
        return both.reshape(len(poses), -1)[:, self.rows]


def rotation_vectors(turn: Floats) -> Floats:
    """Logarithms of rotations, (…, 3, 3) to (…, 3); by way of quaternions, precise at any angle.

    The largest of the four numbers of a quaternion comes from the diagonal, the others from it.
    """
    d = np.einsum("...ii->...i", turn)
    trace = d.sum(axis=-1)
    squares = 1.0 + np.stack([trace, *(2.0 * d[..., i] - trace for i in range(3))], axis=-1)
    largest = squares.argmax(axis=-1)[..., None]
    s = np.sqrt(np.maximum(np.take_along_axis(squares, largest, axis=-1), 0.0))
    minus = [turn[..., j, i] - turn[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1))]
    plus = {(i, j): turn[..., i, j] + turn[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2))}
    x, y, z = minus
    one = s[..., 0] ** 2
    candidates = np.stack(
        [
            np.stack([one, x, y, z], axis=-1),
            np.stack([x, one, plus[0, 1], plus[0, 2]], axis=-1),
            np.stack([y, plus[0, 1], one, plus[1, 2]], axis=-1),
            np.stack([z, plus[0, 2], plus[1, 2], one], axis=-1),
        ],
        axis=-2,
    )
    p = np.take_along_axis(candidates, largest[..., None], axis=-2)[..., 0, :]
    p = p / np.linalg.norm(p, axis=-1, keepdims=True)
    p = np.where(p[..., :1] < 0.0, -p, p)
    size = np.linalg.norm(p[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, p[..., :1])
    longer = np.where(size > 0.0, angle / np.where(size > 0.0, size, 1.0), 2.0)
    result: Floats = p[..., 1:] * longer
    return result


# ---- targets ------------------------------------------------------------------------------------


def read_targets(model: Model, targets: Any) -> Problem:
    """The problem, or a StateError with every fault."""
    if not isinstance(targets, Mapping) or not targets:
        raise StateError(f"targets is {targets!r}", "give {frame: pose, …} with at least one.")
    names = tuple(targets)
    table = frame_table(model, names)
    faults: list[Fault] = []
    read = [_read(name, given, faults) for name, given in targets.items()]
    counts = {len(one.poses) for one in read} - {1}
    if len(counts) > 1:
        faults.append(
            Fault(f"targets have {sorted(counts)} poses", "give as many for each, or one.")
        )
    if faults:
        raise StateError(faults)
    count = counts.pop() if counts else 1
    poses = np.stack([np.broadcast_to(one.poses, (count, 4, 4)) for one in read], axis=1)
    rows = np.flatnonzero(np.concatenate([one.mask for one in read]))
    weights = np.repeat([one.weight for one in read], 6)[rows]
    is_batch = any(one.is_batch for one in read)
    return Problem(names, table, np.array(poses), rows, weights, is_batch)


class _Read(NamedTuple):
    poses: Floats
    mask: NDArray[np.bool_]
    weight: float
    is_batch: bool


_NOTHING = _Read(np.eye(4)[None], np.ones(6, dtype=np.bool_), 1.0, False)


def _read(name: str, given: Any, faults: list[Fault]) -> _Read:
    if not isinstance(given, Target):
        pose = _numbers(given)
        if pose is None or pose.shape[-2:] != (4, 4) or pose.ndim > 3:
            what = "a pose of shape (4, 4) or (B, 4, 4), or a Target"
            faults.append(Fault(f"The target of {name!r} is {_brief(given)}", f"give {what}."))
            return _NOTHING
        given = Target(pose[..., :3, 3], pose[..., :3, :3])
    before = len(faults)
    position = _part(name, "position", given.position, (3,), faults)
    rotation = _part(name, "rotation", given.rotation, (3, 3), faults)
    mask = _mask(name, given, faults)
    if rotation is not None and not _is_rotation(rotation):
        what = f"The target of {name!r} has axes that are not a rotation"
        faults.append(Fault(what, "give orthogonal unit vectors, right-handed."))
    if not isinstance(given.weight, int | float) or not 0.0 < given.weight < np.inf:
        faults.append(
            Fault(f"The target of {name!r} has weight {given.weight!r}", "give one above 0.")
        )
    if len(faults) > before:
        return _NOTHING
    is_batch = any(x is not None and x.ndim > n for x, n in ((position, 1), (rotation, 2)))
    counts = [
        1 if x.ndim == n else len(x) for x, n in ((position, 1), (rotation, 2)) if x is not None
    ]
    count = max(counts, default=1)
    if any(one not in (1, count) for one in counts):
        problem = f"The target of {name!r} has fewer positions or rotations than the other"
        faults.append(Fault(problem, "give as many of both, or one."))
        return _NOTHING
    poses = np.tile(np.eye(4), (count, 1, 1))
    if position is not None:
        poses[:, :3, 3] = position
    if rotation is not None:
        poses[:, :3, :3] = rotation
    return _Read(poses, mask, float(given.weight), is_batch)


def _mask(name: str, given: Target, faults: list[Fault]) -> NDArray[np.bool_]:
    known = np.array([given.rotation is not None] * 3 + [given.position is not None] * 3)
    if given.mask is None:
        if not known.any():
            faults.append(
                Fault(f"The target of {name!r} has neither position nor rotation", "give one.")
            )
        return known
    chosen = np.asarray(given.mask)
    if chosen.shape != (6,) or chosen.dtype.kind not in "biu" or not chosen.any():
        faults.append(
            Fault(
                f"The target of {name!r} has mask {given.mask!r}",
                "give six truth values, [angular; linear], with at least one that is true.",
            )
        )
    elif (chosen.astype(np.bool_) & ~known).any():
        faults.append(
            Fault(f"The target of {name!r} has a mask for what it does not give", "give it.")
        )
    else:
        return chosen.astype(np.bool_)
    return known


def _part(
    name: str, key: str, value: Any, shape: tuple[int, ...], faults: list[Fault]
) -> Floats | None:
    if value is None:
        return None
    array = _numbers(value)
    if array is None or array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1:
        faults.append(
            Fault(f"The target of {name!r} has {key} {_brief(value)}", f"give shape {shape}.")
        )
        return None
    return array


def _numbers(value: Any) -> Floats | None:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if np.isfinite(array).all() and array.size else None


def _brief(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) < 60 else f"{text[:60]}…"


def _is_rotation(turn: Floats) -> bool:
    square = np.matmul(turn, turn.swapaxes(-1, -2))
    return bool(
        (np.abs(square - np.eye(3)) < ORTHONORMAL).all() and (np.linalg.det(turn) > 0.0).all()
    )


# ---- limits -------------------------------------------------------------------------------------


class Bounds(NamedTuple):
    """Limits of joints with one coordinate each; infinite for all others."""

    model: Model
    joints: tuple[str, ...]
    at_q: NDArray[np.int64]
    at_v: NDArray[np.int64]
    lower: Floats
    upper: Floats

    def inside(self, q: Floats) -> Floats:
        """q with what lies beyond a limit moved to it."""
        q[:, self.at_q] = np.clip(q[:, self.at_q], self.lower, self.upper)
        return q

    def held(self, q: Floats, gradient: Floats) -> NDArray[np.bool_]:
        """Which velocities would lead from a limit beyond it."""
        x, slope = q[:, self.at_q], gradient[:, self.at_v]
        found = np.zeros(gradient.shape, dtype=np.bool_)
        found[:, self.at_v] = ((x <= self.lower) & (slope < 0.0)) | (
            (x >= self.upper) & (slope > 0.0)
        )
        return found

    def random(self, q: Floats, rng: np.random.Generator) -> Floats:
        """A random position within the limits."""
        found, _ = self.model.random_state(rng)
        middle = q[self.at_q]
        low = np.where(np.isfinite(self.lower), self.lower, middle - np.pi)
        high = np.where(np.isfinite(self.upper), self.upper, middle + np.pi)
        found[self.at_q] = rng.uniform(low, np.maximum(high, low))
        return found

    def names(self, held: NDArray[np.bool_]) -> list[str]:
        return [name for name, k in zip(self.joints, self.at_v, strict=True) if held[k]]


def read_bounds(model: Model, limits: Any) -> Bounds:
    """The limits that count, those of mimic joints carried over to the joints they follow."""
    given = _given(model, limits)
    found: dict[str, tuple[float, float]] = {}
    for joint, (lower, upper) in given.items():
        name = joint
        while name in model.mimics:
            mimic = model.mimics[name]
            if mimic.multiplier == 0.0:
                break
            moved = [(x - mimic.offset) / mimic.multiplier for x in (lower, upper)]
            (lower, upper), name = sorted(moved), mimic.source
        if name in model.mimics:
            continue  # it stays where it is
        before = found.get(name, (-np.inf, np.inf))
        found[name] = max(before[0], lower), min(before[1], upper)
    empty = [name for name, (lower, upper) in found.items() if not lower <= upper]
    if empty:
        raise ModelError(
            f"Joint {empty[0]!r} and the joints that mimic it have no position within all limits",
            "widen them, or give limits=False.",
        )
    names = tuple(found)
    at_q = np.array([model.q_slice(name).start for name in names], dtype=np.int64)
    at_v = np.array([model.v_slice(name).start for name in names], dtype=np.int64)
    ends = np.array([found[name] for name in names], dtype=np.float64).reshape(-1, 2)
    return Bounds(model, names, at_q, at_v, ends[:, 0], ends[:, 1])


def _given(model: Model, limits: Any) -> dict[str, tuple[float, float]]:
    if limits is True:
        return {name: (one.lower, one.upper) for name, one in model.limits.items()}
    if limits is False:
        return {}
    if not isinstance(limits, Mapping):
        raise StateError(f"limits is {limits!r}", "give True, False or {joint: (lower, upper)}.")
    faults: list[Fault] = []
    found = {}
    for name, ends in limits.items():
        joint = model.joints[model.joint_index(name)]
        array = _numbers_or_infinite(ends)
        if joint.nv != 1:
            faults.append(
                Fault(f"Joint {name!r} has {joint.nv} degrees of freedom", "limits are for one.")
            )
        elif array is None or not array[0] <= array[1]:
            faults.append(Fault(f"The limits of {name!r} are {ends!r}", "give (lower, upper)."))
        else:
            found[name] = (float(array[0]), float(array[1]))
    if faults:
        raise StateError(faults)
    return found


def _numbers_or_infinite(ends: Any) -> Floats | None:
    try:
        array = np.array(ends, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return array if array.shape == (2,) and not np.isnan(array).any() else None
