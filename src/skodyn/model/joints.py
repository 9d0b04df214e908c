"""The joint catalogue. Adding a joint type means adding one class, here or outside of the package:
joint_entry.py says of what it consists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.columns import Floats
from skodyn.model.joint_entry import (
    CATALOGUE,
    Joint,
    Peers,
    Twists,
    Vector,
    number_faults,
    of_parameter,
    unit,
)
from skodyn.model.keywords import fields_checked
from skodyn.model.peer_rules import (
    CosineSineRule,
    OffsetRule,
    PositionFirstRule,
    SameRule,
    ScalarLastRule,
    TurnedPlaneRule,
    WorldVelocityRule,
)
from skodyn.registry import register

__all__ = [
    "CATALOGUE",
    "CLOSING",
    "Cylindrical",
    "Fixed",
    "Free",
    "Gimbal",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Rod",
    "Spherical",
    "Translation",
    "Universal",
]

_ZERO = (0.0, 0.0, 0.0)
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def _tilde(x: Floats) -> Floats:
    """The matrix of y ↦ x × y."""
    matrix = np.zeros((*x.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., k, j], matrix[..., j, k] = x[..., i], -x[..., i]
    return matrix


def _alike(aligned: str, unaligned: str, rule: SameRule | None = None) -> dict[str, SameRule]:
    """A rule for Pinocchio's joints about x, y, z and about any axis."""
    names = (*(f"{aligned}{axis}" for axis in "XYZ"), unaligned)
    return dict.fromkeys(names, rule or SameRule())


@register
@fields_checked
@dataclass(frozen=True)
class Fixed(Joint):
    """A fixed joint: no relative motion, no degree of freedom.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Fixed().nv
    0
    """

    name: str | None = None
    type_name = "fixed"
    kind = JointKind.FIXED
    nq = nv = 0


@register
@fields_checked
@dataclass(frozen=True)
class Revolute(Joint):
    """A revolute joint (hinge): turns about an axis; one degree of freedom.

    q is the angle in rad, v its rate.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction in the joint's frame; of any length above zero.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Revolute(axis=(0, 1, 0), name="elbow").nv
    1
    """

    axis: Vector = _Z
    name: str | None = None
    type_name = "revolute"
    kind = JointKind.REVOLUTE
    nq = nv = 1
    peers: ClassVar[Peers] = {
        "pinocchio": {
            **_alike("JointModelR", "JointModelRevoluteUnaligned"),
            **_alike("JointModelRUB", "JointModelRevoluteUnboundedUnaligned", CosineSineRule()),
        },
        "mujoco": {"hinge": OffsetRule()},
    }

    def twists(self) -> Twists:
        return ((unit(self.axis), _ZERO),)

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]


@register
@fields_checked
@dataclass(frozen=True)
class Prismatic(Joint):
    """A prismatic joint (slider): slides along an axis; one degree of freedom.

    q is the length in m, v its rate.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction in the joint's frame; of any length above zero.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Prismatic(axis=(1, 0, 0)).nv
    1
    """

    axis: Vector = _Z
    name: str | None = None
    type_name = "prismatic"
    kind = JointKind.PRISMATIC
    nq = nv = 1
    peers: ClassVar[Peers] = {
        "pinocchio": _alike("JointModelP", "JointModelPrismaticUnaligned"),
        "mujoco": {"slide": OffsetRule()},
    }

    def twists(self) -> Twists:
        return ((_ZERO, unit(self.axis)),)

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]


@register
@fields_checked
@dataclass(frozen=True)
class Helical(Joint):
    """A helical joint (screw): turns about an axis and slides along it in proportion.

    q is the angle in rad, v its rate.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction in the joint's frame; of any length above zero.
    pitch : float
        Metres along the axis for each radian.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Helical(axis=(0, 0, 1), pitch=0.01).nv
    1
    """

    axis: Vector = _Z
    pitch: float = 0.0
    name: str | None = None
    type_name = "helical"
    kind = JointKind.HELICAL
    nq = nv = 1
    peers: ClassVar[Peers] = {"pinocchio": _alike("JointModelH", "JointModelHelicalUnaligned")}

    def twists(self) -> Twists:
        u, h = unit(self.axis), float(self.pitch)
        return ((u, (h * u[0], h * u[1], h * u[2])),)

    def faults(self) -> list[Fault]:
        return super().faults() + number_faults("pitch", self.pitch)

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]


