"""A TOML file that remembers where each key stands, so that a fault can say file and line."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from skodyn.errors import FaultsError
from skodyn.forks import cached_property

__all__ = ["TomlSource"]

KeyPath = tuple[str, ...]


class TomlSource:
    """The parsed file; `error` is the class to raise when it cannot be read at all.

    text: parse this instead of reading the file; faults still speak of `path`.
    """

    def __init__(
        self, path: str | os.PathLike[str], error: type[FaultsError], text: str | None = None
    ) -> None:
        self.path = Path(path)
        self.text = _read(self.path, error) if text is None else text
        try:
            self.data: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as fault:
            raise error(self._syntax_fault(str(fault))) from None
        except RecursionError:
            raise error(f"{path}: values are nested too deeply; flatten them.") from None
        except ValueError:  # Python's limit on the digits of an integer
            raise error(f"{path}: a number has too many digits; shorten it.") from None

    def line(self, *keys: str) -> int:
        """The line of a key; of the innermost table around it if it is not in the file, or 0."""
        paths = (keys[:length] for length in range(len(keys), 0, -1))
        return next((self._lines[path] for path in paths if path in self._lines), 0)

    def in_order(self, faults: Iterable[tuple[int, str]]) -> list[str]:
        """(line, sentence) pairs as 'file:line: sentence', from the top of the file down."""
        return [
            f"{self.path}:{line}: {sentence}" if line else f"{self.path}: {sentence}"
            for line, sentence in sorted(faults, key=lambda fault: fault[0])
        ]

    def _syntax_fault(self, message: str) -> str:
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", message)
        what, line, column = found.groups() if found else (message, None, None)
        line = line or str(self.text.count("\n") + 1)
        at = f" at column {column}" if column else ""
        return f"{self.path}:{line}: this is not TOML: {what}{at}; correct this line."

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        """First line of every key; found only once something is wrong."""
        lines: dict[KeyPath, int] = {}
        table: KeyPath = ()
        for number, is_header, content in _statements(self.text):
            paths = [path for path in _paths(content) if path]
            if is_header:
                table = paths[-1] if paths else ()
                paths = [table[: k + 1] for k in range(len(table))]
            else:
                paths = [table + path for path in paths]
            for path in paths:
                lines.setdefault(path, number)
        return lines


def _read(path: Path, error: type[FaultsError]) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise error(f"{path}: there is no such file; check the path.") from None
    except IsADirectoryError:
        raise error(f"{path}: this is a folder; name a file in it.") from None
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].count(b"\n") + 1
        raise error(f"{path}:{line}: this is not UTF-8 text; save the file as UTF-8.") from None
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise error(f"{path}: cannot be read ({reason}); check the path.") from None


def _statements(text: str) -> Iterator[tuple[int, bool, dict[str, Any]]]:
    """(first line, is a table header, content) of each statement.

    Lines are joined until they parse: a statement of a sound file parses by itself, whatever
    strings and brackets it spans.
    """
    start, pending = 1, ""
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not pending:
            start = number
        pending += line + "\n"
        try:
            content = tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        if content:
            yield start, pending.lstrip().startswith("["), content
        pending = ""


def _paths(table: dict[str, Any]) -> Iterator[KeyPath]:
    """The path of every table and value in a parsed statement, outer ones first."""
    stack: list[tuple[KeyPath, Any]] = [((), table)]
    while stack:
        path, value = stack.pop()
        yield path
        if isinstance(value, dict):
            stack.extend(((*path, key), inner) for key, inner in value.items())
