"""What the package must know of an integration method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.simulation.memory import Sections

__all__ = ["Method"]


@dataclass(frozen=True, eq=False)
class Method:
    """One way to advance time.

    memory: what its steps keep. loop: the kernel that runs it for one state (fixed_step.py, or for
    an adaptive method one like adaptive_step.py). lane_loop: that for runs side by side
    (lane_loop.py), if there is one. numbers: what its kernels read of the settings.
    settings: the keys of a scenario's integrator that it takes.

    Steppers are compiled from this file and all it imports, so it knows IntegratorSettings by name
    alone.
    """

    name: str
    memory: Sections
    loop: Any
    lane_loop: Any = None
    numbers: Callable[[Any], Any] = lambda settings: np.zeros(1)
    settings: tuple[str, ...] = ("dt",)
    adaptive: bool = False
