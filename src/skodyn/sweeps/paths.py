"""Parameters by name: which paths lead into a scenario, and setting the value at one of them.

    bodies.upper.mass, bodies.upper.com.z, bodies.upper.inertia.xy, bodies.upper.joint.armature
    loops.pin.translation_a.x, loops.strut.length, couplings.wrist.coefficients.1
    gravity.z, initial.q.elbow, initial.v.base.wx, initial.q_noise, seed
    joints.shoulder.damping, controllers.pd.kp, forces.push.force.x, integrator.dt, duration

A path that ends at a vector or a word (`bodies.upper.com`, `integrator.method`) takes whole values.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from skodyn.io.schema import Names
from skodyn.scenario import Scenario
from skodyn.scenario.description import Bounds, RunSettings
from skodyn.scenario.schema import CONTROLLERS, FORCES, METHOD_KEYS, SCHEMA
from skodyn.simulation.elements import JointProperties
from skodyn.simulation.thermostat import AndersenThermostat
from skodyn.sweeps.scenario_data import Data
from skodyn.topology.wording import Spelling

__all__ = ["Places", "places", "set_values", "unknown_paths"]

Place = tuple[str | int, ...]
Places = dict[str, tuple[Place, ...]]

_AXES = "xyz"
_WHOLE = ("seed", "output.every")  # numbers without a fraction


def places(scenario: Scenario, data: Data) -> Places:
    """Every path, and where in the data (`normal_form`) its value stands."""
    found: Places = {}
    for path, *where in (
        *_model(data),
        *_start(scenario, data),
        *_acting(scenario, data),
        *_run(data),
    ):
        found[path] = tuple(where)
    return found


def _vector(path: str, at: Place) -> Iterator[tuple[Any, ...]]:
    yield path, at
    for i, axis in enumerate(_AXES):
        yield f"{path}.{axis}", (*at, i)


def _model(data: Data) -> Iterator[tuple[Any, ...]]:
    yield from _vector("gravity", ("model", "gravity"))
    for body, table in data["model"]["bodies"].items():
        path, at = f"bodies.{body}", ("model", "bodies", body)
        yield f"{path}.mass", (*at, "mass")
        yield from _vector(f"{path}.com", (*at, "com"))
        yield from _vector(f"{path}.translation", (*at, "translation"))
        yield f"{path}.rotation", (*at, "rotation")
        yield f"{path}.inertia", (*at, "inertia")
        for i, a in enumerate(_AXES):
            for j, b in list(enumerate(_AXES))[i:]:
                pair = {(*at, "inertia", i, j), (*at, "inertia", j, i)}
                yield (f"{path}.inertia.{a}{b}", *sorted(pair, key=str))
        for key, value in table["joint"].items():
            if isinstance(value, list):
                yield from _vector(f"{path}.joint.{key}", (*at, "joint", key))
            elif key == "mimic":
                for number in ("multiplier", "offset"):
                    yield f"{path}.joint.mimic.{number}", (*at, "joint", key, number)
            elif not isinstance(value, str):
                yield f"{path}.joint.{key}", (*at, "joint", key)
    yield from _loops(data["model"])


def _loops(model: Data) -> Iterator[tuple[Any, ...]]:
    """Numbers of loops and couplings."""
    for name, loop in model.get("loops", {}).items():
        path, at = f"loops.{name}", ("model", "loops", name)
        for end in "ab":
            yield from _vector(f"{path}.translation_{end}", (*at, f"translation_{end}"))
            yield f"{path}.rotation_{end}", (*at, f"rotation_{end}")
        for key, value in loop["joint"].items():
            if isinstance(value, list):
                yield from _vector(f"{path}.{key}", (*at, "joint", key))
            elif not isinstance(value, str) and value is not None:
                yield f"{path}.{key}", (*at, "joint", key)
    for name, coupling in model.get("couplings", {}).items():
        path, at = f"couplings.{name}", ("model", "couplings", name)
        for i in range(len(coupling.get("coefficients") or ())):
            yield f"{path}.coefficients.{i}", (*at, "coefficients", i)
        for joint in coupling.get("terms") or ():
            yield f"{path}.terms.{joint}", (*at, "terms", joint)
        if "offset" in coupling:
            yield f"{path}.offset", (*at, "offset")


def _start(scenario: Scenario, data: Data) -> Iterator[tuple[Any, ...]]:
    names = Names.of(scenario.model)
    for which, first in (("q", 0), ("v", 2)):
        labels = names.labels[f"{which}_name"]
        for joint, columns in zip(names.joints, names.columns.tolist(), strict=True):
            if joint not in data["initial"][which]:
                continue  # it does not move, or its loops say where it is
            start, size = columns[first : first + 2]
            if size > 1:
                yield f"initial.{which}.{joint}", ("initial", which, joint)
            for i in range(size):
                yield f"initial.{which}.{labels[start + i]}", ("initial", which, joint, i)
        yield f"initial.{which}_noise", ("initial", f"{which}_noise")


def _acting(scenario: Scenario, data: Data) -> Iterator[tuple[Any, ...]]:
    for joint, described in zip(scenario.model.joint_names, scenario.model.joints, strict=True):
        if described.nv:
            for key in SCHEMA[JointProperties]:
                yield f"joints.{joint}.{key}", ("joints", joint, key)
    for group, types in (("controllers", CONTROLLERS), ("forces", FORCES)):
        for name, table in data.get(group, {}).items():
            for f in fields(types[table["type"]]):
                path, at = f"{group}.{name}.{f.name}", (group, name, f.name)
                value = table.get(f.name)
                if isinstance(value, list) and len(value) == 3 and isinstance(f.default, tuple):
                    yield from _vector(path, at)
                else:
                    yield path, at
                    if f.name == "torques":
                        for i in range(len(value or ())):
                            yield f"{path}.{i}", (*at, i)


def _run(data: Data) -> Iterator[tuple[Any, ...]]:
    for key in (key for key in SCHEMA[RunSettings] if key != "title"):
        yield key, (key,)
    method = data.get("integrator", {}).get("method", "rk4")
    for key in ("method", *METHOD_KEYS[method]):
        yield f"integrator.{key}", ("integrator", key)
    for key in SCHEMA[Bounds]:
        yield f"bounds.{key}", ("bounds", key)
    for key in SCHEMA[AndersenThermostat] if "thermostat" in data else ():
        yield f"thermostat.{key}", ("thermostat", key)
    yield (
        ("output.interval", ("output", "interval"))
        if method == "dormand_prince"
        else ("output.every", ("output", "every"))
    )


def unknown_paths(known: Places, names: tuple[str, ...]) -> list[str]:
    """One sentence for each path that leads nowhere."""
    spelling = Spelling(known)
    roots = sorted({path.split(".")[0] for path in known})
    otherwise = f"paths begin with {', '.join(roots)}"
    return [
        f"{name!r} is no parameter of this scenario; {_remedy(spelling, known, name, otherwise)}"
        for name in names
        if name not in known
    ]


def _remedy(spelling: Spelling, known: Places, name: str, otherwise: str) -> str:
    below = [path for path in known if path.startswith(f"{name}.")]
    if below:
        return f"it is a table; name one of its numbers, for example {below[0]!r}."
    return spelling.remedy(name, otherwise)


def set_values(data: Data, known: Places, values: dict[str, Any]) -> Data:
    """A copy of the data with these values in place."""
    result = copy.deepcopy(data)
    for path, value in values.items():
        for place in known[path]:
            _set(result, place, _as_written(path, value))
    return result


def _as_written(path: str, value: Any) -> Any:
    if path in _WHOLE and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    return value


def _set(data: Any, place: Place, value: Any) -> None:
    for key in place[:-1]:
        data = data.setdefault(key, {}) if isinstance(data, dict) else data[key]
    data[place[-1]] = value
