"""Judge mimic joints, and follow their chains to joints that move by themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from skodyn.model.columns import LARGEST, as_floats, shown
from skodyn.model.description import MimicDescription
from skodyn.model.joints import Joint
from skodyn.model.mimics import Mimic
from skodyn.topology.wording import Spelling, arrows, listed

__all__ = ["check_mimics"]

_MAY_FOLLOW = ("revolute", "prismatic", "helical")


def check_mimics(
    given: Sequence[MimicDescription], joints: Mapping[str, Joint], faults: list[str]
) -> dict[str, Mimic]:
    """What each mimic joint follows in the end, by name; faults are added, one sentence each."""
    before = len(faults)
    spelling = Spelling(joints)
    direct: dict[str, MimicDescription] = {}
    for mimic in given:
        known = _check_names(mimic, joints, spelling, faults)
        _check_numbers(mimic, faults)
        if known and mimic.joint in direct:
            both = listed([direct[mimic.joint].source, mimic.source])
            faults.append(f"Joint {mimic.joint!r}: it is to mimic both {both}; keep one of them.")
        elif known:
            direct[mimic.joint] = mimic
    looped = _check_cycles(direct, faults)
    if len(faults) > before:
        return {}
    return {name: _follow(name, direct, faults) for name in direct if name not in looped}


def _check_names(
    mimic: MimicDescription, joints: Mapping[str, Joint], spelling: Spelling, faults: list[str]
) -> bool:
    """Are both joints there, different, and able to?"""
    before = len(faults)
    start = f"Joint {shown(mimic.joint)}"
    if not isinstance(mimic.joint, str) or mimic.joint not in joints:
        remedy = spelling.remedy(_text(mimic.joint), "name a joint of the model")
        what = f"it is to mimic {shown(mimic.source)}, but is no joint of the model"
        faults.append(f"{start}: {what}; {remedy}")
    if not isinstance(mimic.source, str) or mimic.source not in joints:
        remedy = spelling.remedy(_text(mimic.source), "name a joint of the model")
        what = f"it is to mimic {shown(mimic.source)}, which is no joint of the model"
        faults.append(f"{start}: {what}; {remedy}")
    elif mimic.source == mimic.joint:
        faults.append(f"{start}: it is to mimic itself; name another joint.")
    if len(faults) > before:
        return False
    for name, role in ((mimic.joint, "cannot mimic"), (mimic.source, "cannot be mimicked")):
        joint = joints[name]
        if isinstance(joint, Joint) and joint.type_name not in _MAY_FOLLOW:
            whose = "it" if name == mimic.joint else repr(name)
            faults.append(
                f"{start}: {whose} is {joint.type_name} and {role}; both joints need one "
                f"coordinate, so take {_MAY_FOLLOW[0]}, {_MAY_FOLLOW[1]} or {_MAY_FOLLOW[2]} ones."
            )
    return len(faults) == before


def _text(name: object) -> str | None:
    return name if isinstance(name, str) else None


def _check_numbers(mimic: MimicDescription, faults: list[str]) -> None:
    start = f"Joint {shown(mimic.joint)}"
    for label, value in (("multiplier", mimic.multiplier), ("offset", mimic.offset)):
        number = as_floats(value)
        if number is None or number.shape != () or not abs(number) <= LARGEST:
            faults.append(f"{start}: mimic {label} is {shown(value)}; give a finite number.")
        elif label == "multiplier" and number == 0.0:
            faults.append(
                f"{start}: mimic multiplier is 0, with which it would not move; make it a fixed "
                "joint, or give another number."
            )


def _check_cycles(direct: Mapping[str, MimicDescription], faults: list[str]) -> set[str]:
    """The joints on a cycle; each cycle is one fault, told from its first joint."""
    looped: set[str] = set()
    done: set[str] = set()
    for first in direct:
        path: dict[str, None] = {}
        name = first
        while name in direct and name not in path and name not in done:
            path[name] = None
            name = direct[name].source
        if name in path:
            cycle = list(path)[list(path).index(name) :]
            looped.update(cycle)
            faults.append(
                f"Joint {name!r}: it mimics itself in a cycle, {arrows([*cycle, name])}; let one "
                "of them move by itself."
            )
        done.update(path)
    return looped


def _follow(name: str, direct: Mapping[str, MimicDescription], faults: list[str]) -> Mimic:
    """Multipliers multiplied and offsets accumulated, up to a joint that mimics none."""
    multiplier, offset, source = 1.0, 0.0, name
    while source in direct:
        step = direct[source]
        offset += multiplier * float(step.offset)
        multiplier *= float(step.multiplier)
        source = step.source
    if not (0.0 < abs(multiplier) <= LARGEST and math.isfinite(offset) and abs(offset) <= LARGEST):
        faults.append(
            f"Joint {name!r}: through its chain of mimics it follows {source!r} with multiplier "
            f"{multiplier:g} and offset {offset:g}; give ordinary SI values."
        )
    return Mimic(source, multiplier, offset)
