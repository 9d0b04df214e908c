"""How a force is drawn in replays and films: an arrow, and a line to its other end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from skodyn.typing import Floats

__all__ = ["Arrow"]


class Arrow(NamedTuple):
    """An arrow for each row that is drawn.

    body: the body or frame it starts on, or "world"; point: where, in its axes, m.
    vectors: (rows, 3), in world axes, N; N m if it is a moment.
    tied_to: (body or frame, point) that a line leads to, as of a spring; with the name of a node
    behind them if it is one.
    node: of a flexible body, where it starts instead.
    """

    body: str
    vectors: Floats
    point: Sequence[float] = (0.0, 0.0, 0.0)
    tied_to: tuple[str, Sequence[float]] | tuple[str, Sequence[float], str] | None = None
    is_moment: bool = False
    node: str = ""
