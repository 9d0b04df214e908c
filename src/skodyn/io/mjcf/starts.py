"""Sites of a MuJoCo model as frames, and its keyframes as starts by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skodyn.io.mjcf.joints import BALL, FREE
from skodyn.io.robots.assembly import Carrier, beyond
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.names import unique
from skodyn.model.columns import LARGEST, quaternion_to_matrix
from skodyn.model.description import ModelBuilder
from skodyn.model.model import Model
from skodyn.model.products import applied
from skodyn.typing import Floats

__all__ = ["add_sites", "read_starts"]

Start = tuple[Floats, Floats]


def add_sites(
    mj: Any,
    builder: ModelBuilder,
    bodies: list[str],
    carriers: Mapping[str, Carrier],
    origins: Mapping[str, Floats],
    findings: Findings,
) -> None:
    """A frame for each site with a name; one whose name is taken is called NAME/site."""
    taken = {frame.name for frame in builder.frames} | {*bodies}
    for s in range(mj.nsite):
        given, body = mj.site(s).name, bodies[int(mj.site_bodyid[s])]
        if not given:
            findings.unused("Sites without a name are not used", f"number {s}")
            continue
        name = given if given not in taken else unique(f"{given}/site", taken)
        taken.add(name)
        rotation = quaternion_to_matrix(np.array(mj.site_quat[s]))
        at = beyond(carriers[body], rotation, origins[body] + mj.site_pos[s])
        origin = at.translation.tolist()
        builder.add_frame(name, at.body, rotation=at.rotation, translation=origin)


def read_starts(mj: Any, joints: list[str], model: Model, findings: Findings) -> dict[str, Start]:
    """(q, v) of every keyframe, by its name; one without a name is called key_NUMBER."""
    found: dict[str, Start] = {}
    for k in range(mj.nkey):
        name = mj.key(k).name or f"key_{k}"
        qpos, qvel = np.array(mj.key_qpos[k]), np.array(mj.key_qvel[k])
        if not (np.abs(np.concatenate((qpos, qvel))) <= LARGEST).all():
            findings.unused("Keyframes with numbers that are not finite are not used", name)
            continue
        q, v = model.neutral(), np.zeros(model.nv)
        for j, joint in enumerate(joints):
            if joint not in model.mimics:
                q[model.q_slice(joint)], v[model.v_slice(joint)] = _of_joint(mj, j, qpos, qvel)
        found[name] = q, v
    return found


def _of_joint(mj: Any, j: int, qpos: Floats, qvel: Floats) -> Start:
    """Coordinates and velocities of one joint: skodyn counts from where the file places it."""
    at, dof, kind = int(mj.jnt_qposadr[j]), int(mj.jnt_dofadr[j]), int(mj.jnt_type[j])
    if kind == FREE:
        body = int(mj.jnt_bodyid[j])
        placed, turn = np.array(mj.body_quat[body]), _unit(qpos[at + 3 : at + 7])
        back = quaternion_to_matrix(placed).T
        position = applied(back, qpos[at : at + 3] - mj.body_pos[body])
        q = np.concatenate((_quotient(placed, turn), position))
        linear = applied(quaternion_to_matrix(turn).T, qvel[dof : dof + 3])
        return q, np.concatenate((qvel[dof + 3 : dof + 6], linear))
    if kind == BALL:
        return _unit(qpos[at : at + 4]), qvel[dof : dof + 3]
    return qpos[at : at + 1] - mj.qpos0[at], qvel[dof : dof + 1]


def _unit(p: Floats) -> Floats:
    """A unit quaternion; no rotation if it has no direction."""
    size = float(np.linalg.norm(p))
    return p / size if size > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])


def _quotient(a: Floats, b: Floats) -> Floats:
    """ā·b of unit quaternions (w, x, y, z): the turn from a to b, in axes of a."""
    w = a[0] * b[0] + a[1:] @ b[1:]
    vector = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])
    return _unit(np.concatenate(([w], vector)))
