"""Run a sweep, and go on with one that was interrupted."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from skodyn.errors import ArgumentError, LogError, ScenarioError
from skodyn.model.keywords import keywords_checked
from skodyn.scenario import Scenario, read_scenario
from skodyn.sweeps.batch import pickled, prepare
from skodyn.sweeps.driver import Driver, Progress, SweepProgress
from skodyn.sweeps.engines import DEFAULT_ENGINE, check_engine, open_engine, warm
from skodyn.sweeps.index import Index, IndexWriter, create_index, open_index
from skodyn.sweeps.packing import goes_alone
from skodyn.sweeps.parts import Part, part_of, part_record
from skodyn.sweeps.plan import KEYS, SweepPlan, make_plan, read_plan
from skodyn.sweeps.results import Sweep, logs_folder
from skodyn.sweeps.scenario_data import read_data
from skodyn.sweeps.stored_study import changed_code, record_of, stored_study
from skodyn.sweeps.study import Study
from skodyn.sweeps.sweep_progress import shown_sweep
from skodyn.typing import EngineName

__all__ = ["plan_sweep", "resume_sweep", "run_or_resume", "run_plan", "sweep"]


def plan_sweep(
    scenario: str | os.PathLike[str] | Scenario,
    parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    **more: Any,
) -> SweepPlan:
    """A plan from a file with a table [sweep], or from a scenario and what is to be varied."""
    if parameters is None and not more and not isinstance(scenario, Scenario):
        return read_plan(scenario)
    given, table = _with_table(scenario)
    if parameters is None:
        return make_plan(given, {**table, **more})
    table = {key: value for key, value in table.items() if key not in ("grid", "designs")}
    if isinstance(parameters, str | os.PathLike):
        problem = f"sk.sweep: parameters is {os.fspath(parameters)!r}, which is not a mapping"
        raise ArgumentError(problem, "give paths with their values, and the index as out=….")
    if isinstance(parameters, Mapping):
        table |= {"designs": [parameters]} if "kind" in parameters else {"grid": dict(parameters)}
    else:
        table |= {"designs": list(parameters)}
    return make_plan(given, {**table, **more})


def _with_table(scenario: str | os.PathLike[str] | Scenario) -> tuple[Scenario, dict[str, Any]]:
    """A scenario, and the table [sweep] of its file, which arguments override key by key."""
    if isinstance(scenario, Scenario):
        return scenario, {}
    given = read_scenario(scenario, of_sweep=True)
    table = tomllib.loads(given.text).get("sweep", {})
    return given, dict(table) if isinstance(table, dict) else {}


@keywords_checked(lambda: KEYS)
def sweep(
    scenario: str | os.PathLike[str] | Scenario,
    parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    engine: EngineName = DEFAULT_ENGINE,
    workers: int | None = None,
    scheduler: Any = None,
    overwrite: bool = False,
    resume: bool = False,
    progress: Progress | bool | None = None,
    **more: Any,
) -> Sweep:
    """Run a scenario for many values of its parameters.

    Parameters
    ----------
    scenario : path or Scenario
        A scenario file, or what `read_scenario` made of one.
    parameters : mapping or sequence of mappings, optional
        Paths with their values, a grid; or a table with a ``kind``, as in ``[[sweep.designs]]``; or
        a list of such tables, whose product is run. Left out, the file must have a table
        ``[sweep]``; given, they take the place of the grid or the designs that stand there.
    out : path, optional
        The index to write; without it, results live as long as the object returned.
    engine : {"threads", "in-process", "processes", "dask"}
        Where runs go. Threads have the least overhead; processes survive a crash of one.
    workers : int, optional
        How many; one for each core by default.
    scheduler : str, dask.distributed.Client or Cluster, optional
        A dask cluster that exists: its address ``tcp://HOST:PORT`` with engine "dask", or the
        object, which stays open.
    overwrite : bool
        Replace an index of that name.
    resume : bool
        Go on with `out` if it exists and holds this sweep.
    progress : bool or callable, optional
        True shows how far it has come, False does not; by default it is shown if it takes long. A
        function is called with the tally of runs after each batch instead.
    **more
        metrics, replicas, logs, sample_every, as in the table ``[sweep]``, in place of what stands
        there.

    Returns
    -------
    results : Sweep
        The same bits on every engine, however runs are batched.

    Raises
    ------
    ScenarioError
        Every fault of the scenario, the parameters and the points, before anything runs.
    LogError
        The index exists, or cannot be written.

    See Also
    --------
    open_sweep : results of an earlier sweep.
    run : one run.

    Examples
    --------
    >>> grid = {"initial.q.shoulder": [0.5, 1.0, 1.5]}
    >>> metrics = {"fastest": {"kind": "max", "of": "v.elbow"}}
    >>> results = sk.sweep("scenarios/double_pendulum.toml", grid, metrics=metrics)
    >>> results.metric("fastest").round(3)
    array([ 4.122, 10.202, 21.349])
    """
    plan = plan_sweep(scenario, parameters, **more)
    temporary = Path(tempfile.mkdtemp(prefix="skodyn-sweep-")) if out is None else None
    path = temporary / "sweep.h5" if temporary else Path(out or "")
    given: dict[str, Any] = {
        "engine": engine if isinstance(scheduler, str | None) else "dask",
        "workers": workers,
        "scheduler": scheduler,
    }
    with shown_sweep(path.name, progress) as given["progress"]:
        if resume and path.exists():
            check_same(path, plan)
            resume_sweep(path, study=plan.study, **given)
        else:
            run_plan(plan, path, overwrite=overwrite, **given)
    return Sweep(path, temporary)


def run_plan(
    plan: SweepPlan, path: Path, *, overwrite: bool = False, part: Part | None = None, **given: Any
) -> SweepProgress:
    """Run a plan, or a part of it, into a new index."""
    asked = (given.get(key) for key in ("workers", "scheduler"))
    check_engine(given.get("engine", DEFAULT_ENGINE), *asked)
    prepare(pickled(plan.study))
    inside = part_of(plan, part) if part else plan
    record = part_record(plan, part) if part else record_of(plan)
    create_index(path, inside, record, overwrite=overwrite)
    return _drive(path, plan.study, **given)


def run_or_resume(
    plan: SweepPlan, path: Path, *, part: Part | None = None, **given: Any
) -> SweepProgress:
    """Start, or go on with what is there if it is of this plan."""
    if not path.exists():
        return run_plan(plan, path, part=part, **given)
    check_same(path, plan, part)
    return resume_sweep(path, study=plan.study, **given)


def resume_sweep(
    path: str | os.PathLike[str], *, study: Study | None = None, force: bool = False, **given: Any
) -> SweepProgress:
    """Run what is still pending in an index."""
    with open_index(path) as file:
        index = Index(file)
        found = stored_study(index, study.metrics if study else None)
        if changed_code(index, found) and not force:
            raise LogError(
                f"{path} was begun with another version of skodyn, so its runs may differ in their "
                "last bits; restore that version (of what others add to it, too), or go on with "
                "`skodyn sweep resume --force`."
            )
    prepare(pickled(found))
    return _drive(Path(path), found, **given)


def check_same(path: Path, plan: SweepPlan, part: Part | None = None) -> None:
    """A ScenarioError if an index holds another sweep than that of the plan."""
    with open_index(path) as file:
        index, record = Index(file), part_record(plan, part) if part else record_of(plan)
        for name in ("normal_form", "labels", "dimensions", "metrics"):
            now = record[name] if isinstance(record[name], str) else json.dumps(record[name])
            if index.text(name) != now:
                raise ScenarioError(
                    f"{path} holds another sweep (its {name} differ)",
                    "choose another name for this one.",
                )


def _drive(
    path: Path,
    study: Study,
    *,
    engine: str = DEFAULT_ENGINE,
    workers: int | None = None,
    scheduler: Any = None,
    progress: Progress | None = None,
    batch_runs: int | None = None,
) -> SweepProgress:
    with IndexWriter(path) as writer:
        chosen = _logs(path, json.loads(writer.text("logs")))
        running = open_engine(
            engine,
            workers,
            scheduler,
            partial(warm, _methods(study), goes_alone(read_data(study.data))),
        )
        try:
            tally = Driver(writer, pickled(study), running, chosen, batch_runs).run(progress)
        except BaseException:
            running.close(at_once=True)
            raise
        running.close(at_once=bool(tally.signal))
        return tally


def _logs(path: Path, wanted: str | list[int]) -> dict[str, Any]:
    """What `run_batch` is told of full logs."""
    if wanted == "none":
        return {}
    runs = frozenset(wanted if isinstance(wanted, list) else ())
    return {
        "logs": str(logs_folder(path).resolve()),
        "log_failed": wanted == "failed",
        "log_runs": None if wanted == "all" else runs,
    }


def _methods(study: Study) -> tuple[str, ...]:
    """The integrators that runs of a study use."""
    given = str(study.data.get("integrator", {}).get("method", "rk4"))
    return tuple(study.labels.get("integrator.method", (given,)))
