"""Shapes of bodies, as tables of model files and scenarios: a type, its sizes and its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from skodyn.faults import shown
from skodyn.model.shapes import SHAPES, Mesh, Proximity, Surface, Touching
from skodyn.wording import Spelling

__all__ = ["IN_FILES", "PLACE", "ReadShape", "read_shape", "shape_keys", "surface_of"]

PLACE = ("translation", "rotation")
IN_FILES = {word: kind for word, kind in SHAPES.items() if kind is not Mesh}
"""Shapes that a table can describe; meshes come with robot files only."""


@dataclass
class ReadShape:
    """What a table says: a shape and its place, or (key, problem, remedy) of every fault."""

    shape: Touching | None = None
    place: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    faults: list[tuple[str, str, str]] = field(default_factory=list)


def surface_of(given: Any) -> Surface | None:
    """What a robot file said of a shape, as sweeps and logs keep it."""
    if not isinstance(given, dict):
        return None
    kind = Proximity if "kinetic" in given else Surface
    known = {f.name for f in fields(kind)}
    return kind(**{k: _tuples(x) for k, x in given.items() if k in known})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def shape_keys(kind: type[Touching]) -> tuple[str, ...]:
    """The keys of a shape in files, besides its type and its place."""
    return tuple(f.name for f in fields(kind) if f.name != "path")


def read_shape(
    table: dict[str, Any], kinds: Mapping[str, type[Touching]], more: tuple[str, ...] = ()
) -> ReadShape:
    """A table of keys; values are judged where every shape is, in collision_checks.py.

    more: keys that are taken as they are, besides those of the shape and its place.
    """
    read = ReadShape()
    given = dict(table)
    word = given.pop("type", None)
    kind = kinds.get(word) if isinstance(word, str) else None
    if kind is None:
        remedy = Spelling(kinds).remedy(word, f"use one of {', '.join(kinds)}")
        what = f"has type {shown(word)}" if "type" in table else "has no type"
        read.faults.append(("type" if "type" in table else "", f"it {what}", remedy))
        return read
    keys = shape_keys(kind)
    allowed = (*keys, *PLACE, *more)
    spelling = Spelling((*allowed, "type"))
    for key in given:
        if key not in allowed:
            remedy = spelling.remedy(key, f"use one of {', '.join(allowed)}")
            read.faults.append((key, f"unknown key {key!r} for a {word}", remedy))
    missing = [f.name for f in fields(kind) if f.name in keys and f.default is MISSING]
    missing = [key for key in missing if key not in given]
    if missing and not read.faults:
        problem = f"a {word} needs {' and '.join(missing)}"
        read.faults.append(("", problem, "add what is missing."))
    if not read.faults:
        sizes: dict[str, Any] = {key: given[key] for key in keys if key in given}
        if kind is Mesh:
            sizes["path"] = None  # found by whoever knows where to look
        read.shape = kind(**sizes)
        read.place = {key: given[key] for key in PLACE if key in given}
        read.more = {key: given[key] for key in more if key in given}
    return read
