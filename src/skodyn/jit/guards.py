"""The checking mode, SKODYN_CHECK=1: does a kernel stay inside the memory it was given?

Kernels work on pointers, without looking at bounds. In this mode every workspace lies between guard
words, and is full of NaN when a kernel is called, so that nothing left there by an earlier call is
ever used. All other arrays, results, rows and tables, lie between guards while a kernel works on
them (guarded_arguments.py). After each call the guards are looked at, and whatever a kernel must
not change.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skodyn.jit.guarded_arguments import WORD, WORDS, Region, memory_fault, named, regions, replaced

__all__ = ["CHECKING", "checked", "guard", "room", "seal"]

CHECKING = os.environ.get("SKODYN_CHECK", "0") not in ("", "0")


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
    whole[:WORDS] = whole[WORDS + size :] = WORD
    inside = whole[WORDS : WORDS + size]
    _KNOWN[inside.ctypes.data] = _Guarded(whole, size, np.zeros(0), poison)
    return inside


def seal(block: Any, count: int) -> None:
    """The first so many numbers of a guarded block are for reading only, the rest is workspace."""
    known = _KNOWN[block.ctypes.data]
    _KNOWN[block.ctypes.data] = known._replace(kept=block[:count].copy(), poisoned=True)


def checked(
    name: str, kernel: Callable[..., Any], function: Callable[..., Any], signature: Any
) -> Callable[..., Any]:
    """The kernel, with guards around its arguments and a look at them after each call.

    function: the kernel as it is written, whose arguments have names; signature: their kinds.
    """
    words = function.__code__.co_varnames

    def call(*given: Any) -> Any:
        spaces, others = [], []
        for members in regions(list(named(words, signature, given))):
            known = [_KNOWN[m.start] for m in members if m.start in _KNOWN]
            spaces += known
            others += [] if known else [Region(members)]
        _poison(spaces)
        copies = {key: view for region in others for key, view in region.views().items()}
        result = kernel(*replaced(given, copies))
        for space in spaces:
            _look(name, space)
        for region in others:
            region.look(name)
            region.bring_back()
        return result

    return call


def _poison(spaces: list[_Guarded]) -> None:
    for memory in spaces:
        if memory.poisoned:
            memory.whole[WORDS + memory.kept.size : WORDS + memory.size] = np.nan


def _look(name: str, memory: _Guarded) -> None:
    whole, size, kept = memory.whole, memory.size, memory.kept
    before = whole[WORDS : WORDS + kept.size]
    for where, sound in (
        ("before", (whole[:WORDS] == WORD).all()),
        ("behind", (whole[WORDS + size :] == WORD).all()),
        ("to the model in front of", before.tobytes() == kept.tobytes()),
    ):
        if not sound:
            raise memory_fault(name, f"written {where} its workspace of {size} numbers")
