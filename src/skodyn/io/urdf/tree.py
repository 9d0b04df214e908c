"""Links and joints as one tree: every way in which they are not, with the line of the culprit."""

from __future__ import annotations

from collections.abc import Sequence

from skodyn.io.robots.findings import Findings
from skodyn.io.robots.mimics import circles
from skodyn.io.urdf.joints import UrdfJoint
from skodyn.io.urdf.links import Link
from skodyn.topology.wording import Spelling, arrows, listed

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
        findings.fault(links[roots[1]].line, f"{what}; {remedy}.")
    if not links:
        findings.fault(0, "The robot has no link; give it at least one.")
    return roots[0] if roots and complete and len(findings.faults) == before else None


def _check_ends(links: dict[str, Link], joints: Sequence[UrdfJoint], findings: Findings) -> bool:
    """Whether each joint names two links; a missing name is a fault already."""
    spelling = Spelling(links)
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in links:
                remedy = spelling.remedy(name, "add that link, or name another")
                sentence = f"Joint {joint.name!r}: its {role} {name!r} is no link; {remedy}"
                findings.fault(joint.line, sentence)
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
                f"and {joint.parent!r} by joint {joint.name!r}; remove one, or write it as a "
                "<loop>.",
            )
    return carried


def _check_loops(parent_joint: dict[str, UrdfJoint], findings: Findings) -> None:
    """A link that is carried by itself, through whichever others, is in a loop."""
    for loop in circles({link: joint.parent for link, joint in parent_joint.items()}):
        joint = parent_joint[loop[0]]
        findings.fault(
            joint.line,
            f"The links {arrows([loop[0], *reversed(loop)])} form a loop; remove joint "
            f"{joint.name!r} or another of its joints, or write it as a <loop>.",
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
    """A mimic follows a joint with one axis, has one itself, and never leads back to itself."""
    spelling = Spelling(joints)
    for joint in joints.values():
        if joint.mimic is None:
            continue
        owner, source = f"Joint {joint.name!r}", joints.get(joint.mimic.source)
        if source is None:
            remedy = spelling.remedy(joint.mimic.source, "name a joint of this robot")
            sentence = f"{owner} mimics {joint.mimic.source!r}, which is no joint; {remedy}"
            findings.fault(joint.mimic.line, sentence)
        elif not (source.has_one_axis and joint.has_one_axis):
            culprit = joint if source.has_one_axis else source
            what = f"{owner} mimics {source.name!r}, but {culprit.name!r} is {culprit.type}"
            remedy = "both must be revolute, continuous or prismatic"
            findings.fault(joint.mimic.line, f"{what}; {remedy}.")
    mimics = {joint.name: joint.mimic for joint in joints.values() if joint.mimic is not None}
    for circle in circles({name: mimic.source for name, mimic in mimics.items()}):
        what = f"The joints {arrows([*circle, circle[0]])} mimic each other in a circle"
        if len(circle) == 1:
            what = f"Joint {circle[0]!r} mimics itself"
        findings.fault(mimics[circle[0]].line, f"{what}; let one of them move by itself.")
