"""Servos that take samples, as control laws: sampled, held, delayed and noisy by control_calls.py.

Their params are a degree of freedom, its coordinate, and the numbers of the servo as its `pack`
has them and as pid_laws.py, where the arithmetic is, reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skodyn.errors import ModelError
from skodyn.jit import helper
from skodyn.lanes import WIDTH_1, Work, pointer
from skodyn.simulation.control.pid_laws import (
    CURVE,
    KNOTS,
    TARGET,
    TARGET_VELOCITY,
    VELOCITY_LIMIT,
    Integral,
    held,
    limited_pid,
    pid,
)
from skodyn.simulation.element import Packed
from skodyn.simulation.element_kinds.controller import Controller
from skodyn.simulation.systems.driven_motions import sine_motion, spline_motion

__all__ = ["ServoLaw", "follow", "follow_weight", "hold", "hold_weight", "sampled_law"]

Law = Callable[..., None]

DOF, COORDINATE, NUMBERS = range(3)
INFINITE = float("inf")


@helper
def torque_towards(params, target, q, v, integrals, rates, weight):
    """Towards a target (position, velocity), held within the limits; it says the integral's rate.

    weight: what is added for gravity.
    """
    numbers = pointer(params)
    work, runs = Work(WIDTH_1, numbers), integrals.size > 0
    error, speed = target[0] - q[int(params[COORDINATE])], v[int(params[DOF])]
    integral = Integral(runs, integrals[0] if runs else 0.0)
    if params[NUMBERS + VELOCITY_LIMIT] < INFINITE:
        asked = error, target[1]
        torque, rate = limited_pid(work, numbers, NUMBERS, asked, speed, integral)
    else:
        torque, rate = pid(work, numbers, NUMBERS, (error, target[1] - speed), integral)
    if runs:
        rates[0] = rate
    return held(work, numbers, NUMBERS, torque + weight)


@helper
def still_target(params):
    return params[NUMBERS + TARGET], params[NUMBERS + TARGET_VELOCITY]


@helper
def moving_target(t, params):
    numbers = pointer(params)
    work, times = Work(WIDTH_1, numbers), int(params[NUMBERS + KNOTS])
    if times > 0:
        x, speed, _ = spline_motion(work, numbers, NUMBERS + CURVE, times, t)
    else:
        x, speed, _ = sine_motion(work, numbers, NUMBERS + CURVE, t)
    return x, speed


def hold(t, q, v, params, tau, integrals, rates):
    """A servo whose target stays."""
    torque = torque_towards(params, still_target(params), q, v, integrals, rates, 0.0)
    tau[int(params[DOF])] = torque


def hold_weight(t, q, v, params, tau, integrals, rates, dynamics):
    """The same, with what holds the measured position against gravity."""
    dof = int(params[DOF])
    dynamics.gravity_force(q, tau)
    weight = tau[dof]
    tau[:] = 0.0
    tau[dof] = torque_towards(params, still_target(params), q, v, integrals, rates, weight)


def follow(t, q, v, params, tau, integrals, rates):
    """A servo whose target moves."""
    torque = torque_towards(params, moving_target(t, params), q, v, integrals, rates, 0.0)
    tau[int(params[DOF])] = torque


def follow_weight(t, q, v, params, tau, integrals, rates, dynamics):
    """The same, with what holds the measured position against gravity."""
    dof = int(params[DOF])
    dynamics.gravity_force(q, tau)
    weight = tau[dof]
    tau[:] = 0.0
    tau[dof] = torque_towards(params, moving_target(t, params), q, v, integrals, rates, weight)


@dataclass(frozen=True)
class ServoLaw(Controller):
    """A servo as a control law."""

    joint: str = ""

    @property
    def label(self) -> str:
        return self.joint

    @property
    def shared(self) -> bool:
        return True


def sampled_law(servo: Any, model: Any, laws: tuple[Law, Law]) -> ServoLaw | None:
    """A servo with a sample_time as one of two laws, without and with gravity compensation."""
    if not servo.sample_time:
        return None
    joint = servo.joint
    if joint in model.mimics:
        raise ModelError(
            f"joint {joint!r} mimics {model.mimics[joint].source!r}, and a servo with a "
            "sample_time acts on joints of the state",
            f"drive {model.mimics[joint].source!r}, or leave out sample_time.",
        )
    if servo.gravity_compensation and model.flexible:
        raise ModelError(
            f"the servo of {joint!r} compensates gravity at its samples, which models with "
            "flexible bodies do not have",
            "leave out sample_time or gravity_compensation.",
        )
    packed: Packed = servo.pack(model.uncoupled)
    places = model.v_slice(joint).start, model.q_slice(joint).start
    return ServoLaw(
        laws[int(servo.gravity_compensation)],
        (*map(float, places), *map(float, packed.numbers)),
        integrals=packed.integrals,
        sample_time=servo.sample_time,
        delay=servo.delay,
        q_noise=servo.q_noise,
        v_noise=servo.v_noise,
        joint=joint,
    )
