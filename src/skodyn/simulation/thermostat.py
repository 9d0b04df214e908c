"""Constant temperature: from time to time all velocities are drawn anew (Andersen 1980).

Collisions are a Poisson process of a given rate. One that falls into a step takes place right after
it: v ~ N(0, kT·𝓜⁻¹) at the configuration the step has reached, so the ensemble is canonical in the
measure of the velocity directions. Collision n has random numbers of its own, made from (seed, n):
nothing but n and the time of the next collision has to be remembered, and how a run is cut into
chunks, or stopped and resumed, does not change a bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics import energy, sample_velocity
from skodyn.errors import StateError
from skodyn.faults import Fault, Subject
from skodyn.model.columns import LARGEST
from skodyn.model.keys import POSITIVE, SEED, key, key_faults
from skodyn.model.keywords import fields_checked
from skodyn.model.model import Model
from skodyn.simulation.methods import fixed_step_methods
from skodyn.simulation.settings import IntegratorSettings
from skodyn.typing import Floats

__all__ = [
    "AndersenThermostat",
    "Collisions",
    "rate_fault",
    "refuse_model",
    "thermostat_faults",
]


@fields_checked
@dataclass(frozen=True)
class AndersenThermostat:
    """Constant temperature: velocities are drawn anew from time to time.

    Parameters
    ----------
    kT : float
        Temperature times Boltzmann's constant, J.
    rate : float
        Collisions per second, on average.
    seed : int
        Of the random numbers.

    Examples
    --------
    >>> bath = sk.AndersenThermostat(kT=0.1, rate=20.0, seed=1)
    >>> model = sk.examples.pendulum(2)
    >>> sk.simulate(model, [0.0, 0.0], [0.0, 0.0], duration=1.0, thermostat=bath).status
    'finished'
    """

    kT: float = field(  # noqa: N815
        metadata=key(POSITIVE, "temperature times Boltzmann's constant, J")
    )
    rate: float = field(metadata=key(POSITIVE, "how often all velocities are drawn anew, 1/s"))
    seed: int = 0

    def __post_init__(self) -> None:
        faults = key_faults(self, Subject())
        if SEED.read(int(self.seed) if isinstance(self.seed, np.integer) else self.seed) is None:
            faults.append(Subject().found("seed", self.seed, f"give {SEED.form}."))
        if faults:
            raise StateError(faults)


MOST_IN_A_STEP = 100.0
"""Collisions; several in one step are one, so more of them change nothing but the time it takes."""


def rate_fault(rate: float, dt: float, key: str) -> Fault | None:
    """A fault if a rate does not go with this step; `key` is what it is called."""
    if 1.0 / LARGEST <= rate <= MOST_IN_A_STEP / dt:
        return None
    problem = f"{key} is {rate!r}, which is {rate * dt:.3g} collisions in a step of {dt!r} s"
    remedy = f"give {1.0 / LARGEST:g} to {MOST_IN_A_STEP / dt:g}."
    return Fault(problem, remedy, ("thermostat", "rate"), rate)


def thermostat_faults(
    thermostat: AndersenThermostat, settings: IntegratorSettings, motions: Sequence[Any]
) -> list[Fault]:
    """What a thermostat does not go together with."""
    at = ("thermostat",)
    if settings.adaptive:
        what = "A thermostat acts between steps of equal length, which "
        what += f"{settings.method} does not take"
        return [Fault(what, f"use one of {fixed_step_methods()}.", at)]
    if motions:
        joint = motions[0].joint
        what = "A thermostat draws the velocities of all joints, also of "
        what += f"{joint!r}, whose motion is prescribed"
        return [Fault(what, "leave one out.", at, joint=joint)]
    found = rate_fault(thermostat.rate, settings.dt, "The thermostat's rate")
    return [found] if found else []


def refuse_model(model: Model) -> None:
    """A ModelError if velocities of a model cannot be drawn one by one."""
    model._refuse_loops("a thermostat")
    model._refuse_flexible("a thermostat")


class Collisions:
    """When the next collision is, and what it does."""

    def __init__(self, thermostat: AndersenThermostat, model: Model, dt: float) -> None:
        refuse_model(model)
        self.thermostat, self.model, self.dt = thermostat, model, dt
        self.count, self.time = 0, 0.0
        self._wait()

    def _wait(self) -> None:
        """Draw the time to the next collision, and keep its generator for the velocities."""
        self._rng = np.random.default_rng((self.thermostat.seed, self.count))
        self.time += float(self._rng.exponential(1.0 / self.thermostat.rate))

    @property
    def step(self) -> int:
        """The step after which the next collision takes place."""
        return max(1, math.ceil(self.time / self.dt))

    def collide(self, step: int, q: Floats, y: Floats) -> None:
        """New velocities in place; the last number of y, the work done, gains what they bring."""
        nv = self.model.nv
        before, _ = energy(self.model, q, y[:nv].copy())
        v = sample_velocity(self.model, q, self.thermostat.kT, self._rng)
        after, _ = energy(self.model, q, v)
        y[:nv] = v
        y[-1] += float(after) - float(before)
        while self.step <= step:  # several in one step are one
            self.count += 1
            self._wait()

    def memory(self) -> NDArray[np.float64]:
        return np.array([self.count, self.time])

    def restore(self, memory: NDArray[np.float64]) -> None:
        self.count, self.time = int(memory[0]), 0.0
        self._wait()  # for the generator; its first number is spent
        self.time = float(memory[1])
