"""Loops and couplings of a robot file on their way to a model's builder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from skodyn.io.robots.assembly import ORIGIN, Carrier
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.mimics import FileMimic
from skodyn.io.robots.names import unique
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Joint
from skodyn.model.products import applied, product
from skodyn.typing import Floats

__all__ = ["FileCoupling", "FileLoop", "LoopEnd", "add_couplings", "add_loops", "as_couplings"]


class LoopEnd(NamedTuple):
    """A frame in a part, in the axes that the file gives that part."""

    part: str
    rotation: Floats
    translation: Floats


class FileLoop(NamedTuple):
    """A joint that closes a loop, said in this line of the file."""

    name: str
    joint: Joint
    a: LoopEnd
    b: LoopEnd
    line: int = 0


class FileCoupling(NamedTuple):
    """q of `joint` as a polynomial of q of `source`, or Σ factor·q = offset over `terms`."""

    name: str
    joint: str = ""
    source: str = ""
    coefficients: tuple[float, ...] = ()
    terms: Mapping[str, float] | None = None
    offset: float = 0.0
    line: int = 0


def add_loops(
    builder: ModelBuilder,
    loops: Iterable[FileLoop],
    carriers: Mapping[str, Carrier],
    origins: Mapping[str, Floats] | None = None,
) -> None:
    """Add the loops between the bodies that carry their parts.

    origins: where the file has the origin of a part, in that part; its own origin if left out.
    """
    shifts = origins or {}
    for loop in loops:
        body_a, rotation_a, translation_a = _placed(loop.a, carriers, shifts)
        body_b, rotation_b, translation_b = _placed(loop.b, carriers, shifts)
        builder.add_loop(
            loop.name, body_a, body_b, loop.joint,
            rotation_a=rotation_a, translation_a=translation_a.tolist(),
            rotation_b=rotation_b, translation_b=translation_b.tolist(),
        )  # fmt: skip


def _placed(
    end: LoopEnd, carriers: Mapping[str, Carrier], origins: Mapping[str, Floats]
) -> tuple[str, Floats, Floats]:
    at = carriers[end.part]
    inside = origins.get(end.part, ORIGIN) + end.translation
    place = at.translation + applied(at.rotation, inside)
    return at.body, product(at.rotation, end.rotation), place


def add_couplings(builder: ModelBuilder, couplings: Iterable[FileCoupling]) -> None:
    for one in couplings:
        if one.terms is not None:
            builder.add_coupling(one.name, terms=one.terms, offset=one.offset)
        else:
            builder.add_coupling(one.name, one.joint, one.source or None, one.coefficients)


def as_couplings(
    mimics: Sequence[FileMimic], names: Iterable[str], couplings: Iterable[FileCoupling],
    findings: Findings,
) -> list[FileCoupling]:  # fmt: skip
    """Mimics as couplings, for beside loops and couplings no joint can leave the state.

    names: those that are taken. A joint that has its polynomial already gets a linear relation.
    """
    taken = set(names)
    polynomials = {one.joint for one in couplings if one.terms is None}
    found = []
    for mimic in mimics:
        name = unique(mimic.name or mimic.joint, taken)
        findings.unused(
            "Joints that follow another stay in the state, tied by couplings", mimic.joint
        )
        if mimic.joint in polynomials:
            terms = {mimic.joint: 1.0, mimic.source: -mimic.multiplier}
            one = FileCoupling(name, terms=terms, offset=mimic.offset, line=mimic.line)
        else:
            numbers = (mimic.offset, mimic.multiplier)
            one = FileCoupling(name, mimic.joint, mimic.source, numbers, line=mimic.line)
        polynomials.add(mimic.joint)
        found.append(one)
    return found
