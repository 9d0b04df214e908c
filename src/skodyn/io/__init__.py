"""Files in and out: `load` reads a model, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from skodyn.errors import ModelError
from skodyn.io.model_toml import load_model
from skodyn.model.model import Model

__all__ = ["load"]

_READERS: dict[str, Callable[..., Model]] = {".toml": load_model}


def load(path: str | os.PathLike[str], *, repair_inertia: bool = False) -> Model:
    """The model described in a file; the suffix says which format it is in (so far .toml).

    repair_inertia: replace an invalid inertia by the nearest valid one instead of refusing it,
    and list it in `model.repairs`.
    """
    file = Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        what = f"{file.suffix} files" if file.suffix else "files without a suffix"
        what = "folders" if file.is_dir() else what
        known = ", ".join(_READERS)
        raise ModelError(f"{path}: skodyn does not read {what}; give a model file in {known}.")
    return reader(path, repair_inertia=repair_inertia)
