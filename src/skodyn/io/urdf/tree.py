"""Links and joints as one tree: every way in which they are not, with the line where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skodyn.faults import Fault
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.mimics import circles
from skodyn.io.urdf.joints import UrdfJoint
from skodyn.io.urdf.links import Link
from skodyn.model.builder_entries import MimicDescription
from skodyn.model.mimic_checks import check_mimics as judge_mimics
from skodyn.wording import Spelling, arrows, listed

__all__ = ["check_mimics", "check_tree", "joints_from_root"]


def check_tree(
    links: dict[str, Link], joints: Sequence[UrdfJoint], findings: Findings
) -> str | None:
    """The root link, if links and joints are one tree; otherwise None, with faults."""
    before = len(findings.faults)
    complete = _check_ends(links, joints, findings)
    parent_joint = _check_parents(joints, findings)
    _check_loops(parent_joint, findings)
    roots = [name for name in links if name not in parent_joint]
    if len(roots) > 1:
        what = f"{len(roots)} links have no parent: {listed(roots)}"
        remedy = "a robot is one tree, so join all but one of them to it"
        findings.fault(links[roots[1]].line, what, f"{remedy}.", links[roots[1]].owner)
    if not links:
        findings.fault(0, "The robot has no link", "give it at least one.")
    return roots[0] if roots and complete and len(findings.faults) == before else None


def _check_ends(links: dict[str, Link], joints: Sequence[UrdfJoint], findings: Findings) -> bool:
    """Whether each joint names two links; a missing name is a fault already."""
    spelling = Spelling(links)
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in links:
                remedy = spelling.remedy(name, "add that link, or name another")
                problem = f"{joint.owner}: its {role} {name!r} is not a link"
                findings.fault(joint.line, problem, remedy, joint.owner.at(role), name)
    return all(joint.parent and joint.child for joint in joints)


def _check_parents(joints: Sequence[UrdfJoint], findings: Findings) -> dict[str, UrdfJoint]:
    """The joint that carries each link; the first one, if there are several."""
    carried: dict[str, UrdfJoint] = {}
    for joint in joints:
        if not joint.child:
            continue
        first = carried.setdefault(joint.child, joint)
        if first is not joint:
            findings.fault(
                joint.line,
                f"Link {joint.child!r} has two parents: {first.parent!r} by joint {first.name!r} "
                f"and {joint.parent!r} by joint {joint.name!r}",
                "remove one, or write it as a <loop>.",
                joint.owner,
            )
    return carried


def _check_loops(parent_joint: dict[str, UrdfJoint], findings: Findings) -> None:
    """A link that is carried by itself, through whichever others, is in a loop."""
    for loop in circles({link: joint.parent for link, joint in parent_joint.items()}):
        joint = parent_joint[loop[0]]
        findings.fault(
            joint.line,
            f"The links {arrows([loop[0], *reversed(loop)])} form a loop",
            f"remove joint {joint.name!r} or another of its joints, or write it as a <loop>.",
            joint.owner,
        )


def joints_from_root(root: str, joints: Sequence[UrdfJoint]) -> list[UrdfJoint]:
    """All joints, each after the one that carries its parent."""
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    found: list[UrdfJoint] = []
    waiting = [root]
    while waiting:
        next_joints = below.get(waiting.pop(), [])
        found += next_joints
        waiting += [joint.child for joint in reversed(next_joints)]
    return found


def check_mimics(joints: dict[str, UrdfJoint], findings: Findings) -> None:
    """The rules of every model, told with the line of the <mimic>."""
    mimics = {name: joint.mimic for name, joint in joints.items() if joint.mimic is not None}
    given = [MimicDescription(m.joint, m.source, m.multiplier, m.offset) for m in mimics.values()]
    found: list[Fault] = []
    judge_mimics(given, {name: joint.described() for name, joint in joints.items()}, {}, found)
    for fault in found:
        path = joints[fault.joint].owner.at("mimic").path
        findings.faults.append(replace(fault, path=path, line=mimics[fault.joint].line))
