"""[model] of a scenario: the name of a model file, or a model written out in place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from skodyn.errors import ModelError
from skodyn.io import load
from skodyn.io.model_toml import MODEL_KEYS, ModelFile
from skodyn.io.toml_source import TomlSource
from skodyn.model.columns import shown
from skodyn.model.model import Model
from skodyn.scenario.tables import Tables
from skodyn.topology.wording import Spelling

__all__ = ["FILE_KEYS", "INLINE_KEYS", "read_model"]

INLINE_KEYS = MODEL_KEYS
FILE_KEYS = ("root", "merge_fixed", "search_paths", "stops", "mimic", "ignore")
"""How a robot file is read: the arguments of `load`."""


def read_model(tables: Tables, top: dict[str, Any], folder: Path) -> Model | None:
    """The model; None, with faults, if there is none."""
    if "model" not in top:
        tables.fault((), "The scenario has no model; write a table [model] with file = …")
        return None
    keys = ("file", *INLINE_KEYS, *FILE_KEYS)
    given = tables.known(tables.table(top, "model"), keys, ("model",))
    inline = {key: value for key, value in given.items() if key in INLINE_KEYS}
    options = {key: value for key, value in given.items() if key in FILE_KEYS}
    if "file" in given and inline:
        key = next(iter(inline))
        tables.fault(
            ("model", key),
            f"model has both file and {key}; change the model file, or write the whole model here.",
        )
        return None
    if "file" in given:
        return _from_file(tables, given["file"], options, folder)
    for key in options:
        sentence = f"model.{key} is for a model file; give file too, or leave it out."
        tables.fault(("model", key), sentence)
    if "bodies" in given:
        return _written_out(tables, inline)
    if isinstance(top["model"], dict):
        tables.fault(("model",), "model has neither file nor bodies; give the one or the other.")
    return None


def _from_file(tables: Tables, name: Any, options: dict[str, Any], folder: Path) -> Model | None:
    at = ("model", "file")
    if not isinstance(name, str) or not name:
        tables.fault(at, f"model.file is {shown(name)}; give the path of a model file.")
        return None
    path = folder / name
    if not os.path.isfile(path):  # which, unlike Path.is_file, never raises
        remedy = Spelling(_neighbours(path)).remedy(path.name, "check the path")
        tables.fault(at, f"model.file is {shown(name)}, but there is no file {path}; {remedy}")
        return None
    paths = options.get("search_paths")
    if isinstance(paths, list) and all(isinstance(one, str) for one in paths):
        options["search_paths"] = [str(folder / one) for one in paths]
    try:
        return load(path, **options)
    except ModelError as error:
        for fault in error.faults:
            tables.fault(at, f"model.file is at fault: {fault}")
        return None


def _neighbours(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path.parent))
    except (OSError, ValueError):
        return []


def _written_out(tables: Tables, data: dict[str, Any]) -> Model | None:
    described = ModelFile(_Inner(tables.source, data))
    try:
        return described.build(repair_inertia=False)
    except ModelError:
        tables.faults += described.faults
        return None


class _Inner(TomlSource):
    """The table [model], read as if it were a model file of its own."""

    def __init__(self, outer: TomlSource, data: dict[str, Any]) -> None:
        self.outer, self.data = outer, data
        self.path, self.text = outer.path, outer.text

    def line(self, *keys: str) -> int:
        return self.outer.line("model", *keys)
