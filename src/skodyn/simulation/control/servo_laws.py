"""Servos that take samples, as control laws: sampled, held, delayed and noisy by control_calls.py.

Their params are a degree of freedom, its coordinate, and the numbers of the servo as its `pack`
has them: kp, kd, ki, two of its own, the limits of torque and speed, a curve. The arithmetic is
that of `pid` in element_kinds/servo.py and of `limited_pid` in speed_limits.py, which act all the
time and on all lanes at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skodyn.errors import ModelError
from skodyn.jit import helper
from skodyn.lanes import WIDTH_1, Work, fma, pointer
from skodyn.simulation.element import Packed
from skodyn.simulation.element_kinds.controller import Controller
from skodyn.simulation.systems.driven_motions import sine_motion, spline_motion

__all__ = ["ServoLaw", "follow", "follow_weight", "hold", "hold_weight", "sampled_law"]

Law = Callable[..., None]

DOF, COORDINATE, KP, KD, KI, FIRST, SECOND, LIMIT, SPEED, CURVE = range(10)
INFINITE = float("inf")


@helper
def pid_torque(params, target, q, v, integrals, rates, weight):
    """Towards a target (position, velocity), cut to ±limit; the integral's rate is the error."""
    error = target[0] - q[int(params[COORDINATE])]
    if params[SPEED] < INFINITE:
        torque = limited_pid_torque(params, error, target[1], v, integrals, rates)
    else:
        torque = fma(params[KP], error, params[KD] * (target[1] - v[int(params[DOF])]))
        if integrals.size > 0:
            torque = fma(params[KI], integrals[0], torque)
            rates[0] = error
    return clipped(torque + weight, params[LIMIT])


@helper
def limited_pid_torque(params, error, speed, v, integrals, rates):
    push, bound = fma(params[KP], error, params[KD] * speed), params[KD] * params[SPEED]
    if integrals.size > 0:
        push = fma(params[KI], integrals[0], push)
        winding = (push - clipped(push, bound)) * (params[KI] * error)
        rates[0] = 0.0 if winding > 0.0 else error
    return fma(-params[KD], v[int(params[DOF])], clipped(push, bound))


@helper
def clipped(x, bound):
    return min(max(x, -bound), bound)


@helper
def still_target(params):
    return params[FIRST], params[SECOND]


@helper
def moving_target(t, params):
    """FIRST is the number of times, none for a sinusoid."""
    numbers = pointer(params)
    work, times = Work(WIDTH_1, numbers), int(params[FIRST])
    if times > 0:
        x, speed, _ = spline_motion(work, numbers, CURVE, times, t)
    else:
        x, speed, _ = sine_motion(work, numbers, CURVE, t)
    return x, speed


def hold(t, q, v, params, tau, integrals, rates):
    """A servo whose target stays."""
    torque = pid_torque(params, still_target(params), q, v, integrals, rates, 0.0)
    tau[int(params[DOF])] = torque


def hold_weight(t, q, v, params, tau, integrals, rates, dynamics):
    """The same, with what holds the measured position against gravity."""
    dof = int(params[DOF])
    dynamics.gravity_force(q, tau)
    weight = tau[dof]
    tau[:] = 0.0
    tau[dof] = pid_torque(params, still_target(params), q, v, integrals, rates, weight)


def follow(t, q, v, params, tau, integrals, rates):
    """A servo whose target moves."""
    torque = pid_torque(params, moving_target(t, params), q, v, integrals, rates, 0.0)
    tau[int(params[DOF])] = torque


def follow_weight(t, q, v, params, tau, integrals, rates, dynamics):
    """The same, with what holds the measured position against gravity."""
    dof = int(params[DOF])
    dynamics.gravity_force(q, tau)
    weight = tau[dof]
    tau[:] = 0.0
    tau[dof] = pid_torque(params, moving_target(t, params), q, v, integrals, rates, weight)


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
            f"the servo of {joint!r} compensates gravity at its samples, and models with flexible "
            "bodies do not tell a control law their dynamics",
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
