"""Flexible bodies in the record of a model: every number of them, so that nothing is found anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from skodyn.model.flexible.beams import Beam, beam_of
from skodyn.model.flexible.bent import BentBody, Hanging
from skodyn.model.flexible.flexible_packing import with_flexible
from skodyn.model.flexible.modal_body import (
    BeamCurvature,
    FlexibleBody,
    FlexibleDisplay,
    FlexibleNode,
)
from skodyn.model.model import Model

__all__ = ["bent_data", "body_data", "read_bent", "read_body", "with_modes"]


def bent_data(model: Model) -> dict[str, Any]:
    """What `read_bent` takes, ready for JSON; empty if nothing bends."""
    return {name: _one(given, model.flexible.get(name)) for name, given in model.bent.items()}


def _one(given: BentBody, modal: FlexibleBody | None) -> dict[str, Any]:
    return {
        "beam": given.described.table() if isinstance(given.described, Beam) else None,
        "body": body_data(modal) if modal else None,
        "pieces": list(given.pieces),
        "carried": _hanging(given.carried),
        "frames": _hanging(given.frames),
    }


def _hanging(given: Mapping[str, Hanging]) -> dict[str, Any]:
    return {name: [one.node, np.asarray(one.translation).tolist()] for name, one in given.items()}


def read_bent(data: Mapping[str, Any]) -> dict[str, BentBody]:
    """How each flexible body was described."""
    found = {}
    for name, one in data.items():
        described = beam_of(one["beam"]) if one["beam"] else read_body(one["body"])
        hung = [
            {key: Hanging(node, tuple(shift)) for key, (node, shift) in one[group].items()}
            for group in ("carried", "frames")
        ]
        found[name] = BentBody(described, tuple(one["pieces"]), *hung)
    return found


def with_modes(model: Model, data: Mapping[str, Any]) -> Model:
    """A model as it is without modes, and with those that were recorded."""
    modal = {name: read_body(one["body"]) for name, one in data["bent"].items() if one["body"]}
    return with_flexible(model, modal, data["attached"]) if modal else model


def body_data(body: FlexibleBody) -> dict[str, Any]:
    """A reduced body as nested lists."""
    found = {f.name: getattr(body, f.name) for f in fields(body) if f.name != "file"}
    found |= {"nodes": {name: _arrays(node) for name, node in body.nodes.items()}}
    found |= {
        key: _arrays(part) for key in ("curvature", "display") if (part := found[key]) is not None
    }
    return {key: x.tolist() if isinstance(x, np.ndarray) else x for key, x in found.items()}


def _arrays(given: Any) -> dict[str, Any]:
    return {f.name: getattr(given, f.name).tolist() for f in fields(given)}


def read_body(data: Mapping[str, Any]) -> FlexibleBody:
    """The opposite; empty arrays have lost their shape and get it back."""
    m, n = len(data["labels"]), len(data["shape_integrals"])
    given = dict(data)
    given["labels"] = tuple(data["labels"])
    given["slaves"] = np.array(data["slaves"], dtype=np.float64).reshape(n - m, m, m)
    given["nodes"] = {name: FlexibleNode(**node) for name, node in data["nodes"].items()}
    if data.get("curvature"):
        given["curvature"] = BeamCurvature(**data["curvature"])
    if data.get("display"):
        shown: dict[str, Any] = {
            key: np.array(x, dtype=np.float64) for key, x in data["display"].items()
        }
        shown["faces"] = np.array(data["display"]["faces"], dtype=np.int64).reshape(-1, 3)
        shown["outline"] = shown["outline"].reshape(-1, 2)
        given["display"] = FlexibleDisplay(**shown)
    return FlexibleBody(**given)
