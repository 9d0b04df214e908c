"""[integrator] and [output] of a scenario, and how they divide its duration."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from skodyn.channels.entry import CHANNELS
from skodyn.channels.files import names_function, problem_of
from skodyn.model.model import Model
from skodyn.scenario.description import OutputSettings
from skodyn.scenario.tables import Tables, TableValues
from skodyn.simulation.duration import division_fault, effort_faults, every_fault
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings

__all__ = ["check_channels", "read_timing"]


def read_timing(
    tables: Tables, top: dict[str, Any], duration: float | None
) -> tuple[IntegratorSettings, OutputSettings]:
    """Both settings; to be used only if no fault was found."""
    given = tables.values(IntegratorSettings, tables.table(top, "integrator"), ("integrator",))
    wanted = tables.values(OutputSettings, tables.table(top, "output"), ("output",))
    integrator, output = IntegratorSettings(**given), OutputSettings(**wanted)
    if "method" in given.given and "method" not in given:
        return integrator, output  # nobody knows which settings belong to it
    _check_keys(tables, given, wanted, integrator)
    if integrator.adaptive:
        integrator = IntegratorSettings(**{**given, "dt": output.interval})
    at, read = (
        (("output", "interval"), wanted) if integrator.adaptive else (("integrator", "dt"), given)
    )
    readable = at[1] in read or at[1] not in read.given
    if duration is not None and readable and _divides(tables, at, integrator.dt, duration):
        _check_every(tables, output.every, round(duration / integrator.dt))
        for fault in effort_faults(integrator, duration):
            problem = f"integrator.{fault.problem}"
            tables.add([replace(fault, problem=problem, path=("integrator", *fault.path))])
    return integrator, output


def check_channels(
    tables: Tables,
    channels: tuple[str, ...],
    model: Model | None,
    folder: Path,
    there: Collection[str],
) -> None:
    """Functions of files that are not there, and channels that the model cannot have; files are
    looked at, not run. there: channels of what the scenario has."""
    at = ("output", "channels")
    for name in channels:
        if names_function(name):
            if wrong := problem_of(name, folder):
                tables.fault(at, f"output.channels has {wrong[0]}", wrong[1], name)
        elif name in there:
            continue
        elif model and (fault := CHANNELS[name].fault(model)):
            tables.add([replace(fault, path=at)])


def _check_keys(
    tables: Tables, given: TableValues, wanted: TableValues, integrator: IntegratorSettings
) -> None:
    method, keys = integrator.method, METHODS[integrator.method].keys
    for key in sorted(given.given - {"method", *keys}):
        what = f"integrator.{key} is not for method {method!r}"
        remedy = f"leave it out; the method takes {', '.join(keys)}"
        tables.fault(("integrator", key), what, f"{remedy}.")
    right, wrong = ("interval", "every") if integrator.adaptive else ("every", "interval")
    if wrong in wanted.given:
        what = f"output.{wrong} is not for method {method!r}"
        tables.fault(("output", wrong), what, f"give output.{right} instead.")


def _divides(tables: Tables, at: tuple[str, str], part: float, duration: float) -> bool:
    found = division_fault(duration, part, ".".join(at))
    if found is not None:
        tables.add([replace(found, path=found.path if found.path == ("duration",) else at)])
    return found is None


def _check_every(tables: Tables, every: int, steps: int) -> None:
    if found := every_fault(every, steps, "output.every"):
        tables.add([replace(found, path=("output", "every"))])
