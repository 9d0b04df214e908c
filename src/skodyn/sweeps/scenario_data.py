"""A scenario as plain data in which every number has a place, and back to text.

The normal form has the model written out (whatever file it came from), every joint with passive
forces named (no patterns), every coordinate of the start given, and every vector in full. Setting
a number in it and reading the text again is what "a run of the sweep" means; everything faster has
to give the same bits.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from skodyn.channels.files import absolute, names_function
from skodyn.model.keys import keys_of
from skodyn.model.plain import Data, model_data
from skodyn.scenario import Scenario, parse_scenario
from skodyn.scenario.schema import TABLES
from skodyn.simulation.element import ELEMENTS
from skodyn.simulation.element_kinds.controller import FUNCTION
from skodyn.simulation.elements import JointProperties

__all__ = ["Data", "model_data", "normal_form", "read_data", "to_toml"]


def read_data(data: Data) -> Scenario:
    """The scenario that data describe; raises ScenarioError with every fault."""
    return parse_scenario(to_toml(data), Path())


def normal_form(scenario: Scenario) -> Data:
    """The scenario as data with every number in its place."""
    data: Data = tomllib.loads(scenario.text)
    data.pop("sweep", None)
    data["title"], data["seed"] = scenario.title, scenario.seed
    data["model"] = model_data(scenario.model)  # with the shapes of [ground] and [shapes]
    for body in data["model"]["bodies"].values():
        if "body" in body.get("flexible", {}):
            body["flexible"] = {"file": body["flexible"]["body"].file}
    for group in ("ground", "shapes"):
        data.pop(group, None)
    data["initial"] = _start(data.get("initial", {}), scenario)
    if scenario.forces.joints:
        data["joints"] = {j: _passive(p) for j, p in scenario.forces.joints.items()}
    folder = (scenario.path or Path("x")).parent
    if "channels" in data.get("output", {}):
        data["output"]["channels"] = [
            absolute(one, folder) if names_function(one) else one
            for one in scenario.output.channels
        ]
    for group in TABLES:
        for table in data.get(group, {}).values():
            kind = ELEMENTS[table["type"]]
            _fill_vectors(table, kind)
            for name in (name for name, key in keys_of(kind).items() if key.kind is FUNCTION):
                table[name] = absolute(table[name], folder)
    return data


def _start(given: Data, scenario: Scenario) -> Data:
    """Every coordinate and velocity as it is before random parts are added."""
    noise: Data = {key: float(given[key]) for key in ("q_noise", "v_noise") if key in given}
    if any(noise.values()):
        quiet = tomllib.loads(scenario.text)
        quiet["initial"] = {k: v for k, v in given.items() if k not in noise}
        quiet.pop("sweep", None)
        scenario = parse_scenario(to_toml(quiet), (scenario.path or Path("x")).parent)
    model = scenario.model
    q: Data = {}
    v: Data = {}
    driven = {motion.joint for motion in scenario.forces.motions}
    moving = (j for j in model.independent_joints if model.joints[model.joint_index(j)].nv)
    for joint in (j for j in moving if j not in driven):
        q[joint] = scenario.q0[model.q_slice(joint)].tolist()
        v[joint] = scenario.v0[model.v_slice(joint)].tolist()
    for body, bent in model.flexible.items():
        for state, start, which in ((q, scenario.q0, "q"), (v, scenario.v0, "v")):
            modes = zip(bent.labels, start[model.mode_slice(body, which)].tolist(), strict=True)
            state |= {f"{body}.{label}": x for label, x in modes if x}  # others may be swept away
    if model.has_loops:
        q = _said(q, given.get("q", {})) if given.get("assemble") else q
        v = _said(v, given.get("v", {})) if given.get("project") else v
        noise |= {"assemble": True, "project": True}  # what opens a loop moves its joints
    return {**noise, "q": q, "v": v}


def _said(values: Data, given: Data) -> Data:
    """Of all joints those that a person gave, by name or by a pattern, as they were given; the
    others are found, and from other numbers they would be found with other last digits."""
    found = {}
    for joint in values:
        for key, value in given.items():
            head, star, tail = key.partition("*")
            fits = star and joint.startswith(head) and joint.endswith(tail)
            if joint == key or (fits and len(joint) >= len(head) + len(tail)):
                found[joint] = [float(x) for x in (value if isinstance(value, list) else [value])]
    return found


def _passive(properties: JointProperties) -> Data:
    """What differs from no force at all; damping always, so that no table is empty."""
    given = {f.name: getattr(properties, f.name) for f in fields(properties)}
    default = {f.name: f.default for f in fields(properties)}
    return {k: v for k, v in given.items() if k == "damping" or v != default[k]}


def _fill_vectors(table: Data, cls: type) -> None:
    for f in fields(cls):
        if isinstance(f.default, tuple) and not isinstance(table.get(f.name), Mapping):
            table[f.name] = list(table.get(f.name, f.default))


# ---- text ---------------------------------------------------------------------------------------


def to_toml(data: Mapping[str, Any]) -> str:
    """Data as TOML; numbers come back as the same bits."""
    return "\n".join(_lines(data, ())) + "\n"


def _lines(table: Mapping[str, Any], at: tuple[str, ...]) -> list[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    own = [f"{_key(k)} = {_value(v)}" for k, v in table.items() if k not in inner]
    header = [f"[{'.'.join(_key(key) for key in at)}]"] if at and (own or not inner) else []
    below = [line for key, value in inner.items() for line in _lines(value, (*at, key))]
    return [*header, *own, *below]


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else _quoted(key)


def _quoted(text: str) -> str:
    """As JSON writes it, which leaves one character that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(entry) for entry in value)}]"
    return str(value)
