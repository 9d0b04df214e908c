"""What the package must know of a format of model files, and all formats by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.io.robots.options import LoadOptions
from skodyn.io.xml_source import XmlSource
from skodyn.model.model import Model
from skodyn.registry import Registry

__all__ = ["IMPORTERS", "Importer", "importers_of", "read_file"]


@dataclass(frozen=True, eq=False)
class Importer:
    """One format of model files.

    name: what it is called. words: one such file, in a sentence. endings: of its files, such as
    ".toml". options: the keywords of `sk.load` that mean something for it.
    read(file, options): the model; raises ModelError with every fault. root: the outermost element
    of its files if they are XML; `read` is then given the parsed file (`XmlSource`), else the path.
    """

    name: str
    words: str
    endings: tuple[str, ...]
    read: Callable[[Any, LoadOptions], Model]
    options: tuple[str, ...] = ()
    root: str = ""


IMPORTERS: Registry[Importer] = Registry(
    "a format",
    lambda thing: isinstance(thing, Importer),
    lambda importer: importer.name,
    "skodyn.io.importers",
)
"""Every format by its name."""


def importers_of(ending: str) -> list[Importer]:
    """The formats of files with this ending; those of others if skodyn has none."""
    own = [one for one in IMPORTERS.built_in.values() if ending in one.endings]
    return own or [one for one in IMPORTERS.values() if ending in one.endings]


def read_file(path: str | os.PathLike[str], options: LoadOptions) -> Model:
    """The model in a file, read by the format of its ending and, of XML, its outermost element."""
    file = Path(path)
    fitting = importers_of(file.suffix.lower())
    if not fitting:
        what = f"{file.suffix} files" if file.suffix else "files without a suffix"
        what = "folders" if file.is_dir() else what
        known = ", ".join(sorted({e for one in IMPORTERS.values() for e in one.endings}))
        remedy = f"give a model file in {known}."
        raise ModelError(Fault(f"skodyn does not read {what}", remedy, file=str(path)))
    source = XmlSource(path, ModelError) if any(one.root for one in fitting) else None
    chosen = fitting[0] if len(fitting) == 1 else _by_root(path, fitting, source)
    _refuse_options(path, options, chosen)
    return chosen.read(source if chosen.root else file, options)


def _by_root(path: str | os.PathLike[str], fitting: list[Importer], source: Any) -> Importer:
    for one in fitting:
        if one.root == source.root.tag:
            return one
    problem = f"the outermost element is <{source.root.tag}>"
    known = " or ".join(f"<{one.root}> ({one.name})" for one in fitting)
    raise ModelError(source.fault(source.root.line, problem, f"a model has {known}."))


def _refuse_options(path: str | os.PathLike[str], options: LoadOptions, importer: Importer) -> None:
    """Those that mean nothing for this kind of file."""
    faults = [
        Fault(f"{importer.words} takes no option {key}", "leave it out.", file=str(path))
        for key in options.changed()
        if key not in importer.options
    ]
    if faults:
        raise ModelError(faults)
