"""The revolute joint: a hinge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import ZERO, Joint, Peers, Twists, Vector, Z, opposite, unit
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import POINT, ClosingFrames, Row
from skodyn.model.peer_rules import CosineSineRule, OffsetRule, pinocchio_axes
from skodyn.registry import register

__all__ = ["Revolute"]


@register
@fields_checked
@dataclass(frozen=True)
class Revolute(Joint):
    """A revolute joint (hinge): turns about an axis; one degree of freedom.

    q is the angle in rad, v its rate.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction in the joint's frame; of any length above zero.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Revolute(axis=(0, 1, 0), name="elbow").nv
    1
    """

    axis: Vector = Z
    name: str | None = None
    type_name = "revolute"
    order = 1
    kind = JointKind.REVOLUTE
    nq = nv = 1
    peers: ClassVar[Peers] = {
        "pinocchio": {
            **pinocchio_axes("JointModelR", "JointModelRevoluteUnaligned"),
            **pinocchio_axes(
                "JointModelRUB", "JointModelRevoluteUnboundedUnaligned", CosineSineRule()
            ),
        },
        "mujoco": {"hinge": OffsetRule()},
    }

    def twists(self) -> Twists:
        return ((unit(self.axis), ZERO),)

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        return (Row(POINT), *frames.parallel(np.array(unit(self.axis))))

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
