"""<joint>: its type, place, axis, limits, friction, and the joint that it mimics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skodyn.faults import Subject
from skodyn.io.robots.mimics import FileMimic
from skodyn.io.urdf.values import AttributeReader, part_of_file
from skodyn.io.xml_source import Element
from skodyn.model.joints import Fixed, Free, Joint, Planar, Prismatic, Revolute
from skodyn.model.products import norm
from skodyn.model.properties import JointLimits, JointProperties
from skodyn.typing import Floats
from skodyn.wording import Spelling

__all__ = ["UrdfJoint", "read_axis", "read_joint", "read_type"]

TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
_ONE_AXIS = ("revolute", "continuous", "prismatic")
_ELSEWHERE = {
    "safety_controller": "<safety_controller> is for a real robot and is not used",
    "calibration": "<calibration> is for a real robot and is not used",
}


@dataclass
class UrdfJoint:
    """What a <joint> says; a type, parent or child that cannot be read is empty."""

    name: str
    line: int
    type: str = "fixed"
    parent: str = ""
    child: str = ""
    rotation: Floats = field(default_factory=lambda: np.eye(3))
    translation: Floats = field(default_factory=lambda: np.zeros(3))
    axis: Floats = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    limits: JointLimits | None = None
    limit_line: int = 0
    properties: JointProperties | None = None
    mimic: FileMimic | None = None

    @property
    def owner(self) -> Subject:
        return part_of_file("Joint", self.name)

    @property
    def moves(self) -> bool:
        return self.type != "fixed"

    @property
    def has_one_axis(self) -> bool:
        return self.type in _ONE_AXIS

    def described(self) -> Joint:
        """The joint as skodyn knows it."""
        axis = tuple(self.axis.tolist())
        if self.type == "prismatic":
            return Prismatic(axis=axis, name=self.name)
        if self.has_one_axis:
            return Revolute(axis=axis, name=self.name)
        if self.type == "planar":
            x, y = _in_plane(self.axis)
            return Planar(x_axis=x, y_axis=y, name=self.name)
        return Free(name=self.name) if self.type == "floating" else Fixed(name=self.name)


def _in_plane(normal: Floats) -> tuple[list[float], list[float]]:
    """x and y with x × y along the normal; those of the joint frame if the normal is z."""
    n = normal / norm(normal)
    start = [1.0, 0.0, 0.0] if abs(n[0]) < 0.9 else [0.0, 1.0, 0.0]
    x = np.array(start) - n * n[start.index(1.0)]
    x /= norm(x)
    return x.tolist(), np.cross(n, x).tolist()


def read_joint(values: AttributeReader, element: Element, name: str) -> UrdfJoint:
    """The joint; what cannot be read is a fault, and has a default in its place."""
    owner = part_of_file("Joint", name)
    values.check(
        element, owner, attributes=("name", "type", "independent"),
        once=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", *_ELSEWHERE),
    )  # fmt: skip
    joint = UrdfJoint(name, element.line, read_type(values, element, owner, TYPES))
    joint.parent = _end(values, element, "parent", owner)
    joint.child = _end(values, element, "child", owner)
    joint.rotation, joint.translation = values.pose(element, owner)
    if "independent" in element.attributes:
        values.findings.unused("independent is not used: skodyn solves for whatever it can", name)
    for tag, sentence in _ELSEWHERE.items():
        if element.first(tag) is not None:
            values.findings.unused(sentence, name)
    if joint.moves:
        _read_motion(values, element, owner, joint)
    else:
        for tag in ("limit", "dynamics", "mimic"):
            if element.first(tag) is not None:
                sentence = f"<{tag}> of a fixed joint means nothing and is not used"
                values.findings.unused(sentence, name)
    return joint


def read_type(
    values: AttributeReader, element: Element, owner: Subject, types: Sequence[str]
) -> str:
    """One of these types; "fixed", and a fault, for any other."""
    given = values.text(element, "type", owner, f"give one of {', '.join(types)}")
    if given is not None and given not in types:
        remedy = Spelling(types).remedy(given, f"give one of {', '.join(types)}")
        values.findings.fault(
            element.line, f"{owner} has type {given!r}", remedy, owner.at("type"), given
        )
    return given if given is not None and given in types else "fixed"


def _end(values: AttributeReader, element: Element, tag: str, owner: Subject) -> str:
    found = element.first(tag)
    if found is None:
        example = f'write <{tag} link="NAME"/>'
        values.findings.fault(element.line, f"{owner} has no <{tag}>", f"{example}.", owner)
        return ""
    values.check(found, owner, attributes=("link",))
    return values.text(found, "link", owner, "name a link") or ""


def _read_motion(
    values: AttributeReader, element: Element, owner: Subject, joint: UrdfJoint
) -> None:
    if joint.type != "floating":
        axis = element.first("axis")
        direction = None if axis is None else read_axis(values, axis, owner)
        joint.axis = joint.axis if direction is None else direction
    limit = element.first("limit")
    if limit is not None:
        _read_limits(values, limit, owner, joint)
    elif joint.type in ("revolute", "prismatic"):
        remedy = "add <limit lower=… upper=… effort=… velocity=…/>"
        if joint.type == "revolute":
            remedy += ", or make it continuous"
        problem = f"{owner} is {joint.type} but has no <limit>"
        values.findings.fault(element.line, problem, f"{remedy}.", owner)
    if (dynamics := element.first("dynamics")) is not None:
        values.check(dynamics, owner, attributes=("damping", "friction"))
        damping = values.number(dynamics, "damping", owner, 0.0, least=0.0)
        friction = values.number(dynamics, "friction", owner, 0.0, least=0.0)
        if damping or friction:
            joint.properties = JointProperties(damping=damping or 0.0, friction=friction or 0.0)
    if (mimic := element.first("mimic")) is not None:
        _read_mimic(values, mimic, owner, joint)


def read_axis(values: AttributeReader, found: Element, owner: Subject) -> Floats | None:
    """The direction of an <axis>; None, with a fault, if it has none."""
    values.check(found, owner, attributes=("xyz",))
    axis = values.vector(found, "xyz", owner, None)
    if axis is None:
        return None
    length = norm(axis)
    if length < 1e-12:
        given = found.attributes["xyz"]
        problem = f"{owner}: <axis> has xyz {given!r}, which has no length"
        remedy, whose = 'give a direction such as "0 0 1".', owner.at("axis", "xyz")
        values.findings.fault(found.line, problem, remedy, whose, given)
        return None
    direction: Floats = axis / length
    return direction


def _read_limits(values: AttributeReader, limit: Element, owner: Subject, joint: UrdfJoint) -> None:
    values.check(limit, owner, attributes=("lower", "upper", "effort", "velocity"))
    if not joint.has_one_axis:
        sentence = f"<limit> of a {joint.type} joint is not used"
        values.findings.unused(sentence, joint.name)
        return
    effort = values.number(limit, "effort", owner, least=0.0, infinite=True)
    velocity = values.number(limit, "velocity", owner, least=0.0, infinite=True)
    lower, upper = -math.inf, math.inf
    if joint.type == "continuous":
        if {"lower", "upper"} & set(limit.attributes):
            sentence = "lower and upper of a continuous joint mean nothing and are not used"
            values.findings.unused(sentence, joint.name)
    else:
        unless_given = None if values.version == "1.2" else 0.0
        low = values.number(limit, "lower", owner, unless_given, infinite=True)
        high = values.number(limit, "upper", owner, unless_given, infinite=True)
        if low is None or high is None:
            return
        if low > high:
            problem = f"{owner}: its lower limit {low:g} is above its upper limit {high:g}"
            remedy, whose = "exchange or correct them.", owner.at("limit", "lower")
            values.findings.fault(limit.line, problem, remedy, whose, low)
        lower, upper = low, high
    if effort is not None and velocity is not None:
        joint.limits = JointLimits(lower, upper, velocity, effort)
        joint.limit_line = limit.line


def _read_mimic(
    values: AttributeReader, element: Element, owner: Subject, joint: UrdfJoint
) -> None:
    values.check(element, owner, attributes=("joint", "multiplier", "offset"))
    source = values.text(element, "joint", owner, "name the joint that it follows")
    multiplier = values.number(element, "multiplier", owner, 1.0)
    offset = values.number(element, "offset", owner, 0.0)
    if source is not None and multiplier is not None and offset is not None:
        joint.mimic = FileMimic(joint.name, source, multiplier, offset, element.line)
