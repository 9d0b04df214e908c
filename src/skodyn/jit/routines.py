"""Names for routines, so that one copy of their code can serve every kernel of an object.

numba's own names count what a process has compiled, and hold addresses of functions that are
passed as arguments. These say the same in every process.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from numba import types

from skodyn.jit.functions import ROUTINE

__all__ = ["routine_symbol"]


def routine_symbol(function: Any, given: Any) -> str | None:
    """For a function and the types of its arguments; None for what has no name of its own."""
    words = [_name(function), *map(_words, given)]
    if None in words:
        return None
    digest = hashlib.sha256("|".join(map(str, words)).encode()).hexdigest()[:16]
    return f"{ROUTINE}{re.sub(r'[^A-Za-z0-9_]', '_', function.__name__)}_{digest}"


def _name(function: Any) -> str | None:
    """Where the function stands; what is made by another function has no such place."""
    name = f"{function.__module__}.{function.__qualname__}"
    return None if "<locals>" in name else name


def _words(typ: Any) -> str | None:
    """The type, spelt out."""
    if isinstance(typ, types.Dispatcher):
        return _name(typ.dispatcher.py_func)
    if isinstance(typ, types.BaseTuple):
        members = [_words(member) for member in typ]
        return None if None in members else f"{typ.__class__.__name__}{_noun(typ)}{members}"
    return str(typ)


def _noun(typ: Any) -> str:
    """Of tuples with names, which."""
    noun = getattr(typ, "instance_class", None)
    return f" {noun.__module__}.{noun.__qualname__}" if noun else ""