@register
@fields_checked
@dataclass(frozen=True)
class Cylindrical(Joint):
    """A cylindrical joint: turns about an axis and slides along it; two degrees of freedom.

    q is the angle in rad, then the length in m.

    Parameters
    ----------
    axis : sequence of 3 floats
        Direction in the joint's frame; of any length above zero.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Cylindrical(axis=(0, 0, 1)).nv
    2
    """

    axis: Vector = _Z
    name: str | None = None
    type_name = "cylindrical"
    kind = JointKind.SERIES
    nq = nv = 2

    def twists(self) -> Twists:
        u = unit(self.axis)
        return ((u, _ZERO), (_ZERO, u))

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis", self.axis)]


@register
@fields_checked
@dataclass(frozen=True)
class Universal(Joint):
    """A universal joint: turns about two axes, one after the other.

    q has both angles in rad.

    Parameters
    ----------
    axis1 : sequence of 3 floats
        The first axis, fixed in the parent.
    axis2 : sequence of 3 floats
        The second, fixed in the child.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Universal(axis1=(1, 0, 0), axis2=(0, 1, 0)).nv
    2
    """

    axis1: Vector = _X
    axis2: Vector = _Y
    name: str | None = None
    type_name = "universal"
    kind = JointKind.SERIES
    nq = nv = 2
    peers: ClassVar[Peers] = {"pinocchio": {"JointModelUniversal": SameRule()}}

    def twists(self) -> Twists:
        return ((unit(self.axis1), _ZERO), (unit(self.axis2), _ZERO))

    def faults(self) -> list[Fault]:
        found = super().faults()
        if not found and np.linalg.norm(np.cross(unit(self.axis1), unit(self.axis2))) < 1e-9:
            what = f" {self.axis1} and axis2 {self.axis2} are parallel"
            remedy = "turn one of them, or use a revolute joint."
            found.append(of_parameter("axis1", what, remedy, self.axis1))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis1", self.axis1), ("axis2", self.axis2)]


@register
@fields_checked
@dataclass(frozen=True)
class Gimbal(Joint):
    """A gimbal: turns about three axes, one after the other; three degrees of freedom.

    q has the three angles in rad. The elastic joints between segments of a beam are such joints;
    where the second angle is a right angle the first and the third axis coincide, and dynamics has
    no solution, so use a spherical joint for what tumbles.

    Parameters
    ----------
    axis1 : sequence of 3 floats
        The first axis, fixed in the parent.
    axis2 : sequence of 3 floats
        The second.
    axis3 : sequence of 3 floats
        The third, fixed in the child.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Gimbal().nv
    3
    """

    axis1: Vector = _X
    axis2: Vector = _Y
    axis3: Vector = _Z
    name: str | None = None
    type_name = "gimbal"
    kind = JointKind.SERIES
    nq = nv = 3

    def twists(self) -> Twists:
        return tuple((unit(axis), _ZERO) for axis in (self.axis1, self.axis2, self.axis3))

    def faults(self) -> list[Fault]:
        found = super().faults()
        axes = [unit(axis) for axis in (self.axis1, self.axis2, self.axis3)] if not found else []
        if axes and abs(np.linalg.det(np.array(axes))) < 1e-9:
            what = f" {self.axis1}, axis2 {self.axis2} and axis3 {self.axis3} lie in a plane"
            remedy = "turn one of them, or use a universal joint."
            found.append(of_parameter("axis1", what, remedy, self.axis1))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis1", self.axis1), ("axis2", self.axis2), ("axis3", self.axis3)]


@register
@fields_checked
@dataclass(frozen=True)
class Planar(Joint):
    """A planar joint: moves in a plane and turns in it; three degrees of freedom.

    q has both lengths in m, then the angle in rad.

    Parameters
    ----------
    x_axis : sequence of 3 floats
        First direction of the plane.
    y_axis : sequence of 3 floats
        Second direction, at a right angle to the first.
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Planar().nv
    3
    """

    x_axis: Vector = _X
    y_axis: Vector = _Y
    name: str | None = None
    type_name = "planar"
    kind = JointKind.SERIES
    nq = nv = 3
    peers: ClassVar[Peers] = {"pinocchio": {"JointModelPlanar": TurnedPlaneRule()}}
    q_parts = ("x", "y", "angle")

    def twists(self) -> Twists:
        x, y = np.array(unit(self.x_axis)), np.array(unit(self.y_axis))
        n = np.cross(x, y)
        return ((_ZERO, tuple(x)), (_ZERO, tuple(y)), (tuple(n), _ZERO))

    def faults(self) -> list[Fault]:
        found = super().faults()
        if not found and abs(np.dot(unit(self.x_axis), unit(self.y_axis))) > 1e-9:
            what = f" {self.x_axis} and y_axis {self.y_axis} are not perpendicular"
            remedy = "give two perpendicular directions in the plane."
            found.append(of_parameter("x_axis", what, remedy, self.x_axis))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("x_axis", self.x_axis), ("y_axis", self.y_axis)]


