"""An XML file as elements that know their lines; nothing in it can reach outside of it.

Expat reads the text without recursion. A document type is refused, and with it every entity but
the five of XML: nothing expands, nothing is fetched. Size, nesting and number of elements are
limited, so that a hostile file costs a message and no memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.parsers import expat

from skodyn.errors import FaultsError
from skodyn.faults import Fault

__all__ = ["Element", "XmlSource"]

LARGEST_FILE = 64 * 2**20
DEEPEST = 500
MOST_ELEMENTS = 2_000_000
LONGEST_TEXT = 1000
"""Enough for a number or a switch; robot files say everything else in attributes."""


class Element:
    """A tag with its attributes, its line, the elements inside it and the text before them."""

    __slots__ = ("attributes", "children", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.text = ""
        self.children: list[Element] = []

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        return next((child for child in self.children if child.tag == tag), None)


class _RefusedError(Exception):
    """What a handler raises to stop the parser: a problem and its remedy."""


class XmlSource:
    """The parsed file; `error` is the class to raise when it cannot be read at all."""

    def __init__(self, path: str | os.PathLike[str], error: type[FaultsError]) -> None:
        self.path = Path(path)
        content = _read(self.path, error)
        reader = _Reader()
        try:
            self.root = reader.read(content)
        except _RefusedError as fault:
            raise error(self.fault(reader.line, *fault.args)) from None
        except expat.ExpatError as fault:
            column = fault.offset + 1
            what = f"this is not XML: {expat.ErrorString(fault.code)} at column {column}"
            raise error(self.fault(fault.lineno, what, "correct this line.")) from None
        except (LookupError, ValueError) as fault:  # an encoding that Python does not know
            what = f"the text cannot be decoded ({fault})"
            raise error(self.fault(1, what, "save the file as UTF-8.")) from None

    def fault(self, line: int, problem: str, remedy: str) -> Fault:
        return Fault(problem, remedy, file=str(self.path), line=line)


class _Reader:
    """Builds the elements from expat's calls, with a stack of its own."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.open: list[Element] = []
        self.count = 0
        self.top: Element | None = None

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def read(self, content: bytes) -> Element:
        self.parser.Parse(content, True)
        assert self.top is not None  # expat refuses a text without an element
        return self.top

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.line)
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise _RefusedError(f"there are more than {MOST_ELEMENTS} elements", "split the file.")
        if len(self.open) >= DEEPEST:
            raise _RefusedError(
                f"elements are nested more than {DEEPEST} deep",
                "check for a tag that is not closed.",
            )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.top = element
        self.open.append(element)

    def _characters(self, text: str) -> None:
        if self.open and not self.open[-1].children and len(self.open[-1].text) < LONGEST_TEXT:
            self.open[-1].text += text

    def _end(self, tag: str) -> None:
        self.open.pop()

    def _doctype(self, name: str, *rest: object) -> None:
        raise _RefusedError(
            "there is a document type (<!DOCTYPE …>), which can define entities and name other "
            "files",
            "remove it.",
        )


def _read(path: Path, error: type[FaultsError]) -> bytes:
    try:
        if path.is_dir():
            raise error(Fault("this is a folder", "name a file in it.", file=str(path)))
        if path.exists() and not path.is_file():
            raise error(Fault("this is not a regular file", "give another.", file=str(path)))
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise error(Fault("there is no such file", "check the path.", file=str(path))) from None
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        problem = f"cannot be read ({reason})"
        raise error(Fault(problem, "check the path.", file=str(path))) from None
    if len(content) > LARGEST_FILE:
        limit = f"{LARGEST_FILE // 2**20} MiB"
        problem = f"the file is larger than {limit}"
        raise error(Fault(problem, "a robot fits into a few of them.", file=str(path)))
    return content
