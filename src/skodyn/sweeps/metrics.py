"""What is kept of a run besides its final state: metrics as a person names them, and packed.

    swing = { of = "q.elbow", kind = "max" }
    fall = { of = "position.lower.z", kind = "crossing", level = 1.0, direction = "down" }
    drift = { kind = "energy_drift" }
    reach = { of = "metrics.py:reach", kind = "rms" }

`of` names a quantity: q.NAME and v.NAME by the names of the log's columns, energy (total), kinetic,
potential, work (of all forces but gravity), contact_loss, contact.LABEL.force (.gap, .slip) by the
labels of contact points, momentum.angular.x …, com.x …, position.NAME.x … of a body or frame, or a
function f(t, q, v) of a Python file. Quantities are looked at every `sample_every` steps. Of a
model with mimic joints they are those of all its joints; a function is given the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.channels import files
from skodyn.channels.files import load_function, problem_of
from skodyn.errors import ScenarioError
from skodyn.faults import Fault, Subject, shown
from skodyn.forks import cached_property
from skodyn.io.schema import Names
from skodyn.model.columns import LARGEST, as_floats
from skodyn.model.model import Model
from skodyn.simulation import sampling as s
from skodyn.simulation.bent_looks import PLACES, TOTAL
from skodyn.simulation.bent_looks import numbers_of as bent_numbers
from skodyn.simulation.contact.contact_looks import LOOKS
from skodyn.simulation.elements import Forces
from skodyn.simulation.force_tables import pack_forces
from skodyn.sweeps.functions import compile_functions, of_state
from skodyn.typing import Floats
from skodyn.wording import Spelling

__all__ = [
    "KINDS",
    "Metric",
    "PackedMetrics",
    "check_metrics",
    "frames_of",
    "names_function",
    "pack_metrics",
    "read_metrics",
]

KINDS = {
    "min": s.MINIMUM,
    "max": s.MAXIMUM,
    "mean": s.MEAN,
    "rms": s.RMS,
    "final": s.FINAL,
    "crossing": s.CROSSING,
    "energy_drift": s.DRIFT,
}
_DIRECTIONS = {"up": s.CROSSING_UP, "down": s.CROSSING_DOWN, "any": s.CROSSING}
_AXES = "xyz"
_FRAME = -1  # the source of a frame's place, until it is known which frames are looked at


METRICS = Subject(("sweep", "metrics"))


@dataclass(frozen=True)
class Metric:
    """One number per run. `of` may be a function when it comes from Python."""

    kind: str
    of: str | Callable[..., float] = ""
    level: float | None = None
    direction: str | None = None

    def plain(self) -> dict[str, Any]:
        """As data; a function by its name."""
        of = self.of if isinstance(self.of, str) else getattr(self.of, "__name__", "function")
        given = {"kind": self.kind, "of": of, "level": self.level, "direction": self.direction}
        return {key: value for key, value in given.items() if value not in (None, "")}


@dataclass(frozen=True, eq=False)
class PackedMetrics:
    """What sampling.py reads."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]
    levels: Floats
    functions: tuple[Callable[..., float], ...]
    frames: tuple[str, ...] = ()  # that are looked at, behind contacts
    contacts: bool = False  # whether contacts are

    @property
    def count(self) -> int:
        return len(self.names)

    @cached_property
    def function(self) -> Any:
        return compile_functions(self.functions)

    def finished(self, kept: Floats) -> Floats:
        """(runs, metrics) from the accumulators of runs."""
        table = kept.reshape(len(kept), self.count, s.ACCUMULATORS)
        result = table[:, :, 0].copy()
        kinds = self.codes[s.HEADER :: s.RECORD][: self.count]
        with np.errstate(invalid="ignore", divide="ignore"):
            for m, kind in enumerate(kinds.tolist()):
                if kind in (s.MEAN, s.RMS):
                    result[:, m] /= table[:, m, 1]
                if kind == s.DRIFT:
                    result[:, m] /= np.maximum(table[:, m, 2], 1e-300)
                if kind == s.RMS:
                    result[:, m] = np.sqrt(result[:, m])
        return result


# ---- reading ------------------------------------------------------------------------------------


def read_metrics(given: Any, faults: list[Fault]) -> dict[str, Metric]:
    """Metrics from a table of tables (or of Metric); what is wrong is added to the faults."""
    if not isinstance(given, dict):
        problem = f"{METRICS} is {shown(given)}"
        faults.append(METRICS.fault(problem, "write a table of metrics by name.", "", given))
        return {}
    found = {}
    for name, entry in given.items():
        before = len(faults)
        metric = _one(METRICS.at(name), entry, faults)
        if len(faults) == before and metric is not None:
            found[name] = metric
    return found


