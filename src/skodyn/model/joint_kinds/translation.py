"""The translation joint: three lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import ZERO, Joint, Peers, Twists, X, Y, Z
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import ClosingFrames, Row
from skodyn.model.peer_rules import SameRule
from skodyn.registry import register

__all__ = ["Translation"]


@register
@fields_checked
@dataclass(frozen=True)
class Translation(Joint):
    """Three translations along the axes of the parent; three degrees of freedom.

    q is x, y, z in m.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Translation().nv
    3
    """

    name: str | None = None
    type_name = "translation"
    order = 8
    kind = JointKind.SERIES
    nq = nv = 3
    peers: ClassVar[Peers] = {"pinocchio": {"JointModelTranslation": SameRule()}}
    q_parts = ("x", "y", "z")

    def twists(self) -> Twists:
        return ((ZERO, X), (ZERO, Y), (ZERO, Z))

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        return tuple(frames.unturned())
