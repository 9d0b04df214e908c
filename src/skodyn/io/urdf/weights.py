"""Whether the masses and inertias of a robot can be those of bodies that move."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from skodyn.faults import Fault, Subject
from skodyn.io.robots.assembly import IDENTITY, ORIGIN, Carrier, Weight, beyond, combined, seen_from
from skodyn.io.robots.findings import Findings
from skodyn.io.urdf.joints import UrdfJoint
from skodyn.io.urdf.links import Link
from skodyn.model.inertia_checks import check_inertias, nearest_valid
from skodyn.typing import Floats
from skodyn.wording import listed

__all__ = ["check_masses", "judge_inertias", "repaired"]


def judge_inertias(
    links: dict[str, Link],
    in_order: Sequence[UrdfJoint],
    grounded: Collection[str],
    merge_fixed: bool,
) -> list[tuple[Fault, Floats]]:
    """Inertias that no body can have: faults, each with its line, and the inertia.

    What is fixed to a link counts as one with it, if links are merged: nobody need correct a link
    whose body is valid. Those of links that are one with the world are not used at all.
    """
    groups = [group for group in _groups(links, in_order, merge_fixed) if group[0] not in grounded]
    groups = [group for group in groups if any(links[name].inertia_line for name, _ in group[1])]
    if not groups:
        return []
    weights = [combined([weight for _, weight in members]) for _, members in groups]
    tensors, masses = np.array([w.inertia for w in weights]), np.array([w.mass for w in weights])
    found = check_inertias(tensors, lambda k: _owner(links[groups[k][0]], groups[k][1]), masses)
    lines = {k: [links[name].inertia_line for name, _ in groups[k][1]] for k in found}
    placed = {k: replace(fault, line=next(filter(None, lines[k]))) for k, fault in found.items()}
    return [(fault, tensors[k]) for k, fault in placed.items()]


def repaired(found: Sequence[tuple[Fault, Floats]]) -> list[Fault]:
    """What the builder makes of such inertias, said with the lines of the file."""
    return [
        replace(fault, remedy=f"replaced {before.tolist()} by {nearest_valid(before).tolist()}.")
        for fault, before in found
    ]


def _groups(
    links: dict[str, Link], in_order: Sequence[UrdfJoint], merge_fixed: bool
) -> list[tuple[str, list[tuple[str, Weight]]]]:
    """Each body with the links that it is made of and their weights in its axes."""
    places = {name: Carrier(name, IDENTITY, ORIGIN) for name in links}
    for joint in in_order if merge_fixed else ():
        if not joint.moves:
            places[joint.child] = beyond(places[joint.parent], joint.rotation, joint.translation)
    found: dict[str, list[tuple[str, Weight]]] = {}
    for name, at in places.items():
        found.setdefault(at.body, []).append((name, seen_from(at, links[name].weight)))
    return list(found.items())


def _owner(link: Link, members: Sequence[tuple[str, Weight]]) -> Subject:
    others = [name for name, _ in members if name != link.name]
    fixed_to_it = f" with what is fixed to it ({listed(others)})" if others else ""
    whose = link.owner.at("inertial")
    return replace(whose, words=f"{whose}{fixed_to_it}")


def check_masses(
    links: dict[str, Link],
    root: str,
    in_order: Sequence[UrdfJoint],
    is_ground: bool,
    tied: Collection[str],
    findings: Findings,
) -> None:
    """What moves must carry something with inertia: itself or what hangs from it.

    tied: links that loops move together with others, whose inertia may do.
    """
    heavy = {name: _is_heavy(link) for name, link in links.items()}
    for joint in reversed(in_order):
        heavy[joint.parent] |= heavy[joint.child]
    for joint in (joint for joint in in_order if joint.moves):
        link = links[joint.child]
        if not heavy[link.name] and link.name not in tied:
            _massless(link, f"joint {joint.name!r} ({joint.type}) moves it", findings)
        elif not link.inertia_line:
            findings.unused("Links that move and have no <inertial> are massless", link.name)
    if not is_ground and not heavy[root]:
        _massless(links[root], "it is the free root", findings)


def _is_heavy(link: Link) -> bool:
    """Whether it has inertia, or would have if it could be read."""
    weight = link.weight
    return link.unreadable or weight.mass != 0.0 or bool(weight.inertia.any())


def _massless(link: Link, why: str, findings: Findings) -> None:
    given = "has no <inertial>" if not link.inertia_line else "has neither mass nor inertia"
    remedy = "give it a mass, or make the joint fixed"
    sentence = f"Link {link.name!r} {given}, and nothing that it carries has any, but {why}"
    findings.fault(link.inertia_line or link.line, sentence, f"{remedy}.", link.owner)