def _one(label: Subject, entry: Any, faults: list[Fault]) -> Metric | None:
    table = entry if not isinstance(entry, Metric) else {
        f.name: getattr(entry, f.name) for f in fields(Metric)
    }  # fmt: skip
    if not isinstance(table, dict):
        remedy = 'write for example { of = "energy", kind = "max" }.'
        faults.append(label.fault(f"{label} is {shown(entry)}", remedy, "", entry))
        return None
    keys = [f.name for f in fields(Metric)]
    for key in (key for key in table if key not in keys):
        remedy = Spelling(keys).remedy(key, f"use one of {', '.join(keys)}")
        faults.append(label.fault(f"Unknown key {key!r} in {label}", remedy, key))
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        remedy = Spelling(KINDS).remedy(kind, f"give one of {', '.join(KINDS)}")
        faults.append(label.found("kind", kind, remedy))
        return None
    metric = Metric(**{key: table[key] for key in keys if key in table})
    _check(label, metric, faults)
    return metric


def _check(label: Subject, metric: Metric, faults: list[Fault]) -> None:
    crossing, drift = metric.kind == "crossing", metric.kind == "energy_drift"
    if drift and metric.of:
        problem = f"{label}.of is not for energy_drift, which is always of energy"
        faults.append(label.fault(problem, "leave it out.", "of", metric.of))
    if not drift and not metric.of:
        remedy = 'give of, for example of = "energy".'
        faults.append(label.fault(f"{label} has no quantity", remedy))
    if metric.of and not isinstance(metric.of, str) and not callable(metric.of):
        faults.append(label.found("of", metric.of, 'give a quantity, for example "energy".'))
    level = as_floats(metric.level)
    if crossing and not (level is not None and level.ndim == 0 and abs(level) <= LARGEST):
        faults.append(label.found("level", metric.level, "give the number to be crossed."))
    if crossing and metric.direction not in (None, *_DIRECTIONS):
        faults.append(label.found("direction", metric.direction, "give up, down or any."))
    for key in ("level", "direction"):
        if not crossing and getattr(metric, key) is not None:
            problem = f'{label}.{key} is for kind = "crossing" only'
            faults.append(label.fault(problem, "leave it out.", key, getattr(metric, key)))


# ---- packing ------------------------------------------------------------------------------------


def check_metrics(
    metrics: dict[str, Metric], model: Model, folder: Path, forces: Forces | None = None
) -> list[Fault]:
    """What is wrong with the quantities of metrics; no file of functions is run to find out."""
    quantities = _quantities(model, forces)
    spelling = Spelling(quantities)
    faults = []
    for name, metric in metrics.items():
        faults += _flexible_faults(METRICS.at(name), metric, forces, model)
        if not isinstance(metric.of, str) or metric.of in quantities or not metric.of:
            continue
        if names_function(metric):
            if wrong := problem_of(metric.of, folder):
                problem = f"{METRICS.at(name, 'of')} is {wrong[0]}"
                faults.append(METRICS.at(name).fault(problem, wrong[1], "of", metric.of))
            continue
        if metric.of.startswith("contact."):
            faults.append(METRICS.at(name).found("of", metric.of, _touching(quantities)))
            continue
        otherwise = "use one of energy, kinetic, potential, work, q.…, v.…, position.…"
        remedy = spelling.remedy(metric.of, otherwise)
        faults.append(METRICS.at(name).found("of", metric.of, remedy))
    return faults


def _touching(quantities: Mapping[str, tuple[int, int]]) -> str:
    """What can be asked of contacts."""
    end = f".{LOOKS[0]}"
    labels = [name[len("contact.") : -len(end)] for name, (source, i) in quantities.items()
              if source == s.TOUCH and i % len(LOOKS) == 0]  # fmt: skip
    if not labels:
        return "this run has no contacts; give it some, or another quantity."
    more = f" and {len(labels) - 12} more" if labels[12:] else ""
    parts = ", ".join(f".{look}" for look in LOOKS)
    return f"use contact.LABEL with one of {parts} and one of {', '.join(labels[:12])}{more}."


def _flexible_faults(
    label: Any, metric: Metric, forces: Forces | None, model: Model
) -> list[Fault]:
    """What is looked at takes the place of contacts and frames."""
    if model.flexible and frames_of({"": metric}, model):
        problem = f"{label}: models with flexible bodies have no positions of frames as metrics"
        remedy = "use the position of a body, or give the bodies segments."
        return [label.fault(problem, remedy, "of", metric.of)]
    of_contact = isinstance(metric.of, str) and metric.of.startswith("contact.")
    if not (model.flexible and of_contact and forces is not None and forces.contacts):
        return []
    problem = f"{label}: models with flexible bodies have no contacts as metrics"
    return [label.fault(problem, "use energy, position.…, q.…, v.…, work.", "of", metric.of)]


def names_function(metric: Metric) -> bool:
    """Whether it speaks of a function of a Python file."""
    return files.names_function(metric.of)


