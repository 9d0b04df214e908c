"""Judge shapes that can touch others: their sizes, names and the bodies they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.model.columns import LARGEST, as_floats, read_column, read_rotations, shown
from skodyn.model.description import CollisionDescription
from skodyn.model.name_checks import duplicate_faults, text_fault
from skodyn.model.shapes import (
    SHAPES,
    Collision,
    HalfSpace,
    HeightField,
    Mesh,
    Points,
    shape_word,
)
from skodyn.topology.wording import Spelling

__all__ = ["check_collisions", "shape_faults", "tidy_shape"]

_MAY_BE_ZERO = ("edge", "length")
_TYPES = tuple(SHAPES.values())


def check_collisions(
    given: Sequence[CollisionDescription], bodies: Sequence[str], faults: list[str]
) -> dict[str, tuple[Collision, ...]]:
    """The shapes of each body that has any; faults are added, one sentence each."""
    known = (*bodies, GROUND)
    spelling = Spelling(known)
    labels = [f"Collision shape {shown(x.name)} of body {shown(x.body)}" for x in given]
    before = len(faults)
    for label, one in zip(labels, given, strict=True):
        if one.body not in known:
            guess = one.body if isinstance(one.body, str) else None
            remedy = spelling.remedy(guess, f"name a body of the model, or {GROUND!r}")
            faults.append(f"{label}: there is no such body; {remedy}")
        faults.extend(f"{label}: {fault}" for fault in (*_name_faults(one), *shape_faults(one)))
    translation, more = read_column(
        [x.translation for x in given], (3,), "translation", labels.__getitem__
    )
    rotation, turned = read_rotations([x.rotation for x in given], labels.__getitem__)
    faults += more + turned
    if len(faults) > before:
        return {}
    names = _names(given, faults)
    found: dict[str, list[Collision]] = {}
    for k, one in enumerate(given):
        placed = Collision(tidy_shape(one.shape), rotation[k], translation[k], names[k])
        found.setdefault(one.body, []).append(placed)
    return {body: tuple(shapes) for body, shapes in found.items()}


def _name_faults(given: CollisionDescription) -> list[str]:
    if given.name is None:
        return []
    if fault := text_fault(given.name):
        return [f"it {fault}"]
    if set(given.name) & set("/*?[]"):
        return ["its name has one of / * ? [ ] in it, which patterns use; rename it."]
    return []


def _names(given: Sequence[CollisionDescription], faults: list[str]) -> list[str]:
    """Names as given; those left out are the type's, with a number from the second on."""
    taken = {(x.body, x.name) for x in given if x.name is not None}
    counted: Counter[tuple[str, str]] = Counter()
    names: list[str] = []
    for one in given:
        name = one.name
        while name is None:
            word = shape_word(one.shape)
            counted[one.body, word] += 1
            number = counted[one.body, word]
            candidate = word if number == 1 else f"{word}{number}"
            name = None if (one.body, candidate) in taken else candidate
        names.append(name)
    for body in dict.fromkeys(x.body for x in given):
        own = Counter(name for name, x in zip(names, given, strict=True) if x.body == body)
        faults.extend(duplicate_faults(f"Body {body!r}: its collision shape", own))
    return names


def shape_faults(given: Any) -> list[str]:
    """What is wrong with the numbers of a shape; `given` has it as its field `shape`."""
    shape = given.shape
    if not isinstance(shape, _TYPES):
        kinds = ", ".join(kind.__name__ for kind in _TYPES)
        return [f"{shown(shape)} is no shape; give one of {kinds}."]
    if isinstance(shape, Mesh):
        named = isinstance(shape.filename, str) and shape.filename
        return [] if named else [f"filename is {shown(shape.filename)}; name a mesh file."]
    if isinstance(shape, HalfSpace):
        return _half_space_faults(shape)
    if isinstance(shape, HeightField):
        return _height_field_faults(shape)
    if isinstance(shape, Points):
        return _points_faults(shape)
    return [
        fault
        for f in fields(shape)
        if (fault := _size_fault(f.name, getattr(shape, f.name), f.name in ("size", "radii")))
    ]


def _size_fault(key: str, value: Any, is_triple: bool = False) -> str:
    array = as_floats(value)
    if array is None or array.shape != ((3,) if is_triple else ()):
        return f"{key} is {shown(value)}; give {'three numbers' if is_triple else 'a number'}."
    zero_is_fine = key in _MAY_BE_ZERO
    if not np.all((array >= 0.0 if zero_is_fine else array > 0.0) & (array <= LARGEST)):
        return f"{key} is {shown(value)}; give metres {'from' if zero_is_fine else 'above'} 0."
    return ""


def _half_space_faults(shape: HalfSpace) -> list[str]:
    faults = []
    for key, value in (("point", shape.point), ("normal", shape.normal)):
        array = as_floats(value)
        if array is None or array.shape != (3,) or not (np.abs(array) <= LARGEST).all():
            faults.append(f"{key} is {shown(value)}; give three finite numbers.")
        elif key == "normal" and not np.abs(array).max() > 1.0 / LARGEST:
            faults.append(f"normal is {shown(value)}, of no length; say which way is out.")
    return faults


def _points_faults(shape: Points) -> list[str]:
    array = as_floats(shape.points)
    faults = []
    if array is None or array.ndim != 2 or array.shape[1] != 3 or not len(array):
        faults.append(f"points is {shown(shape.points)}; give at least one point of three numbers.")
    elif not (np.abs(array) <= LARGEST).all():
        faults.append(f"points is {shown(shape.points)}; give finite numbers.")
    radius = as_floats(shape.radius)
    if radius is None or radius.shape != () or not 0.0 <= radius <= LARGEST:
        faults.append(f"radius is {shown(shape.radius)}; give metres from 0.")
    return faults


def _height_field_faults(shape: HeightField) -> list[str]:
    faults = []
    size, heights = as_floats(shape.size), as_floats(shape.heights)
    if size is None or size.shape != (2,) or not ((size > 0.0) & (size <= LARGEST)).all():
        faults.append(f"size is {shown(shape.size)}; give its extents in x and y, above 0.")
    if heights is None or heights.ndim != 2 or min(heights.shape) < 2:
        faults.append(
            f"heights is {shown(shape.heights)}; give at least two rows of at least two numbers."
        )
    elif not (np.abs(heights) <= LARGEST).all():
        faults.append(f"heights is {shown(shape.heights)}; give finite numbers.")
    return faults


def tidy_shape(shape: Any) -> Any:
    """The same shape in plain floats and tuples, so that equal shapes look equal."""
    if isinstance(shape, Mesh):
        return shape
    return replace(shape, **{f.name: _plain(getattr(shape, f.name)) for f in fields(shape)})


def _plain(value: Any) -> Any:
    def nested(x: Any) -> Any:
        return tuple(nested(y) for y in x) if isinstance(x, list) else float(x)

    return nested(np.asarray(value, dtype=np.float64).tolist())
