"""Laws that robot files give: MuJoCo's soft contacts estimated, Drake's point contacts as they are.

MuJoCo's spring acts per unit of the compliance Λ at the contact, with an impedance d(δ) that grows
with depth (its documentation, "Computation", solver parameters). At rest

    force·Λ = k·d²·δ/(1 − d),   k = 1/(d_width·timeconst·dampratio)²  or  −solref₀/d_width²

and while it moves k·d²·δ alone, so one stiffness cannot have its depth and its frequency. The
estimate keeps the depth that a body has at rest on one contact, where force·Λ = g.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skodyn.model.contact.contacts import Contact, dissipation_for
from skodyn.model.shapes import Proximity, Surface

__all__ = ["Estimate", "from_proximity", "from_solref", "mixed"]

RESTITUTION = 0.02
IMPACT_SPEED = 1.0
"""MuJoCo's contacts are damped critically by default: next to nothing bounces, at m/s."""
_SMALL = 1e-15  # MuJoCo's mjMINVAL
_LEAST, _MOST = 1e-4, 0.9999  # its limits of d


@dataclass(frozen=True)
class Estimate:
    """A contact with its numbers, and what to say of them; `problem` if there are none."""

    contact: Contact | None = None
    words: str = ""
    problem: str = ""
    remedy: str = ""


def mixed(one: Surface | None, two: Surface | None) -> Surface:
    """What MuJoCo takes for a pair: of the higher priority, or mixed, with the larger friction."""
    one, two = one or two or Surface(), two or one or Surface()
    if one.priority != two.priority:
        return one if one.priority > two.priority else two
    share = 0.5
    if one.solmix >= _SMALL and two.solmix >= _SMALL:
        share = one.solmix / (one.solmix + two.solmix)
    elif one.solmix >= _SMALL or two.solmix >= _SMALL:
        share = float(one.solmix >= _SMALL)

    def blend(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(share * x + (1.0 - share) * y for x, y in zip(a, b, strict=True))

    standard = one.solref[0] > 0.0 and two.solref[0] > 0.0
    solref = blend(one.solref, two.solref) if standard else tuple(map(min, one.solref, two.solref))
    slide, torsion, rolling = map(max, one.friction, two.friction)
    return replace(
        one,
        friction=(slide, torsion, rolling),
        condim=max(one.condim, two.condim),
        solref=solref,
        solimp=blend(one.solimp, two.solimp),
    )


def impedance(solimp: tuple[float, ...], depth: float) -> float:
    """d(δ)."""
    first, last, width, middle, power = solimp
    x = min(depth / width, 1.0) if width > _SMALL else 1.0
    if power == 1.0 or x in (0.0, 1.0):
        y = x
    elif x <= middle:
        y = x**power / middle ** (power - 1.0)
    else:
        y = 1.0 - (1.0 - x) ** power / (1.0 - middle) ** (power - 1.0)
    return min(max(first + y * (last - first), _LEAST), _MOST)


def rest_depth(surface: Surface, gravity: float) -> tuple[float, float]:
    """(δ, k·d²): where k·d²·δ/(1 − d) = g, and the stiffness of its motion, per unit of 1/Λ."""
    last = min(max(surface.solimp[1], _LEAST), _MOST)
    first, second = surface.solref[:2]
    k = -first / last**2 if first <= 0.0 else 1.0 / (last * first * second) ** 2

    def holds(depth: float) -> float:
        d = impedance(surface.solimp, depth)
        return k * d * d * depth / (1.0 - d)

    low, high = 0.0, 1.0
    while holds(high) < gravity and high < 1e6:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) < gravity else (low, middle)
    return high, k * impedance(surface.solimp, high) ** 2


