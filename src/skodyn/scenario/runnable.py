"""What a run would refuse before its first step, found without running it or any code of files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from skodyn.errors import FaultsError, ScenarioError
from skodyn.faults import Fault, in_file
from skodyn.io.toml_source import TomlSource
from skodyn.scenario.description import Scenario
from skodyn.simulation.force_tables import ForceTables, pack_forces
from skodyn.simulation.prepare import codes_and_lanes
from skodyn.simulation.thermostat import refuse_model, thermostat_faults

__all__ = ["refuse_unrunnable", "unrunnable_faults"]

T = TypeVar("T")


def refuse_unrunnable(scenario: Scenario) -> None:
    """A ScenarioError with every fault that reading cannot see: what does not go together."""
    faults = unrunnable_faults(scenario)
    if faults:
        source = TomlSource(scenario.path or "scenario", ScenarioError, scenario.text)
        placed = [replace(fault, line=source.line(*fault.path)) for fault in faults]
        raise ScenarioError(in_file(source.path, placed))


def unrunnable_faults(
    scenario: Scenario, *, method: bool = True, start: bool = True
) -> list[Fault]:
    """The same as faults; method, start: look at what the method does not take, and at the contacts
    of the start, too. Runs of a sweep may have others."""
    model, settings, forces = scenario.model, scenario.integrator, scenario.forces
    faults: list[Fault] = []
    if scenario.thermostat is not None:
        faults += thermostat_faults(scenario.thermostat, settings, forces.motions)
        faults += _asked(lambda: refuse_model(model), ("thermostat",))[0]
    found, tables = _asked(lambda: pack_forces(model, forces, settings), ())
    if tables is None:
        return faults + found
    if method:
        given = (model.kernel_tree, tables.codes, settings, model.loop_names)
        faults += _asked(lambda: codes_and_lanes(*given), ("integrator", "method"))[0]
    if start and tables.contacts is not None:
        faults += _asked(lambda: _look_at_contacts(scenario, tables), ("contacts",))[0]
    return faults


def _look_at_contacts(scenario: Scenario, tables: ForceTables) -> None:
    from skodyn.simulation.contact.contact_watch import ContactWatch  # few scenarios have contacts

    assert tables.contacts is not None
    begins = np.concatenate((scenario.v0, np.zeros(tables.n_integrals)))
    watch = ContactWatch(
        scenario.model, tables.contacts, tables.contact_integral, scenario.integrator
    )
    watch.check_start(scenario.q0, begins)


def _asked(call: Callable[[], T], at: tuple[str, ...]) -> tuple[list[Fault], T | None]:
    """What a call has against it, and what it gives."""
    try:
        return [], call()
    except FaultsError as error:
        return [fault if fault.path else replace(fault, path=at) for fault in error.faults], None
