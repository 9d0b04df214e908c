"""The tables of keys in docs/scenarios.md, written from the schema.

python -m skodyn.scenario.page docs/scenarios.md      # renew them in place
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from skodyn.model.contact.contacts import Contact
from skodyn.scenario.description import Bounds, InitialSettings, OutputSettings, RunSettings
from skodyn.scenario.schema import TABLES, default_of, schema_of
from skodyn.simulation.element import ELEMENTS
from skodyn.simulation.elements import JointProperties
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat

__all__ = ["between", "default_words", "key_tables", "renewed"]

BEGIN = "<!-- keys: written by `python -m skodyn.scenario.page docs/scenarios.md` -->"
END = "<!-- end of keys -->"

_SECTIONS: list[tuple[str, type]] = [
    ("At the top of the file", RunSettings),
    ("`[initial]`", InitialSettings),
    ("`[joints.NAME]`", JointProperties),
    *(
        (f'`[{table}.NAME]`, `type = "{name}"`', kind)
        for table in TABLES
        for name, kind in ELEMENTS.built_in.items()
        if kind.table == table
    ),
    ("`[contacts.NAME]`", Contact),
    ("`[thermostat]`", AndersenThermostat),
    ("`[integrator]`", IntegratorSettings),
    ("`[output]`", OutputSettings),
    ("`[bounds]`", Bounds),
]


def key_tables() -> str:
    """One Markdown table of keys for each table of a scenario file."""
    return "\n\n".join(_section(title, cls) for title, cls in _SECTIONS)


def renewed(page: str) -> str:
    """The page with its tables as they should be."""
    return between(page, BEGIN, key_tables())


def between(page: str, begin: str, tables: str) -> str:
    """The page with these tables behind the line that says who writes them."""
    before, _, rest = page.partition(begin)
    after = rest.partition(END)[2]
    return f"{before}{begin}\n\n{tables}\n\n{END}{after}"


def _section(title: str, cls: type) -> str:
    rows = [
        f"### {title}",
        "",
        "| key | value | if left out | meaning |",
        "| --- | --- | --- | --- |",
    ]
    for name, key in schema_of(cls).items():
        form = key.kind.form.removesuffix(", or leave it out for no limit")
        rows.append(
            f"| `{name}` | {form} | {default_words(default_of(cls, name))} | {key.meaning} |"
        )
    return "\n".join(rows)


def default_words(value: Any) -> str:
    """What a key is if it is left out."""
    if value is MISSING:
        return "**must be given**"
    if value is None or value == ():
        return "—"
    if isinstance(value, float):
        return "no limit" if math.isinf(value) else f"{value:g}"
    if isinstance(value, tuple):
        return f"[{', '.join(default_words(x) for x in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def main(arguments: Sequence[str]) -> None:
    for name in arguments:
        page = Path(name).read_text(encoding="utf-8")
        Path(name).write_text(renewed(page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
