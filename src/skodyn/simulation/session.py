"""A run from its plan to its result: log or memory, checkpoints, resuming to the same bits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from skodyn.errors import LogError, StateError
from skodyn.looks import Page, Picture, look
from skodyn.simulation.channels import channel_rows, prepare_channels
from skodyn.simulation.engine import Engine
from skodyn.simulation.loop import Outcome, Progress, drive
from skodyn.simulation.monitors import Snapshot, snapshot
from skodyn.simulation.plan import Plan
from skodyn.typing import Floats, RunSummary

if TYPE_CHECKING:
    from skodyn.io.trajectory import Trajectory

__all__ = ["Plan", "Run", "checkpoint_path", "resume", "run", "run_or_resume"]


@dataclass(frozen=True, eq=False)
class Run:
    """A run that has ended: how, and where its rows are.

    Returned by `simulate`, `run` and `resume`.

    Examples
    --------
    >>> run = sk.simulate(sk.examples.pendulum(1), [1.0], [0.0], duration=1.0, every=100)
    >>> run
    <Run finished: 1000 steps>
    >>> run.q.shape
    (11, 1)
    """

    outcome: Outcome
    trajectory: Trajectory
    log: Path | None = None

    @property
    def status(self) -> str:
        """finished, failed or interrupted."""
        return self.outcome.status

    @property
    def message(self) -> str:
        """Why the run failed, if it did."""
        return self.outcome.message

    @property
    def summary(self) -> RunSummary:
        """Steps, speed, and how far energy and momentum were kept."""
        return cast(RunSummary, self.outcome.summary)

    @property
    def t(self) -> Floats:
        """Times of the rows, shape (rows,), s."""
        return np.asarray(self.trajectory.t)

    @property
    def q(self) -> Floats:
        """Coordinates, shape (rows, nq)."""
        return np.asarray(self.trajectory.q)

    @property
    def v(self) -> Floats:
        """Velocities, shape (rows, nv)."""
        return np.asarray(self.trajectory.v)

    def view(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        frames: int | None = None,
        show: Sequence[str] = (),
        open: bool | None = None,
        exaggerate: float = 1.0,
    ) -> Page:
        """The replay of the run: shown in a notebook, opened in the browser from a script.

        path: write one HTML file there instead, which needs no network. frames: keep at most so
        many rows. show: further layers from the start, for example "contacts", "velocities",
        "forces", "springs", "frames". open: whether to open the browser. exaggerate: draw the
        deflections of flexible bodies so many times larger.
        """
        return self.trajectory.view(
            path, frames=frames, show=show, open=open, exaggerate=exaggerate
        )

    def plot(self, path: str | os.PathLike[str] | None = None, **chosen: Any) -> Picture:
        """The curves of the run as a picture, or as a PNG, SVG or PDF file at `path`.

        Options are those of `sk.view.sheet`: channels, joints, loops, start, end, title, …
        """
        made: Picture = look("plot_trajectory")(self.trajectory, path, **chosen)
        return made

    def _repr_html_(self) -> str:
        return str(look("trajectory_html")(self.trajectory, "Run"))

    def __repr__(self) -> str:
        where = f", {self.log}" if self.log else ""
        return f"<Run {self.status}: {self.summary['steps']} steps{where}>"


class _Memory:
    """Rows kept as arrays, for runs without a log."""

    def __init__(self) -> None:
        self.blocks: list[Mapping[str, Any]] = []
        self.event_blocks: list[tuple[Any, Any]] = []

    def append(self, rows: Mapping[str, Any]) -> None:
        self.blocks.append(rows)

    def append_events(self, t: Any, events: Any) -> None:
        self.event_blocks.append((t, events))

    def flush(self) -> None:
        pass

    def events(self) -> tuple[Any, Any] | None:
        """(times, table), if they were looked for."""
        if not self.event_blocks:
            return None
        t, tables = zip(*self.event_blocks, strict=True)
        return np.concatenate(t), np.concatenate(tables)

    def arrays(self) -> dict[str, Any]:
        return {name: np.concatenate([b[name] for b in self.blocks]) for name in self.blocks[0]}


def checkpoint_path(log: Path) -> Path:
    """Beside the log, named after it."""
    return log.with_name(log.name + ".checkpoint")


def run(
    plan: Plan,
    log: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    chunk: int | None = None,
) -> Run:
    """Run a plan from its start; rows go to a log file, or stay in memory without one."""
    engine = plan.engine()
    start = snapshot(engine)
    prepare_channels(plan.entries, plan.rows)
    first = channel_rows(engine, engine.present(), plan.entries)
    if log is None:
        return _run_in_memory(plan, engine, start, first, progress, chunk)
    from skodyn.io import checkpoint
    from skodyn.io.log import LogWriter

    path = Path(log)
    writer = LogWriter.create(
        path, [name for entry in plan.entries for name in entry.data], plan.model,
        plan.provenance(), expected_rows=plan.rows, overwrite=overwrite, own=plan.own_entries,
    )  # fmt: skip
    checkpoint.remove(checkpoint_path(path))  # of an older run with this name
    writer.append(first)
    return _run_logged(plan, engine, start, writer, path, progress, chunk)


def run_or_resume(
    plan: Plan,
    log: str | Path | None,
    *,
    resuming: bool,
    overwrite: bool,
    progress: Progress | None,
) -> Run:
    """Go on with a log that is there, if that is wanted; else run from the start."""
    if resuming and log is not None and Path(log).exists():
        return resume(plan, log, progress=progress)
    return run(plan, log, overwrite=overwrite, progress=progress)


def resume(
    plan: Plan,
    log: str | Path,
    *,
    force: bool = False,
    until: float | None = None,
    progress: Progress | None = None,
    chunk: int | None = None,
) -> Run:
    """Continue a run of the same plan from its last checkpoint, to the same bits.

    It ends where it was to end, at `until`, or with a plan that lasts longer; so a finished run is
    extended.
    """
    from skodyn.io import checkpoint
    from skodyn.io.log import LogWriter
    from skodyn.io.trajectory import open as open_trajectory

    path, done = Path(log), f"{log} holds a finished run; there is nothing to resume."
    finished = open_trajectory(path).status == "finished"
    if finished and until is None and not checkpoint_path(path).exists():
        raise LogError(done)
    saved = checkpoint.load(checkpoint_path(path))
    ended = saved.meta.get("duration", plan.duration)
    longer, given = _until(plan, ended, until, path), plan.duration
    if finished and longer.duration <= ended:
        raise LogError(done)
    plan = replace(plan, duration=ended)
    planned = saved.meta.get("planned", ended)  # before it was extended
    changed = [k for k, v in plan.identity().items() if saved.meta["identity"].get(k) != v]
    if until is None and given < ended and given != planned and "settings" not in changed:
        changed.append("settings")
    if changed and not force:
        raise StateError(
            f"{path} cannot be resumed to the same bits: its {', '.join(changed)} changed since "
            "it was written",
            "restore what it was, or force it (the change is recorded in the log).",
        )
    plan = longer
    engine = plan.engine()
    engine.restore(saved.arrays)
    record = {**plan.provenance(), "changed": changed, "checkpoint": saved.note or "newest"}
    writer = LogWriter.reopen(path, record)
    try:
        writer.truncate(saved.meta["rows"], saved.meta.get("events", 0))
    except BaseException:
        writer.close()
        raise
    start = Snapshot(**saved.meta["start"])
    if engine.watch is not None:
        before, rows = open_trajectory(path), saved.meta["rows"]
        engine.watch.catch_up(np.asarray(before.t[:rows]), np.asarray(before.q[:rows]))
    if engine.bending is not None:
        before, rows = open_trajectory(path), saved.meta["rows"]
        engine.bending.catch_up(np.asarray(before.t[:rows]), np.asarray(before.q[:rows]))
    return _run_logged(plan, engine, start, writer, path, progress, chunk, planned)


def _until(plan: Plan, ended: float, until: float | None, path: Path) -> Plan:
    """The plan up to the time where a resumed run is to end."""
    if until is None:
        return replace(plan, duration=max(plan.duration, ended))
    longer = replace(plan, duration=until)
    if longer.duration < ended:
        raise StateError(
            f"{path} is a run of {ended:g} s, and cannot end at {until:g} s",
            "give a later time.",
        )
    return longer


def _run_in_memory(
    plan: Plan,
    engine: Engine,
    start: Snapshot,
    first: dict[str, Any],
    progress: Progress | None,
    chunk: int | None,
) -> Run:
    from skodyn.io.trajectory import Trajectory

    memory = _Memory()
    memory.append(first)
    outcome = drive(engine, memory, plan.entries, start=start, progress=progress, chunk=chunk)
    trajectory = Trajectory.in_memory(
        plan.model, memory.arrays(), plan.provenance(), status=outcome.status,
        message=outcome.message, summary=outcome.summary, own=plan.own_entries,
        events=memory.events(), acting=plan.forces,
    )  # fmt: skip
    return Run(outcome, trajectory)


def _run_logged(
    plan: Plan,
    engine: Engine,
    start: Snapshot,
    writer: Any,
    path: Path,
    progress: Progress | None,
    chunk: int | None,
    planned: float | None = None,
) -> Run:
    from skodyn.io import checkpoint
    from skodyn.io.trajectory import open as open_trajectory

    identity = plan.identity()  # now: a controller in Python may change itself as it runs

    def save() -> None:
        writer.flush(sync=True)
        meta = {
            "identity": identity, "rows": writer.rows, "events": writer.events,
            "start": asdict(start), "duration": plan.duration,
            "planned": planned or plan.duration,
        }  # fmt: skip
        checkpoint.save(checkpoint_path(path), engine.memory_of_run(), meta)

    save()  # from the first moment there is something to resume from
    with writer:
        outcome = drive(
            engine, writer, plan.entries, start=start, checkpoint=save,
            progress=progress, chunk=chunk,
        )  # fmt: skip
        writer.finish(outcome.status, outcome.message, outcome.summary)
    if outcome.status == "finished":  # the newest stays: from it the run can be extended
        checkpoint.previous(checkpoint_path(path)).unlink(missing_ok=True)
    return Run(outcome, open_trajectory(path), path)
