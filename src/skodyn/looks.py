"""What objects show of themselves is drawn far above them, and only when somebody looks.

Models, runs and sweeps have methods `view`, `plot` and `_repr_html_`. Their pictures are made in
`skodyn.view`, which none of them may import; it is found here by its name when it is asked for. So
are files, which flexible bodies write of themselves.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["look"]


def look(name: str, inside: str = "skodyn.view.shown") -> Any:
    """A function of a module above, by their names."""
    return getattr(import_module(inside), name)