def from_solref(
    given: Contact, surfaces: tuple[Surface | None, Surface | None], gravity: float
) -> Estimate:
    """The law of two geoms of an MJCF file, as near as it can be had."""
    known = [x for x in surfaces if x is not None and not isinstance(x, Proximity)]
    compliance = sum(x.invweight for x in known)
    if not known or compliance <= 0.0:
        what = 'solref = "estimate" is for moving geoms of an MJCF file, and these are others'
        return Estimate(problem=what, remedy="give stiffness.")
    surface = mixed(known[0], known[-1])
    if surface.solref[0] == 0.0:
        what = f"solref {surface.solref[0]:g} {surface.solref[1]:g} is not a spring"
        return Estimate(problem=what, remedy="give stiffness.")
    depth, moving = rest_depth(surface, gravity or 9.81)
    stiffness = (gravity or 9.81) / (compliance * depth)
    dissipation = dissipation_for(RESTITUTION, IMPACT_SPEED)
    slide, torsion, rolling = surface.friction
    friction = given.friction
    if friction is None:
        friction = slide if surface.condim > 1 else 0.0
    of_file = {
        "torsional_friction": torsion if surface.condim > 3 else 0.0,
        "rolling_friction": rolling if surface.condim > 4 else 0.0,
    }
    resisting: dict[str, Any] = {
        key: getattr(given, key) or (length if friction else 0.0) for key, length in of_file.items()
    }
    words = (
        f"stiffness {stiffness:.4g} N/m, by which things rest as deep as in MuJoCo "
        f"({depth:.3g} m); its motion has {moving / compliance:.4g} N/m; dissipation "
        f"{dissipation:.3g} s/m for a restitution of {RESTITUTION:g} at {IMPACT_SPEED:g} m/s; "
        f"friction {friction:g}"
    )
    found = replace(
        given,
        stiffness=stiffness,
        dissipation=dissipation,
        friction=friction,
        solref=None,
        **resisting,
    )
    return Estimate(found, words)


def from_proximity(
    given: Contact,
    surfaces: tuple[Surface | None, Surface | None],
    names: Sequence[str],
    ground: Sequence[bool],
) -> Estimate:
    """The law of two shapes with drake:proximity_properties, combined as Drake does.

    ground: which of them belong to the ground, where a shape without any is rigid and has the
    other's friction.
    """
    known = [x for x in surfaces if isinstance(x, Proximity)]
    lacks = [
        f"shape {name!r} {what}"
        for name, surface, fixed in zip(names, surfaces, ground, strict=True)
        if not fixed or isinstance(surface, Proximity)
        for what in _missing(surface)
    ]
    if lacks:
        what = f'proximity = "drake" needs drake:proximity_properties, and {"; ".join(lacks)}'
        return Estimate(problem=what, remedy="add it to the file, or give stiffness.")
    one, two = known[0], known[-1]
    k1, k2 = float(one.stiffness or 0.0), float(two.stiffness or 0.0)
    stiffness = k1 * k2 / (k1 + k2) if len(known) == 2 else k1
    first = k2 / (k1 + k2)
    dissipation = first * float(one.dissipation or 0.0) + (1.0 - first) * float(
        two.dissipation or 0.0
    )
    kinetic = _harmonic(one.kinetic, two.kinetic)
    friction = kinetic if given.friction is None else given.friction
    static = given.static_friction
    if static is None and given.slip_speed is not None and given.friction is None:
        static = _harmonic(one.static or one.kinetic, two.static or two.kinetic)
    words = f"stiffness {stiffness:.4g} N/m, dissipation {dissipation:.3g} s/m, friction "
    found = replace(
        given, stiffness=stiffness, dissipation=dissipation, friction=friction,
        static_friction=static, proximity=None,
    )  # fmt: skip
    return Estimate(found, f"{words}{friction:g}, as Drake combines them")


def _missing(surface: Surface | None) -> Iterator[str]:
    """What Drake's law needs of a shape and its file does not say."""
    if not isinstance(surface, Proximity):
        yield "has none"
        return
    if surface.stiffness is None:
        yield "lacks drake:point_contact_stiffness"
    elif not surface.stiffness > 0.0:
        yield f"has drake:point_contact_stiffness {surface.stiffness:g}, which is not a spring"
    if surface.dissipation is None:
        yield "lacks drake:hunt_crossley_dissipation"


def _harmonic(a: float, b: float) -> float:
    """2ab/(a + b)."""
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0
