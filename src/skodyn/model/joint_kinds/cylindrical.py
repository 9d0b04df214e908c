"""The cylindrical joint: turns about an axis and slides along it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import ZERO, Joint, Twists, Vector, Z, opposite, unit
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import ClosingFrames, Row
from skodyn.registry import register

__all__ = ["Cylindrical"]


@register
@fields_checked
@dataclass(frozen=True)
class Cylindrical(Joint):
    """A cylindrical joint: turns about an axis and slides along it; two degrees of freedom.

    q is the angle in rad, then the length in m.

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
    >>> sk.Cylindrical(axis=(0, 0, 1)).nv
    2
    """

    axis: Vector = Z
    name: str | None = None
    type_name = "cylindrical"
    order = 4
    kind = JointKind.SERIES
    nq = nv = 2

    def twists(self) -> Twists:
        u = unit(self.axis)
        return ((u, ZERO), (ZERO, u))

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        axis = np.array(unit(self.axis))
        return (*frames.on_line(axis), *frames.parallel(axis))

    def reversed(self) -> Self:
        return replace(self, axis=opposite(self.axis))
