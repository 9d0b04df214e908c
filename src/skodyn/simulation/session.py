"""A run from its plan to its result: log or memory, checkpoints, resuming to the same bits."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from skodyn.channels.entries.contacts import CONTACTS, labelled
from skodyn.channels.entry import CHANNELS, Channel
from skodyn.channels.own import chosen
from skodyn.errors import LogError, ModelError, StateError
from skodyn.faults import Fault, Subject
from skodyn.looks import look
from skodyn.model.columns import Floats
from skodyn.model.contact_tables import pack_contacts
from skodyn.model.keys import POSITIVE, STEPS, remedy_for
from skodyn.model.model import Model
from skodyn.simulation.channels import channel_rows, prepare_channels
from skodyn.simulation.controllers import law_function
from skodyn.simulation.duration import division_fault, every_fault
from skodyn.simulation.elements import Controller, Forces
from skodyn.simulation.engine import Engine
from skodyn.simulation.fingerprint import fingerprint
from skodyn.simulation.identity import channel_identity, code_identity, own_code, run_code
from skodyn.simulation.loop import Outcome, Progress, drive
from skodyn.simulation.loop_start import start_fault
from skodyn.simulation.methods import METHODS, fixed_step_methods
from skodyn.simulation.monitors import Snapshot, snapshot
from skodyn.simulation.motion_tables import pack_motions, starts
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat, rate_fault
from skodyn.typing import RunSummary

if TYPE_CHECKING:
    from skodyn.io.trajectory import Trajectory

__all__ = ["Plan", "Run", "checkpoint_path", "resume", "run"]


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that decides a run."""

    model: Model
    q0: Floats
    v0: Floats
    duration: float
    settings: IntegratorSettings
    forces: Forces = field(default_factory=Forces)
    every: int = 1
    channels: tuple[Any, ...] = ()  # names, "file.py:name", functions or sk.channel(…)
    seed: int | None = None
    scenario_text: str = ""
    scenario_folder: str = ""
    thermostat: AndersenThermostat | None = None
    entries: tuple[Channel, ...] = field(init=False, repr=False)  # what `channels` speak of

    def __post_init__(self) -> None:
        faults = self._timing_faults()
        entries, wrong = chosen(self.channels, Path(self.scenario_folder))
        entries = tuple(one if one is not CONTACTS else self._contacts_channel() for one in entries)
        faults += wrong + [fault for one in entries if (fault := one.fault(self.model))]
        object.__setattr__(self, "entries", entries)
        if self.thermostat is not None and self.settings.adaptive:
            faults.append(
                Fault(
                    "A thermostat acts between steps of equal length, which "
                    f"{self.settings.method} does not take",
                    f"use one of {fixed_step_methods()}.",
                    ("thermostat",),
                )
            )
        elif self.thermostat is not None and self.forces.motions:
            joint = self.forces.motions[0].joint
            what = "A thermostat draws the velocities of all joints, also of "
            what += f"{joint!r}, whose motion is prescribed"
            faults.append(Fault(what, "leave one out.", ("thermostat",), joint=joint))
        elif self.thermostat is not None:
            found = rate_fault(self.thermostat.rate, self.settings.dt, "The thermostat's rate")
            faults += [found] if found else []
        if faults:
            raise StateError(faults)

    def _contacts_channel(self) -> Channel:
        """The channel of contacts, whose labels are this run's."""
        if not self.forces.contacts:
            return CONTACTS
        return labelled(pack_contacts(self.model, self.forces.contacts).labels)

    def _timing_faults(self) -> list[Fault]:
        seconds = POSITIVE.read(self.duration)
        if seconds is None:
            remedy = remedy_for(POSITIVE, self.duration)
            return [Subject().found("duration", self.duration, remedy)]
        if STEPS.read(self.every) is None:
            return [Subject().found("every", self.every, f"give {STEPS.form}.")]
        found = division_fault(float(seconds), float(self.settings.dt), "dt")
        if found is not None:
            return [found]
        too_rare = every_fault(self.every, round(self.duration / self.settings.dt), "every")
        return [too_rare] if too_rare else []

    def engine(self) -> Engine:
        q, v = self._start()
        if v.shape != (self.model.nv,) or not np.isfinite(v).all():
            raise StateError(
                f"v0 is {self.v0!r}", f"this model takes {self.model.nv} finite velocities."
            )
        q = self.model.check_q(q)
        if self.model.has_loops and (fault := start_fault(self.model, q, v)):
            raise StateError(Fault("The start cannot be simulated", cause=fault))
        return Engine(
            self.model, q, v, self.duration, self.settings, self.forces, self.every,
            self.thermostat, any(entry.name == CONTACTS.name for entry in self.entries),
        )  # fmt: skip

    def _start(self) -> tuple[Any, Floats]:
        """q0 and v0 with NaN of driven joints filled in; what contradicts their motion is told."""
        model, motions = self.model, self.forces.motions
        if not motions:
            return self.q0, np.asarray(self.v0, dtype=np.float64)
        faults = pack_motions(model, motions, 0, 0, prepare=False).faults
        if faults:
            raise ModelError(faults)
        q, v = np.array(self.q0, dtype=np.float64), np.array(self.v0, dtype=np.float64)
        if q.shape != (model.nq,) or v.shape != (model.nv,):
            return q, v
        for joint, values in starts(model, motions).items():
            places = (q, model.q_slice(joint)), (v, model.v_slice(joint))
            for name, (array, at), value in zip(("q0", "v0"), places, values, strict=True):
                given = array[at]
                if (abs(given - value) > 1e-9 * np.maximum(1.0, abs(value))).any():  # not of NaN
                    has, wants = (x.tolist() if x.size > 1 else float(x[0]) for x in (given, value))
                    what = f"{name} of joint {joint!r} is {has!r}, but its motion is prescribed "
                    what += f"and starts with {wants!r}"
                    faults.append(Fault(what, "give that, or NaN.", joint=joint))
                array[at] = value
        if faults:
            raise StateError(faults)
        return q, v

    @property
    def own_entries(self) -> tuple[Channel, ...]:
        """The channels that skodyn does not bring itself."""
        own = CHANNELS.built_in
        return tuple(entry for entry in self.entries if own.get(entry.name) is not entry)

    @property
    def rows(self) -> int:
        """How many rows a complete run logs, the one at the start included."""
        return 1 + round(self.duration / self.settings.dt) // self.every

    def identity(self) -> dict[str, str]:
        """Hashes by which a resumed run is recognised as the same."""
        state = hashlib.sha256(np.concatenate((self.q0, self.v0)).tobytes())
        method = METHODS[self.settings.method]
        used = np.asarray(method.numbers(self.settings)).tolist()
        numbers = repr((self.settings, used, self.duration, self.every))
        others = [e for e in self.forces.elements if not isinstance(e, Controller)]
        acting = repr((
            sorted((name, asdict(given)) for name, given in self.forces.joints.items()),
            [(type(e).__name__, _exact(asdict(e))) for e in others],
            [_exact(one.params) for one in self.forces.controllers if len(one.params)],
            own_code(type(element) for element in self.forces.elements),
            *([self.forces.seed] if any(map(_is_noisy, self.forces.elements)) else []),
            *([repr(self.thermostat)] if self.thermostat else []),
            *(repr(contact) for contact in self.forces.contacts),
            *[(type(m).__name__, _identity_of_motion(m)) for m in self.forces.motions],
        ))  # fmt: skip
        return {
            "model": "-".join((self.model.content_hash, *own_code(map(type, self.model.joints)))),
            "initial state": state.hexdigest(),
            "settings": hashlib.sha256(numbers.encode()).hexdigest(),
            "forces": hashlib.sha256(acting.encode()).hexdigest(),
            **_identity_of_laws(self.forces.controllers),
            "channels": channel_identity(self.entries, self.model),
            "code": run_code(method),
        }

    def provenance(self) -> dict[str, Any]:
        from skodyn.io import provenance

        return provenance.collect(
            self.model, self.scenario_text, seed=self.seed, integrator=self.settings.method,
            integrator_settings=self.settings.plain(), dt=self.settings.dt,
            duration=self.duration, every=self.every, identity=self.identity(),
            scenario_folder=self.scenario_folder,
        )  # fmt: skip


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
    ) -> Any:
        """The replay of the run: shown in a notebook, opened in the browser from a script.

        path: write one HTML file there instead, which needs no network. frames: keep at most so
        many rows. show: further layers from the start, for example "contacts", "velocities",
        "forces", "springs", "frames". open: whether to open the browser.
        """
        return look("view_trajectory")(self.trajectory, path, frames=frames, show=show, open=open)

    def plot(self, path: str | os.PathLike[str] | None = None, **chosen: Any) -> Any:
        """The curves of the run as a picture, or as a PNG, SVG or PDF file at `path`.

        Options are those of `sk.view.sheet`: channels, joints, loops, start, end, title, …
        """
        return look("plot_trajectory")(self.trajectory, path, **chosen)

    def _repr_html_(self) -> str:
        return str(look("trajectory_html")(self.trajectory, "Run"))

    def __repr__(self) -> str:
        where = f", {self.log}" if self.log else ""
        return f"<Run {self.status}: {self.summary['steps']} steps{where}>"


