"""Tables of a scenario against the schema: values that fit come out, every other is a fault."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import MISSING
from typing import Any

import numpy as np

from skodyn.io.toml_source import TomlSource
from skodyn.model.columns import LARGEST, as_floats, shown
from skodyn.scenario.schema import SCHEMA, Kind, default_of
from skodyn.topology.wording import Spelling

__all__ = ["At", "Tables", "Values", "dotted"]

At = tuple[str, ...]


class Values(dict[str, Any]):
    """The values that fit, by key; `given` has the keys of the others too."""

    def __init__(self) -> None:
        super().__init__()
        self.given: set[str] = set()


class Tables:
    """A file on its way to a scenario; `faults` are (line, sentence)."""

    def __init__(self, source: TomlSource) -> None:
        self.source = source
        self.faults: list[tuple[int, str]] = []

    def fault(self, at: At, sentence: str) -> None:
        self.faults.append((self.source.line(*at), sentence))

    def values(self, cls: type, table: dict[str, Any], at: At, also: At = ()) -> Values:
        """What the table says for the fields of a class, as far as it fits.

        `also`: keys that are known but read elsewhere.
        """
        schema = SCHEMA[cls]
        values = Values()
        for key, value in self.known(table, (*schema, *also), at).items():
            if key in schema:
                values.given.add(key)
                found = schema[key].kind.read(value)
                if found is None:
                    remedy = _remedy(schema[key].kind, value)
                    self.fault((*at, key), f"{dotted(*at, key)} is {shown(value)}; {remedy}")
                else:
                    values[key] = found
        for key in schema:
            if default_of(cls, key) is MISSING and key not in values.given:
                whose, form = dotted(*at) if at else "The scenario", schema[key].kind.form
                self.fault(at, f"{whose} has no {key}; give {form}.")
        return values

    def known(self, table: dict[str, Any], keys: Collection[str], at: At) -> dict[str, Any]:
        """The entries with known keys; another one is a fault, and read as what was meant."""
        spelling = Spelling(keys)
        known = {key: value for key, value in table.items() if key in keys}
        for key in (key for key in table if key not in keys):
            remedy = spelling.remedy(key, f"use one of {', '.join(keys)}")
            self.fault((*at, key), f"Unknown key {key!r} in {dotted(*at)}; {remedy}")
            meant = re.search(r"did you mean '(\w+)'", remedy)
            if meant:
                known.setdefault(meant[1], table[key])
        return known

    def table(self, parent: dict[str, Any], *at: str) -> dict[str, Any]:
        """The table under a key; empty if it is left out or no table."""
        table = parent.get(at[-1], {})
        if isinstance(table, dict):
            return table
        self.fault(at, f"{dotted(*at)} is {shown(table)}; write a table [{dotted(*at)}].")
        return {}

    def named(self, parent: dict[str, Any], group: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tables [group.NAME] with their names."""
        tables = self.table(parent, group)
        for name, table in tables.items():
            if isinstance(table, dict):
                yield name, table
            else:
                self.table(tables, group, name)  # the fault


def dotted(*at: str) -> str:
    """A key path as it would be written: controllers.hold.kp."""
    return ".".join(k if re.fullmatch(r"[\w-]+", k) else repr(k) for k in at) or "the scenario"


def _remedy(kind: Kind, value: Any) -> str:
    """'did you mean …?' for the first word that is no choice, else the form to give."""
    array = as_floats(value)
    if array is not None and np.isfinite(array).all() and (abs(array) > LARGEST).any():
        return f"give ordinary SI values, at most {LARGEST:g}."
    words = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    wrong = [word for word in words if isinstance(word, str) and word not in kind.choices]
    return Spelling(kind.choices).remedy(wrong[0] if wrong else None, f"give {kind.form}")
