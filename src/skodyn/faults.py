"""A fault: one thing that is wrong with what a person gave, as data; `str` is its sentence.

Whoever finds a fault says where (the path of keys that leads to it, as in a file), what is wrong
and what to do about it. Whoever knows the file adds its name and the line, found by the path. The
sentence is made last, and nobody reads it back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypedDict

__all__ = ["Fault", "FaultData", "Path", "Subject", "dotted", "in_file", "shown"]

Path = tuple[str | int, ...]
"""Keys from the outermost inward, and places in lists: ("bodies", "upper", "mass")."""


class FaultData(TypedDict):
    """A fault as `skodyn check --json` prints it; None where there is nothing to say."""

    file: str | None
    line: int | None
    path: list[str | int]
    body: str | None
    joint: str | None
    value: object
    problem: str
    remedy: str | None
    cause: FaultData | None
    sentence: str


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong; `str` makes a sentence of it.

    Parameters
    ----------
    problem : str
        What is wrong, with the name of what it is about; a clause without a full stop.
    remedy : str
        What to do, with the full stop or question mark that ends the sentence.
    path : tuple
        Keys from the outermost inward; the same for a file and for what Python describes.
    value : object
        What was found there, as numbers, texts and tuples; anything else as its repr.
    body, joint : str
        Their names, where the fault is one of theirs.
    file : str
        Where it is written.
    line : int
        0 if it is not known.
    cause : Fault, optional
        The fault in another file that this one is made of.

    Examples
    --------
    >>> builder = sk.ModelBuilder()
    >>> builder.add_body("arm", mass=-1.0)
    >>> try:
    ...     builder.build()
    ... except sk.ModelError as error:
    ...     (fault,) = error.faults
    >>> fault.path, fault.value
    (('bodies', 'arm', 'mass'), -1.0)
    >>> str(fault)
    "Body 'arm': mass is -1, which is negative; give its mass in kilograms."
    """

    problem: str
    remedy: str = ""
    path: Path = ()
    value: object = None
    body: str = ""
    joint: str = ""
    file: str = ""
    line: int = 0
    cause: Fault | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _plain(self.value))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " * bool(self.file)
        more = f": {self.cause}" if self.cause else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}{self.problem}{more}{remedy}"

    def as_data(self) -> FaultData:
        """What `skodyn check --json` prints: every field, None where there is nothing to say."""
        return {
            "file": self.file or None,
            "line": self.line or None,
            "path": list(self.path),
            "body": self.body or None,
            "joint": self.joint or None,
            "value": _for_json(self.value),
            "problem": self.problem,
            "remedy": self.remedy or None,
            "cause": self.cause.as_data() if self.cause else None,
            "sentence": str(self),
        }


@dataclass(frozen=True)
class Subject:
    """Of whom faults are: how a sentence on one of its keys begins, and where it is.

    words: "Body 'upper'", for "Body 'upper': mass is …"; without them the path is written out, as
    in a file: "bodies.upper.mass is …".
    """

    path: Path = ()
    words: str = ""
    body: str = ""
    joint: str = ""

    def __str__(self) -> str:
        return self.named()

    def at(self, *keys: str | int) -> Subject:
        """The same, farther inside."""
        return replace(self, path=(*self.path, *keys))

    def named(self, key: str = "") -> str:
        """The key as a sentence speaks of it."""
        if not self.words:
            return dotted(*self.path, *([key] if key else []))
        return f"{self.words}: {key}" if key else self.words

    def fault(self, problem: str, remedy: str, key: str = "", value: Any = None) -> Fault:
        """A fault of the subject, or of what stands under its key; the problem names both."""
        path = (*self.path, key) if key else self.path
        return Fault(problem, remedy, path, value, self.body, self.joint)

    def found(self, key: str, value: Any, remedy: str, why: str = "") -> Fault:
        """'{key} is {value}{why}; {remedy}'."""
        return self.fault(f"{self.named(key)} is {shown(value)}{why}", remedy, key, value)


def in_file(file: object, faults: Iterable[Fault]) -> list[Fault]:
    """The same faults with the name of the file, from its top down."""
    in_order = sorted(faults, key=lambda fault: fault.line)
    return [replace(fault, file=str(file)) for fault in in_order]


def dotted(*path: str | int) -> str:
    """A path as it would be written: controllers.hold.kp, sweep.designs[2]."""
    words = ""
    for key in path:
        if isinstance(key, int):
            words += f"[{key}]"
        else:
            words += "." * bool(words) + (key if re.fullmatch(r"[\w-]+", key) else repr(key))
    return words


def shown(value: Any, limit: int = 160) -> str:
    """A value as it stands in a message: on one line, cut short, and whatever its repr does."""
    try:
        text = repr(value)
    except Exception:  # a person's own class, or an integer of thousands of digits
        return f"<{type(value).__name__} without a printable form>"
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[:limit]} …"


_DEEPEST = 4  # values inside each other; no key takes more


def _plain(value: Any, depth: int = 0) -> Any:
    """A copy that can be compared, pickled and sent on, whatever was given."""
    try:
        if hasattr(value, "dtype"):
            value = value.tolist()  # arrays and numbers of NumPy
        if isinstance(value, list | tuple) and depth < _DEEPEST:
            return tuple(_plain(one, depth + 1) for one in value)
    except Exception:  # a person's own class, which may fail in its own way
        return shown(value)
    return value if value is None or type(value) in (bool, int, float, str) else shown(value)


def _for_json(value: Any) -> Any:
    """JSON has neither tuples nor NaN."""
    if isinstance(value, tuple):
        return [_for_json(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
