"""A person's own quantities, f(t, q, v) -> float, compiled into the loop behind one pointer.

The loop is compiled once and calls whatever functions a sweep brings, by number.

Files are looked at without running them (`fault_of`) until a sweep is run (`load_function`).
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ScenarioError
from skodyn.jit import FLOATS, JIT_DISABLED, NUMBER
from skodyn.model.columns import shown
from skodyn.simulation.sampling import call_quantity

__all__ = ["Quantities", "compile_functions", "fault_of", "load_function", "of_state"]


def load_function(reference: str, folder: Path) -> Callable[..., float]:
    """The function that "file.py:name" speaks of, the file seen from `folder`."""
    if fault := fault_of(reference, folder):
        raise ScenarioError(fault)
    path, name = _place(reference, folder)
    module_name = f"skodyn_metrics_{abs(hash(str(path)))}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        what = f"{path} raised {type(error).__name__} while it was imported: {error}"
        raise ScenarioError(f"{reference!r}: {what}; mend it.") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise ScenarioError(f"{reference!r}: {path} has no function {name!r}; check its name.")
    return function  # type: ignore[no-any-return]


def fault_of(reference: str, folder: Path) -> str:
    """What is wrong with "file.py:name" as far as the text of the file tells, or ''."""
    path, name = _place(reference, folder)
    if not os.path.isfile(path):  # which, unlike Path.is_file, never raises
        return f"{shown(reference)}: there is no file {path}; write FILE.py:NAME."
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{reference!r}: {path} is not Python ({error}); mend it."
    bound = set(_bound(tree))
    if name in bound or "*" in bound:
        return ""
    return f"{reference!r}: {path} has no function {name!r}; check its name."


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


class Quantities:
    """All functions of a sweep behind one address; kernels call them by number."""

    def __init__(self, address: Any, alive: Any = None) -> None:
        self.address = address
        self._alive = alive  # what numba made lives as long as its address is used


def compile_functions(functions: Sequence[Callable[..., float]]) -> Quantities:
    """One function of (number, t, q, v, nq, nv) for all of them."""
    if JIT_DISABLED:
        return Quantities(lambda i, t, q, v, nq, nv: functions[i](t, q[:nq], v[:nv]))
    if not functions:
        return Quantities(0)
    import numba

    from skodyn.jit.compiling import c_signature

    combined: Any = None
    for function in reversed(functions):
        combined = _before(_compiled(function), combined)
    made = numba.cfunc(c_signature(call_quantity))(combined.py_func)
    return Quantities(made.address, made)


def of_state(
    function: Callable[..., float], q_at: NDArray[np.int64], v_at: NDArray[np.int64]
) -> Callable[..., float]:
    """The function of q and v of all joints that is this function of those of the state."""
    inner = function if JIT_DISABLED else _compiled(function)

    def chosen(t, q, v):  # type: ignore[no-untyped-def]
        return inner(t, q[q_at], v[v_at])

    return chosen


def _compiled(function: Any) -> Any:
    import numba

    from skodyn.jit.compiling import numba_type

    plain = getattr(function, "py_func", function)
    form = numba_type(NUMBER)(*map(numba_type, (NUMBER, FLOATS, FLOATS)))
    try:
        return numba.njit(form, error_model="numpy")(plain)
    except (numba.core.errors.NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ScenarioError(
            f"The metric {getattr(function, '__name__', function)!r} cannot be compiled: {reason}; "
            "write f(t, q, v) with numbers and NumPy arrays only, and return a number."
        ) from None


def _before(function: Any, rest: Any) -> Any:
    """`function` as number 0 and what `rest` has as the numbers behind it."""
    import numba

    if rest is None:

        @numba.njit(error_model="numpy")
        def last(i, t, q, v, nq, nv):  # type: ignore[no-untyped-def]
            return function(t, numba.carray(q, nq), numba.carray(v, nv))

        return last

    @numba.njit(error_model="numpy")
    def chosen(i, t, q, v, nq, nv):  # type: ignore[no-untyped-def]
        if i == 0:
            return function(t, numba.carray(q, nq), numba.carray(v, nv))
        return rest(i - 1, t, q, v, nq, nv)

    return chosen
