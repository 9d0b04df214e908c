"""Arguments of a kernel between guard words, for the length of one call in the checking mode.

Results, buffers of rows and tables of a run are made all over the package, and by users. So they
are not made with guards: each call works on copies that have them, and what it has changed is
brought back. Arrays that share memory share it in the copy as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from skodyn.errors import KernelMemoryError
from skodyn.jit.kinds import Group

__all__ = ["Argument", "Region", "memory_fault", "named", "regions", "replaced"]

WORD = np.float64(-6.26e66)
WORDS = 64
"""Guard words on each side, at least: more than a register at any stride of a small table."""
GUARD = np.full(2**16, WORD).view(np.uint8)
"""As bytes, the longest there is."""


def _guard_for(size: int) -> Any:
    """Longer than the array, up to a point: rows that are too long leave it more with each."""
    words = WORDS + 4 * -(-size // WORD.itemsize)
    return GUARD[: words * WORD.itemsize]


def memory_fault(kernel: str, done: str) -> KernelMemoryError:
    """The one sentence of this mode."""
    return KernelMemoryError(
        f"The kernel {kernel} has {done}; this is a fault of skodyn: report it with the model."
    )


class Argument(NamedTuple):
    """An array among the arguments of a kernel."""

    name: str  # with the noun it travels in: "log.q"
    array: Any
    is_read: bool  # and not written

    @property
    def start(self) -> int:
        return int(self.array.ctypes.data)

    @property
    def end(self) -> int:
        return self.start + int(self.array.nbytes)


def named(names: Any, kinds: Any, given: Any) -> Iterator[Argument]:
    """The arrays among arguments that kernels take, however deep in groups."""
    for name, kind, value in zip(names, kinds or repeat(None), given, strict=False):
        if isinstance(value, tuple):
            fields = getattr(value, "_fields", range(len(value)))
            inner = kind.members if isinstance(kind, Group) else None
            yield from named([f"{name}.{field}" for field in fields], inner, value)
        elif _has_numbers(value):
            writes = getattr(kind, "writable", bool(value.flags.writeable))
            yield Argument(name, value, not writes)


def _has_numbers(value: Any) -> bool:
    """Is it an array that kernels take? Without the compiler some hold functions."""
    fits = type(value) is np.ndarray and value.flags.c_contiguous and not value.dtype.hasobject
    return fits and value.size > 0


def replaced(given: Any, copies: dict[int, Any]) -> Any:
    """Arguments with other arrays in place of some, found by their identity."""
    if not isinstance(given, tuple):
        return copies.get(id(given), given)
    inner = [replaced(value, copies) for value in given]
    return type(given)(*inner) if hasattr(given, "_fields") else tuple(inner)


def regions(arguments: list[Argument]) -> list[list[Argument]]:
    """Arguments that share memory, together."""
    found: list[list[Argument]] = []
    end = 0
    for argument in sorted(arguments, key=lambda a: (a.start, -a.end)):
        if not found or argument.start >= end:
            found.append([])
        found[-1].append(argument)
        end = max(end, argument.end)
    return found


class Region:
    """A piece of memory that arguments share, copied to between guards."""

    def __init__(self, members: list[Argument]) -> None:
        self.members = members
        self.first = members[0].start
        size = max(member.end for member in members) - self.first
        self.guard = _guard_for(size)
        self.whole = np.concatenate((self.guard, np.empty(size, np.uint8), self.guard))
        self.inside = self.whole[self.guard.size : self.guard.size + size]
        for member in members:
            self._bytes_of(member)[:] = _as_bytes(member.array)
        self.before = self.inside.copy()

    def _bytes_of(self, member: Argument) -> Any:
        at = member.start - self.first
        return self.inside[at : at + member.array.nbytes]

    def views(self) -> dict[int, Any]:
        """What the kernel is given, by the identity of what it would have been given."""
        found = {}
        for member in self.members:
            view = self._bytes_of(member).view(member.array.dtype).reshape(member.array.shape)
            view.flags.writeable = member.array.flags.writeable
            found[id(member.array)] = view
        return found

    def look(self, kernel: str) -> None:
        """Raise if the kernel has left the memory, or changed what it may only read."""
        names = " and ".join(dict.fromkeys(member.name for member in self.members))
        size = self.inside.size // self.members[0].array.itemsize
        for where, guard in (
            ("before", self.whole[: self.guard.size]),
            ("behind", self.whole[self.guard.size + self.inside.size :]),
        ):
            if not np.array_equal(guard, self.guard):
                raise memory_fault(kernel, f"written {where} its array {names} of {size} numbers")
        if all(member.is_read for member in self.members) and self.has_changed():
            raise memory_fault(kernel, f"changed its array {names}, which it may only read")

    def has_changed(self) -> bool:
        return not np.array_equal(self.inside, self.before)

    def bring_back(self) -> None:
        """Only what was changed: other threads may be at work on other rows of the same array."""
        if not self.has_changed():
            return
        for member in self.members:
            if not member.is_read and member.array.flags.writeable:
                at = member.start - self.first
                part = slice(at, at + member.array.nbytes)
                changed = self.inside[part] != self.before[part]
                _as_bytes(member.array)[changed] = self.inside[part][changed]


def _as_bytes(array: Any) -> Any:
    return array.reshape(-1).view(np.uint8)
