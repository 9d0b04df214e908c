"""Tags and attributes of URDF: numbers out of text, and whatever is unknown, twice or missing."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from difflib import get_close_matches

import numpy as np

from skodyn.io.robots.findings import Findings
from skodyn.io.urdf.extensions import HARMLESS_ATTRIBUTES, ONLY_SEEN, is_harmless
from skodyn.io.xml_source import Element
from skodyn.model.columns import LARGEST, Floats, quaternion_to_matrix, shown

__all__ = ["Values"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
_INFINITE |= {f"{key}inity": value for key, value in _INFINITE.items()}

_OF_XML = ("xmlns", "xml:", "xsi:")

TYPO = 0.7
"""How like a known word an unknown one must be to count as misspelt (1 is equal)."""


class Values:
    """Reads attributes and reports what does not fit; `owner` starts every sentence."""

    def __init__(self, findings: Findings, version: str = "1.0") -> None:
        self.findings = findings
        self.version = version

    # ---- what may stand where -----------------------------------------------------------------

    def check(
        self,
        element: Element,
        owner: str,
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
                sentence = f"{owner}: <{child.tag}> is given twice; keep one."
                self.findings.fault(child.line, sentence)
            seen.add(child.tag)
        for name in element.attributes:
            if name not in attributes and not name.startswith(_OF_XML):
                self._unknown(element.line, name, name, attributes, element.tag, owner)

    def _unknown_tag(self, child: Element, known: Collection[str], where: str, owner: str) -> None:
        words = f"<{child.tag}>"
        if is_harmless(child, where):
            self.findings.unused(f"{words} in <{where}> does not move anything here", owner)
        else:
            self._unknown(child.line, words, child.tag, known, where, owner)

    def _unknown(
        self, line: int, words: str, name: str, known: Collection[str], where: str, owner: str
    ) -> None:
        if name.startswith("xacro:"):
            remedy = "run xacro on this file first and load what it prints"
            self.findings.fault(line, f"{owner}: {words} is a macro of xacro; {remedy}.")
        elif meant := _meant(name, known):
            sentence = f"{owner}: {words} is not known in <{where}>; did you mean {meant!r}?"
            self.findings.fault(line, sentence)
        elif where in ONLY_SEEN or name in HARMLESS_ATTRIBUTES.get(where, ()):
            self.findings.unused(f"{words} in <{where}> is unknown and not used", owner)
        else:
            what = f"{owner} has {words} in <{where}>"
            self.findings.refuse("extension", what, f"{words} of {owner}", line)

    # ---- values -------------------------------------------------------------------------------

    def text(self, element: Element, key: str, owner: str, remedy: str) -> str | None:
        """A text that must be there."""
        value = element.attributes.get(key)
        if value is not None and value.strip():
            return value
        state = "has no" if value is None else "has an empty"
        own = owner.lower().startswith(f"{element.tag} ")  # Joint 'elbow' and its <joint>
        whose = owner if own else f"{owner}: <{element.tag}>"
        self.findings.fault(element.line, f"{whose} {state} {key}; {remedy}.")
        return None

    def number(
        self,
        element: Element,
        key: str,
        owner: str,
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
                self.findings.fault(element.line, f"{what}; give {form}.")
            return default
        value = _as_number(given.strip(), infinite)
        if value is None or value < least:
            self._refuse(element, key, owner, form)
            return None
        return value

    def vector(
        self, element: Element, key: str, owner: str, default: Floats | None, length: int = 3
    ) -> Floats | None:
        """Numbers in a row, the default if they are left out; None, with a fault, if not."""
        given = element.attributes.get(key)
        words = {2: "two", 3: "three", 4: "four"}[length]
        if given is None:
            if default is None:
                what = f"{owner}: <{element.tag}> has no {key}"
                self.findings.fault(element.line, f"{what}; give {words} numbers.")
            return default
        numbers = [_as_number(word, False) for word in given.split()]
        if len(numbers) != length or None in numbers:
            self._refuse(element, key, owner, f"{words} numbers with blanks between them")
            return None
        return np.array(numbers, dtype=np.float64)

    def _refuse(self, element: Element, key: str, owner: str, form: str) -> None:
        given = element.attributes[key]
        finite = "" if _seems_finite(given) else ", finite and at most 1e60"
        what = f"{owner}: <{element.tag}> has {key} {shown(given)}"
        self.findings.fault(element.line, f"{what}; give {form}{finite}.")

    def pose(self, parent: Element, owner: str) -> tuple[Floats, Floats]:
        """(rotation, translation) of the <origin> in an element; none means no displacement."""
        origin = parent.first("origin")
        if origin is None:
            return np.eye(3), np.zeros(3)
        self.check(origin, owner, attributes=("xyz", "rpy", "quat_xyzw"))
        translation = self.vector(origin, "xyz", owner, np.zeros(3))
        turned = self._quaternion if "quat_xyzw" in origin.attributes else self._angles
        return turned(origin, owner), np.zeros(3) if translation is None else translation

    def _angles(self, origin: Element, owner: str) -> Floats:
        angles = self.vector(origin, "rpy", owner, np.zeros(3))
        return np.eye(3) if angles is None else rotation_of(angles)

    def _quaternion(self, origin: Element, owner: str) -> Floats:
        """quat_xyzw, of any length but none; URDF has it since version 1.1."""
        start = f"{owner}: <origin> has quat_xyzw"
        if self.version == "1.0":
            remedy = 'write <robot version="1.1"> or give rpy'
            self.findings.fault(origin.line, f"{start}, which URDF 1.0 does not know; {remedy}.")
        if "rpy" in origin.attributes:
            self.findings.fault(origin.line, f"{start} and rpy too; keep one of them.")
        given = self.vector(origin, "quat_xyzw", owner, None, 4)
        if given is None:
            return np.eye(3)
        length = float(np.linalg.norm(given))
        if length < 1e-12:
            text = origin.attributes["quat_xyzw"]
            sentence = f"{start} {text!r}, which has no length; give for example '0 0 0 1'."
            self.findings.fault(origin.line, sentence)
            return np.eye(3)
        x, y, z, w = (given / length).tolist()
        return quaternion_to_matrix(np.array([w, x, y, z]))


def _meant(name: str, known: Collection[str]) -> str:
    """The known word that an unknown one misspells; a longer word with it inside is another.

    So is one of another program, such as drake:weld_constraint.
    """
    if ":" in name:
        return ""
    close = get_close_matches(name, known, n=1, cutoff=TYPO)
    return close[0] if close and close[0] not in name else ""


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
