"""What closes loops in URDF: <loop> and <coupling> of URDF+, and Drake's ball constraint.

URDF+ (M. Chignoli, J.-J. Slotine, P. M. Wensing, S. Kim, arXiv 2411.19753) leaves links and joints
a tree and adds

    <loop name= type=>     joins frames of two links, <predecessor> and <successor>, by a joint
    <coupling name=>       ratio · (angle of the predecessor) = angle of the successor

where an angle is the sum of the joint coordinates from the closest link that carries both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from skodyn.faults import Subject
from skodyn.io.robots.names import unique
from skodyn.io.urdf.joints import read_axis, read_type
from skodyn.io.urdf.values import AttributeReader, part_of_file
from skodyn.io.xml_source import Element
from skodyn.typing import Floats

__all__ = ["BALL", "Tie", "UrdfCoupling", "UrdfLoop", "named_balls", "read_coupling", "read_loop"]

BALL = "drake:ball_constraint"
TYPES = ("revolute", "continuous", "prismatic", "planar", "fixed")
_NO_COORDINATE = ("limit", "dynamics", "mimic")


@dataclass
class End:
    """A frame in a link; a link that cannot be read is empty."""

    link: str = ""
    rotation: Floats = field(default_factory=lambda: np.eye(3))
    translation: Floats = field(default_factory=lambda: np.zeros(3))


@dataclass
class UrdfLoop:
    """What a <loop> says, or a ball constraint (type "spherical")."""

    name: str
    line: int
    type: str = "fixed"
    predecessor: End = field(default_factory=End)
    successor: End = field(default_factory=End)
    axis: Floats = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))

    @property
    def owner(self) -> Subject:
        return part_of_file("Loop", self.name)


@dataclass
class UrdfCoupling:
    """What a <coupling> says."""

    name: str
    line: int
    predecessor: End = field(default_factory=End)
    successor: End = field(default_factory=End)
    ratio: float = 1.0

    @property
    def owner(self) -> Subject:
        return part_of_file("Coupling", self.name)


Tie = UrdfLoop | UrdfCoupling


def read_loop(values: AttributeReader, element: Element, name: str) -> UrdfLoop:
    """The loop; what cannot be read is a fault, and has a default in its place."""
    owner = part_of_file("Loop", name)
    once = ("predecessor", "successor", "axis", *_NO_COORDINATE)
    values.check(element, owner, attributes=("name", "type"), once=once)
    for tag in _NO_COORDINATE:
        if (found := element.first(tag)) is not None:
            what = f"{owner} has <{tag}>, but a joint that closes a loop has no coordinate"
            values.findings.fault(found.line, what, "cut the loop at another joint.", owner.at(tag))
    loop = UrdfLoop(name, element.line, read_type(values, element, owner, TYPES))
    loop.predecessor = _end(values, element, "predecessor", owner, placed=True)
    loop.successor = _end(values, element, "successor", owner, placed=True)
    axis = element.first("axis")
    if axis is not None and loop.type == "fixed":
        values.findings.unused("<axis> of a fixed loop means nothing and is not used", name)
    elif axis is not None and (direction := read_axis(values, axis, owner)) is not None:
        loop.axis = direction
    return loop


def _end(
    values: AttributeReader, element: Element, tag: str, owner: Subject, *, placed: bool
) -> End:
    found = element.first(tag)
    if found is None:
        example = f'write <{tag} link="NAME"/>'
        values.findings.fault(element.line, f"{owner} has no <{tag}>", f"{example}.", owner)
        return End()
    values.check(found, owner, attributes=("link",), once=("origin",) if placed else ())
    link = values.text(found, "link", owner, "name a link") or ""
    return End(link, *values.pose(found, owner)) if placed else End(link)


def read_coupling(values: AttributeReader, element: Element, name: str) -> UrdfCoupling:
    """The coupling; likewise."""
    owner = part_of_file("Coupling", name)
    once = ("predecessor", "successor", "ratio")
    values.check(element, owner, attributes=("name",), once=once)
    coupling = UrdfCoupling(name, element.line)
    coupling.predecessor = _end(values, element, "predecessor", owner, placed=False)
    coupling.successor = _end(values, element, "successor", owner, placed=False)
    if (ratio := element.first("ratio")) is not None:
        values.check(ratio, owner, attributes=("value",))
        value = values.number(ratio, "value", owner)
        if value == 0.0:
            what = f"{owner}: <ratio> has value 0, so that the successor never moves"
            values.findings.fault(
                ratio.line, what, "give another number.", owner.at("ratio"), value
            )
        coupling.ratio = value or 1.0
    return coupling


def named_balls(
    values: AttributeReader, elements: Iterable[Element], taken: Iterable[str]
) -> dict[str, UrdfLoop]:
    """Drake's ball constraints, which have no names of their own."""
    names = set(taken)
    found = (_read_ball(values, one, unique("ball_constraint", names)) for one in elements)
    return {loop.name: loop for loop in found}


def _read_ball(values: AttributeReader, element: Element, name: str) -> UrdfLoop:
    owner = part_of_file("Loop", name)
    tags = [f"{BALL}_{key}" for key in ("body_A", "p_AP", "body_B", "p_BQ")]
    values.check(element, owner, once=tags)
    loop = UrdfLoop(name, element.line, "spherical")
    for end, link_tag, point_tag in (
        (loop.predecessor, tags[0], tags[1]),
        (loop.successor, tags[2], tags[3]),
    ):
        if link := _part(values, element, link_tag, owner, "name"):
            end.link = values.text(link, "name", owner, "name a link") or ""
        if point := _part(values, element, point_tag, owner, "value"):
            place = values.vector(point, "value", owner, None)
            end.translation = end.translation if place is None else place
    return loop


def _part(
    values: AttributeReader, element: Element, tag: str, owner: Subject, key: str
) -> Element | None:
    found = element.first(tag)
    if found is None:
        remedy = f"write <{tag} {key}=…/>."
        values.findings.fault(element.line, f"{owner} has no <{tag}>", remedy, owner)
    else:
        values.check(found, owner, attributes=(key,))
    return found
