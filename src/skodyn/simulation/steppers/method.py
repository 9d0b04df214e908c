"""What the package must know of an integration method, and all methods by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skodyn.model.keys import Kind
from skodyn.registry import Registry
from skodyn.simulation.memory import Sections

__all__ = ["METHODS", "Method", "Setting"]


class Setting(NamedTuple):
    """A number that a method takes besides dt: which values, and what it means."""

    name: str
    default: float
    kind: Kind
    meaning: str


@dataclass(frozen=True, eq=False)
class Method:
    """One way to advance time.

    memory: what its steps keep. loop: the kernel that runs it for one state (`fixed_steps`, or for
    a method that chooses its steps `adaptive_steps`). lane_loop: that for runs side by side
    (`lane_steps`), if there is one. numbers: what its kernels read of the settings.
    settings: its own, besides dt. adaptive: it chooses its steps. closes_loops: with loops its
    steps are another part of the loop (parts.py). solves_contacts: contacts and forces of joints
    are unknowns of its steps (implicit_tables.py).

    Steppers are compiled from this file and all it imports, so it knows IntegratorSettings by name
    alone.
    """

    name: str
    memory: Sections
    loop: Any
    lane_loop: Any = None
    numbers: Callable[[Any], Any] = lambda settings: np.zeros(1)
    settings: tuple[Setting, ...] = ()
    adaptive: bool = False
    closes_loops: bool = False
    solves_contacts: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a scenario's integrator that it takes."""
        return (*(() if self.adaptive else ("dt",)), *(setting.name for setting in self.settings))


METHODS: Registry[Method] = Registry(
    "an integrator",
    lambda thing: isinstance(thing, Method),
    lambda method: method.name,
    "skodyn.simulation.steppers",
)
"""Every method by its name; those of the package lie beside this file, one each."""
