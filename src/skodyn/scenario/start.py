"""[initial] of a scenario: the state at the start."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.conventions import QUATERNION_TOLERANCE
from skodyn.model.columns import Floats, shown
from skodyn.model.joints import Joint
from skodyn.scenario.description import InitialSettings
from skodyn.scenario.names import Names
from skodyn.scenario.schema import numbers
from skodyn.scenario.tables import At, Tables, dotted

__all__ = ["read_start"]


def read_start(
    tables: Tables, top: dict[str, Any], names: Names | None, seed: int
) -> tuple[Floats, Floats] | None:
    """(q0, v0); None, with faults, if there is no model to have a state."""
    table = tables.table(top, "initial")
    noise = InitialSettings(**tables.values(InitialSettings, table, ("initial",), ("q", "v")))
    given_q, given_v = (tables.table(table, "initial", key) for key in ("q", "v"))
    if names is None:
        return None
    model = names.model
    q, v = model.neutral(), np.zeros(model.nv)
    for joint, values in _given(tables, names, given_q, ("initial", "q")).items():
        q[model.q_slice(joint)] = values
    for joint, values in _given(tables, names, given_v, ("initial", "v")).items():
        v[model.v_slice(joint)] = values
    rng = np.random.default_rng(seed)
    shift, kick = rng.normal(size=(2, model.nv))
    if noise.q_noise:
        q = model.integrate(q, noise.q_noise * shift)
    v += noise.v_noise * kick
    for array in (q, v):
        array.setflags(write=False)
    return q, v


def _given(
    tables: Tables, names: Names, table: dict[str, Any], at: At
) -> dict[str, tuple[float, ...]]:
    """The numbers given for each joint; a key that does not fit is one fault."""
    found: dict[str, tuple[float, ...]] = {}
    for key, joints in names.state_of(table, at).items():
        values = numbers(table[key] if isinstance(table[key], list) else [table[key]])
        for name in joints:
            problem = _problem(names.joints[name], values, at[-1])
            if problem:
                whose = "" if name == key else f" (for joint {name!r})"
                sentence = f"{dotted(*at, key)}{whose} is {shown(table[key])}{problem}."
                tables.fault((*at, key), sentence)
                break
            assert values is not None
            found[name] = values
    return found


def _problem(joint: Joint, values: tuple[float, ...] | None, which: str) -> str:
    """The rest of a sentence about the coordinates (q) or velocities (v) of a joint, or ''."""
    count = joint.nq if which == "q" else joint.nv
    if values is None or len(values) != count:
        what = _FORMS.get((joint.type_name, which)) or (
            f"{count} finite numbers" if count > 1 else "a finite number"
        )
        return f"; a {joint.type_name} joint takes {what}"
    if which == "v" or joint.nq == joint.nv:
        return ""
    norm = float(np.linalg.norm(values[:4]))
    if abs(norm - 1.0) <= QUATERNION_TOLERANCE:
        return ""
    unit = [x / norm for x in values[:4]] if norm > 0.0 else [1, 0, 0, 0]
    return f", whose quaternion has norm {norm:.9g} instead of 1; give {unit}"


_FORMS = {
    ("spherical", "q"): "a unit quaternion (w, x, y, z)",
    ("free", "q"): "seven numbers: a unit quaternion (w, x, y, z), then a position",
    ("spherical", "v"): "three numbers: an angular velocity",
    ("free", "v"): "six numbers: an angular velocity, then a velocity",
}
