"""The fixed joint: no relative motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import Joint
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import POINT, ClosingFrames, Row
from skodyn.registry import register

__all__ = ["Fixed"]


@register
@fields_checked
@dataclass(frozen=True)
class Fixed(Joint):
    """A fixed joint: no relative motion, no degree of freedom.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Fixed().nv
    0
    """

    name: str | None = None
    type_name = "fixed"
    order = 0
    kind = JointKind.FIXED
    nq = nv = 0
    is_block = True

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        return (Row(POINT), *frames.unturned())

    def reversed(self) -> Self:
        return self
