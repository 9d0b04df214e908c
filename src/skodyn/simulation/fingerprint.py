"""A stable hash of a controller, by which a resumed run notices that it is not the same any more.

It covers what decides the torques: the text of the function (its bytecode, where no text is to be
had), its defaults, what it closes over, the globals it names, and so on through the functions it
calls; for an object, its class and its state, for a model its content. Functions and classes of
Python itself and of installed packages count by name.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sysconfig
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from skodyn.model.model import Model

__all__ = ["NO_CONTROLLER", "fingerprint"]

NO_CONTROLLER = "none"
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_OF_EVERY_CLASS = ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__")
_SITES = frozenset({"site-packages", "dist-packages"})
_INSTALLED = tuple(
    Path(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def fingerprint(controller: Callable[..., None] | None) -> str:
    """The hash: the same in every process that makes the same controller."""
    return NO_CONTROLLER if controller is None else _Reader().hash_of(controller)


class _Reader:
    """Walks through all that a value is made of, in an order that does not depend on addresses."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps values alive: an id must not come back

    def hash_of(self, value: Any) -> str:
        self._read(value)
        return self._digest.hexdigest()

    def _say(self, *words: str) -> None:
        for word in words:
            text = word.encode(errors="backslashreplace")
            self._digest.update(f"{len(text)}:".encode() + text)

    def _read_all(self, kind: str, *values: Any) -> None:
        self._say(kind, str(len(values)))
        for value in values:
            self._read(value)

    def _read(self, value: Any) -> None:
        if isinstance(value, _PLAIN):
            self._say(type(value).__name__, repr(value))
        elif isinstance(value, np.ndarray | np.generic) and not np.asarray(value).dtype.hasobject:
            array = np.asarray(value)
            self._say("array", str(array.dtype), str(array.shape), array.tobytes().hex())
        elif isinstance(value, tuple):
            self._read_all("tuple", *value)
        elif isinstance(value, frozenset):
            self._read_all("set", *sorted(value, key=repr))
        elif isinstance(value, CodeType):
            names = (value.co_names, value.co_varnames, value.co_freevars)
            self._read_all("code", value.co_code, value.co_consts, names)
        elif id(value) in self._seen:
            self._say("seen", str(self._seen[id(value)][0]))
        else:
            self._seen[id(value)] = len(self._seen), value
            self._read_new(value)

    def _read_new(self, value: Any) -> None:
        if isinstance(value, list):
            self._read_all("list", *value)
        elif isinstance(value, set):
            self._read_all("set", *sorted(value, key=repr))
        elif isinstance(value, Mapping):
            self._read_all("mapping", *sorted(value.items(), key=lambda item: repr(item[0])))
        elif hasattr(
            value, "py_func"
        ):  # jitted by numba; its options change bits, as fastmath does
            options = getattr(value, "targetoptions", {})
            given = {name: option for name, option in options.items() if option is not None}
            self._read_all("jitted", value.py_func, given)
        elif isinstance(value, functools.partial):
            self._read_all("partial", value.func, value.args, value.keywords)
        elif isinstance(value, MethodType):
            self._read_all("method", value.__func__, value.__self__)
        elif isinstance(value, staticmethod | classmethod):
            self._read_all(type(value).__name__, value.__func__)
        elif isinstance(value, property):
            self._read_all("property", value.fget, value.fset)
        elif _is_named(value):
            self._say("named", _name(value))
        elif isinstance(value, FunctionType):
            self._read_function(value)
        elif isinstance(value, type):
            own = {k: v for k, v in vars(value).items() if k not in _OF_EVERY_CLASS}
            self._read_all("class", value.__qualname__, own, value.__bases__)
        elif isinstance(value, Model):  # which keeps what it has worked out beside what it is
            self._say("model", value.content_hash)
        else:
            self._read_all("object", type(value), _state(value))

    def _read_function(self, function: FunctionType) -> None:
        code, known = function.__code__, function.__globals__
        named = {name: known[name] for name in _global_names(code) if name in known}
        self._read_all(
            "function", _text(function) or code, function.__defaults__, function.__kwdefaults__,
            dict(zip(code.co_freevars, map(_content, function.__closure__ or ()), strict=True)),
            named,
        )  # fmt: skip


def _global_names(code: CodeType) -> set[str]:
    """Every global that the code names, inner functions included."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*(_global_names(part) for part in inner))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _text(function: FunctionType) -> str:
    """The source, or nothing if Python does not have it."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def _state(value: Any) -> Any:
    """What pickling would keep of an object; nothing, if it keeps its state to itself."""
    try:
        return value.__getstate__()
    except Exception:
        return None


def _is_named(value: Any) -> bool:
    """Is it a module, or a function or class that no user wrote?"""
    if isinstance(value, ModuleType):
        return True
    if isinstance(value, FunctionType):
        return _is_installed(value.__code__.co_filename)
    if not isinstance(value, type):
        return callable(value) and hasattr(value, "__name__")  # builtin, or compiled from C
    try:
        return _is_installed(inspect.getfile(value))
    except (TypeError, OSError):
        return value.__module__ == "builtins" or not hasattr(value, "__weakref__")


def _is_installed(file: str) -> bool:
    """Also where an environment borrows packages from another one."""
    if not _SITES.isdisjoint(Path(file).parts):
        return True
    return any(Path(file).is_relative_to(folder) for folder in _INSTALLED)


def _name(value: Any) -> str:
    where = "" if isinstance(value, ModuleType) else f"{getattr(value, '__module__', '')}."
    return where + str(getattr(value, "__qualname__", value.__name__))
