"""Judge mimic joints, and follow their chains to joints that move by themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from skodyn.faults import Fault, shown
from skodyn.model.builder_entries import MimicDescription
from skodyn.model.columns import LARGEST, as_floats
from skodyn.model.joint_entry import CATALOGUE, ONE_AXIS, Joint
from skodyn.model.mimics import Mimic
from skodyn.model.subjects import joint_subject
from skodyn.wording import Spelling, arrows, listed

__all__ = ["check_mimics"]


def check_mimics(
    given: Sequence[MimicDescription],
    joints: Mapping[str, Joint],
    carried: Mapping[str, str],
    faults: list[Fault],
) -> dict[str, Mimic]:
    """What each mimic joint follows in the end, by name; faults are added.

    carried: the body of each joint.
    """
    return _Mimics(joints, carried, faults).followed(given)


class _Mimics:
    """All mimics of a model on their way."""

    def __init__(
        self, joints: Mapping[str, Joint], carried: Mapping[str, str], faults: list[Fault]
    ) -> None:
        self.joints, self.carried, self.faults = joints, carried, faults
        self.spelling = Spelling(joints)
        self.direct: dict[str, MimicDescription] = {}

    def _fault(
        self, joint: Any, problem: str, remedy: str, key: str = "", value: Any = None
    ) -> None:
        body = self.carried.get(joint, "") if isinstance(joint, str) else ""
        whose = joint_subject(joint, body, "mimic")
        self.faults.append(whose.fault(f"{whose.words}: {problem}", remedy, key, value))

    def followed(self, given: Sequence[MimicDescription]) -> dict[str, Mimic]:
        before = len(self.faults)
        for mimic in given:
            known = self._check_names(mimic)
            self._check_numbers(mimic)
            if known and mimic.joint in self.direct:
                both = listed([self.direct[mimic.joint].source, mimic.source])
                self._fault(mimic.joint, f"it mimics both {both}", "keep one of them.")
            elif known:
                self.direct[mimic.joint] = mimic
        looped = self._check_cycles()
        if len(self.faults) > before:
            return {}
        return {name: self._follow(name) for name in self.direct if name not in looped}

    def _check_names(self, mimic: MimicDescription) -> bool:
        """Are both joints there, different, and able to?"""
        before = len(self.faults)
        joint, source, joints = mimic.joint, mimic.source, self.joints
        what, otherwise = f"it mimics {shown(source)}", "name a joint of the model"
        if not isinstance(joint, str) or joint not in joints:
            remedy = self.spelling.remedy(_text(joint), otherwise)
            self._fault(joint, f"{what}, but is not a joint of the model", remedy)
        if not isinstance(source, str) or source not in joints:
            remedy = self.spelling.remedy(_text(source), otherwise)
            problem = f"{what}, which is not a joint of the model"
            self._fault(joint, problem, remedy, "joint", source)
        elif source == joint:
            self._fault(joint, "it mimics itself", "name another joint.", "joint", source)
        if len(self.faults) > before:
            return False
        for name, role in ((joint, "cannot mimic"), (source, "cannot be mimicked")):
            self._check_kind(joint, name, role)
        return len(self.faults) == before

    def _check_kind(self, joint: str, name: str, role: str) -> None:
        one = self.joints[name]
        if isinstance(one, Joint) and getattr(one, "kind", None) not in ONE_AXIS:
            who = "it" if name == joint else repr(name)
            kinds = [name for name, kind in CATALOGUE.items() if kind.kind in ONE_AXIS]
            either = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
            remedy = f"both joints need one coordinate, so take {either} ones."
            self._fault(joint, f"{who} is {one.type_name} and {role}", remedy)

    def _check_numbers(self, mimic: MimicDescription) -> None:
        for key, value in (("multiplier", mimic.multiplier), ("offset", mimic.offset)):
            number = as_floats(value)
            if number is None or number.shape != () or not abs(number) <= LARGEST:
                problem = f"mimic {key} is {shown(value)}"
                self._fault(mimic.joint, problem, "give a finite number.", key, value)
            elif key == "multiplier" and number == 0.0:
                problem = "mimic multiplier is 0, with which it would not move"
                remedy = "make it a fixed joint, or give another number."
                self._fault(mimic.joint, problem, remedy, key, value)

    def _check_cycles(self) -> set[str]:
        """The joints on a cycle; each cycle is one fault, told from its first joint."""
        looped: set[str] = set()
        done: set[str] = set()
        for first in self.direct:
            path: dict[str, None] = {}
            name = first
            while name in self.direct and name not in path and name not in done:
                path[name] = None
                name = self.direct[name].source
            if name in path:
                cycle = list(path)[list(path).index(name) :]
                looped.update(cycle)
                problem = f"it mimics itself in a cycle, {arrows([*cycle, name])}"
                self._fault(name, problem, "let one of them move by itself.")
            done.update(path)
        return looped

    def _follow(self, name: str) -> Mimic:
        """Multipliers multiplied and offsets accumulated, up to a joint that mimics none."""
        multiplier, offset, source = 1.0, 0.0, name
        while source in self.direct:
            step = self.direct[source]
            offset += multiplier * float(step.offset)
            multiplier *= float(step.multiplier)
            source = step.source
        fits = 0.0 < abs(multiplier) <= LARGEST and math.isfinite(offset) and abs(offset) <= LARGEST
        if not fits:
            numbers = f"multiplier {multiplier:g} and offset {offset:g}"
            problem = f"through its chain of mimics it follows {source!r} with {numbers}"
            self._fault(name, problem, "give ordinary SI values.")
        return Mimic(source, multiplier, offset)


def _text(name: object) -> str | None:
    return name if isinstance(name, str) else None
