"""What a scenario file becomes: frozen, checked, and complete for one run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from skodyn.model.model import Model
from skodyn.simulation.elements import Forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat
from skodyn.typing import Floats

__all__ = [
    "Bounds",
    "InitialSettings",
    "OutputSettings",
    "RunSettings",
    "Scenario",
]


@dataclass(frozen=True)
class RunSettings:
    """The keys outside of all tables."""

    duration: float
    title: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class InitialSettings:
    """Random parts of the state at the start, and whether loops are closed there."""

    q_noise: float = 0.0
    v_noise: float = 0.0
    assemble: bool = False
    project: bool = False


@dataclass(frozen=True)
class OutputSettings:
    """What is logged: after every so many steps, or at an interval if steps are adaptive."""

    every: int = 1
    interval: float = 0.01
    channels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bounds:
    """A run that leaves them is stopped."""

    max_speed: float = math.inf


@dataclass(frozen=True, eq=False)
class Scenario:
    """One run. `path` is None if the text did not come from a file; q0 and v0 are read-only.

    `integrator.dt` is the interval of the output if the method chooses its own steps.
    """

    title: str
    path: Path | None
    text: str
    model: Model
    q0: Floats
    v0: Floats
    forces: Forces
    integrator: IntegratorSettings
    duration: float
    output: OutputSettings
    seed: int
    bounds: Bounds
    thermostat: AndersenThermostat | None = None

    @property
    def rows(self) -> int:
        """How many rows a complete run logs after the one at the start."""
        return round(self.duration / self.integrator.dt) // self.output.every
