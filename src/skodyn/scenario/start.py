"""[initial] of a scenario: the state at the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skodyn.conventions import QUATERNION_TOLERANCE
from skodyn.dynamics.loop_functions import project_velocity
from skodyn.dynamics.looped import widest_gap
from skodyn.errors import SkodynError, StateError, faults_of
from skodyn.faults import Fault, dotted, shown
from skodyn.model.joints import Joint
from skodyn.model.loops.assembly import nearest_closed
from skodyn.model.model import Model
from skodyn.scenario.base_state import read_base
from skodyn.scenario.description import InitialSettings
from skodyn.scenario.names import ModelNames
from skodyn.scenario.schema import numbers
from skodyn.scenario.tables import At, Tables
from skodyn.simulation.elements import Motion
from skodyn.simulation.loop_start import OPEN, drive_fault, kept_velocity, start_fault
from skodyn.simulation.motion_tables import starts
from skodyn.typing import Floats

__all__ = ["read_start"]


def read_start(
    tables: Tables,
    top: dict[str, Any],
    names: ModelNames | None,
    seed: int,
    folder: Path,
    motions: tuple[Motion, ...] = (),
) -> tuple[Floats, Floats] | None:
    """(q0, v0); None, with faults, if there is no model to have a state.

    motions: joints that follow them start as these say.
    """
    table = tables.table(top, "initial")
    also = ("q", "v", "start", "from")
    noise = InitialSettings(**tables.values(InitialSettings, table, ("initial",), also))
    given_q, given_v = (tables.table(table, "initial", key) for key in ("q", "v"))
    if names is None:
        return None
    model = names.model
    q, v = read_base(tables, table, model, folder)
    given_q = _set_modes(tables, model, given_q, ("initial", "q"), q)
    given_v = _set_modes(tables, model, given_v, ("initial", "v"), v)
    held_q = _given(tables, names, given_q, ("initial", "q"))
    held_v = _given(tables, names, given_v, ("initial", "v"))
    for joint, values in held_q.items():
        q[model.q_slice(joint)] = values
    for joint, values in held_v.items():
        v[model.v_slice(joint)] = values
    rng = np.random.default_rng(seed)
    shift, kick = rng.normal(size=(2, model.nv))
    if noise.q_noise:
        q = model.integrate(q, noise.q_noise * shift)
    v += noise.v_noise * kick
    driven = tuple(motion.joint for motion in motions)
    given = _Given(tuple(held_q), tuple(held_v), noise.q_noise > 0.0, noise.v_noise > 0.0, driven)
    if motions and not tables.faults:
        _start_driven(tables, model, motions, (held_q, held_v), (q, v))
    if not model.has_loops:
        _refuse_closing(tables, noise, model.name)
    elif not (driven and tables.faults):  # driven joints are where their motion says
        q, v = _closed(tables, names, noise, given, q, v)
    for array in (q, v):
        array.setflags(write=False)
    return q, v


def _start_driven(
    tables: Tables, model: Model, motions: tuple[Motion, ...], held: Any, state: Any
) -> None:
    """Where motions begin; what was given of the same joints has nothing to say."""
    for joint, values in starts(model, motions).items():
        for which, given, place, array, value in zip(
            "qv", held, (model.q_slice, model.v_slice), state, values, strict=True
        ):
            if joint in given:
                tables.fault(
                    ("initial", which),
                    f"initial.{which} names joint {joint!r}, whose motion is prescribed and "
                    "says where it starts",
                    "leave that joint out.",
                )
            array[place(joint)] = value


CLOSED = 1e-12
"""A start is left as it is if its loops are open by no more, in metres or radians."""


class _Given(NamedTuple):
    """What a person has said of the start."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    q_noise: bool
    v_noise: bool
    driven: tuple[str, ...] = ()  # joints whose motion says where they start


def _refuse_closing(tables: Tables, noise: InitialSettings, name: str) -> None:
    for key in ("assemble", "project"):
        if getattr(noise, key):
            problem = f"initial.{key} is true, but model {name!r} has no loops"
            tables.fault(("initial", key), problem, "take it away.", True)


def _held(model: Model, given: _Given) -> tuple[str, ...]:
    """The joints that stay where they were given, if the loops have others to move."""
    held = {*given.q, *given.driven}
    free = all(any(joint not in held for joint in group.joints) for group in model.groups)
    return (*given.driven, *given.q) if free and not given.q_noise else given.driven


