"""Every key of a scenario file: which values it takes, and what it means.

The keys of a table are the fields of a dataclass, defaults included; a field without a default must
be given. A test holds this page and the dataclasses together, so a field added to one of them
needs a line here, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from skodyn.model.columns import LARGEST, as_floats
from skodyn.scenario.description import (
    CHANNELS,
    Bounds,
    InitialSettings,
    OutputSettings,
    RunSettings,
)
from skodyn.simulation.elements import (
    FixmanForce,
    JointProperties,
    PointSpring,
    Servo,
    Sinusoid,
    TorqueTable,
    Wrench,
)
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat

__all__ = ["CONTROLLERS", "FORCES", "METHOD_KEYS", "SCHEMA", "Key", "Kind", "numbers"]


@dataclass(frozen=True)
class Kind:
    """Which values a key takes; `read` gives None for all others."""

    form: str  # completes "give …"
    read: Callable[[Any], Any]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Key:
    kind: Kind
    meaning: str


# ---- kinds --------------------------------------------------------------------------------------


def numbers(value: Any) -> tuple[float, ...] | None:
    """A list of one or more ordinary numbers; None for everything else."""
    array = as_floats(value)
    if array is None or array.ndim != 1 or array.size == 0 or not (abs(array) <= LARGEST).all():
        return None
    return tuple(array.tolist())


def _number(fits: Callable[[float], bool] = lambda x: True) -> Callable[[Any], float | None]:
    def read(value: Any) -> float | None:
        found = numbers([value])
        return found[0] if found and fits(found[0]) else None

    return read


def _integer(low: int) -> Callable[[Any], int | None]:
    return lambda value: value if type(value) is int and low <= value < 2**63 else None


def _three(value: Any) -> tuple[float, ...] | None:
    found = numbers(value)
    return found if found and len(found) == 3 else None


def _increasing(value: Any) -> tuple[float, ...] | None:
    found = numbers(value) or ()
    return found if len(found) > 1 and all(a < b for a, b in pairwise(found)) else None


def _channels(value: Any) -> tuple[str, ...] | None:
    """Known channels, none of them twice."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    return tuple(value) if len({*value} & {*CHANNELS}) == len(value) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _one_of(*choices: str) -> Kind:
    form = f"one of {', '.join(choices)}"
    return Kind(form, lambda value: value if value in choices else None, choices)


_ANY = Kind("a finite number", _number())
_NOT_NEGATIVE = Kind("a number of at least 0", _number(lambda x: x >= 0.0))
_POSITIVE = Kind("a number above 0", _number(lambda x: x > 0.0))
_LIMIT = Kind("a finite number, or leave it out for no limit", _number())
_POSITIVE_LIMIT = Kind("a number above 0, or leave it out for no limit", _number(lambda x: x > 0.0))
_SMALL = Kind("a number above 0 and below 1", _number(lambda x: 0.0 < x < 1.0))
_VECTOR = Kind("three finite numbers", _three)
_NUMBERS = Kind("a list of finite numbers", numbers)
_TIMES = Kind("a list of two or more times, each later than the one before", _increasing)
_BOOLEAN = Kind("true or false", lambda value: value if isinstance(value, bool) else None)
_TITLE = Kind("a text", _text)
_JOINT = Kind("the name of a joint with one degree of freedom", _text)
_BODY = Kind("the name of a body", _text)
_BODY_OR_WORLD = Kind('the name of a body, or "world"', _text)
_SEED = Kind("a whole number from 0 to 2⁶³ − 1", _integer(0))
_STEPS = Kind("a whole number of at least 1", _integer(1))
_CHANNELS = Kind(f"a list of {', '.join(CHANNELS)}, each at most once", _channels, CHANNELS)

# ---- tables -------------------------------------------------------------------------------------

_OF_BODY = "in the axes of the body, m"

