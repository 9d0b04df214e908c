"""Look at every point before anything runs: numbers that are none, values out of range.

Values of one parameter are in range if the smallest and the largest are, so each parameter costs
three readings of the scenario, however many runs there are. What two parameters decide together
(an inertia, the stops of a joint) is looked at for every run, as columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skodyn.errors import SkodynError, faults_of
from skodyn.faults import Fault, Subject
from skodyn.model.columns import LARGEST
from skodyn.model.inertia_checks import check_inertias
from skodyn.model.property_checks import stops_fault
from skodyn.model.subjects import subject
from skodyn.sweeps.designs import Design, Indices, Varied, factors
from skodyn.sweeps.packing import Packer, Variant
from skodyn.sweeps.paths import Places, set_values
from skodyn.sweeps.study import Study
from skodyn.typing import Floats

__all__ = ["Scan", "scan_points"]

CHUNK = 65536
SWEEP = ("sweep",)
MOST_SHOWN = 10
MOST_READ = 200
"""Combinations of values that have to be read as a scenario, each; beyond, at run time."""


@dataclass(eq=False)
class Scan:
    """What is known of all points: the range of each parameter, and what is wrong."""

    low: Floats
    high: Floats
    faults: list[Fault] = field(default_factory=list)
    has_zero: list[bool] = field(default_factory=list)
    variants: int = 1  # combinations of values for which the scenario is read anew

    def probes(self, column: int) -> list[float]:
        """Smallest, largest, and zero if it occurs: a gain of zero is packed differently."""
        values = [float(self.low[column]), float(self.high[column])]
        return [*values, 0.0] if self.has_zero[column] and 0.0 not in values else values

    def check_combinations(self, study: Study, design: Design) -> None:
        """What several parameters decide together, for every run."""
        packer = Packer(study)
        bodies = sorted({body for body, key, _ in packer.bodies.values() if key == "inertia"})
        stops = [
            (name, name[: -len("lower")] + "upper")
            for name in study.names
            if name.endswith(".lower") and name[: -len("lower")] + "upper" in study.names
        ]
        for body in bodies:
            paths = [p for p, found in packer.bodies.items() if found[:2] == (body, "inertia")]
            for runs in Varied(design, paths).chunks(CHUNK):
                self._check_inertias(packer, body, design.points(runs), runs)
        for pair in stops:
            for runs in Varied(design, pair).chunks(CHUNK):
                self._check_stops(packer, pair, design.points(runs), runs)
        seen: dict[bytes, None] = {}
        for runs in Varied(design, [study.names[i] for i in packer.anew]).chunks(CHUNK):
            anew = design.points(runs)[:, packer.anew]
            seen |= dict.fromkeys(row.tobytes() for row in np.unique(anew, axis=0))
            if len(seen) > 10 * MOST_READ:
                break
        self.variants = max(len(seen), 1)

    def _check_inertias(self, packer: Packer, body: str, rows: Floats, runs: Indices) -> None:
        inertias = packer.body_column(packer.base.model, body, "inertia", rows)
        found = check_inertias(inertias, lambda k: _of_run(runs[k], subject("Body", body)))
        self._add(list(found.values()), "inertias that no body can have")

    def _check_stops(
        self, packer: Packer, pair: tuple[str, str], rows: Floats, runs: Indices
    ) -> None:
        low, high = (rows[:, packer.columns[name]] for name in pair)
        joint = Subject(tuple(pair[0].split(".")[:-1]))
        found = [
            stops_fault(_of_run(runs[k], joint), float(low[k]), float(high[k]))
            for k in np.flatnonzero(low >= high).tolist()
        ]
        self._add([fault for fault in found if fault], "stops out of order")

    def _add(self, faults: list[Fault], what: str) -> None:
        self.faults += faults[:MOST_SHOWN]
        if len(faults) > MOST_SHOWN:
            self.faults.append(Fault(f"… and {len(faults) - MOST_SHOWN} more {what}.", "", SWEEP))


def _of_run(run: int, whose: Subject) -> Subject:
    """The same in one run; sentences say which."""
    return replace(whose, words=f"run {run}: {whose}")


def scan_points(study: Study, design: Design, known: Places) -> Scan:
    """Look at all points; `faults` of the result lists what is wrong with them."""
    width = len(study.names)
    scan = Scan(np.full(width, np.inf), np.full(width, -np.inf), [], [False] * width)
    extreme: dict[tuple[int, str], int] = {}  # where the smallest, largest, a zero, a label is
    columns = {name: i for i, name in enumerate(study.names)}
    for factor in factors(design):
        for runs in Varied(design, factor.names).chunks(CHUNK):
            rows = design.points(runs)
            for name in factor.names:
                i = columns[name]
                _look_at(scan, i, name, rows[:, i], runs, extreme)
                if name in study.labels:
                    values, first = np.unique(rows[:, i], return_index=True)
                    for x, k in zip(values.tolist(), first.tolist(), strict=True):
                        extreme.setdefault((i, f"label {x}"), int(runs[k]))
    if not scan.faults:
        _read_extremes(study, design, known, scan, extreme)
    return scan


def _look_at(
    scan: Scan,
    i: int,
    name: str,
    column: Floats,
    runs: Indices,
    extreme: dict[tuple[int, str], int],
) -> None:
    """One parameter in some runs: values that are no numbers, the smallest, the largest, a zero."""
    bad = np.flatnonzero(~(np.abs(column) <= LARGEST)).tolist()
    scan._add(
        [
            Fault(
                f"run {runs[k]}: {name} is {column[k]!r}", "give a finite number.", SWEEP, column[k]
            )
            for k in bad
        ],
        f"values of {name} that are not numbers",
    )
    least, most = int(np.argmin(column)), int(np.argmax(column))
    if column[least] < scan.low[i]:
        scan.low[i], extreme[i, "low"] = column[least], int(runs[least])
    if column[most] > scan.high[i]:
        scan.high[i], extreme[i, "high"] = column[most], int(runs[most])
    zeros = np.flatnonzero(column == 0.0)
    if len(zeros):
        scan.has_zero[i] = True
        extreme.setdefault((i, "zero"), int(runs[zeros[0]]))


def _read_extremes(
    study: Study, design: Design, known: Places, scan: Scan, extreme: dict[tuple[int, str], int]
) -> None:
    """Read the scenario of every run in which a parameter is at an end of its range."""
    said = set()
    for run in dict.fromkeys(extreme.values()):
        if len(scan.faults) > MOST_SHOWN:
            break
        values = study.values(design.points(np.array([run]))[0])
        try:
            Variant(set_values(study.data, known, values))
        except SkodynError as error:
            for fault in (replace(one, file="", line=0) for one in faults_of(error)):
                if fault not in said:
                    said.add(fault)
                    scan.faults.append(replace(fault, problem=f"run {run}: {fault.problem}"))
