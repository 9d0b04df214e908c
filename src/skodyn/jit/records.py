"""Records of numbers, declared once: what lies where, how much it takes, and what it means.

Kernels name a place as `BODY.ARM`, which is compiled as the number that it is (inference.py);
Python takes sizes; a person who debugs a workspace prints the record. Nothing of it is computed a
second time elsewhere.
"""

from __future__ import annotations

__all__ = ["Record"]


class Record:
    """Fields in a row: `Record("body", ROTATION=(9, "R, kernel frame to world"), …)`."""

    def __init__(self, name: str, **fields: tuple[int, str]) -> None:
        self.name = name
        self.fields = fields
        self.places: dict[str, int] = {}
        self.size = 0
        for field, (size, _) in fields.items():
            self.places[field] = self.size
            self.size += size

    def __getattr__(self, field: str) -> int:
        """Where a field lies."""
        places = self.__dict__.get("places", {})
        if field not in places:
            raise AttributeError(f"the record '{self.__dict__.get('name')}' has no field '{field}'")
        return int(places[field])

    def __str__(self) -> str:
        lines = [f"{self.name} ({self.size})"]
        for field, (size, meaning) in self.fields.items():
            lines.append(f"{self.places[field]:12} {field.lower():12} {size:4}  {meaning}")
        return "\n".join(lines)
