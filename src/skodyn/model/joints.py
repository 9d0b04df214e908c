"""The joint catalogue. Adding a joint type means adding one class, here or outside of the package.

A joint is a short description; what kernels need of it is a *kind* and, for every degree of
freedom, a constant *twist* [u; t]. Joints whose motion is a product of screw motions

    pose(q) = exp(twist₁ q₁) · exp(twist₂ q₂) · …

(rotation about u and translation along t, with u ∥ t or one of them zero) need nothing else:
their relative pose, the columns of H* and the velocity-dependent part of the Coriolis term all
follow from the twists. A single screw is packed as REVOLUTE, PRISMATIC or HELICAL for speed,
several as SERIES. Only the two joints with quaternions, spherical and free, have manifolds of
their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.keywords import fields_checked
from skodyn.registry import Registry, register

__all__ = [
    "CATALOGUE",
    "CLOSING",
    "Cylindrical",
    "Fixed",
    "Free",
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

Vector = Sequence[float]
Twists = tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...]
_SCREWS = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.HELICAL, JointKind.SERIES)
_ZERO = (0.0, 0.0, 0.0)
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Joint:
    """What is common to all joints. `name` defaults to the name of the body the joint carries.

    `armature` is the inertia of a rotor that moves with the joint's own coordinate and with nothing
    else, as seen from the joint: a motor's inertia times the square of its gear ratio. Every degree
    of freedom of the joint has it (kg·m² where it turns, kg where it slides). It takes torque
    armature·v̇ and holds energy armature·v²/2, but has no weight and no part in the system's
    momentum.
    """

    armature: float = field(default=0.0, kw_only=True)

    type_name: ClassVar[str]
    kind: ClassVar[JointKind]
    nq: ClassVar[int]
    nv: ClassVar[int]

    q_form: ClassVar[str] = ""  # what its coordinates are, if not one number for each twist
    v_form: ClassVar[str] = ""
    is_ball: ClassVar[bool] = False  # drawn as a ball

    def __init_subclass__(cls) -> None:
        if getattr(cls, "nv", 0) and not hasattr(cls, "kind"):
            cls.kind = JointKind.SERIES

    def twists(self) -> Twists:
        """One (u, t) for each degree of freedom, unit directions; empty for quaternion joints."""
        return ()

    @property
    def q_parts(self) -> tuple[str, ...]:
        """What its coordinates are called: an angle or a length for each screw, numbered where
        there are several."""
        words = ["angle" if any(turn) else "length" for turn, _ in self.twists()]
        return tuple(
            f"{word}{words[: i + 1].count(word)}" if words.count(word) > 1 else word
            for i, word in enumerate(words)
        )

    @property
    def v_parts(self) -> tuple[str, ...]:
        """What its velocities are called."""
        return self.q_parts

    @property
    def q_units(self) -> tuple[str, ...]:
        """rad or m for each coordinate; "" for a quaternion's, which have none."""
        return self.v_units

    @property
    def v_units(self) -> tuple[str, ...]:
        """rad or m for each degree of freedom: the unit whose rate its velocity is."""
        return tuple("rad" if any(turn) else "m" for turn, _ in self.twists())

    def faults(self) -> list[Fault]:
        """What is wrong with this description; problems and paths begin with the parameter."""
        found = [fault for label, value in self._axes() for fault in _axis_faults(label, value)]
        return found + self._armature_faults()

    def _armature_faults(self) -> list[Fault]:
        found = _number_faults("armature", self.armature)
        if not found and self.armature < 0.0:
            what, remedy = "is negative", "give an inertia of zero or more."
            found = [_of_parameter("armature", f" {self.armature:g} {what}", remedy, self.armature)]
        if not found and self.armature > 0.0 and self.nv == 0:
            what, remedy = "is on a joint that does not move", "take it away."
            found = [_of_parameter("armature", f" {self.armature:g} {what}", remedy, self.armature)]
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        """The directions a person gave, with the label to use in a message."""
        return []

    @property
    def joint_name(self) -> str | None:
        """The name that was given to the joint, or None."""
        return getattr(self, "name", None)


def _of_parameter(key: str, what: str, remedy: str, value: Any) -> Fault:
    return Fault(f"{key}{what}", remedy, (key,), value)


def _axis_faults(label: str, value: Vector) -> list[Fault]:
    what, remedy = "", "give a direction such as (0, 0, 1)."
    try:
        numbers = tuple(float(x) for x in value)
    except (TypeError, ValueError):
        what = f" is {value!r}, which is not three numbers"
        return [_of_parameter(label, what, "write for example (0, 0, 1).", value)]
    if len(numbers) != 3:
        what = f" {value!r} has {len(numbers)} numbers"
        remedy = "give three, for example (0, 0, 1)."
    elif not all(math.isfinite(x) for x in numbers):
        what = f" {numbers} is not finite"
    elif math.hypot(*numbers) < 1e-12:
        what = f" {numbers} has zero length"
    return [_of_parameter(label, what, remedy, value)] if what else []


