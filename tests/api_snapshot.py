"""The public surface as text: every name in skodyn with its signature.

    python tests/api_snapshot.py          # renew tests/data/api.txt, then look at the difference

It also writes src/skodyn/__init__.pyi, the same names as type checkers and editors read them.

A difference is a change for users: it belongs in CHANGELOG.md (docs/releasing.md).
"""

from __future__ import annotations

import dataclasses
import inspect
import types
from pathlib import Path

import skodyn as sk

FILE = Path(__file__).parent / "data" / "api.txt"
STUB = Path(__file__).parents[1] / "src" / "skodyn" / "__init__.pyi"


def signature(thing: object) -> str:
    try:
        found = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return str(found).replace("'", "")


def members(cls: type) -> list[str]:
    """Public methods, properties and fields that the class itself or its bases here define."""
    own = [base for base in cls.__mro__ if base.__module__.startswith("skodyn")]
    names = sorted({name for base in own for name in vars(base) if not name.startswith("_")})
    if dataclasses.is_dataclass(cls):
        names = sorted({*names, *(field.name for field in dataclasses.fields(cls))})
    lines = []
    for name in names:
        value = inspect.getattr_static(cls, name, None)
        value = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        lines.append(f".{name}{signature(value) if inspect.isfunction(value) else ''}")
    return lines


def described(name: str, thing: object) -> list[str]:
    if isinstance(thing, types.ModuleType):
        inside = [(f"{name}.{n}", getattr(thing, n)) for n in sorted(thing.__all__)]
        return [name, *(line for n, value in inside for line in described(n, value))]
    if inspect.isclass(thing):
        bases = ", ".join(base.__name__ for base in thing.__bases__)
        return [f"class {name}({bases})", *(f"    {line}" for line in members(thing))]
    return [f"{name}{signature(thing)}" if callable(thing) else name]


def surface() -> str:
    names = sorted(set(sk.__all__) - {"__version__"})
    return "\n".join(line for n in names for line in described(n, getattr(sk, n))) + "\n"


def stub() -> str:
    """The front page with every name imported, which it does itself only when it is asked for."""
    lines = sorted(f"from {home} import {name} as {name}" for name, home in sk._MODULE_OF.items())
    first = "# Made by tests/api_snapshot.py of the table in __init__.py; edit that one."
    return "\n".join((first, *lines, "", "__version__: str", ""))


if __name__ == "__main__":
    STUB.write_text(stub())
    FILE.write_text(surface())
    print(f"{FILE}: {len(FILE.read_text().splitlines())} lines")
