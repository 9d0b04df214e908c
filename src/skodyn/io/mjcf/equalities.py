"""<equality> of MJCF: what skodyn keeps exactly, as loops, couplings or mimic joints.

MuJoCo pulls such constraints together by springs of its own (solref, solimp); here they hold to
rounding. Its compiled model has what is needed in eq_data:

    connect  the point in body 1, the point in body 2
    weld     the point in body 2; position and orientation of its frame in body 1; torquescale
    joint    c with q₁ = c₀ + c₁ q₂ + … + c₄ q₂⁴, both counted from qpos0, as skodyn counts them
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skodyn.conventions import GROUND
from skodyn.io.mjcf.names import body_names
from skodyn.io.robots.findings import NOT_HERE, Findings
from skodyn.io.robots.loops import FileCoupling, FileLoop, LoopEnd
from skodyn.io.robots.mimics import FileMimic, circles
from skodyn.io.robots.names import unique
from skodyn.model.columns import LARGEST, quaternion_to_matrix
from skodyn.model.joints import Fixed, Joint, Spherical
from skodyn.typing import Floats

__all__ = ["Equalities", "read_equalities"]

_KINDS = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
_CONNECT, _WELD, _JOINT = range(3)
_SITE = 6  # mjtObj
_EXACT = "skodyn keeps equalities exactly"


class Equalities(NamedTuple):
    """What the constraints are; `linear` may be mimic joints if nothing else is there."""

    loops: list[FileLoop]
    couplings: list[FileCoupling]
    linear: list[FileMimic]

    @property
    def names(self) -> list[str]:
        """Of all but the linear ones."""
        return [one.name for one in self.loops] + [one.name for one in self.couplings]

    @property
    def need_couplings(self) -> bool:
        """Is there something that mimic joints cannot be, or cannot stand beside?"""
        followers = {mimic.joint: mimic.source for mimic in self.linear}
        apart = len(followers) == len(self.linear) and not circles(followers)
        return bool(self.loops or self.couplings) or not apart


def read_equalities(
    mj: Any, joints: list[str], findings: Findings, disabled: set[str]
) -> Equalities:
    """Every constraint that is on; what skodyn does not have is refused by name."""
    return _Reader(mj, joints, findings).read(disabled)


class _Reader:
    def __init__(self, mj: Any, joints: list[str], findings: Findings) -> None:
        self.mj, self.joints, self.findings = mj, joints, findings
        self.bodies = [GROUND, *body_names(mj)[1:]]
        self.found = Equalities([], [], [])
        self.polynomials: set[str] = set()

    def read(self, disabled: set[str]) -> Equalities:
        given = [self.mj.equality(e).name for e in range(self.mj.neq)]
        taken = set(given)
        names = [name or unique(f"equality_{e}", taken) for e, name in enumerate(given)]
        for e, name in enumerate(names):
            kind = int(self.mj.eq_type[e])
            if not self.mj.eq_active0[e] or "equality" in disabled:
                self.findings.unused("Equality constraints that are switched off", name)
            elif kind in (_CONNECT, _WELD):
                self._loop(e, name, kind)
            elif kind == _JOINT:
                self._coupling(e, name)
            else:
                word = _KINDS[kind] if kind < len(_KINDS) else f"type {kind}"
                self._refuse(f"Equality {name!r} is a {word} constraint", name)
        for name in self.found.names:
            self.findings.unused(f"solref and solimp are not used, since {_EXACT}", name)
        return self.found

    def _refuse(self, what: str, name: str, why: str = NOT_HERE) -> None:
        self.findings.refuse("equality", what, name, why=why)

    def _ordinary(self, name: str, *numbers: Any) -> bool:
        given = np.concatenate([np.ravel(one) for one in numbers])
        if (np.abs(given) <= LARGEST).all():
            return True
        what = f"Equality {name!r} has numbers {given.tolist()}"
        self.findings.fault(0, what, "give finite numbers.")
        return False

    # ---- connect, weld ------------------------------------------------------------------------

    def _loop(self, e: int, name: str, kind: int) -> None:
        mj = self.mj
        of_sites = int(mj.eq_objtype[e]) == _SITE
        ends = [int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])]
        one, two = [int(mj.site_bodyid[s]) for s in ends] if of_sites else ends
        if mj.body_weldid[one] == mj.body_weldid[two]:
            what = f"Equality {name!r} joins {self.bodies[one]!r} and {self.bodies[two]!r}"
            self._refuse(what, name, why="which cannot move against each other")
            return
        if of_sites:
            (quat_a, pos_a), (quat_b, pos_b) = ((mj.site_quat[s], mj.site_pos[s]) for s in ends)
        else:
            (quat_a, pos_a), (quat_b, pos_b) = self._frames(e, kind)
        if not self._ordinary(name, quat_a, pos_a, quat_b, pos_b):
            return
        a = LoopEnd(self.bodies[one], quaternion_to_matrix(quat_a), np.array(pos_a))
        b = LoopEnd(self.bodies[two], quaternion_to_matrix(quat_b), np.array(pos_b))
        self.found.loops.append(FileLoop(name, self._closing(e, name, kind), a, b))

    def _frames(self, e: int, kind: int) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """(orientation, position) of the frames in bodies 1 and 2."""
        data = np.array(self.mj.eq_data[e])
        still = np.array([1.0, 0.0, 0.0, 0.0])
        if kind == _CONNECT:
            return (still, data[0:3]), (still, data[3:6])
        return (data[6:10], data[3:6]), (still, data[0:3])

    def _closing(self, e: int, name: str, kind: int) -> Joint:
        if kind == _CONNECT:
            return Spherical()
        scale = float(self.mj.eq_data[e][10])
        if scale == 0.0:
            self.findings.unused("A weld with torquescale 0 holds a point only", name)
            return Spherical()
        if scale != 1.0:
            self.findings.unused(f"torquescale is not used, since {_EXACT}", name)
        return Fixed()

    # ---- joint --------------------------------------------------------------------------------

    def _coupling(self, e: int, name: str) -> None:
        c = np.array(self.mj.eq_data[e][:5])
        joint, source = self.joints[int(self.mj.eq_obj1id[e])], int(self.mj.eq_obj2id[e])
        if not self._ordinary(name, c if source >= 0 else c[:1]):
            return
        degree = int(np.flatnonzero(c).max(initial=0)) if source >= 0 else 0
        if degree == 1:
            linear = FileMimic(joint, self.joints[source], float(c[1]), float(c[0]), name=name)
            self.found.linear.append(linear)
        elif joint in self.polynomials:
            self._refuse(f"Equality {name!r} is a second polynomial for joint {joint!r}", name)
        else:
            self.polynomials.add(joint)
            follows = self.joints[source] if degree else ""
            numbers = tuple(c[: degree + 1].tolist())
            self.found.couplings.append(FileCoupling(name, joint, follows, numbers))