SCHEMA: dict[type, dict[str, Key]] = {
    RunSettings: {
        "title": Key(_TITLE, "what the run is called; without it, the name of the model"),
        "duration": Key(_POSITIVE, "simulated time, s"),
        "seed": Key(_SEED, "of all random numbers: `q_noise`, `v_noise` and the thermostat"),
    },
    InitialSettings: {
        "q_noise": Key(
            _NOT_NEGATIVE,
            "standard deviation of a random displacement of every degree of freedom, rad or m",
        ),
        "v_noise": Key(
            _NOT_NEGATIVE,
            "standard deviation of a random velocity on every degree of freedom, rad/s or m/s",
        ),
        "assemble": Key(
            _BOOLEAN,
            "find coordinates that close all loops; those given in `q` stay where they are",
        ),
        "project": Key(
            _BOOLEAN,
            "find velocities that keep all loops closed; those given in `v` stay if they can",
        ),
    },
    JointProperties: {
        "stiffness": Key(_NOT_NEGATIVE, "of a spring, N·m/rad or N/m"),
        "rest": Key(_ANY, "where that spring is at rest, rad or m"),
        "damping": Key(_NOT_NEGATIVE, "viscous, N·m·s/rad or N·s/m"),
        "friction": Key(_NOT_NEGATIVE, "dry friction when sliding, N·m or N"),
        "friction_speed": Key(_POSITIVE, "speed below which dry friction fades, rad/s or m/s"),
        "lower": Key(_LIMIT, "where the lower stop begins, rad or m"),
        "upper": Key(_LIMIT, "where the upper stop begins, rad or m"),
        "stop_stiffness": Key(_NOT_NEGATIVE, "of the stops, N·m/rad or N/m"),
        "stop_damping": Key(_NOT_NEGATIVE, "of the stops, N·m·s/rad or N·s/m"),
    },
    Servo: {
        "joint": Key(_JOINT, "which joint it drives"),
        "kp": Key(_ANY, "torque for each radian (force for each metre) away from the target"),
        "kd": Key(_ANY, "torque for each rad/s away from `target_velocity`"),
        "ki": Key(_ANY, "torque for each rad·s of the integral of the error"),
        "target": Key(_ANY, "coordinate to reach, rad or m"),
        "target_velocity": Key(_ANY, "velocity to reach, rad/s or m/s"),
        "limit": Key(_POSITIVE_LIMIT, "largest torque or force, N·m or N"),
        "gravity_compensation": Key(_BOOLEAN, "add what holds the system against gravity"),
    },
    Sinusoid: {
        "joint": Key(_JOINT, "which joint it drives"),
        "amplitude": Key(_ANY, "of the torque or force, N·m or N"),
        "frequency": Key(_NOT_NEGATIVE, "Hz"),
        "phase": Key(_ANY, "rad"),
        "offset": Key(_ANY, "mean torque or force, N·m or N"),
    },
    TorqueTable: {
        "joint": Key(_JOINT, "which joint it drives"),
        "times": Key(_TIMES, "s; linear in between, constant outside"),
        "torques": Key(_NUMBERS, "one for each time, N·m or N"),
    },
    Wrench: {
        "body": Key(_BODY, "which body it acts on"),
        "force": Key(_VECTOR, "N"),
        "moment": Key(_VECTOR, "N·m"),
        "point": Key(_VECTOR, f"where the force acts, {_OF_BODY}"),
        "frame": Key(_one_of("world", "body"), "whose axes `force` and `moment` are given in"),
    },
    PointSpring: {
        "body_a": Key(_BODY_OR_WORLD, "one end"),
        "body_b": Key(_BODY_OR_WORLD, "the other end"),
        "stiffness": Key(_NOT_NEGATIVE, "N/m"),
        "damping": Key(_NOT_NEGATIVE, "along the spring, N·s/m"),
        "length": Key(_NOT_NEGATIVE, "without load, m"),
        "point_a": Key(_VECTOR, f"where it is attached, {_OF_BODY}"),
        "point_b": Key(_VECTOR, f"where it is attached, {_OF_BODY}"),
    },
    FixmanForce: {
        "kT": Key(_NOT_NEGATIVE, "temperature times Boltzmann's constant, J"),
    },
    AndersenThermostat: {
        "kT": Key(_POSITIVE, "temperature times Boltzmann's constant, J"),
        "rate": Key(_POSITIVE, "how often all velocities are drawn anew, 1/s"),
    },
    IntegratorSettings: {
        "method": Key(_one_of(*METHODS), "how time advances"),
        "dt": Key(_POSITIVE, "step, s; not for `dormand_prince`, which chooses its own"),
        "tolerance": Key(_SMALL, "of the implicit equations; `implicit_midpoint` only"),
        "rtol": Key(_SMALL, "relative error allowed in a step; `dormand_prince` only"),
        "atol": Key(_POSITIVE, "absolute error allowed in a step; `dormand_prince` only"),
        "first_step": Key(_POSITIVE, "length of the first step, s; `dormand_prince` only"),
        "max_step": Key(_POSITIVE_LIMIT, "longest step, s; `dormand_prince` only"),
    },
    OutputSettings: {
        "every": Key(_STEPS, "steps from one row of the log to the next; not `dormand_prince`"),
        "interval": Key(_POSITIVE, "seconds from one row to the next; `dormand_prince` only"),
        "channels": Key(_CHANNELS, "what is logged besides time, q and v"),
    },
    Bounds: {
        "max_speed": Key(_POSITIVE_LIMIT, "stop when any joint is faster, rad/s or m/s"),
    },
}

METHOD_KEYS: dict[str, tuple[str, ...]] = {
    name: method.settings for name, method in METHODS.items()
}
"""The settings that each method takes."""

CONTROLLERS: dict[str, type] = {"servo": Servo, "sinusoid": Sinusoid, "torque_table": TorqueTable}
FORCES: dict[str, type] = {"wrench": Wrench, "point_spring": PointSpring, "fixman": FixmanForce}
