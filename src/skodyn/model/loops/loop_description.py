"""Loops and couplings: what joins bodies, or joint coordinates, besides the joints of the tree.

A loop is closed by a joint that has no coordinate; the rows that it leaves behind are those of
closing.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from skodyn.model.joint_entry import Joint
from skodyn.model.loops.closing import ClosingFrames, Row
from skodyn.typing import Floats

__all__ = ["JointCoupling", "Loop", "closing_rows", "frame_arrays"]


@dataclass(frozen=True, eq=False)
class Loop:
    """A joint without a coordinate between frame A of one body and frame B of another.

    rotation, translation: axes and origin of the frames in their bodies; a body may be "world".
    """

    body_a: str
    body_b: str
    joint: Joint
    rotation_a: Floats
    translation_a: Floats
    rotation_b: Floats
    translation_b: Floats


@dataclass(frozen=True)
class JointCoupling:
    """A relation of joint coordinates, kept exactly.

    With coefficients c, joints are (follower, source): q_follower = c₀ + c₁·q_source + …
    Otherwise Σ factors·q = offset over all joints.
    """

    joints: tuple[str, ...]
    coefficients: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()
    offset: float = 0.0


def frame_arrays(loop: Loop) -> tuple[Floats, ...]:
    """Axes and origins of both frames."""
    return loop.rotation_a, loop.translation_a, loop.rotation_b, loop.translation_b


def closing_rows(joint: Joint, rotation_a: Floats, rotation_b: Floats) -> tuple[Row, ...]:
    """The primitives of a closing joint, given its frames' axes in their bodies."""
    return joint.closing(ClosingFrames(rotation_a, rotation_b))
