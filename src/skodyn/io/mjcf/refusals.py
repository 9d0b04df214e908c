"""What an MJCF model may hold besides bodies, joints and equalities: refused by name, or noted."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.io.robots.findings import Findings

__all__ = ["judge_extras"]

_SITE = 6  # mjtObj
_TENDON_FORCES = (
    "stiffness",
    "damping",
    "frictionloss",
    "armature",
    "stiffnesspoly",
    "dampingpoly",
)


class _Judge:
    def __init__(self, mj: Any, findings: Findings) -> None:
        self.mj, self.findings = mj, findings

    # ---- what changes the motion --------------------------------------------------------------

    def surroundings(self) -> None:
        option = self.mj.opt
        for key in ("density", "viscosity"):
            value = float(getattr(option, key))
            if value > 0.0:
                self.findings.refuse("fluid", f"The model is in a fluid of {key} {value:g}", key)
        for k in np.flatnonzero(self.mj.body_gravcomp).tolist():
            name = self.mj.body(k).name
            value = self.mj.body_gravcomp[k]
            self.findings.refuse("gravcomp", f"Body {name!r} has gravcomp {value:g}", name)
        for count, what in ((self.mj.nflex, "flexible bodies"), (self.mj.nplugin, "plugins")):
            if count:
                sentence = f"The model has {count} {what}, which skodyn does not have"
                self.findings.fault(0, sentence, "remove them.")

    def tendons(self) -> None:
        for t in range(self.mj.ntendon):
            name = self.mj.tendon(t).name or f"number {t}"
            acting = [
                key
                for key in (*_TENDON_FORCES, "limited")
                if np.any(getattr(self.mj, f"tendon_{key}", np.zeros(t + 1))[t])
            ]
            if acting:
                self.findings.refuse("tendon", f"Tendon {name!r} has {', '.join(acting)}", name)
            else:
                self.findings.unused("Tendons without forces of their own are not used", name)

    # ---- what does not, or is somebody else's -------------------------------------------------

    def notes(self) -> None:
        mj, findings = self.mj, self.findings
        if np.any(mj.geom_contype) or np.any(mj.geom_conaffinity):
            findings.note(
                "Geoms touch only in runs with contacts; their shapes are in model.collisions."
            )
        for a in range(mj.nu):
            findings.unused("Actuators are not used", mj.actuator(a).name or f"number {a}")
        for s in range(mj.nsensor):
            findings.unused("Sensors are not used", mj.sensor(s).name or f"number {s}")
        for count, what in ((mj.ncam, "cameras"), (mj.nlight, "lights"), (mj.nskin, "skins")):
            if count:
                findings.note(f"{count} {what} are not used.")
        for k in np.flatnonzero(np.asarray(mj.body_mocapid) >= 0).tolist():
            findings.unused("Mocap bodies stay where they are", mj.body(k).name or f"number {k}")


def judge_extras(mj: Any, findings: Findings) -> None:
    """Report everything but bodies, joints and equality constraints."""
    judge = _Judge(mj, findings)
    judge.surroundings()
    judge.tendons()
    judge.notes()
