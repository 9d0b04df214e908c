"""How a duration divides into steps: one rule for Python and for scenario files."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario

MODELS = Path(__file__).parent.parent / "scenarios" / "models"

DIVISIONS = [
    (1.0, 0.003, 1, "give 0.999 or 1.002, or change"),
    (1.0, 3.0, 1, "that fits the duration"),
    (1.0, 1e-13, 1, "that fits the duration"),
    (0.01, 0.001, 11, "every is 11, but the run has only 10 steps; give 10 or less"),
]


@pytest.mark.parametrize(("duration", "dt", "every", "words"), DIVISIONS)
def test_python_and_scenarios_refuse_the_same_durations_in_the_same_words(
    duration, dt, every, words
):
    model = sk.load(MODELS / "double_pendulum.toml")
    with pytest.raises(sk.StateError) as ours:
        sk.simulate(model, [0, 0], [0, 0], duration=duration, dt=dt, every=every)
    text = f"""
duration = {duration!r}
model.file = "double_pendulum.toml"
integrator.dt = {dt!r}
output.every = {every}
"""
    with pytest.raises(sk.ScenarioError) as theirs:
        parse_scenario(text, MODELS)
    assert words in str(ours.value)
    plain = re.sub(r"^scenario:\d+: ", "", str(theirs.value))
    assert plain.replace("integrator.", "").replace("output.", "") == str(ours.value)


@pytest.mark.parametrize(("interval", "fits"), [(0.003, False), (0.0025, True)])
def test_rows_of_adaptive_steps_divide_the_duration_too(interval, fits):
    model = sk.load(MODELS / "double_pendulum.toml")
    text = f"""
duration = 0.1
model.file = "double_pendulum.toml"
integrator.method = "dormand_prince"
output.interval = {interval}
"""
    given = {"duration": 0.1, "dt": interval, "integrator": "dormand_prince"}
    if fits:
        parse_scenario(text, MODELS)
        assert sk.simulate(model, [0.1, 0], [0, 0], **given).t[-1] == pytest.approx(0.1)
        return
    with pytest.raises(sk.ScenarioError, match=r"give 0.099 or 0.102"):
        parse_scenario(text, MODELS)
    with pytest.raises(sk.StateError, match=r"give 0.099 or 0.102"):
        sk.simulate(model, [0.1, 0], [0, 0], **given)


@pytest.mark.parametrize("duration", ["1", [1.0], None, True, math.nan, -1.0, 10**400])
def test_a_duration_that_is_no_number_of_seconds_is_refused(duration):
    model = sk.load(MODELS / "double_pendulum.toml")
    with pytest.raises(sk.StateError, match=r"give a number above 0"):
        sk.simulate(model, [0, 0], [0, 0], duration=duration, dt=1e-3)


def test_only_a_rigid_model_can_be_simulated():
    model = sk.load(MODELS / "double_pendulum.toml")
    for other in (sk.sko_model(model, [0.1, 0.2]), "arm.toml", None):
        with pytest.raises(sk.StateError, match=r"which is not an sk.Model; give a rigid model"):
            sk.simulate(other, [0, 0], [0, 0], duration=1.0)


@pytest.mark.parametrize("rate", [1e30, 200_000.0, 5e-324])
def test_a_thermostat_that_would_never_let_a_step_end_is_refused(rate):
    model = sk.load(MODELS / "double_pendulum.toml")
    thermostat = sk.AndersenThermostat(1.0, rate)
    with pytest.raises(sk.StateError, match=r"rate is .* collisions in a step of 0.001 s; give"):
        sk.simulate(model, [0, 0], [0, 0], duration=0.01, dt=1e-3, thermostat=thermostat)
    text = f"""
duration = 0.01
model.file = "double_pendulum.toml"
thermostat = {{ kT = 1.0, rate = {rate!r} }}
"""
    with pytest.raises(sk.ScenarioError, match=r"scenario:4: thermostat.rate is .* in a step of"):
        parse_scenario(text, MODELS)


def test_a_thermostat_may_act_at_every_step():
    model = sk.load(MODELS / "double_pendulum.toml")
    often = sk.AndersenThermostat(1.0, 99_999.0)
    run = sk.simulate(model, [0, 0], [0, 0], duration=0.01, dt=1e-3, thermostat=often)
    assert run.status == "finished"


@pytest.mark.parametrize(
    ("method", "setting", "value"),
    [("implicit_contact", "iterations", 10**12), ("dormand_prince", "max_step", 1e-15)],
)
def test_a_step_or_a_run_that_would_never_end_is_refused(method, setting, value):
    model = sk.examples.pendulum(1)
    with pytest.raises(sk.StateError, match=f"{setting} is {value!r}"):
        sk.simulate(
            model,
            [0.1],
            [0.0],
            duration=0.01,
            integrator=method,
            progress=False,
            **{setting: value},
        )
    text = f"""
        duration = 0.01
        [model]
        file = "models/double_pendulum.toml"
        [integrator]
        method = "{method}"
        {setting} = {value!r}
    """
    with pytest.raises(sk.ScenarioError, match=rf"scenario:7: integrator.{setting} is"):
        parse_scenario(text, Path("scenarios"))
    other = sk.simulate(model, [0.1], [0.0], duration=0.01, max_step=1e-15)  # not a setting of rk4
    assert other.status == "finished"
