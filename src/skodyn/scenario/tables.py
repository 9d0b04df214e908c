"""Tables of a scenario against the schema: values that fit come out, every other is a fault."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import MISSING, replace
from typing import Any

from skodyn.faults import Fault, Path, Subject, dotted, shown
from skodyn.io.toml_source import TomlSource
from skodyn.model.keys import remedy_for
from skodyn.scenario.schema import default_of, schema_of
from skodyn.wording import Spelling, did_you_mean

__all__ = ["At", "TableValues", "Tables"]

At = tuple[str, ...]


class TableValues(dict[str, Any]):
    """The values that fit, by key; `given` has the keys of the others too."""

    def __init__(self) -> None:
        super().__init__()
        self.given: set[str] = set()


class Tables:
    """A file on its way to a scenario."""

    def __init__(self, source: TomlSource) -> None:
        self.source = source
        self.found: list[Fault] = []  # also those that are not said
        self._guessed: set[At] = set()  # what misspelt keys may mean; their own fault is enough

    def fault(self, at: At, problem: str, remedy: str, value: Any = None) -> None:
        """Something that is wrong with what stands under these keys."""
        self.add([Subject(at).fault(problem, remedy, "", value)])

    def add(self, faults: Iterable[Fault]) -> None:
        """Faults whose paths begin at the top of this file; they get their lines."""
        self.found += [replace(fault, line=self.source.line(*fault.path)) for fault in faults]

    @property
    def faults(self) -> list[Fault]:
        """Those to tell: none of what stands under a key that was guessed, maybe wrongly."""
        return [fault for fault in self.found if not self._is_guessed(fault.path)]

    def _is_guessed(self, path: Path) -> bool:
        return any(path[: len(guess)] == guess for guess in self._guessed)

    def values(self, cls: type, table: dict[str, Any], at: At, also: At = ()) -> TableValues:
        """What the table says for the fields of a class, as far as it fits.

        `also`: keys that are known but read elsewhere.
        """
        schema = schema_of(cls)
        values = TableValues()
        for key, value in self.known(table, (*schema, *also), at).items():
            if key in schema:
                values.given.add(key)
                found = schema[key].kind.read(value)
                if found is None:
                    remedy = remedy_for(schema[key].kind, value)
                    self.add([Subject(at).found(key, value, remedy)])
                else:
                    values[key] = found
        for key in schema:
            if default_of(cls, key) is MISSING and key not in values.given:
                whose, form = dotted(*at) if at else "The scenario", schema[key].kind.form
                self.fault((*at, key), f"{whose} has no {key}", f"give {form}.")
        return values

    def known(self, table: dict[str, Any], keys: Collection[str], at: At) -> dict[str, Any]:
        """The entries with known keys; another one is a fault, and read as what was meant."""
        spelling = Spelling(keys)
        known = {key: value for key, value in table.items() if key in keys}
        for key in (key for key in table if key not in keys):
            meant = spelling.meant(key)
            remedy = did_you_mean(meant) if meant else f"use one of {', '.join(keys)}."
            self.fault((*at, key), f"Unknown key {key!r} in {whole(at)}", remedy)
            if meant and meant not in known:
                known[meant] = table[key]
                self._guessed.add((*at, meant))
        return known

    def table(self, parent: dict[str, Any], *at: str) -> dict[str, Any]:
        """The table under a key; empty if it is left out or no table."""
        table = parent.get(at[-1], {})
        if isinstance(table, dict):
            return table
        remedy = f"write a table [{dotted(*at)}]."
        self.fault(at, f"{dotted(*at)} is {shown(table)}", remedy, table)
        return {}

    def named(self, parent: dict[str, Any], group: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tables [group.NAME] with their names."""
        tables = self.table(parent, group)
        for name, table in tables.items():
            if isinstance(table, dict):
                yield name, table
            else:
                self.table(tables, group, name)  # the fault


def whole(at: At) -> str:
    """What an unknown key is in."""
    return dotted(*at) or "the scenario"
