"""What is wrong with a beam as a person describes it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from skodyn.faults import Fault, Subject, shown
from skodyn.model.columns import LARGEST
from skodyn.model.flexible.beams import DIRECTIONS, Beam, BeamNumbers, plainly
from skodyn.model.keys import Kind, numbers, remedy_for
from skodyn.wording import Spelling

__all__ = ["beam_faults"]

MOST_MODES = 30
MOST_SEGMENTS = 1000
_ENDS = ("root", "tip")
_SECTIONS = ("box", "tube")
_FAR = LARGEST**0.75
"""No beam is larger or smaller in any measure: modes have products of four of them."""


def _read(fits: Any) -> Any:
    def read(value: Any) -> float | None:
        found = numbers([value])
        return found[0] if found and fits(found[0]) else None

    return read


_POSITIVE = Kind("a number above 0", _read(lambda x: x > 0.0))
_POISSON = Kind("a number above -1 and at most 0.5", _read(lambda x: -1.0 < x <= 0.5))


def _listed(value: Any, least: float, lengths: tuple[int, ...]) -> bool:
    """Is it a number, or a list of so many, each at least so large?"""
    plain = plainly(value)
    found = numbers(plain if isinstance(plain, list) else [plain])
    many = len(plain) if isinstance(plain, list) else 1
    return bool(found) and many in lengths and all(x >= least for x in found or ())


def beam_faults(beam: Beam, whose: Subject) -> list[Fault]:
    """Everything that is wrong with a beam; whose: its body."""
    of_numbers = _of_numbers(beam, whose) or _of_scale(beam, whose)
    return [*of_numbers, *_of_modes(beam, whose), *_of_nodes(beam, whose)]


def _of_numbers(beam: Beam, whose: Subject) -> list[Fault]:
    inside = _Inside(whose, "beam")
    inside.positive(beam, ("length",))
    by_section = ("section", "young", "density", "poisson")
    by_number = ("mass_per_length", "bending_stiffness", "torsion_stiffness", "axial_stiffness",
                 "rotary_inertia")  # fmt: skip
    given = [key for key in by_number if getattr(beam, key) is not None]
    also = [key for key in by_section if getattr(beam, key) is not None]
    if given and also:
        what = f"has both {given[0]} and {also[0]}"
        inside.say(also[0], what, "give a section with young and density, or the numbers.")
    elif also:
        inside.positive(beam, ("young", "density"))
        if beam.poisson is not None:
            inside.of_kind(beam, "poisson", _POISSON)
        _check_section(beam.section, inside)
    else:
        inside.positive(beam, ("mass_per_length",))
        optional = ("torsion_stiffness", "axial_stiffness")
        inside.positive(beam, [key for key in optional if getattr(beam, key) is not None])
        pairs = ("bending_stiffness", "rotary_inertia")
        for key, least in zip(pairs, (math.ulp(0.0), 0.0), strict=True):
            value = getattr(beam, key)
            if (value is None and key == pairs[1]) or _listed(value, least, (1, 2)):
                continue
            word = "above 0" if least else "of at least 0"
            inside.found(key, value, f"give a number {word}, or two: in y and in z.")
    return inside.faults


def _of_scale(beam: Beam, whose: Subject) -> list[Fault]:
    """Numbers that are valid one by one, and together give what floating point does not hold."""
    inside = _Inside(whose, "beam")
    for what, exponent, unit in _scales(beam.numbers):
        if not abs(exponent) <= _exponent(_FAR):
            problem = f"has {what} of about 1e{exponent:+.0f} {unit}"
            remedy = f"give ordinary SI values, together between {1.0 / _FAR:g} and {_FAR:g}."
            inside.say("length", problem, remedy, beam.length)
            break
    return inside.faults


def _scales(given: BeamNumbers) -> list[tuple[str, float, str]]:
    """What a beam is like as a whole: powers of ten, and their units."""
    mass, length = _exponent(given.mass), _exponent(given.length)
    squares = [_exponent(one) - mass - 4.0 * length for one in given.bending]
    if given.axial > 0.0:
        squares.append(_exponent(given.axial) - mass - 2.0 * length)
    if given.torsion > 0.0 and given.about_axis > 0.0:
        squares.append(_exponent(given.torsion) - _exponent(given.about_axis) - 2.0 * length)
    return [
        ("a length", length, "m"),
        ("a mass", mass + length, "kg"),
        ("an inertia", mass + 3.0 * length, "kg m²"),
        *[("a rotary inertia", _exponent(one) + length, "kg m²") for one in given.rotary if one],
        *[("a squared frequency", one, "/s²") for one in squares],
    ]


def _exponent(x: float) -> float:
    """log₁₀; that of the least number for 0, which a product may come to, and likewise above."""
    return math.log10(min(max(x, math.ulp(0.0)), sys.float_info.max))


def _check_section(section: Any, inside: _Inside) -> None:
    remedy = "give { box = [size in y, size in z] } or { tube = [outer radius, inner radius] }."
    if not isinstance(section, Mapping) or len(section) != 1:
        inside.found("section", section, remedy)
        return
    ((kind, sizes),) = section.items()
    pair = numbers(plainly(sizes)) if isinstance(plainly(sizes), list) else None
    if kind not in _SECTIONS:
        inside.found("section", section, Spelling(_SECTIONS).remedy(kind, remedy[:-1]))
    elif pair is None or len(pair) != 2:
        inside.found("section", section, remedy)
    elif kind == "box" and not min(pair) > 0.0:
        inside.found("section", section, "give sizes above 0.")
    elif kind == "tube" and not pair[0] > pair[1] >= 0.0:
        inside.found("section", section, "give an outer radius above the inner one.")


def _of_modes(beam: Beam, whose: Subject) -> list[Fault]:
    inside = _Inside(whose)
    if beam.modes is not None and beam.segments is not None:
        inside.say("segments", "has both modes and segments", "give the one or the other.")
    elif beam.segments is not None:
        whole = type(beam.segments) is int and 2 <= beam.segments <= MOST_SEGMENTS
        if not whole:
            inside.found(
                "segments", beam.segments, f"give a whole number from 2 to {MOST_SEGMENTS}."
            )
    elif not isinstance(beam.modes, Mapping):
        remedy = "say how many it has, for example { y = 3, z = 3 }, or give segments."
        inside.found("modes", beam.modes, remedy)
    else:
        _check_counts(beam, inside)
    count = _mode_count(beam)
    if not _listed(
        beam.damping, 0.0, (1, count) if isinstance(plainly(beam.damping), list) else (1,)
    ):
        each = f", or {count} of them, one for each mode" if beam.modes else ""
        inside.found("damping", beam.damping, f"give a number of at least 0{each}.")
    if not isinstance(beam.stiffening, bool):
        inside.found("stiffening", beam.stiffening, "give true or false.")
    return inside.faults


def _mode_count(beam: Beam) -> int:
    given = beam.modes if isinstance(beam.modes, Mapping) else {}
    return sum(n for n in given.values() if type(n) is int and n > 0)


def _check_counts(beam: Beam, inside: _Inside) -> None:
    assert beam.modes is not None
    deeper = _Inside(inside.whose, "modes", inside.faults)
    needs = {"twist": "torsion", "stretch": "axial"}
    for key, count in beam.modes.items():
        if key not in DIRECTIONS:
            otherwise = f"the directions are {', '.join(DIRECTIONS)}"
            deeper.say(str(key), "is not a direction", Spelling(DIRECTIONS).remedy(key, otherwise))
        elif type(count) is not int or not 0 <= count <= MOST_MODES:
            deeper.found(key, count, f"give a whole number from 0 to {MOST_MODES}.")
        elif count and key in needs and not _has(beam, needs[key]):
            source = "poisson" if beam.section is not None else f"{needs[key]}_stiffness"
            deeper.say(key, f"is {count}, but the beam has no {needs[key]} stiffness",
                       f"give {source}, or leave it out.")  # fmt: skip
    if not _mode_count(beam) and not any(type(n) is int and n < 0 for n in beam.modes.values()):
        remedy = "ask for at least one, for example { y = 3, z = 3 }."
        inside.found("modes", dict(beam.modes), remedy)


def _has(beam: Beam, which: str) -> bool:
    if beam.section is not None:
        return which == "axial" or beam.poisson is not None
    return getattr(beam, f"{which}_stiffness") is not None


def _of_nodes(beam: Beam, whose: Subject) -> list[Fault]:
    inside = _Inside(whose, "nodes")
    if not isinstance(beam.nodes, Mapping):
        _Inside(whose, faults=inside.faults).found("nodes", beam.nodes, "give a table of numbers.")
        return inside.faults
    for name, part in beam.nodes.items():
        found = numbers([part])
        if name in _ENDS:
            inside.say(name, "is always there", "leave it out, or call it otherwise.")
        elif not found or not 0.0 <= found[0] <= 1.0:
            inside.found(str(name), part, "give its place as a part of the length, from 0 to 1.")
    return inside.faults + _of_loaded(beam, whose)


def _of_loaded(beam: Beam, whose: Subject) -> list[Fault]:
    inside, known = _Inside(whose), (*beam.nodes, *_ENDS)
    listed = beam.loaded if isinstance(beam.loaded, list | tuple) else [None]
    for name in listed:
        if not isinstance(name, str):
            inside.found("loaded", beam.loaded, 'give a list of nodes, for example ["tip"].')
        elif name not in known:
            remedy = Spelling(known).remedy(name, f"the nodes are {', '.join(known)}")
            inside.found("loaded", beam.loaded, remedy)
    if listed and beam.segments is not None:
        remedy = "leave it out: segments bend under a force wherever it acts."
        inside.found("loaded", beam.loaded, remedy)
    return inside.faults


class _Inside:
    """Collects faults of one table inside `flexible`."""

    def __init__(self, whose: Subject, table: str = "", faults: list[Fault] | None = None) -> None:
        self.whose = whose
        self.keys = ("flexible", table) if table else ("flexible",)
        self.faults: list[Fault] = [] if faults is None else faults

    def say(self, key: str, problem: str, remedy: str, value: Any = None) -> None:
        """A fault of a key if the problem begins with "is", else of the table around it."""
        at = self.whose.at(*self.keys)
        words = ".".join((*self.keys, key) if problem.startswith("is ") else self.keys)
        self.faults.append(at.fault(f"{self.whose.words}: {words} {problem}", remedy, key, value))

    def found(self, key: str, value: Any, remedy: str) -> None:
        self.say(key, "is missing" if value is None else f"is {shown(value)}", remedy, value)

    def positive(self, beam: Beam, keys: Sequence[str]) -> None:
        for key in keys:
            self.of_kind(beam, key, _POSITIVE)

    def of_kind(self, beam: Beam, key: str, kind: Kind) -> None:
        value = getattr(beam, key)
        if kind.read(plainly(value)) is None:
            self.found(key, value, remedy_for(kind, value))
