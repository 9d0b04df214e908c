"""A straight uniform beam as a person describes it, and the numbers that follow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from skodyn.model.keys import numbers
from skodyn.model.keywords import fields_checked
from skodyn.model.products import total
from skodyn.typing import TableValue

__all__ = ["BEAM_KEYS", "DIRECTIONS", "Beam", "BeamNumbers", "beam_of", "plainly"]

DIRECTIONS = ("y", "z", "twist", "stretch")


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

    def table(self) -> dict[str, TableValue]:
        """The table `flexible` of a model file that says the same; what was left out is not in."""
        beam = {key: plainly(getattr(self, key)) for key in BEAM_KEYS}
        both = ("bending_stiffness", "rotary_inertia")
        beam |= {key: list(_pair(beam[key])) for key in both if beam[key] is not None}
        said: dict[str, TableValue] = {"beam": {k: v for k, v in beam.items() if v is not None}}
        said |= {k: plainly(getattr(self, k)) for k in ("modes", "segments") if getattr(self, k)}
        said |= {"damping": plainly(self.damping), "stiffening": self.stiffening}
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


def plainly(value: Any) -> Any:
    """Numbers, lists and tables, in which numbers can be set."""
    if isinstance(value, Mapping):
        return {key: plainly(one) for key, one in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(map(plainly, value)) if isinstance(value, (list, tuple)) else value


def _pair(value: Any) -> tuple[float, float]:
    both = numbers(plainly(value) if isinstance(plainly(value), list) else [plainly(value)]) or (
        0.0,
    )
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
    rows = total(math.tanh(0.5 * n * math.pi * a / b) / n**5 for n in odd)
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * b / a * rows)
