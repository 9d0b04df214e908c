"""PD and PID control of a joint."""

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
from skodyn.lanes import PartAtWidths, load_rows, parameter, parts_of, splat
from skodyn.model.keys import ANY, JOINT, key
from skodyn.model.keywords import fields_checked
from skodyn.model.layout import Q_START, V_START
from skodyn.registry import register
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.control.clock import DELAY, Q_NOISE, SAMPLE_TIME, V_NOISE, sampling_faults
from skodyn.simulation.control.pid_laws import (
    INTEGRATING,
    LARGEST,
    LIMITED,
    PROPORTIONAL,
    TARGET,
    TARGET_VELOCITY,
    WEIGHT,
    drive,
    integral_of,
    limited_pid,
    pid,
)
from skodyn.simulation.control.servo_laws import ServoLaw, hold, hold_weight, sampled_law
from skodyn.simulation.control.speed_limits import SPEED_LIMIT, limited_torque, speed_limit_faults
from skodyn.simulation.element import Element, Packed, dof_of
from skodyn.simulation.forces import FIRST, OFFSET, OWN_PART, SECOND, SERVO
from skodyn.simulation.structures import EFFECTS, STATE, SYSTEM


@helper
def servo(work, system, at, state, effects):
    """To a target that stays."""
    codes, numbers, i = system.codes, system.numbers, system.codes[at + OFFSET]
    dof = codes[at + FIRST]
    error = parameter(work, numbers, i + TARGET) - load_rows(work, state.q, codes[at + SECOND])
    slip = parameter(work, numbers, i + TARGET_VELOCITY) - load_rows(work, state.y, dof)
    integral = integral_of(work, system, at, state)
    drive(work, system, at, dof, effects, pid(work, numbers, i, (error, slip), integral))


@helper
def limited_servo(work, system, at, t, state, effects):
    """The same with a speed limit, a part of its own."""
    numbers, i = system.numbers, system.codes[at + OFFSET]
    model, k = full_model(system.model), system.codes[at + FIRST]
    dof, q = entry(model, k, V_START), load_rows(work, state.q, entry(model, k, Q_START))
    speed = splat(work, 1.0) * parameter(work, numbers, i + TARGET_VELOCITY)
    target = parameter(work, numbers, i + TARGET) - q, speed
    integral, v = integral_of(work, system, at, state), load_rows(work, state.y, dof)
    drive(work, system, at, dof, effects, limited_pid(work, numbers, i, target, v, integral))
    return OK


@register
@fields_checked
@dataclass(frozen=True)
class Servo(Element):
    """PD or PID control of a joint with one degree of freedom.

    τ = kp·(target − q) + kd·(target_velocity − v) + ki·∫(target − q)dt, cut to ±limit.
    With a speed_limit V, position and velocity loops are in cascade: τ = kd·(w − v), where
    w = target_velocity + (kp·(target − q) + ki·∫(target − q)dt)/kd is cut to ±V.

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
    target : float
        Where to, rad or m.
    target_velocity : float
        How fast, rad/s or m/s.
    limit : float
        Largest force, N m or N.
    gravity_compensation : bool
        Add the force that holds the whole system against gravity at this joint.
    sample_time : float
        Seconds from one sample to the next; the torque is held in between. 0: all the time.
    delay : float
        Seconds from a sample to the torque that follows from it.
    q_noise, v_noise : float
        Standard deviation of what is added to the coordinates and velocities of each sample.
    speed_limit : float
        Largest speed that it drives its joint with, rad/s or m/s; needs kd. What others push the
        joint with comes on top, divided by kd.

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> servo = sk.Servo("link1", kp=100.0, kd=20.0, target=0.5, gravity_compensation=True)
    >>> run = sk.simulate(model, [0.0], [0.0], duration=3.0, elements=[servo])
    >>> run.q[-1].round(3)
    array([0.5])
    """

    joint: str = field(metadata=key(JOINT, "which joint it drives"))
    kp: float = field(metadata=PROPORTIONAL)
    kd: float = field(
        default=0.0, metadata=key(ANY, "torque for each rad/s away from `target_velocity`")
    )
    ki: float = field(default=0.0, metadata=INTEGRATING)
    target: float = field(default=0.0, metadata=key(ANY, "coordinate to reach, rad or m"))
    target_velocity: float = field(
        default=0.0, metadata=key(ANY, "velocity to reach, rad/s or m/s")
    )
    limit: float = field(default=math.inf, metadata=LARGEST)
    gravity_compensation: bool = field(default=False, metadata=WEIGHT)
    sample_time: float = field(default=0.0, metadata=SAMPLE_TIME)
    delay: float = field(default=0.0, metadata=DELAY)
    q_noise: float = field(default=0.0, metadata=Q_NOISE)
    v_noise: float = field(default=0.0, metadata=V_NOISE)
    speed_limit: float = field(default=math.inf, metadata=SPEED_LIMIT)
    type_name = "servo"
    table = "controllers"
    code = SERVO
    part: ClassVar[PartAtWidths] = parts_of(limited_servo, SYSTEM, WHOLE, NUMBER, STATE, EFFECTS)

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        return speed_limit_faults(given) + sampling_faults(given)

    def control_law(self, model: Any) -> ServoLaw | None:
        return sampled_law(self, model, (hold, hold_weight))

    def pack(self, model: Any) -> Packed:
        dof, coordinate = dof_of(model, self.joint)
        law = [self.kp, self.kd, self.ki, self.target, self.target_velocity]
        limited = math.isfinite(self.speed_limit)
        return Packed(
            model.joint_index(self.joint) if limited else dof,
            [*law, self.limit, self.speed_limit],
            coordinate,
            int(self.gravity_compensation) + LIMITED * limited,
            integrals=int(self.ki != 0.0),
            holds_weight=self.gravity_compensation,
            code=OWN_PART if limited else None,
        )

    def drawn(self, rows: Any) -> Sequence[Arrow]:
        """Its torque; none with an integral or samples, which rows do not have."""
        if self.ki or self.sample_time:
            return ()
        q, v = rows.joint(self.joint)
        if math.isfinite(self.speed_limit):
            torque = limited_torque(self, self.target - q, v)
        else:
            torque = self.kp * (self.target - q) + self.kd * (self.target_velocity - v)
        if self.gravity_compensation:
            torque = torque + rows.weight_at(self.joint)
        return (rows.at_joint(self.joint, np.clip(torque, -self.limit, self.limit)),)
