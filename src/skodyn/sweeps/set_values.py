"""A scenario with other values at some of its paths, as `--set key=value` asks for."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from skodyn.errors import ScenarioError
from skodyn.faults import Fault
from skodyn.scenario import Scenario
from skodyn.sweeps.paths import places, set_values, unknown_paths
from skodyn.sweeps.scenario_data import normal_form, read_data

__all__ = ["parse_settings", "with_values"]


def parse_settings(given: Sequence[str]) -> dict[str, Any]:
    """KEY=VALUE of the command line by key; a value is one of TOML, or a word."""
    found: dict[str, Any] = {}
    faults: list[Fault] = []
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            example = "write for example --set bodies.arm.mass=2.5"
            faults.append(Fault(f"--set is {text!r}", f"{example}."))
        elif key.strip() in found:
            faults.append(Fault(f"--set gives {key.strip()!r} twice", "leave one of them out."))
        else:
            found[key.strip()] = _value(value.strip())
    if faults:
        raise ScenarioError(faults)
    return found


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def with_values(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """The scenario with these values, read anew; a ScenarioError lists every fault."""
    if not values:
        return scenario
    data = normal_form(scenario)
    known = places(scenario, data)
    unknown = unknown_paths(known, tuple(values))
    if unknown:
        raise ScenarioError(
            [replace(fault, problem=f"--set: {fault.problem}") for fault in unknown]
        )
    try:
        found = read_data(set_values(data, known, dict(values)))
    except ScenarioError as error:
        faults = [replace(fault, file="--set", line=0) for fault in error.faults]
        raise ScenarioError(faults) from None
    dressed = replace(found.model, visuals=scenario.model.visuals)
    return replace(found, path=scenario.path, model=dressed)
