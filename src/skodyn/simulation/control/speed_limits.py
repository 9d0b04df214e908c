"""Servos with a speed limit: position and velocity loops in cascade, the speed asked for cut.

PID control is kd·(w − v) with the speed w = ṙ + (kp·(r − q) + ki·∫(r − q)dt) / kd. With a speed
limit V, w is cut to ±V. So the torque is cut(kd·w, ±kd·V) − kd·v, which no division is needed for,
and a joint that is faster than V is braked whatever the target is: v > V gives a torque below
−kd·(v − V). `limited_pid` of pid_laws.py is this law.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from skodyn.model.keys import POSITIVE_LIMIT, key

__all__ = ["SPEED_LIMIT", "limited_torque", "speed_limit_faults"]

SPEED_LIMIT = key(POSITIVE_LIMIT, "largest speed that it drives its joint with, rad/s or m/s")


def limited_torque(servo: Any, error: Any, v: Any) -> Any:
    """The torque of a servo whose target stays, without an integral, for arrows."""
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
