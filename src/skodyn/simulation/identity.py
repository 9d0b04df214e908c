"""Hashes of the code that a run is made of, by which a resumed run is recognised as the same."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from skodyn.channels.entry import Channel
from skodyn.model.model import Model
from skodyn.simulation.fingerprint import fingerprint
from skodyn.simulation.steppers.method import Method
from skodyn.sources import dependency_hash

__all__ = ["channel_identity", "code_identity", "own_code", "run_code"]


def code_identity(thing: Any, code: Callable[..., Any] | type) -> str:
    """The hash of a thing whose code this is: of skodyn's own, all sources that it reaches; of
    others', what it is made of, and the file that it stands in, since what is installed counts by
    its name alone otherwise."""
    module = str(getattr(code, "__module__", ""))
    if module == "__main__":  # a script may change around it
        return fingerprint(thing)
    if module.startswith("skodyn."):
        return dependency_hash(module)
    return fingerprint(thing) + _file_hash(code)


def _file_hash(code: Any) -> str:
    try:
        file = inspect.getsourcefile(code)
        text = Path(file).read_bytes() if file else b""
    except (TypeError, OSError):  # typed in by a person, or compiled from C
        return ""
    return hashlib.sha256(text).hexdigest()


def channel_identity(channels: Iterable[Channel], model: Model) -> str:
    """Of all channels of a run, in their order."""
    found = []
    for channel in channels:
        code = getattr(channel, "function", channel.compute)
        shape = sorted(channel.data.items()), sorted(channel.labels(model).items())
        found.append((channel.name, shape, code_identity(code, code)))
    return hashlib.sha256(repr(found).encode()).hexdigest()


def own_code(kinds: Iterable[type]) -> list[str]:
    """Of the elements or joints that are not skodyn's own, each once."""
    others = dict.fromkeys(kind for kind in kinds if not kind.__module__.startswith("skodyn."))
    return [code_identity(kind, kind) for kind in others]


def run_code(method: Method) -> str:
    """Of the package's own code that takes the steps of a run."""
    modules = ("skodyn.simulation.engine", method.loop.__module__)
    return "-".join(dependency_hash(module) for module in modules)
