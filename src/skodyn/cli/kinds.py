"""What a file that was given describes: a model, a scenario or a sweep."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["file_kind"]

NOT_TOML = (".urdf", ".xml", ".h5", ".hdf5")


def file_kind(path: str) -> str:
    """model, scenario or sweep, by the keys outside of all tables.

    The file is read as everybody reads it: one that is no TOML raises here, with its line.
    """
    from skodyn.errors import ModelError
    from skodyn.io.toml_source import TomlSource
    from skodyn.scenario.reader import TOP_KEYS

    if Path(path).suffix.lower() in NOT_TOML or os.path.isdir(path):
        return "model"
    data = TomlSource(path, ModelError).data
    if "sweep" in data:
        return "sweep"
    return "model" if data.keys().isdisjoint(TOP_KEYS) else "scenario"
