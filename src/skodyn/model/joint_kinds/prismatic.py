"""The prismatic joint: a slider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import ZERO, Joint, Peers, Twists, Vector, Z, opposite, unit
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import ClosingFrames, Row
from skodyn.model.peer_rules import OffsetRule, pinocchio_axes
from skodyn.registry import register

__all__ = ["Prismatic"]


@register
@fields_checked
@dataclass(frozen=True)
class Prismatic(Joint):
    """A prismatic joint (slider): slides along an axis; one degree of freedom.

    q is the length in m, v its rate.

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
    >>> sk.Prismatic(axis=(1, 0, 0)).nv
    1
    """

    axis: Vector = Z
    name: str | None = None
    type_name = "prismatic"
    order = 2
    kind = JointKind.PRISMATIC
    nq = nv = 1
    peers: ClassVar[Peers] = {
        "pinocchio": pinocchio_axes("JointModelP", "JointModelPrismaticUnaligned"),
        "mujoco": {"slide": OffsetRule()},
    }

    def twists(self) -> Twists:
        return ((ZERO, unit(self.axis)),)

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        return (*frames.on_line(np.array(unit(self.axis))), *frames.unturned())

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
