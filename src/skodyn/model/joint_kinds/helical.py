"""The helical joint: a screw."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.joint_entry import Joint, Peers, Twists, Vector, Z, number_faults, opposite, unit
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import POINT, ClosingFrames, Row
from skodyn.model.peer_rules import pinocchio_axes
from skodyn.registry import register

__all__ = ["Helical"]


@register
@fields_checked
@dataclass(frozen=True)
class Helical(Joint):
    """A helical joint (screw): turns about an axis and slides along it in proportion.

    q is the angle in rad, v its rate.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction in the joint's frame; of any length above zero.
    pitch : float
        Metres along the axis for each radian.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Helical(axis=(0, 0, 1), pitch=0.01).nv
    1
    """

    axis: Vector = Z
    pitch: float = 0.0
    name: str | None = None
    type_name = "helical"
    order = 3
    kind = JointKind.HELICAL
    nq = nv = 1
    peers: ClassVar[Peers] = {
        "pinocchio": pinocchio_axes("JointModelH", "JointModelHelicalUnaligned")
    }

    def twists(self) -> Twists:
        u, h = unit(self.axis), float(self.pitch)
        return ((u, (h * u[0], h * u[1], h * u[2])),)

    def faults(self) -> list[Fault]:
        return super().faults() + number_faults("pitch", self.pitch)

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        axis = np.array(unit(self.axis))
        if not self.pitch:
            return (Row(POINT), *frames.parallel(axis))
        helix = frames.helix(axis, float(self.pitch))
        return (*frames.on_line(axis), *frames.parallel(axis), helix)

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
