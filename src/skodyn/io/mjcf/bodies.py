"""The bodies of a MuJoCo model as parts, one for each joint.

A MuJoCo body may have several joints, each turning about an anchor p_k of its own; its pose is

    place · exp(twist₁ q₁) · exp(twist₂ q₂) · …

Here each joint gets a part whose origin is the joint's anchor: massless ones in between, and last
the body itself. So a body whose last joint is not at its origin has another origin in skodyn; the
frame with the name of the body is then MuJoCo's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.io.mjcf.joints import BALL, MujocoJoint
from skodyn.io.robots.assembly import Part, Weight
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.names import unique
from skodyn.model.columns import quaternion_to_matrix
from skodyn.model.joints import Fixed
from skodyn.model.products import applied, product
from skodyn.model.shapes import Visual
from skodyn.typing import Floats

__all__ = ["read_parts"]


def read_parts(
    mj: Any,
    names: list[str],
    joints: list[MujocoJoint],
    visuals: list[tuple[Visual, ...]],
    findings: Findings,
) -> tuple[list[Part], dict[str, Floats]]:
    """(parts with parents first, origin of the MuJoCo body in each part of the same name)."""
    origins: dict[str, Floats] = {GROUND: np.zeros(3)}
    called = [GROUND, *names[1:]]
    taken = set(called)
    parts: list[Part] = []
    for b in range(1, mj.nbody):
        parent = called[int(mj.body_parentid[b])]
        start = int(mj.body_jntadr[b])
        own = joints[start : start + int(mj.body_jntnum[b])] if start >= 0 else []
        if any(joint.kind == BALL for joint in own[:-1]):
            what = f"Body {called[b]!r} has a ball joint before another joint"
            findings.fault(0, what, "put a body between them.")
        place = quaternion_to_matrix(mj.body_quat[b])
        shift = origins[parent] + mj.body_pos[b]
        before = np.zeros(3)
        for joint in own:
            last = joint is own[-1]
            name = called[b] if last else unique(f"{called[b]}/{joint.joint.joint_name}", taken)
            moved = shift + applied(place, joint.position - before)
            parts.append(Part(name, parent, joint.joint, place, moved))
            parent, place, shift, before = name, np.eye(3), np.zeros(3), joint.position
        if not own:
            parts.append(Part(called[b], parent, Fixed(name=called[b]), place, shift))
        origins[called[b]] = -before
        parts[-1] = replace(
            parts[-1], weight=_weight(mj, b, -before), visuals=_moved(visuals[b], -before)
        )
    return parts, origins


def _weight(mj: Any, b: int, origin: Floats) -> Weight:
    turn = quaternion_to_matrix(mj.body_iquat[b])
    inertia = product(turn * mj.body_inertia[b], turn.T)
    return Weight(float(mj.body_mass[b]), mj.body_ipos[b] + origin, 0.5 * (inertia + inertia.T))


def _moved(visuals: tuple[Visual, ...], origin: Floats) -> tuple[Visual, ...]:
    return tuple(replace(one, translation=one.translation + origin) for one in visuals)