def _identity_of_laws(controllers: tuple[Controller, ...]) -> dict[str, str]:
    """The code of each controller, by its name; "none" stands for no controller."""
    if not controllers:
        return {"controller": fingerprint(None)}
    found: dict[str, str] = {}
    for controller in controllers:
        function = law_function(controller)
        name = f"controller {controller.label!r}"
        given = {f.name: getattr(controller, f.name) for f in fields(controller)}
        for apart in ("function", "params"):
            del given[apart]
        code = code_identity(function, getattr(function, "py_func", function))
        identity = f"{code}-{hashlib.sha256(repr(_exact(given)).encode()).hexdigest()[:16]}"
        found[name] = found[name] + identity if name in found else identity
    return found


def _is_noisy(element: Any) -> bool:
    return bool(getattr(element, "q_noise", 0.0) or getattr(element, "v_noise", 0.0))


def _identity_of_motion(motion: Any) -> Any:
    given = {f.name: getattr(motion, f.name) for f in fields(motion)}
    if "function" in given:
        given["function"] = fingerprint(given["function"])
    return _exact(given)


def _exact(value: Any) -> Any:
    """Plain lists and numbers: the repr of an array leaves out its middle, and digits."""
    if isinstance(value, dict):
        return {key: _exact(entry) for key, entry in value.items()}
    return value if isinstance(value, str) else np.asarray(value).tolist()


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
    longer = _until(plan, ended, until, path)
    if finished and longer.duration <= ended:
        raise LogError(done)
    plan = replace(plan, duration=ended)
    changed = [k for k, v in plan.identity().items() if saved.meta["identity"].get(k) != v]
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
    return _run_logged(plan, engine, start, writer, path, progress, chunk)


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
        events=memory.events(),
    )  # fmt: skip
    return Run(outcome, trajectory.acted_on_by(plan.forces))


def _run_logged(
    plan: Plan,
    engine: Engine,
    start: Snapshot,
    writer: Any,
    path: Path,
    progress: Progress | None,
    chunk: int | None,
) -> Run:
    from skodyn.io import checkpoint
    from skodyn.io.trajectory import open as open_trajectory

    identity = plan.identity()  # now: a controller in Python may change itself as it runs

    def save() -> None:
        writer.flush(sync=True)
        meta = {
            "identity": identity, "rows": writer.rows, "events": writer.events,
            "start": asdict(start), "duration": plan.duration,
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
