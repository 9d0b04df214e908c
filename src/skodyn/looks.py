"""What objects show of themselves is drawn far above them, and only when somebody looks.

Models, runs and sweeps have methods `view`, `plot` and `_repr_html_`. Their pictures are made in
`skodyn.view`, which none of them may import; it is found here by its name when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["look"]


def look(name: str) -> Any:
    """A function of `skodyn.view.shown`."""
    return getattr(import_module("skodyn.view.shown"), name)
