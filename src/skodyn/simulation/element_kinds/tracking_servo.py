"""PD and PID control of a joint along a target that moves: a table, way-points, a sinusoid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from skodyn.jit import COUNT as WHOLE
from skodyn.jit import NUMBER, helper
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import entry
from skodyn.kernels.status import OK
from skodyn.lanes import PartAtWidths, load_rows, parts_of
from skodyn.model.keys import ANY, JOINT, NOT_NEGATIVE, NUMBERS, POSITIVE_LIMIT, TIMES, key, one_of
from skodyn.model.keywords import fields_checked
from skodyn.model.layout import Q_START, V_START
from skodyn.registry import register
from skodyn.simulation.control.clock import DELAY, Q_NOISE, SAMPLE_TIME, V_NOISE, sampling_faults
from skodyn.simulation.control.pid_laws import (
    CURVE,
    INTEGRATING,
    KNOTS,
    LARGEST,
    LIMITED,
    PROPORTIONAL,
    WEIGHT,
    drive,
    integral_of,
    limited_pid,
    pid,
)
from skodyn.simulation.control.servo_laws import ServoLaw, follow, follow_weight, sampled_law
from skodyn.simulation.control.speed_limits import SPEED_LIMIT, speed_limit_faults
from skodyn.simulation.element import Element, Packed, dof_of
from skodyn.simulation.element_kinds.motions import spline
from skodyn.simulation.element_kinds.torque_table import table_time
from skodyn.simulation.forces import COUNT, FIRST, OFFSET
from skodyn.simulation.structures import EFFECTS, STATE, SYSTEM
from skodyn.simulation.systems.driven_motions import sine_motion, spline_motion
from skodyn.typing import Floats

__all__ = ["TrackingServo"]

SPLINE, MINIMUM_JERK = "spline", "minimum_jerk"
ROUNDING = 1e-12  # of a speed that was chosen to be the highest


@helper
def tracking_servo(work, system, at, t, state, effects):
    """PID torque towards where the target is, and how fast it goes there."""
    numbers, i = system.numbers, system.codes[at + OFFSET]
    model, k = full_model(system.model), system.codes[at + FIRST]
    dof, times = entry(model, k, V_START), int(table_time(work, numbers, i + KNOTS))
    if times > 0:
        target, speed, _ = spline_motion(work, numbers, i + CURVE, times, t)
    else:
        target, speed, _ = sine_motion(work, numbers, i + CURVE, t)
    error = target - load_rows(work, state.q, entry(model, k, Q_START))
    integral, v = integral_of(work, system, at, state), load_rows(work, state.y, dof)
    if system.codes[at + COUNT] >= LIMITED:
        law = limited_pid(work, numbers, i, (error, speed), v, integral)
    else:
        law = pid(work, numbers, i, (error, speed - v), integral)
    drive(work, system, at, dof, effects, law)
    return OK


@register
@fields_checked
@dataclass(frozen=True)
class TrackingServo(Element):
    """PD or PID control of a joint with one degree of freedom along a target r(t) that moves.

    τ = kp·(r − q) + kd·(ṙ − v) + ki·∫(r − q)dt, cut to ±limit. The target goes through positions
    at times, at rest before and after, or it is offset + amplitude·sin(2π·frequency·t + phase).
    With a speed_limit the loops are in cascade, as those of Servo.

    Parameters
    ----------
    joint : str
        Name of the joint.
    kp : float
        Proportional gain, N m/rad or N/m.
    kd : float
        Derivative gain, N m s/rad or N s/m.
    ki : float
        Integral gain, N m/(rad s) or N/(m s).
    times : sequence of float, optional
        Ascending, s.
    positions : sequence of float, optional
        One for each time, rad or m.
    between : {"spline", "minimum_jerk"}
        How it goes from one position to the next: "spline" passes through, as MotionTable does;
        "minimum_jerk" stops at each, with x + Δ·(10s³ − 15s⁴ + 6s⁵) in between.
    amplitude, frequency, phase, offset : float
        Of a sinusoid, rad or m, Hz, rad, rad or m.
    limit : float
        Largest force, N m or N.
    max_speed : float
        Largest speed of the target, rad/s or m/s: a target that is faster is refused.
    gravity_compensation : bool
        Add the force that holds the whole system against gravity at this joint.
    sample_time : float
        Seconds from one sample to the next; the torque is held in between. 0: all the time.
    delay : float
        Seconds from a sample to the torque that follows from it.
    q_noise, v_noise : float
        Standard deviation of what is added to the coordinates and velocities of each sample.
    speed_limit : float
        Largest speed that it drives its joint with, rad/s or m/s; needs kd.

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> lift = sk.TrackingServo(
    ...     "link1", kp=400.0, kd=40.0, times=[0.0, 1.0], positions=[0.0, 0.5],
    ...     between="minimum_jerk", gravity_compensation=True)
    >>> run = sk.simulate(model, [0.0], [0.0], duration=2.0, elements=[lift])
    >>> run.q[-1].round(3)
    array([0.5])
    """

    joint: str = field(metadata=key(JOINT, "which joint it drives"))
    kp: float = field(metadata=PROPORTIONAL)
    kd: float = field(
        default=0.0, metadata=key(ANY, "torque for each rad/s away from the target's velocity")
    )
    ki: float = field(default=0.0, metadata=INTEGRATING)
    times: Sequence[float] | None = field(
        default=None, metadata=key(TIMES, "s; at rest before and after")
    )
    positions: Sequence[float] | None = field(
        default=None, metadata=key(NUMBERS, "one for each time, rad or m")
    )
    between: str = field(
        default=SPLINE,
        metadata=key(
            one_of(SPLINE, MINIMUM_JERK), "pass through the positions, or stop at each of them"
        ),
    )
    amplitude: float | None = field(
        default=None, metadata=key(ANY, "of a sinusoid in place of a table, rad or m")
    )
    frequency: float | None = field(default=None, metadata=key(NOT_NEGATIVE, "of the sinusoid, Hz"))
    phase: float = field(default=0.0, metadata=key(ANY, "of the sinusoid, rad"))
    offset: float = field(default=0.0, metadata=key(ANY, "mean of the sinusoid, rad or m"))
    limit: float = field(default=math.inf, metadata=LARGEST)
    max_speed: float = field(
        default=math.inf,
        metadata=key(POSITIVE_LIMIT, "largest speed of the target, which is refused beyond"),
    )
    gravity_compensation: bool = field(default=False, metadata=WEIGHT)
    sample_time: float = field(default=0.0, metadata=SAMPLE_TIME)
    delay: float = field(default=0.0, metadata=DELAY)
    q_noise: float = field(default=0.0, metadata=Q_NOISE)
    v_noise: float = field(default=0.0, metadata=V_NOISE)
    speed_limit: float = field(default=math.inf, metadata=SPEED_LIMIT)
    type_name = "tracking_servo"
    table = "controllers"
    part: ClassVar[PartAtWidths] = parts_of(tracking_servo, SYSTEM, WHOLE, NUMBER, STATE, EFFECTS)

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        of_target = _target_faults(given) or _speed_faults(given)
        return of_target + speed_limit_faults(given) + sampling_faults(given)

    def control_law(self, model: Any) -> ServoLaw | None:
        return sampled_law(self, model, (follow, follow_weight))

    def pack(self, model: Any) -> Packed:
        dof_of(model, self.joint)  # it refuses joints with several
        given = vars(self)
        # with the highest speed beside it, no sweep sets a number of the curve without `check`
        peak = _peak(given)[0] if math.isfinite(self.max_speed) else 0.0
        times = 0 if self.times is None else len(self.times)
        return Packed(
            model.joint_index(self.joint),
            [self.kp, self.kd, self.ki, times, peak, self.limit, self.speed_limit, *_curve(given)],
            length=int(self.gravity_compensation) + LIMITED * math.isfinite(self.speed_limit),
            integrals=int(self.ki != 0.0),
            holds_weight=self.gravity_compensation,
        )


_TABLE, _WAVE = ("times", "positions"), ("amplitude", "frequency")


def _target_faults(given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """One target, and whole."""
    table, wave = ([n for n in both if given.get(n) is not None] for both in (_TABLE, _WAVE))
    beside = [*wave, *(name for name in ("phase", "offset") if given.get(name, 0.0) != 0.0)]
    if table and beside:
        what = f"has {' and '.join(table)}, and {' and '.join(beside)} of a sinusoid"
        return [(beside[0], what, "give one target, a table or a sinusoid.")]
    found, both = (table, _TABLE) if table else (wave, _WAVE)
    if not found:
        remedy = "give times and positions, or amplitude and frequency."
        return [("", "has no target", remedy)]
    if len(found) == 1:
        other = both[1 - both.index(found[0])]
        return [(found[0], f"has {found[0]} and no {other}", f"give {other}, too.")]
    counts = [len(given[name]) for name in table]
    if wave or counts[0] == counts[1] or not all(counts):
        return []
    what = f"has {counts[0]} times and {counts[1]} positions"
    return [("positions", what, "give one position for each time.")]


def _speed_faults(given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Is the target faster than it may be?"""
    limit = given.get("max_speed", math.inf)
    unfit = any(isinstance(value, tuple) and not value for value in given.values())
    if unfit or not math.isfinite(limit):
        return []
    speed, t = _peak(given)
    if speed <= limit * (1.0 + ROUNDING):
        return []
    what = f"has a target that moves at {speed:.6g} at t = {t:.6g} s, and max_speed = {limit:g}"
    return [("max_speed", what, "let the target take more time, or allow more.")]


