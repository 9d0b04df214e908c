"""Turn a column of described values into one array, or name every value that does not fit.

The whole column is converted at once; only if that fails are the values looked at one by one. A
model of 100,000 bodies therefore costs a few array operations, not a million small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FORMS = {(): "a number", (3,): "three numbers", (3, 3): "a 3×3 matrix"}


def read_column(
    values: Sequence[Any], shape: tuple[int, ...], label: str, owner: Callable[[int], str]
) -> tuple[Floats, list[str]]:
    """(values as one (n, *shape) array, faults). Values at fault are read as zeros."""
    if not values:
        return np.zeros((0, *shape)), []
    array = _as_floats(values)
    if array is None or array.shape != (len(values), *shape):
        return _read_one_by_one(values, shape, label, owner)
    return array, _finite_faults(array, label, owner)


def _as_floats(value: Any) -> Floats | None:
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        return None
    if array.size == 0:
        return array.astype(np.float64)
    return array.astype(np.float64) if array.dtype.kind in "fiu" else None


def _read_one_by_one(
    values: Sequence[Any], shape: tuple[int, ...], label: str, owner: Callable[[int], str]
) -> tuple[Floats, list[str]]:
    array = np.zeros((len(values), *shape))
    faults = []
    for k, value in enumerate(values):
        one = _as_floats(value)
        if one is None or one.shape != shape:
            faults.append(f"{owner(k)}: {label} is {value!r}; give {_FORMS[shape]}.")
        else:
            array[k] = one
    return array, faults + _finite_faults(array, label, owner)


def _finite_faults(array: Floats, label: str, owner: Callable[[int], str]) -> list[str]:
    bad = ~np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    return [
        f"{owner(k)}: {label} is {array[k].tolist()}, which is not finite; give finite numbers."
        for k in np.flatnonzero(bad).tolist()
    ]


def read_rotations(values: Sequence[Any], owner: Callable[[int], str]) -> tuple[Floats, list[str]]:
    """(n, 3, 3) rotation matrices from None, 3×3 matrices or unit quaternions."""
    array = np.broadcast_to(np.eye(3), (len(values), 3, 3)).copy()
    faults = []
    for k, value in enumerate(values):
        if value is None:
            continue
        given = _as_floats(value)
        problem = _rotation_problem(given)
        if given is None or problem:
            faults.append(f"{owner(k)}: rotation is {value!r}, {problem}.")
        else:
            array[k] = given if given.shape == (3, 3) else quaternion_to_matrix(given)
    return array, faults


def _rotation_problem(given: Floats | None) -> str:
    if given is None or given.shape not in ((3, 3), (4,)):
        return "which is neither a 3×3 matrix nor a quaternion (w, x, y, z)"
    if not np.isfinite(given).all():
        return "which is not finite"
    if given.shape == (4,):
        norm = float(np.linalg.norm(given))
        return "" if abs(norm - 1.0) <= 1e-9 else f"of norm {norm:.9g}; divide it by its norm"
    if np.abs(given @ given.T - np.eye(3)).max() > 1e-9:
        return "whose rows are not orthonormal to 1e-9; give a rotation matrix with more digits"
    return "" if np.linalg.det(given) > 0 else "which is a reflection; flip the sign of one axis"


def quaternion_to_matrix(p: Floats) -> Floats:
    w, x, y, z = p / np.linalg.norm(p)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
