"""What a joint has besides its geometry: passive forces, and limits that a maker states."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skodyn.faults import Fault, Subject

__all__ = ["JointLimits", "JointProperties", "stops_fault"]


@dataclass(frozen=True)
class JointProperties:
    """Passive forces of a joint, the same for each of its degrees of freedom.

    spring −stiffness·(q − rest), viscous damping −damping·v, smooth Coulomb friction
    −friction·v/√(v² + friction_speed²), and compliant stops outside [lower, upper] with
    stop_stiffness and stop_damping. Springs and stops need a joint without quaternions.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    friction_speed: float = 1e-2
    lower: float = -math.inf
    upper: float = math.inf
    stop_stiffness: float = 1e4
    stop_damping: float = 1e1


def stops_fault(whose: Subject, lower: float, upper: float, key: str = "lower") -> Fault | None:
    """A fault unless the lower stop is below the upper one; `key` is the one that was given."""
    if lower < upper:
        return None
    if key == "lower":
        value, why = lower, f", not below upper = {upper}"
    else:
        value, why = upper, f", not above lower = {lower}"
    return whose.found(key, value, "exchange or correct them.", why)


@dataclass(frozen=True)
class JointLimits:
    """What a robot file states of a joint with one degree of freedom; nothing enforces it.

    lower and upper bound the coordinate (rad or m), velocity the speed (rad/s or m/s), effort the
    torque or force of its motor (N·m or N).
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
