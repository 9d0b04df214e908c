"""Runs that go on beyond where they were to end: `resume --until`, and longer durations."""

import json
import signal

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io import checkpoint
from skodyn.simulation import loop, session
from test_cli_run import text_of

METHODS = ["rk4", "semi_implicit_euler", "implicit_midpoint"]


def scenario(folder, duration, method="rk4", more=""):
    text = text_of(duration=duration).replace('method = "rk4"', f'method = "{method}"')
    file = folder / f"{duration}.toml"
    file.write_text(text + more)
    return file


def rows_of(log):
    opened = sk.open(log)
    return {name: np.asarray(opened[name]) for name in opened.channels}


def assert_same_rows(one, other):
    one, other = rows_of(one), rows_of(other)
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert np.array_equal(values, other[name], equal_nan=True), name


@pytest.mark.parametrize("method", METHODS)
def test_a_finished_run_that_is_extended_is_the_longer_run_to_the_bit(tmp_path, method):
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    sk.run(scenario(tmp_path, 0.6, method), whole)
    sk.run(scenario(tmp_path, 0.2, method), part)
    run = sk.resume(part, until=0.6)
    assert (run.status, run.summary["t"]) == ("finished", 0.6)
    assert_same_rows(whole, part)
    assert run.summary["energy_start"] == sk.open(whole).summary["energy_start"]


def test_dormand_prince_goes_on_from_its_last_step(tmp_path):
    model = sk.examples.pendulum(2)
    given = {"q0": [0.4, 0.1], "v0": [0.0, 0.0], "integrator": "dormand_prince", "dt": 0.01}
    sk.simulate(model, **given, duration=0.2, log=tmp_path / "run.h5")
    longer = sk.simulate(model, **given, duration=0.6, log=tmp_path / "run.h5", resume=True)
    assert longer.status == "finished"
    whole = sk.simulate(model, **given, duration=0.6)
    assert np.allclose(longer.q, whole.q, rtol=0, atol=1e-5)  # its step at 0.2 s was cut short


def test_an_extension_that_is_interrupted_goes_on_to_its_own_end(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "MOST_STEPS", 50)
    whole, part = tmp_path / "whole.h5", tmp_path / "part.h5"
    sk.run(scenario(tmp_path, 0.6), whole)
    sk.run(scenario(tmp_path, 0.2), part)

    def stop(engine, _seconds):
        if engine.t > 0.35:
            signal.raise_signal(signal.SIGINT)

    assert sk.resume(part, until=0.6, progress=stop).status == "interrupted"
    assert sk.resume(part).summary["t"] == 0.6
    assert_same_rows(whole, part)
    with pytest.raises(sk.LogError, match="there is nothing to resume"):
        sk.resume(part)


def test_the_command_extends_and_says_so(tmp_path, capsys):
    log = tmp_path / "run.h5"
    file = scenario(tmp_path, 0.2)
    assert main(["run", str(file), "-o", str(log), "--quiet"]) == 0
    assert main(["resume", str(log)]) == 0
    assert "there is nothing to resume" in capsys.readouterr().out
    assert main(["resume", str(log), "--until", "0.4", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["t"] == 0.4


@pytest.mark.parametrize(
    ("until", "words"),
    [(0.1, "cannot end at 0.1 s"), (0.20033, "give 0.2 or 0.201"), (-1.0, "duration")],
)
def test_times_that_do_not_fit_are_refused_and_change_nothing(tmp_path, until, words):
    log = tmp_path / "run.h5"
    sk.run(scenario(tmp_path, 0.2), log)
    before = log.read_bytes()
    with pytest.raises(sk.SkodynError, match=words):
        sk.resume(log, until=until)
    assert log.read_bytes() == before


def test_simulate_with_a_longer_duration_extends_its_log(tmp_path):
    log, model = tmp_path / "run.h5", sk.examples.pendulum(2)
    start = {"q0": [0.4, 0.1], "v0": [0.0, 0.0]}
    sk.simulate(model, **start, duration=0.2, log=log)
    longer = sk.simulate(model, **start, duration=0.5, log=log, resume=True)
    assert np.array_equal(longer.q, sk.simulate(model, **start, duration=0.5).q)


def test_another_scenario_is_still_refused(tmp_path):
    log, model = tmp_path / "run.h5", sk.examples.pendulum(2)
    sk.simulate(model, [0.4, 0.1], [0.0, 0.0], duration=0.2, log=log)
    with pytest.raises(sk.StateError, match="initial state changed"):
        sk.simulate(model, [0.5, 0.1], [0.0, 0.0], duration=0.5, log=log, resume=True)


def test_a_log_without_its_checkpoint_cannot_be_extended(tmp_path):
    log = tmp_path / "run.h5"
    sk.run(scenario(tmp_path, 0.2), log)
    checkpoint.remove(session.checkpoint_path(log))
    with pytest.raises(sk.LogError, match="No usable checkpoint"):
        sk.resume(log, until=0.4)
