"""A kill at every single file operation: rows that were flushed are read, and a resume gives the
same bits.

All operations on files of a session are recorded and every beginning of the list is played into an
empty folder, as if the process had been killed after it; of each write also a part, as if it had
been killed within. A few of these moments, drawn with a seed, are in the daily tests; all of them
in the slow ones.
"""

from __future__ import annotations

import functools
import io
import os
import random
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.errors import LogError
from skodyn.io import log_layout
from skodyn.io.log import LogWriter
from skodyn.io.trajectory import open as open_trajectory
from skodyn.jit import JIT_DISABLED
from skodyn.simulation import loop, session
from skodyn.simulation.control import control_tables
from skodyn.simulation.control.controllers import prepare_law
from skodyn.simulation.elements import Controller
from skodyn.simulation.methods import METHODS
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat
from skodyn.sweeps import index as sweep_index
from skodyn.sweeps import running as sweep_running
from test_contact_bits import plan as hopping
from test_log import EXTRA, MODEL, block
from test_session import assert_same_rows, blow_up, controlled
from test_steppers import FORCES, flier, start

FEW = 12  # moments of each session in the daily tests


# ---- recording and playing ------------------------------------------------------------------


@dataclass
class Recorder:
    """The file operations of this process, and what had been promised when."""

    ops: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[tuple[int, str, int]] = field(default_factory=list)  # after so many operations
    names: dict[int, str] = field(default_factory=dict)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        do = {name: getattr(os, name) for name in ("open", "pwrite", "replace", "unlink")}

        def opened(path, flags, *more, **options):
            handle = do["open"](path, flags, *more, **options)
            if flags & os.O_CREAT:
                self.ops.append(("create", Path(path).name))
            self.names[handle] = Path(path).name
            return handle

        def pwrite(handle, data, offset):
            name = self.names[handle]
            if self.ops[-1:] == [("create", name)] and os.fstat(handle).st_size:  # HDF5 was here
                whole = os.pread(handle, os.fstat(handle).st_size, 0)
                self.ops.append(("write", name, 0, whole))
            count = do["pwrite"](handle, data, offset)
            self.ops.append(("write", name, offset, bytes(data[:count])))
            return count

        def renamed(source, target):
            do["replace"](source, target)
            source, target = Path(source).name, Path(target).name
            self.ops.append(("replace", source, target))
            self.names = {h: target if n == source else n for h, n in self.names.items()}

        def unlinked(path, *more, **options):
            do["unlink"](path, *more, **options)
            self.ops.append(("unlink", Path(path).name))

        for name, new in (
            ("open", opened), ("pwrite", pwrite), ("replace", renamed), ("unlink", unlinked)
        ):  # fmt: skip
            patch.setattr(os, name, new)
        patch.setattr(os, "fsync", lambda handle: None)
        self._install_notes(patch)

    def _install_notes(self, patch: pytest.MonkeyPatch) -> None:
        """Note what is promised: rows after a flush, fewer before they are cut, a checkpoint."""
        flush, truncate, save = LogWriter.flush, LogWriter.truncate, session_save()

        def noted_flush(log, **options):
            flush(log, **options)
            before = self.promised(len(self.ops), "rows")  # only a cut takes a promise back
            self.notes.append((len(self.ops), "rows", max(before, log.rows)))

        def noted_truncate(log, rows, *more):
            known = len(self.notes)
            self.notes.append((len(self.ops), "rows", rows))
            truncate(log, rows, *more)
            del self.notes[known + 1 :]  # it flushes what it is about to cut

        def noted_save(*given):
            save(*given)
            self.notes.append((len(self.ops), "checkpoint", 1))

        patch.setattr(LogWriter, "flush", noted_flush)
        patch.setattr(LogWriter, "truncate", noted_truncate)
        patch.setattr("skodyn.io.checkpoint.save", noted_save)

    def promised(self, count: int, what: str, otherwise: int = 0) -> int:
        """What was promised last, `count` operations after the beginning."""
        return next((n for at, w, n in self.notes[::-1] if at <= count and w == what), otherwise)


def session_save():
    from skodyn.io import checkpoint

    return checkpoint.save


def apply(files: dict[str, bytearray], op: tuple[Any, ...], part: float = 1.0) -> None:
    kind, name, *rest = op
    if kind == "create":
        files[name] = files.get(name, bytearray()) if name.endswith(".h5") else bytearray()
    elif kind == "replace":
        files[rest[0]] = files.pop(name)
    elif kind == "unlink":
        del files[name]
    else:
        offset, data = rest
        data = data[: int(part * len(data))]
        files[name].extend(bytes(max(0, offset + len(data) - len(files[name]))))
        files[name][offset : offset + len(data)] = data


