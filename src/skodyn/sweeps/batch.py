"""What a worker does: rows of values in, outcomes out. The same on every engine.

`run_batch` is a pure function of the study and the rows; nothing depends on which runs came
together, in which order, or where.
"""

from __future__ import annotations

import hashlib
import pickle
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import SkodynError
from skodyn.io import checkpoint
from skodyn.io.model_record import with_visuals
from skodyn.io.schema import Names
from skodyn.kernels.energy import ROW as STATE_SUMS
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.model import Model
from skodyn.simulation import sampling, session
from skodyn.simulation.bent_looks import looks_of as bent_looks_of
from skodyn.simulation.contact.contact_looks import looks_of
from skodyn.simulation.engine import Engine
from skodyn.simulation.evaluate_rows import StateRows
from skodyn.simulation.frame_looks import looks_of as frame_looks_of
from skodyn.simulation.sampling import MetricArrays
from skodyn.sweeps.lane_batch import LaneBatch, Outcomes, PackedRuns
from skodyn.sweeps.metrics import PackedMetrics, pack_metrics
from skodyn.sweeps.packing import Packer, Refused, Variant, run_ids
from skodyn.sweeps.row_metrics import reduce_rows
from skodyn.sweeps.study import Study
from skodyn.typing import Floats

__all__ = ["CRASHED", "FAILED", "FINISHED", "PENDING", "REFUSED", "BatchResult", "run_batch"]

PENDING, FINISHED, FAILED, REFUSED, CRASHED = range(5)

