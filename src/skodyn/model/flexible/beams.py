"""A straight uniform beam as a person describes it, its checks, and the numbers that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from skodyn.faults import Fault, Subject, shown
from skodyn.model.keys import Kind, numbers
from skodyn.model.keywords import fields_checked
from skodyn.wording import Spelling

__all__ = ["BEAM_KEYS", "DIRECTIONS", "Beam", "BeamNumbers", "beam_faults", "beam_of"]

DIRECTIONS = ("y", "z", "twist", "stretch")
MOST_MODES = 30
MOST_SEGMENTS = 1000
_ENDS = ("root", "tip")
_SECTIONS = ("box", "tube")


@fields_checked
@dataclass(frozen=True, eq=False)
class Beam:
    """A straight, uniform, slender beam that bends: along x of its body, from the body's origin.

    Give mass_per_length and bending_stiffness; or section, young and density, from which all of
    them follow. Then say by what it moves: modes, for deflections up to a tenth of its length, or
    segments, for any.

    Parameters
    ----------
    length : float
        m.
    mass_per_length : float, optional
        kg/m.
    bending_stiffness : float or pair of floats, optional
        EI against deflection in y and in z, N m².
    torsion_stiffness : float, optional
        GJ, N m²; twist needs it.
    axial_stiffness : float, optional
        EA, N; stretch needs it.
    rotary_inertia : float or pair of floats, optional
        Of the sections, ∫ρy² and ∫ρz² over them, kg m; their sum is the inertia about the axis.
    section : mapping, optional
        {"box": (size in y, size in z)} or {"tube": (outer radius, inner radius)}, m.
    young : float, optional
        Modulus of elasticity, N/m².
    density : float, optional
        kg/m³.
    poisson : float, optional
        Poisson's ratio; torsion follows from it.
    modes : mapping of str to int, optional
        How many in each direction: "y", "z", "twist", "stretch".
    segments : int, optional
        Rigid pieces with elastic joints between them, instead of modes.
    damping : float or sequence of floats
        Part of critical damping: of every mode, or one for each. Of segments: that of the lowest
        bending mode in each direction.
    stiffening : bool
        Whether deflections shorten the beam, from which geometric stiffening comes.
    nodes : mapping of str to float
        Further places where bodies and frames can be attached, as parts of the length. "root" and
        "tip" are always there.
    loaded : sequence of str
        Nodes without a body that take a force: modes then have the static shapes of these nodes,
        as those have that carry something.

    See Also
    --------
    ModelBuilder.add_body : takes it as `flexible`.

    Examples
    --------
    >>> strip = sk.Beam(1.0, mass_per_length=0.27, bending_stiffness=0.66, segments=10)
    >>> b = sk.ModelBuilder()
    >>> b.add_body("strip", joint=sk.Revolute(axis=(0, 1, 0)), flexible=strip)
    >>> b.build().n_bodies
    10
    """

    length: float
    mass_per_length: float | None = None
    bending_stiffness: float | Sequence[float] | None = None
    torsion_stiffness: float | None = None
    axial_stiffness: float | None = None
    rotary_inertia: float | Sequence[float] | None = None
    section: Mapping[str, Sequence[float]] | None = None
    young: float | None = None
    density: float | None = None
    poisson: float | None = None
    modes: Mapping[str, int] | None = None
    segments: int | None = None
    damping: float | Sequence[float] = 0.0
    stiffening: bool = True
    nodes: Mapping[str, float] = field(default_factory=dict)
    loaded: Sequence[str] = ()

    def __eq__(self, other: object) -> bool:
        """Do both say the same, be it by a number or by two alike, by a list or an array?"""
        return isinstance(other, Beam) and self.table() == other.table()

    __hash__ = None  # type: ignore[assignment]  # it holds tables

    @property
    def numbers(self) -> BeamNumbers:
        """Mass, stiffness and inertia, whichever way they were given."""
        return _by_section(self) if self.section is not None else _as_given(self)

    def table(self) -> dict[str, Any]:
        """The table `flexible` of a model file that says the same; what was left out is not in."""
        beam = {key: _plain(getattr(self, key)) for key in BEAM_KEYS}
        both = ("bending_stiffness", "rotary_inertia")
        beam |= {key: list(_pair(beam[key])) for key in both if beam[key] is not None}
        said: dict[str, Any] = {"beam": {k: v for k, v in beam.items() if v is not None}}
        said |= {k: _plain(getattr(self, k)) for k in ("modes", "segments") if getattr(self, k)}
        said |= {"damping": _plain(self.damping), "stiffening": self.stiffening}
        said |= {"nodes": dict(self.nodes)} if self.nodes else {}
        return said | ({"loaded": list(self.loaded)} if self.loaded else {})


def beam_of(table: Mapping[str, Any]) -> Beam:
    """The beam that a table `flexible` with known keys describes; values are judged later."""
    beam = dict(table.get("beam") or {})
    rest = {key: value for key, value in table.items() if key not in ("beam", "file")}
    return Beam(**{"length": None, **beam, **rest})


BEAM_KEYS = tuple(f.name for f in fields(Beam)[:10])
"""Keys of the table `beam`; the others stand beside it."""


class BeamNumbers(NamedTuple):
    """What the equations need; torsion and axial stiffness are 0 where nobody gave them."""

    length: float
    mass: float  # per length
    bending: tuple[float, float]
    torsion: float
    axial: float
    rotary: tuple[float, float]
    outline: tuple[tuple[float, float], ...]  # edge of a section, to be drawn

    @property
    def about_axis(self) -> float:
        """Inertia of a length of 1 m about the axis."""
        return self.rotary[0] + self.rotary[1]


def _plain(value: Any) -> Any:
    """Numbers, lists and tables, in which numbers can be set."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def _pair(value: Any) -> tuple[float, float]:
    both = numbers(_plain(value) if isinstance(_plain(value), list) else [_plain(value)]) or (0.0,)
    return (both[0], both[-1])


