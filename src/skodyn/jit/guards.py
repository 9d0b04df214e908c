"""The checking mode, SKODYN_CHECK=1: does a kernel stay inside the memory it was given?

Kernels work on pointers, without looking at bounds. In this mode every workspace lies between guard
words, and is full of NaN when a kernel is called, so that nothing left there by an earlier call is
ever used. After each call the guards are looked at, and whatever a kernel must not change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from skodyn.errors import KernelMemoryError

__all__ = ["CHECKING", "checked", "guard", "room", "seal"]

CHECKING = os.environ.get("SKODYN_CHECK", "0") not in ("", "0")
WORDS = 64
"""Guard words on each side: more than a register at any stride of a small table."""
PATTERN = np.float64(-6.26e66)


class _Guarded(NamedTuple):
    whole: Any  # the memory with its guards
    size: int
    kept: Any  # a copy of the front part, which kernels only read
    poisoned: bool


_KNOWN: dict[int, _Guarded] = {}
"""By the address of what lies between the guards; kept alive, so that no address comes twice."""


def room(size: int) -> int:
    """How many numbers to ask for, for so many between guards."""
    return size + 2 * WORDS


def guard(whole: Any, poison: bool) -> Any:
    """What lies between the guards of freshly made memory.

    poison: it holds nothing from one call to the next, and is filled with NaN before each.
    """
    size = whole.size - 2 * WORDS
    whole[:WORDS] = whole[WORDS + size :] = PATTERN
    inside = whole[WORDS : WORDS + size]
    _KNOWN[inside.ctypes.data] = _Guarded(whole, size, np.zeros(0), poison)
    return inside


def seal(block: Any, count: int) -> None:
    """The first so many numbers of a guarded block are for reading only, the rest is workspace."""
    known = _KNOWN[block.ctypes.data]
    _KNOWN[block.ctypes.data] = known._replace(kept=block[:count].copy(), poisoned=True)


def checked(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, with a look at the guards of its memory after each call."""

    def call(*given: Any) -> Any:
        guarded = [_KNOWN[a.ctypes.data] for a in _arrays(given) if a.ctypes.data in _KNOWN]
        for memory in guarded:
            if memory.poisoned:
                memory.whole[WORDS + memory.kept.size : WORDS + memory.size] = np.nan
        result = kernel(*given)
        for memory in guarded:
            _look(name, memory)
        return result

    return call


def _arrays(given: Any) -> Iterator[Any]:
    for argument in given:
        if isinstance(argument, tuple):
            yield from _arrays(argument)
        elif isinstance(argument, np.ndarray) and argument.size:
            yield argument


def _look(name: str, memory: _Guarded) -> None:
    whole, size, kept = memory.whole, memory.size, memory.kept
    before = whole[WORDS : WORDS + kept.size]
    for where, sound in (
        ("before", (whole[:WORDS] == PATTERN).all()),
        ("behind", (whole[WORDS + size :] == PATTERN).all()),
        ("to the model in front of", before.tobytes() == kept.tobytes()),
    ):
        if not sound:
            raise KernelMemoryError(
                f"The kernel {name} has written {where} its workspace of {size} numbers; this is a "
                "fault of skodyn: report it with the model."
            )
