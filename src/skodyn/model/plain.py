"""A model as plain data in which every number has a place, and back to a description.

The data are those of a model file in TOML: tables of bodies, frames, loops and couplings by name,
every default and every vector written out. `Model.with_changes` and sweeps set numbers in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.model.description import ModelBuilder
from skodyn.model.drawing import describe
from skodyn.model.flexible.bent import bending_of
from skodyn.model.joints import CATALOGUE, CLOSING, Joint
from skodyn.model.model import Model

__all__ = ["Data", "described", "model_data", "shape_data"]

Data = dict[str, Any]

_PLACE = ("translation", "rotation")
_BODY_NUMBERS = (*_PLACE, "mass", "com", "inertia")


def model_data(model: Model) -> Data:
    """A model as the table [model] of a scenario."""
    found = describe(model)
    keys = ("parent", "joint", *_BODY_NUMBERS)
    bodies = {body["name"]: {key: body[key] for key in keys} for body in found["bodies"]}
    for body in bodies.values():
        body["joint"] = {k: v for k, v in body["joint"].items() if k not in ("q", "v")}
    frames = {
        frame["name"]: {key: frame[key] for key in ("body", *_PLACE)} for frame in found["frames"]
    }
    if model.bent:
        bodies = _bent_bodies(model, bodies, frames)
    data: Data = {"name": model.name, "gravity": found["gravity"], "bodies": bodies}
    shapes = shape_data(found.get("collisions", {}))
    for name, own in shapes.items():
        if name != GROUND:
            bodies[name]["collisions"] = own
    more = {"frames": frames, "loops": found["loops"], "couplings": found["couplings"]}
    more["ground"] = shapes.get(GROUND, {})
    return {**data, **{key: tables for key, tables in more.items() if tables}}


def _bent_bodies(model: Model, bodies: Data, frames: Data) -> Data:
    """Bodies as they were described: flexible ones whole, and what hangs on them at its node."""
    firsts = {one.pieces[0]: name for name, one in model.bent.items() if one.pieces}
    others = {piece for one in model.bent.values() for piece in one.pieces[1:]}
    found = {firsts.get(name, name): b for name, b in bodies.items() if name not in others}
    for name, one in model.bent.items():
        found[name] = {key: found[name][key] for key in ("parent", "joint", *_PLACE)}
        found[name]["flexible"] = one.table()
    for name, one in model.bent.items():
        for other in () if one.pieces else one.frames:
            if other in found:  # a frame at a node of a body with modes
                table = found.pop(other)
                frames[other] = {key: table[key] for key in _PLACE}
        for key, group, hung in (("parent", found, one.carried), ("body", frames, one.frames)):
            for other, place in hung.items():
                shift = np.asarray(place.translation, dtype=np.float64).tolist()
                group[other] |= {key: name, "at": place.node, "translation": shift}
    return found


def shape_data(found: Mapping[str, Any]) -> dict[str, Data]:
    """Shapes that touch, by body and name, as tables of a model file."""
    return {
        body: {
            name: {
                "type": one["shape"],
                **{k: _listed(one[k]) for k in one if k not in ("shape", "path")},
            }
            for name, one in shapes.items()
        }
        for body, shapes in found.items()
    }


def _listed(value: Any) -> Any:
    """Tuples as lists, in which numbers can be set."""
    if isinstance(value, dict):
        return {key: _listed(x) for key, x in value.items()}
    return [_listed(x) for x in value] if isinstance(value, list | tuple) else value


def described(data: Data) -> ModelBuilder:
    """The builder that data describe, but for shapes; values are judged when it builds."""
    builder = ModelBuilder(data["gravity"], data["name"])
    for name, body in data["bodies"].items():
        numbers = _PLACE if "flexible" in body else _BODY_NUMBERS  # it weighs what its beam does
        given = {key: body[key] for key in numbers}
        if "at" in body:
            given["at"] = body["at"]
        if "flexible" in body:
            given["flexible"] = bending_of(body["flexible"])
        builder.add_body(name, body["parent"], _joint(body["joint"]), **given)
        if mimic := body["joint"].get("mimic"):
            source = mimic["joint"]
            builder.add_mimic(body["joint"]["name"], source, mimic["multiplier"], mimic["offset"])
    for name, frame in data.get("frames", {}).items():
        given = {key: frame[key] for key in (*_PLACE, *(frame.keys() & {"at"}))}
        builder.add_frame(name, frame["body"], **given)
    for name, loop in data.get("loops", {}).items():
        builder.add_loop(name, **{**loop, "joint": _joint(loop["joint"])})
    for name, coupling in data.get("couplings", {}).items():
        builder.add_coupling(name, **coupling)
    return builder


def _joint(data: Data) -> Joint:
    """A joint from its name, type and parameters; q and v are where its columns lie."""
    parameters = {key: data[key] for key in data if key not in ("type", "q", "v", "mimic")}
    return (CLOSING.get(data["type"]) or CATALOGUE[data["type"]])(**parameters)
