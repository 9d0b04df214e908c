"""Judge couplings: which joints they relate, and by which numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skodyn.faults import Fault, shown
from skodyn.model.builder_entries import CouplingDescription
from skodyn.model.columns import LARGEST, as_floats
from skodyn.model.joint_checks import is_joint
from skodyn.model.joints import Joint
from skodyn.model.loops.loop_description import JointCoupling
from skodyn.model.subjects import subject
from skodyn.typing import Floats
from skodyn.wording import Spelling

__all__ = ["check_couplings"]

_DEGREE = 4


def check_couplings(
    given: Sequence[CouplingDescription], joints: Mapping[str, Joint], faults: list[Fault]
) -> dict[str, JointCoupling]:
    """The couplings by name; faults are added, one sentence each. joints: by their names."""
    spelling = Spelling(joints)
    found = [_One(one, joints, spelling, faults).coupling() for one in given]
    _check_followers(given, joints, faults)
    if faults:  # names among them
        return {}
    return {one.name: made for one, made in zip(given, found, strict=True) if made}


class _One:
    """One coupling on its way."""

    def __init__(
        self,
        given: CouplingDescription,
        joints: Mapping[str, Joint],
        spelling: Spelling,
        faults: list[Fault],
    ) -> None:
        self.given, self.joints, self.spelling, self.faults = given, joints, spelling, faults
        self.whose = subject("Coupling", given.name)

    def coupling(self) -> JointCoupling | None:
        """It, or nothing if something is wrong with it."""
        before = len(self.faults)
        given = self.given
        found: JointCoupling | None = None
        if given.coefficients is None and given.terms is None:
            self._fault("", "it has neither coefficients nor terms", "give one of them.")
        elif given.coefficients is not None and given.terms is not None:
            self._fault("", "it has both coefficients and terms", "keep one of them.")
        elif given.terms is None:
            found = self._polynomial()
        else:
            found = self._linear()
        return found if len(self.faults) == before else None

    def _fault(self, key: str, problem: str, remedy: str) -> None:
        value = getattr(self.given, key) if key else None
        problem = f"{self.whose.words}: {problem}"
        self.faults.append(self.whose.fault(problem, remedy, key, value))

    # ---- q = c₀ + c₁·q_source + … -------------------------------------------------------------

    def _polynomial(self) -> JointCoupling:
        given = self.given
        c = self._coefficients()
        self._check_joint("joint", given.joint)
        if given.source is not None:
            self._check_joint("source", given.source)
            one = given.joint
            if isinstance(one, str) and isinstance(given.source, str) and one == given.source:
                self._fault("source", f"joint and source are both {one!r}", "couple two joints.")
        elif len(c) > 1:
            problem = f"it has no source for its {len(c)} coefficients"
            self._fault("coefficients", problem, "name the joint that it follows.")
        offset = as_floats(given.offset)
        if offset is None or offset.shape != () or offset != 0.0:
            self._fault(
                "offset",
                f"offset is {shown(given.offset)} beside coefficients",
                "it belongs to terms, so add it to the first coefficient.",
            )
        if given.source is None:  # q = c₀
            return JointCoupling((given.joint,), factors=(1.0,), offset=c[0] if c else 0.0)
        return JointCoupling((given.joint, given.source), coefficients=c)

    def _coefficients(self) -> tuple[float, ...]:
        """They, or none if they are at fault."""
        c = as_floats(self.given.coefficients)
        if c is None or c.ndim != 1 or c.size == 0:
            self._fault(
                "coefficients",
                f"coefficients is {shown(self.given.coefficients)}",
                f"give one to {_DEGREE + 1} numbers, from that of degree 0 on.",
            )
        elif c.size > _DEGREE + 1:
            self._fault(
                "coefficients",
                f"coefficients has {c.size} numbers, which makes degree {c.size - 1}",
                f"give at most {_DEGREE + 1}, for degree {_DEGREE}.",
            )
        elif self._ordinary("coefficients", c):
            return tuple(c.tolist())
        return ()

    # ---- Σ factor·q = offset ------------------------------------------------------------------

    def _linear(self) -> JointCoupling | None:
        given = self.given
        for key, joint in (("joint", given.joint), ("source", given.source)):
            if joint is not None:
                self._fault(key, f"{key} is {shown(joint)} beside terms", "put it among them.")
        offset = as_floats(given.offset)
        if offset is None or offset.shape != ():
            self._fault("offset", f"offset is {shown(given.offset)}", "give a number.")
            offset = np.zeros(())
        self._ordinary("offset", offset)
        if not isinstance(given.terms, Mapping) or len(given.terms) < 2:
            remedy = "give two joints or more, each with its factor."
            self._fault("terms", f"terms is {shown(given.terms)}", remedy)
            return None
        factors = [self._factor(joint, factor) for joint, factor in given.terms.items()]
        for joint in given.terms:
            self._check_joint("terms", joint)
        return JointCoupling(tuple(given.terms), (), tuple(factors), float(offset))

    def _factor(self, joint: Any, given: Any) -> float:
        factor = as_floats(given)
        whose = f"terms give {shown(joint)} the factor {shown(given)}"
        if factor is None or factor.shape != () or not abs(factor) <= LARGEST:
            self._fault("terms", whose, "give a finite number.")
        elif factor == 0.0:
            self._fault("terms", f"{whose}, which leaves it out", "take it away.")
        else:
            return float(factor)
        return 0.0

    # ---- both ---------------------------------------------------------------------------------

    def _check_joint(self, key: str, name: Any) -> None:
        """A joint of the model, with one coordinate?"""
        if name is None:
            self._fault(key, f"it has no {key}", "name a joint of the model.")
            return
        says = f"terms name {shown(name)}" if key == "terms" else f"{key} is {shown(name)}"
        if not isinstance(name, str) or name not in self.joints:
            guess = name if isinstance(name, str) else None
            remedy = self.spelling.remedy(guess, "name a joint of the model")
            self._fault(key, f"{says}, which is not a joint", remedy)
            return
        joint = self.joints[name]
        if is_joint(joint) and (joint.nq, joint.nv) != (1, 1):
            self._fault(
                key,
                f"{says}, a {joint.type_name} joint",
                "couple joints with one coordinate, so take revolute, prismatic or helical ones.",
            )

    def _ordinary(self, key: str, numbers: Floats) -> bool:
        if (np.abs(numbers) <= LARGEST).all():
            return True
        why = "beyond ±1e60" if np.isfinite(numbers).all() else "not finite"
        value = shown(numbers.tolist())
        self._fault(key, f"{key} is {value}, which is {why}", "give ordinary SI values.")
        return False


def _check_followers(
    given: Sequence[CouplingDescription], joints: Mapping[str, Joint], faults: list[Fault]
) -> None:
    """No joint can be two polynomials at once."""
    followers: dict[str, CouplingDescription] = {}
    for one in given:
        if one.coefficients is None or not isinstance(one.joint, str) or one.joint not in joints:
            continue
        first = followers.setdefault(one.joint, one)
        if first is not one:
            why = f", which coupling {shown(first.name)} has as its joint already"
            remedy = "keep one of them, or write terms."
            faults.append(subject("Coupling", one.name).found("joint", one.joint, remedy, why))
