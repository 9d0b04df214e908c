"""Motions that joints are made to follow, whatever force it takes.

A joint with a motion is where it says at every time, and its acceleration is not found but given
(kernels/hybrid_dynamics.py). `motion_tables.py` packs them; `driven_system.py` has them followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skodyn.errors import ModelError
from skodyn.model.columns import Floats
from skodyn.model.keys import ANY, JOINT, NOT_NEGATIVE, NUMBERS, TIMES, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.element import Element, Packed, dof_of
from skodyn.simulation.forces import FUNCTION, SINE, SPLINE, STEADY

__all__ = ["Motion", "MotionFunction", "MotionTable", "SineMotion", "SteadyMotion"]

_WHO = key(JOINT, "which joint follows it")


@dataclass(frozen=True)
class Motion(Element):
    """What all motions have: a joint with one degree of freedom that follows them."""

    joint: str = field(metadata=_WHO)
    table = "motions"

    def begins(self) -> tuple[float, float]:
        """Position and velocity at time zero."""
        raise NotImplementedError


@register
@fields_checked
@dataclass(frozen=True)
class SteadyMotion(Motion):
    """start + speed·t of a joint with one degree of freedom."""

    speed: float = field(metadata=key(ANY, "rad/s or m/s"))
    start: float = field(default=0.0, metadata=key(ANY, "coordinate at time zero, rad or m"))
    type_name = "steady"
    code = STEADY

    def pack(self, model: Any) -> Packed:
        dof, coordinate = dof_of(model, self.joint)
        return Packed(dof, [self.start, self.speed], coordinate)

    def begins(self) -> tuple[float, float]:
        return float(self.start), float(self.speed)


@register
@fields_checked
@dataclass(frozen=True)
class SineMotion(Motion):
    """offset + amplitude·sin(2π·frequency·t + phase) of a joint with one degree of freedom."""

    amplitude: float = field(metadata=key(ANY, "rad or m"))
    frequency: float = field(metadata=key(NOT_NEGATIVE, "Hz"))
    phase: float = field(default=0.0, metadata=key(ANY, "rad"))
    offset: float = field(default=0.0, metadata=key(ANY, "mean coordinate, rad or m"))
    type_name = "sine"
    code = SINE

    def pack(self, model: Any) -> Packed:
        dof, coordinate = dof_of(model, self.joint)
        return Packed(dof, [self.amplitude, self.frequency, self.phase, self.offset], coordinate)

    def begins(self) -> tuple[float, float]:
        rate = 2.0 * math.pi * self.frequency * self.amplitude
        there = self.offset + self.amplitude * math.sin(self.phase)
        return there, rate * math.cos(self.phase)


@register
@fields_checked
@dataclass(frozen=True)
class MotionTable(Motion):
    """Through positions at times, of a joint with one degree of freedom.

    A spline of degree five: position, velocity and acceleration are continuous everywhere. It
    starts and ends at rest, and stays there before and after.
    """

    times: Sequence[float] = field(
        metadata=key(TIMES, "s; a smooth spline in between, at rest outside")
    )
    positions: Sequence[float] = field(metadata=key(NUMBERS, "one for each time, rad or m"))
    type_name = "table"
    code = SPLINE

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        times, positions = (len(given.get(name, ())) for name in ("times", "positions"))
        if times == positions or not (times and positions):
            return []
        what = f"has {times} times and {positions} positions"
        return [("positions", what, "give one position for each time.")]

    def pack(self, model: Any) -> Packed:
        dof, coordinate = dof_of(model, self.joint)
        rows = spline(np.array(self.times, float), np.array(self.positions, float))
        numbers = [*self.times, *rows.reshape(-1).tolist()]
        return Packed(dof, numbers, coordinate, len(self.times))

    def begins(self) -> tuple[float, float]:
        times, positions = np.array(self.times, float), np.array(self.positions, float)
        if times[0] >= 0.0 or times[-1] <= 0.0:
            return float(positions[0 if times[0] >= 0.0 else -1]), 0.0
        i = int(np.searchsorted(times, 0.0, side="right")) - 1
        curve = np.polynomial.Polynomial(spline(times, positions)[i])
        return float(curve(-times[i])), float(curve.deriv()(-times[i]))


@fields_checked
@dataclass(frozen=True)
class MotionFunction(Motion):
    """What a function says: f(t, params, out) writes position, velocity and acceleration to out.

    It is compiled if numba can, as controllers are. That the three belong together is not checked.
    """

    function: Callable[..., None]
    parameters: Sequence[float] = ()
    code = FUNCTION

    def pack(self, model: Any) -> Packed:
        if not callable(self.function):
            raise ModelError(f"function is {self.function!r}", "give f(t, params, out).")
        dof, coordinate = dof_of(model, self.joint)
        return Packed(dof, list(self.parameters), coordinate, len(self.parameters))

    def begins(self) -> tuple[float, float]:
        from skodyn.simulation.controllers import (
            ControllerError,  # files without functions need none
        )

        out = np.full(3, np.nan)
        inner = getattr(self.function, "py_func", self.function)
        try:
            inner(0.0, np.array(self.parameters, dtype=np.float64), out)
        except Exception as error:
            what = f"the motion of joint {self.joint!r} raised {type(error).__name__} at t = 0"
            raise ControllerError(f"{what}: {error}") from error
        return float(out[0]), float(out[1])


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
