"""Numbers of a model by name: which paths lead to them, and setting the value at one.

    bodies.upper.mass, bodies.upper.com.z, bodies.upper.inertia.xy, bodies.upper.joint.armature
    frames.tip.translation.x, loops.pin.translation_a.x, loops.strut.length
    couplings.wrist.coefficients.1, gravity.z

A path that ends at a vector (`bodies.upper.com`) takes whole values.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from skodyn.faults import Fault
from skodyn.model.plain import Data
from skodyn.wording import Spelling

__all__ = ["Place", "Places", "model_places", "place_vector", "set_places", "unknown_paths"]

Place = tuple[str | int, ...]
Places = dict[str, tuple[Place, ...]]

_AXES = "xyz"


def place_vector(path: str, at: Place) -> Iterator[tuple[Any, ...]]:
    """A vector as a whole, and its three numbers."""
    yield path, at
    for i, axis in enumerate(_AXES):
        yield f"{path}.{axis}", (*at, i)


def model_places(model: Data) -> Iterator[tuple[Any, ...]]:
    """(path, place, …) of every number of a model; a number may stand in two places."""
    yield from place_vector("gravity", ("gravity",))
    for name, table in model["bodies"].items():
        yield from _body(f"bodies.{name}", ("bodies", name), table)
    for name in model.get("frames", {}):
        path, at = f"frames.{name}", ("frames", name)
        yield from place_vector(f"{path}.translation", (*at, "translation"))
        yield f"{path}.rotation", (*at, "rotation")
    for name, loop in model.get("loops", {}).items():
        yield from _loop(f"loops.{name}", ("loops", name), loop)
    for name, coupling in model.get("couplings", {}).items():
        yield from _coupling(f"couplings.{name}", ("couplings", name), coupling)


def _body(path: str, at: Place, table: Data) -> Iterator[tuple[Any, ...]]:
    yield from place_vector(f"{path}.translation", (*at, "translation"))
    yield f"{path}.rotation", (*at, "rotation")
    if "flexible" in table:
        yield from _flexible(f"{path}.flexible", (*at, "flexible"), table["flexible"])
    else:
        yield from _weight(path, at)
    for key, value in table["joint"].items():
        if isinstance(value, list):
            yield from place_vector(f"{path}.joint.{key}", (*at, "joint", key))
        elif key == "mimic":
            for number in ("multiplier", "offset"):
                yield f"{path}.joint.mimic.{number}", (*at, "joint", key, number)
        elif not isinstance(value, str):
            yield f"{path}.joint.{key}", (*at, "joint", key)


def _weight(path: str, at: Place) -> Iterator[tuple[Any, ...]]:
    yield f"{path}.mass", (*at, "mass")
    yield from place_vector(f"{path}.com", (*at, "com"))
    yield f"{path}.inertia", (*at, "inertia")
    for i, a in enumerate(_AXES):
        for j, b in list(enumerate(_AXES))[i:]:
            pair = {(*at, "inertia", i, j), (*at, "inertia", j, i)}
            yield (f"{path}.inertia.{a}{b}", *sorted(pair, key=str))


def _flexible(path: str, at: Place, table: Data) -> Iterator[tuple[Any, ...]]:
    """Numbers of a beam; both bending stiffnesses are y and z of one key."""
    for key, value in table.get("beam", {}).items():
        if isinstance(value, list):
            yield f"{path}.beam.{key}", (*at, "beam", key)
            for i, axis in enumerate("yz"):
                yield f"{path}.beam.{key}.{axis}", (*at, "beam", key, i)
        elif not isinstance(value, dict):
            yield f"{path}.beam.{key}", (*at, "beam", key)
    for key in ("damping", "segments", "stiffening"):
        if key in table:
            yield f"{path}.{key}", (*at, key)
    for group in ("modes", "nodes"):
        for key in table.get(group, {}):
            yield f"{path}.{group}.{key}", (*at, group, key)


def _loop(path: str, at: Place, loop: Data) -> Iterator[tuple[Any, ...]]:
    for end in "ab":
        yield from place_vector(f"{path}.translation_{end}", (*at, f"translation_{end}"))
        yield f"{path}.rotation_{end}", (*at, f"rotation_{end}")
    for key, value in loop["joint"].items():
        if isinstance(value, list):
            yield from place_vector(f"{path}.{key}", (*at, "joint", key))
        elif not isinstance(value, str) and value is not None:
            yield f"{path}.{key}", (*at, "joint", key)


def _coupling(path: str, at: Place, coupling: Data) -> Iterator[tuple[Any, ...]]:
    for i in range(len(coupling.get("coefficients") or ())):
        yield f"{path}.coefficients.{i}", (*at, "coefficients", i)
    for joint in coupling.get("terms") or ():
        yield f"{path}.terms.{joint}", (*at, "terms", joint)
    if "offset" in coupling:
        yield f"{path}.offset", (*at, "offset")


def unknown_paths(known: Places, names: Iterable[str], whose: str) -> dict[str, Fault]:
    """A fault for each path that leads nowhere."""
    spelling = Spelling(known)
    roots = sorted({path.split(".")[0] for path in known})
    otherwise = f"paths begin with {', '.join(roots)}"
    return {
        name: Fault(
            f"{name!r} is not a parameter of {whose}",
            _remedy(spelling, known, name, otherwise),
            tuple(name.split(".")),
        )
        for name in names
        if name not in known
    }


def _remedy(spelling: Spelling, known: Collection[str], name: str, otherwise: str) -> str:
    below = [path for path in known if path.startswith(f"{name}.")]
    if below:
        return f"it is a table; name one of its numbers, for example {below[0]!r}."
    return spelling.remedy(name, otherwise)


def set_places(data: Data, known: Places, values: Mapping[str, Any]) -> Data:
    """A copy of the data with these values in place."""
    result = copy.deepcopy(data)
    for path, value in values.items():
        for place in known[path]:
            _set(result, place, value)
    return result


def _set(data: Any, place: Place, value: Any) -> None:
    for key in place[:-1]:
        data = data.setdefault(key, {}) if isinstance(data, dict) else data[key]
    data[place[-1]] = value