@register
@fields_checked
@dataclass(frozen=True)
class Translation(Joint):
    """Three translations along the axes of the parent; three degrees of freedom.

    q is x, y, z in m.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Translation().nv
    3
    """

    name: str | None = None
    type_name = "translation"
    kind = JointKind.SERIES
    nq = nv = 3
    peers: ClassVar[Peers] = {"pinocchio": {"JointModelTranslation": SameRule()}}
    q_parts = ("x", "y", "z")

    def twists(self) -> Twists:
        return ((_ZERO, _X), (_ZERO, _Y), (_ZERO, _Z))


@register
@fields_checked
@dataclass(frozen=True)
class Spherical(Joint):
    """A spherical joint (ball): turns about any axis; three degrees of freedom.

    q is a quaternion (w, x, y, z) of unit length, v the angular velocity in the child's axes.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Spherical().nq, sk.Spherical().nv
    (4, 3)
    """

    name: str | None = None
    type_name = "spherical"
    kind = JointKind.SPHERICAL
    nq, nv = 4, 3
    peers: ClassVar[Peers] = {
        "pinocchio": {"JointModelSpherical": ScalarLastRule()},
        "mujoco": {"ball": SameRule()},
    }
    q_form = "a unit quaternion (w, x, y, z)"
    v_form = "three numbers: an angular velocity"
    is_ball = True
    q_parts, q_units = ("w", "x", "y", "z"), ("",) * 4
    v_parts, v_units = ("wx", "wy", "wz"), ("rad",) * 3

    def bracket(self, v: Floats) -> Floats:
        return _tilde(v)


@register
@fields_checked
@dataclass(frozen=True)
class Free(Joint):
    """A free joint (floating base): six degrees of freedom.

    q is a quaternion (w, x, y, z) and the position in m; v is [ω; velocity of the origin] in the
    child's axes, rad/s and m/s.

    Parameters
    ----------
    name : str, optional
        Name of the joint; by default that of the body it carries.
    armature : float
        Inertia of a rotor that moves with the joint's own coordinate only, as seen at the joint:
        kg m² where it turns, kg where it slides.

    Examples
    --------
    >>> sk.Free().nq, sk.Free().nv
    (7, 6)
    """

    name: str | None = None
    type_name = "free"
    kind = JointKind.FREE
    nq, nv = 7, 6
    peers: ClassVar[Peers] = {
        "pinocchio": {"JointModelFreeFlyer": PositionFirstRule()},
        "mujoco": {"free": WorldVelocityRule()},
    }
    q_form = "seven numbers: a unit quaternion (w, x, y, z), then a position"
    v_form = "six numbers: an angular velocity, then a velocity"
    q_parts, q_units = ("w", "x", "y", "z", "px", "py", "pz"), (*("",) * 4, *("m",) * 3)
    v_parts, v_units = ("wx", "wy", "wz", "vx", "vy", "vz"), (*("rad",) * 3, *("m",) * 3)

    def bracket(self, v: Floats) -> Floats:
        matrix, turn = np.zeros((*v.shape, 6)), _tilde(v[..., :3])
        matrix[..., :3, :3] = matrix[..., 3:, 3:] = turn
        matrix[..., 3:, :3] = _tilde(v[..., 3:])
        return matrix


@fields_checked
@dataclass(frozen=True)
class Rod(Joint):
    """A massless rod from one frame's origin to the other's. It closes loops and carries no body:
    it has no kind.
    """

    length: float = 0.0
    type_name = "rod"
    nq = nv = 0

    def faults(self) -> list[Fault]:
        found = super().faults() + number_faults("length", self.length)
        if not found and not self.length > 0.0:
            remedy = "give a length greater than zero, in metres."
            found = [of_parameter("length", f" is {self.length:g}", remedy, self.length)]
        return found


CLOSING: dict[str, type[Joint]] = {
    **{name: joint for name, joint in CATALOGUE.built_in.items() if joint not in (Free, Gimbal)},
    Rod.type_name: Rod,
}
"""Every joint type that can close a loop."""