def _as_given(beam: Beam) -> BeamNumbers:
    rotary = _pair(beam.rotary_inertia) if beam.rotary_inertia is not None else (0.0, 0.0)
    mass = float(beam.mass_per_length or 0.0)
    sizes = [math.sqrt(12.0 * r / mass) if mass else 0.0 for r in rotary]
    y, z = (size or 0.02 * float(beam.length) for size in sizes)
    return BeamNumbers(
        float(beam.length), mass, _pair(beam.bending_stiffness),
        float(beam.torsion_stiffness or 0.0), float(beam.axial_stiffness or 0.0), rotary,
        _box_outline(y, z),
    )  # fmt: skip


def _by_section(beam: Beam) -> BeamNumbers:
    assert beam.section is not None
    ((kind, sizes),) = beam.section.items()
    a, b = (float(x) for x in sizes)
    if kind == "box":
        area, about = a * b, (a**3 * b / 12.0, a * b**3 / 12.0)
        polar, outline = _box_torsion(a, b), _box_outline(a, b)
    else:
        area, second = math.pi * (a * a - b * b), math.pi / 4.0 * (a**4 - b**4)
        about, polar = (second, second), 2.0 * second
        turns = [2.0 * math.pi * i / 24 for i in range(24)]
        outline = tuple((a * math.cos(turn), a * math.sin(turn)) for turn in turns)
    young, density = float(beam.young or 0.0), float(beam.density or 0.0)
    shear = 0.0 if beam.poisson is None else 0.5 * young / (1.0 + float(beam.poisson))
    return BeamNumbers(
        float(beam.length), density * area, (young * about[0], young * about[1]), shear * polar,
        young * area, (density * about[0], density * about[1]), outline,
    )  # fmt: skip


def _box_outline(y: float, z: float) -> tuple[tuple[float, float], ...]:
    return tuple((0.5 * y * i, 0.5 * z * j) for i, j in ((1, 1), (-1, 1), (-1, -1), (1, -1)))


def _box_torsion(y: float, z: float) -> float:
    """Saint-Venant's torsion constant of a rectangle (Timoshenko & Goodier, Theory of Elasticity,
    §109)."""
    a, b = max(y, z), min(y, z)
    odd = range(1, 40, 2)
    rows = sum(math.tanh(0.5 * n * math.pi * a / b) / n**5 for n in odd)
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * b / a * rows)


# ---- checks -------------------------------------------------------------------------------------


def _read(fits: Any) -> Any:
    def read(value: Any) -> float | None:
        found = numbers([value])
        return found[0] if found and fits(found[0]) else None

    return read


_POSITIVE = Kind("a number above 0", _read(lambda x: x > 0.0))
_POISSON = Kind("a number above -1 and at most 0.5", _read(lambda x: -1.0 < x <= 0.5))


def _listed(value: Any, least: float, lengths: tuple[int, ...]) -> bool:
    """Is it a number, or a list of so many, each at least so large?"""
    plain = _plain(value)
    found = numbers(plain if isinstance(plain, list) else [plain])
    many = len(plain) if isinstance(plain, list) else 1
    return bool(found) and many in lengths and all(x >= least for x in found or ())


def beam_faults(beam: Beam, whose: Subject) -> list[Fault]:
    """Everything that is wrong with a beam; whose: its body."""
    return [*_of_numbers(beam, whose), *_of_modes(beam, whose), *_of_nodes(beam, whose)]


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


def _check_section(section: Any, inside: _Inside) -> None:
    remedy = "give { box = [size in y, size in z] } or { tube = [outer radius, inner radius] }."
    if not isinstance(section, Mapping) or len(section) != 1:
        inside.found("section", section, remedy)
        return
    ((kind, sizes),) = section.items()
    pair = numbers(_plain(sizes)) if isinstance(_plain(sizes), list) else None
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
        beam.damping, 0.0, (1, count) if isinstance(_plain(beam.damping), list) else (1,)
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
            deeper.say(str(key), "is no direction", Spelling(DIRECTIONS).remedy(key, otherwise))
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
        if kind.read(_plain(value)) is None:
            self.found(key, value, f"give {kind.form}.")
