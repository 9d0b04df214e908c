"""The joints of a MuJoCo model: type and axis, rotor inertia, passive forces, limits.

skodyn's coordinate is zero in the pose that the file draws, MuJoCo's is `ref` there (qpos0).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skodyn.io.mjcf.actuators import Reflected, reflected
from skodyn.io.robots.findings import Findings
from skodyn.model.joints import Free, Joint, Prismatic, Revolute, Spherical
from skodyn.model.properties import JointLimits, JointProperties

__all__ = ["FREE", "MujocoJoint", "read_joints"]

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint


class MujocoJoint(NamedTuple):
    """One joint: what it is, and where it acts in its body."""

    joint: Joint
    kind: int
    position: Any
    properties: JointProperties | None
    limits: JointLimits | None


def read_joints(
    mj: Any, names: list[str], findings: Findings, disabled: set[str]
) -> list[MujocoJoint]:
    """Every joint, in MuJoCo's order."""
    behind = reflected(mj, findings, disabled)
    return [_read(mj, j, names[j], findings, disabled, behind) for j in range(mj.njnt)]


def _read(
    mj: Any, j: int, name: str, findings: Findings, disabled: set[str], behind: Reflected
) -> MujocoJoint:
    kind, dof = int(mj.jnt_type[j]), int(mj.jnt_dofadr[j])
    armature = float(mj.dof_armature[dof] + behind.armature[j])
    if kind == FREE and armature > 0.0:
        what = f"Joint {name!r} is free and has armature {armature:g} along the axes of the world"
        findings.refuse("armature", what, name)
        armature = 0.0
    _refuse_nonlinear(mj, j, dof, name, findings)
    return MujocoJoint(
        _described(kind, mj.jnt_axis[j], name, armature),
        kind,
        np.zeros(3) if kind == FREE else np.array(mj.jnt_pos[j]),
        _properties(mj, j, name, findings, disabled, float(behind.damping[j])),
        _limits(mj, j, name, findings, disabled),
    )


def _described(kind: int, axis: Any, name: str, armature: float) -> Joint:
    if kind == HINGE:
        return Revolute(axis=tuple(axis.tolist()), name=name, armature=armature)
    if kind == SLIDE:
        return Prismatic(axis=tuple(axis.tolist()), name=name, armature=armature)
    joint = Spherical if kind == BALL else Free
    return joint(name=name, armature=armature)


def _refuse_nonlinear(mj: Any, j: int, dof: int, name: str, findings: Findings) -> None:
    """Springs and dampers that newer versions of MuJoCo bend; older ones do not have the arrays."""
    for key, row in (("jnt_stiffnesspoly", j), ("dof_dampingpoly", dof)):
        table = getattr(mj, key, None)
        if table is not None and np.any(table[row]):
            word = "spring" if key.startswith("jnt") else "damper"
            what = f"Joint {name!r} has a {word} that is not linear"
            findings.fault(0, f"{what}, which skodyn does not have", "make it linear.")
    plastic = getattr(mj, "jnt_plasticadr", None)
    if plastic is not None and int(plastic[j]) >= 0:
        findings.fault(0, f"Joint {name!r} has a plastic spring", "skodyn has elastic ones only.")


def _properties(
    mj: Any, j: int, name: str, findings: Findings, disabled: set[str], behind: float
) -> JointProperties | None:
    """Spring, damper and friction; `behind` is the damping of its actuators."""
    dof, q, kind = int(mj.jnt_dofadr[j]), int(mj.jnt_qposadr[j]), int(mj.jnt_type[j])
    stiffness, rest = float(mj.jnt_stiffness[j]), 0.0
    damping, friction = float(mj.dof_damping[dof]), float(mj.dof_frictionloss[dof])
    if "spring" in disabled:
        stiffness = 0.0
    damping = 0.0 if "damper" in disabled else damping + behind
    if "frictionloss" in disabled:
        friction = 0.0
    given = {"stiffness": stiffness, "damping": damping, "frictionloss": friction}
    for key, value in given.items():
        if value < 0.0:
            findings.fault(0, f"Joint {name!r}: {key} is {value:g}", "give a number from 0.")
    if stiffness > 0.0 and kind in (FREE, BALL):
        what = f"Joint {name!r} has stiffness {stiffness:g} on a quaternion"
        findings.refuse("spring", what, name)
        stiffness = 0.0
    if stiffness > 0.0:
        rest = float(mj.qpos_spring[q] - mj.qpos0[q])
    if friction > 0.0:
        findings.unused("frictionloss acts as smooth friction, not as a constraint", name)
    if not (stiffness or damping or friction):
        return None
    return JointProperties(stiffness=stiffness, rest=rest, damping=damping, friction=friction)


def _limits(
    mj: Any, j: int, name: str, findings: Findings, disabled: set[str]
) -> JointLimits | None:
    """Limits of a joint with one axis; a cone around a ball joint cannot be kept."""
    limited, driven = bool(mj.jnt_limited[j]), bool(mj.jnt_actfrclimited[j])
    if limited and "limit" in disabled:
        findings.unused("Ranges of joints are switched off", name)
        limited = False
    if int(mj.jnt_type[j]) in (FREE, BALL):
        if limited:
            findings.unused("The range of a ball joint is not used", name)
        return None
    lower, upper, effort = -np.inf, np.inf, np.inf
    if limited:
        lower, upper = (mj.jnt_range[j] - mj.qpos0[int(mj.jnt_qposadr[j])]).tolist()
    if driven:
        least, most = mj.jnt_actfrcrange[j].tolist()
        effort = max(abs(least), abs(most))
        if least != -most:
            findings.unused("actuatorfrcrange is taken as symmetric", name)
    return JointLimits(lower, upper, np.inf, effort) if limited or driven else None
