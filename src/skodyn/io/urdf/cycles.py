"""Loops and couplings of URDF in the tree of its joints: which joints lie on their way round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skodyn.io.robots.findings import Findings
from skodyn.io.robots.loops import FileCoupling, FileLoop, LoopEnd
from skodyn.io.urdf.joints import UrdfJoint
from skodyn.io.urdf.links import Link
from skodyn.io.urdf.loops import Tie, UrdfCoupling, UrdfLoop
from skodyn.model.joints import Spherical
from skodyn.wording import Spelling

__all__ = ["as_file_coupling", "as_file_loop", "check_ends", "check_motion", "tied_links"]

Carriers = Mapping[str, UrdfJoint]
"""The joint that carries each link."""


def check_ends(ties: Sequence[Tie], links: Mapping[str, Link], findings: Findings) -> list[Tie]:
    """Those whose ends name two links; a missing name is a fault already."""
    spelling = Spelling(links)
    for tie in ties:
        for role, end in (("predecessor", tie.predecessor), ("successor", tie.successor)):
            if end.link and end.link not in links:
                remedy = spelling.remedy(end.link, "name a link of this robot")
                what = f"{tie.owner}: its {role} {end.link!r} is not a link"
                findings.fault(tie.line, what, remedy, tie.owner.at(role), end.link)
    return [tie for tie in ties if tie.predecessor.link in links and tie.successor.link in links]


def check_motion(ties: Iterable[Tie], carriers: Carriers, findings: Findings) -> None:
    """Loops join what can move against each other; couplings have an angle at either end."""
    for tie in ties:
        one, two = tie.predecessor.link, tie.successor.link
        sides = _sides(one, two, carriers)
        if not any(joint.moves for side in sides for joint in side):
            what = f"{tie.owner} joins {one!r} and {two!r}, which cannot move against each other"
            findings.fault(tie.line, what, "remove it, or name other links.", tie.owner)
        elif isinstance(tie, UrdfCoupling):
            _check_angles(tie, sides, findings)


def _check_angles(
    coupling: UrdfCoupling, sides: Sequence[Sequence[UrdfJoint]], findings: Findings
) -> None:
    ends = (coupling.predecessor.link, coupling.successor.link)
    for end, other, side in zip(ends, reversed(ends), sides, strict=True):
        moving = [joint for joint in side if joint.moves]
        many = next((joint for joint in moving if not joint.has_one_axis), None)
        kinds = {joint.type == "prismatic" for joint in moving}
        if not moving:
            why = f"{end!r} cannot move against what carries {other!r}, so that no ratio ties them"
        elif many is not None:
            kind = f"is {many.type} and has more than one coordinate"
            why = f"joint {many.name!r} on the way to {end!r} {kind}"
        elif len(kinds) > 1:
            why = f"the joints on the way to {end!r} turn and slide, and their sum means nothing"
        else:
            continue
        whose = coupling.owner
        findings.fault(coupling.line, f"{whose}: {why}", "name other links.", whose)


def _sides(one: str, two: str, carriers: Carriers) -> tuple[list[UrdfJoint], list[UrdfJoint]]:
    """The joints from the closest link that carries both, to the one and to the other."""
    ways = [_way(one, carriers), _way(two, carriers)]
    shared = {joint.name for joint in ways[0]} & {joint.name for joint in ways[1]}
    first, second = ([joint for joint in way if joint.name not in shared] for way in ways)
    return first, second


def _way(link: str, carriers: Carriers) -> list[UrdfJoint]:
    found = []
    while link in carriers:
        found.append(carriers[link])
        link = found[-1].parent
    return found[::-1]


def tied_links(ties: Iterable[Tie], carriers: Carriers) -> set[str]:
    """Links on the cycles: what they move with may have the inertia that they lack."""
    return {
        joint.child
        for tie in ties
        for side in _sides(tie.predecessor.link, tie.successor.link, carriers)
        for joint in side
    }


# ---- for the builder ----------------------------------------------------------------------------


def as_file_loop(loop: UrdfLoop) -> FileLoop:
    """Frames A and B in predecessor and successor; a closing joint is one of the tree's kinds."""
    a, b = (
        LoopEnd(end.link, end.rotation, end.translation)
        for end in (loop.predecessor, loop.successor)
    )
    if loop.type == "spherical":
        return FileLoop(loop.name, Spherical(), a, b, loop.line)
    joint = UrdfJoint(loop.name, loop.line, loop.type, axis=loop.axis).described()
    return FileLoop(loop.name, joint, a, b, loop.line)


def as_file_coupling(coupling: UrdfCoupling, carriers: Carriers) -> FileCoupling:
    """ratio · Σ q to the predecessor − Σ q to the successor = 0."""
    before, after = _sides(coupling.predecessor.link, coupling.successor.link, carriers)
    terms = {joint.name: coupling.ratio for joint in before if joint.moves}
    terms |= {joint.name: -1.0 for joint in after if joint.moves}
    return FileCoupling(coupling.name, terms=terms, line=coupling.line)
