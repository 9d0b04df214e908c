"""A contact as a person describes it: which shapes meet, and by what law; and its checks.

Restitution and dissipation say the same thing at one speed: an impact at speed v with dissipation c
leaves at e·v, where (Hunt and Crossley's law, any stiffness, exponent and mass)

    (1 + e)·x = ln((1 + x)/(1 − e·x)),   x = c·v
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from skodyn.faults import Fault, Subject, shown
from skodyn.model.columns import LARGEST, as_floats

__all__ = [
    "Contact",
    "Law",
    "dissipation_for",
    "file_faults",
    "law_of",
    "restitution_of",
    "subject_of",
]

DAMPING_TIME = 2e-3
"""Seconds: what is tangential_damping over tangential_stiffness if it is left out."""


@dataclass(frozen=True)
class Contact:
    """Shapes a that touch shapes b, and the law by which they do.

    a, b: bodies, "body/shape" or shapes of the ground; patterns (`*_foot`) and lists, too.
    The normal force is N = stiffness·depth^exponent·(1 + dissipation·rate), never negative, with
    exponent 1 or 1.5; in place of dissipation, a restitution at an impact_speed. Friction holds up
    to friction·N, by a spring and a damper across the normal: tangential_stiffness (stiffness if
    the exponent is 1) and tangential_damping (2 ms times that). At rest it is static_friction·N,
    of whose surplus half is gone at slip_speed. torsional_friction and rolling_friction are
    lengths: moments up to these times N.
    adjacent: shapes of bodies that a joint connects touch as well.
    solref="estimate" takes stiffness, dissipation and friction from what an MJCF file says of the
    shapes, as near as this law comes to MuJoCo's; proximity="drake" from the
    drake:proximity_properties of a URDF file, exactly; `skodyn check` and
    the summary of a run say them.
    """

    a: str | Sequence[str]
    b: str | Sequence[str]
    stiffness: float | None = None
    exponent: float = 1.0
    dissipation: float | None = None
    restitution: float | None = None
    impact_speed: float | None = None
    friction: float | None = None
    static_friction: float | None = None
    slip_speed: float | None = None
    tangential_stiffness: float | None = None
    tangential_damping: float | None = None
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    adjacent: bool = False
    name: str = ""
    solref: str | None = None
    proximity: str | None = None

    @property
    def from_file(self) -> bool:
        """Whether its numbers are those of the shapes' file."""
        return self.solref is not None or self.proximity is not None

    @property
    def text(self) -> str:
        """All that decides it, by which a log knows it again: in the words of logs that were
        written before laws came from files, unless its own does."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        if not self.from_file:
            del given["solref"], given["proximity"]
            given["friction"] = 0.0 if self.friction is None else self.friction
        return f"Contact({', '.join(f'{key}={value!r}' for key, value in given.items())})"


@dataclass(frozen=True)
class Law:
    """The numbers that decide forces."""

    stiffness: float
    hertz: bool  # exponent 1.5
    dissipation: float
    friction: float
    static_friction: float
    slip_speed: float
    tangential_stiffness: float
    tangential_damping: float  # 0 if it is damping_time · tangential_stiffness
    damping_time: float
    torsional_friction: float
    rolling_friction: float

    @property
    def damping(self) -> float:
        """Of the bristles."""
        return self.tangential_damping + self.damping_time * self.tangential_stiffness


def restitution_of(dissipation: float, speed: float) -> float:
    """How fast an impact leaves over how fast it came."""
    x = dissipation * speed
    if x < 1e-8:
        return 1.0 - 2.0 * x / 3.0
    low, high = 0.0, min(1.0, 1.0 / x)
    for _ in range(80):
        e = 0.5 * (low + high)
        if e * x < 1.0 and (1.0 + e) * x - math.log1p(x) + math.log1p(-e * x) > 0.0:
            low = e
        else:
            high = e
    return 0.5 * (low + high)


def dissipation_for(restitution: float, speed: float) -> float:
    """The dissipation c with which an impact at this speed leaves at restitution · speed."""
    if restitution >= 1.0:
        return 0.0
    low, high = 0.0, 1.0 / restitution  # x = c·v, for e·x < 1
    for _ in range(200):
        x = 0.5 * (low + high)
        if restitution_of(x, 1.0) > restitution:
            low = x
        else:
            high = x
    return 0.5 * (low + high) / speed


def subject_of(given: Any) -> Subject:
    """How messages call a contact, and where it stands in a scenario."""
    name = getattr(given, "name", "")
    if name:
        return Subject(("contacts", name), f"Contact {name!r}")
    a, b = (shown(getattr(given, key, None)) for key in "ab")
    return Subject(words=f"Contact of {a} with {b}")


def law_of(given: Contact) -> tuple[Law | None, list[Fault]]:
    """The law, or None and what is wrong."""
    whose = subject_of(given)
    faults = _number_faults(given, whose)
    if faults:
        return None, faults
    given = replace(given, friction=given.friction or 0.0)
    found = [*_normal_faults(given), *_friction_faults(given)]
    if found:
        return None, [whose.fault(f"{whose}: {what}", remedy, key) for key, what, remedy in found]
    stiffness = float(given.stiffness or 0.0)
    c = given.dissipation or 0.0
    if given.restitution is not None and given.impact_speed is not None:
        c = dissipation_for(float(given.restitution), float(given.impact_speed))
    kt = given.tangential_stiffness
    kt = stiffness if kt is None else float(kt)
    d = given.tangential_damping
    mu = float(given.friction or 0.0)
    static = mu if given.static_friction is None else float(given.static_friction)
    return (
        Law(
            stiffness,
            given.exponent == 1.5,
            float(c),
            mu,
            static,
            math.inf if given.slip_speed is None else float(given.slip_speed),
            kt if mu else 0.0,
            0.0 if d is None else float(d),
            DAMPING_TIME if d is None and mu else 0.0,
            float(given.torsional_friction),
            float(given.rolling_friction),
        ),
        [],
    )


_ABOVE_ZERO = (
    "stiffness", "exponent", "restitution", "impact_speed", "slip_speed", "tangential_stiffness",
    "tangential_damping",
)  # fmt: skip


_WORDS = ("a", "b", "name", "solref", "proximity")


def file_faults(given: Contact) -> list[Fault]:
    """What does not go with numbers from a file."""
    whose, found = subject_of(given), []
    for key, word in (("solref", "estimate"), ("proximity", "drake")):
        value = getattr(given, key)
        if value is not None and value != word:
            found.append(whose.found(key, value, f'give "{word}", or leave it out.'))
    if given.solref is not None and given.proximity is not None:
        what = f"{whose}: solref and proximity both say where the numbers are from"
        found.append(whose.fault(what, "give one of them.", "proximity"))
    key = "solref" if given.solref is not None else "proximity"
    numbers = ("stiffness", "dissipation", "restitution", "impact_speed")
    idle = [name for name in numbers if getattr(given, name) is not None]
    idle += ["exponent"] if given.exponent != 1.0 else []
    for name in idle:
        what = f"{whose}: {name} {getattr(given, name)!r} has no effect beside {key}"
        found.append(whose.fault(what, f"give {name} or {key}, not both.", name))
    return found


def _number_faults(given: Contact, whose: Subject) -> list[Fault]:
    faults = []
    for f in fields(Contact):
        value, remedy = getattr(given, f.name), ""
        if f.name in _WORDS or (value is None and "None" in str(f.type)):
            continue
        number = as_floats(value)
        if f.name == "adjacent":
            remedy = "" if isinstance(value, bool) else "give True or False."
        elif number is None or number.ndim or not abs(number) <= LARGEST:
            remedy = "give a finite number."
        elif f.name in _ABOVE_ZERO and not number > 0.0:
            remedy = "give a number above 0."
        elif number < 0.0:
            remedy = "give a number from 0."
        if remedy:
            faults.append(whose.found(f.name, value, remedy))
    return faults


Found = Iterator[tuple[str, str, str]]
"""(key, problem, remedy)."""


def _normal_faults(given: Contact) -> Found:
    if given.stiffness is None:
        remedy = 'give a number above 0, solref = "estimate" for geoms of an MJCF file, '
        remedy += 'or proximity = "drake" for shapes with Drake\'s properties.'
        yield "stiffness", "it has no stiffness", remedy
    if given.exponent not in (1.0, 1.5):
        remedy = "give 1 (stiffness in N/m) or 1.5 (in N/m^1.5)."
        yield "exponent", f"exponent is {given.exponent!r}", remedy
    e, c, speed = given.restitution, given.dissipation, given.impact_speed
    if e is not None and e > 1.0:
        yield "restitution", f"restitution is {e!r}", "give a number above 0, up to 1."
    if e is not None and c is not None:
        what = f"restitution {e!r} and dissipation {c!r} say the same thing"
        yield "dissipation", what, "give one of them."
    if e is not None and speed is None:
        what = f"restitution {e!r} holds at one speed of impact"
        yield "restitution", what, "give impact_speed in m/s, too."
    if e is None and speed is not None:
        what = f"impact_speed {speed!r} has no effect without restitution"
        yield "impact_speed", what, "give both."


def _friction_faults(given: Contact) -> Found:
    mu, static, slip = given.friction or 0.0, given.static_friction, given.slip_speed
    if static is not None and static < mu:
        what = f"static_friction {static!r} is below friction {mu!r}"
        yield "static_friction", what, "give at least as much, or leave it out."
    if static is not None and slip is None:
        what = f"static_friction {static!r} falls to friction with speed"
        remedy = "give slip_speed in m/s, at which half of the surplus is gone."
        yield "static_friction", what, remedy
    if static is None and slip is not None:
        what = f"slip_speed {slip!r} has no effect without static_friction"
        yield "slip_speed", what, "give both."
    if not mu:
        keys = ("static_friction", "tangential_stiffness", "tangential_damping")
        idle = [key for key in keys if getattr(given, key) is not None]
        idle += [k for k in ("torsional_friction", "rolling_friction") if getattr(given, k)]
        for key in idle:
            what = f"{key} {getattr(given, key)!r} has no effect without friction"
            yield key, what, "give friction, too."
    elif given.exponent == 1.5 and given.tangential_stiffness is None:
        what = "friction with exponent 1.5 needs tangential_stiffness in N/m"
        yield "friction", what, "give it, since stiffness is in N/m^1.5."
