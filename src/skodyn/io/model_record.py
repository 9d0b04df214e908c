"""A model as the text that a log keeps: the run can be drawn without the files it came from."""

from __future__ import annotations

import json
from typing import Any

from skodyn.errors import LogError, ModelError
from skodyn.model.description import ModelBuilder
from skodyn.model.drawing import describe
from skodyn.model.joints import CATALOGUE, Joint
from skodyn.model.model import Model

__all__ = ["model_text", "read_model"]


def model_text(model: Model) -> str:
    """The model as JSON; every number keeps its bits."""
    return json.dumps(describe(model), ensure_ascii=False, separators=(",", ":"))


def read_model(text: str) -> Model:
    """The model that `model_text` wrote; LogError if it comes out different."""
    data = json.loads(text)
    builder = ModelBuilder(data["gravity"], data["name"])
    for body in data["bodies"]:
        given = {key: body[key] for key in ("translation", "rotation", "mass", "com", "inertia")}
        builder.add_body(body["name"], body["parent"], _joint(body["joint"]), **given)
    for frame in data["frames"]:
        place = {key: frame[key] for key in ("translation", "rotation")}
        builder.add_frame(frame["name"], frame["body"], **place)
    try:
        model = builder.build()
    except ModelError as error:
        raise LogError(f"The log's own model cannot be built: {error}") from error
    if model.content_hash != data["hash"]:
        raise LogError(
            "The log's own model comes out different from the one that was run; it was written by "
            "another version of skodyn. Give the model file yourself."
        )
    return model


def _joint(data: dict[str, Any]) -> Joint:
    """A joint from its name, type and parameters; q and v are where its columns lie."""
    parameters = {key: data[key] for key in data if key not in ("type", "q", "v")}
    return CATALOGUE[data["type"]](**parameters)
