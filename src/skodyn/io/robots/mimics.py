"""Joints that follow others, and circles among those who follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skodyn.io.robots.findings import Findings
from skodyn.model.description import ModelBuilder

__all__ = ["FileMimic", "add_mimics", "circles", "kept_mimics"]


class FileMimic(NamedTuple):
    """q of `joint` = multiplier · q of `source` + offset; said in this line of the file.

    name: what the file calls this relation, if it has a name for it.
    """

    joint: str
    source: str
    multiplier: float
    offset: float
    line: int = 0
    name: str = ""


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


def kept_mimics(mimics: Sequence[FileMimic], option: str, findings: Findings) -> list[FileMimic]:
    """All of them, or none if they are to be let go, which is noted."""
    if option != "independent":
        return list(mimics)
    for mimic in mimics:
        findings.unused("Joints that follow another move by themselves, as asked for", mimic.joint)
    return []


def add_mimics(builder: ModelBuilder, mimics: Sequence[FileMimic]) -> None:
    for mimic in mimics:
        builder.add_mimic(mimic.joint, mimic.source, mimic.multiplier, mimic.offset)
