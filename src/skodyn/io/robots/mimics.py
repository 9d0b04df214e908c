"""Joints that follow others, and circles among those who follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skodyn.io.robots.findings import Findings

__all__ = ["Mimic", "circles", "judge_mimics"]


class Mimic(NamedTuple):
    """q of `joint` = multiplier · q of `source` + offset; said in this line of the file."""

    joint: str
    source: str
    multiplier: float
    offset: float
    line: int = 0


def circles(leader: Mapping[str, str]) -> list[list[str]]:
    """Every circle in which each member follows the next, and the last the first."""
    settled: set[str] = set()
    found = []
    for start in leader:
        path: dict[str, None] = {}
        name = start
        while name in leader and name not in settled and name not in path:
            path[name] = None
            name = leader[name]
        if name in path:
            walked = list(path)
            found.append(walked[walked.index(name) :])
        settled.update(path)
    return found


def judge_mimics(mimics: Sequence[Mimic], option: str, findings: Findings) -> None:
    """Let mimics go if that is asked for; otherwise they are refused, since none can be kept."""
    for mimic in mimics:
        if option == "independent":
            what = "Joints that follow another move by themselves, as asked for"
            findings.unused(what, mimic.joint)
        else:
            findings.fault(
                mimic.line,
                f"Joint {mimic.joint!r} follows {mimic.source!r}, which skodyn cannot keep exactly "
                'yet; load it with mimic="independent" to let it move by itself.',
            )
