"""Links and joints as one tree: every way in which they are not, with the line of the culprit."""

from __future__ import annotations

from collections.abc import Sequence

from skodyn.io.robots.findings import Findings
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
    _check_loops(parent_joint, links, findings)
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
                f"and {joint.parent!r} by joint {joint.name!r}; remove one of the joints.",
            )
    return carried


def _check_loops(
    parent_joint: dict[str, UrdfJoint], links: dict[str, Link], findings: Findings
) -> None:
    """Follow parents from every link; whoever comes back to his own path is in a loop."""
    settled: set[str] = set()
    for start in links:
        path: dict[str, None] = {}
        name = start
        while name in parent_joint and name not in settled and name not in path:
            path[name] = None
            name = parent_joint[name].parent
        if name in path:
            walked = list(path)
            loop = walked[walked.index(name) :][::-1]
            loop = [loop[-1], *loop]
            findings.fault(
                parent_joint[name].line,
                f"The links {arrows(loop)} form a loop; remove joint "
                f"{parent_joint[name].name!r} or another of its joints, for skodyn takes trees.",
            )
        settled.update(path)


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
    _check_mimic_loops(joints, findings)


def _check_mimic_loops(joints: dict[str, UrdfJoint], findings: Findings) -> None:
    settled: set[str] = set()
    for start in joints:
        path: dict[str, None] = {}
        name = start
        while name not in settled and name not in path:
            joint = joints.get(name)
            if joint is None or joint.mimic is None:
                break
            path[name] = None
            name = joint.mimic.source
        if name in path:
            walked = list(path)
            loop = arrows([*walked[walked.index(name) :], name])
            mimic = joints[name].mimic
            assert mimic is not None  # only those are on the path
            what = f"The joints {loop} mimic each other in a circle"
            if joints[name].mimic and mimic.source == name:
                what = f"Joint {name!r} mimics itself"
            findings.fault(mimic.line, f"{what}; let one of them move by itself.")
        settled.update(path)
