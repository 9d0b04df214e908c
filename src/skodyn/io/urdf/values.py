"""Tags and attributes of URDF: numbers out of text, and whatever is unknown, twice or missing."""

from __future__ import annotations

import math
import re
from collections.abc import Collection

import numpy as np

from skodyn.faults import Subject, shown
from skodyn.io.robots.findings import Findings
from skodyn.io.urdf.extensions import HARMLESS_ATTRIBUTES, ONLY_SEEN, is_harmless
from skodyn.io.xml_source import Element
from skodyn.model.columns import LARGEST, quaternion_to_matrix
from skodyn.typing import Floats
from skodyn.wording import Spelling, did_you_mean

__all__ = ["AttributeReader", "part_of_file"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
_INFINITE |= {f"{key}inity": value for key, value in _INFINITE.items()}

_OF_XML = ("xmlns", "xml:", "xsi:")

TYPO = 0.7
"""How like a known word an unknown one must be to count as misspelt (1 is equal)."""


def part_of_file(what: str, name: str) -> Subject:
    """A <link>, <joint>, <loop> … with its name, for sentences on it."""
    joint, body = name if what == "Joint" else "", name if what == "Link" else ""
    return Subject((what.lower(), name), f"{what} {name!r}", body, joint)


def _inside(owner: Subject, element: Element, key: str) -> Subject:
    """An attribute of an element inside the owner's, or of that itself."""
    return owner.at(key) if owner.path[0] == element.tag else owner.at(element.tag, key)


class AttributeReader:
    """Reads attributes and reports what does not fit; `owner` starts every sentence."""

    def __init__(self, findings: Findings, version: str = "1.0") -> None:
        self.findings = findings
        self.version = version

    # ---- what may stand where -----------------------------------------------------------------

    def check(
        self,
        element: Element,
        owner: Subject,
        *,
        attributes: Collection[str] = (),
        once: Collection[str] = (),
        many: Collection[str] = (),
    ) -> None:
        """Unknown tags and attributes are faults; in what is only seen, notes if well spelt."""
        known = (*once, *many)
        seen: set[str] = set()
        for child in element.children:
            if child.tag not in known:
                self._unknown_tag(child, known, element.tag, owner)
            elif child.tag in once and child.tag in seen:
                problem, whose = f"{owner}: <{child.tag}> is given twice", owner.at(child.tag)
                self.findings.fault(child.line, problem, "keep one.", whose)
            seen.add(child.tag)
        for name in element.attributes:
            if name not in attributes and not name.startswith(_OF_XML):
                self._unknown(element.line, name, name, attributes, element.tag, owner)

    def _unknown_tag(
        self, child: Element, known: Collection[str], where: str, owner: Subject
    ) -> None:
        words = f"<{child.tag}>"
        if is_harmless(child, where):
            self.findings.unused(f"{words} in <{where}> does not move anything here", str(owner))
        else:
            self._unknown(child.line, words, child.tag, known, where, owner)

    def _unknown(
        self, line: int, words: str, name: str, known: Collection[str], where: str, owner: Subject
    ) -> None:
        if name.startswith("xacro:"):
            remedy = "run xacro on this file first and load what it prints"
            problem = f"{owner}: {words} is a macro of xacro"
            self.findings.fault(line, problem, f"{remedy}.", owner.at(where, name))
        elif meant := _meant(name, known):
            problem = f"{owner}: {words} is not known in <{where}>"
            self.findings.fault(line, problem, did_you_mean(meant), owner.at(where, name))
        elif where in ONLY_SEEN or name in HARMLESS_ATTRIBUTES.get(where, ()):
            self.findings.unused(f"{words} in <{where}> is unknown and not used", str(owner))
        else:
            what = f"{owner} has {words} in <{where}>"
            self.findings.refuse("extension", what, f"{words} of {owner}", line)

    # ---- values -------------------------------------------------------------------------------

    def text(self, element: Element, key: str, owner: Subject, remedy: str) -> str | None:
        """A text that must be there."""
        value = element.attributes.get(key)
        if value is not None and value.strip():
            return value
        state = "has no" if value is None else "has an empty"
        own = owner.path[0] == element.tag  # Joint 'elbow' and its <joint>
        problem = f"{owner if own else f'{owner}: <{element.tag}>'} {state} {key}"
        self.findings.fault(element.line, problem, f"{remedy}.", _inside(owner, element, key))
        return None

    def number(
        self,
        element: Element,
        key: str,
        owner: Subject,
        default: float | None = None,
        *,
        least: float = -math.inf,
        infinite: bool = False,
    ) -> float | None:
        """One number, the default if it is left out; None, with a fault, if it is none."""
        given = element.attributes.get(key)
        form = "a number" if least == -math.inf else f"a number of at least {least:g}"
        if given is None:
            if default is None:
                what = f"{owner}: <{element.tag}> has no {key}"
                whose = _inside(owner, element, key)
                self.findings.fault(element.line, what, f"give {form}.", whose)
            return default
        value = _as_number(given.strip(), infinite)
        if value is None or value < least:
            self._refuse(element, key, owner, form)
            return None
        return value

    def vector(
        self, element: Element, key: str, owner: Subject, default: Floats | None, length: int = 3
    ) -> Floats | None:
        """Numbers in a row, the default if they are left out; None, with a fault, if not."""
        given = element.attributes.get(key)
        words = {2: "two", 3: "three", 4: "four"}[length]
        if given is None:
            if default is None:
                what = f"{owner}: <{element.tag}> has no {key}"
                whose = _inside(owner, element, key)
                self.findings.fault(element.line, what, f"give {words} numbers.", whose)
            return default
        numbers = [_as_number(word, False) for word in given.split()]
        if len(numbers) != length or None in numbers:
            self._refuse(element, key, owner, f"{words} numbers with blanks between them")
            return None
        return np.array(numbers, dtype=np.float64)

    def _refuse(self, element: Element, key: str, owner: Subject, form: str) -> None:
        given = element.attributes[key]
        finite = "" if _seems_finite(given) else ", finite and at most 1e60"
        what = f"{owner}: <{element.tag}> has {key} {shown(given)}"
        whose = _inside(owner, element, key)
        self.findings.fault(element.line, what, f"give {form}{finite}.", whose, given)

    def pose(self, parent: Element, owner: Subject) -> tuple[Floats, Floats]:
        """(rotation, translation) of the <origin> in an element; none means no displacement."""
        origin = parent.first("origin")
        if origin is None:
            return np.eye(3), np.zeros(3)
        self.check(origin, owner, attributes=("xyz", "rpy", "quat_xyzw"))
        translation = self.vector(origin, "xyz", owner, np.zeros(3))
        turned = self._quaternion if "quat_xyzw" in origin.attributes else self._angles
        return turned(origin, owner), np.zeros(3) if translation is None else translation

    def _angles(self, origin: Element, owner: Subject) -> Floats:
        angles = self.vector(origin, "rpy", owner, np.zeros(3))
        return np.eye(3) if angles is None else rotation_of(angles)

    def _quaternion(self, origin: Element, owner: Subject) -> Floats:
        """quat_xyzw, of any length but none; URDF has it since version 1.1."""
        start, whose = f"{owner}: <origin> has quat_xyzw", owner.at("origin", "quat_xyzw")
        if self.version == "1.0":
            remedy = 'write <robot version="1.1"> or give rpy'
            problem = f"{start}, which URDF 1.0 does not know"
            self.findings.fault(origin.line, problem, f"{remedy}.", whose)
        if "rpy" in origin.attributes:
            self.findings.fault(origin.line, f"{start} and rpy too", "keep one of them.", whose)
        given = self.vector(origin, "quat_xyzw", owner, None, 4)
        if given is None:
            return np.eye(3)
        length = float(np.linalg.norm(given))
        if length < 1e-12:
            text = origin.attributes["quat_xyzw"]
            problem, remedy = (
                f"{start} {text!r}, which has no length",
                "give for example '0 0 0 1'.",
            )
            self.findings.fault(origin.line, problem, remedy, whose, text)
            return np.eye(3)
        x, y, z, w = (given / length).tolist()
        return quaternion_to_matrix(np.array([w, x, y, z]))


def _meant(name: str, known: Collection[str]) -> str:
    """The known word that an unknown one misspells; a longer word with it inside is another.

    So is one of another program, such as drake:weld_constraint.
    """
    if ":" in name:
        return ""
    meant = Spelling(known, TYPO).meant(name)
    return meant if meant not in name else ""


def _as_number(word: str, infinite: bool) -> float | None:
    """A decimal number of ordinary size; None for everything else."""
    if infinite and word.lower() in _INFINITE:
        return _INFINITE[word.lower()]
    if not _NUMBER.fullmatch(word):
        return None
    value = float(word)
    return value if abs(value) <= LARGEST else None


def _seems_finite(text: str) -> bool:
    """Whether what is wrong with a text is something else than the size of a number in it."""
    return not any(
        (_NUMBER.fullmatch(word) and abs(float(word)) > LARGEST) or "nan" in word or "inf" in word
        for word in text.lower().split()
    )


def rotation_of(angles: Floats) -> Floats:
    """Rz(yaw)·Ry(pitch)·Rx(roll) of (roll, pitch, yaw): URDF's rpy."""
    (sr, sp, sy), (cr, cp, cy) = map(math.sin, angles), map(math.cos, angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
