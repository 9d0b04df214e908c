"""Judge shapes of bodies, those that touch and others: sizes, names, whom they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skodyn.conventions import GROUND
from skodyn.faults import Fault, Subject, shown
from skodyn.model.builder_entries import CollisionDescription, VisualDescription
from skodyn.model.columns import LARGEST, as_floats, read_column, read_rotations
from skodyn.model.name_checks import duplicate_faults, name_problem
from skodyn.model.shapes import SHAPES, Collision, HalfSpace, HeightField, Mesh, Points, shape_word
from skodyn.typing import Floats
from skodyn.wording import Spelling

__all__ = [
    "Placed",
    "Role",
    "check_collisions",
    "check_placed",
    "owner",
    "shape_faults",
    "tidy_shape",
]

_MAY_BE_ZERO = ("edge", "length")
_TYPES = tuple(SHAPES.values())

Described = CollisionDescription | VisualDescription


class Role(NamedTuple):
    """What shapes are there for: their word, and their tables in bodies and of the ground."""

    word: str
    table: str
    of_ground: str


class Placed(NamedTuple):
    """A shape in plain numbers, where it is, and its name."""

    shape: Any
    rotation: Floats
    translation: Floats
    name: str


_TOUCHING = Role("Collision shape", "collisions", "ground")


def check_collisions(
    given: Sequence[CollisionDescription], bodies: Sequence[str], faults: list[Fault]
) -> dict[str, tuple[Collision, ...]]:
    """The shapes of each body that has any; faults are added, one sentence each."""
    found: dict[str, list[Collision]] = {}
    for one, placed in zip(given, check_placed(given, bodies, _TOUCHING, faults), strict=False):
        found.setdefault(one.body, []).append(Collision(*placed, one.surface))
    return {body: tuple(shapes) for body, shapes in found.items()}


def check_placed(
    given: Sequence[Described], bodies: Sequence[str], role: Role, faults: list[Fault]
) -> list[Placed]:
    """Shapes in the order given, or none of them if one is at fault."""
    known = (*bodies, GROUND)
    spelling = Spelling(known)
    owners = [owner(x, role) for x in given]
    before = len(faults)
    for whose, one in zip(owners, given, strict=True):
        if one.body not in known:
            guess = one.body if isinstance(one.body, str) else None
            remedy = spelling.remedy(guess, f"name a body of the model, or {GROUND!r}")
            faults.append(whose.fault(f"{whose}: there is no such body", remedy))
        faults.extend(_name_faults(one, whose) + shape_faults(one.shape, whose))
    translation, more = read_column(
        [x.translation for x in given], (3,), "translation", owners.__getitem__
    )
    rotation, turned = read_rotations([x.rotation for x in given], owners.__getitem__)
    faults += more + turned
    if len(faults) > before:
        return []
    names = _names(given, role, faults)
    return [
        Placed(tidy_shape(one.shape), rotation[k], translation[k], names[k])
        for k, one in enumerate(given)
    ]


def owner(given: Described, role: Role) -> Subject:
    """A shape by its name and body, at its place in a model file."""
    words = f"{role.word} {shown(given.name)} of body {shown(given.body)}"
    name, body = (x if isinstance(x, str) else shown(x) for x in (given.name, given.body))
    return Subject(_path(body, name, role), words, body)


def _path(body: str, name: str, role: Role) -> tuple[str, ...]:
    return (role.of_ground, name) if body == GROUND else ("bodies", body, role.table, name)


def _name_faults(given: Described, whose: Subject) -> list[Fault]:
    if given.name is None:
        return []
    if unfit := name_problem(given.name):
        return [whose.fault(f"{whose}: it {unfit[0]}", unfit[1])]
    if set(given.name) & set("/*?[]"):
        problem = f"{whose}: its name has one of / * ? [ ] in it, which patterns use"
        return [whose.fault(problem, "rename it.")]
    return []


def _names(given: Sequence[Described], role: Role, faults: list[Fault]) -> list[str]:
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
        faults.extend(duplicate_faults(own, partial(_shape_of, body, role)))
    return names


def _shape_of(body: str, role: Role, name: str) -> Subject:
    words = f"Body {body!r}: its {role.word.lower()} {name!r}"
    return Subject(_path(body, name, role), words, body)


def shape_faults(shape: Any, whose: Subject) -> list[Fault]:
    """What is wrong with the numbers of a shape."""
    if not isinstance(shape, _TYPES):
        kinds = ", ".join(kind.__name__ for kind in _TYPES)
        return [whose.fault(f"{whose}: {shown(shape)} is not a shape", f"give one of {kinds}.")]
    if isinstance(shape, Mesh):
        return _mesh_faults(shape, whose)
    if isinstance(shape, HalfSpace):
        return _half_space_faults(shape, whose)
    if isinstance(shape, HeightField):
        return _height_field_faults(shape, whose)
    if isinstance(shape, Points):
        return _points_faults(shape, whose)
    sizes = {f.name: getattr(shape, f.name) for f in fields(shape)}
    remedies = {key: _size_remedy(key, value) for key, value in sizes.items()}
    return [whose.found(key, sizes[key], remedy) for key, remedy in remedies.items() if remedy]


def _size_remedy(key: str, value: Any) -> str:
    """What to give instead; empty if the value will do."""
    array, is_triple = as_floats(value), key in ("size", "radii")
    if array is None or array.shape != ((3,) if is_triple else ()):
        return f"give {'three numbers' if is_triple else 'a number'}."
    zero_is_fine = key in _MAY_BE_ZERO
    if not np.all((array >= 0.0 if zero_is_fine else array > 0.0) & (array <= LARGEST)):
        return f"give metres {'from' if zero_is_fine else 'above'} 0."
    return ""


def _half_space_faults(shape: HalfSpace, whose: Subject) -> list[Fault]:
    faults = []
    for key, value in (("point", shape.point), ("normal", shape.normal)):
        array = as_floats(value)
        if array is None or array.shape != (3,) or not (np.abs(array) <= LARGEST).all():
            faults.append(whose.found(key, value, "give three finite numbers."))
        elif key == "normal" and not np.abs(array).max() > 1.0 / LARGEST:
            faults.append(whose.found(key, value, "say which way is out.", ", of no length"))
    return faults


def _mesh_faults(shape: Mesh, whose: Subject) -> list[Fault]:
    faults = []
    if not isinstance(shape.filename, str) or not shape.filename:
        faults.append(whose.found("filename", shape.filename, "name a mesh file."))
    scale = as_floats(shape.scale)
    if scale is None or scale.shape != (3,) or not (np.abs(scale) <= LARGEST).all():
        faults.append(whose.found("scale", shape.scale, "give three finite numbers."))
    return faults


def _points_faults(shape: Points, whose: Subject) -> list[Fault]:
    array = as_floats(shape.points)
    faults = []
    if array is None or array.ndim != 2 or array.shape[1] != 3 or not len(array):
        remedy = "give at least one point of three numbers."
        faults.append(whose.found("points", shape.points, remedy))
    elif not (np.abs(array) <= LARGEST).all():
        faults.append(whose.found("points", shape.points, "give finite numbers."))
    radius = as_floats(shape.radius)
    if radius is None or radius.shape != () or not 0.0 <= radius <= LARGEST:
        faults.append(whose.found("radius", shape.radius, "give metres from 0."))
    return faults


def _height_field_faults(shape: HeightField, whose: Subject) -> list[Fault]:
    faults = []
    size, heights = as_floats(shape.size), as_floats(shape.heights)
    if size is None or size.shape != (2,) or not ((size > 0.0) & (size <= LARGEST)).all():
        faults.append(whose.found("size", shape.size, "give its extents in x and y, above 0."))
    if heights is None or heights.ndim != 2 or min(heights.shape) < 2:
        remedy = "give at least two rows of at least two numbers."
        faults.append(whose.found("heights", shape.heights, remedy))
    elif not (np.abs(heights) <= LARGEST).all():
        faults.append(whose.found("heights", shape.heights, "give finite numbers."))
    return faults


def tidy_shape(shape: Any) -> Any:
    """The same shape in plain floats and tuples, so that equal shapes look equal."""
    if isinstance(shape, Mesh):
        return replace(shape, scale=_plain(shape.scale))
    return replace(shape, **{f.name: _plain(getattr(shape, f.name)) for f in fields(shape)})


def _plain(value: Any) -> Any:
    def nested(x: Any) -> Any:
        return tuple(nested(y) for y in x) if isinstance(x, list) else float(x)

    return nested(np.asarray(value, dtype=np.float64).tolist())
