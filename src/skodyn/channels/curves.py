"""What a channel is drawn from, and the families of curves that it becomes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.model.model import Model

__all__ = ["Curves", "Family"]


class Family(NamedTuple):
    """Curves that share an axis: one channel, one unit."""

    channel: str
    title: str
    unit: str
    names: tuple[str, ...]
    values: NDArray[np.float64]  # (rows, curves)
    note: str = ""  # which curves were left out, and why
    logarithmic: bool = False  # errors, which span decades


class Curves(NamedTuple):
    """The rows of one data set, and what is wanted of them."""

    model: Model
    labels: Mapping[str, tuple[str, ...]]  # along each dimension
    values: NDArray[np.float64]
    joints: Collection[str]  # those to be drawn
    loops: Collection[str]  # names or patterns; all of them if there is none
