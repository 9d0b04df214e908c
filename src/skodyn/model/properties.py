"""What a joint has besides its geometry: passive forces, and limits that a maker states."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from skodyn.model.keys import (
    ANY,
    LIMIT,
    NOT_NEGATIVE,
    NOT_NEGATIVE_EACH,
    NOT_NEGATIVE_LIMIT,
    POSITIVE,
    key,
)
from skodyn.model.keywords import fields_checked

__all__ = ["JointLimits", "JointProperties"]


@fields_checked
@dataclass(frozen=True)
class JointProperties:
    """Passive forces of a joint, the same for each degree of freedom unless they are listed.

    Springs and stops need a joint without quaternions.

    Parameters
    ----------
    stiffness : float or sequence of floats
        Of the spring −stiffness·(q − rest), N m/rad or N/m; a list has one for each degree of
        freedom.
    rest : float
        Where the spring is relaxed, rad or m.
    damping : float or sequence of floats
        Of the viscous damper −damping·v, N m s/rad or N s/m; a list has one for each.
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

    stiffness: float | tuple[float, ...] = field(
        default=0.0, metadata=key(NOT_NEGATIVE_EACH, "of a spring, N·m/rad or N/m")
    )
    rest: float = field(default=0.0, metadata=key(ANY, "where that spring is at rest, rad or m"))
    damping: float | tuple[float, ...] = field(
        default=0.0, metadata=key(NOT_NEGATIVE_EACH, "viscous, N·m·s/rad or N·s/m")
    )
    friction: float = field(
        default=0.0, metadata=key(NOT_NEGATIVE, "dry friction when sliding, N·m or N")
    )
    friction_speed: float = field(
        default=1e-2,
        metadata=key(POSITIVE, "speed below which dry friction fades, rad/s or m/s"),
    )
    lower: float = field(
        default=-math.inf, metadata=key(LIMIT, "where the lower stop begins, rad or m")
    )
    upper: float = field(
        default=math.inf, metadata=key(LIMIT, "where the upper stop begins, rad or m")
    )
    stop_stiffness: float = field(
        default=1e4, metadata=key(NOT_NEGATIVE, "of the stops, N·m/rad or N/m")
    )
    stop_damping: float = field(
        default=1e1, metadata=key(NOT_NEGATIVE, "of the stops, N·m·s/rad or N·s/m")
    )


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

    lower: float = field(default=-math.inf, metadata=key(LIMIT, "of the coordinate, rad or m"))
    upper: float = field(default=math.inf, metadata=key(LIMIT, "of the coordinate, rad or m"))
    velocity: float = field(
        default=math.inf, metadata=key(NOT_NEGATIVE_LIMIT, "largest speed, rad/s or m/s")
    )
    effort: float = field(
        default=math.inf, metadata=key(NOT_NEGATIVE_LIMIT, "largest torque or force, N·m or N")
    )
