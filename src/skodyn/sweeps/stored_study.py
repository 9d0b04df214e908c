"""A study in the index of its sweep, so that the file alone is enough to go on or to explain."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.errors import LogError
from skodyn.io import provenance
from skodyn.model.joints import CATALOGUE
from skodyn.model.model import Model
from skodyn.scenario import parse_scenario
from skodyn.simulation.element import ELEMENTS, TABLES
from skodyn.simulation.identity import own_code
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sources import dependency_hash
from skodyn.sweeps.index import Index
from skodyn.sweeps.metrics import Metric
from skodyn.sweeps.plan import SweepPlan
from skodyn.sweeps.scenario_data import Data, to_toml
from skodyn.sweeps.study import Study

__all__ = ["changed_code", "record_of", "stored_model", "stored_study"]


def code_hash(study: Study) -> str:
    """Of everything that decides the bits of a run."""
    loops = {method.loop.__module__ for method in METHODS.built_in.values()}
    ours = [dependency_hash(module) for module in ("skodyn.sweeps.batch", *sorted(loops))]
    found = repr((ours, _code_of_others(study)))
    return hashlib.sha256(found.encode()).hexdigest()[:16]


def _code_of_others(study: Study) -> list[Any]:
    """Of the forces, joints and methods that are not skodyn's own."""
    data = study.data
    given = [table["type"] for t in TABLES for table in data.get(t, {}).values()]
    joints = [body["joint"]["type"] for body in data["model"]["bodies"].values()]
    used = {str(data.get("integrator", {}).get("method", "rk4"))}
    used |= set(study.labels.get("integrator.method", ()))
    others = [METHODS[name] for name in sorted(used) if name not in METHODS.built_in]
    return [
        *own_code(ELEMENTS[name] for name in given),
        *own_code(CATALOGUE[name] for name in joints),
        *_laws(data),
        *(np.asarray(one.numbers(IntegratorSettings(one.name))).tolist() for one in others),
    ]


def _laws(data: Data) -> list[str]:
    """Of the control laws that a scenario names, the texts of their files."""
    files = [t["function"] for t in data.get("controllers", {}).values() if "function" in t]
    return [hashlib.sha256(Path(f.rpartition(":")[0]).read_bytes()).hexdigest() for f in files]


def record_of(plan: SweepPlan) -> dict[str, Any]:
    """What the group `study` of an index holds."""
    study = plan.study
    functions = [name for name, m in study.metrics.items() if not isinstance(m.of, str)]
    origin = provenance.collect(plan.model, plan.text)
    return {
        "scenario": plan.text,
        "normal_form": to_toml(study.data),
        "labels": study.labels,
        "ranges": study.ranges,
        "metrics": {name: metric.plain() for name, metric in study.metrics.items()},
        "functions": functions,
        "settings": {"sample_every": study.sample_every, "folder": str(study.folder)},
        "visuals": study.visuals,
        "dimensions": plan.dimensions,
        "logs": json.dumps(plan.logs),
        "code": code_hash(study),
        "provenance": {key: value for key, value in origin.items() if key != "scenario"},
    }


def stored_study(index: Index, metrics: dict[str, Metric] | None = None) -> Study:
    """The study of an index. `metrics`: those of the caller, if some are functions in Python."""
    import tomllib

    functions = json.loads(index.text("functions"))
    if functions and metrics is None:
        raise LogError(
            f"The metrics {', '.join(functions)} of this sweep are functions given in Python; "
            "continue it there, with sk.sweep(…, resume=True)."
        )
    settings = json.loads(index.text("settings"))
    found = {n: Metric(**m) for n, m in json.loads(index.text("metrics")).items()}
    names = tuple(n.decode() for n in index.file["parameter"][:].tolist())
    return Study(
        tomllib.loads(index.text("normal_form")),
        names,
        {name: tuple(values) for name, values in json.loads(index.text("labels")).items()},
        {name: (a, b) for name, (a, b) in json.loads(index.text("ranges")).items()},
        found if metrics is None else metrics,
        settings["sample_every"],
        Path(settings["folder"]),
        index.text("visuals") if "visuals" in index.file["study"] else "{}",
    )


def stored_model(index: Index) -> Model:
    return parse_scenario(index.text("normal_form"), Path()).model


def changed_code(index: Index, study: Study) -> bool:
    """Whether runs may differ in their bits from those in the index, which has this study."""
    return index.text("code") != code_hash(study)
