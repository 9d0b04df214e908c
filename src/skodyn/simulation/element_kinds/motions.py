"""Motions that joints are made to follow, whatever force it takes.

A joint with a motion is where it says at every time, and its acceleration is not found but given
(kernels/hybrid_dynamics.py). `motion_tables.py` packs them; `driven_system.py` has them followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from skodyn.conventions import QUATERNION_TOLERANCE
from skodyn.errors import ModelError
from skodyn.model.joints import Joint
from skodyn.model.keys import ANY, MOVING_JOINT, NOT_NEGATIVE, ROWS, SOME, TIMES, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.control.law_forms import ControllerError
from skodyn.simulation.element import Element, Packed
from skodyn.simulation.forces import (
    FUNCTION,
    JOINT_FUNCTION,
    SINE,
    SINE_JOINT,
    SPLINE,
    STEADY,
    STEADY_JOINT,
)
from skodyn.typing import Floats

__all__ = ["Motion", "MotionFunction", "MotionTable", "SineMotion", "SteadyMotion"]

_WHO = key(MOVING_JOINT, "which joint follows it")


class _Driven(NamedTuple):
    """The joint that a motion drives."""

    model: Any
    name: str
    body: int
    kind: Joint
    q: slice
    v: slice

    @classmethod
    def of(cls, model: Any, name: str) -> _Driven:
        """Refuses joints that there are none of, that are fixed, or that mimic others."""
        k = model.joint_index(name)
        if model.joints[k].nv == 0:
            raise ModelError(f"joint {name!r} is fixed", "name a joint that moves.")
        q, v = model.q_slice(name), model.v_slice(name)
        return cls(model, name, k, model.joints[k], q, v)

    @property
    def curved(self) -> bool:
        """Whether its coordinates are no plain numbers: it has a quaternion."""
        return self.kind.nq != self.kind.nv

    def numbers(self, key: str, given: Any, count: int) -> Floats:
        """One for each degree of freedom or coordinate."""
        found: Floats = np.array(given, dtype=np.float64).reshape(-1)
        if found.size != count or (np.ndim(given) == 0) != (count == 1):
            what = f"joint {self.name!r} is {self.kind.type_name} with {self.kind.nv} degrees of "
            what += f"freedom, and {key} is {given!r}"
            remedy = "give one number." if count == 1 else f"give a list of {count} numbers."
            raise ModelError(what, remedy)
        return found

    def place(self, key: str, given: Any) -> Floats:
        """Coordinates; 0 stands for those of the neutral place."""
        if self.kind.nv > 1 and np.ndim(given) == 0 and given == 0.0:
            neutral: Floats = self.model.neutral()[self.q]
            return neutral
        found = self.numbers(key, given, self.kind.nq)
        if not self.curved:
            return found
        size = float(np.linalg.norm(found[:4]))
        if abs(size - 1.0) > QUATERNION_TOLERANCE:
            what = f"the quaternion in {key} of joint {self.name!r} has norm {size:.9g}, not 1"
            raise ModelError(what, "divide it by its norm.")
        return np.concatenate((found[:4] / size, found[4:]))

    def moved(self, place: Floats, way: Floats) -> Floats:
        """place ⊞ way."""
        q, step = self.model.neutral(), np.zeros(self.model.nv)
        q[self.q], step[self.v] = place, way
        there: Floats = self.model.integrate(q, step)[self.q]
        return there


@dataclass(frozen=True)
class Motion(Element):
    """What all motions have: a joint that follows them."""

    joint: str = field(metadata=_WHO)
    table = "motions"

    def pack(self, model: Any) -> list[Packed]:  # type: ignore[override]
        """One record, or one for each coordinate."""
        raise NotImplementedError

    def begins(self, model: Any) -> tuple[Floats, Floats]:
        """Coordinates and velocities of the joint at time zero."""
        raise NotImplementedError


@register
@fields_checked
@dataclass(frozen=True)
class SteadyMotion(Motion):
    """start + speed·t; a spherical or free joint turns and moves by a constant twist from start.

    Joints with several degrees of freedom take a list of speeds, and one of coordinates to start
    with; without these they start at zero, or unturned.
    """

    speed: float | Sequence[float] = field(metadata=key(SOME, "rad/s or m/s"))
    start: float | Sequence[float] = field(
        default=0.0, metadata=key(SOME, "coordinate at time zero, rad or m")
    )
    type_name = "steady"
    code = STEADY

    def pack(self, model: Any) -> list[Packed]:  # type: ignore[override]
        driven = _Driven.of(model, self.joint)
        speed = driven.numbers("speed", self.speed, driven.kind.nv)
        start = driven.place("start", self.start)
        if driven.curved:
            return [Packed(driven.body, [*start, *speed], code=STEADY_JOINT)]
        return [
            Packed(driven.v.start + i, pair, driven.q.start + i)
            for i, pair in enumerate(zip(start, speed, strict=True))
        ]

    def begins(self, model: Any) -> tuple[Floats, Floats]:
        driven = _Driven.of(model, self.joint)
        speed = driven.numbers("speed", self.speed, driven.kind.nv)
        return driven.place("start", self.start), speed


@register
@fields_checked
@dataclass(frozen=True)
class SineMotion(Motion):
    """offset + amplitude·sin(2π·frequency·t + phase); a spherical or free joint goes to and fro
    along the twist `amplitude`, from the place `offset`.

    Joints with several degrees of freedom take a list of amplitudes, and one of coordinates.
    """

    amplitude: float | Sequence[float] = field(metadata=key(SOME, "rad or m"))
    frequency: float = field(metadata=key(NOT_NEGATIVE, "Hz"))
    phase: float = field(default=0.0, metadata=key(ANY, "rad"))
    offset: float | Sequence[float] = field(
        default=0.0, metadata=key(SOME, "mean coordinate, rad or m")
    )
    type_name = "sine"
    code = SINE

    def pack(self, model: Any) -> list[Packed]:  # type: ignore[override]
        driven = _Driven.of(model, self.joint)
        size = driven.numbers("amplitude", self.amplitude, driven.kind.nv)
        mean = driven.place("offset", self.offset)
        if driven.curved:
            numbers = [*mean, *size, self.frequency, self.phase]
            return [Packed(driven.body, numbers, code=SINE_JOINT)]
        return [
            Packed(driven.v.start + i, [a, self.frequency, self.phase, x], driven.q.start + i)
            for i, (a, x) in enumerate(zip(size, mean, strict=True))
        ]

    def begins(self, model: Any) -> tuple[Floats, Floats]:
        driven = _Driven.of(model, self.joint)
        size = driven.numbers("amplitude", self.amplitude, driven.kind.nv)
        place = driven.moved(driven.place("offset", self.offset), size * math.sin(self.phase))
        return place, 2.0 * math.pi * self.frequency * size * math.cos(self.phase)


@register
@fields_checked
@dataclass(frozen=True)
class MotionTable(Motion):
    """Through positions at times.

    A spline of degree five: position, velocity and acceleration are continuous everywhere. It
    starts and ends at rest, and stays there before and after. Joints with several coordinates take
    a list of positions for each time; those with a quaternion take a MotionFunction instead.
    """

    times: Sequence[float] = field(
        metadata=key(TIMES, "s; a smooth spline in between, at rest outside")
    )
    positions: Sequence[Any] = field(metadata=key(ROWS, "one for each time, rad or m"))
    type_name = "table"
    code = SPLINE

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        times, positions = (len(given.get(name, ())) for name in ("times", "positions"))
        if times == positions or not (times and positions):
            return []
        what = f"has {times} times and {positions} positions"
        return [("positions", what, "give one position for each time.")]

    def _columns(self, driven: _Driven) -> Floats:
        """One row of positions for each coordinate."""
        if driven.curved:
            what = f"joint {self.joint!r} is {driven.kind.type_name}: a spline through its "
            raise ModelError(f"{what}quaternions is not supported", "give a MotionFunction.")
        first = self.positions[0]
        driven.numbers("a position", first, driven.kind.nq)
        rows = np.array(self.positions, dtype=np.float64)
        found: Floats = rows.reshape(len(self.times), driven.kind.nq).T
        return found

    def pack(self, model: Any) -> list[Packed]:  # type: ignore[override]
        driven, times = _Driven.of(model, self.joint), np.array(self.times, float)
        made = []
        for i, column in enumerate(self._columns(driven)):
            numbers = [*self.times, *spline(times, column).reshape(-1).tolist()]
            made.append(Packed(driven.v.start + i, numbers, driven.q.start + i, len(times)))
        return made

    def begins(self, model: Any) -> tuple[Floats, Floats]:
        times, columns = np.array(self.times, float), self._columns(_Driven.of(model, self.joint))
        if times[0] >= 0.0 or times[-1] <= 0.0:
            return columns[:, 0 if times[0] >= 0.0 else -1], np.zeros(len(columns))
        i = int(np.searchsorted(times, 0.0, side="right")) - 1
        curves = [np.polynomial.Polynomial(spline(times, column)[i]) for column in columns]
        return (
            np.array([curve(-times[i]) for curve in curves]),
            np.array([curve.deriv()(-times[i]) for curve in curves]),
        )


@fields_checked
@dataclass(frozen=True)
class MotionFunction(Motion):
    """What a function says: f(t, params, out) writes position, velocity and acceleration to out.

    Of a joint with several degrees of freedom these are its nq coordinates, its nv velocities and
    its nv accelerations, one behind the other. It is compiled if numba can, as controllers are.
    That the three belong together is not checked.
    """

    function: Callable[..., None]
    parameters: Sequence[float] = ()
    code = FUNCTION

    def pack(self, model: Any) -> list[Packed]:  # type: ignore[override]
        if not callable(self.function):
            raise ModelError(f"function is {self.function!r}", "give f(t, params, out).")
        driven, given = _Driven.of(model, self.joint), list(self.parameters)
        if driven.kind.nv == 1:
            return [Packed(driven.v.start, given, driven.q.start, len(given))]
        return [Packed(driven.body, given, 0, len(given), code=JOINT_FUNCTION)]

    def begins(self, model: Any) -> tuple[Floats, Floats]:
        nq, nv = (getattr(_Driven.of(model, self.joint).kind, name) for name in ("nq", "nv"))
        out = np.full(nq + 2 * nv, np.nan)
        inner = getattr(self.function, "py_func", self.function)
        try:
            inner(0.0, np.array(self.parameters, dtype=np.float64), out)
        except Exception as error:
            what = f"the motion of joint {self.joint!r} raised {type(error).__name__} at t = 0"
            raise ControllerError(f"{what}: {error}") from error
        return out[:nq], out[nq : nq + nv]


def spline(times: Floats, positions: Floats) -> Floats:
    """(intervals, 6): coefficients of 1, s, … s⁵ with s from the start of the interval.

    Velocities and accelerations at inner times are those of the cubic spline that is at rest at
    both ends; polynomials of degree five have them, and at both ends neither.
    """
    h, slope = np.diff(times), _slopes(times, positions)
    rise = np.diff(positions) / h
    bend = np.zeros(len(times))
    bend[1:-1] = 2.0 * ((3.0 * rise - 2.0 * slope[:-1] - slope[1:]) / h)[1:]
    x0, v0, a0 = positions[:-1], slope[:-1], bend[:-1]
    d = positions[1:] - (x0 + h * (v0 + 0.5 * h * a0))
    e = h * (slope[1:] - v0 - h * a0)
    g = h**2 * (bend[1:] - a0)
    third = (10.0 * d - 4.0 * e + 0.5 * g) / h**3
    fourth = (7.0 * e - 15.0 * d - g) / h**4
    fifth = (6.0 * d - 3.0 * e + 0.5 * g) / h**5
    return np.stack((x0, v0, 0.5 * a0, third, fourth, fifth), axis=1)


def _slopes(times: Floats, positions: Floats) -> Floats:
    """Of the cubic spline that is at rest at both ends: second derivatives meet at inner times, a
    tridiagonal system, solved by elimination."""
    h, n = np.diff(times), len(times)
    slope = np.zeros(n)
    if n > 2:
        below, above = 1.0 / h[:-1], 1.0 / h[1:]
        rise = np.diff(positions) / h
        diagonal, rhs = 2.0 * (below + above), 3.0 * (rise[:-1] * below + rise[1:] * above)
        for i in range(1, n - 2):
            factor = below[i] / diagonal[i - 1]
            diagonal[i] -= factor * above[i - 1]
            rhs[i] -= factor * rhs[i - 1]
        for i in range(n - 3, -1, -1):
            slope[i + 1] = (rhs[i] - above[i] * slope[i + 2]) / diagonal[i]
    return slope
