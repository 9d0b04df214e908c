"""Functions of a person's Python files, named "file.py:name".

Files are looked at without running them (`problem_of`) until a run needs them (`load_function`).
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skodyn.errors import ScenarioError
from skodyn.faults import shown

__all__ = ["absolute", "load_function", "names_function", "problem_of"]


def names_function(text: object) -> bool:
    """Whether a text speaks of a function of a Python file."""
    return isinstance(text, str) and ".py:" in text


def absolute(reference: str, folder: Path) -> str:
    """The same function, whatever folder it is seen from."""
    path, name = _place(reference, folder)
    return f"{path.resolve()}:{name}"


def load_function(reference: str, folder: Path) -> Callable[..., Any]:
    """The function that "file.py:name" speaks of, the file seen from `folder`."""
    if wrong := problem_of(reference, folder):
        raise ScenarioError(*wrong)
    path, name = _place(reference, folder)
    module_name = f"skodyn_file_{abs(hash(str(path)))}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        what = f"{path} raised {type(error).__name__} while it was imported: {error}"
        raise ScenarioError(f"{reference!r}: {what}", "correct it.") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ScenarioError(f"{reference!r}: {path} has no function {name!r}", "check its name.")
    return function  # type: ignore[no-any-return]


def problem_of(reference: str, folder: Path) -> tuple[str, str] | None:
    """What is wrong with "file.py:name" as far as the text of the file tells, and the remedy."""
    path, name = _place(reference, folder)
    if not os.path.isfile(path):  # which, unlike Path.is_file, never raises
        return f"{shown(reference)}: there is no file {path}", "write FILE.py:NAME."
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{reference!r}: {path} is not Python ({error})", "correct it."
    bound = set(_bound(tree))
    if name in bound or "*" in bound:
        return None
    return f"{reference!r}: {path} has no function {name!r}", "check its name."


def _place(reference: str, folder: Path) -> tuple[Path, str]:
    file, _, name = reference.rpartition(":")
    return folder / file, name


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names that a module binds, and * for those of another one; functions are not entered."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        yield from _bound(node)
