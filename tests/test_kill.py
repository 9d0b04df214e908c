"""kill -9 at any moment of a run: what was flushed is there, and a resume gives the same bits."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skodyn.io.trajectory import open as open_trajectory
from skodyn.scenario.reader import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation.session import checkpoint_path
from test_session import DATA_SETS, assert_same_rows

KILLED = """
duration = {duration}
[model]
name = "two rods"
[model.bodies.upper]
parent = "world"
joint = {{ type = "revolute", axis = [0, 1, 0] }}
mass = 1
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.02]
[model.bodies.lower]
parent = "upper"
joint = {{ type = "spherical" }}
translation = [0, 0, -1]
mass = 1
com = [0, 0, -0.4]
inertia = [0.1, 0.12, 0.03]
[initial.q]
upper = 1.5
[initial.v]
lower = [0.1, 0.4, 2.0]
[controllers.hold]
type = "servo"
joint = "upper"
kp = 4
ki = 2
kd = 0.5
[integrator]
method = "{method}"
{step}
[output]
{rows}
channels = ["tau"]
"""
# frequent checkpoints and small chunks, so that kills meet every phase of them on any machine
COMMAND = """
import sys, time
from skodyn.simulation import loop
from skodyn.simulation.engine import Engine
loop.FLUSH_SECONDS, loop.MOST_STEPS = 0.1, {steps}
advance = Engine.advance
def slowly(self, budget):
    time.sleep(0.008)
    return advance(self, budget)
Engine.advance = slowly
from skodyn.cli import main
sys.exit(main(sys.argv[1:]))
"""
CASES = {  # method: (duration, lines of the scenario, most steps in a chunk)
    "semi_implicit_euler": (10.0, "dt = 0.0005", "every = 5", 100),
    "rk4": (10.0, "dt = 0.0005", "every = 5", 100),
    "implicit_midpoint": (10.0, "dt = 0.0005", "every = 5", 100),
    "dormand_prince": (6.0, "max_step = 0.01", "interval = 0.01", 20),
}


def written_at(path):
    """When a file was written; 0 if it is not there, or no more: a run that ends removes it."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def survive(method, folder, kills, rng):
    """Start a run, kill and resume it so often, let it end; the log and the kills that hit."""
    duration, step, rows, steps = CASES[method]
    text = KILLED.format(method=method, duration=duration, step=step, rows=rows)
    scenario, log = folder / "killed.toml", folder / "killed.h5"
    scenario.write_text(text)
    arguments = ["run", str(scenario), "-o", str(log)]
    hits = 0
    saved = checkpoint_path(log)
    for number in range(kills + 1):
        before = written_at(saved)
        slowly = ["-c", COMMAND.format(steps=steps)]
        how = slowly if number < kills else ["-m", "skodyn"]
        process = subprocess.Popen(
            [sys.executable, *how, *arguments, "--quiet"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if number < kills:
            blind = hits > 0 and rng.random() < 0.3  # perhaps while it is still starting
            patience = time.monotonic() + (rng.uniform(0.0, 1.5) if blind else 600.0)
            while process.poll() is None and time.monotonic() < patience:
                if written_at(saved) not in (0, before):
                    break
                time.sleep(0.001)
            time.sleep(0.0 if blind else rng.uniform(0.0, 0.25))
            hits += process.poll() is None
            process.kill()
        _, said = process.communicate(timeout=300)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, said
        arguments = ["resume", str(log)]
    assert process.returncode == 0, said
    return text, log, hits


def assert_survives(method, folder, kills, seed):
    text, log, hits = survive(method, folder, kills, random.Random(seed))
    assert hits == kills
    whole = run_scenario(parse_scenario(text, Path()), None)
    after = open_trajectory(log)
    assert after.status == "finished"
    assert_same_rows(after, whole.trajectory, (*DATA_SETS, "tau"))
    assert after.summary["work_of_forces"] == whole.summary["work_of_forces"]


@pytest.mark.parametrize("method", CASES)
def test_a_killed_run_resumes_to_the_same_bits(method, tmp_path):
    assert_survives(method, tmp_path, kills=3, seed=17)


@pytest.mark.slow
@pytest.mark.parametrize("method", CASES)
def test_a_run_killed_thirty_times_resumes_to_the_same_bits(method, tmp_path, monkeypatch):
    duration, *rest = CASES[method]
    longer = 20 if method == "dormand_prince" else 8  # so that it is not over before the last kill
    monkeypatch.setitem(CASES, method, (longer * duration, *rest))
    assert_survives(method, tmp_path, kills=30, seed=time.time_ns())
