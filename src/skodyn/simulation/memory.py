"""The memory of a run: tables that lie one behind the other, declared once.

Python adds up their sizes and hands kernels two numbers for each, where it begins and how long a
row is. Nothing else computes a place in it: a method with more stages, or a new table, cannot write
behind its memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sections"]


class Sections:
    """Tables of one row per lane: `Sections(TAU=(1, "v", "generalised forces"), …)`.

    Each is a number of tables, what a row is as long as (a key of the sizes that `places` is
    given), and what it is for. `after`: sections that lie in front of these.
    """

    def __init__(self, after: Sections | None = None, **sections: tuple[int, str, str]) -> None:
        before: dict[str, tuple[int, str, str]] = after.sections if after else {}
        self.sections: dict[str, tuple[int, str, str]] = {**before, **sections}
        self.indices = tuple(range(len(before), len(self.sections)))

    def places(self, sizes: dict[str, int], lanes: int) -> tuple[NDArray[np.int64], int]:
        """Where each begins and how long a row is; and how many numbers all of them need."""
        places: list[int] = []
        at = 0
        for count, length, _ in self.sections.values():
            places += [at, sizes[length]]
            at += lanes * count * sizes[length]
        return np.array(places, dtype=np.int64), at

    def describe(self, sizes: dict[str, int], lanes: int = 1) -> str:
        """The map in words, for whoever debugs a stepper."""
        places, end = self.places(sizes, lanes)
        lines = [
            f"{first:8} {name.lower():14} {count} × {lanes} × {sizes[length]:<6} {meaning}"
            for first, (name, (count, length, meaning)) in zip(
                places[::2], self.sections.items(), strict=True
            )
        ]
        return "\n".join([*lines, f"{end:8} end"])
