"""A TOML file that remembers where each key stands, so that a fault can say file and line."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skodyn.errors import FaultsError
from skodyn.faults import Fault
from skodyn.forks import cached_property

__all__ = ["TomlSource"]

KeyPath = tuple[str | int, ...]

MOST_BYTES = 100_000_000
"""Larger files are refused: a model of 100,000 bodies has 30 million."""
DEEPEST = 32
"""Tables and lists inside each other. No file of skodyn needs ten, and whoever walks over the data
need not fear for the stack."""

_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){100}""")
"""A key of so many parts that the parser's memory, which is their square, matters."""
_TOO_DEEP = ("values are nested too deeply", "flatten them.")


class TomlSource:
    """The parsed file; `error` is the class to raise when it cannot be read at all.

    text: parse this instead of reading the file; faults still speak of `path`.
    """

    def __init__(
        self, path: str | os.PathLike[str], error: type[FaultsError], text: str | None = None
    ) -> None:
        self.path = Path(path)
        self.text = _read(self.path, error) if text is None else text
        if long_key := _LONG_KEY.search(self.text):
            line = self.text.count("\n", 0, long_key.start()) + 1
            raise error(self._fault("a key has more than 100 parts", "shorten it.", line))
        try:
            self.data: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as fault:
            raise error(self._syntax_fault(str(fault))) from None
        except RecursionError:
            raise error(self._fault(*_TOO_DEEP)) from None
        except ValueError:  # Python's limit on the digits of an integer
            raise error(self._fault("a number has too many digits", "shorten it.")) from None
        if deep := _deep_key(self.data):
            raise error(self._fault(*_TOO_DEEP, self.line(deep)))

    def line(self, *keys: str | int) -> int:
        """The line of a key; of the innermost table around it if it is not in the file, or 0."""
        paths = (keys[:length] for length in range(len(keys), 0, -1))
        return next((self._lines[path] for path in paths if path in self._lines), 0)

    def _fault(self, problem: str, remedy: str, line: int = 0) -> Fault:
        return Fault(problem, remedy, file=str(self.path), line=line)

    def _syntax_fault(self, message: str) -> Fault:
        """Before Python 3.14, tomllib says where in its message alone; no sentence of ours is read
        like this."""
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message)
        what, line, column = found.groups() if found else (message, None, None)
        at = f" at column {column}" if column else ""
        last = self.text.count("\n") + 1
        problem = f"this is not TOML: {what}{at}"
        return self._fault(problem, "correct this line.", int(line) if line else last)

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        """First line of every key; found only once something is wrong."""
        lines: dict[KeyPath, int] = {}
        table: KeyPath = ()
        arrays: dict[KeyPath, int] = {}  # how many tables [[…]] there are so far
        for number, brackets, content in _statements(self.text):
            paths = [path for path in _paths(content) if path]
            if brackets:
                table = _numbered(paths[-1] if paths else (), arrays, brackets == 2)
                paths = [table[: k + 1] for k in range(len(table))]
            else:
                paths = [table + path for path in paths]
            for path in paths:
                lines.setdefault(path, number)
        return lines


def _read(path: Path, error: type[FaultsError]) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            problem = f"this is larger than {MOST_BYTES / 1e6:g} MB"
            raise error(Fault(problem, "give a TOML file.", file=str(path)))
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise error(Fault("there is no such file", "check the path.", file=str(path))) from None
    except IsADirectoryError:
        raise error(Fault("this is a folder", "name a file in it.", file=str(path))) from None
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].count(b"\n") + 1
        problem, remedy = "this is not UTF-8 text", "save the file as UTF-8."
        raise error(Fault(problem, remedy, file=str(path), line=line)) from None
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        problem = f"cannot be read ({reason})"
        raise error(Fault(problem, "check the path.", file=str(path))) from None


_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[\[\]{}\n]''',
    re.DOTALL,
)
"""All that can hide the end of a line, or be one."""


def _numbered(header: KeyPath, arrays: dict[KeyPath, int], is_array: bool) -> KeyPath:
    """The path of a table, with its number where it, or one around it, is one of an array."""
    path: KeyPath = ()
    for k, key in enumerate(header):
        path = (*path, key)
        if is_array and k == len(header) - 1:
            arrays[path] = arrays.get(path, 0) + 1
        if path in arrays:
            path = (*path, arrays[path] - 1)
    return path


def _statements(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(first line, brackets of a table header or 0, content) of each statement of a valid file.

    A statement ends with the first line outside of strings and brackets.
    """
    text = text.replace("\r\n", "\n") + "\n"
    start, line, depth = 0, 1, 0
    for token in _TOKEN.finditer(text):
        depth += token[0] in "[{"
        depth -= token[0] in "]}"
        if token[0] != "\n" or depth > 0:
            continue
        statement = text[start : token.end()]
        if content := tomllib.loads(statement):
            first = line + statement[: len(statement) - len(statement.lstrip())].count("\n")
            bare = statement.lstrip()
            yield first, bare.startswith("[") + bare.startswith("[["), content
        start, line, depth = token.end(), line + statement.count("\n"), 0


def _paths(table: dict[str, Any]) -> Iterator[KeyPath]:
    """The path of every table and value in a parsed statement, outer ones first."""
    stack: list[tuple[KeyPath, Any]] = [((), table)]
    while stack:
        path, value = stack.pop()
        yield path
        if isinstance(value, dict):
            stack.extend(((*path, key), inner) for key, inner in value.items())


def _deep_key(data: dict[str, Any]) -> str:
    """The first key outside of all tables under which values are nested too deeply, or ''."""
    for key, outermost in data.items():
        level = [outermost]
        for _ in range(DEEPEST):
            level = [
                inner
                for value in level
                if isinstance(value, dict | list)
                for inner in (value.values() if isinstance(value, dict) else value)
                if isinstance(inner, dict | list)
            ]
        if level:
            return key
    return ""
