"""Forces and controllers as a person describes them: one small dataclass each.

`tables.py` checks them against a model and packs them into the arrays that the jitted loop reads.
Adding an element means a dataclass here, a packer in tables.py and an evaluator in forces.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from skodyn.model.properties import JointProperties

__all__ = [
    "Element",
    "FixmanForce",
    "Forces",
    "JointProperties",
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


Element = Servo | Sinusoid | TorqueTable | Wrench | PointSpring | FixmanForce


@dataclass(frozen=True)
class Forces:
    """Everything that acts on a model besides gravity."""

    joints: dict[str, JointProperties] = field(default_factory=dict)
    elements: tuple[Element, ...] = ()
    controller: Any = None
    controller_parameters: Sequence[float] = ()
