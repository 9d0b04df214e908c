"""What an actuator of MuJoCo adds to the motion although nobody drives it: inertia and damping.

A rotor of inertia a behind a gear g adds g²·a to the inertia of its joint, and so does a damper to
the joint's damping. That is so for joints with one axis; other transmissions are refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skodyn.io.robots.findings import Findings

__all__ = ["Reflected", "reflected"]

_JOINT, _JOINT_IN_PARENT = range(2)  # mjtTrn
_ONE_AXIS = (2, 3)  # mjtJoint: slide and hinge


class Reflected(NamedTuple):
    """What the actuators add, for each joint."""

    armature: Any
    damping: Any


def reflected(mj: Any, findings: Findings, disabled: set[str]) -> Reflected:
    """Inertia and damping behind the gears; versions of MuJoCo before 4 have none."""
    found = Reflected(np.zeros(mj.njnt), np.zeros(mj.njnt))
    for a in range(mj.nu if hasattr(mj, "actuator_armature") else 0):
        armature, damping = float(mj.actuator_armature[a]), float(mj.actuator_damping[a])
        bent = bool(np.any(mj.actuator_dampingpoly[a]))
        if "damper" in disabled:
            damping, bent = 0.0, False
        if not (armature or damping or bent):
            continue
        name = mj.actuator(a).name or f"number {a}"
        given = (("armature", armature), ("damping", damping))
        words = " and ".join(f"{key} {value:g}" for key, value in given if value)
        j = int(mj.actuator_trnid[a, 0])
        if bent:
            what = f"Actuator {name!r} has a damper that is not linear"
            findings.refuse("actuator", what, name)
        elif not _turns_one_axis(mj, a, j):
            what = f"Actuator {name!r} has {words} and does not act on one hinge or slide"
            findings.refuse("actuator", what, name)
        else:
            gear = float(mj.actuator_gear[a, 0])
            found.armature[j] += gear * gear * armature
            found.damping[j] += gear * gear * damping
    return found


def _turns_one_axis(mj: Any, a: int, j: int) -> bool:
    kind = int(mj.actuator_trntype[a])
    return kind in (_JOINT, _JOINT_IN_PARENT) and int(mj.jnt_type[j]) in _ONE_AXIS
