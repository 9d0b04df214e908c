"""How to integrate: the method and its numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skodyn.errors import StateError
from skodyn.simulation.methods import METHODS

__all__ = ["IntegratorSettings"]


@dataclass(frozen=True)
class IntegratorSettings:
    """dt is the step of fixed-step methods, and the interval between rows of dormand_prince."""

    method: str = "rk4"
    dt: float = 1e-3
    tolerance: float = 1e-14  # implicit_midpoint: when its iteration has come to rest
    rtol: float = 1e-9  # dormand_prince
    atol: float = 1e-9
    first_step: float = 1e-4
    max_step: float = math.inf
    max_speed: float = math.inf  # stop when a velocity leaves this bound

    def __post_init__(self) -> None:
        faults = []
        if self.method not in METHODS:
            faults.append(f"The integrator {self.method!r} is unknown; give {', '.join(METHODS)}.")
        for name in ("dt", "tolerance", "rtol", "atol", "first_step"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                faults.append(f"{name} is {value!r}; give a finite number above 0.")
        for name in ("max_step", "max_speed"):
            if not getattr(self, name) > 0.0:
                faults.append(f"{name} is {getattr(self, name)!r}; give a number above 0.")
        if faults:
            raise StateError(faults)

    @property
    def adaptive(self) -> bool:
        return METHODS[self.method].adaptive
