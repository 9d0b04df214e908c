"""Which shapes meet: patterns, bodies that never touch, and what is refused.

A pattern names bodies (all their shapes), "body/shape", or shapes of the ground by their own names.
Never do shapes of one body meet, nor shapes of the world among themselves, nor those of two bodies
that a joint connects, unless `adjacent` asks for it. A body that a joint ties to the world may
still touch the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject, shown
from skodyn.model.contact.contact_estimates import Estimate, from_proximity, from_solref
from skodyn.model.contact.contacts import Contact, Law, file_faults, law_of, subject_of
from skodyn.model.model import Model
from skodyn.model.products import norm
from skodyn.model.shapes import Collision
from skodyn.wording import Spelling

__all__ = ["Pair", "Placed", "find_pairs"]

MOST_PAIRS = 1000


@dataclass(frozen=True, eq=False)
class Placed:
    """A shape and the body it belongs to."""

    body: str
    collision: Collision

    @property
    def label(self) -> str:
        """In messages and logs: its body, its own name on the ground."""
        return self.collision.name if self.body == GROUND else self.body

    @property
    def words(self) -> str:
        """In full, by body and shape."""
        if self.body == GROUND:
            return self.collision.name
        return f"{self.body}/{self.collision.name}"


@dataclass(frozen=True, eq=False)
class Pair:
    """Two shapes that meet by a law; `contact` and `name` say in which of those given."""

    a: Placed
    b: Placed
    law: Law
    contact: int
    name: str = ""
    from_file: str = ""  # in words, where the law is that of the shapes' file


def find_pairs(model: Model, contacts: Sequence[Contact]) -> tuple[Pair, ...]:
    """Every pair of shapes, in the order of contacts and shapes; all faults at once."""
    placed = [Placed(body, one) for body, ones in model.collisions.items() for one in ones]
    order = {name: k for k, name in enumerate((*model.body_names, GROUND))}
    placed.sort(key=lambda x: order[x.body])
    faults: list[Fault] = []
    found: dict[frozenset[str], Pair] = {}
    for number, given in enumerate(contacts):
        if not isinstance(given, Contact):
            faults.append(
                Fault(f"{shown(given)} is not a contact", "give Contact(a, b, stiffness=…).")
            )
            continue
        whose = subject_of(given)
        law, wrong = (None, file_faults(given)) if given.from_file else law_of(given)
        faults += wrong
        sides = [_matching(placed, getattr(given, key), key, whose, faults) for key in "ab"]
        pairs, excluded = _meeting(model, sides, given)
        faults += _margin_faults(pairs, whose)
        if not pairs and all(sides):
            faults.append(whose.fault(f"{whose}: {excluded[0]}", excluded[1]))
        for a, b in pairs:
            key = frozenset((a.words, b.words))
            if key in found:
                other = subject_of(contacts[found[key].contact])
                what = f"{whose}: {other} has the pair {a.words} with {b.words} already"
                faults.append(whose.fault(what, "give each pair to one of them."))
            elif law is not None:
                found[key] = Pair(a, b, law, number, given.name)
            elif given.from_file and not wrong:
                law_here, words = _law_of_file(model, given, (a, b), faults)
                if law_here is not None:
                    found[key] = Pair(a, b, law_here, number, given.name, words)
    if len(found) > MOST_PAIRS:
        faults.append(
            Fault(
                f"{len(found)} pairs of shapes would be looked at in every step, and "
                f"{MOST_PAIRS} are the most",
                "name fewer shapes in a and b.",
            )
        )
    if faults:
        raise ModelError(faults)
    return tuple(found.values())


def _law_of_file(
    model: Model, given: Contact, pair: tuple[Placed, Placed], faults: list[Fault]
) -> tuple[Law | None, str]:
    """The law that the file of two shapes gives, and what to say of it."""
    one, two = (x.collision.surface for x in pair)
    names = f"{pair[0].words} with {pair[1].words}"
    if one is not None and pair[1].words in one.paired:
        what = "<pair> gives them a law of their own, which is not read"
        found = Estimate(problem=what, remedy="give stiffness.")
    elif given.solref is not None:
        found = from_solref(given, (one, two), norm(np.asarray(model.gravity)))
    else:
        ground = [x.body == GROUND for x in pair]
        found = from_proximity(given, (one, two), [x.words for x in pair], ground)
    whose = subject_of(given)
    if found.contact is None:
        faults.append(whose.fault(f"{whose}, {names}: {found.problem}", found.remedy))
        return None, ""
    law, wrong = law_of(found.contact)
    faults += wrong
    return law, f"{names}: {found.words}"


def _matching(
    placed: Sequence[Placed], given: Any, key: str, whose: Subject, faults: list[Fault]
) -> list[Placed]:
    """The shapes that one side of a contact names."""
    patterns = [given] if isinstance(given, str) else given
    if not isinstance(patterns, Sequence) or not patterns:
        faults.append(whose.found(key, given, "give a name, a pattern or a list."))
        return []
    found: list[Placed] = []
    for pattern in patterns:
        if not isinstance(pattern, str) or not pattern:
            what = f"{whose}: {key} has {shown(pattern)} in it"
            faults.append(whose.fault(what, "give names or patterns.", key))
            continue
        some = [x for x in placed if _fits(x, pattern)]
        if not some:
            names = {name for x in placed for name in (x.words, x.label)}
            what = f"name a body with a shape, or a shape of the ground: {', '.join(sorted(names))}"
            remedy = Spelling(names).remedy(pattern, what if names else "give bodies shapes")
            faults.append(whose.fault(f"{whose}: {key} {pattern!r} fits no shape", remedy, key))
        found += [x for x in some if x not in found]
    return found


def _margin_faults(pairs: Sequence[tuple[Placed, Placed]], whose: Subject) -> list[Fault]:
    """Shapes whose file lets forces begin at a distance, which no law here does."""
    found: dict[str, Fault] = {}
    for placed in (x for pair in pairs for x in pair):
        surface = placed.collision.surface
        for key in ("margin", "gap"):
            value = getattr(surface, key, 0.0)
            if value:
                what = f"{whose}: shape {placed.words!r} has {key} {value:g} in its file"
                remedy = 'remove it there, or load with ignore=["margin"] to leave it out.'
                found.setdefault(placed.words + key, whose.fault(what, remedy))
    return list(found.values())


def _fits(placed: Placed, pattern: str) -> bool:
    full = f"{placed.body}/{placed.collision.name}"
    return fnmatchcase(placed.label, pattern) or fnmatchcase(full, pattern)


def _meeting(
    model: Model, sides: Sequence[Sequence[Placed]], given: Contact
) -> tuple[list[tuple[Placed, Placed]], tuple[str, str]]:
    """The pairs that may meet, and why the others may not, with a remedy."""
    pairs: list[tuple[Placed, Placed]] = []
    reason = ("", "")
    seen: set[frozenset[str]] = set()
    for a in sides[0]:
        for b in sides[1]:
            key = frozenset((a.words, b.words))
            why = _apart(model, a, b, given.adjacent)
            reason = reason if reason[0] else why
            if not why[0] and key not in seen:
                seen.add(key)
                pairs.append((a, b))
    return pairs, reason


def _apart(model: Model, a: Placed, b: Placed, adjacent: bool) -> tuple[str, str]:
    """Why two shapes never meet, and what to do about it; empty if they may."""
    both = f"{a.words!r} and {b.words!r}"
    if a.body == b.body == GROUND:
        return f"{both} both belong to the ground", "name a body that moves."
    if a.body == b.body:
        return f"{both} are on one body", "name two that can move apart."
    one, two = (x.collision.surface for x in (a, b))
    if one is not None and two is not None:
        if b.words in one.paired:
            return "", ""
        if not one.lets(two) or b.words in one.apart:
            what = "their file keeps them apart (contype, conaffinity or <exclude>)"
            return f"{both}: {what}", "change the file, or give the body a shape of its own."
    if GROUND in (a.body, b.body) or adjacent:
        return "", ""
    if _joined(model, a.body, b.body) or _joined(model, b.body, a.body):
        what = f"{a.body!r} and {b.body!r} are connected by a joint, and their shapes may overlap"
        return f"{what} there", "write adjacent = true to let them touch all the same."
    return "", ""


def _joined(model: Model, child: str, parent: str) -> bool:
    """Whether a joint connects them, or several with bodies between that are not there to be seen:
    those without mass and shape, as files have them where a body has several joints."""
    k = int(model.parent[model.body_index(child)])
    while k >= 0 and model.body_names[k] != parent:
        if model.mass[k] > 0.0 or model.collisions.get(model.body_names[k]):
            return False
        k = int(model.parent[k])
    return k >= 0
