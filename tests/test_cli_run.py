"""`skodyn run`, `resume`, `check` and `info` on runs: output, exit codes, trouble on the way."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from skodyn import progress
from skodyn.cli import main
from skodyn.io import checkpoint
from skodyn.io import log as log_module
from skodyn.io.trajectory import open as open_trajectory
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation import loop
from skodyn.simulation.session import checkpoint_path

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted(
    path for path in (ROOT / "scenarios").glob("*.toml") if not path.stem.startswith("sweep_")
)

PENDULUM = """
title = "one rod"
duration = {duration}
[model]
name = "rod"
[model.bodies.rod]
parent = "world"
joint = {{ type = "revolute", axis = [0, 1, 0], name = "pivot" }}
mass = 1
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.02]
[initial.q]
pivot = 0.5
[joints.pivot]
stiffness = {stiffness}
damping = 0.01
[integrator]
method = "{method}"
dt = {dt}
[output]
every = {every}
channels = ["energy"]
"""


def text_of(duration=0.5, stiffness=0.0, method="rk4", dt=0.001, every=10):
    text = PENDULUM.format(
        duration=duration, stiffness=stiffness, method=method, dt=dt, every=every
    )
    return text.replace("stiffness = 0.0\n", "")


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "rod.toml"
    path.write_text(text_of())
    return path


@pytest.fixture
def log(scenario, tmp_path, capsys):
    """The log of a finished run."""
    path = tmp_path / "done.h5"
    assert main(["run", str(scenario), "-o", str(path)]) == 0
    capsys.readouterr()
    return path


def refused(capsys, *arguments):
    """What is said on stderr by a command that must end with 2 and print nothing else."""
    assert main([str(a) for a in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert err.strip()
    return err


# ---- run ----------------------------------------------------------------------------------------


def test_run_writes_the_log_and_says_how_it_went(scenario, tmp_path, capsys):
    target = tmp_path / "out.h5"
    assert main(["run", str(scenario), "-o", str(target)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "finished: t = 0.5 s after 500 steps"
    assert re.search(r"^speed: +[\d,]+ steps/s", lines[1])
    assert lines[2].startswith("energy")
    assert "work of forces" in out
    assert lines[-1] == f"log:      {target}"
    run = open_trajectory(target)
    assert (run.status, len(run)) == ("finished", 51)
    assert run.scenario_text == scenario.read_text()


def test_run_names_its_log_after_the_scenario(scenario, tmp_path, capsys, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["run", "../rod.toml", "--quiet"]) == 0
    written = {p.name for p in (tmp_path / "elsewhere").iterdir()}
    assert written == {"rod.h5", "rod.h5.checkpoint"}


def test_run_as_json_is_data(scenario, tmp_path, capsys):
    assert main(["run", str(scenario), "-o", str(tmp_path / "out.h5"), "--json"]) == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert (data["status"], data["message"], data["steps"]) == ("finished", "", 500)
    assert data["log"] == str(tmp_path / "out.h5")
    assert abs(data["energy_imbalance"]) < 1e-9
    assert err == ""


def test_progress_is_on_stderr_and_quiet_means_none(scenario, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    assert main(["run", str(scenario), "-o", str(tmp_path / "a.h5")]) == 0
    out, err = capsys.readouterr()
    assert re.search(
        r"^one rod: \d+ %, t = \S+ of 0.5 s, [\d,]+ steps/s, \S+ s/s, \d+ s left$", err, re.M
    )
    assert "left" not in out
    assert main(["run", str(scenario), "-o", str(tmp_path / "b.h5"), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_person_at_a_terminal_sees_a_bar(scenario, tmp_path, capsys, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["run", str(scenario), "-o", str(tmp_path / "a.h5"), "--json"]) == 0
    json.loads(capsys.readouterr().out)
    assert "one rod" in screen.getvalue()


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_runs(path, tmp_path, capsys):
    text = path.read_text()
    scenario = parse_scenario(text, path.parent)
    interval = scenario.integrator.dt * scenario.output.every
    shorter = re.sub(r"(?m)^duration = .*$", f"duration = {5 * interval:.12g}", text)
    shorter = shorter.replace('file = "models/', f'file = "{path.parent}/models/')
    shutil.copytree(path.parent / "laws", tmp_path / "laws")
    copy = tmp_path / path.name
    copy.write_text(shorter)
    assert main(["check", str(copy)]) == 0
    assert "valid" in capsys.readouterr().out
    assert main(["run", str(copy), "-o", str(tmp_path / "out.h5")]) == 0
    assert capsys.readouterr().out.startswith("finished")
    run = open_trajectory(tmp_path / "out.h5")
    assert len(run) == 6
    for name in {*run.channels} - {"loop_forces"}:  # NaN where they are undetermined
        assert np.isfinite(run[name]).all()


# ---- refusals -----------------------------------------------------------------------------------


def test_a_faulty_scenario_is_refused_with_all_its_faults(tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_text(text_of().replace("damping", "dampign").replace('"rk4"', '"rk9"'))
    for command in ("run", "check"):
        said = refused(capsys, command, path)
        assert "dampign" in said
        assert "rk9" in said
        assert str(path) in said
    assert [p.name for p in tmp_path.iterdir()] == ["bad.toml"]


def test_a_missing_scenario_is_refused(tmp_path, capsys):
    assert "none.toml" in refused(capsys, "run", tmp_path / "none.toml")
    assert "none.toml" in refused(capsys, "check", tmp_path / "none.toml")


def test_an_existing_log_is_kept_unless_overwrite_is_asked(scenario, log, capsys):
    before = log.read_bytes()
    assert "exists" in refused(capsys, "run", scenario, "-o", log)
    assert log.read_bytes() == before
    assert main(["run", str(scenario), "-o", str(log), "--overwrite"]) == 0


def test_overwrite_does_not_destroy_what_is_no_log(scenario, tmp_path, capsys):
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    assert "not an HDF5 file" in refused(capsys, "run", scenario, "-o", precious, "--overwrite")
    assert precious.read_text() == "years of work"


def test_a_place_that_cannot_hold_a_log_is_refused(scenario, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    said = refused(capsys, "run", scenario, "-o", tmp_path / "file" / "out.h5")
    assert "does not exist" in said
    assert "is a folder" in refused(capsys, "run", scenario, "-o", tmp_path)
    assert "does not exist" in refused(capsys, "run", scenario, "-o", tmp_path / "no" / "out.h5")


def test_a_folder_where_nobody_may_write_is_refused(scenario, capsys):
    said = refused(capsys, "run", scenario, "-o", "/proc/out.h5")
    assert "/proc/out.h5" in said


@pytest.mark.parametrize("command", ["resume", "info"])
def test_what_is_no_log_is_refused(command, tmp_path, capsys):
    path = tmp_path / "x.h5"
    assert "no such file" in refused(capsys, command, path)
    path.write_text("not HDF5")
    assert "not an HDF5 file" in refused(capsys, command, path)
    with h5py.File(path, "w") as file:
        file["other"] = np.arange(3)
    assert "not a skodyn log" in refused(capsys, command, path)
    path.write_bytes(b"")
    assert "not an HDF5 file" in refused(capsys, command, path)


@pytest.mark.parametrize("command", ["resume", "info"])
@pytest.mark.parametrize("part", [0.02, 0.3, 0.5, 0.7, 0.9])
def test_a_truncated_log_is_refused(command, part, log, capsys):
    content = log.read_bytes()
    log.write_bytes(content[: int(part * len(content))])
    assert str(log) in refused(capsys, command, log)


def test_resume_of_a_finished_run_says_so(log, capsys):
    before = log.read_bytes()
    assert main(["resume", str(log)]) == 0
    assert "finished, " in capsys.readouterr().out
    assert log.read_bytes() == before


# ---- runs that fail -----------------------------------------------------------------------------


@pytest.fixture
def unstable(tmp_path):
    path = tmp_path / "unstable.toml"
    path.write_text(text_of(500, 1e6, "semi_implicit_euler", dt=0.5, every=1))
    return path


def test_a_failed_run_ends_with_1_and_says_why(unstable, tmp_path, capsys):
    assert main(["run", str(unstable), "-o", str(tmp_path / "out.h5")]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("failed: t = ")
    reason = err.splitlines()[-1]  # a slow machine shows progress before it
    assert reason.startswith("failed: joint 'pivot' became NaN or infinite at t = ")
    run = open_trajectory(tmp_path / "out.h5")
    assert (run.status, run.message) == ("failed", reason.removeprefix("failed: "))
    assert np.isfinite(run.q).all()
    assert main(["info", str(tmp_path / "out.h5")]) == 0
    assert "failed, joint 'pivot'" in capsys.readouterr().out


def test_the_data_of_a_failed_run_are_json_for_every_reader(unstable, tmp_path, capsys):
    def no_such_number(word):
        raise AssertionError(f"{word} is not JSON")

    log = str(tmp_path / "out.h5")
    assert main(["run", str(unstable), "-o", log, "--json"]) == 1
    data = json.loads(capsys.readouterr().out, parse_constant=no_such_number)
    assert data["status"] == "failed"
    assert main(["info", log, "--json"]) == 0
    data = json.loads(capsys.readouterr().out, parse_constant=no_such_number)
    assert data["summary"]["steps"] > 0


# ---- interruptions ------------------------------------------------------------------------------

LONG = {"duration": 4000.0, "dt": 0.001, "every": 1000}


def command_line(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "skodyn", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def wait_for(path, process):
    patience = time.monotonic() + 60.0
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < patience
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_a_log_that_resumes(number, code, tmp_path, capsys):
    scenario, log = tmp_path / "long.toml", tmp_path / "long.h5"
    scenario.write_text(text_of(**LONG))
    process = command_line("run", scenario, "-o", log)
    wait_for(checkpoint_path(log), process)
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert out.startswith("interrupted: t = ")
    assert f"skodyn resume {log}" in err
    before = open_trajectory(log)
    assert before.status == "interrupted"
    assert "interrupted at t = " in before.message
    rows, step = len(before), int(before.summary["steps"])
    assert 1 <= rows < 4001
    assert checkpoint_path(log).exists()
    assert main(["info", str(log)]) == 0
    assert "interrupted" in capsys.readouterr().out
    # going on, until the next signal, in this process
    sent = []

    def stop(_self, _t, *_more):
        if not sent:  # the first chunk of this session is done
            sent.append(os.kill(os.getpid(), number))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress._Lines, "show", stop)
        assert main(["resume", str(log)]) == code
    assert open_trajectory(log).summary["steps"] > step
    assert len(open_trajectory(log)) >= rows


def test_resume_finishes_an_interrupted_run_to_the_same_bits(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(loop, "MOST_STEPS", 50)
    scenario, log = tmp_path / "s.toml", tmp_path / "s.h5"
    scenario.write_text(text_of(duration=2.0))
    sent = []

    def show(_self, t, *_more):
        if t > 0.7 and not sent:
            sent.append(os.kill(os.getpid(), signal.SIGINT))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress._Lines, "show", show)
        assert main(["run", str(scenario), "-o", str(log)]) == 130
    capsys.readouterr()
    assert main(["resume", str(log), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(out)
    assert (data["status"], data["steps"]) == ("finished", 2000)
    assert data["steps_this_run"] < 1300
    whole = run_scenario(parse_scenario(scenario.read_text(), tmp_path), None)
    after = open_trajectory(log)
    for name in after.channels:
        assert np.array_equal(after[name], whole.trajectory[name])
    assert not checkpoint.previous(checkpoint_path(log)).exists()
    assert main(["resume", str(log)]) == 0
    assert "there is nothing to resume" in capsys.readouterr().out


def test_a_model_file_changed_since_is_refused_unless_forced(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(loop, "MOST_STEPS", 50)
    shutil.copy(ROOT / "scenarios" / "models" / "double_pendulum.toml", tmp_path / "model.toml")
    text = text_of(duration=1.0)
    start = text.index("[model]")
    text = text[:start] + '[model]\nfile = "model.toml"\n' + text[text.index("[integrator]") :]
    (tmp_path / "s.toml").write_text(text)
    log = tmp_path / "s.h5"
    sent = []

    def show(_self, t, *_more):
        if t > 0.3 and not sent:
            sent.append(os.kill(os.getpid(), signal.SIGINT))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress._Lines, "show", show)
        assert main(["run", str(tmp_path / "s.toml"), "-o", str(log)]) == 130
    capsys.readouterr()
    model = (tmp_path / "model.toml").read_text()
    (tmp_path / "model.toml").write_text(model.replace("mass = 1.0", "mass = 1.5", 1))
    assert (tmp_path / "model.toml").read_text() != model
    assert "its model changed" in refused(capsys, "resume", log)
    assert main(["resume", str(log), "--force"]) == 0
    assert open_trajectory(log).provenance["resumed"][0]["changed"] == ["model"]


# ---- check and info -----------------------------------------------------------------------------


def test_check_says_what_a_scenario_will_do(scenario, tmp_path, capsys):
    assert main(["check", str(scenario)]) == 0
    out, err = capsys.readouterr()
    assert out == f"{scenario}: valid (1 bodies, 0.5 s by rk4, 51 rows)\n"
    assert err == ""
    assert [p.name for p in tmp_path.iterdir()] == ["rod.toml"]


def test_info_describes_a_log(log, capsys):
    assert main(["info", str(log)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == f"{log}: finished"
    assert lines[1] == "rows:     51, t = 0 … 0.5 s"
    assert lines[2] == "channels: t, step, q, v, energy"
    assert lines[3].startswith("model:    rod ")
    assert lines[4] == "method:   rk4, dt = 0.001"
    assert lines[5].startswith("energy:   error ")


def test_info_as_json_is_data(log, capsys):
    assert main(["info", str(log), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["status"], data["rows"], data["t"]) == ("finished", 51, [0.0, 0.5])
    assert data["channels"] == ["t", "step", "q", "v", "energy"]
    assert data["summary"]["steps"] == 500
    assert data["provenance"]["integrator"] == "rk4"
    assert "scenario" not in data["provenance"]


def test_info_reads_a_log_that_is_being_written(tmp_path, capsys):
    scenario, log = tmp_path / "long.toml", tmp_path / "long.h5"
    scenario.write_text(text_of(**LONG))
    process = command_line("run", scenario, "-o", log)
    try:
        wait_for(checkpoint_path(log), process)
        assert main(["info", str(log)]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{log}: running")
        assert "energy:   not checked yet" in out
        said = refused(capsys, "run", scenario, "-o", log, "--overwrite")
        assert "in use" in said
    finally:
        process.kill()
        process.communicate()
    assert "in use" not in said or process.returncode == -signal.SIGKILL


# ---- no room ------------------------------------------------------------------------------------


def test_a_log_that_may_not_become_so_large_is_refused_before_the_run(tmp_path):
    scenario, log = tmp_path / "wide.toml", tmp_path / "wide.h5"
    scenario.write_text(text_of(duration=100.0, dt=0.0005, every=1))
    limit = 2_000_000
    process = command_line(
        "run", scenario, "-o", log,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    out, err = process.communicate(timeout=120)
    assert process.returncode in (1, 2)
    assert "Traceback" not in err
    assert str(log) in err
    assert "file size limit" in err
    assert out == ""
    assert [path.name for path in tmp_path.iterdir()] == [scenario.name]


def test_a_disk_that_fills_up_ends_in_words_and_a_readable_log(tmp_path, capsys, monkeypatch):
    scenario, log = tmp_path / "wide.toml", tmp_path / "wide.h5"
    scenario.write_text(text_of(duration=100.0, dt=0.0005, every=1))
    left, write_at = [2_000_000], log_module.write_at

    def write_while_there_is_room(handle, data, offset):
        if isinstance(data, np.ndarray) and data.itemsize == 8:  # rows; all else has its space
            left[0] -= data.nbytes
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        write_at(handle, data, offset)

    monkeypatch.setattr(log_module, "write_at", write_while_there_is_room)
    assert "the disk is full" in refused(capsys, "run", scenario, "-o", log, "--quiet")
    monkeypatch.undo()
    run = open_trajectory(log)
    assert run.status == "failed"
    assert 1000 < len(run) < 200_000
    assert np.isfinite(run.q).all()
    assert np.array_equal(run.step, np.arange(len(run)))
    # with room again, it goes on from its checkpoint
    assert main(["resume", str(log), "--quiet"]) == 0
    whole = run_scenario(parse_scenario(scenario.read_text(), tmp_path), None)
    after = open_trajectory(log)
    assert np.array_equal(after.q, whole.q)
    assert np.array_equal(after.v, whole.v)


# the command line, with a pause in every chunk of a hundred steps
SLOWLY = """
import sys, time
from skodyn.simulation import loop
from skodyn.simulation.engine import Engine
loop.FLUSH_SECONDS, loop.MOST_STEPS = 0.1, 100
advance = Engine.advance
def slowly(self, budget):
    time.sleep(0.008)
    return advance(self, budget)
