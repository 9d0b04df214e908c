"""How a robot file is to be read; the defaults are those of `load`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from skodyn.errors import ModelError
from skodyn.faults import shown
from skodyn.wording import Spelling

__all__ = ["IGNORABLE", "LoadOptions"]

IGNORABLE = (
    "equality", "tendon", "fluid", "gravcomp", "spring", "armature", "actuator", "contact",
    "margin", "extension",
)  # fmt: skip
"""What a robot may have that skodyn cannot honour, and that `ignore` lets pass: an extension is a
tag or attribute beyond the format of URDF, the rest is MuJoCo's."""

_CHOICES = {"root": ("fixed", "free"), "mimic": ("exact", "independent")}
_SWITCHES = ("merge_fixed", "stops", "repair_inertia", "hulls")


@dataclass(frozen=True)
class LoadOptions:
    """The keyword arguments of `load`, checked."""

    root: str = "fixed"
    merge_fixed: bool = True
    search_paths: Sequence[str | os.PathLike[str]] = ()
    stops: bool = False
    mimic: str = "exact"
    ignore: Sequence[str] = ()
    repair_inertia: bool = False
    hulls: bool = False

    def __post_init__(self) -> None:
        faults = [f for f in map(self._fault, (f.name for f in fields(self))) if f]
        if faults:
            raise ModelError(faults)

    def _fault(self, key: str) -> str:
        value: Any = getattr(self, key)
        if key in _CHOICES:
            choices = _CHOICES[key]
            remedy = Spelling(choices).remedy(value, f"give {' or '.join(map(repr, choices))}")
            fits = isinstance(value, str) and value in choices
        elif key in _SWITCHES:
            fits, remedy = isinstance(value, bool), "give True or False."
        elif key == "search_paths":
            fits = _is_list(value) and all(isinstance(p, str | os.PathLike) and p for p in value)
            remedy = "give a list of folders."
        else:
            fits = _is_list(value) and all(isinstance(p, str) and p in IGNORABLE for p in value)
            remedy = f"give a list of {', '.join(IGNORABLE)}."
        return "" if fits else f"{key} is {shown(value)}; {remedy}"

    def changed(self) -> list[str]:
        """The options that were given another value than their default."""
        return [f.name for f in fields(self) if getattr(self, f.name) != f.default]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