def _unit(axis: Vector) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in axis)
    length = math.hypot(x, y, z)
    return (x / length, y / length, z / length)


def _number_faults(label: str, value: float) -> list[Fault]:
    try:
        fine = math.isfinite(float(value))
    except (TypeError, ValueError):
        fine = False
    what = f" is {value!r}, which is not a finite number"
    return [] if fine else [_of_parameter(label, what, "give one.", value)]


def _misfits(kind: type[Joint]) -> list[str]:
    """Why a class of others can be no joint, as ends of sentences."""
    if not all(f.default is not MISSING for f in fields(kind)):
        return ["has parameters without a default; give each one"]
    if not isinstance(getattr(kind, "type_name", None), str) or not kind.type_name:
        return ["has no type_name; give a word for model files"]
    if not all(hasattr(kind, name) for name in ("nq", "nv")):
        return ["says not how many coordinates it has; give nq = nv = …"]
    if getattr(kind, "kind", None) not in _SCREWS:
        return ["is no product of screws; write twists(), and leave kind out"]
    try:
        found, wrong = len(kind().twists()), kind().faults()
    except Exception as error:
        return [f"cannot be made without parameters ({type(error).__name__}: {error}); correct it"]
    if not found == kind.nq == kind.nv or found == 0:
        return [f"has {found} twists, nq {kind.nq} and nv {kind.nv}; make them the same"]
    return [f"has a fault as it is without parameters: {wrong[0]}"] if wrong else []


CATALOGUE: Registry[type[Joint]] = Registry(
    "a joint",
    lambda thing: isinstance(thing, type) and issubclass(thing, Joint) and thing is not Joint,
    lambda joint: joint.type_name,
    check=_misfits,
)
"""Every joint type by the name that model files use."""


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

    def twists(self) -> Twists:
        return ((_unit(self.axis), _ZERO),)

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

    def twists(self) -> Twists:
        return ((_ZERO, _unit(self.axis)),)

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

    def twists(self) -> Twists:
        u, h = _unit(self.axis), float(self.pitch)
        return ((u, (h * u[0], h * u[1], h * u[2])),)

    def faults(self) -> list[Fault]:
        return super().faults() + _number_faults("pitch", self.pitch)

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
        u = _unit(self.axis)
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

    def twists(self) -> Twists:
        return ((_unit(self.axis1), _ZERO), (_unit(self.axis2), _ZERO))

    def faults(self) -> list[Fault]:
        found = super().faults()
        if not found and np.linalg.norm(np.cross(_unit(self.axis1), _unit(self.axis2))) < 1e-9:
            what = f" {self.axis1} and axis2 {self.axis2} are parallel"
            remedy = "turn one of them, or use a revolute joint."
            found.append(_of_parameter("axis1", what, remedy, self.axis1))
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        return [("axis1", self.axis1), ("axis2", self.axis2)]


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
    q_parts = ("x", "y", "angle")

    def twists(self) -> Twists:
        x, y = np.array(_unit(self.x_axis)), np.array(_unit(self.y_axis))
        n = np.cross(x, y)
        return ((_ZERO, tuple(x)), (_ZERO, tuple(y)), (tuple(n), _ZERO))

    def faults(self) -> list[Fault]:
        found = super().faults()
        if not found and abs(np.dot(_unit(self.x_axis), _unit(self.y_axis))) > 1e-9:
            what = f" {self.x_axis} and y_axis {self.y_axis} are not perpendicular"
            remedy = "give two perpendicular directions in the plane."
            found.append(_of_parameter("x_axis", what, remedy, self.x_axis))
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
    q_form = "a unit quaternion (w, x, y, z)"
    v_form = "three numbers: an angular velocity"
    is_ball = True
    q_parts, q_units = ("w", "x", "y", "z"), ("",) * 4
    v_parts, v_units = ("wx", "wy", "wz"), ("rad",) * 3


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
    q_form = "seven numbers: a unit quaternion (w, x, y, z), then a position"
    v_form = "six numbers: an angular velocity, then a velocity"
    q_parts, q_units = ("w", "x", "y", "z", "px", "py", "pz"), (*("",) * 4, *("m",) * 3)
    v_parts, v_units = ("wx", "wy", "wz", "vx", "vy", "vz"), (*("rad",) * 3, *("m",) * 3)


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
        found = super().faults() + _number_faults("length", self.length)
        if not found and not self.length > 0.0:
            remedy = "give a length greater than zero, in metres."
            found = [_of_parameter("length", f" is {self.length:g}", remedy, self.length)]
        return found


CLOSING: dict[str, type[Joint]] = {
    **{name: joint for name, joint in CATALOGUE.built_in.items() if joint is not Free},
    Rod.type_name: Rod,
}
"""Every joint type that can close a loop."""