Engine.advance = slowly
from skodyn.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def small_disk(tmp_path):
    """A file system of three megabytes of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system needs root, and may be forbidden even then")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_in_one_sentence_and_a_log_that_resumes(small_disk, tmp_path):
    scenario, log, ballast = tmp_path / "s.toml", small_disk / "s.h5", small_disk / "ballast"
    ballast.write_bytes(bytes(500_000))
    scenario.write_text(text_of(duration=20.0, dt=0.0005, every=1))
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, "run", str(scenario), "-o", str(log), "--quiet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(checkpoint_path(log), process)
    time.sleep(0.5)  # some rows more, and then others fill the disk
    with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, (out, err)
    assert out == ""
    (sentence,) = err.strip().splitlines()
    assert str(log) in sentence  # the log or its checkpoint, whichever met the end first
    assert "Free some space" in sentence
    run = open_trajectory(log)
    assert run.status == "failed"
    rows = len(run)
    assert 100 <= rows < 40_001
    assert np.isfinite(run.q).all()
    assert np.array_equal(run.step, np.arange(rows))
    assert checkpoint.load(checkpoint_path(log)).meta["rows"] <= rows
    # no room yet: the same sentence, and nothing is lost
    process = command_line("resume", log, "--quiet")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 2, (out, err)
    assert "Free some space" in err
    assert len(err.strip().splitlines()) == 1
    # room is made
    ballast.unlink()
    process = command_line("resume", log, "--quiet")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.startswith("finished: t = 20 s")
    whole = run_scenario(parse_scenario(scenario.read_text(), tmp_path), None)
    after = open_trajectory(log)
    for name in after.channels:
        assert np.array_equal(after[name], whole.trajectory[name])


def test_a_disk_too_small_for_the_run_is_refused_before_it_starts(small_disk, tmp_path, capsys):
    scenario, log = tmp_path / "s.toml", small_disk / "s.h5"
    scenario.write_text(text_of(duration=200.0, dt=0.0005, every=1))
    said = refused(capsys, "run", scenario, "-o", log, "--quiet")
    assert "free; log fewer rows or channels, or choose another disk" in said
    assert not list(small_disk.iterdir())


def test_a_missing_model_file_is_refused(tmp_path, capsys):
    path = tmp_path / "s.toml"
    path.write_text('duration = 1\n[model]\nfile = "gone.toml"\n')
    for command in ("run", "check"):
        said = refused(capsys, command, path)
        assert f"{path}:3: " in said
        assert "gone.toml" in said
    assert [p.name for p in tmp_path.iterdir()] == ["s.toml"]


def test_resume_without_the_model_file_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(loop, "MOST_STEPS", 50)
    model = tmp_path / "model.toml"
    shutil.copy(ROOT / "scenarios" / "models" / "double_pendulum.toml", model)
    text = text_of(duration=1.0)
    start = text.index("[model]")
    text = text[:start] + '[model]\nfile = "model.toml"\n' + text[text.index("[integrator]") :]
    (tmp_path / "s.toml").write_text(text)
    log = tmp_path / "s.h5"

    def show(_self, t, *_more):
        if t > 0.3:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress._Lines, "show", show)
        assert main(["run", str(tmp_path / "s.toml"), "-o", str(log)]) == 130
    capsys.readouterr()
    model.unlink()
    before = log.read_bytes()
    assert "model.toml" in refused(capsys, "resume", log)
    assert log.read_bytes() == before


def test_a_folder_that_is_read_only_is_refused(scenario, tmp_path):
    """By its permissions or, for root, who may do anything, by a file system mounted so."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(folder)], check=False)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("nothing can be made unwritable for this user")
        process = command_line("run", scenario, "-o", folder / "out.h5")
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out) == (2, "")
        assert f"the folder {folder} is not writable; choose another one." in err
        assert len(err.strip().splitlines()) == 1
    finally:
        if os.path.ismount(folder):
            subprocess.run(["umount", str(folder)], check=True)