ADAPTIVE_STEPS = 20_000  # attempts between two looks at `stop`


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Outcomes of runs, one row each, and the reasons of those that were refused or crashed."""

    run: NDArray[np.int64]
    status: NDArray[np.uint8]
    code: NDArray[np.int64]
    steps: NDArray[np.int64]
    id: NDArray[np.bytes_]
    q: Floats
    v: Floats
    metrics: Floats
    reasons: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.run)


class Worker:
    """A study made ready to run."""

    def __init__(self, study: Study) -> None:
        self.study, self.packer = study, Packer(study)
        model = self.packer.base.model
        self.nq, self.nv = model.nq, model.nv
        self.metrics: PackedMetrics = self._pack(model)
        self._others: dict[Any, PackedMetrics] = {_labels(model): self.metrics}

    def _pack(self, model: Model) -> PackedMetrics:
        return pack_metrics(self.study.metrics, model, self.study.folder, self.packer.base.forces)

    def metrics_of(self, model: Model) -> PackedMetrics:
        """The metrics of a run: of a body that has more or fewer modes they lie elsewhere."""
        labels = _labels(model) if model.flexible else _labels(self.packer.base.model)
        if labels not in self._others:
            self._others[labels] = self._pack(model)
        return self._others[labels]

    def columns_of(self, model: Model) -> dict[str, Any]:
        """Which coordinates and velocities of a run those of the scenario are: (here, there)."""
        base = self.packer.base.model
        if not model.flexible or _labels(model) == _labels(base):
            return {"q": (slice(None), slice(None)), "v": (slice(None), slice(None))}
        found = {}
        for which, here, there in zip("qv", _labels(base), _labels(model), strict=True):
            shared = [label for label in here if label in there]
            found[which] = (list(map(here.index, shared)), list(map(there.index, shared)))
        return found


def _labels(model: Model) -> tuple[tuple[str, ...], tuple[str, ...]]:
    labels = Names.of(model).labels
    return tuple(labels["q_name"]), tuple(labels["v_name"])


@lru_cache(maxsize=4)
def _worker(digest: bytes, pickled: bytes) -> Worker:
    return Worker(pickle.loads(pickled))


def prepare(study: bytes) -> None:
    """Load and compile the functions of a pickled study now, so that what is wrong with them is
    one ScenarioError and not a crash of every run."""
    _ = _worker(hashlib.sha256(study).digest(), study).metrics.function


def pickled(study: Study) -> bytes:
    """A study as a task carries it; functions written in a script travel with their code."""
    if not any(callable(metric.of) for metric in study.metrics.values()):
        return pickle.dumps(study)
    from numba import cloudpickle  # numba's import takes longer than a small study

    data: bytes = cloudpickle.dumps(study)
    return data


def run_batch(
    study: bytes,
    indices: NDArray[np.int64],
    rows: Floats,
    logs: str = "",
    log_failed: bool = False,
    log_runs: frozenset[int] | None = frozenset(),
    stop: Callable[[], bool] = lambda: False,
) -> BatchResult:
    """Run rows of a pickled study. `logs`: the folder for full logs, of failed runs, of those in
    `log_runs`, or of all (None). Stopped early, it returns the runs that were completed."""
    began = time.perf_counter()
    worker = _worker(hashlib.sha256(study).digest(), study)
    result = _empty(worker, indices)
    done = np.zeros(len(indices), dtype=bool)
    for chosen, variant, runs in worker.packer.pack(rows):
        if stop():
            break
        if isinstance(variant, Refused):
            result.status[chosen] = REFUSED
            result.reasons.update({int(indices[i]): variant.reason for i in chosen})
            done[chosen] = True
            continue
        result.id[chosen] = run_ids(variant, runs)
        try:
            metrics = worker.metrics_of(variant.scenario.model)
        except SkodynError as error:  # of a mode that these runs do not have
            result.status[chosen] = REFUSED
            result.reasons.update({int(indices[i]): str(error) for i in chosen})
            done[chosen] = True
            continue
        chosen, runs = _without_refused(worker, variant, chosen, runs, rows, result, done)
        if not len(chosen):
            continue
        if not variant.in_lanes:
            outcomes = _one_by_one(worker, variant.scenario.model, rows[chosen], stop)
        else:
            outcomes = LaneBatch(runs, metrics).run(stop)
        _store(result, chosen, outcomes, worker.columns_of(variant.scenario.model))
        done[chosen[outcomes.complete]] = True
    if logs:
        _write_logs(worker, result, rows, done, Path(logs), log_failed, log_runs)
    return _only(result, done, time.perf_counter() - began)


def _without_refused(
    worker: Worker,
    variant: Variant,
    chosen: NDArray[np.int64],
    runs: PackedRuns,
    rows: Floats,
    result: BatchResult,
    done: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], PackedRuns]:
    """The runs that may begin; of the others the result has the reason."""
    if variant.tables.contacts is None:
        return chosen, runs
    from skodyn.sweeps.contact_starts import refused_starts  # few sweeps have contacts

    packer = worker.packer
    found = refused_starts(
        variant, runs, worker.study.names, lambda i: packer.scenario(rows[chosen[i]])
    )
    if not found:
        return chosen, runs
    out = chosen[list(found)]
    result.status[out], done[out] = REFUSED, True
    result.reasons.update({int(result.run[chosen[i]]): why for i, why in found.items()})
    left = np.array([i for i in range(len(chosen)) if i not in found], dtype=np.int64)
    tables = {name: getattr(runs, name)[left] for name in ("parameters", "numbers", "q", "v")}
    return chosen[left], replace(runs, **tables)


def _empty(worker: Worker, indices: NDArray[np.int64]) -> BatchResult:
    n = len(indices)
    return BatchResult(
        np.asarray(indices, dtype=np.int64), np.zeros(n, dtype=np.uint8),
        np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype="S16"),
        np.full((n, worker.nq), np.nan), np.full((n, worker.nv), np.nan),
        np.full((n, worker.metrics.count), np.nan),
    )  # fmt: skip


def _store(
    result: BatchResult, chosen: NDArray[np.int64], outcomes: Outcomes, columns: dict[str, Any]
) -> None:
    result.status[chosen] = np.where(outcomes.status == 0, FINISHED, FAILED)
    for name in ("steps", "metrics"):
        getattr(result, name)[chosen] = getattr(outcomes, name)
    for name, (here, there) in columns.items():  # modes that a run does not have stay NaN
        table = getattr(result, name)
        rows = table[chosen]
        rows[:, here] = getattr(outcomes, name)[:, there]
        table[chosen] = rows
    result.code[chosen] = outcomes.status


def _only(result: BatchResult, done: NDArray[np.bool_], seconds: float) -> BatchResult:
    return BatchResult(
        result.run[done], result.status[done], result.code[done], result.steps[done],
        result.id[done], result.q[done], result.v[done], result.metrics[done], result.reasons,
        seconds,
    )  # fmt: skip


# ---- runs that cannot go side by side -----------------------------------------------------------


def _one_by_one(worker: Worker, model: Model, rows: Floats, stop: Callable[[], bool]) -> Outcomes:
    """Width 1: runs that choose their steps or meet a thermostat; metrics from their rows."""
    n, m = len(rows), worker.metrics
    outcomes = Outcomes(
        np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64),
        np.zeros((n, model.nq)), np.zeros((n, model.nv)), np.zeros((n, m.count)),
    )  # fmt: skip
    for i, row in enumerate(rows):
        if stop() or not _run_alone(worker, row, i, outcomes, stop):
            break
        outcomes.complete[i] = True
    return outcomes


def _run_alone(
    worker: Worker, row: Floats, i: int, outcomes: Outcomes, stop: Callable[[], bool]
) -> bool:
    s = worker.packer.scenario(row)
    every = worker.packer.study.sample_every
    engine = Engine(s.model, s.q0, s.v0, s.duration, s.integrator, s.forces, every, s.thermostat)
    kept = np.zeros(worker.metrics.count * sampling.ACCUMULATORS)
    block, status = engine.present(), 0
    last = block
    _reduce(worker, engine, True, block, kept)
    while status == 0 and not engine.finished:
        block = engine.advance(ADAPTIVE_STEPS)
        status = block.status
        if len(block.t):
            last = block
            _reduce(worker, engine, False, block, kept)
        if status == 0 and not engine.finished and stop():
            return False
    outcomes.status[i], outcomes.steps[i] = status, engine.step
    outcomes.q[i], outcomes.v[i] = engine.q, engine.v
    if status == 0 and abs(last.t[-1] - engine.t) < 0.5 * engine.settings.dt:
        # what a log has at the end: dense output, or the state before a collision
        outcomes.q[i], outcomes.v[i] = last.q[-1], last.y[-1][: engine.model.nv]
    outcomes.metrics[i] = worker.metrics.finished(kept[None])[0]
    return True


def _reduce(worker: Worker, engine: Engine, first: bool, block: Any, kept: Floats) -> None:
    model, m = engine.model.uncoupled, worker.metrics_of(engine.model)
    joints = engine.model.coupling
    q, y = joints.expand_q(block.q), joints.expand_y(block.y)
    workspace = line_zeros(workspace_lanes(model.n_bodies, model.nq, model.nv), poison=True)
    values = line_zeros(STATE_SUMS + 3 * model.n_bodies)
    reduce_rows.ready(
        PackedModel(model.kernel_tree, model.parameters),
        first,
        engine.settings.dt * engine.every,
        StateRows(*(rows.reshape(-1) for rows in (block.t, q, y))),
        _looks(engine, m, block, q, y),
        workspace,
        MetricArrays(m.codes, m.levels, m.function.address, values, kept),
    )


def _looks(engine: Engine, m: PackedMetrics, block: Any, q: Floats, y: Floats) -> Floats:
    """What parts look at in runs side by side; q and y are those of every joint."""
    model = engine.model.uncoupled
    looked = [np.zeros((len(q), 0))]
    if m.codes[sampling.TOUCH_NUMBERS] and model.flexible:
        looked.append(bent_looks_of(model, q, np.ascontiguousarray(y[:, : model.nv])))
    elif m.contacts and engine.contacts is not None:
        watch = engine.contacts
        seen = looks_of(watch.tables, watch.evaluate(block.q, block.y))
        looked.append(seen.reshape(len(q), -1))
    if m.frames:
        looked.append(frame_looks_of(engine.model, block.q, m.frames))
    return np.hstack(looked).reshape(-1)


# ---- full logs ----------------------------------------------------------------------------------


def log_path(folder: Path, run: int) -> Path:
    return folder / f"run-{run:09d}.h5"


def _write_logs(
    worker: Worker,
    result: BatchResult,
    rows: Floats,
    done: NDArray[np.bool_],
    folder: Path,
    log_failed: bool,
    log_runs: frozenset[int] | None,
) -> None:
    """Run those that are to be logged once more, at width 1, to the same bits."""
    for i in np.flatnonzero(done & np.isin(result.status, (FINISHED, FAILED))).tolist():
        run = int(result.run[i])
        wanted = log_runs is None or run in log_runs
        if not wanted and not (log_failed and result.status[i] == FAILED):
            continue
        try:
            done[i] = _write_log(worker, rows[i], log_path(folder, run))
        except (SkodynError, OSError) as error:
            result.reasons[run] = f"its log could not be written: {error}"


def _write_log(worker: Worker, row: Floats, target: Path) -> bool:
    """A complete log under its name; False if a signal came in between."""
    from skodyn.scenario.running import plan_of

    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_suffix(".writing.h5")
    scenario = worker.packer.scenario(row)
    dressed = with_visuals(scenario.model, worker.packer.study.visuals)
    plan = plan_of(replace(scenario, model=dressed), target.parent)
    run = session.run(plan, temporary, overwrite=True)
    checkpoint.remove(session.checkpoint_path(temporary))
    if run.status == "interrupted":
        temporary.unlink()
        signal.raise_signal(run.outcome.signal)  # for the driver, whose business it is
        return False
    run.trajectory.close()
    temporary.replace(target)
    return True
