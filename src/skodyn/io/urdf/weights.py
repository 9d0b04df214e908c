"""Whether the masses and inertias of a robot can be those of bodies that move."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from skodyn.io.robots.findings import Findings
from skodyn.io.urdf.joints import UrdfJoint
from skodyn.io.urdf.links import Link
from skodyn.model.inertia_checks import check_inertias, nearest_valid

__all__ = ["check_masses", "judge_inertias"]


def judge_inertias(
    links: dict[str, Link], grounded: Collection[str], findings: Findings, *, repair: bool
) -> list[tuple[int, str]]:
    """Inertias that no body can have are faults, or repaired and told with their lines.

    Those of links that are one with the world are not used; nobody need mend them.
    """
    weighed = [link for name, link in links.items() if link.inertia_line and name not in grounded]
    if not weighed:
        return []
    tensors = np.array([link.weight.inertia for link in weighed])
    masses = np.array([link.weight.mass for link in weighed])
    found = check_inertias(tensors, lambda k: f"Link {weighed[k].name!r}", masses)
    repairs = []
    for k, fault in found.items():
        link = weighed[k]
        if not repair:
            findings.fault(link.inertia_line, fault.replace("build", "load"))
            continue
        mended = nearest_valid(link.weight.inertia)
        reason = fault.rpartition("; ")[0]
        sentence = f"{reason}; replaced {link.weight.inertia.tolist()} by {mended.tolist()}."
        repairs.append((link.inertia_line, sentence))
        link.weight = link.weight._replace(inertia=mended)
    return repairs


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
    findings.fault(link.inertia_line or link.line, f"{sentence}; {remedy}.")
