"""Every key of a scenario file: which values it takes, and what it means.

The keys of a table are the fields of a dataclass, defaults included; a field without a default must
be given. A test holds this page and the dataclasses together, so a field added to one of them
needs a line here, and nothing else.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from skodyn.channels.entry import CHANNELS, loggable
from skodyn.channels.files import names_function
from skodyn.scenario.description import (
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
from skodyn.simulation.keys import (
    ANY,
    BODY,
    BODY_OR_WORLD,
    BOOLEAN,
    JOINT,
    LIMIT,
    NOT_NEGATIVE,
    NUMBERS,
    POSITIVE,
    POSITIVE_LIMIT,
    SEED,
    STEPS,
    TIMES,
    TITLE,
    VECTOR,
    Key,
    Kind,
    numbers,
    one_of,
)
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat

__all__ = ["CONTROLLERS", "FORCES", "SCHEMA", "Key", "Kind", "default_of", "numbers"]


def _channels(value: Any) -> tuple[str, ...] | None:
    """Known channels and functions of files, none of them twice."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return None
    known = all(names_function(one) or _is_logged(one) for one in value)
    return tuple(value) if known and len({*value}) == len(value) else None


def _is_logged(name: str) -> bool:
    found = CHANNELS.get(name)
    return found is not None and not found.always


_CHANNELS = Kind(
    lambda: f"a list of {', '.join(loggable())} or FILE.py:FUNCTION, each at most once",
    _channels,
    loggable,
)

_METHOD = Kind(
    lambda: f"one of {METHODS.listed()}",
    lambda value: value if isinstance(value, str) and value in METHODS else None,
    lambda: tuple(METHODS),
)
_ADAPTIVE = ", ".join(f"`{name}`" for name, one in METHODS.built_in.items() if one.adaptive)

# ---- tables -------------------------------------------------------------------------------------

_OF_BODY = "in the axes of the body, m"

SCHEMA: dict[type, dict[str, Key]] = {
    RunSettings: {
        "title": Key(TITLE, "what the run is called; without it, the name of the model"),
        "duration": Key(POSITIVE, "simulated time, s"),
        "seed": Key(SEED, "of all random numbers: `q_noise`, `v_noise` and the thermostat"),
    },
    InitialSettings: {
        "q_noise": Key(
            NOT_NEGATIVE,
            "standard deviation of a random displacement of every degree of freedom, rad or m",
        ),
        "v_noise": Key(
            NOT_NEGATIVE,
            "standard deviation of a random velocity on every degree of freedom, rad/s or m/s",
        ),
        "assemble": Key(
            BOOLEAN,
            "find coordinates that close all loops; those given in `q` stay where they are",
        ),
        "project": Key(
            BOOLEAN,
            "find velocities that keep all loops closed; those given in `v` stay if they can",
        ),
    },
    JointProperties: {
        "stiffness": Key(NOT_NEGATIVE, "of a spring, N·m/rad or N/m"),
        "rest": Key(ANY, "where that spring is at rest, rad or m"),
        "damping": Key(NOT_NEGATIVE, "viscous, N·m·s/rad or N·s/m"),
        "friction": Key(NOT_NEGATIVE, "dry friction when sliding, N·m or N"),
        "friction_speed": Key(POSITIVE, "speed below which dry friction fades, rad/s or m/s"),
        "lower": Key(LIMIT, "where the lower stop begins, rad or m"),
        "upper": Key(LIMIT, "where the upper stop begins, rad or m"),
        "stop_stiffness": Key(NOT_NEGATIVE, "of the stops, N·m/rad or N/m"),
        "stop_damping": Key(NOT_NEGATIVE, "of the stops, N·m·s/rad or N·s/m"),
    },
    Servo: {
        "joint": Key(JOINT, "which joint it drives"),
        "kp": Key(ANY, "torque for each radian (force for each metre) away from the target"),
        "kd": Key(ANY, "torque for each rad/s away from `target_velocity`"),
        "ki": Key(ANY, "torque for each rad·s of the integral of the error"),
        "target": Key(ANY, "coordinate to reach, rad or m"),
        "target_velocity": Key(ANY, "velocity to reach, rad/s or m/s"),
        "limit": Key(POSITIVE_LIMIT, "largest torque or force, N·m or N"),
        "gravity_compensation": Key(BOOLEAN, "add what holds the system against gravity"),
    },
    Sinusoid: {
        "joint": Key(JOINT, "which joint it drives"),
        "amplitude": Key(ANY, "of the torque or force, N·m or N"),
        "frequency": Key(NOT_NEGATIVE, "Hz"),
        "phase": Key(ANY, "rad"),
        "offset": Key(ANY, "mean torque or force, N·m or N"),
    },
    TorqueTable: {
        "joint": Key(JOINT, "which joint it drives"),
        "times": Key(TIMES, "s; linear in between, constant outside"),
        "torques": Key(NUMBERS, "one for each time, N·m or N"),
    },
    Wrench: {
        "body": Key(BODY, "which body it acts on"),
        "force": Key(VECTOR, "N"),
        "moment": Key(VECTOR, "N·m"),
        "point": Key(VECTOR, f"where the force acts, {_OF_BODY}"),
        "frame": Key(one_of("world", "body"), "whose axes `force` and `moment` are given in"),
    },
    PointSpring: {
        "body_a": Key(BODY_OR_WORLD, "one end"),
        "body_b": Key(BODY_OR_WORLD, "the other end"),
        "stiffness": Key(NOT_NEGATIVE, "N/m"),
        "damping": Key(NOT_NEGATIVE, "along the spring, N·s/m"),
        "length": Key(NOT_NEGATIVE, "without load, m"),
        "point_a": Key(VECTOR, f"where it is attached, {_OF_BODY}"),
        "point_b": Key(VECTOR, f"where it is attached, {_OF_BODY}"),
    },
    FixmanForce: {
        "kT": Key(NOT_NEGATIVE, "temperature times Boltzmann's constant, J"),
    },
    AndersenThermostat: {
        "kT": Key(POSITIVE, "temperature times Boltzmann's constant, J"),
        "rate": Key(POSITIVE, "how often all velocities are drawn anew, 1/s"),
    },
    IntegratorSettings: {
        "method": Key(_METHOD, "how time advances"),
        "dt": Key(POSITIVE, f"step, s; not for {_ADAPTIVE}, which chooses its own"),
        **{
            setting.name: Key(setting.kind, f"{setting.meaning}; `{name}` only")
            for name, method in METHODS.built_in.items()
            for setting in method.settings
        },
    },
    OutputSettings: {
        "every": Key(STEPS, f"steps from one row of the log to the next; not {_ADAPTIVE}"),
        "interval": Key(POSITIVE, f"seconds from one row to the next; {_ADAPTIVE} only"),
        "channels": Key(_CHANNELS, "what is logged besides time, q and v"),
    },
    Bounds: {
        "max_speed": Key(POSITIVE_LIMIT, "stop when any joint is faster, rad/s or m/s"),
    },
}

CONTROLLERS: dict[str, type] = {"servo": Servo, "sinusoid": Sinusoid, "torque_table": TorqueTable}
FORCES: dict[str, type] = {"wrench": Wrench, "point_spring": PointSpring, "fixman": FixmanForce}


def default_of(cls: type, key: str) -> Any:
    """What a key is if it is left out; MISSING if it must be given."""
    if cls is IntegratorSettings:
        return getattr(IntegratorSettings(), key)
    return next(f.default for f in fields(cls) if f.name == key)
