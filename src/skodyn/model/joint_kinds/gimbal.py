"""The gimbal joint: turns about three axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.joint_entry import ZERO, Joint, Twists, Vector, X, Y, Z, of_parameter, unit
from skodyn.model.keywords import fields_checked
from skodyn.registry import register

__all__ = ["Gimbal"]


@register
@fields_checked
@dataclass(frozen=True)
class Gimbal(Joint):
    """A gimbal: turns about three axes, one after the other; three degrees of freedom.

    q has the three angles in rad. The elastic joints between segments of a beam are such joints;
    where the second angle is a right angle the first and the third axis coincide, and dynamics has
    no solution, so use a spherical joint for what tumbles.

    Parameters
    ----------
    axis1 : sequence of 3 floats
        The first axis, fixed in the parent.
    axis2 : sequence of 3 floats
        The second.
    axis3 : sequence of 3 floats
        The third, fixed in the child.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Gimbal().nv
    3
    """

    axis1: Vector = X
    axis2: Vector = Y
    axis3: Vector = Z
    name: str | None = None
    type_name = "gimbal"
    order = 6
    kind = JointKind.SERIES
    nq = nv = 3

    def twists(self) -> Twists:
        return tuple((unit(axis), ZERO) for axis in (self.axis1, self.axis2, self.axis3))

    def faults(self) -> list[Fault]:
        found = super().faults()
        axes = [unit(axis) for axis in (self.axis1, self.axis2, self.axis3)] if not found else []
        if axes and abs(np.linalg.det(np.array(axes))) < 1e-9:
            what = f" {self.axis1}, axis2 {self.axis2} and axis3 {self.axis3} lie in a plane"
            remedy = "turn one of them, or use a universal joint."
            found.append(of_parameter("axis1", what, remedy, self.axis1))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis1", self.axis1), ("axis2", self.axis2), ("axis3", self.axis3)]
