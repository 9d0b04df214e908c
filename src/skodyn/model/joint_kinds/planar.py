"""The planar joint: moves in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.joint_entry import ZERO, Joint, Peers, Twists, Vector, X, Y, of_parameter, unit
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import ClosingFrames, Row
from skodyn.model.peer_rules import TurnedPlaneRule
from skodyn.registry import register

__all__ = ["Planar"]


@register
@fields_checked
@dataclass(frozen=True)
class Planar(Joint):
    """A planar joint: moves in a plane and turns in it; three degrees of freedom.

    q has both lengths in m, then the angle in rad.

    Parameters
    ----------
    x_axis : sequence of 3 floats
        First direction of the plane.
    y_axis : sequence of 3 floats
        Second direction, at a right angle to the first.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Planar().nv
    3
    """

    x_axis: Vector = X
    y_axis: Vector = Y
    name: str | None = None
    type_name = "planar"
    order = 7
    kind = JointKind.SERIES
    nq = nv = 3
    peers: ClassVar[Peers] = {"pinocchio": {"JointModelPlanar": TurnedPlaneRule()}}
    q_parts = ("x", "y", "angle")

    def twists(self) -> Twists:
        x, y = np.array(unit(self.x_axis)), np.array(unit(self.y_axis))
        n = np.cross(x, y)
        return ((ZERO, tuple(x)), (ZERO, tuple(y)), (tuple(n), ZERO))

    def faults(self) -> list[Fault]:
        found = super().faults()
        if not found and abs(np.dot(unit(self.x_axis), unit(self.y_axis))) > 1e-9:
            what = f" {self.x_axis} and y_axis {self.y_axis} are not perpendicular"
            remedy = "give two perpendicular directions in the plane."
            found.append(of_parameter("x_axis", what, remedy, self.x_axis))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("x_axis", self.x_axis), ("y_axis", self.y_axis)]

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        normal = np.array(self.twists()[2][0])
        return (frames.along(normal), *frames.parallel(normal))
