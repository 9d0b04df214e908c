"""The universal joint: turns about two axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.joint_entry import ZERO, Joint, Peers, Twists, Vector, X, Y, of_parameter, unit
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import POINT, ClosingFrames, Row
from skodyn.model.peer_rules import SameRule
from skodyn.model.products import dot
from skodyn.registry import register

__all__ = ["Universal"]


@register
@fields_checked
@dataclass(frozen=True)
class Universal(Joint):
    """A universal joint: turns about two axes, one after the other.

    q has both angles in rad.

    Parameters
    ----------
    axis1 : sequence of 3 floats
        The first axis, fixed in the parent.
    axis2 : sequence of 3 floats
        The second, fixed in the child.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Universal(axis1=(1, 0, 0), axis2=(0, 1, 0)).nv
    2
    """

    axis1: Vector = X
    axis2: Vector = Y
    name: str | None = None
    type_name = "universal"
    order = 5
    kind = JointKind.SERIES
    nq = nv = 2
    peers: ClassVar[Peers] = {"pinocchio": {"JointModelUniversal": SameRule()}}

    def twists(self) -> Twists:
        return ((unit(self.axis1), ZERO), (unit(self.axis2), ZERO))

    def faults(self) -> list[Fault]:
        found = super().faults()
        if not found and np.linalg.norm(np.cross(unit(self.axis1), unit(self.axis2))) < 1e-9:
            what = f" {self.axis1} and axis2 {self.axis2} are parallel"
            remedy = "turn one of them, or use a revolute joint."
            found.append(of_parameter("axis1", what, remedy, self.axis1))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis1", self.axis1), ("axis2", self.axis2)]

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        first, second = np.array(unit(self.axis1)), np.array(unit(self.axis2))
        return (Row(POINT), frames.at_angle(first, second, dot(first, second)))
