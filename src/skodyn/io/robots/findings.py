"""What is found on the way through a robot file: faults with their lines, and notes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from skodyn.faults import Fault, Subject

__all__ = ["NOT_HERE", "Findings"]

NOT_HERE = "which skodyn does not have"
NOBODY = Subject()


class Findings:
    """`faults` make the file unusable; notes say what is read and not used.

    ignore: kinds of things that are left out, and noted, instead of refused.
    """

    def __init__(self, ignore: Collection[str] = ()) -> None:
        self.ignored = ignore
        self.faults: list[Fault] = []
        self._sentences: list[str] = []
        self._unused: dict[str, list[str]] = {}

    def fault(
        self, line: int, problem: str, remedy: str, whose: Subject = NOBODY, value: Any = None
    ) -> None:
        """Something that is wrong in this line of the file, with what it is a part of."""
        found = whose.fault(problem, remedy, "", value)
        self.faults.append(replace(found, line=line))

    def note(self, sentence: str) -> None:
        """A sentence of its own."""
        self._sentences.append(sentence)

    def unused(self, what: str, whose: str) -> None:
        """Something that many may have: said once, with the names of those that have it."""
        self._unused.setdefault(what, []).append(whose)

    def refuse(
        self, kind: str, what: str, name: str, line: int = 0, *, why: str = NOT_HERE
    ) -> None:
        """Something that changes the motion and that skodyn does not have."""
        if kind in self.ignored:
            self.unused(f"Left out as asked for ({kind})", name)
        else:
            remedy = f'remove it, or load with ignore=["{kind}"] to leave it out'
            self.fault(line, f"{what}, {why}", f"{remedy}.")

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes; names that repeat are given once."""
        grouped = [f"{what}: {_some(names)}." for what, names in self._unused.items()]
        return (*self._sentences, *grouped)


def _some(names: list[str], limit: int = 4) -> str:
    """The first names, and how many more there are."""
    different = list(dict.fromkeys(names))
    left = len(different) - limit
    words = ", ".join(different[:limit])
    return f"{words} and {left} more" if left > 0 else words
