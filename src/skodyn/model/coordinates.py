"""Coordinates of a whole model: neutral, random, integrate, difference, and their checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.conventions import QUATERNION_TOLERANCE, JointKind
from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.model import layout, manifold
from skodyn.model.columns import as_floats
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

QUATERNION_KINDS = (JointKind.SPHERICAL, JointKind.FREE)


def quaternion_starts(indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where in q each quaternion begins."""
    starts: NDArray[np.int64] = indices[_has_quaternion(indices), layout.Q_START]
    return starts


def _has_quaternion(indices: NDArray[np.int64]) -> NDArray[np.bool_]:
    kinds = indices[:, layout.KIND]
    turns, floats = (kinds == int(kind) for kind in QUATERNION_KINDS)  # faster than np.isin
    both: NDArray[np.bool_] = turns | floats
    return both


def neutral(indices: NDArray[np.int64], nq: int) -> Floats:
    q = np.zeros(nq)
    q[quaternion_starts(indices)] = 1.0
    return q


def random_state(
    indices: NDArray[np.int64], parameters: Floats, nq: int, nv: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    q = rng.uniform(-1.0, 1.0, nq)
    kinds, starts = indices[:, layout.KIND], indices[:, layout.Q_START]
    turning = starts[np.isin(kinds, (JointKind.REVOLUTE, JointKind.HELICAL))]
    q[turning] *= np.pi
    q[_turning_series_dofs(indices, parameters, nv)] *= np.pi
    first = quaternion_starts(indices)[:, None] + np.arange(4)
    quaternions = rng.normal(size=first.shape)
    q[first] = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    return q, rng.normal(size=nv)


def _turning_series_dofs(
    indices: NDArray[np.int64], parameters: Floats, nv: int
) -> NDArray[np.int64]:
    """Positions in q of the rotating degrees of freedom of series joints."""
    series = indices[indices[:, layout.KIND] == JointKind.SERIES]
    counts = series[:, layout.N_DOF]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    in_v = np.repeat(series[:, layout.V_START], counts) + within
    in_q = np.repeat(series[:, layout.Q_START], counts) + within
    twists = parameters[len(parameters) - nv * layout.DOF_RECORD :].reshape(nv, layout.DOF_RECORD)
    turns = np.abs(twists[in_v, layout.TWIST : layout.TWIST + 3]).max(axis=1, initial=0.0) > 0.0
    found: NDArray[np.int64] = in_q[turns]
    return found


def integrate(model: Model, q: ArrayLike, dv: ArrayLike) -> Floats:
    q0 = check_q(model, q)
    step = vector(dv, model.nv, "dv")
    _same_batch(q0, step, "q", "dv")
    out = np.empty_like(q0)
    manifold.integrate(
        model._manifold_indices, q0.reshape(-1), step.reshape(-1), out.reshape(-1), model.nv
    )
    return out


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> Floats:
    start, end = check_q(model, q0), check_q(model, q1)
    _same_batch(start, end, "q0", "q1")
    out = np.empty((*start.shape[:-1], model.nv))
    manifold.difference(
        model._manifold_indices, start.reshape(-1), end.reshape(-1), out.reshape(-1), model.nv
    )
    return out


def _same_batch(a: Floats, b: Floats, name_a: str, name_b: str) -> None:
    if a.shape[:-1] != b.shape[:-1]:
        raise StateError(
            f"{name_a} has batch shape {a.shape[:-1]} and {name_b} has {b.shape[:-1]}",
            "give both the same number of states.",
        )


def vector(values: ArrayLike, size: int, name: str) -> Floats:
    """A contiguous float array of shape (size,) or (batch, size), finite."""
    array = as_floats(values)
    if array is None:
        raise StateError(f"{name} is not an array of real numbers", f"give {size} floats.")
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise StateError(
            f"{name} has shape {array.shape}", f"the model needs ({size},) or (batch, {size})."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(bad[0].tolist())
        raise StateError(f"{name}{list(where)} is {array[where]}", "give finite numbers.")
    return np.require(array, requirements=("C", "A"))


def check_q(model: Model, q: ArrayLike) -> Floats:
    array = vector(q, model.nq, "q")
    starts = quaternion_starts(model.state_indices)
    rows = np.atleast_2d(array)
    norm = np.linalg.norm(rows[:, starts[:, None] + np.arange(4)], axis=2)
    bad = np.argwhere(np.abs(norm - 1.0) > QUATERNION_TOLERANCE)
    if len(bad) == 0:
        return array
    bodies = np.flatnonzero(_has_quaternion(model.indices)).tolist()
    names = [model.joint_names[k] for k in bodies]
    raise StateError(
        Fault(
            f"Joint {names[j]!r}: its "
            f"quaternion{f' in state {b}' if array.ndim == 2 else ''} has norm "
            f"{norm[b, j]:.9g} instead of 1",
            "divide it by its norm.",
        )
        for b, j in bad.tolist()
    )
