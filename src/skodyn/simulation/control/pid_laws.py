"""The laws of servos, PID and PID with a speed limit, for as many states as lie side by side.

Elements have them act all the time (`drive`), control laws at their samples (servo_laws.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import velocity_count
from skodyn.lanes import fma, load_rows, parameter, select, splat, store_rows
from skodyn.model.keys import ANY, BOOLEAN, POSITIVE_LIMIT, key
from skodyn.simulation.element_tools import add_torque
from skodyn.simulation.forces import COUNT, INTEGRAL, OFFSET

__all__ = [
    "CURVE",
    "INTEGRATING",
    "KNOTS",
    "LARGEST",
    "LIMITED",
    "PROPORTIONAL",
    "TARGET",
    "TARGET_VELOCITY",
    "VELOCITY_LIMIT",
    "WEIGHT",
    "Integral",
    "drive",
    "held",
    "integral_of",
    "limited_pid",
    "pid",
]

PROPORTIONAL = key(ANY, "torque for each radian (force for each metre) away from the target")
INTEGRATING = key(ANY, "torque for each rad·s of the integral of the error")
LARGEST = key(POSITIVE_LIMIT, "largest torque or force, N·m or N")
WEIGHT = key(BOOLEAN, "add what holds the system against gravity")

KP, KD, KI, TARGET, TARGET_VELOCITY, TORQUE_LIMIT, VELOCITY_LIMIT, CURVE = range(8)
"""Where the numbers of a servo lie; a target that moves has a curve behind them."""
KNOTS = TARGET
"""How many times a curve has, 0 for a sinusoid; its highest speed is where TARGET_VELOCITY is."""
LIMITED = 2
"""In COUNT, for a speed limit, beside 1 for gravity compensation."""


class Integral(NamedTuple):
    """What a servo has integrated of its error in position."""

    runs: bool
    value: Any


@helper
def cut(x, bound):
    x = select(x > bound, bound, x)
    return select(x < -bound, -bound, x)


@helper
def pid(work, numbers, i, errors, integral):
    """(torque, rate of the integral) for errors in position and velocity."""
    error, slip = errors
    torque = fma(parameter(work, numbers, i + KP), error, parameter(work, numbers, i + KD) * slip)
    if integral.runs:
        torque = fma(parameter(work, numbers, i + KI), integral.value, torque)
    return torque, error


@helper
def limited_pid(work, numbers, i, target, v, integral):
    """The same towards a target (error in position, velocity), its speed limited (speed_limits.py).

    The integral stands still while it would only push further beyond the cut.
    """
    error, speed = target
    one = splat(work, 1.0)
    kd, ki = parameter(work, numbers, i + KD), parameter(work, numbers, i + KI)
    push = fma(parameter(work, numbers, i + KP), error, kd * speed)
    bound = one * (kd * parameter(work, numbers, i + VELOCITY_LIMIT))
    if integral.runs:
        push = fma(ki, integral.value, push)
    reached = cut(push, bound)
    rate = select((push - reached) * (ki * error) > 0.0, 0.0 * error, error)
    return fma(-(one * kd), v, reached), rate


@helper
def held(work, numbers, i, torque):
    """Cut to what the servo can give."""
    return cut(torque, splat(work, 1.0) * parameter(work, numbers, i + TORQUE_LIMIT))


@helper
def integral_of(work, system, at, state):
    """What the element at this place of the codes has integrated."""
    place = system.codes[at + INTEGRAL]
    value = splat(work, 0.0)
    if place >= 0:
        value = load_rows(work, state.y, velocity_count(full_model(system.model)) + place)
    return Integral(place >= 0, value)


@helper
def drive(work, system, at, dof, effects, law):
    """Let the (torque, rate of the integral) of a law act, with gravity compensated if asked."""
    codes, numbers, i = system.codes, system.numbers, system.codes[at + OFFSET]
    torque, rate = law
    if codes[at + INTEGRAL] >= 0:
        z = velocity_count(full_model(system.model)) + codes[at + INTEGRAL]
        store_rows(work, effects.rates, z, rate)
    if codes[at + COUNT] % LIMITED > 0:
        torque = torque + load_rows(work, effects.gravity, dof)
    add_torque(work, effects.tau, dof, held(work, numbers, i, torque))
