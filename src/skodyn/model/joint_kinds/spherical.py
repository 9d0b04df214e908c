"""The spherical joint: a ball, with a quaternion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import Joint, Peers, tilde
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import POINT, ClosingFrames, Row
from skodyn.model.peer_rules import SameRule, ScalarLastRule
from skodyn.registry import register
from skodyn.typing import Floats

__all__ = ["Spherical"]


@register
@fields_checked
@dataclass(frozen=True)
class Spherical(Joint):
    """A spherical joint (ball): turns about any axis; three degrees of freedom.

    q is a quaternion (w, x, y, z) of unit length, v the angular velocity in the child's axes.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Spherical().nq, sk.Spherical().nv
    (4, 3)
    """

    name: str | None = None
    type_name = "spherical"
    order = 9
    kind = JointKind.SPHERICAL
    nq, nv = 4, 3
    peers: ClassVar[Peers] = {
        "pinocchio": {"JointModelSpherical": ScalarLastRule()},
        "mujoco": {"ball": SameRule()},
    }
    q_form = "a unit quaternion (w, x, y, z)"
    v_form = "three numbers: an angular velocity"
    is_ball = True
    q_parts, q_units = ("w", "x", "y", "z"), ("",) * 4
    v_parts, v_units = ("wx", "wy", "wz"), ("rad",) * 3

    def bracket(self, v: Floats) -> Floats:
        return tilde(v)

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        return (Row(POINT),)