def _assembled(model: Model, q: Floats, given: _Given) -> Floats:
    """The nearest closed coordinates; what is given beside driven joints is where to begin, if it
    cannot stay."""
    held = _held(model, given)
    try:
        return nearest_closed(model, q, held)
    except StateError:
        if not given.driven or len(held) == len(given.driven):
            raise
    return nearest_closed(model, q, given.driven)


def _closed(
    tables: Tables, names: ModelNames, noise: InitialSettings, given: _Given, q: Floats, v: Floats
) -> tuple[Floats, Floats]:
    """The start with its loops closed as far as the scenario says; else faults."""
    model = names.model
    try:
        if noise.assemble and widest_gap(model, q)[1] > CLOSED:
            q = _assembled(model, q, given)
        if noise.project and widest_gap(model, q, v)[1] > CLOSED:
            v = _kept(model, q, v, given)
    except SkodynError as error:
        found = faults_of(error)
        tables.add(Fault("initial", path=("initial",), cause=fault) for fault in found)
        return q, v
    fault = start_fault(model, q, v)
    if fault is None and given.driven:
        fault = drive_fault(model, q, given.driven)
    if fault:
        tables.add([Fault("initial", path=("initial",), cause=fault)])
    return q, v


def _kept(model: Model, q: Floats, v: Floats, given: _Given) -> Floats:
    """Velocities that keep loops closed; those of driven joints are not to be changed."""
    found = kept_velocity(model, q, v, () if given.v_noise else (*given.driven, *given.v))
    driven = [model.v_slice(joint) for joint in given.driven]
    if not given.driven or all(np.allclose(found[at], v[at], atol=OPEN) for at in driven):
        return found
    if fault := drive_fault(model, q, given.driven):
        raise StateError(fault)
    return project_velocity(model, q, v, given.driven)


def _set_modes(
    tables: Tables, model: Model, table: dict[str, Any], at: At, state: Floats
) -> dict[str, Any]:
    """Put modes that are named, such as "boom.y1", where they lie; what else the table has."""
    places = {
        f"{body}.{label}": model.mode_slice(body, at[-1]).start + i
        for body, given in model.flexible.items()
        for i, label in enumerate(given.labels)
    }
    for key in (key for key in table if key in places):
        value = numbers([table[key]])
        if value is None:
            problem = f"{dotted(*at, key)} is {shown(table[key])}"
            tables.fault((*at, key), problem, "a mode takes a finite number.")
        else:
            state[places[key]] = value[0]
    return {key: value for key, value in table.items() if key not in places}


def _given(
    tables: Tables, names: ModelNames, table: dict[str, Any], at: At
) -> dict[str, tuple[float, ...]]:
    """The numbers given for each joint; a key that does not fit is one fault."""
    found: dict[str, tuple[float, ...]] = {}
    for key, joints in names.state_of(table, at).items():
        values = numbers(table[key] if isinstance(table[key], list) else [table[key]])
        for name in joints:
            wrong = _problem(names.joints[name], values, at[-1])
            if wrong:
                whose = "" if name == key else f" (for joint {name!r})"
                problem = f"{dotted(*at, key)}{whose} is {shown(table[key])}{wrong[0]}"
                path, value = (*at, key), table[key]
                tables.add([Fault(problem, f"{wrong[1]}.", path, value, joint=name)])
                break
            assert values is not None
            found[name] = values
    return found


def _problem(joint: Joint, values: tuple[float, ...] | None, which: str) -> tuple[str, str] | None:
    """What is wrong with the coordinates (q) or velocities (v) of a joint, and the remedy."""
    count = joint.nq if which == "q" else joint.nv
    if values is None or len(values) != count:
        what = joint.q_form if which == "q" else joint.v_form
        what = what or (f"{count} finite numbers" if count > 1 else "a finite number")
        return "", f"a {joint.type_name} joint takes {what}"
    if which == "v" or joint.nq == joint.nv:
        return None
    norm = float(np.linalg.norm(values[:4]))
    if abs(norm - 1.0) <= QUATERNION_TOLERANCE:
        return None
    unit = [x / norm for x in values[:4]] if norm > 0.0 else [1, 0, 0, 0]
    return f", whose quaternion has norm {norm:.9g} instead of 1", f"give {unit}"
