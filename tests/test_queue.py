"""Runs that a queue drives: start, go on or say done; other values; parts of a sweep."""

import json
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.scenario.running import resume_log
from skodyn.sweeps.index import COLUMNS

PENDULUM = "scenarios/double_pendulum.toml"
SWEEP = """\
duration = 0.05

[model]
file = "{folder}/models/double_pendulum.toml"

[initial.q]
shoulder = 1.0

[integrator]
dt = 0.001

[sweep.grid]
"bodies.upper.mass" = {{ from = 1.0, to = 3.0, count = 5 }}
"initial.q.elbow" = [0.1, 0.2, 0.3]

[sweep.metrics.fastest]
kind = "max"
of = "v.elbow"
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(SWEEP.format(folder=Path("scenarios").resolve()))
    return path


def columns(path):
    with h5py.File(path, "r") as file:
        return {name: file[name][:] for name in (*COLUMNS, "points")}


# ---- runs ---------------------------------------------------------------------------------------

SHORT = ["--set", "duration=0.2", "--quiet"]


def interrupted(path, *more):
    """A run that was stopped by a signal after its first chunk."""
    import signal

    from skodyn.scenario import read_scenario
    from skodyn.scenario.running import run_scenario
    from skodyn.sweeps.set_values import with_values

    scenario = with_values(read_scenario(PENDULUM), {"duration": 0.2})
    stop = lambda *_: signal.raise_signal(signal.SIGINT)  # noqa: E731
    assert run_scenario(scenario, path, progress=stop).status == "interrupted"


def test_run_resume_starts_goes_on_and_says_done(tmp_path, capsys):
    log, whole = tmp_path / "run.h5", tmp_path / "whole.h5"
    assert main(["run", PENDULUM, "-o", str(whole), *SHORT]) == 0
    interrupted(log)
    assert main(["run", PENDULUM, "-o", str(log), "--resume", *SHORT]) == 0
    assert "finished" in capsys.readouterr().out
    assert (sk.open(log).q == sk.open(whole).q).all()
    before = log.read_bytes()
    assert main(["run", PENDULUM, "-o", str(log), "--resume", *SHORT]) == 0
    assert "there is nothing to resume" in capsys.readouterr().out
    assert log.read_bytes() == before
    assert main(["resume", str(log), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "finished"
    new = tmp_path / "new.h5"
    assert main(["run", PENDULUM, "-o", str(new), "--resume", *SHORT]) == 0
    assert (sk.open(new).q == sk.open(whole).q).all()


def test_run_resume_refuses_the_log_of_another_scenario(tmp_path, capsys):
    log = tmp_path / "run.h5"
    assert main(["run", PENDULUM, "-o", str(log), *SHORT]) == 0
    heavier = ["--set", "bodies.upper.mass=7"]
    assert main(["run", PENDULUM, "-o", str(log), "--resume", *heavier, *SHORT]) == 2
    assert "holds a run of another scenario (its model differ)" in capsys.readouterr().err
    both = ["run", PENDULUM, "-o", str(log), "--resume", "--overwrite"]
    assert main(both) == 2
    assert "give the one or the other" in capsys.readouterr().err


def test_a_run_with_other_values_resumes_with_them(tmp_path):
    log = tmp_path / "run.h5"
    interrupted(log)
    assert resume_log(log).status == "finished"
    assert sk.open(log).t[-1] == pytest.approx(0.2)


def test_set_changes_any_number_of_a_scenario(tmp_path, capsys):
    log = tmp_path / "run.h5"
    values = ["bodies.upper.mass=2.5", "initial.q.elbow=0.4", "integrator.method=implicit_midpoint"]
    options = [word for value in values for word in ("--set", value)]
    assert main(["run", PENDULUM, "-o", str(log), *options, *SHORT]) == 0
    run = sk.open(log)
    assert run.model.mass[0] == 2.5
    assert run.joint("elbow")[0] == 0.4
    assert run.provenance["integrator"] == "implicit_midpoint"
    assert main(["check", PENDULUM, *options]) == 0
    assert "by implicit_midpoint" in capsys.readouterr().out
    wrong = ["--set", "bodies.uper.mass=1", "--set", "bodies.upper.mass"]
    assert main(["check", PENDULUM, *wrong]) == 2
    assert "--set is 'bodies.upper.mass'; write for example" in capsys.readouterr().err
    assert main(["check", PENDULUM, "--set", "bodies.uper.mass=1"]) == 2
    assert "did you mean 'bodies.upper.mass'" in capsys.readouterr().err
    assert main(["check", PENDULUM, "--set", "bodies.upper.mass=-1"]) == 2
    assert "mass is -1" in capsys.readouterr().err
    assert main(["check", "scenarios/models/furuta.toml", "--set", "gravity.z=0"]) == 2


def test_a_scenario_starts_where_another_run_ended(tmp_path):
    log = tmp_path / "first.h5"
    assert main(["run", PENDULUM, "-o", str(log), *SHORT]) == 0
    text = Path(PENDULUM).read_text().partition("[initial")[0]
    text = text.replace("models/", f"{Path('scenarios').resolve()}/models/")
    from skodyn.scenario import parse_scenario

    read = parse_scenario(text + "[initial]\nfrom = 'first.h5'\n", tmp_path)
    assert (read.q0 == sk.open(log).q[-1]).all()
    assert (read.v0 == sk.open(log).v[-1]).all()
    for name, words in (("none.h5", "give the log of another run"),):
        with pytest.raises(sk.ScenarioError, match=words):
            parse_scenario(text + f"[initial]\nfrom = '{name}'\n", tmp_path)
    other = tmp_path / "other.toml"
    other.write_text(text.replace("double_pendulum.toml", "furuta.toml")
                     + "[initial]\nfrom = 'first.h5'\n")  # fmt: skip
    with pytest.raises(sk.ScenarioError, match="a run of another model"):
        sk.read_scenario(other)


# ---- parts of a sweep ---------------------------------------------------------------------------


def test_parts_put_together_are_the_whole_sweep(study, tmp_path, capsys):
    whole, out = tmp_path / "whole.h5", tmp_path / "out.h5"
    assert main(["sweep", "run", str(study), "-o", str(whole), "--quiet"]) == 0
    parts = []
    for number in (3, 1, 2, 4):
        given = ["-o", str(out), "--part", f"{number}/4", "--resume", "--quiet"]
        assert main(["sweep", "run", str(study), *given]) == 0
        parts.append(str(tmp_path / f"out.{number}-of-4.h5"))
    assert len(sk.open_sweep(parts[0])) == 4
    assert main(["sweep", "merge", "-o", str(out), *parts]) == 0
    one, other = columns(whole), columns(out)
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name
    assert sk.open_sweep(out).dimensions == sk.open_sweep(whole).dimensions
    assert (sk.open_sweep(out).metric("fastest") == sk.open_sweep(whole).metric("fastest")).all()
    capsys.readouterr()
    assert main(["sweep", "merge", "-o", str(tmp_path / "x.h5"), *parts[:2]]) == 2
    assert "parts 2, 4 of 4 missing" in capsys.readouterr().err


def test_the_table_of_metrics_is_in_columns_however_short_their_names(study, tmp_path, capsys):
    study.write_text(study.read_text("utf-8").replace("fastest", "w"), "utf-8")
    assert main(["sweep", "run", str(study), "-o", str(tmp_path / "out.h5"), "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("metric "))
    row = lines[head + 1]
    for word in ("lowest", "median", "highest", "NaN"):
        end = lines[head].index(word) + len(word)
        assert row[end - 1] != " ", (lines[head], row)
        assert row[end : end + 1] in ("", " "), (lines[head], row)


FAULTS = {
    "5/4": "--part is '5/4'; write for example 3/100, counted from 1.",
    "x": "--part is 'x'",
    "1/20": "Part 1 of 20 has no run, as the sweep has 15",
}


@pytest.mark.parametrize("part", FAULTS, ids=str)
def test_parts_that_cannot_be_are_refused(study, tmp_path, capsys, part):
    given = ["-o", str(tmp_path / "out.h5"), "--part", part, "--quiet"]
    assert main(["sweep", "run", str(study), *given]) == 2
    assert FAULTS[part] in capsys.readouterr().err


def test_an_array_job_with_two_killed_parts_gives_the_whole_sweep(study, tmp_path):
    """As docs/howto-long-runs.md has it for Slurm, with two of its parts killed and sent again."""
    text = study.read_text().replace("duration = 0.05", "duration = 20.0")
    study.write_text(text)
    whole, out = tmp_path / "whole.h5", tmp_path / "out.h5"

    def job(number):
        command = ["sweep", "run", str(study), "-o", str(out), "--part", f"{number}/3", "--resume"]
        return subprocess.Popen([sys.executable, "-m", "skodyn", *command, "--quiet"])

    for number in (1, 2, 3):
        running = job(number)
        if number != 2:
            path = tmp_path / f"out.{number}-of-3.h5"
            while not path.exists() and running.poll() is None:
                time.sleep(0.02)
            running.kill()
        running.wait()
    for number in (1, 2, 3):
        assert job(number).wait() == 0
    parts = [str(tmp_path / f"out.{number}-of-3.h5") for number in (1, 2, 3)]
    assert main(["sweep", "merge", "-o", str(out), *parts]) == 0
    assert main(["sweep", "run", str(study), "-o", str(whole), "--quiet"]) == 0
    one, other = columns(whole), columns(out)
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name
    assert np.isfinite(sk.open_sweep(out).metric("fastest")).all()


LONG = """
import skodyn as sk
from skodyn.scenario import read_scenario
from skodyn.sweeps.set_values import with_values
sk.run(with_values(read_scenario("scenarios/double_pendulum.toml"), {"duration": 1e5}), "LOG")
"""


def test_info_after_a_kill_says_that_nobody_writes(tmp_path, capsys):
    log = tmp_path / "run.h5"
    running = subprocess.Popen([sys.executable, "-c", LONG.replace("LOG", str(log))])
    while not log.exists() and running.poll() is None:
        time.sleep(0.02)
    assert main(["info", str(log)]) == 0
    alive = capsys.readouterr().out
    running.kill()
    running.wait()
    assert main(["info", str(log)]) == 0
    assert ": running" in alive
    assert f"interrupted: its process has ended; go on with: skodyn resume {log}" in (
        capsys.readouterr().out
    )


# ---- words --------------------------------------------------------------------------------------

WRONG = {
    "workers": (0, "workers is 0; give a whole number from 1."),
    "engine": ("gpu", "engine is 'gpu', which is unknown; give one of in-process, threads"),
    "scheduler": ("tcp://x:1", "scheduler is for the dask engine, not for threads"),
}


@pytest.mark.parametrize("name", WRONG)
def test_faults_speak_of_options_on_the_command_line_and_of_arguments_in_python(
    study, tmp_path, capsys, name
):
    value, words = WRONG[name]
    out = tmp_path / "out.h5"
    given = [f"--{name}", str(value), "-o", str(out), "--quiet"]
    assert main(["sweep", "run", str(study), *given]) == 2
    assert capsys.readouterr().err.startswith(f"--{words}")
    with pytest.raises(sk.SkodynError) as refused:
        sk.sweep(str(study), out=str(out), **{name: value})
    assert str(refused.value).startswith(words)
    assert not out.exists()  # it was refused before anything was written


def test_what_is_there_is_replaced_by_an_option_or_an_argument(study, tmp_path, capsys):
    log, index = tmp_path / "run.h5", tmp_path / "sweep.h5"
    commands = {
        log: ["run", PENDULUM, "--set", "duration=0.01"],
        index: ["sweep", "run", str(study)],
    }
    for path, command in commands.items():
        assert main([*command, "-o", str(path), "--quiet"]) == 0
        capsys.readouterr()
        assert main([*command, "-o", str(path), "--quiet"]) == 2
        assert capsys.readouterr().err.endswith("or replace it with --overwrite.\n")
    for again in (
        lambda: sk.sweep(str(study), out=str(index)), lambda: sk.run(PENDULUM, str(log)),
    ):  # fmt: skip
        with pytest.raises(sk.LogError, match=r"or replace it with overwrite=True\.$"):
            again()
    picture = tmp_path / "run.png"
    picture.touch()
    with pytest.raises(sk.LogError, match=r"or replace it with overwrite=True\.$"):
        sk.view.save(sk.view.sheet([sk.open(log)]), picture)
    assert main(["plot", str(log), "-o", str(picture)]) == 2
    assert capsys.readouterr().err.endswith("or replace it with --overwrite.\n")