def _curve(given: Mapping[str, Any]) -> list[float]:
    """Its numbers as those of SineMotion and MotionTable."""
    if given.get("times") is None:
        return [given.get(name, 0.0) for name in (*_WAVE, "phase", "offset")]
    return [*given["times"], *_coefficients(given).reshape(-1).tolist()]


def _coefficients(given: Mapping[str, Any]) -> Floats:
    """(intervals, 6), as `spline` has them.

    A point-to-point motion of least jerk is a spline of two positions: at rest at both ends.
    """
    times, positions = (np.array(given[name], dtype=np.float64) for name in _TABLE)
    if given.get("between", SPLINE) == SPLINE:
        return spline(times, positions)
    pairs = (slice(i, i + 2) for i in range(len(times) - 1))
    return np.concatenate([spline(times[pair], positions[pair]) for pair in pairs])


def _peak(given: Mapping[str, Any]) -> tuple[float, float]:
    """(highest speed of the target, when first)."""
    if given.get("times") is None:
        amplitude, frequency, phase, _ = _curve(given)
        rate = 2.0 * math.pi * frequency
        return abs(amplitude) * rate, (-phase % math.pi) / rate if rate > 0.0 else 0.0
    found = [(0.0, float(given["times"][0]))]
    ends = np.diff(np.array(given["times"], dtype=np.float64))
    for start, h, row in zip(given["times"][:-1], ends, _coefficients(given), strict=True):
        speed = np.polynomial.Polynomial(row).deriv()
        turns = [complex(s) for s in speed.deriv().roots()]
        inside = [s.real for s in turns if abs(s.imag) <= 1e-6 * h and 0.0 <= s.real <= h]
        found += [(abs(float(speed(s))), float(start + s)) for s in (0.0, *inside, h)]
    return max(found, key=lambda one: one[0])
