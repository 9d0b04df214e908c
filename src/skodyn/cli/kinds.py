"""What a file that was given describes: a model, a scenario or a sweep."""

from __future__ import annotations

import os
from pathlib import Path

from skodyn.errors import ModelError
from skodyn.io.importer import importers_of

__all__ = ["file_kind"]

LOGS = (".h5", ".hdf5")


def file_kind(path: str) -> str:
    """model, scenario or sweep, by the keys outside of all tables.

    The file is read as everybody reads it: one that is no TOML raises here, with its line.
    """
    from skodyn.io.toml_source import TomlSource
    from skodyn.scenario.reader import TOP_KEYS

    ending = Path(path).suffix.lower()
    of_model = ending not in ("", ".toml") and importers_of(ending)
    if of_model or ending in LOGS or os.path.isdir(path):
        return "model"
    data = TomlSource(path, ModelError).data
    if "sweep" in data:
        return "sweep"
    return "model" if data.keys().isdisjoint(TOP_KEYS) else "scenario"
