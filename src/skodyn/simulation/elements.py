"""Forces and controllers as a person describes them: one small dataclass each.

`force_tables.py` checks them against a model and packs them into the arrays that the jitted loop
reads; `element_forces.py` evaluates them there. A further kind of force is a subclass of
`OwnElement`, in one file, inside the package or outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from skodyn.lanes import PartAtWidths
from skodyn.model.model import Model
from skodyn.model.properties import JointProperties

__all__ = [
    "Element",
    "FixmanForce",
    "Forces",
    "JointProperties",
    "OwnElement",
    "PointSpring",
    "Servo",
    "Sinusoid",
    "TorqueTable",
    "Wrench",
]

Vector = Sequence[float]
_ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Servo:
    """PD or PID control of a joint with one degree of freedom.

    kp·(target − q) + kd·(target_velocity − v) + ki·∫(target − q)dt, then cut to ±limit;
    gravity_compensation adds the torque that holds the whole system against gravity at this joint.
    """

    joint: str
    kp: float
    kd: float = 0.0
    ki: float = 0.0
    target: float = 0.0
    target_velocity: float = 0.0
    limit: float = math.inf
    gravity_compensation: bool = False


@dataclass(frozen=True)
class Sinusoid:
    """offset + amplitude·sin(2π·frequency·t + phase) on a joint with one degree of freedom."""

    joint: str
    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0


@dataclass(frozen=True)
class TorqueTable:
    """Torque on a joint with one degree of freedom, linear between times, constant outside."""

    joint: str
    times: Sequence[float]
    torques: Sequence[float]


@dataclass(frozen=True)
class Wrench:
    """A constant force and moment on a body, at a point given in body axes.

    frame says in which axes force and moment are given: "world" or "body".
    """

    body: str
    force: Vector = _ORIGIN
    moment: Vector = _ORIGIN
    point: Vector = _ORIGIN
    frame: str = "world"


@dataclass(frozen=True)
class PointSpring:
    """A spring and damper between two points, each fixed in a body (or in "world")."""

    body_a: str
    body_b: str
    stiffness: float
    damping: float = 0.0
    length: float = 0.0
    point_a: Vector = _ORIGIN
    point_b: Vector = _ORIGIN


@dataclass(frozen=True)
class FixmanForce:
    """The force of the Fixman potential (kT/2)·log det 𝓜 on every degree of freedom."""

    kT: float  # noqa: N815


@dataclass(frozen=True)
class OwnElement:
    """A kind of force that brings its own code: a frozen dataclass with these members.

    part: `element_part(f)` of a helper f(work, system, at, t, state, effects) (parts.py). It is
    compiled when a model first has such an element, and nobody else pays for it.
    on_bodies: does it add to the external forces on bodies, and so need their poses and velocities?
    """

    part: ClassVar[PartAtWidths]
    on_bodies: ClassVar[bool] = False

    def pack(self, model: Model) -> tuple[int, list[float]]:
        """(the body or degree of freedom it acts on, its numbers); raise ModelError for faults."""
        name = type(self).__name__
        raise NotImplementedError(
            f"{name} has no pack; write {name}.pack(self, model) that returns (the number of the "
            "body or degree of freedom it acts on, a list of its numbers for its part)."
        )


Element = Servo | Sinusoid | TorqueTable | Wrench | PointSpring | FixmanForce | OwnElement


@dataclass(frozen=True)
class Forces:
    """Everything that acts on a model besides gravity."""

    joints: dict[str, JointProperties] = field(default_factory=dict)
    elements: tuple[Element, ...] = ()
    controller: Any = None
    controller_parameters: Sequence[float] = ()
