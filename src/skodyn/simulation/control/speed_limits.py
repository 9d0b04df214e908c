"""Servos with a speed limit: position and velocity loops in cascade, the speed asked for cut.

PID control is kd·(w − v) with the speed w = ṙ + (kp·(r − q) + ki·∫(r − q)dt) / kd. With a speed
limit V, w is cut to ±V. So the torque is cut(kd·w, ±kd·V) − kd·v, which no division is needed for,
and a joint that is faster than V is braked whatever the target is: v > V gives a torque below
−kd·(v − V). The integral stands still while it would only push further beyond the cut.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from skodyn.jit import helper
from skodyn.kernels.mimics import full_model
from skodyn.kernels.workspace import velocity_count
from skodyn.lanes import fma, load_rows, parameter, select, splat, store_rows
from skodyn.model.keys import POSITIVE_LIMIT, key
from skodyn.simulation.element_tools import add_torque
from skodyn.simulation.forces import COUNT, INTEGRAL, OFFSET

__all__ = ["LIMITED", "SPEED_LIMIT", "limited_pid", "limited_torque", "speed_limit_faults"]

SPEED_LIMIT = key(POSITIVE_LIMIT, "largest speed that it drives its joint with, rad/s or m/s")
LIMITED = 2  # in COUNT, beside 1 for gravity compensation


@helper
def cut(x, bound):
    x = select(x > bound, bound, x)
    return select(x < -bound, -bound, x)


@helper
def limited_pid(work, system, at, dof, state, effects, target):
    """Torque towards a target (position error, velocity), its speed limited.

    Numbers: kp, kd, ki, two of its own, limit, speed limit; COUNT is odd if gravity is compensated.
    """
    codes, numbers, i = system.codes, system.numbers, system.codes[at + OFFSET]
    error, speed = target
    one, kd, ki = splat(work, 1.0), parameter(work, numbers, i + 1), parameter(work, numbers, i + 2)
    push = fma(parameter(work, numbers, i), error, kd * speed)
    bound = one * (kd * parameter(work, numbers, i + 6))
    if codes[at + INTEGRAL] >= 0:
        z = velocity_count(full_model(system.model)) + codes[at + INTEGRAL]
        push = fma(ki, load_rows(work, state.y, z), push)
        winding = (push - cut(push, bound)) * (ki * error)
        store_rows(work, effects.rates, z, select(winding > 0.0, 0.0 * error, error))
    torque = fma(-(one * kd), load_rows(work, state.y, dof), cut(push, bound))
    if codes[at + COUNT] % LIMITED > 0:
        torque = torque + load_rows(work, effects.gravity, dof)
    limit = one * parameter(work, numbers, i + 5)
    add_torque(work, effects.tau, dof, cut(torque, limit))


def limited_torque(servo: Any, error: Any, v: Any) -> Any:
    """The same of a servo whose target stays, without an integral, for arrows."""
    push = servo.kp * error + servo.kd * servo.target_velocity
    bound = servo.kd * servo.speed_limit
    return np.clip(push, -bound, bound) - servo.kd * v


def speed_limit_faults(given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Without a velocity loop nothing holds a speed."""
    limit, kd = (given.get(name, none) for name, none in (("speed_limit", math.inf), ("kd", 0.0)))
    unfit = any(isinstance(one, tuple) for one in (limit, kd))
    if unfit or not math.isfinite(limit) or kd > 0.0:
        return []
    what = f"has a speed_limit and kd = {kd:g}, so that nothing slows its joint down"
    return [("speed_limit", what, "give a kd above 0, or leave out speed_limit.")]
