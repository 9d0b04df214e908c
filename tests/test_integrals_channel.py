"""The channel of integrals: what servos and control laws integrate, by name, in any run."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk

MODEL = sk.examples.pendulum(2)
FIRST, SECOND = MODEL.joint_names
START = ([0.3, -0.2], [0.0, 0.0])
SPAN = {"duration": 0.1, "dt": 1e-3, "channels": ["integrals"]}


def law(t, q, v, params, tau, integrals, rates):
    rates[0], rates[1] = q[0], v[1]
    tau[0] = -integrals[0]


PID = sk.Servo(SECOND, kp=2.0, ki=5.0, target=0.1)
PD = sk.Servo(FIRST, kp=1.0)
LAW = sk.Controller(law, integrals=2)


def of(run, name):
    labels = run.trajectory.labels("integrals")["integral"]
    return run.trajectory["integrals"][:, labels.index(name)]


def integrated(run, rate):
    """By Simpson's rule over rows: the integral up to every second row."""
    h = run.t[2] - run.t[0]
    parts = h / 6.0 * (rate[:-2:2] + 4.0 * rate[1:-1:2] + rate[2::2])
    return np.concatenate(([0.0], np.cumsum(parts)))


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "dormand_prince"])
def test_each_integral_is_that_of_its_rate_under_its_name(method):
    elements = [LAW, PD, PID]
    run = sk.simulate(MODEL, *START, **SPAN, integrator=method, elements=elements)
    assert run.trajectory.labels("integrals")["integral"] == (SECOND, "law[0]", "law[1]")
    close = {"rtol": 1e-4, "atol": 1e-8}
    assert np.allclose(of(run, SECOND)[::2], integrated(run, 0.1 - run.q[:, 1]), **close)
    assert np.allclose(of(run, "law[0]")[::2], integrated(run, run.q[:, 0]), **close)
    assert np.allclose(of(run, "law[1]"), run.q[:, 1] - run.q[0, 1], **close)
    assert np.abs(of(run, SECOND)[-1]) > 0.01


def test_beside_contacts_and_a_sampled_law():
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Prismatic(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    b.add_collision("ball", sk.Sphere(0.1))

    def count(t, q, v, params, tau, integrals, rates):
        tau[0], rates[0] = 0.0, 2.0

    sampled = sk.Controller(count, integrals=1, sample_time=1e-3)
    servos = [sk.Servo("ball", kp=1.0, ki=1.0), sk.Servo("ball", kp=1.0, ki=2.0)]
    run = sk.simulate(
        b.build(), [0.11], [0.0], duration=0.1, dt=5e-4, elements=[sampled, *servos],
        ground=[sk.HalfSpace()], channels=["integrals", "contacts"],
        contacts=[sk.Contact("ball", "floor", stiffness=1e4, dissipation=1.0, friction=0.5)],
    )  # fmt: skip
    assert np.allclose(of(run, "count"), 2.0 * run.t, atol=1e-12)
    assert np.array_equal(of(run, "ball (1)"), of(run, "ball (2)"))
    assert np.allclose(of(run, "ball (1)")[::2], integrated(run, -run.q[:, 0]), atol=1e-8)


def test_a_servo_of_a_mimic_joint():
    scenario = sk.read_scenario("scenarios/gripper.toml")
    joint = next(name for name in scenario.model.joint_names if name not in scenario.model.mimics)
    servo = sk.Servo(joint, kp=0.0, ki=1e-9, target=1.0)
    run = sk.simulate(scenario.model, scenario.q0, scenario.v0, **SPAN, elements=[servo])
    rate = 1.0 - run.trajectory.joint(joint)[:, 0]
    assert np.allclose(of(run, joint)[::2], integrated(run, rate), atol=1e-8)


def test_a_log_keeps_and_resumes_them_and_a_plot_draws_them(tmp_path):
    given = {**SPAN, "elements": [PID]}
    whole = sk.simulate(MODEL, *START, **given)
    log = tmp_path / "run.h5"
    sk.simulate(MODEL, *START, **{**given, "duration": 0.05}, log=log)
    sk.simulate(MODEL, *START, **given, log=log, resume=True)
    rows = sk.open(log)
    assert rows.labels("integrals") == {"integral": (SECOND,)}
    assert np.array_equal(rows["integrals"], whole.trajectory["integrals"])
    sk.open(log).plot(tmp_path / "run.png", channels=["integrals"])
    assert (tmp_path / "run.png").stat().st_size > 1000


SCENARIO = """
duration = 0.1
[model]
file = "models/double_pendulum.toml"
[controllers.hold]
type = "servo"
joint = "elbow"
kp = 1.0
ki = 1.0
[output]
channels = ["integrals"]
"""


def test_scenarios_have_it_or_are_told_that_there_are_none():
    from skodyn.scenario.reader import parse_scenario

    run = sk.run(parse_scenario(SCENARIO, "scenarios"), None)
    assert run.trajectory.labels("integrals") == {"integral": ("elbow",)}
    with pytest.raises(sk.ScenarioError, match=r"scenario:\d+: Channel 'integrals' .* none"):
        parse_scenario(SCENARIO.replace("ki = 1.0", ""), "scenarios")
    with pytest.raises(sk.StateError, match=r"'integrals' .* none"):
        sk.simulate(MODEL, *START, **SPAN, elements=[PD])
