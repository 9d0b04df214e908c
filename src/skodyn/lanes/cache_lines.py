"""Memory for lanes.

A register is loaded in one go if it lies in one cache line. NumPy begins an array 16 bytes into a
line, where every second register of four numbers straddles two: 14 % of the time of derivatives in
batches, 4 to 8 % of that of forward dynamics.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skodyn.jit import guards

NUMBERS_IN_LINE = 8
"""A cache line has 64 bytes."""


def whole_lines(count: int) -> int:
    """The next multiple of a line's numbers."""
    return -(-count // NUMBERS_IN_LINE) * NUMBERS_IN_LINE


def line_zeros(count: int, poison: bool = False) -> NDArray[np.float64]:
    """Zeros that begin where a cache line does.

    In the checking mode (jit/guards.py) they lie between guard words. poison: they are a workspace,
    in which a kernel finds nothing that it has not written itself.
    """
    asked = guards.room(count) if guards.CHECKING else count
    roomy = np.zeros(asked + NUMBERS_IN_LINE - 1)
    skip = -(roomy.ctypes.data // roomy.itemsize) % NUMBERS_IN_LINE
    lines = roomy[skip : skip + asked]
    return guards.guard(lines, poison) if guards.CHECKING else lines
