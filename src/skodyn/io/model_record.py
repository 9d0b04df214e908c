"""A model as the text that a log keeps: the run can be drawn without the files it came from."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.errors import LogError, ModelError
from skodyn.io.bent_record import bent_data, read_bent, with_modes
from skodyn.io.shape_tables import surface_of
from skodyn.model.description import ModelBuilder
from skodyn.model.drawing import describe, describe_visuals
from skodyn.model.model import Model
from skodyn.model.plain import described
from skodyn.model.properties import JointLimits, JointProperties
from skodyn.model.shapes import SHAPES, Mesh, Touching, Visual

__all__ = ["model_text", "read_model", "visuals_text", "with_visuals"]


def model_text(model: Model) -> str:
    """The model as JSON; every number keeps its bits."""
    bent = {"bent": bent_data(model), "attached": dict(model.attached)} if model.bent else {}
    return json.dumps({**describe(model), **bent}, ensure_ascii=False, separators=(",", ":"))


def read_model(text: str) -> Model:
    """The model that `model_text` wrote. Its hash is the same unless skodyn has changed how it
    packs models since."""
    try:
        data = json.loads(text)
        model = _builder(data).build()
        return _with_extras(with_modes(model, data) if "bent" in data else model, data)
    except (ModelError, KeyError, TypeError, ValueError) as error:
        raise LogError(
            f"The model in the log cannot be built by this version of skodyn ({error}); give the "
            "model file yourself."
        ) from error


def _builder(data: dict[str, Any]) -> ModelBuilder:
    by_name = {key: {one["name"]: one for one in data[key]} for key in ("bodies", "frames")}
    builder = described({**data, **by_name})
    for body, shapes in data.get("collisions", {}).items():
        for name, given in shapes.items():
            place = {key: given[key] for key in ("translation", "rotation")}
            surface = surface_of(given.get("surface"))
            builder.add_collision(body, _shape(given), name=name, surface=surface, **place)
    return builder


def _with_extras(model: Model, data: dict[str, Any]) -> Model:
    """The model with what a robot file says besides its tree; `describe` left infinities out."""
    listed = {key: data.get(key, {}) for key in ("joint_properties", "limits", "visuals")}
    return replace(
        model,
        joint_properties={
            name: JointProperties(**{key: _hashable(x) for key, x in given.items()})
            for name, given in listed["joint_properties"].items()
        },
        bent=read_bent(data.get("bent", {})),
        limits={name: JointLimits(**given) for name, given in listed["limits"].items()},
        visuals=_visuals(listed["visuals"]),
        starts={
            name: (np.array(start["q"]), np.array(start["v"]))
            for name, start in data.get("starts", {}).items()
        },
        notes=tuple(data.get("notes", ())),
        repairs=tuple(data.get("repairs", ())),
    )


def visuals_text(model: Model) -> str:
    """Shapes to look at as JSON, for whoever builds the same model without them."""
    return json.dumps(describe_visuals(model), ensure_ascii=False)


def with_visuals(model: Model, text: str) -> Model:
    """The model with the shapes that `visuals_text` wrote."""
    return replace(model, visuals=_visuals(json.loads(text)))


def _visuals(data: dict[str, Any]) -> dict[str, tuple[Visual, ...]]:
    return {body: tuple(_visual(dict(x)) for x in xs) for body, xs in data.items()}


def _visual(data: dict[str, Any]) -> Visual:
    rotation, translation = (np.array(data.pop(key)) for key in ("rotation", "translation"))
    colour, name = data.pop("color"), data.pop("name")
    colour = tuple(colour) if colour else None
    return Visual(_shape(data), rotation, translation, colour, name)


def _shape(data: dict[str, Any]) -> Touching:
    """A shape from its word and its sizes, whatever else there is beside them."""
    kind = SHAPES[data["shape"]]
    given = {f.name: _hashable(data[f.name]) for f in fields(kind) if f.name in data}
    if kind is Mesh:
        given["path"] = Path(data["path"]) if data.get("path") else None
    return kind(**given)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value
