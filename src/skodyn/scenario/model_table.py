"""[model] of a scenario: the name of a model file and changes to it, or a model written out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject, shown
from skodyn.faults import Path as KeyPath
from skodyn.io import load
from skodyn.io.model_toml import MODEL_KEYS, ModelFile
from skodyn.io.toml_source import TomlSource
from skodyn.model.changes import CHANGES, changed
from skodyn.model.model import Model
from skodyn.scenario.tables import Tables
from skodyn.wording import Spelling

MODEL = Subject(("model",))

__all__ = ["FILE_KEYS", "INLINE_KEYS", "read_model"]

INLINE_KEYS = MODEL_KEYS
FILE_KEYS = ("root", "merge_fixed", "search_paths", "stops", "mimic", "ignore", "hulls")
"""How a robot file is read: the arguments of `load`."""
_REPAIR = "repair_inertia"
_BESIDE_FILE = ("gravity", "changes")


def read_model(tables: Tables, top: dict[str, Any], folder: Path) -> Model | None:
    """The model; None, with faults, if there is none."""
    if "model" not in top:
        tables.fault((), "The scenario has no model", "write a table [model] with file = …")
        return None
    keys = ("file", *INLINE_KEYS, *FILE_KEYS, _REPAIR, "changes")
    given = tables.known(tables.table(top, "model"), keys, ("model",))
    inline = {key: value for key, value in given.items() if key in INLINE_KEYS}
    options = {key: value for key, value in given.items() if key in (*FILE_KEYS, _REPAIR)}
    if "file" in given:
        return _from_file(tables, given, options, folder)
    repair = options.pop(_REPAIR, False)
    if not isinstance(repair, bool):
        tables.add([MODEL.found(_REPAIR, repair, "give true or false.")])
    for key in (*options, *(("changes",) if "changes" in given else ())):
        remedy = "give file too, or leave it out."
        tables.fault(("model", key), f"model.{key} is for a model file", remedy)
    if "bodies" in given:
        return _written_out(tables, inline, repair is True, folder)
    if isinstance(top["model"], dict):
        tables.fault(("model",), "model has neither file nor bodies", "give the one or the other.")
    return None


def _from_file(
    tables: Tables, given: dict[str, Any], options: dict[str, Any], folder: Path
) -> Model | None:
    name, at = given["file"], ("model", "file")
    for key in (key for key in given if key in INLINE_KEYS and key not in _BESIDE_FILE):
        remedy = f"write [model.changes.{key}] to change numbers, or write the whole model here."
        tables.fault(("model", key), f"model has both file and {key}", remedy)
    if not isinstance(name, str) or not name:
        tables.fault(at, f"model.file is {shown(name)}", "give the path of a model file.")
        return None
    path = folder / name
    if not os.path.isfile(path):  # which, unlike Path.is_file, never raises
        remedy = Spelling(_neighbours(path)).remedy(path.name, "check the path")
        tables.fault(at, f"model.file is {shown(name)}, but there is no file {path}", remedy)
        return None
    paths = options.get("search_paths")
    if isinstance(paths, list) and all(isinstance(one, str) for one in paths):
        options["search_paths"] = [str(folder / one) for one in paths]
    try:
        model = load(path, **options)
    except ModelError as error:
        tables.add(Fault("model.file has a fault", path=at, cause=fault) for fault in error.faults)
        return None
    return _with_changes(tables, model, given, options.get(_REPAIR) is True)


def _with_changes(
    tables: Tables, model: Model, given: dict[str, Any], repair: bool
) -> Model | None:
    """The model of a file with what the scenario changes in it."""
    at = ("model", "changes")
    table = tables.known(tables.table(given, *at), CHANGES, at)
    if "gravity" in given and "gravity" in table:
        problem = "model has gravity and changes.gravity"
        tables.fault((*at, "gravity"), problem, "give the one or the other.")
    changes = {**{key: given[key] for key in ("gravity",) if key in given}, **table}
    if not changes:
        return model
    try:
        return changed(model, changes, repair_inertia=repair)
    except ModelError as error:
        for fault in error.faults:
            beside = fault.path[:1] == ("gravity",) and "gravity" in given
            inside = ("model",) if beside else at
            problem = f"{'.'.join(inside)}: {fault.problem}"
            path = (*inside, *_as_written(fault.path, changes))
            tables.add([replace(fault, problem=problem, path=path)])
        return None


def _as_written(path: KeyPath, table: Any) -> KeyPath:
    """The keys by which a table has what stands at this path; some may be dotted: "com.z"."""
    if not isinstance(table, dict) or not path:
        return ()
    for key, value in table.items():
        length = len(key.split("."))
        if ".".join(map(str, path[:length])) == key or key.split(".")[0] == path[0]:
            return (key, *_as_written(path[length:], value))
    return ()


def _neighbours(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path.parent))
    except (OSError, ValueError):
        return []


def _written_out(tables: Tables, data: dict[str, Any], repair: bool, folder: Path) -> Model | None:
    described = ModelFile(_Inner(tables.source, data), folder)
    try:
        return described.build(repair_inertia=repair)
    except ModelError:
        tables.add(replace(fault, path=("model", *fault.path)) for fault in described.faults)
        return None


class _Inner(TomlSource):
    """The table [model], read as if it were a model file of its own."""

    def __init__(self, outer: TomlSource, data: dict[str, Any]) -> None:
        self.outer, self.data = outer, data
        self.path, self.text = outer.path, outer.text

    def line(self, *keys: str | int) -> int:
        return self.outer.line("model", *keys)
