"""What the package must know of a joint: one entry for each kind, and all kinds by name.

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
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from skodyn.conventions import JointKind
from skodyn.faults import Fault
from skodyn.model.loops.closing import ClosingFrames, Row
from skodyn.model.peer_rules import SameRule
from skodyn.registry import Registry
from skodyn.typing import Floats

__all__ = ["CATALOGUE", "ZERO", "Joint", "Peers", "Twists", "Vector", "X", "Y", "Z"]

Vector = Sequence[float]
Peers = Mapping[str, Mapping[str, SameRule]]
Twists = tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...]
ZERO = (0.0, 0.0, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ONE_AXIS = (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.HELICAL)
"""One screw, packed with its axis along z of the kernel frame."""
_SCREWS = (*ONE_AXIS, JointKind.SERIES)


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
    is_block: ClassVar[bool] = False  # drawn as a block where it closes a loop
    has_ball_ends: ClassVar[bool] = False  # drawn with a ball at each end
    order: ClassVar[int] = 100  # where it comes in lists

    peers: ClassVar[Peers] = {}
    """Which joints of other libraries stand for it, and by which rule: by library, by their name.
    Composites of single axes in Pinocchio follow from the twists."""

    def __init_subclass__(cls) -> None:
        if getattr(cls, "nv", 0) and not hasattr(cls, "kind"):
            cls.kind = JointKind.SERIES

    def twists(self) -> Twists:
        """One (u, t) for each degree of freedom, unit directions; empty for quaternion joints."""
        return ()

    def bracket(self, v: Floats) -> Floats:
        """The matrix of w ↦ [v, w], how little the order of two motions matters; v has any number
        of rows. Zero for products of screws, whose velocities are rates of coordinates."""
        return np.zeros((*v.shape, self.nv))

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        """The rows that hold where this joint closes a loop, in the axes of both bodies; a joint
        that does not say them closes none."""
        raise NotImplementedError

    @classmethod
    def closes_loops(cls) -> bool:
        """Does it say the rows of a loop?"""
        return cls.closing is not Joint.closing

    def kept_directions(self) -> Floats:
        """Directions, (n, 3), that stay the same in both of its frames: all if it does not turn,
        its axis if it turns about one."""
        turning = [turn for turn, _ in self.twists() if any(turn)]
        if self.has_quaternion or len(turning) > 1:
            return np.zeros((0, 3))
        return np.array(turning) if turning else np.eye(3)

    def reversed(self) -> Self:
        """The joint seen from its other side, with the same q."""
        raise NotImplementedError

    @classmethod
    def can_be_reversed(cls) -> bool:
        """Does it say what it is from its other side?"""
        return cls.reversed is not Joint.reversed

    @property
    def own_length(self) -> float:
        """A length that it keeps between its frames; 0 if it has none."""
        return 0.0

    @property
    def turning(self) -> tuple[bool, ...]:
        """Of each degree of freedom whether it is an angle, not a length."""
        return tuple(unit == "rad" for unit in self.v_units)

    @property
    def is_floating(self) -> bool:
        """It leaves its body all six degrees of freedom."""
        return self.nv == 6

    @property
    def has_quaternion(self) -> bool:
        """It has a manifold of its own, and velocities in child axes."""
        return self.nq != self.nv

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
        found = [fault for label, value in self._axes() for fault in axis_faults(label, value)]
        return found + self._armature_faults()

    def _armature_faults(self) -> list[Fault]:
        found = number_faults("armature", self.armature)
        if not found and self.armature < 0.0:
            what, remedy = "is negative", "give an inertia of zero or more."
            found = [of_parameter("armature", f" {self.armature:g} {what}", remedy, self.armature)]
        if not found and self.armature > 0.0 and self.nv == 0:
            what, remedy = "is on a joint that does not move", "take it away."
            found = [of_parameter("armature", f" {self.armature:g} {what}", remedy, self.armature)]
        return found

    def _axes(self) -> list[tuple[str, Vector]]:
        """The directions a person gave, with the label to use in a message."""
        return []

    @property
    def joint_name(self) -> str | None:
        """The name that was given to the joint, or None."""
        return getattr(self, "name", None)


def of_parameter(key: str, what: str, remedy: str, value: Any) -> Fault:
    return Fault(f"{key}{what}", remedy, (key,), value)


def axis_faults(label: str, value: Vector) -> list[Fault]:
    what, remedy = "", "give a direction such as (0, 0, 1)."
    try:
        numbers = tuple(float(x) for x in value)
    except (TypeError, ValueError):
        what = f" is {value!r}, which is not three numbers"
        return [of_parameter(label, what, "write for example (0, 0, 1).", value)]
    if len(numbers) != 3:
        what = f" {value!r} has {len(numbers)} numbers"
        remedy = "give three, for example (0, 0, 1)."
    elif not all(math.isfinite(x) for x in numbers):
        what = f" {numbers} is not finite"
    elif math.hypot(*numbers) < 1e-12:
        what = f" {numbers} has zero length"
    return [of_parameter(label, what, remedy, value)] if what else []


def unit(axis: Vector) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in axis)
    length = math.hypot(x, y, z)
    return (x / length, y / length, z / length)


def tilde(x: Floats) -> Floats:
    """The matrix of y ↦ x × y."""
    matrix = np.zeros((*x.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., k, j], matrix[..., j, k] = x[..., i], -x[..., i]
    return matrix


def opposite(axis: Vector) -> tuple[float, ...]:
    return tuple(0.0 - float(x) for x in axis)


def number_faults(label: str, value: float) -> list[Fault]:
    try:
        fine = math.isfinite(float(value))
    except (TypeError, ValueError):
        fine = False
    what = f" is {value!r}, which is not a finite number"
    return [] if fine else [of_parameter(label, what, "give one.", value)]


def _misfits(kind: type[Joint]) -> list[str]:
    """Why a class of others can be no joint, as ends of sentences."""
    if not all(f.default is not MISSING for f in fields(kind)):
        return ["has parameters without a default; give each one"]
    if not isinstance(getattr(kind, "type_name", None), str) or not kind.type_name:
        return ["has no type_name; give a word for model files"]
    if not all(hasattr(kind, name) for name in ("nq", "nv")):
        return ["does not say how many coordinates it has; give nq = nv = …"]
    if getattr(kind, "kind", None) not in _SCREWS:
        return ["is not a product of screws; write twists(), and leave kind out"]
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
    folder="skodyn.model.joint_kinds",
    order=lambda joint: joint.order,
    check=_misfits,
)
"""Every joint type by the name that model files use."""
