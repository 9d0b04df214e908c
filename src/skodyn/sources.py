"""What the code of a module depends on: its own text and that of all it imports from the package.

The compiler's cache is keyed by this. A kernel's machine code holds everything it calls, so its
key must change with each of these files, and should not change with any other: an edit of the
command line recompiles nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["dependencies", "dependency_hash", "file_of", "modules_with", "source_hash"]

PACKAGE = __package__ or "skodyn"
_ROOT = Path(__file__).parent
_IMPORTS = (
    re.compile(rf"from[ \t]+({PACKAGE}[\w.]*)[ \t]+import[ \t]+"),
    re.compile(rf"import[ \t]+({PACKAGE}[\w.]+)"),
    re.compile(rf"before_compiling\(\"({PACKAGE}[\w.]+)\"\)"),  # by name when it is needed
)
"""They begin with a word, not with the line, which is looked at afterwards: that is three times as
fast."""
_NAMES = re.compile(r"\([^)]*\)|[^\n]*")
_NOT_COMPILED = frozenset(
    f"{PACKAGE}.{name}"
    for name in ("errors", "faults", "wording", "jit.guards", "jit.guarded_arguments")
)
"""What Python raises, how it is phrased, and what the checking mode does around a call: no code of
a kernel is made of it."""


@cache
def _files() -> dict[str, str]:
    """Every module of the package but its front page, and its path below the package."""
    found = {}
    for folder, _, names in os.walk(_ROOT):
        below = os.path.relpath(folder, _ROOT)
        for name in names:
            if name.endswith(".py"):
                path = name if below == "." else f"{below}/{name}".replace(os.sep, "/")
                module = path.removesuffix(".py").removesuffix("__init__").strip("/")
                if module:
                    found[f"{PACKAGE}.{module.replace('/', '.')}"] = path
    return found


def file_of(module: str) -> str:
    """The source of a module of the package, as a path below it."""
    return _files()[module]


@cache
def _text(module: str) -> bytes:
    path = _files().get(module)
    return (_ROOT / path).read_bytes() if path else b""


def modules_with(words: bytes) -> list[str]:
    """The modules whose text has these words."""
    return sorted(module for module in _files() if words in _text(module))


@cache
def _imported(module: str) -> frozenset[str]:
    """The modules of the package that this module's text imports, submodules by name included.

    A package of which nothing but submodules is taken adds nothing of its own.
    """
    found: set[str] = set()
    for base, names in _statements(_text(module).decode()):
        words = re.sub(r"#[^\n]*", "", names)
        parts = {word.split(" as ")[0].strip(" ()\n\t") for word in words.split(",")} - {""}
        inner = {f"{base}.{part}" for part in parts} & _files().keys()
        found |= inner if parts and len(inner) == len(parts) else {base, *inner}
    return frozenset(name for name in found if name in _files()) - _NOT_COMPILED


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """(module, what is taken of it) of every import of the package in a text."""
    for kind in _IMPORTS:
        for found in kind.finditer(text):
            line = text.rfind("\n", 0, found.start()) + 1
            if not text[line : found.start()].strip(" \t"):
                names = _NAMES.match(text, found.end()) if kind is _IMPORTS[0] else None
                yield found[1], names[0] if names else ""


def dependencies(module: str) -> frozenset[str]:
    """A module and every module of the package that it reaches by imports.

    The front page `skodyn/__init__.py` is left out: it imports everything and defines nothing.
    """
    reached, waiting = {module}, [module]
    while waiting:
        fresh = _imported(waiting.pop()) - reached
        reached |= fresh
        waiting += fresh
    return frozenset(reached)


@cache
def dependency_hash(module: str) -> str:
    """Hash of the sources that the code of a module can be made of."""
    digest = hashlib.sha256()
    for name in sorted(dependencies(module)):
        digest.update(name.encode())
        digest.update(_text(name))
    return digest.hexdigest()[:16]


@cache
def source_hash() -> str:
    """Hash of every Python source of the package, in a fixed order."""
    digest = hashlib.sha256((_ROOT / "__init__.py").read_bytes())
    for module, path in sorted(_files().items()):
        digest.update(path.encode())
        digest.update(_text(module))
    return digest.hexdigest()[:16]
