"""Records of numbers, declared once: what lies where, how much it takes, and what it means.

Kernels take offsets as plain constants, Python takes sizes, and a person who debugs a workspace
prints the record. Nothing of it is computed a second time elsewhere.
"""

from __future__ import annotations

__all__ = ["Record"]


class Record:
    """Fields in a row: `Record("body", ROTATION=(9, "R, kernel frame to world"), …)`."""

    def __init__(self, name: str, **fields: tuple[int, str]) -> None:
        self.name = name
        self.fields = fields
        self.offsets: list[int] = []
        self.size = 0
        for size, _ in fields.values():
            self.offsets.append(self.size)
            self.size += size

    def __str__(self) -> str:
        lines = [f"{self.name} ({self.size})"]
        for at, (name, (size, meaning)) in zip(self.offsets, self.fields.items(), strict=True):
            lines.append(f"{at:12} {name.lower():12} {size:4}  {meaning}")
        return "\n".join(lines)
