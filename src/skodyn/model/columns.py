"""Turn a column of described values into one array, or name every value that does not fit.

The whole column is converted at once; only if that fails are the values looked at one by one. A
model of 100,000 bodies therefore costs a few array operations, not a million small ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from skodyn.faults import Fault, Subject
from skodyn.model.products import norm
from skodyn.typing import Floats

_FORMS = {(): "a number", (3,): "three numbers"}

LARGEST = 1e60
"""Numbers beyond this are refused, so that their products still fit a float."""


def as_floats(value: Any) -> Floats | None:
    """Real numbers, nested in any way, as an array; None for everything else, booleans included."""
    try:
        array = np.asarray(value)
        if array.size == 0:
            return np.empty(array.shape)
        if array.dtype.kind == "O" and all(isinstance(x, Real) for x in array.flat):
            array = array.astype(np.float64)  # fractions, and integers beyond 64 bits
        if array.dtype.kind not in "fiu" or _misread(value, array.ndim):
            return None
        return array.astype(np.float64)
    except Exception:  # ragged, or an object whose conversion fails in its own way
        return None


def _masked_types() -> set[type]:
    """Nobody has a masked value where numpy.ma, which takes some milliseconds, is not loaded."""
    ma = sys.modules.get("numpy.ma")
    return {ma.MaskedArray, type(ma.masked)} if ma else set()


def _misread(value: Any, depth: int) -> bool:
    """Whether NumPy made numbers of what is none: True among numbers, or hidden by a mask."""
    masked = _masked_types()
    if type(value) in masked:
        return True
    if depth == 0 or (isinstance(value, np.ndarray) and value.dtype.kind != "O"):
        return False
    if not masked.isdisjoint(map(type, value)):
        return True
    for _ in range(depth - 1):
        value = chain.from_iterable(value)
    return not {bool, np.bool_}.isdisjoint(map(type, value))


Owner = Callable[[int], Subject]
"""Whose value it is, by its place in the column."""


def read_column(
    values: Sequence[Any], shape: tuple[int, ...], label: str, owner: Owner
) -> tuple[Floats, list[Fault]]:
    """(values as one (n, *shape) array, faults). Values at fault come back as NaN."""
    faults: list[Fault] = []
    unread: list[int] = []
    array = as_floats(values)
    if array is None or array.shape != (len(values), *shape):
        array = np.zeros((len(values), *shape))
        for k, value in enumerate(values):
            one = as_floats(value)
            if one is not None and one.shape == shape:
                array[k] = one
            else:
                unread.append(k)
                faults.append(owner(k).found(label, value, f"give {_FORMS[shape]}."))
    faults += _size_faults(array, label, owner)
    array[unread] = np.nan
    return array, faults


def read_inertias(values: Sequence[Any], owner: Owner) -> tuple[Floats, list[Fault]]:
    """(n, 3, 3) from 3×3 matrices and principal moments, with faults as in `read_column`."""
    n = len(values)
    array = as_floats(values)
    if array is not None and array.shape == (n, 3, 3):
        return array, _size_faults(array, "inertia", owner)
    array, faults, unread = np.zeros((n, 3, 3)), [], []
    for k, value in enumerate(values):
        one = as_floats(value)
        if one is not None and one.shape in ((3,), (3, 3)):
            array[k] = one if one.ndim == 2 else np.diag(one)
        else:
            unread.append(k)
            remedy = "give a 3×3 matrix or three principal moments."
            faults.append(owner(k).found("inertia", value, remedy))
    faults += _size_faults(array, "inertia", owner)
    array[unread] = np.nan
    return array, faults


def _size_faults(array: Floats, label: str, owner: Owner) -> list[Fault]:
    """Rows that are not finite or absurdly large are faults, and become NaN."""
    bad = ~(np.abs(array) <= LARGEST).all(axis=tuple(range(1, array.ndim)))
    faults = []
    for k in np.flatnonzero(bad).tolist():
        why = ", which is beyond ±1e60" if np.isfinite(array[k]).all() else ", which is not finite"
        faults.append(owner(k).found(label, array[k].tolist(), "give ordinary SI values.", why))
    array[bad] = np.nan
    return faults


def read_rotations(
    values: Sequence[Any], owner: Owner, label: str = "rotation"
) -> tuple[Floats, list[Fault]]:
    """(n, 3, 3) rotation matrices from None, 3×3 matrices or unit quaternions."""
    array = np.broadcast_to(np.eye(3), (len(values), 3, 3)).copy()
    faults = []
    for k, value in enumerate(values):
        if value is None:
            continue
        given = as_floats(value)
        problem, remedy = _rotation_problem(given)
        if given is None or problem:
            faults.append(owner(k).found(label, value, remedy, f", {problem}"))
        else:
            array[k] = given if given.shape == (3, 3) else quaternion_to_matrix(given)
    return array, faults


def _rotation_problem(given: Floats | None) -> tuple[str, str]:
    """(what is wrong with it, what to do); both empty if it is a rotation."""
    either = "give a 3×3 matrix or a unit quaternion (w, x, y, z)."
    if given is None or given.shape not in ((3, 3), (4,)):
        return "which is not a rotation", either
    if not np.isfinite(given).all():
        return "which is not finite", either
    given = np.clip(given, -LARGEST, LARGEST)  # so that squares stay finite
    if given.shape == (4,):
        norm = float(np.linalg.norm(given))
        if abs(norm - 1.0) <= 1e-9:
            return "", ""
        return f"of norm {norm:.9g}", "give a unit quaternion (w, x, y, z)."
    if np.abs(given @ given.T - np.eye(3)).max() > 1e-9:
        remedy = "give a rotation matrix with more digits."
        return "whose rows are not orthonormal to 1e-9", remedy
    if np.linalg.det(given) > 0:
        return "", ""
    return "which is a reflection", "flip the sign of one axis."


def quaternion_to_matrix(p: Floats) -> Floats:
    w, x, y, z = p / norm(p)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
