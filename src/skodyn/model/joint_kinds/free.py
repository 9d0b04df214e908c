"""The free joint: a floating base, with a quaternion and a position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skodyn.conventions import JointKind
from skodyn.model.joint_entry import Joint, Peers, tilde
from skodyn.model.keywords import fields_checked
from skodyn.model.peer_rules import PositionFirstRule, WorldVelocityRule
from skodyn.registry import register
from skodyn.typing import Floats

__all__ = ["Free"]


@register
@fields_checked
@dataclass(frozen=True)
class Free(Joint):
    """A free joint (floating base): six degrees of freedom.

    q is a quaternion (w, x, y, z) and the position in m; v is [ω; velocity of the origin] in the
    child's axes, rad/s and m/s.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Free().nq, sk.Free().nv
    (7, 6)
    """

    name: str | None = None
    type_name = "free"
    order = 10
    kind = JointKind.FREE
    nq, nv = 7, 6
    peers: ClassVar[Peers] = {
        "pinocchio": {"JointModelFreeFlyer": PositionFirstRule()},
        "mujoco": {"free": WorldVelocityRule()},
    }
    q_form = "seven numbers: a unit quaternion (w, x, y, z), then a position"
    v_form = "six numbers: an angular velocity, then a velocity"
    q_parts, q_units = ("w", "x", "y", "z", "px", "py", "pz"), (*("",) * 4, *("m",) * 3)
    v_parts, v_units = ("wx", "wy", "wz", "vx", "vy", "vz"), (*("rad",) * 3, *("m",) * 3)

    def bracket(self, v: Floats) -> Floats:
        matrix, turn = np.zeros((*v.shape, 6)), tilde(v[..., :3])
        matrix[..., :3, :3] = matrix[..., 3:, 3:] = turn
        matrix[..., 3:, :3] = tilde(v[..., 3:])
        return matrix
