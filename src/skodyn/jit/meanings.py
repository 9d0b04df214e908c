"""Which modules tell numba what the package's own types and functions mean.

They import numba, so they are not imported with the package but before the first compilation.
Packages above this one add theirs with `before_compiling`.
"""

from __future__ import annotations

MEANINGS: list[str] = []


def before_compiling(module: str) -> None:
    """Have this module imported before anything is compiled."""
    if module not in MEANINGS:
        MEANINGS.append(module)
