"""One scenario file from text to Scenario; every fault at once, with file and line."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from skodyn.channels.entries.contacts import CONTACTS
from skodyn.channels.entries.integrals import INTEGRALS
from skodyn.errors import ScenarioError
from skodyn.faults import in_file
from skodyn.io.toml_source import TomlSource
from skodyn.scenario.description import Bounds, RunSettings, Scenario
from skodyn.scenario.forces_table import check_sampling, read_forces, read_thermostat
from skodyn.scenario.model_table import read_model
from skodyn.scenario.names import ModelNames
from skodyn.scenario.schema import SCHEMA
from skodyn.scenario.start import read_start
from skodyn.scenario.tables import Tables
from skodyn.scenario.timing import check_channels, read_timing
from skodyn.scenario.touching import read_contacts, read_shapes
from skodyn.simulation.control.integral_rows import has_integrals

__all__ = ["SECTIONS", "TOP_KEYS", "parse_scenario", "read_scenario"]

SECTIONS = (
    "model",
    "initial",
    "joints",
    "controllers",
    "forces",
    "motions",
    "ground",
    "shapes",
    "contacts",
    "thermostat",
    "integrator",
    "output",
    "bounds",
)
TOP_KEYS = (*SCHEMA[RunSettings], *SECTIONS, "sweep")
"""Every key outside of all tables; none of them is one of a model file."""


def read_scenario(path: str | os.PathLike[str], *, of_sweep: bool = False) -> Scenario:
    """The run that a scenario file describes.

    Parameters
    ----------
    path : path
        A TOML file; docs/scenarios.md has every key.
    of_sweep : bool
        The file may have a table ``[sweep]``; it is left to `sweep`.

    Returns
    -------
    scenario : Scenario
        Model, start, forces, integrator and output, checked.

    Raises
    ------
    ScenarioError
        Every fault of the file at once, each with its line.

    See Also
    --------
    run : run it.

    Examples
    --------
    >>> scenario = sk.read_scenario("scenarios/double_pendulum.toml")
    >>> scenario.model.joint_names, scenario.duration
    (('shoulder', 'elbow'), 10.0)
    """
    file = Path(path)
    return _scenario(TomlSource(file, ScenarioError), file.parent, file, of_sweep)


def parse_scenario(text: str, folder: str | os.PathLike[str]) -> Scenario:
    """The run described in a text; `folder` is where its model file is looked for."""
    return _scenario(TomlSource("scenario", ScenarioError, text), Path(folder), None)


def _scenario(
    source: TomlSource, folder: Path, path: Path | None, of_sweep: bool = False
) -> Scenario:
    tables = Tables(source)
    top = tables.known(source.data, TOP_KEYS, ())
    if top.pop("sweep", None) is not None and not of_sweep:
        what = "The scenario has a [sweep], so it describes many runs"
        tables.fault(("sweep",), what, "give it to `skodyn sweep run`, or take the table out.")
    run = tables.values(RunSettings, top, (), SECTIONS)
    duration = run.get("duration")
    model = read_shapes(tables, top, read_model(tables, top, folder))
    names = ModelNames(model, tables) if model else None
    seed = run.get("seed", 0)
    forces = read_forces(tables, top, names, folder, seed)
    forces = replace(forces, contacts=read_contacts(tables, top, model))
    start = read_start(tables, top, names, seed, folder, forces.motions)
    bounds = Bounds(**tables.values(Bounds, tables.table(top, "bounds"), ("bounds",)))
    integrator, output = read_timing(tables, top, duration)
    if model is not None:
        integrator = integrator.suited(model, tables.table(top, "integrator"))
    there = [CONTACTS.name] if top.get("contacts") else []
    if model is not None and has_integrals(model, forces):
        there.append(INTEGRALS.name)
    check_channels(tables, output.channels, model, folder, there)
    check_sampling(tables, top, integrator)
    thermostat = read_thermostat(tables, top, seed, integrator)
    if tables.faults:
        raise ScenarioError(in_file(source.path, tables.faults))
    assert model is not None
    assert start is not None
    settings = RunSettings(**run)
    return Scenario(
        title=settings.title or model.name,
        path=path,
        text=source.text,
        model=model,
        q0=start[0],
        v0=start[1],
        forces=forces,
        integrator=integrator.changed(max_speed=bounds.max_speed),
        duration=settings.duration,
        output=output,
        seed=settings.seed,
        bounds=bounds,
        thermostat=thermostat,
    )