def pack_metrics(
    metrics: dict[str, Metric], model: Model, folder: Path, forces: Forces | None = None
) -> PackedMetrics:
    """The tables, with functions loaded from their files; raises ScenarioError with every fault."""
    quantities = _quantities(model, forces)
    functions: list[Callable[..., float]] = []
    faults = check_metrics(metrics, model, folder, forces)
    if faults:
        raise ScenarioError(faults)
    records: list[int] = []
    levels: list[float] = []
    for name, metric in metrics.items():
        kind, source = KINDS[metric.kind], quantities["energy"]
        if metric.kind == "crossing":
            kind = _DIRECTIONS[metric.direction or "any"]
        if metric.kind != "energy_drift":
            try:
                function = _function(metric, folder)
            except ScenarioError as error:
                at = METRICS.at(name, "of")
                faults += [
                    replace(one, problem=f"{at} is {one.problem}", path=at.path)
                    for one in error.faults
                ]
                continue
            if function is None:
                source = quantities[str(metric.of)]
            else:
                source = (s.FUNCTION, len(functions))
                functions.append(function)
        records += [kind, *source]
        levels.append(float(metric.level or 0.0))
    if faults:
        raise ScenarioError(faults)
    sources = records[1 :: s.RECORD]
    sums = any(source in (s.STATE_SUM, s.TOTAL_ENERGY) for source in sources)
    looks = sum(source == s.TOUCH for source, _ in quantities.values())
    looks = bent_numbers(model.n_bodies) if model.flexible else looks
    touched = looks if s.TOUCH in sources else 0
    contacts = touched > 0 and not model.flexible
    frames = frames_of(metrics, model)
    _behind(touched, frames, model, records)
    touched += 3 * len(frames)
    header = [len(metrics), int(sums), int(s.PLACE in sources), touched, 0, 0]
    codes = np.array([*header, *records], dtype=np.int64)
    if model.mimics:
        joints = model.coupling
        functions = [of_state(function, joints.q_at, joints.v_at) for function in functions]
    return PackedMetrics(
        tuple(metrics), codes, np.array(levels), tuple(functions), frames, contacts
    )


def frames_of(metrics: Mapping[str, Metric], model: Model) -> tuple[str, ...]:
    """The frames whose places metrics ask for, in the order of the model."""
    wanted = {metric.of for metric in metrics.values() if isinstance(metric.of, str)}
    return tuple(
        frame for frame in model.frames if any(f"position.{frame}.{a}" in wanted for a in _AXES)
    )


def _behind(first: int, frames: tuple[str, ...], model: Model, records: list[int]) -> None:
    """Let records of frames speak of what is looked at: behind contacts, frames one by one."""
    names = tuple(model.frames)
    for at in range(1, len(records), s.RECORD):
        if records[at] == _FRAME:
            frame, axis = divmod(records[at + 1], len(_AXES))
            records[at : at + 2] = s.TOUCH, first + 3 * frames.index(names[frame]) + axis


def _function(metric: Metric, folder: Path) -> Callable[..., float] | None:
    if not isinstance(metric.of, str):
        return metric.of
    if not names_function(metric):
        return None
    loaded: Any = load_function(metric.of, folder)
    found: Callable[..., float] = getattr(loaded, "function", loaded)  # that of a channel
    return found


def _quantities(given: Model, forces: Forces | None) -> dict[str, tuple[int, int]]:
    """Every quantity by name: its source and its place there."""
    model = given.uncoupled
    names = Names.of(model)
    found = {"energy": (s.TOTAL_ENERGY, 0), "work": (s.WORK, 0)}
    sums = ["kinetic", "potential"]
    sums += [f"momentum.{part}.{a}" for part in ("angular", "linear") for a in _AXES]
    sums += [f"com.{a}" for a in _AXES]
    found |= {name: (s.STATE_SUM, i) for i, name in enumerate(sums)}
    found |= {f"q.{name}": (s.COORDINATE, i) for i, name in enumerate(names.labels["q_name"])}
    found |= {f"v.{name}": (s.VELOCITY, i) for i, name in enumerate(names.labels["v_name"])}
    for k, body in enumerate(model.body_names):
        found |= {f"position.{body}.{a}": (s.PLACE, 3 * k + i) for i, a in enumerate(_AXES)}
    for k, frame in enumerate(given.frames):
        found |= {f"position.{frame}.{a}": (_FRAME, 3 * k + i) for i, a in enumerate(_AXES)}
    if forces is not None and forces.contacts:
        found["contact_loss"] = (s.LOSS, 0)
        names_of_looks = (f"contact.{label}.{look}" for label in _labels(given, forces)
                          for look in LOOKS)  # fmt: skip
        found |= {name: (s.TOUCH, i) for i, name in enumerate(names_of_looks)}
    if model.flexible:
        found |= {name: (s.TOUCH, bent) for name, at in found.items() if (bent := _bent(*at)) >= 0}
    return found


def _bent(source: int, i: int) -> int:
    """Where bent_looks.py has what rigid bodies tell, −1 for what all models have in common."""
    if source == s.STATE_SUM:
        return i
    return {s.TOTAL_ENERGY: TOTAL, s.PLACE: PLACES + i}.get(source, -1)


def _labels(model: Model, forces: Forces) -> tuple[str, ...]:
    """Of contact points."""
    tables = pack_forces(model, forces).contacts
    return tables.labels if tables is not None else ()
