"""Sweeps from a file to a data set: the same on every engine, whatever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.sweeps import driver as driver_module
from skodyn.sweeps.batch import CRASHED, FAILED, FINISHED, PENDING, REFUSED, pickled, run_batch
from skodyn.sweeps.driver import Driver
from skodyn.sweeps.engines import open_engine, warm
from skodyn.sweeps.index import COLUMNS, IndexWriter, create_index
from skodyn.sweeps.plan import make_plan, read_plan
from skodyn.sweeps.running import resume_sweep, run_plan
from skodyn.sweeps.stored_study import record_of
from test_sweep_plan import TEXT

ROOT = Path(__file__).parent.parent
PENDULUM = (ROOT / "scenarios" / "double_pendulum.toml").read_text()
SHORT = PENDULUM.replace("duration = 10.0", "duration = 0.05").replace("every = 10", "every = 1")

GRID = {
    "bodies.upper.mass": [0.5, 1.0, 2.0],
    "initial.q.elbow": {"from": -1.0, "to": 1.0, "count": 7},
    "joints.elbow.damping": [0.0, 0.1],
}
METRICS = {
    "swing": {"of": "q.elbow", "kind": "max"},
    "drift": {"kind": "energy_drift"},
}


def scenario(text=SHORT):
    return parse_scenario(text, ROOT / "scenarios")


def small_plan(**more):
    return make_plan(scenario(), {"grid": GRID, "metrics": METRICS, **more})


def contents(path):
    """Everything an index says of its runs."""
    with h5py.File(path, "r") as file:
        return {name: file[name][:] for name in COLUMNS}


def assert_same(a, b):
    one, other = contents(a), contents(b)
    for name in COLUMNS:
        assert np.array_equal(one[name], other[name], equal_nan=name in ("q", "v", "metrics")), name


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    path = tmp_path_factory.mktemp("reference") / "small.h5"
    run_plan(small_plan(), path, engine="in-process")
    return path


# ---- results ------------------------------------------------------------------------------------


def test_a_run_of_a_sweep_is_the_scenario_run_by_itself(reference, tmp_path):
    sweep = sk.open_sweep(reference)
    for run in (0, 17, 41):
        file = tmp_path / f"{run}.toml"
        file.write_text(sweep.scenario_text(run))
        assert main(["run", str(file), "-o", str(tmp_path / f"{run}.h5"), "--quiet"]) == 0
        log = sk.open(tmp_path / f"{run}.h5")
        assert (log.q[-1] == sweep.q[run]).all()
        assert (log.v[-1] == sweep.v[run]).all()
        assert log.joint("elbow").max() == sweep.metric("swing")[run]


def test_a_grid_becomes_dimensions(reference):
    data = sk.open_sweep(reference).to_xarray()
    assert dict(data.sizes) == {
        "bodies.upper.mass": 3, "initial.q.elbow": 7, "joints.elbow.damping": 2,
        "q_name": 2, "v_name": 2,
    }  # fmt: skip
    one = data.sel({"bodies.upper.mass": 2.0, "joints.elbow.damping": 0.1})
    assert one.swing.shape == (7,)
    sweep = sk.open_sweep(reference)
    here = (sweep.points[:, 0] == 2.0) & (sweep.points[:, 2] == 0.1)
    assert (one.swing.values == sweep.metric("swing")[here]).all()
    assert (data["initial.q.elbow"].values == np.linspace(-1, 1, 7)).all()
    assert data.final_q.sel(q_name="elbow").shape == (3, 7, 2)


def test_points_of_a_sample_are_one_dimension_with_several_coordinates():
    sobol = {"kind": "sobol", "count": 8, "parameters": {"initial.q.elbow": [-1, 1],
             "bodies.upper.mass": [1, 2]}}  # fmt: skip
    sweep = sk.sweep(scenario(), [{"kind": "grid", "parameters": {"gravity.z": [-9.81, -1.6]}},
                                  sobol], metrics=METRICS, engine="in-process")  # fmt: skip
    data = sweep.to_xarray()
    assert data.swing.dims == ("gravity.z", "point")
    assert data["bodies.upper.mass"].dims == ("point",)
    assert (data["bodies.upper.mass"].values == sweep.points[:8, 2]).all()


def test_methods_and_adaptive_steps_can_be_swept():
    table = {"integrator.method": ["rk4", "implicit_midpoint"], "bodies.upper.mass": [1.0, 2.0]}
    sweep = sk.sweep(scenario(), table, metrics=METRICS, engine="in-process")
    assert sweep.counts()["finished"] == 4
    by_method = sweep.to_xarray().swing
    assert by_method["integrator.method"].values.tolist() == ["rk4", "implicit_midpoint"]
    assert np.allclose(by_method[0], by_method[1], rtol=1e-6)
    own = SHORT.replace('method = "rk4"', 'method = "dormand_prince"').replace("dt = 0.001", "")
    own = own.replace("every = 1 ", "interval = 0.001 ")
    adaptive = sk.sweep(scenario(own), {"bodies.upper.mass": [1.0, 2.0]}, metrics=METRICS,
                        engine="in-process")  # fmt: skip
    assert np.allclose(adaptive.metric("swing"), by_method[0], rtol=1e-9)
    assert adaptive.metric("drift").max() < 1e-8


def test_runs_with_a_thermostat_are_those_of_the_scenario_alone():
    text = SHORT + "\n[thermostat]\nkT = 0.1\nrate = 100.0\n"
    sweep = sk.sweep(scenario(text), {"thermostat.kT": [0.1, 0.2]}, replicas=2, metrics=METRICS,
                     engine="in-process")  # fmt: skip
    assert len(set(sweep.ids.tolist())) == 4
    for run in range(4):
        alone = run_scenario(scenario(sweep.scenario_text(run)), None)
        assert (alone.q[-1] == sweep.q[run]).all()
    assert len(np.unique(sweep.q[:, 0])) == 4


GEARED = TEXT.replace(
    'pitch = 0.1, name = "screw" }',
    'pitch = 0.1, name = "screw", mimic = { joint = "hinge", multiplier = -0.5, offset = 0.2 } }',
)


@pytest.mark.parametrize("integrator", ["rk4", "dormand_prince"])
def test_runs_with_mimic_joints_are_those_of_the_scenario_alone(integrator):
    text = GEARED
    if integrator == "dormand_prince":
        own = 'method = "dormand_prince"\n[output]\ninterval = 0.001'
        text = text.replace('method = "rk4"\ndt = 0.001', own)
    grid = {
        "bodies.rod.mass": [0.4, 0.8],
        "joints.screw.damping": [0.0, 0.2],
        "bodies.rod.joint.mimic.multiplier": [-0.5, 2.0],
    }
    metrics = {
        "swing": {"of": "q.hinge", "kind": "max"},
        "follows": {"of": "q.screw", "kind": "final"},
        "speed": {"of": "v.screw", "kind": "min"},
        "energy": {"of": "energy", "kind": "final"},
        "height": {"of": "position.rod.z", "kind": "min"},
        "own": {"of": lambda t, q, v: t + q[-1] + 10.0 * v[-1] + 100.0 * len(q), "kind": "final"},
        "drift": {"kind": "energy_drift"},
    }
    sweep = sk.sweep(scenario(text), grid, metrics=metrics, engine="in-process")
    assert sweep.counts()["finished"] == 8
    for run in range(8):
        s = scenario(sweep.scenario_text(run))
        alone = run_scenario(s, None)
        q, v, ratio = alone.q, alone.v, (-0.5, 2.0)[run % 2]
        # rows of a run with adaptive steps lie on curves through its states
        rounding = 0.0 if integrator == "rk4" else 1e-15
        np.testing.assert_allclose(q[-1], sweep.q[run], rtol=0, atol=rounding)
        np.testing.assert_allclose(v[-1], sweep.v[run], rtol=0, atol=rounding)
        poses = [sk.forward_kinematics(s.model, row)[1] for row in q]
        found = {name: sweep.metric(name).reshape(-1)[run] for name in metrics}
        expected = {
            "swing": q[:, -1].max(),
            "follows": 0.2 + ratio * q[-1, -1],
            "speed": (ratio * v[:, -1]).min(),
            "energy": sum(sk.energy(s.model, q[-1], v[-1])),
            "height": min(at[s.model.body_index("rod"), 2] for at in poses),
            "own": s.duration + q[-1, -1] + 10.0 * v[-1, -1] + 100.0 * s.model.nq,
        }
        assert found.pop("drift") < 1e-6
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_metric_can_be_a_function_of_a_file(tmp_path):
    (tmp_path / "own.py").write_text("def height(t, q, v):\n    return 2.0 - q[0] * q[0] + t\n")
    table = {"grid": {"bodies.upper.mass": [1.0, 2.0]},
             "metrics": {"h": {"of": "own.py:height", "kind": "min"},
                         "e": {"of": "energy", "kind": "max"},
                         "k": {"of": "own.py:height", "kind": "final"}}}  # fmt: skip
    text = SHORT.replace("models/", f"{ROOT / 'scenarios' / 'models'}/")
    sweep_lines = '\n[sweep.grid]\n"bodies.upper.mass" = [1.0, 2.0]\n[sweep.metrics]\n' + "".join(
        f'{n} = {{ of = "{m["of"]}", kind = "{m["kind"]}" }}\n' for n, m in table["metrics"].items()
    )
    (tmp_path / "s.toml").write_text(text + sweep_lines)
    sweep = sk.sweep(tmp_path / "s.toml", engine="in-process")
    assert (sweep.metric("k") == 2.0 - sweep.q[:, 0] ** 2 + 0.05).all()
    assert (sweep.metric("h") <= sweep.metric("k")).all()


def test_full_logs_on_request(tmp_path):
    plan = small_plan(logs=[3, 40])
    run_plan(plan, tmp_path / "s.h5", engine="in-process")
    sweep = sk.open_sweep(tmp_path / "s.h5")
    assert sorted(p.name for p in (tmp_path / "s-runs").iterdir()) == [
        "run-000000003.h5", "run-000000040.h5",
    ]  # fmt: skip
    assert (sk.open(sweep.log(40)).q[-1] == sweep.q[40]).all()
    assert sweep.log(4) is None


# ---- failures -----------------------------------------------------------------------------------


def poisoned_table(poisoned, total=5000):
    """A stiff spring on some elbows: too stiff for the step, their runs blow up."""
    rng = np.random.default_rng(0)
    stiffness = np.full(total, 1.0)
    stiffness[poisoned] = 1e11
    columns = {
        "joints.elbow.stiffness": stiffness.tolist(),
        "initial.q.elbow": rng.uniform(0.1, 1.0, total).tolist(),
        "bodies.lower.mass": rng.uniform(0.5, 2.0, total).tolist(),
    }
    return {"designs": [{"kind": "list", "parameters": columns}], "metrics": METRICS}


def test_37_poisoned_runs_among_5000_are_found_and_touch_nobody(tmp_path):
    poisoned = np.sort(np.random.default_rng(1).choice(5000, 37, replace=False))
    for name, bad in (("sound", []), ("poisoned", poisoned)):
        plan = make_plan(scenario(), {**poisoned_table(bad), "logs": "failed"})
        run_plan(plan, tmp_path / f"{name}.h5", engine="in-process")
    sound, found = contents(tmp_path / "sound.h5"), contents(tmp_path / "poisoned.h5")
    assert (sound["status"] == FINISHED).all()
    assert np.flatnonzero(found["status"] != FINISHED).tolist() == poisoned.tolist()
    assert (found["status"][poisoned] == FAILED).all()
    others = np.setdiff1d(np.arange(5000), poisoned)
    for name in COLUMNS:
        assert (sound[name][others] == found[name][others]).all(), name
    sweep = sk.open_sweep(tmp_path / "poisoned.h5")
    assert [run for run, _, _ in sweep.failures()] == poisoned.tolist()
    assert "became NaN or infinite at t" in sweep.reason(int(poisoned[0]))
    assert len(list((tmp_path / "poisoned-runs").iterdir())) == 37


def test_nan_masses_are_excluded_at_planning():
    table = poisoned_table([], 100)
    table["designs"][0]["parameters"]["bodies.lower.mass"][17] = float("nan")
    with pytest.raises(sk.ScenarioError, match=r"run 17: bodies\.lower\.mass is"):
        make_plan(scenario(), table)


def test_a_combination_that_makes_no_scenario_is_refused_at_run_time(tmp_path):
    """Found one by one in the run, if there are too many of them to be read before."""
    grid = {"integrator.dt": [0.001, 0.002], "bodies.upper.mass": [1.0, 2.0, 3.0, 4.0]}
    plan = make_plan(scenario(), {"grid": grid, "metrics": METRICS})
    rows = plan.design.points(np.arange(8))
    rows[3, 0] = 0.0013
    result = run_batch(pickled(plan.study), np.arange(8), rows)
    sound = run_batch(pickled(plan.study), np.arange(8), plan.design.points(np.arange(8)))
    assert result.status.tolist() == [1, 1, 1, REFUSED, 1, 1, 1, 1]
    assert "times integrator.dt = 0.0013" in result.reasons[3]
    others = [0, 1, 2, 4, 5, 6, 7]
    assert (result.q[others] == sound.q[others]).all()


# ---- engines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "batch"), [("in-process", 5), ("threads", 3), ("processes", 8), ("dask", 8)]
)
def test_results_are_the_same_on_every_engine(engine, batch, reference, tmp_path):
    run_plan(small_plan(), tmp_path / "s.h5", engine=engine, workers=2, batch_runs=batch)
    assert_same(tmp_path / "s.h5", reference)


def deadly(victims, flag, study, runs, points, **more):
    """Ends its process when it is given one of the victims; with a flag, only the first time."""
    if set(victims) & set(runs.tolist()) and not (flag and Path(flag).exists()):
        if flag:
            Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_batch(study, runs, points, **more)


def drive(path, engine, batch_runs):
    plan = small_plan()
    create_index(path, plan, record_of(plan), overwrite=False)
    running = open_engine(engine, 2, None, partial(warm, ("rk4",)))
    try:
        with IndexWriter(path) as writer:
            return Driver(writer, pickled(plan.study), running, {}, batch_runs).run()
    finally:
        running.close(at_once=True)


def test_the_batch_of_a_dead_worker_is_given_again(reference, tmp_path, monkeypatch):
    monkeypatch.setattr(driver_module, "run_batch", partial(deadly, [9], str(tmp_path / "flag")))
    tally = drive(tmp_path / "s.h5", "processes", 8)
    assert (tally.done, tally.failed) == (42, 0)
    assert_same(tmp_path / "s.h5", reference)


def test_a_run_that_kills_its_worker_is_quarantined(reference, tmp_path, monkeypatch):
    monkeypatch.setattr(driver_module, "run_batch", partial(deadly, [9], ""))
    tally = drive(tmp_path / "s.h5", "processes", 14)
    assert (tally.done, tally.failed) == (42, 1)
    found, sound = contents(tmp_path / "s.h5"), contents(reference)
    assert np.flatnonzero(found["status"] == CRASHED).tolist() == [9]
    others = np.arange(42) != 9
    assert (found["q"][others] == sound["q"][others]).all()
    assert "ended its worker" in sk.open_sweep(tmp_path / "s.h5").reason(9)


def raising(study, runs, points, **more):
    if 9 in runs:
        raise MemoryError("no room")
    return run_batch(study, runs, points, **more)


def test_a_run_that_raises_is_found_and_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(driver_module, "run_batch", raising)
    tally = drive(tmp_path / "s.h5", "threads", 14)
    assert (tally.done, tally.failed) == (42, 1)
    assert sk.open_sweep(tmp_path / "s.h5").failures() == [(9, "crashed", "MemoryError: no room")]


@pytest.fixture
def loopback_cluster():
    """A dask scheduler and two workers, processes of their own on 127.0.0.1."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", *words]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return started[-1]

    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                      "--dashboard-address", "127.0.0.1:0")  # fmt: skip
    address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
    workers = [
        start("distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1",
              "--no-dashboard", "--host", "127.0.0.1")
        for _ in range(2)
    ]  # fmt: skip
    yield address, workers
    for process in started:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_cluster_loses_a_worker_and_the_sweep_completes(loopback_cluster, reference, tmp_path):
    address, workers = loopback_cluster
    committed = []
    commit = IndexWriter.commit

    def counting(self, result):
        committed.extend(result.run.tolist())
        return commit(self, result)

    def kill_one(tally):
        if tally.done and workers[0].poll() is None:
            workers[0].kill()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IndexWriter, "commit", counting)
        run_plan(small_plan(), tmp_path / "s.h5", engine="dask", scheduler=address, batch_runs=2,
                 progress=kill_one)  # fmt: skip
    assert workers[0].wait() == -signal.SIGKILL
    assert sorted(committed) == list(range(42))  # nothing lost, nothing twice
    assert_same(tmp_path / "s.h5", reference)


