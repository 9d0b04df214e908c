"""How a person may write a control law, as far as its text tells: parameters, results, writing.

Nothing is run or compiled here.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

from skodyn.errors import SkodynError
from skodyn.simulation.control.control_dynamics import PARTS_OF_METHODS

__all__ = ["NAMES", "ControllerError", "asked_dynamics", "form_fault", "name_of", "parameters_of"]

FIRST = ("t", "q", "v", "params", "tau")
NAMES = (*FIRST, "dynamics", "integrals", "rates", "scratch")
"""Every parameter that a law can have."""

FORM = "law(t, q, v, params, tau)"


class ControllerError(SkodynError):
    """A controller raised (`__cause__` is what), or is written in a way that nobody would hear."""


def name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def parameters_of(function: Any) -> tuple[str, ...]:
    """Which of NAMES each parameter is: by its name, or in the order of FIRST if it has others.

    For a callable that does not tell its parameters, FIRST.
    """
    try:
        given = tuple(inspect.signature(getattr(function, "py_func", function)).parameters)
    except (TypeError, ValueError):
        return FIRST
    if all(name in NAMES for name in given) and given:
        return given
    more = given[len(FIRST) :]
    unknown = [name for name in more if name not in NAMES[len(FIRST) :]]
    if len(given) < len(FIRST) or unknown:
        what = f"has the parameters ({', '.join(given)})"
        if unknown:
            what += f", and {unknown[0]!r} is not one of its parameters"
        raise ControllerError(
            f"The controller {name_of(function)!r} {what}; write {FORM}, and behind it any of "
            f"{', '.join(NAMES[len(FIRST) :])}."
        )
    return FIRST + more


def form_fault(function: Any, names: tuple[str, ...]) -> str:
    """A sentence if the law can be seen to write nothing; empty if it writes, or cannot be seen."""
    plain = getattr(function, "py_func", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return ""
    own = code.co_varnames[: code.co_argcount]
    outputs = [mine for mine, name in zip(own, names, strict=False) if name in ("tau", "rates")]
    tree = _tree(plain)
    if tree is None or any(_is_written(tree, output) for output in outputs):
        return ""
    if any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree)):
        return ""  # what it returns is told when it is compiled, or called
    torque = next((mine for mine, name in zip(own, names, strict=False) if name == "tau"), "tau")
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(_is_name(target, torque) for target in node.targets)
    ]
    where = ""
    if lines:
        at = code.co_firstlineno + lines[0] - 1
        where = f" (line {at} gives its name to something else)"
    return (
        f"The controller {name_of(function)!r} writes nothing to {torque!r}{where}; write "
        f"{torque}[i] = … or {torque}[:] = …, and return nothing."
    )


def _tree(function: Any) -> ast.AST | None:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        found = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return found if isinstance(found, ast.FunctionDef) else None


def _is_written(tree: ast.AST, name: str) -> bool:
    """Is anything done to the array behind a name but reading its numbers?"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            if _is_name(node.value, name):
                return True
        elif isinstance(node, ast.AugAssign):
            if _is_name(node.target, name):
                return True
        elif isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(_reaches(one, name) for one in given):
                return True
            if isinstance(node.func, ast.Attribute) and _reaches(node.func.value, name):
                return True  # tau.fill(…)
        elif isinstance(node, ast.Assign | ast.NamedExpr | ast.For):
            value = node.iter if isinstance(node, ast.For) else node.value
            if _reaches(value, name):
                return True  # another name for it
    return False


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _reaches(node: ast.AST, name: str) -> bool:
    """Is it the array, a slice of it, or a collection with it?"""
    if _is_name(node, name):
        return True
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _reaches(node.value, name)
    if isinstance(node, ast.Starred):
        return _reaches(node.value, name)
    return isinstance(node, ast.Tuple | ast.List) and any(_reaches(x, name) for x in node.elts)


# ---- which dynamics it asks for -----------------------------------------------------------------


def asked_dynamics(function: Any) -> frozenset[int]:
    """The parts of the dynamics that a law may call, itself or through functions that it names."""
    words: set[str] = set()
    _collect(function, words, set())
    if "*" in words:
        return frozenset(PARTS_OF_METHODS.values())
    return frozenset(part for name, part in PARTS_OF_METHODS.items() if name in words)


def _collect(function: Any, words: set[str], seen: set[int]) -> None:
    plain = getattr(function, "py_func", function)
    code = getattr(plain, "__code__", None)
    if code is None or id(code) in seen:
        if code is None:
            words.add("*")
        return
    seen.add(id(code))
    names = _names_in(code)
    words |= names
    known = dict(plain.__globals__)
    cells = zip(code.co_freevars, plain.__closure__ or (), strict=True)
    known |= {name: cell.cell_contents for name, cell in cells}
    for name in names | set(code.co_freevars):
        found = known.get(name)
        if hasattr(found, "py_func") or inspect.isfunction(found):
            _collect(found, words, seen)
        elif inspect.ismodule(found) and found.__name__.partition(".")[0] not in _HARMLESS:
            words.add("*")  # a module of the person's own may have functions that ask


_HARMLESS = ("math", "numpy", "numba", "cmath")


def _names_in(code: Any) -> set[str]:
    inner = (const for const in code.co_consts if hasattr(const, "co_names"))
    return set(code.co_names).union(*(_names_in(part) for part in inner))
