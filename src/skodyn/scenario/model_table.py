"""[model] of a scenario: the name of a model file and changes to it, or a model written out."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from skodyn.errors import ModelError
from skodyn.io import load
from skodyn.io.model_toml import MODEL_KEYS, ModelFile
from skodyn.io.toml_source import TomlSource
from skodyn.model.changes import CHANGES, changed
from skodyn.model.columns import shown
from skodyn.model.model import Model
from skodyn.scenario.tables import Tables
from skodyn.topology.wording import Spelling

__all__ = ["FILE_KEYS", "INLINE_KEYS", "read_model"]

INLINE_KEYS = MODEL_KEYS
FILE_KEYS = ("root", "merge_fixed", "search_paths", "stops", "mimic", "ignore")
"""How a robot file is read: the arguments of `load`."""
_REPAIR = "repair_inertia"
_BESIDE_FILE = ("gravity", "changes")


def read_model(tables: Tables, top: dict[str, Any], folder: Path) -> Model | None:
    """The model; None, with faults, if there is none."""
    if "model" not in top:
        tables.fault((), "The scenario has no model; write a table [model] with file = …")
        return None
    keys = ("file", *INLINE_KEYS, *FILE_KEYS, _REPAIR, "changes")
    given = tables.known(tables.table(top, "model"), keys, ("model",))
    inline = {key: value for key, value in given.items() if key in INLINE_KEYS}
    options = {key: value for key, value in given.items() if key in (*FILE_KEYS, _REPAIR)}
    if "file" in given:
        return _from_file(tables, given, options, folder)
    repair = options.pop(_REPAIR, False)
    if not isinstance(repair, bool):
        tables.fault(("model", _REPAIR), f"model.{_REPAIR} is {shown(repair)}; give true or false.")
    for key in (*options, *(("changes",) if "changes" in given else ())):
        sentence = f"model.{key} is for a model file; give file too, or leave it out."
        tables.fault(("model", key), sentence)
    if "bodies" in given:
        return _written_out(tables, inline, repair is True)
    if isinstance(top["model"], dict):
        tables.fault(("model",), "model has neither file nor bodies; give the one or the other.")
    return None


def _from_file(
    tables: Tables, given: dict[str, Any], options: dict[str, Any], folder: Path
) -> Model | None:
    name, at = given["file"], ("model", "file")
    for key in (key for key in given if key in INLINE_KEYS and key not in _BESIDE_FILE):
        sentence = f"model has both file and {key}; write [model.changes.{key}] to change numbers"
        tables.fault(("model", key), f"{sentence}, or write the whole model here.")
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
        model = load(path, **options)
    except ModelError as error:
        for fault in error.faults:
            tables.fault(at, f"model.file is at fault: {fault}")
        return None
    return _with_changes(tables, model, given, options.get(_REPAIR) is True)


def _with_changes(
    tables: Tables, model: Model, given: dict[str, Any], repair: bool
) -> Model | None:
    """The model of a file with what the scenario changes in it."""
    at = ("model", "changes")
    table = tables.known(tables.table(given, *at), CHANGES, at)
    if "gravity" in given and "gravity" in table:
        sentence = "model has gravity and changes.gravity; give the one or the other."
        tables.fault((*at, "gravity"), sentence)
    changes = {**{key: given[key] for key in ("gravity",) if key in given}, **table}
    if not changes:
        return model
    try:
        return changed(model, changes, repair_inertia=repair)
    except ModelError as error:
        for fault in error.faults:
            where = _spoken_of(fault, changes)
            inside = ("model",) if where[:1] == ("gravity",) and "gravity" in given else at
            tables.fault((*inside, *where), f"{'.'.join(inside)}: {fault}")
        return None


def _spoken_of(fault: str, table: Any) -> tuple[str, ...]:
    """The keys that lead to what a sentence is about, as far as the names in it tell."""
    if not isinstance(table, dict):
        return ()
    for key, value in table.items():
        inner = _spoken_of(fault, value)
        if inner or re.search(rf"(?<![\w]){re.escape(key)}(?![\w])", fault):
            return (key, *inner)
    return ()


def _neighbours(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path.parent))
    except (OSError, ValueError):
        return []


def _written_out(tables: Tables, data: dict[str, Any], repair: bool) -> Model | None:
    described = ModelFile(_Inner(tables.source, data))
    try:
        return described.build(repair_inertia=repair)
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
