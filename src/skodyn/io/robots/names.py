"""Names for what a file leaves nameless."""

from __future__ import annotations

__all__ = ["unique"]


def unique(name: str, taken: set[str]) -> str:
    """The name, with a number behind it if it is taken; it is taken afterwards."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found
