"""Forces and controllers as a person describes them: one small dataclass each, in a file each.

`force_tables.py` checks them against a model and packs them into the arrays that the jitted loop
reads; `element_forces.py` evaluates them there. A further kind of force is a subclass of `Element`
in a file of `element_kinds/`, or outside of the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from skodyn.model.contact.contacts import Contact
from skodyn.model.properties import JointProperties
from skodyn.simulation.element import Element
from skodyn.simulation.element import Element as OwnElement
from skodyn.simulation.element_kinds.controller import Controller
from skodyn.simulation.element_kinds.fixman import FixmanForce
from skodyn.simulation.element_kinds.motions import (
    Motion,
    MotionFunction,
    MotionTable,
    SineMotion,
    SteadyMotion,
)
from skodyn.simulation.element_kinds.point_spring import PointSpring
from skodyn.simulation.element_kinds.servo import Servo
from skodyn.simulation.element_kinds.sinusoid import Sinusoid
from skodyn.simulation.element_kinds.torque_table import TorqueTable
from skodyn.simulation.element_kinds.tracking_servo import TrackingServo
from skodyn.simulation.element_kinds.wrench import Wrench

__all__ = [
    "Contact",
    "Controller",
    "Element",
    "FixmanForce",
    "Forces",
    "JointProperties",
    "Motion",
    "MotionFunction",
    "MotionTable",
    "OwnElement",
    "PointSpring",
    "Servo",
    "SineMotion",
    "Sinusoid",
    "SteadyMotion",
    "TorqueTable",
    "TrackingServo",
    "Wrench",
]


@dataclass(frozen=True)
class Forces:
    """Everything that acts on a model besides gravity, and what its joints are made to follow."""

    joints: dict[str, JointProperties] = field(default_factory=dict)
    elements: tuple[Element, ...] = ()
    contacts: tuple[Contact, ...] = ()
    motions: tuple[Motion, ...] = ()
    seed: int = 0  # of the noise of sensors

    @property
    def controllers(self) -> tuple[Controller, ...]:
        """Control laws of a person's own."""
        return tuple(one for one in self.elements if isinstance(one, Controller))
