"""Curves that are drawn together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Family"]


class Family(NamedTuple):
    """Curves that share an axis: one channel, one unit."""

    channel: str
    title: str
    unit: str
    names: tuple[str, ...]
    values: NDArray[np.float64]  # (rows, curves)
    note: str = ""  # which curves were left out, and why
