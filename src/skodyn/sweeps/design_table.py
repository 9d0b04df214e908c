"""Designs from data: what [sweep] of a scenario and the `parameters` of `sk.sweep` say.

    [sweep.grid]                                    # every value with every other
    "bodies.upper.mass" = [0.5, 1.0, 2.0]
    "initial.q.elbow" = { from = -1.0, to = 1.0, count = 41 }

    [[sweep.designs]]                               # times the points of each of these
    kind = "sobol"                                  # or random, latin_hypercube
    count = 1024
    seed = 7
    parameters."joints.elbow.damping" = { low = 0.001, high = 1.0, scale = "log" }

    [[sweep.designs]]
    kind = "list"                                   # point by point; or file = "points.csv"
    parameters."controllers.pd.kp" = [1.0, 2.0]
    parameters."controllers.pd.kd" = [0.1, 0.3]

kind = "together" and kind = "product" take `designs`, a list of such tables.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from skodyn.errors import ScenarioError
from skodyn.faults import Fault, Subject, shown
from skodyn.model.columns import LARGEST
from skodyn.model.keys import SEED
from skodyn.sweeps.designs import (
    METHODS,
    Design,
    Listed,
    Product,
    Sampled,
    Span,
    Together,
    import_scipy,
    linear,
    logarithmic,
)
from skodyn.wording import Spelling

__all__ = ["MOST_NUMBERS", "DesignReader"]

MOST_NUMBERS = 10**7
"""That one list, range, file or sample may hold, and all lists of a sweep together."""

KINDS = ("grid", "list", *METHODS, "together", "product")
_KEYS = {
    "grid": ("parameters",),
    "list": ("parameters", "file"),
    **dict.fromkeys(METHODS, ("parameters", "count", "seed")),
    "together": ("designs",),
    "product": ("designs",),
}


class DesignReader:
    """Reads tables into designs and collects what is wrong with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.faults: list[Fault] = []
        self._room = MOST_NUMBERS

    def fault(self, label: Subject, problem: str, remedy: str, key: str = "") -> None:
        self.faults.append(label.fault(problem, remedy, key))

    def read(self, label: Subject, table: Any) -> Design | None:
        """One table; None if there is nothing valid in it."""
        if not isinstance(table, dict):
            self.fault(label, f"{label} is {shown(table)}", "write a table with a kind.")
            return None
        kind = table.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            remedy = Spelling(KINDS).remedy(kind, f"give one of {', '.join(KINDS)}")
            self.fault(label, f"{label}.kind is {shown(kind)}", remedy, "kind")
            return None
        allowed = ("kind", *_KEYS[kind])
        for key in (key for key in table if key not in allowed):
            remedy = Spelling(allowed).remedy(key, f"use one of {', '.join(allowed)}")
            self.fault(label, f"Unknown key {key!r} in {label}", remedy, key)
        if kind in ("together", "product"):
            return self._several(label, kind, table)
        if kind == "list" and "file" in table:
            return self._file(label, table)
        parameters = table.get("parameters")
        if not isinstance(parameters, dict) or not parameters:
            self.fault(
                label, f"{label} has no parameters", "name at least one path with its values."
            )
            return None
        read: Callable[[Subject, Any, Any], Design | None] = (
            self._sampled if kind in METHODS else self.grid if kind == "grid" else self._list
        )
        return read(label, self.paths(label, parameters), table)

    def paths(self, label: Subject, parameters: dict[str, Any]) -> dict[str, Any]:
        """Paths to values; TOML makes tables of dots that are not quoted."""
        found: dict[str, Any] = {}
        for path, value in _flat(parameters, ""):
            if path in found:
                self.fault(label, f"{label}: {path!r} is given twice", "leave it in one place.")
            found[path] = value
        return found

    def grid(self, label: Subject, parameters: dict[str, Any], _table: Any = None) -> Design | None:
        """Every value of each parameter with every value of the others."""
        columns = {p: self._values(_parameter(label, p), given) for p, given in parameters.items()}
        if not all(columns.values()):
            return None
        return Product(tuple(Listed({path: values}) for path, values in columns.items()))

    def _list(self, label: Subject, parameters: dict[str, Any], _table: Any) -> Design | None:
        columns = {p: self._values(_parameter(label, p), given) for p, given in parameters.items()}
        lengths = {p: len(values) for p, values in columns.items() if values}
        if len(lengths) < len(columns):
            return None
        if len(set(lengths.values())) > 1:
            found = ", ".join(f"{p} has {n}" for p, n in lengths.items())
            self.fault(label, f"{label} lists points, but {found} values", "give as many for each.")
            return None
        return Listed(columns)

    def _values(self, label: Subject, given: Any) -> list[Any]:
        if isinstance(given, dict):
            return self._range(label, given)
        values = given.tolist() if hasattr(given, "tolist") else given
        if not isinstance(values, list | tuple | range) or not len(values):
            what = "give a list of values, or { from = …, to = …, count = … }"
            self.fault(label, f"{label} is {shown(given)}", f"{what}.")
            return []
        if not self._has_room(label, len(values)):
            return []
        for value in values:
            if isinstance(value, int) and not _is_exact(value):
                given = shown(value, 40)
                problem = f"{label} has the value {given}, which is not a number of 64 bits"
                self.fault(label, problem, "give a smaller one.")
                return []
        return list(values)

    def _has_room(self, label: Subject, count: int) -> bool:
        """A fault if lists become so long that memory does not hold them."""
        if count > self._room:
            what = f"{label} has {shown(count, 40)} values"
            self.fault(label, what, f"{MOST_NUMBERS:.0g} in all lists of a sweep are the most.")
            return False
        self._room -= count
        return True

    def _range(self, label: Subject, table: dict[str, Any]) -> list[Any]:
        allowed = ("from", "to", "count", "scale")
        if unknown := [key for key in table if key not in allowed]:
            remedy = Spelling(allowed).remedy(unknown[0], f"use {', '.join(allowed)}")
            self.fault(label, f"Unknown key {unknown[0]!r} in {label}", remedy)
            return []
        start: Any
        stop: Any
        start, stop, count = (table.get(key) for key in ("from", "to", "count"))
        if not (_is_number(start) and _is_number(stop) and type(count) is int and count >= 1):
            self.fault(
                label, f"{label} is {shown(table)}", "give from and to as numbers, count from 1."
            )
            return []
        if not self._has_room(label, count):
            return []
        scale = table.get("scale", "linear")
        if not isinstance(scale, str) or scale not in ("linear", "log"):
            self.fault(label, f"{label}: scale is {shown(scale)}", "give linear or log.")
            return []
        if scale == "log" and not (start > 0 and stop > 0):
            problem = f"{label} has a log scale from {start} to {stop}"
            self.fault(label, problem, "give two numbers above 0.")
            return []
        return (logarithmic if scale == "log" else linear)(start, stop, count)

    def _sampled(self, label: Subject, parameters: dict[str, Any], table: Any) -> Design | None:
        spans = {p: self._span(_parameter(label, p), given) for p, given in parameters.items()}
        count, seed = table.get("count"), table.get("seed", 0)
        if type(count) is not int or count < 1:
            self.fault(
                label, f"{label}.count is {shown(count)}", "give a whole number of points from 1."
            )
            return None
        if count * len(spans) > MOST_NUMBERS:
            what = f"{label}.count is {shown(count, 40)}, for {len(spans)} parameters"
            self.fault(
                label, what, f"{MOST_NUMBERS:.0g} numbers are the most, so draw fewer points."
            )
            return None
        if SEED.read(seed) is None:
            self.faults.append(label.found("seed", seed, f"give {SEED.form}."))
            return None
        valid = {path: span for path, span in spans.items() if span is not None}
        design = Sampled(valid, table["kind"], count, seed) if len(valid) == len(spans) else None
        return design if design is None or self._can_be_drawn(label, design) else None

    def _can_be_drawn(self, label: Subject, design: Sampled) -> bool:
        try:
            if design.needs_scipy:
                import_scipy()
        except ScenarioError as error:
            self.faults += [Fault(str(label), path=label.path, cause=one) for one in error.faults]
            return False
        return True

    def _span(self, label: Subject, given: Any) -> Span | None:
        if isinstance(given, list | tuple) and len(given) == 2:
            given = {"low": given[0], "high": given[1]}
        if not isinstance(given, dict):
            self.fault(
                label, f"{label} is {shown(given)}", "give [low, high], or a table with both."
            )
            return None
        normal = "mean" in given or "deviation" in given
        keys = ("mean", "deviation") if normal else ("low", "high")
        allowed = keys if normal else (*keys, "scale")
        if unknown := [key for key in given if key not in allowed]:
            remedy = Spelling(allowed).remedy(unknown[0], f"use {', '.join(allowed)}")
            self.fault(label, f"Unknown key {unknown[0]!r} in {label}", remedy)
            return None
        low: Any
        high: Any
        low, high = (given.get(key) for key in keys)
        if not (_is_number(low) and _is_number(high)):
            self.fault(
                label, f"{label} is {shown(given)}", f"give {keys[0]} and {keys[1]} as numbers."
            )
            return None
        scale = "normal" if normal else given.get("scale", "linear")
        if not isinstance(scale, str) or scale not in ("linear", "log", "normal"):
            self.fault(label, f"{label}: scale is {shown(scale)}", "give linear or log.")
        elif (scale == "log" and low <= 0) or (high <= 0 if normal else low >= high):
            what = "a deviation above 0" if normal else "low below high"
            above = " and above 0" if scale == "log" else ""
            self.fault(label, f"{label} is {shown(given)}", f"give {what}{above}.")
        else:
            return Span(float(low), float(high), scale)
        return None

    def _several(self, label: Subject, kind: str, table: dict[str, Any]) -> Design | None:
        inner = table.get("designs")
        if not isinstance(inner, list) or not inner:
            self.fault(label, f"{label} has no designs", "give a list of tables.")
            return None
        read = [self.read(label.at("designs", i), part) for i, part in enumerate(inner)]
        valid = tuple(design for design in read if design is not None)
        if len(valid) < len(read):
            return None
        counts = [design.count for design in valid]
        if kind == "together" and len(set(counts)) > 1:
            problem = f"{label} goes through its designs together, but they have {counts} points"
            self.fault(label, problem, "give as many for each.")
            return None
        return Product(valid) if kind == "product" else Together(valid)

    def _file(self, label: Subject, table: dict[str, Any]) -> Design | None:
        """Points from a CSV file whose first line names the parameters."""
        if "parameters" in table:
            self.fault(label, f"{label} has both file and parameters", "leave one of them out.")
            return None
        if not isinstance(table["file"], str):
            self.fault(
                label, f"{label}.file is {shown(table['file'])}", "give the path of a CSV file."
            )
            return None
        path = self.folder / table["file"]
        if not os.path.isfile(path):  # which, unlike Path.is_file, never raises
            self.fault(label, f"{label}.file: there is no file {path}", "check the path.")
            return None
        try:
            with path.open(newline="", encoding="utf-8-sig") as file:
                rows = list(islice((row for row in csv.reader(file) if row), self._room + 2))
        except (OSError, ValueError, csv.Error) as error:
            self.fault(label, f"{label}.file: {path} cannot be read ({error})", "check the path.")
            return None
        if len(rows) < 2:
            problem = f"{label}.file: {path} has {len(rows)} lines"
            self.fault(label, problem, "give one of parameter paths, then lines of values.", "file")
            return None
        names = [name.strip() for name in rows[0]]
        if len(set(names)) < len(names):
            self.fault(
                label, f"{label}.file: {path} names a parameter twice", "leave one column out."
            )
            return None
        if not self._has_room(label.at("file"), len(rows[1:]) * len(names)):
            return None
        for number, row in enumerate(rows[1:], start=2):
            if len(row) != len(names):
                what = f"line {number} has {len(row)} values for {len(names)} parameters"
                self.fault(label, f"{label}.file: {path}, {what}", "correct it.", "file")
                return None
        columns = zip(*rows[1:], strict=True)
        return Listed({n: [_parsed(c) for c in col] for n, col in zip(names, columns, strict=True)})


def _parameter(label: Subject, path: str) -> Subject:
    """A parameter of a design; sentences name both."""
    return replace(label.at(path), words=f"{label}: {path}")


_VALUE_KEYS = {"from", "to", "count", "low", "high", "mean", "deviation", "scale"}


def _flat(parameters: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for key, value in parameters.items():
        if isinstance(value, dict) and value and not _VALUE_KEYS & set(value):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _parsed(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell.strip()


def _is_number(x: Any) -> bool:
    """Whether this is an ordinary number; comparing takes integers of any size."""
    return isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= LARGEST


def _is_exact(x: int) -> bool:
    """Whether a float can be this integer: seeds have to come out as they were written."""
    return abs(x) <= LARGEST and int(float(x)) == x
