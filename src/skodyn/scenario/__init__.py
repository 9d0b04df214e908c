"""Scenario files: one TOML file describes one run; see docs/scenarios.md for every key.

    scenario = read_scenario("scenarios/double_pendulum.toml")
    scenario.model, scenario.q0, scenario.v0, scenario.forces, scenario.integrator

| file | holds |
| --- | --- |
| `description.py` | what a reader returns: frozen dataclasses |
| `schema.py` | every key: which values it takes and what it means |
| `tables.py` | tables of a file against the schema, every fault with its line |
| `reader.py` | one file from text to Scenario |
| `model_table.py`, `names.py`, `start.py`, `acting.py`, `timing.py` | its sections |
| `page.py` | the tables of docs/scenarios.md |
"""

from skodyn.errors import ScenarioError
from skodyn.scenario.description import Bounds, OutputSettings, Scenario
from skodyn.scenario.reader import parse_scenario, read_scenario
from skodyn.simulation.settings import IntegratorSettings

__all__ = [
    "Bounds",
    "IntegratorSettings",
    "OutputSettings",
    "Scenario",
    "ScenarioError",
    "parse_scenario",
    "read_scenario",
]
