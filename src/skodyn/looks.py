"""What objects show of themselves is drawn far above them, and only when somebody looks.

Models, runs and sweeps have methods `view`, `plot` and `_repr_html_`. Their pictures are made in
`skodyn.view`, which none of them may import; it is found here by its name when it is asked for. So
are files, which flexible bodies write of themselves.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Page", "Picture", "look"]


class Picture(Protocol):
    """What `plot` returns: a picture that notebooks show."""

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write it as PNG, SVG or PDF."""
        ...

    def _repr_png_(self) -> bytes: ...


class Page(Protocol):
    """What `view` returns: a page of its own, which notebooks show and browsers open."""

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write it as one HTML file."""
        ...

    def open(self) -> Path:
        """Open it in the browser."""
        ...

    def _repr_html_(self) -> str: ...


def look(name: str, inside: str = "skodyn.view.shown") -> Any:
    """A function of a module above, by their names."""
    return getattr(import_module(inside), name)
