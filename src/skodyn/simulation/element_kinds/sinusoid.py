"""A torque that swings with time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skodyn.jit import helper
from skodyn.lanes import fma, parameter, sincos
from skodyn.model.keys import ANY, JOINT, NOT_NEGATIVE, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.element import Element, Packed, dof_of
from skodyn.simulation.element_tools import add_torque
from skodyn.simulation.forces import FIRST, OFFSET, SINUSOID


@helper
def sinusoid(work, system, at, t, tau):
    numbers, i = system.numbers, system.codes[at + OFFSET]
    phase = parameter(work, numbers, i + 2)
    angle = fma(2.0 * math.pi * t, parameter(work, numbers, i + 1), phase)
    s, _ = sincos(angle)
    torque = fma(parameter(work, numbers, i), s, parameter(work, numbers, i + 3))
    add_torque(work, tau, system.codes[at + FIRST], torque)


@register
@fields_checked
@dataclass(frozen=True)
class Sinusoid(Element):
    """A torque or force that oscillates on a joint with one degree of freedom.

    τ = offset + amplitude·sin(2π·frequency·t + phase).

    Parameters
    ----------
    joint : str
        Name of the joint.
    amplitude : float
        N m or N.
    frequency : float
        Hz.
    phase : float
        rad.
    offset : float
        N m or N.

    Examples
    --------
    >>> sk.Sinusoid("elbow", amplitude=2.0, frequency=0.5).phase
    0.0
    """

    joint: str = field(metadata=key(JOINT, "which joint it drives"))
    amplitude: float = field(metadata=key(ANY, "of the torque or force, N·m or N"))
    frequency: float = field(metadata=key(NOT_NEGATIVE, "Hz"))
    phase: float = field(default=0.0, metadata=key(ANY, "rad"))
    offset: float = field(default=0.0, metadata=key(ANY, "mean torque or force, N·m or N"))
    type_name = "sinusoid"
    table = "controllers"
    code = SINUSOID

    def pack(self, model: Any) -> Packed:
        dof, _ = dof_of(model, self.joint)
        return Packed(dof, [self.amplitude, self.frequency, self.phase, self.offset])

    def drawn(self, rows: Any) -> Sequence[Arrow]:
        angle = 2.0 * np.pi * self.frequency * rows.t + self.phase
        return (rows.at_joint(self.joint, self.offset + self.amplitude * np.sin(angle)),)
