"""Numbers that MuJoCo's compiler lets pass although no body can have them: inf, nan, 1e308."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.io.mjcf.names import body_names
from skodyn.io.robots.findings import Findings
from skodyn.model.columns import LARGEST

__all__ = ["check_numbers"]

_BODY = {
    "pos": "body_pos",
    "orientation": "body_quat",
    "mass": "body_mass",
    "centre of mass": "body_ipos",
    "axes of inertia": "body_iquat",
    "inertia": "body_inertia",
}
_JOINT = {"pos": "jnt_pos", "axis": "jnt_axis", "stiffness": "jnt_stiffness"}
_GEOM = {"pos": "geom_pos", "orientation": "geom_quat", "size": "geom_size"}
_SITE = {"pos": "site_pos", "orientation": "site_quat"}
_DOF = {"armature": "dof_armature", "damping": "dof_damping", "frictionloss": "dof_frictionloss"}
_NUMBERS = (7, 4, 1, 1)  # of q, in a joint of each mjtJoint


def check_numbers(mj: Any, joints: list[str], findings: Findings) -> None:
    """A fault for each number that is taken and not ordinary, and for what is no rotation."""
    geoms = [mj.geom(g).name or f"number {g}" for g in range(mj.ngeom)]
    of_dofs = [joints[int(j)] for j in mj.dof_jntid]
    for what, names, table in (
        ("Body", body_names(mj), _BODY),
        ("Joint", joints, _JOINT),
        ("Joint", of_dofs, _DOF),
        ("Geom", geoms, _GEOM),
    ):
        for word, key in table.items():
            _check(f"{what} {{!r}} has {word}", names, getattr(mj, key), key, findings)
    sites = [s for s in range(mj.nsite) if mj.site(s).name]  # no other is used
    for word, key in _SITE.items():
        named = [mj.site(s).name for s in sites]
        _check(f"Site {{!r}} has {word}", named, getattr(mj, key)[sites], key, findings)
    of_q = [int(j) for j in range(mj.njnt) for _ in range(_NUMBERS[int(mj.jnt_type[j])])]
    for word, key in (("ref", "qpos0"), ("springref", "qpos_spring")):
        values = getattr(mj, key)
        _check(f"Joint {{!r}} has {word}", [joints[j] for j in of_q], values, key, findings)
    if not (np.abs(mj.opt.gravity) <= LARGEST).all():
        findings.fault(0, f"The gravity is {mj.opt.gravity.tolist()}", "give finite numbers.")


def _check(start: str, names: list[str], rows: Any, key: str, findings: Findings) -> None:
    values = np.atleast_2d(np.asarray(rows).T).T  # numbers as rows of one
    sound = (np.abs(values) <= LARGEST).all(axis=1)
    if key.endswith("quat"):
        sound &= np.isclose(np.linalg.norm(np.where(sound[:, None], values, 0.0), axis=1), 1.0)
    for k in np.flatnonzero(~sound).tolist():
        remedy = "give finite numbers" + (" and a direction" if key.endswith("quat") else "")
        findings.fault(0, f"{start.format(names[k])} {values[k].tolist()}", f"{remedy}.")
