"""Which values a setting takes, and what it means: for keys of scenario files, and in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np

from skodyn.faults import Fault, Subject
from skodyn.model.columns import LARGEST, as_floats
from skodyn.wording import Spelling

__all__ = [
    "ANY",
    "BODY",
    "BODY_OR_WORLD",
    "BOOLEAN",
    "JOINT",
    "LIMIT",
    "MOVING_JOINT",
    "NOT_NEGATIVE",
    "NOT_NEGATIVE_EACH",
    "NOT_NEGATIVE_LIMIT",
    "NUMBERS",
    "POSITIVE",
    "POSITIVE_LIMIT",
    "ROWS",
    "SEED",
    "SMALL",
    "SOME",
    "STEPS",
    "TIMES",
    "TITLE",
    "VECTOR",
    "Key",
    "Kind",
    "key",
    "key_faults",
    "keys_of",
    "numbers",
    "one_of",
    "remedy_for",
]


class Kind:
    """Which values a key takes; `read` gives None for all others.

    form completes "give …". form and choices may be functions: what others bring is looked for
    only when somebody asks.
    """

    def __init__(
        self,
        form: str | Callable[[], str],
        read: Callable[[Any], Any],
        choices: Sequence[str] | Callable[[], Sequence[str]] = (),
    ) -> None:
        self._form, self.read, self._choices = form, read, choices

    @property
    def form(self) -> str:
        return self._form() if callable(self._form) else self._form

    @property
    def choices(self) -> Sequence[str]:
        return self._choices() if callable(self._choices) else self._choices


@dataclass(frozen=True)
class Key:
    kind: Kind
    meaning: str


# ---- kinds --------------------------------------------------------------------------------------


def numbers(value: Any) -> tuple[float, ...] | None:
    """A list of one or more ordinary numbers; None for everything else."""
    array = as_floats(value)
    if array is None or array.ndim != 1 or array.size == 0 or not (abs(array) <= LARGEST).all():
        return None
    return tuple(array.tolist())


def _number(fits: Callable[[float], bool] = lambda x: True) -> Callable[[Any], float | None]:
    def read(value: Any) -> float | None:
        if type(value) is float:  # most are, and need no array
            return value if abs(value) <= LARGEST and fits(value) else None
        found = numbers([value])
        return found[0] if found and fits(found[0]) else None

    return read


def _each_not_negative(value: Any) -> float | tuple[float, ...] | None:
    found = numbers(value if isinstance(value, list) else [value])
    if not found or min(found) < 0.0:
        return None
    return found if isinstance(value, list) else found[0]


def _integer(low: int) -> Callable[[Any], int | None]:
    return lambda value: value if type(value) is int and low <= value < 2**63 else None


def _three(value: Any) -> tuple[float, ...] | None:
    found = numbers(value)
    return found if found and len(found) == 3 else None


def _some(value: Any) -> float | tuple[float, ...] | None:
    return numbers(value) if isinstance(value, list) else _number()(value)


def _rows(value: Any) -> tuple[Any, ...] | None:
    if not isinstance(value, list) or not any(isinstance(row, list | tuple) for row in value):
        return numbers(value)
    rows = [numbers(row) for row in value]
    alike = all(row and len(row) == len(rows[0] or ()) for row in rows)
    return tuple(rows) if alike else None


def _increasing(value: Any) -> tuple[float, ...] | None:
    found = numbers(value) or ()
    return found if len(found) > 1 and all(a < b for a, b in pairwise(found)) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def one_of(*choices: str) -> Kind:
    form = f"one of {', '.join(choices)}"
    return Kind(form, lambda value: value if value in choices else None, choices)


ANY = Kind("a finite number", _number())
NOT_NEGATIVE = Kind("a number of at least 0", _number(lambda x: x >= 0.0))
NOT_NEGATIVE_EACH = Kind(
    "a number of at least 0, or a list of them, one for each degree of freedom", _each_not_negative
)
POSITIVE = Kind("a number above 0", _number(lambda x: x > 0.0))
LIMIT = Kind("a finite number, or leave it out for no limit", _number())
NOT_NEGATIVE_LIMIT = Kind(
    "a number of at least 0, or leave it out for no limit", _number(lambda x: x >= 0.0)
)
POSITIVE_LIMIT = Kind("a number above 0, or leave it out for no limit", _number(lambda x: x > 0.0))
SMALL = Kind("a number above 0 and below 1", _number(lambda x: 0.0 < x < 1.0))
VECTOR = Kind("three finite numbers", _three)
NUMBERS = Kind("a list of finite numbers", numbers)
TIMES = Kind("a list of two or more times, each later than the one before", _increasing)
SOME = Kind("a finite number, or a list with one for each degree of freedom", _some)
ROWS = Kind("a list of finite numbers, or of lists with one for each coordinate", _rows)
BOOLEAN = Kind("true or false", lambda value: value if isinstance(value, bool) else None)
TITLE = Kind("a text", _text)
JOINT = Kind("the name of a joint with one degree of freedom", _text)
MOVING_JOINT = Kind("the name of a joint that moves", _text)
BODY = Kind("the name of a body or frame", _text)
BODY_OR_WORLD = Kind('the name of a body or frame, or "world"', _text)
SEED = Kind("a whole number from 0 to 2⁶³ − 1", _integer(0))
STEPS = Kind("a whole number of at least 1", _integer(1))


# ---- keys of dataclasses ------------------------------------------------------------------------


def key(kind: Kind, meaning: str) -> dict[str, Key]:
    """The metadata of a field that is a key of files."""
    return {"key": Key(kind, meaning)}


def keys_of(described: type) -> dict[str, Key]:
    """The keys of a dataclass in files."""
    return {f.name: f.metadata["key"] for f in fields(described) if "key" in f.metadata}


def key_faults(given: Any, whose: Subject) -> list[Fault]:
    """Every value that its key does not take; what was left out is passed over."""
    found = []
    for f in (f for f in fields(given) if "key" in f.metadata):
        value, kind = getattr(given, f.name), f.metadata["key"].kind
        left_out = type(value) is type(f.default) and value == f.default
        if not left_out and kind.read(_as_in_files(value)) is None:
            found.append(whose.found(f.name, value, remedy_for(kind, value)))
    return found


def _as_in_files(value: Any) -> Any:
    """Arrays, tuples and numbers of NumPy as files would give them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def remedy_for(kind: Kind, value: Any) -> str:
    """'did you mean …?' for the first word that is no choice, else the form to give."""
    array = as_floats(value)
    if array is not None and np.isfinite(array).all() and (abs(array) > LARGEST).any():
        return f"give ordinary SI values, at most {LARGEST:g}."
    words = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    wrong = [word for word in words if isinstance(word, str) and word not in kind.choices]
    return Spelling(kind.choices).remedy(wrong[0] if wrong else None, f"give {kind.form}")
