"""Every key of a scenario file: which values it takes, and what it means.

The keys of a table are the fields of a dataclass, defaults included; a field without a default must
be given. A test holds this page and the dataclasses together, so a field added to one of them
needs a line here, and nothing else.
"""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any

from skodyn.channels.entry import CHANNELS, loggable
from skodyn.channels.files import names_function
from skodyn.model.contact.contacts import Contact
from skodyn.model.keys import (
    BOOLEAN,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_LIMIT,
    SEED,
    STEPS,
    TITLE,
    Key,
    Kind,
    keys_of,
    numbers,
    one_of,
)
from skodyn.scenario.description import Bounds, InitialSettings, OutputSettings, RunSettings
from skodyn.simulation.element import ELEMENTS, Element
from skodyn.simulation.elements import JointProperties
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat

__all__ = ["SCHEMA", "TABLES", "Key", "Kind", "default_of", "element_types", "numbers", "schema_of"]


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

_EXPONENT = Kind("1 or 1.5", lambda value: float(value) if value in (1, 1.5) else None)
_RESTITUTION = Kind(
    "a number above 0, up to 1",
    lambda value: POSITIVE.read(value) if (POSITIVE.read(value) or 2.0) <= 1.0 else None,
)


def _shapes(value: Any) -> Any:
    """A name, or a list of names."""
    listed = [value] if isinstance(value, str) else value
    fine = isinstance(listed, list) and listed and all(isinstance(x, str) and x for x in listed)
    return (value if isinstance(value, str) else tuple(value)) if fine else None


_SHAPES = Kind("bodies, BODY/SHAPE or shapes of the ground: a name or a list", _shapes)

# ---- tables -------------------------------------------------------------------------------------


def _own_settings() -> dict[str, Key]:
    """Settings of methods: who takes them, and what they are where that depends on the method."""
    keys = {}
    for setting in (one for method in METHODS.built_in.values() for one in method.settings):
        owners = {
            name: own.default
            for name, method in METHODS.built_in.items()
            for own in method.settings
            if own.name == setting.name
        }
        names = " and ".join(f"`{name}`" for name in owners)
        usual = list(owners.values())[-1]
        other = "".join(f", {x:g} for `{name}`" for name, x in owners.items() if x != usual)
        keys[setting.name] = Key(setting.kind, f"{setting.meaning}; {names} only{other}")
    return keys


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
    JointProperties: keys_of(JointProperties),
    Contact: {
        "a": Key(_SHAPES, "the one side; patterns with `*`"),
        "b": Key(_SHAPES, "the other side"),
        "stiffness": Key(
            POSITIVE,
            "N/m, or N/m^1.5 with exponent 1.5; must be given, but with solref or proximity",
        ),
        "exponent": Key(_EXPONENT, "of the depth in the normal force"),
        "dissipation": Key(NOT_NEGATIVE, "s/m; 0 if it and restitution are left out"),
        "restitution": Key(_RESTITUTION, "speed after an impact over that before it"),
        "impact_speed": Key(POSITIVE, "at which that restitution holds, m/s"),
        "friction": Key(NOT_NEGATIVE, "force across over force along the normal; 0 if left out"),
        "static_friction": Key(NOT_NEGATIVE, "the same at rest; friction if left out"),
        "slip_speed": Key(POSITIVE, "at which half of the surplus of static_friction is gone, m/s"),
        "tangential_stiffness": Key(POSITIVE, "N/m; stiffness if left out, with exponent 1"),
        "tangential_damping": Key(POSITIVE, "N·s/m; 2 ms times tangential_stiffness if left out"),
        "torsional_friction": Key(NOT_NEGATIVE, "m: moment about the normal over normal force"),
        "rolling_friction": Key(NOT_NEGATIVE, "m: moment across the normal over normal force"),
        "adjacent": Key(BOOLEAN, "let bodies touch that a joint connects"),
        "solref": Key(one_of("estimate"), "the law is estimated from what an MJCF file says"),
        "proximity": Key(one_of("drake"), "the law is that of Drake's properties in a URDF file"),
    },
    AndersenThermostat: keys_of(AndersenThermostat),
    IntegratorSettings: {
        "method": Key(_METHOD, "how time advances"),
        "dt": Key(POSITIVE, f"step, s; not for {_ADAPTIVE}, which chooses its own"),
        **_own_settings(),
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


TABLES = ("controllers", "forces", "motions")
"""Tables of tables, each with a type: that of an element."""


def schema_of(cls: type) -> dict[str, Key]:
    """The keys of a table; those of a force element are told by its class."""
    return keys_of(cls) if issubclass(cls, Element) else SCHEMA[cls]


def element_types(table: str) -> dict[str, type[Element]]:
    """The kinds of elements that one of TABLES takes, by the word that `type` is."""
    return {name: kind for name, kind in ELEMENTS.items() if kind.table == table and kind.type_name}


@lru_cache(maxsize=4)
def _default_settings(_methods: tuple[str, ...]) -> IntegratorSettings:
    """The settings of nobody's choice; methods that are registered may bring more of them."""
    return IntegratorSettings()


def default_of(cls: type, key: str) -> Any:
    """What a key is if it is left out; MISSING if it must be given."""
    if cls is IntegratorSettings:
        return getattr(_default_settings(tuple(METHODS)), key)
    return next(f.default for f in fields(cls) if f.name == key)
