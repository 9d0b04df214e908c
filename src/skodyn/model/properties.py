"""What a joint has besides its geometry: passive forces, and limits that a maker states."""

from __future__ import annotations

import math
from dataclasses import dataclass

from skodyn.faults import Fault, Subject
from skodyn.model.keywords import fields_checked

__all__ = ["JointLimits", "JointProperties", "stops_fault"]


@fields_checked
@dataclass(frozen=True)
class JointProperties:
    """Passive forces of a joint, the same for each of its degrees of freedom.

    Springs and stops need a joint without quaternions.

    Parameters
    ----------
    stiffness : float
        Of the spring −stiffness·(q − rest), N m/rad or N/m.
    rest : float
        Where the spring is relaxed, rad or m.
    damping : float
        Of the viscous damper −damping·v, N m s/rad or N s/m.
    friction : float
        Of smooth Coulomb friction −friction·v/√(v² + friction_speed²), N m or N.
    friction_speed : float
        Speed below which friction is smoothed, rad/s or m/s.
    lower : float
        Below it a compliant stop acts, rad or m.
    upper : float
        Above it a compliant stop acts, rad or m.
    stop_stiffness : float
        Of the stops, N m/rad or N/m.
    stop_damping : float
        Of the stops, N m s/rad or N s/m.

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> damped = {"link1": sk.JointProperties(damping=2.0)}
    >>> run = sk.simulate(model, [1.0], [0.0], duration=5.0, joints=damped)
    >>> bool(abs(run.q[-1, 0]) < 0.1)
    True
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


@fields_checked
@dataclass(frozen=True)
class JointLimits:
    """What a robot file states of a joint; nothing enforces it.

    Parameters
    ----------
    lower : float
        Least coordinate, rad or m.
    upper : float
        Largest coordinate, rad or m.
    velocity : float
        Largest speed, rad/s or m/s.
    effort : float
        Largest force, N m or N.

    Examples
    --------
    >>> sk.JointLimits(lower=-1.5, upper=1.5, effort=20.0).velocity
    inf
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
