"""From a scenario and what is to be varied to a plan: every fault found before anything runs."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.errors import ScenarioError, SkodynError
from skodyn.faults import Fault, Subject, in_file
from skodyn.io.model_record import visuals_text
from skodyn.io.toml_source import TomlSource
from skodyn.model.keys import STEPS
from skodyn.model.model import Model
from skodyn.scenario import Scenario, read_scenario
from skodyn.scenario.runnable import unrunnable_faults
from skodyn.sweeps.design_table import MOST_NUMBERS, DesignReader
from skodyn.sweeps.designs import Design, Listed, Product, factors
from skodyn.sweeps.metrics import check_metrics, frames_of, read_metrics
from skodyn.sweeps.packing import START, Variant, body_parameter, direct_columns
from skodyn.sweeps.paths import Places, places, set_values, unknown_paths
from skodyn.sweeps.point_checks import Scan, scan_points
from skodyn.sweeps.scenario_data import Data, normal_form
from skodyn.sweeps.study import Study
from skodyn.wording import Spelling

__all__ = ["SweepPlan", "make_plan", "read_plan"]

KEYS = ("grid", "designs", "metrics", "replicas", "logs", "sample_every")
MOST_RUNS = 10**9
SWEEP = Subject(("sweep",))
_NO_CONTROLLER = Fault(
    "The scenario has a controller that is a function of this process, which sweeps do not take",
    'name it in the scenario, function = "FILE.py:FUNCTION".',
)


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """A sweep that is ready to run."""

    study: Study
    design: Design
    logs: str | tuple[int, ...]  # none, failed, all, or the numbers of runs
    model: Model
    text: str  # of the scenario, as it was given
    scan: Scan

    @property
    def count(self) -> int:
        return self.design.count

    @property
    def dimensions(self) -> list[tuple[str, tuple[str, ...], int]]:
        """(name, parameters, length) of each axis of the results."""
        axes, several = [], 0
        for factor in factors(self.design):
            name = factor.names[0] if len(factor.names) == 1 and isinstance(factor, Listed) else ""
            if not name:
                several += 1
                name = "point" if several == 1 else f"point_{several}"
            axes.append((name, factor.names, factor.count))
        return axes


def read_plan(
    path: str | os.PathLike[str], change: Callable[[Scenario], Scenario] | None = None
) -> SweepPlan:
    """The sweep that a scenario file with a table [sweep] describes.

    change: what is done to the scenario before.
    """
    scenario = read_scenario(path, of_sweep=True)
    table = tomllib.loads(scenario.text).get("sweep")
    if not isinstance(table, dict):
        problem = "there is no table [sweep], so there is nothing to vary"
        remedy = "add one (docs/sweeps.md), or use `skodyn run`."
        raise ScenarioError(Fault(problem, remedy, file=str(path)))
    try:
        return make_plan(change(scenario) if change else scenario, table)
    except ScenarioError as error:
        source = TomlSource(path, ScenarioError, scenario.text)
        placed = [replace(fault, line=source.line(*fault.path)) for fault in error.faults]
        raise ScenarioError(in_file(path, placed)) from None


def make_plan(scenario: Scenario, table: Mapping[str, Any]) -> SweepPlan:
    """A plan from the table [sweep], or a ScenarioError that lists every fault."""
    faults: list[Fault] = []
    for key in (key for key in table if key not in KEYS):
        remedy = Spelling(KEYS).remedy(key, f"use one of {', '.join(KEYS)}")
        faults.append(SWEEP.fault(f"Unknown key {key!r} in sweep", remedy, key))
    if any(callable(one.function) for one in scenario.forces.controllers):
        raise ScenarioError([*faults, _NO_CONTROLLER])
    folder = (scenario.path or Path("x")).parent.resolve()
    data = normal_form(scenario)
    known = places(scenario, data)
    design = _design(table, scenario, data, folder, faults)
    metrics = read_metrics(table.get("metrics", {}), faults)
    faults += check_metrics(metrics, scenario.model, folder, scenario.forces)
    logs = _logs(table.get("logs", "none"), design, faults)
    every = table.get("sample_every", 1)
    if STEPS.read(every) is None:
        faults.append(SWEEP.found("sample_every", every, f"give {STEPS.form}."))
        every = 1
    if design is None:
        raise ScenarioError(faults)
    chosen = "integrator.method" not in design.names
    faults += unrunnable_faults(scenario, method=chosen, start=False)
    unknown = unknown_paths(known, design.names)
    if unknown:
        raise ScenarioError(faults + unknown)
    study = Study(data, design.names, design.labels, {}, metrics, every, folder)
    scan = scan_points(study, design, known)
    if faults or scan.faults:
        raise ScenarioError(faults + scan.faults)
    ranges = _ranges(study, design, scan, known, frames_of(metrics, scenario.model))
    painted = visuals_text(scenario.model)
    study = Study(data, design.names, design.labels, ranges, metrics, every, folder, painted)
    scan.check_combinations(study, design)
    if scan.faults:
        raise ScenarioError(scan.faults)
    return SweepPlan(study, design, logs, scenario.model, scenario.text, scan)


def _design(
    table: Mapping[str, Any], scenario: Scenario, data: Data, folder: Path, faults: list[Fault]
) -> Design | None:
    reader = DesignReader(folder)
    found: list[Design | None] = []
    grid, designs = table.get("grid", {}), table.get("designs", [])
    if not isinstance(grid, dict):
        faults.append(SWEEP.found("grid", grid, "write a table of paths with their values."))
    elif grid:
        at = SWEEP.at("grid")
        found.append(reader.grid(at, reader.paths(at, grid)))
    if not isinstance(designs, list):
        faults.append(SWEEP.found("designs", designs, "write [[sweep.designs]] for each."))
    else:
        at = SWEEP.at("designs")
        found += [reader.read(at.at(i), part) for i, part in enumerate(designs)]
    if "replicas" in table:
        found.append(_replicas(table["replicas"], scenario, data, faults))
    faults += reader.faults
    if not found and not faults:
        remedy = "give sweep.grid, sweep.designs or sweep.replicas."
        faults.append(SWEEP.fault("sweep varies nothing", remedy))
    valid = [design for design in found if design is not None]
    if faults or len(valid) < len(found):
        return None
    design = Product(tuple(valid))
    twice = sorted(name for name, times in Counter(design.names).items() if times > 1)
    faults += [SWEEP.fault(f"{x!r} is varied twice", "leave it in one place.") for x in twice]
    if design.count > MOST_RUNS:
        counts = " × ".join(str(part.count) for part in valid)
        faults.append(SWEEP.fault(f"The sweep has {counts} runs", f"{MOST_RUNS:.0g} is the most."))
    return None if twice or design.count > MOST_RUNS else design


def _replicas(given: Any, scenario: Scenario, data: Data, faults: list[Fault]) -> Design | None:
    if type(given) is not int or not 1 <= given <= MOST_NUMBERS:
        remedy = f"give a whole number from 1 to {MOST_NUMBERS:.0g}."
        faults.append(SWEEP.found("replicas", given, remedy))
        return None
    if scenario.seed + given > 2**53:
        what = f"sweep.replicas counts up from seed = {scenario.seed}, beyond 2⁵³"
        faults.append(SWEEP.fault(what, "give the scenario a smaller seed.", "replicas", given))
        return None
    noise = any(data["initial"].get(key, 0.0) for key in ("q_noise", "v_noise"))
    if not noise and "thermostat" not in data:
        faults.append(
            SWEEP.fault(
                "sweep.replicas differ in their seed alone, and this scenario has nothing random",
                "give initial.q_noise, initial.v_noise or a thermostat.",
                "replicas",
            )
        )
        return None
    return Listed({"seed": range(scenario.seed, scenario.seed + given)})


def _logs(given: Any, design: Design | None, faults: list[Fault]) -> str | tuple[int, ...]:
    if isinstance(given, str) and given in ("none", "failed", "all"):
        return given
    count = MOST_RUNS if design is None else design.count
    if isinstance(given, list | tuple) and all(type(x) is int and 0 <= x < count for x in given):
        return tuple(given)
    last = "" if design is None else f" below {count}"
    remedy = f"give none, failed, all, or a list of runs from 0{last}."
    faults.append(SWEEP.found("logs", given, remedy))
    return "none"


def _ranges(
    study: Study, design: Design, scan: Scan, known: Places, frames: tuple[str, ...]
) -> dict[str, Any]:
    """The parameters that can be written into packed arrays, with two values of each."""
    first = study.values(design.points(np.zeros(1, dtype=np.int64))[0])
    found: dict[str, tuple[float, float]] = {}
    for i, path in enumerate(study.names):
        low, high = float(scan.low[i]), float(scan.high[i])
        if path in study.labels or low == high or (path == "seed" and "thermostat" in study.data):
            continue
        if path in START or body_parameter(path, known) or _is_direct(
            study.data, known, first, path, scan.probes(i), frames
        ):  # fmt: skip
            found[path] = (low, high)
    return found


def _is_direct(
    data: Data,
    known: Places,
    first: dict[str, Any],
    path: str,
    probes: list[float],
    frames: tuple[str, ...],
) -> bool:
    try:
        variants = [
            Variant(set_values(data, known, {**first, path: x}), frames=frames) for x in probes
        ]
    except SkodynError:  # not valid together with the other values of the first run
        return False
    low = variants[0]
    return all(
        direct_columns(low, other, probes[0], x) is not None
        for other, x in zip(variants[1:], probes[1:], strict=True)
    )
