"""Code that ships ready: kernels found in a shared object, instead of being compiled here.

A wheel carries one object for each level of x86-64 in `skodyn/objects/`; `skodyn cache warm` builds
one for a source install in the cache folder. Beside it lies a list of what is in it, and of what it
was made from. A kernel is taken from it only if every source that it was made of is unchanged, and
only on a processor that the object was made for; a damaged object is said to be damaged once, and
left alone. Everything else is compiled by numba, to the same bits.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skodyn.jit import processor
from skodyn.jit.folders import cache_folder, package_version

if TYPE_CHECKING:
    from skodyn.jit.functions import Kernel, Part

__all__ = [
    "FORM",
    "Shipped",
    "address_of",
    "find",
    "level",
    "object_path",
    "opened",
    "read",
    "why_not",
]

FORM = 2
"""Version of what lies between launch.c and an object; an object of another one is not used."""

_PACKAGE = Path(__file__).parent.parent
SWITCH = "SKODYN_SHIPPED"
"""Environment variable: 0 leaves shipped objects alone."""


class Shipped(NamedTuple):
    """An object whose list says that it fits this processor and this version."""

    path: Path
    listed: dict[str, Any]
    changed: frozenset[str]  # sources that are not those it was made of

    def holds(self, name: str) -> bool:
        """Is this kernel in it, made of the sources as they are?"""
        entry = self.listed["kernels"].get(name)
        return entry is not None and not self.changed.intersection(
            self.listed["sources_of"][entry["module"]]
        )


def find(kernel: Kernel) -> Any:
    """The kernel ready to be called, or None if it must be compiled."""
    shipped = opened()
    if shipped is None or not shipped.holds(kernel.name):
        return None
    from skodyn.jit import launch  # type: ignore[attr-defined]

    entry = shipped.listed["kernels"][kernel.name]
    if entry["signature"] != kernel.codes:
        return None
    return launch.load(
        str(shipped.path), entry["symbol"], kernel.codes, entry["results"], kernel.name,
        not kernel.keeps_gil,
    )  # fmt: skip


def address_of(part: Part) -> int | None:
    """Where a part lies in the object, or None if it must be compiled."""
    shipped = opened()
    if shipped is None or not shipped.holds(part.name):
        return None
    from skodyn.jit import launch  # type: ignore[attr-defined]

    return int(launch.address(str(shipped.path), shipped.listed["kernels"][part.name]["symbol"]))


@cache
def opened() -> Shipped | None:
    """The object that this process takes kernels from."""
    if why_not():
        return None
    for folder in (_PACKAGE / "objects", cache_folder() / "objects"):
        shipped = read(object_path(folder, level()))
        if shipped is not None:
            return shipped
    return None


@cache
def why_not() -> str:
    """Why no object can be used, in words; empty if one can."""
    if os.environ.get(SWITCH, "1") == "0":
        return f"{SWITCH}=0"
    if processor.is_chosen():
        return "NUMBA_CPU_NAME or NUMBA_CPU_FEATURES names another processor"
    try:
        from skodyn.jit import launch  # type: ignore[attr-defined] # noqa: F401
    except ImportError:
        return "skodyn was installed without a C compiler"
    if not level():
        return "no objects are made for this processor"
    return ""


@cache
def level() -> int:
    """3 or 4 on x86-64-v3 or v4; 0 where there are no objects."""
    from skodyn.jit import launch  # type: ignore[attr-defined]

    return int(launch.level())


def object_path(folder: Path, level: int) -> Path:
    return folder / f"kernels-x86-64-v{level}.so"


def read(path: Path) -> Shipped | None:
    """The object at a path if it is whole and of this version."""
    try:
        listed = json.loads(path.with_suffix(".json").read_text())
        if listed["form"] != FORM or listed["version"] != package_version():
            return None
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        digest = None
    if digest is None or digest != listed["digest"]:
        warnings.warn(
            f"{path} is damaged; kernels are compiled instead. Install skodyn again, or run "
            "'skodyn cache clear' if the file lies in the cache.",
            stacklevel=2,
        )
        return None
    changed = frozenset(
        name for name, known in listed["sources"].items() if known != source_digest(name)
    )
    return Shipped(path, listed, changed)


def source_digest(name: str) -> str:
    """Hash of one source of the package, by its path below it; empty if it is not there."""
    try:
        return hashlib.sha256((_PACKAGE / name).read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