def moments(before: dict[str, bytes], ops: list[Any]):
    """(operations done, files) after each operation, and half-way through each write."""
    files = {name: bytearray(content) for name, content in before.items()}
    for count, op in enumerate(ops):
        if op[0] == "write" and len(op[3]) > 8:
            torn = {name: bytearray(content) for name, content in files.items()}
            apply(torn, op, 0.5)
            yield count, torn
        apply(files, op)
        yield count + 1, files


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def put(folder: Path, files: dict[str, bytes]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def record(folder: Path, what) -> tuple[dict[str, bytes], Recorder]:
    """Do something that changes files in a folder; what was there before, and the record of it."""
    before, recorder = contents(folder), Recorder()
    with pytest.MonkeyPatch.context() as patch:
        recorder.install(patch)
        what()
    *_, (_, last) = moments(before, recorder.ops)
    assert {k: bytes(v) for k, v in last.items()} == contents(folder), "an operation was missed"
    return before, recorder


def some(before, recorder, request, few=FEW):
    """Moments to look at: a few, or all."""
    every = list(range(sum(1 for _ in moments(before, recorder.ops))))
    number = len(every) if request.node.get_closest_marker("slow") else few
    chosen = set(random.Random(len(every)).sample(every, min(number, len(every))))
    for i, (count, files) in enumerate(moments(before, recorder.ops)):
        if i in chosen:
            yield count, {name: bytes(content) for name, content in files.items()}


# ---- runs -----------------------------------------------------------------------------------


def push(t, q, v, p, tau):
    tau[-1] -= 0.1 * v[-1]


def plan_of(method: str) -> Plan:
    """Forces, servos, a controller, a thermostat where there can be one, and most channels."""
    model = flier()
    q, v = start(model)
    settings = IntegratorSettings(method, dt=5e-3, max_step=0.01)
    forces = FORCES if JIT_DISABLED else controlled(FORCES, push)
    thermostat = None if settings.adaptive else AndersenThermostat(300.0, 20.0, 3)
    return Plan(
        model, q, v, 0.1, settings, forces, 2, ("energy", "tau", "poses"), seed=4,
        thermostat=thermostat,
    )  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def the_controller_is_compiled_once():
    with pytest.MonkeyPatch.context() as patch:
        made = functools.cache(lambda function: prepare_law(Controller(function), None))
        patch.setattr(control_tables, "prepare_law", lambda one, model: made(one.function))
        yield


@pytest.fixture(autouse=True)
def small_pages_and_a_checkpoint_after_every_chunk(monkeypatch):
    monkeypatch.setattr(log_layout, "_PAGE_BYTES", 3000)
    monkeypatch.setattr(loop, "FLUSH_SECONDS", -1.0)


def assert_survives(plan, whole, folder, before, recorder, request):
    """Every chosen moment: flushed rows are there; a resume gives the rest, or says why not."""
    log, looked_at = folder / "run.h5", 0
    put(folder, before)
    rows_before = len(open_trajectory(log)) if log.exists() else 0
    for count, files in some(before, recorder, request):
        put(folder, files)
        looked_at += 1
        if "run.h5" not in files:
            assert recorder.promised(count, "rows") == 0
            with pytest.raises(LogError, match="no such file"):
                open_trajectory(log)
            continue
        assert_flushed_rows(whole, log, recorder.promised(count, "rows", rows_before))
        status = open_trajectory(log).status
        if status == "finished":
            assert len(open_trajectory(log)) == len(whole.t)
            continue
        had_one = "run.h5.checkpoint" in before or recorder.promised(count, "checkpoint")
        if not had_one and "run.h5.checkpoint" not in files:
            with pytest.raises(LogError, match="No usable checkpoint"):
                session.resume(plan, log)
            continue
        run = session.resume(plan, log)
        assert (run.status, run.message) == (whole.status, whole.message)
        assert_same_rows(run.trajectory, whole.trajectory, whole.trajectory.channels)
        assert run.summary["work_of_forces"] == whole.summary["work_of_forces"]
        if plan.forces.contacts:
            events = whole.trajectory.contact_events
            assert (run.trajectory.contact_events == events).all()
    assert looked_at >= FEW


def in_the_middle(before, ops, part):
    """The files when this part of all operations was done."""
    last = int(part * sum(1 for _ in moments(before, ops)))
    files = next(files for i, (_, files) in enumerate(moments(before, ops)) if i == last)
    return {name: bytes(content) for name, content in files.items()}


def assert_flushed_rows(whole, log, promised):
    kept = open_trajectory(log)
    assert len(kept) >= promised
    assert_same_rows(kept, whole.trajectory[: len(kept)], whole.trajectory.channels)
    assert kept.provenance["integrator"] == whole.trajectory.provenance["integrator"]
    with h5py.File(log, "r") as file:  # other programs see them too
        assert len(file["q"]) >= len(kept)
        assert np.array_equal(file["q"][: len(kept)], kept.q)


def kill_everywhere(plan, tmp_path, request, *, stages):
    """Kill a run, then a resume, then a second resume of it, at every operation of each."""
    folder, whole = tmp_path / "f", session.run(plan)
    log = put(folder, {}) / "run.h5"
    before, recorder = record(folder, lambda: session.run(plan, log, chunk=3))
    assert_survives(plan, whole, folder, before, recorder, request)
    for stage in range(stages):
        put(folder, in_the_middle(before, recorder.ops, (2 + stage) / 5))
        before, recorder = record(folder, lambda: session.resume(plan, log, chunk=3))
        assert len(open_trajectory(log).provenance["resumed"]) == stage + 1
        assert_survives(plan, whole, folder, before, recorder, request)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_and_its_resumes_survive_a_kill_at_some_operations(method, tmp_path, request):
    kill_everywhere(plan_of(method), tmp_path, request, stages=2)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_run_and_its_resumes_survive_a_kill_at_every_operation(method, tmp_path, request):
    kill_everywhere(plan_of(method), tmp_path, request, stages=2)


@functools.cache
def touching_plan() -> Plan:
    """A log with a table of events besides its rows."""
    return replace(hopping("rk4"), channels=("contacts",), every=30)


def test_a_log_with_contacts_survives_a_kill_at_some_operations(tmp_path, request, monkeypatch):
    kill_touching(tmp_path, request, monkeypatch)


@pytest.mark.slow
def test_a_log_with_contacts_survives_a_kill_at_every_operation(tmp_path, request, monkeypatch):
    kill_touching(tmp_path, request, monkeypatch)


def kill_touching(tmp_path, request, monkeypatch):
    """Chunks of 40 steps: events come in between; there is room for two, so the file grows."""
    monkeypatch.setattr(log_layout.Content, "__new__", _room_for_two(log_layout.Content.__new__))
    plan, folder = touching_plan(), tmp_path / "f"
    whole = session.run(plan)
    log = put(folder, {}) / "run.h5"
    before, recorder = record(folder, lambda: session.run(plan, log, chunk=40))
    assert any(op[:2] == ("replace", "run.h5.new") for op in recorder.ops[20:])
    assert_survives(plan, whole, folder, before, recorder, request)


def _room_for_two(make):
    def made(cls, names, channels, description, scenario, record, events=2):
        return make(cls, names, channels, description, scenario, record, events)

    return made


def failing_plan() -> Plan:
    return replace(blow_up(), every=4)


def test_a_run_that_fails_survives_a_kill_at_some_operations(tmp_path, request):
    kill_everywhere(failing_plan(), tmp_path, request, stages=1)


@pytest.mark.slow
def test_a_run_that_fails_survives_a_kill_at_every_operation(tmp_path, request):
    kill_everywhere(failing_plan(), tmp_path, request, stages=1)


def test_an_overwritten_log_is_the_old_or_the_new_one_at_any_operation(tmp_path, request):
    plan, folder = plan_of("rk4"), put(tmp_path / "f", {})
    log = folder / "run.h5"
    whole = session.run(plan)
    session.run(replace(plan, every=1), log)
    before, recorder = record(folder, lambda: session.run(plan, log, overwrite=True))
    for _, files in some(before, recorder, request):
        put(folder, files)
        kept = open_trajectory(log)
        if kept.status == "finished" and len(kept) != len(whole.t):
            assert files["run.h5"] == before["run.h5"]
        else:
            assert_same_rows(kept, whole.trajectory[: len(kept)])


def test_a_log_that_must_grow_survives_a_kill_at_some_operations(tmp_path, request):
    kill_as_it_grows(tmp_path, request)


@pytest.mark.slow
def test_a_log_that_must_grow_survives_a_kill_at_every_operation(tmp_path, request):
    kill_as_it_grows(tmp_path, request)


def kill_as_it_grows(tmp_path, request):
    """More rows than were expected: the file is copied into a larger one."""
    folder = put(tmp_path / "f", {})
    log = folder / "a.h5"

    def write() -> None:
        writer = LogWriter.create(log, EXTRA, MODEL, {"scenario": "x"}, expected_rows=10)
        writer.append(block(0, 8))
        writer.flush()
        writer.close()
        writer = LogWriter.reopen(log, {"host": "b"})
        for first in range(8, 50, 7):
            writer.append(block(first, first + 7))
            writer.flush()
        writer.finish("finished", summary={"steps": 3})

    before, recorder = record(folder, write)
    assert sum(op[0] == "replace" for op in recorder.ops) == 4  # of 10, 20, 40 and 80 rows
    expected = block(0, 50)
    after = contents(folder)
    for count, files in [*some(before, recorder, request, 60), (len(recorder.ops), after)]:
        put(folder, files)
        promised = recorder.promised(count, "rows")
        if "a.h5" not in files:
            assert promised == 0
            continue
        kept = open_trajectory(log)
        assert len(kept) >= promised
        for name in EXTRA:
            assert np.array_equal(kept[name], expected[name][: len(kept)])
    assert (kept.status, kept.summary) == ("finished", {"steps": 3})
    assert kept.provenance["resumed"] == [{"host": "b"}]
    assert [path.name for path in folder.iterdir()] == ["a.h5"]


# ---- sweeps ---------------------------------------------------------------------------------

SWEPT = """
duration = 0.2
[model]
name = "rod"
[model.bodies.rod]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0] }
mass = 1
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.02]
[initial.q]
rod = 1.0
[integrator]
method = "METHOD"
dt = 0.01
[sweep.grid]
"initial.q.rod" = { from = 0.1, to = 3.0, count = 14 }
[sweep.metrics.top]
of = "q.rod"
kind = "max"
"""


class Disk(io.BytesIO):
    """A file in memory that remembers every write of HDF5."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.ops: list[tuple[str, str, int, bytes]] = []

    def write(self, data) -> int:
        self.ops.append(("write", "sweep.h5", self.tell(), bytes(data)))
        return super().write(data)

    def truncate(self, size=None) -> int:
        assert size == len(self.getbuffer()), "the index must keep its size"
        return size


def run_recorded(path: Path, go, patch: pytest.MonkeyPatch):
    """Run a sweep whose index is written through a recording disk."""
    disks = []

    class Recorded(sweep_index.IndexWriter):
        def __init__(self, where: Path) -> None:
            disks.append((where.read_bytes(), Disk(where.read_bytes())))
            patch.setattr(sweep_index, "open_index", lambda *_: h5py.File(disks[-1][1], "r+"))
            super().__init__(where)
            patch.undo()

        def _sync(self) -> None:
            pass

        def close(self) -> None:
            self.file.close()
            self.path.write_bytes(disks[-1][1].getvalue())

    with pytest.MonkeyPatch.context() as other:
        other.setattr(sweep_running, "IndexWriter", Recorded)
        go()
    (before, disk) = disks[-1]
    return {"sweep.h5": before}, disk.ops


def kill_sweep_everywhere(method, tmp_path, monkeypatch, number):
    scenario = tmp_path / "s.toml"
    text = SWEPT.replace("METHOD", method)
    if method == "dormand_prince":  # it chooses its steps, and says when it wants rows
        text = text.replace("dt = 0.01", "rtol = 1e-8\n[output]\ninterval = 0.01")
    scenario.write_text(text)
    plan = sweep_running.plan_sweep(scenario)
    whole = sk.sweep(scenario, engine="in-process")
    folder = put(tmp_path / "f", {})
    path = folder / "sweep.h5"
    given = {"engine": "in-process", "batch_runs": 3}
    before, ops = run_recorded(
        path, lambda: sweep_running.run_plan(plan, path, **given), monkeypatch
    )
    for stage in range(2):
        every = [dict(files) for _, files in snapshots(before, ops)]
        chosen = random.Random(3).sample(every, min(number, len(every)))
        for files in chosen:
            put(folder, files)
            partly = sk.sweep(scenario, out=path, resume=True, engine="in-process")
            assert np.array_equal(partly.q, whole.q)
            assert np.array_equal(partly.metrics, whole.metrics)
            assert partly.counts() == whole.counts()
            partly.close()
        if stage == 0:  # and kill the resume as well
            put(folder, every[len(every) // 2])
            before, ops = run_recorded(
                path, lambda: sweep_running.resume_sweep(path, **given), monkeypatch
            )


def snapshots(before, ops):
    for count, files in moments(before, ops):
        yield count, {name: bytes(content) for name, content in files.items()}


@pytest.mark.parametrize("method", ["rk4"])
def test_a_sweep_survives_a_kill_at_some_operations(method, tmp_path, monkeypatch):
    kill_sweep_everywhere(method, tmp_path, monkeypatch, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_sweep_survives_a_kill_at_every_operation(method, tmp_path, monkeypatch):
    kill_sweep_everywhere(method, tmp_path, monkeypatch, 10**6)