# ---- going on -----------------------------------------------------------------------------------


def command(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "skodyn", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def kill_and_resume(scenario_file, path, kills, rng, engine):
    """Kill the driver at random moments, going on each time; how often it was caught at work."""
    caught = 0
    words = ("run", scenario_file, "-o", path)
    for _ in range(kills):
        process = command("sweep", *words, "--engine", engine, "--workers", 2, "--quiet")
        before = done_runs(path)
        until = time.monotonic() + 100.0
        while process.poll() is None and done_runs(path) == before and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        caught += process.returncode == -signal.SIGKILL
        words = ("resume", path)
    process = command("sweep", *words, "--engine", engine, "--workers", 2, "--quiet")
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    return caught


def done_runs(path):
    try:
        return sk.open_sweep(path).counts()["pending"]
    except (sk.LogError, OSError, KeyError):
        return -1


def pendulums(folder, shoulder, elbow, duration=0.5):
    text = (ROOT / "scenarios" / "sweep_double_pendulum.toml").read_text()
    text = text.replace("models/", f"{ROOT / 'scenarios' / 'models'}/")
    text = text.replace("count = 20 }", f"count = {shoulder} }}", 1)
    text = text.replace("to = 3.0, count = 10 }", f"to = 3.0, count = {elbow} }}", 1)
    text = text.replace("duration = 0.5", f"duration = {duration}")
    file = folder / "pendulums.toml"
    file.write_text(text)
    return file


def test_a_killed_driver_is_resumed_to_the_same_result(tmp_path):
    file = pendulums(tmp_path, 10, 5)
    run_plan(read_plan(file), tmp_path / "undisturbed.h5", engine="threads", workers=2)
    kill_and_resume(file, tmp_path / "s.h5", 2, np.random.default_rng(3), "in-process")
    assert_same(tmp_path / "s.h5", tmp_path / "undisturbed.h5")


@pytest.mark.slow
def test_20000_runs_survive_ten_kills_at_random_moments(tmp_path):
    file = pendulums(tmp_path, 20, 10)
    assert read_plan(file).count == 20_000
    run_plan(read_plan(file), tmp_path / "undisturbed.h5", engine="processes", workers=2)
    rng = np.random.default_rng(int(time.time()))
    caught = kill_and_resume(file, tmp_path / "s.h5", 10, rng, "processes")
    assert caught >= 5
    assert_same(tmp_path / "s.h5", tmp_path / "undisturbed.h5")


@pytest.mark.slow
def test_the_driver_needs_less_than_a_kilobyte_per_run(tmp_path):
    import resource

    def peak(count):
        script = (
            "import sys, resource, skodyn as sk\n"
            "from skodyn.scenario import parse_scenario\n"
            f"s = parse_scenario({SHORT!r}.replace('0.05', '0.002'), {str(ROOT / 'scenarios')!r})\n"
            "d = {'kind': 'sobol', 'count': int(sys.argv[1]), 'parameters':"
            " {'initial.q.elbow': [-1, 1], 'bodies.upper.mass': [1, 2]}}\n"
            "sk.sweep(s, d, engine='in-process', metrics={'e': {'kind': 'max', 'of': 'energy'}})\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        )
        words = [sys.executable, "-c", script, str(count)]
        return 1024 * int(subprocess.run(words, capture_output=True, check=True).stdout)

    assert resource.RUSAGE_SELF == 0
    few, many = peak(20_000), peak(220_000)
    assert (many - few) / 200_000 < 1000


def test_an_interrupt_writes_what_is_done_and_says_how_to_go_on(tmp_path):
    file = pendulums(tmp_path, 20, 10, duration=5.0)
    path = tmp_path / "s.h5"
    process = command("sweep", "run", file, "-o", path, "--engine", "in-process", "--quiet")
    total = read_plan(file).count
    while process.poll() is None and done_runs(path) in (-1, total):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, out + err
    assert f"skodyn sweep resume {path}" in err
    status = contents(path)["status"]
    assert 0 < np.count_nonzero(status == FINISHED) < total
    assert set(status.tolist()) == {PENDING, FINISHED}


def test_what_is_complete_is_not_run_again(reference, tmp_path, monkeypatch):
    path = tmp_path / "s.h5"
    plan = small_plan()
    create_index(path, plan, record_of(plan), overwrite=False)
    rows = np.array([0, 1, 2, 20, 41])
    with IndexWriter(path) as writer:
        writer.commit(run_batch(pickled(plan.study), rows, plan.design.points(rows)))
    given = []

    def noting(study, runs, points, **more):
        given.extend(runs.tolist())
        return run_batch(study, runs, points, **more)

    monkeypatch.setattr(driver_module, "run_batch", noting)
    resume_sweep(path, engine="in-process", batch_runs=4)
    assert sorted(given) == [i for i in range(42) if i not in rows]
    assert_same(path, reference)


def test_an_index_without_its_status_bytes_counts_as_pending(reference, tmp_path):
    """Killed between the two strokes of a commit: outcomes are there, nobody vouches for them."""
    path = tmp_path / "s.h5"
    plan = small_plan()
    create_index(path, plan, record_of(plan), overwrite=False)
    with h5py.File(path, "r+") as file:
        file["q"][3:9] = 1e9
        file["metrics"][3:9] = -1.0
    resume_sweep(path, engine="in-process")
    assert_same(path, reference)


def test_python_goes_on_with_a_sweep_and_refuses_another(reference, tmp_path):
    path = tmp_path / "s.h5"
    sk.sweep(scenario(), GRID, metrics=METRICS, out=path, engine="in-process")
    again = sk.sweep(scenario(), GRID, metrics=METRICS, out=path, engine="threads", resume=True)
    assert again.counts()["finished"] == 42
    with pytest.raises(sk.LogError, match="not overwritten"):
        sk.sweep(scenario(), GRID, out=path, engine="in-process")
    with pytest.raises(sk.ScenarioError, match="another sweep"):
        sk.sweep(scenario(), GRID, out=path, engine="in-process", resume=True)


# ---- the command line ---------------------------------------------------------------------------


def test_the_command_line_runs_looks_and_explains(tmp_path, capsys):
    file = pendulums(tmp_path, 2, 2, duration=0.05)
    path = str(tmp_path / "s.h5")
    assert main(["sweep", "plan", str(file)]) == 0
    assert "400 runs = 2 initial.q.shoulder × 2 initial.q.elbow" in capsys.readouterr().out
    assert main(["check", str(file)]) == 0
    words = ["--engine", "threads", "--workers", "2"]
    assert main(["sweep", "run", str(file), "-o", path, *words]) == 0
    assert "400 runs, 400 finished" in capsys.readouterr().out
    assert main(["sweep", "run", str(file), "-o", path, *words]) == 2
    assert "not overwritten" in capsys.readouterr().err
    assert main(["sweep", "status", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"] == 400
    assert main(["sweep", "failures", path]) == 0
    assert "no run has failed" in capsys.readouterr().out
    assert main(["sweep", "show", path, "7"]) == 0
    assert "bodies.lower.mass = " in capsys.readouterr().out
    assert main(["sweep", "show", path, "400"]) == 2
    assert main(["sweep", "resume", path, *words]) == 0
    assert "0 runs in" in capsys.readouterr().out
    assert main(["sweep", "run", str(file), "-o", path, "--engine", "trheads"]) == 2
    assert main(["sweep", "status", str(file)]) == 2


def test_failures_are_listed_with_their_parameters(tmp_path, capsys):
    text = SHORT.replace("models/", f"{ROOT / 'scenarios' / 'models'}/")
    text += '\n[sweep.grid]\n"joints.elbow.stiffness" = [1.0, 1e11, 2.0]\n'
    (tmp_path / "s.toml").write_text(text)
    path = str(tmp_path / "s.h5")
    words = ["--engine", "in-process", "--quiet"]
    assert main(["sweep", "run", str(tmp_path / "s.toml"), "-o", path, *words]) == 1
    assert "1 runs did not finish" in capsys.readouterr().err
    assert main(["sweep", "failures", path]) == 0
    line = capsys.readouterr().out
    assert line.startswith("run 1 failed: joint ")
    assert "joints.elbow.stiffness = 100000000000.0" in line
    assert main(["sweep", "failures", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["run"] == 1


# ---- arguments beside a table [sweep] ----------------------------------------------------------


def test_arguments_take_the_place_of_what_the_table_says(tmp_path):
    text = SHORT.replace("models/", f"{ROOT / 'scenarios' / 'models'}/")
    text += '\n[sweep]\ngrid = { "initial.q.shoulder" = [0.1, 0.2, 0.3] }\n'
    text += '[sweep.metrics.fast]\nkind = "max"\nof = "v.elbow"\n'
    file = tmp_path / "study.toml"
    file.write_text(text)
    assert sk.sweep(file).metric("fast").shape == (3,)
    other = sk.sweep(file, {"initial.q.shoulder": [0.1, 0.2]})
    assert other.metric("fast").shape == (2,)  # its metrics stay
    slow = sk.sweep(file, metrics={"slow": {"kind": "min", "of": "v.elbow"}})
    assert slow.metric("slow").shape == (3,)  # its grid stays
    assert list(slow.metric_names) == ["slow"]


def test_a_dask_client_and_a_cluster_are_taken_as_they_are(loopback_cluster, reference, tmp_path):
    import distributed

    address, _ = loopback_cluster
    with distributed.Client(address) as client:
        run_plan(small_plan(), tmp_path / "s.h5", engine="dask", scheduler=client, batch_runs=8)
        assert client.submit(abs, -1).result() == 1  # it stays open
    assert_same(tmp_path / "s.h5", reference)


def test_a_local_cluster_is_taken_as_it_is(reference, tmp_path):
    import distributed

    given = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, **given) as cluster:
        run_plan(small_plan(), tmp_path / "s.h5", engine="dask", scheduler=cluster, batch_runs=8)
        with distributed.Client(cluster) as client:
            assert client.submit(abs, -1).result() == 1  # it stays open
    assert_same(tmp_path / "s.h5", reference)


def test_without_dask_the_extra_is_named_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(sk.SkodynError, match=r"pip install 'skodyn\[sweep\]'"):
        run_plan(small_plan(), tmp_path / "s.h5", engine="dask")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_scheduler_is_refused_in_words_for_python_and_the_command_line():
    with pytest.raises(sk.SkodynError, match="give the address of a dask scheduler"):
        open_engine("dask", 1, 7, lambda: None)
    with pytest.raises(sk.SkodynError, match="choose the engine dask"):
        open_engine("threads", 1, "tcp://127.0.0.1:1", lambda: None)
