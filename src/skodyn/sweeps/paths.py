"""Parameters by name: which paths lead into a scenario, and setting the value at one of them.

    bodies.upper.mass, bodies.upper.com.z, bodies.upper.inertia.xy, bodies.upper.joint.armature
    frames.tip.translation.x, loops.pin.translation_a.x, loops.strut.length
    couplings.wrist.coefficients.1, gravity.z, initial.q.elbow, initial.v.base.wx
    initial.q_noise, seed
    joints.shoulder.damping, controllers.pd.kp, forces.push.force.x, integrator.dt, duration
    contacts.feet.friction, ground.floor.normal, bodies.foot.collisions.sole.radius

A path that ends at a vector or a word (`bodies.upper.com`, `integrator.method`) takes whole values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from skodyn.faults import Fault
from skodyn.io.schema import Names
from skodyn.model import places as model_paths
from skodyn.model.contact.contacts import Contact
from skodyn.model.keys import VECTOR, keys_of
from skodyn.model.places import Places, model_places, place_vector, set_places
from skodyn.scenario import Scenario
from skodyn.scenario.description import Bounds, RunSettings
from skodyn.scenario.schema import SCHEMA, TABLES
from skodyn.simulation.element import ELEMENTS
from skodyn.simulation.element_kinds.controller import FUNCTION
from skodyn.simulation.elements import JointProperties
from skodyn.simulation.methods import METHODS
from skodyn.simulation.thermostat import AndersenThermostat
from skodyn.sweeps.scenario_data import Data

__all__ = ["Places", "places", "set_values", "unknown_paths"]

_WHOLE = ("seed", "output.every")  # numbers without a fraction


def places(scenario: Scenario, data: Data) -> Places:
    """Every path, and where in the data (`normal_form`) its value stands."""
    found: Places = {}
    for path, *where in (
        *_model(data),
        *_start(scenario, data),
        *_acting(scenario, data),
        *_touching(data),
        *_run(data),
    ):
        found[path] = tuple(where)
    return found


def _model(data: Data) -> Iterator[tuple[Any, ...]]:
    for path, *where in model_places(data["model"]):
        yield (path, *(("model", *at) for at in where))


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
    for group in TABLES:
        for name, table in data.get(group, {}).items():
            for key, entry in keys_of(ELEMENTS[table["type"]]).items():
                path, at = f"{group}.{name}.{key}", (group, name, key)
                if entry.kind is FUNCTION:
                    continue  # code is not a value
                if entry.kind is VECTOR and key in table:
                    yield from place_vector(path, at)
                    continue
                yield path, at
                yield from _inside(path, at, table.get(key))


def _inside(path: str, at: tuple[Any, ...], value: Any) -> Iterator[tuple[Any, ...]]:
    """Numbers of a list, and entries of a table by their names."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield f"{path}.{name}", (*at, name)
            yield from _inside(f"{path}.{name}", (*at, name), entry)
    elif isinstance(value, list | tuple):
        for i in range(len(value)):
            yield f"{path}.{i}", (*at, i)


def _touching(data: Data) -> Iterator[tuple[Any, ...]]:
    """Numbers of shapes and of contacts."""
    for name, table in data["model"].get("ground", {}).items():
        yield from _shape(f"ground.{name}", ("model", "ground", name), table)
    for body, described in data["model"]["bodies"].items():
        for name, table in described.get("collisions", {}).items():
            at = ("model", "bodies", body, "collisions", name)
            yield from _shape(f"bodies.{body}.collisions.{name}", at, table)
    for name in data.get("contacts", {}):
        for key in SCHEMA[Contact]:
            if key not in ("a", "b", "adjacent"):
                yield f"contacts.{name}.{key}", ("contacts", name, key)


def _shape(path: str, at: tuple[str, ...], table: Data) -> Iterator[tuple[Any, ...]]:
    for key, value in table.items():
        if isinstance(value, list | tuple) and len(value) == 3 and key != "points":
            yield from place_vector(f"{path}.{key}", (*at, key))
        elif key not in ("type", "points", "heights"):
            yield f"{path}.{key}", (*at, key)


def _run(data: Data) -> Iterator[tuple[Any, ...]]:
    for key in (key for key in SCHEMA[RunSettings] if key != "title"):
        yield key, (key,)
    method = METHODS[data.get("integrator", {}).get("method", "rk4")]
    for key in ("method", *method.keys):
        yield f"integrator.{key}", ("integrator", key)
    for key in SCHEMA[Bounds]:
        yield f"bounds.{key}", ("bounds", key)
    for key in SCHEMA[AndersenThermostat] if "thermostat" in data else ():
        yield f"thermostat.{key}", ("thermostat", key)
    yield (
        ("output.interval", ("output", "interval"))
        if method.adaptive
        else ("output.every", ("output", "every"))
    )


def unknown_paths(known: Places, names: tuple[str, ...]) -> list[Fault]:
    """One sentence for each path that leads nowhere."""
    found = model_paths.unknown_paths(known, names, "this scenario")
    return [replace(fault, path=("sweep",)) for fault in found.values()]


def set_values(data: Data, known: Places, values: dict[str, Any]) -> Data:
    """A copy of the data with these values in place."""
    written = {path: _as_written(path, value) for path, value in values.items()}
    return set_places(data, known, written)


def _is_whole(path: str) -> bool:
    counts = path.startswith("bodies.") and (".flexible.modes." in path or ".segments" in path)
    return counts or path in _WHOLE


def _as_written(path: str, value: Any) -> Any:
    if _is_whole(path) and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    return value
