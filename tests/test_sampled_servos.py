"""Servos with a clock: samples, delays and noise are those of control laws; lanes, resumed runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation import session
from skodyn.simulation.elements import Forces
from skodyn.simulation.methods import METHODS
from skodyn.simulation.plan import Plan
from skodyn.simulation.settings import IntegratorSettings
from test_mimic import gripper
from test_mimic import start as grip

FOLDER = Path(__file__).parent.parent / "scenarios"
MODEL = sk.examples.pendulum(2)
STILL = {"target": 0.5, "target_velocity": 0.1}
WAVE = {"amplitude": 0.4, "frequency": 1.5, "phase": 0.7, "offset": -0.1}
TABLE = {"times": (0.01, 0.05), "positions": (0.1, 0.4), "between": "minimum_jerk"}
KINDS = [(sk.Servo, STILL), (sk.TrackingServo, WAVE), (sk.TrackingServo, TABLE)]
GAINS = {"kp": 30.0, "kd": 3.0, "ki": 20.0, "limit": 15.0}


def run(*elements, method="rk4", duration=0.1, model=MODEL, seed=5, **given):
    return sk.simulate(
        model, [0.3, -0.2], [0.1, 0.4], duration=duration, dt=1e-3, integrator=method, seed=seed,
        channels=["tau"], elements=elements, **given,
    )  # fmt: skip


def law(t, q, v, params, tau, integrals, rates, dynamics):
    """The servos of KINDS, written by hand."""
    x, speed = 0.5, 0.1
    if params.kind == 1:
        rate = 2.0 * np.pi * 1.5
        x, speed = -0.1 + 0.4 * np.sin(rate * t + 0.7), 0.4 * rate * np.cos(rate * t + 0.7)
    if params.kind == 2:
        s = min(max((t - 0.01) / 0.04, 0.0), 1.0)
        x = 0.1 + 0.3 * (10 * s**3 - 15 * s**4 + 6 * s**5)
        speed = 0.3 * (30 * s**2 - 60 * s**3 + 30 * s**4) / 0.04
    rates[0] = x - q[0]
    push = 30.0 * rates[0] + 3.0 * (speed - v[0]) + 20.0 * integrals[0]
    dynamics.gravity_force(q, tau)
    push += params.weight * tau[0]
    tau[0], tau[1] = min(max(push, -15.0), 15.0), 0.0


@pytest.mark.skipif(JIT_DISABLED, reason="laws are compiled")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("weight", [False, True])
def test_a_sampled_servo_is_the_sampled_law_that_says_the_same(kind, method, weight):
    clock = {"sample_time": 0.01, "delay": 0.02, "q_noise": 1e-2, "v_noise": 0.1}
    servo, target = KINDS[kind]
    params = {"kind": kind, "weight": float(weight)}
    ended = run(
        servo("link1", **GAINS, gravity_compensation=weight, **target, **clock), method=method
    )
    twin = run(sk.Controller(law, params, integrals=1, **clock), method=method)
    assert np.abs(ended.q - twin.q).max() < 1e-12
    torques, theirs = (each.trajectory["tau"][:, 0] for each in (ended, twin))
    assert np.abs(torques - theirs).max() < 1e-10
    assert (torques[:20] == 0.0).all()  # the delay
    changed = np.flatnonzero(np.diff(torques)) + 1
    assert len(changed) > 2
    assert (changed % 10 == 0).all()  # held from sample to sample
    assert not np.array_equal(ended.q, run(
        servo("link1", **GAINS, gravity_compensation=weight, **target, **clock), method=method,
        seed=6,
    ).q)  # fmt: skip


@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize(("servo", "target"), KINDS)
def test_the_first_torque_has_the_bits_of_a_servo_without_a_clock(servo, target, weight):
    given = {**GAINS, **target, "gravity_compensation": weight}
    all_the_time = run(servo("link2", **given), duration=2e-3).trajectory["tau"][0]
    sampled = run(servo("link2", **given, sample_time=1e-3), duration=2e-3).trajectory["tau"][0]
    assert all_the_time[1] != 0.0
    assert (all_the_time == sampled).all()


@pytest.mark.parametrize(("servo", "target"), KINDS[:2])
def test_a_sampled_servo_is_of_first_order_in_its_sample_time(servo, target):
    given = {**GAINS, **target, "limit": np.inf}
    whole, slow, fast = (
        run(servo("link1", **given, sample_time=h), duration=0.6).q for h in (0.0, 0.02, 1e-3)
    )
    far, close = np.abs(slow - whole).max(), np.abs(fast - whole).max()
    assert far > 1e-3
    assert 15.0 < far / close < 25.0


def push(t, q, v, params, tau, integrals, rates):
    rates[0] = 1.0
    tau[1] = t


def test_servos_and_laws_keep_their_integrals_apart_and_by_name():
    first = sk.Servo("link2", **GAINS, target=0.1, sample_time=2e-3)
    second = sk.Servo("link1", **GAINS, target=0.2)
    third = sk.Controller(push, integrals=1, sample_time=5e-3)
    ended = sk.simulate(
        MODEL, [0.3, -0.2], [0.0, 0.0], duration=0.01, dt=1e-3, channels=["integrals"],
        elements=[first, second, third],
    )  # fmt: skip
    labels = ended.trajectory.labels("integrals")["integral"]
    assert list(labels) == ["link1", "link2", "push"]
    kept = dict(zip(labels, ended.trajectory["integrals"].T, strict=True))
    steps = np.arange(11)
    held = 1e-3 * (0.1 - ended.q[steps // 2 * 2, 1])
    assert kept["link2"][1:] == pytest.approx(np.cumsum(held[:-1]), abs=1e-12)
    assert kept["push"] == pytest.approx(1e-3 * steps, abs=1e-15)
    assert kept["link1"][-1] == pytest.approx(0.01 * (0.2 - 0.3), abs=1e-5)


# ---- other models -------------------------------------------------------------------------------


def test_the_weight_is_held_at_the_joints_of_a_model_with_mimics():
    model = gripper()
    q, v = grip(model)
    joint = next(
        name for name, kind in zip(model.joint_names, model.joints, strict=True)
        if kind.nv == 1 and name not in model.mimics
    )  # fmt: skip
    given = {"kp": 4.0, "kd": 0.2, "gravity_compensation": True, "target": 0.3}
    torques = [
        sk.simulate(model, q, v, duration=2e-3, dt=1e-3, channels=["tau"], elements=[
            sk.Servo(joint, **given, sample_time=h)]).trajectory["tau"][0]
        for h in (0.0, 1e-3)
    ]  # fmt: skip
    assert np.abs(torques[0]).max() > 0.0
    assert torques[1] == pytest.approx(torques[0], rel=1e-12)
    mimic = next(iter(model.mimics))
    with pytest.raises(sk.ModelError, match=rf"{mimic!r} mimics .*, or leave out sample_time"):
        sk.simulate(model, q, v, duration=2e-3, dt=1e-3, elements=[
            sk.Servo(mimic, 4.0, sample_time=1e-3)])  # fmt: skip


def test_a_sampled_servo_drives_a_loop():
    model = sk.load(FOLDER / "models" / "four_bar.toml")
    q, joint = sk.assemble(model, model.neutral()).q, model.joint_names[0]
    start = model.q_slice(joint).start
    runs = [
        sk.simulate(model, q, np.zeros(model.nv), duration=0.3, dt=1e-3, elements=[
            sk.Servo(joint, kp=20.0, kd=4.0, target=q[start] + 0.3, gravity_compensation=True,
                     sample_time=h)])
        for h in (0.0, 2e-3)
    ]  # fmt: skip
    assert runs[1].summary["loop_error_max"] < 1e-12
    assert abs(runs[0].q[-1, start] - q[start]) > 0.1
    assert 0.0 < np.abs(runs[0].q - runs[1].q).max() < 0.02


def test_a_sampled_servo_of_a_flexible_arm():
    model = sk.load(FOLDER / "models" / "two_link_flexible.toml")
    joint = next(n for n, j in zip(model.joint_names, model.joints, strict=True) if j.nv == 1)
    zero = np.zeros(model.nv)
    given = {"kp": 1.0, "kd": 0.1, "target": 0.2}
    runs = [
        sk.simulate(model, model.neutral(), zero, duration=2e-3, dt=1e-4, elements=[
            sk.Servo(joint, **given, sample_time=h)])
        for h in (0.0, 1e-4)
    ]  # fmt: skip
    assert np.allclose(runs[0].q, runs[1].q, atol=1e-5)
    heavy = sk.Servo(joint, **given, sample_time=1e-4, gravity_compensation=True)
    with pytest.raises(sk.ModelError, match="leave out sample_time or gravity_compensation"):
        sk.simulate(model, model.neutral(), zero, duration=2e-3, dt=1e-4, elements=[heavy])


# ---- scenarios, lanes, resumed runs -------------------------------------------------------------

SCENARIO = """
duration = 0.1
seed = 3
[model]
file = "models/double_pendulum.toml"
[initial]
q = { elbow = 0.3 }
[controllers.lift]
type = "tracking_servo"
joint = "shoulder"
kp = 30.0
kd = 2.0
ki = 1.0
gravity_compensation = true
amplitude = 0.5
frequency = 2.0
sample_time = 4e-3
delay = 2e-3
q_noise = 1e-3
v_noise = 1e-2
[controllers.elbow]
type = "servo"
joint = "elbow"
kp = 2.0
sample_time = 5e-3
q_noise = 1e-3
[integrator]
method = "METHOD"
dt = 1e-3
"""


def scenario(method="rk4", old="kp = 30.0", new="kp = 30.0"):
    assert old in SCENARIO
    return parse_scenario(SCENARIO.replace("METHOD", method).replace(old, new, 1), FOLDER)


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint"])
@pytest.mark.parametrize(("key", "old"), [
    ("controllers.lift.kp", "kp = 30.0"), ("controllers.lift.q_noise", "q_noise = 1e-3"),
    ("controllers.lift.delay", "delay = 2e-3"), ("seed", "seed = 3"),
])  # fmt: skip
def test_a_sweep_in_lanes_has_the_bits_of_runs_by_themselves(key, old, method, tmp_path):
    values = {"delay": [0.0, 1e-3, 4e-3], "seed": [1, 2, 3, 4, 5]}.get(
        key.split(".")[-1], np.linspace(0.1, 3.0, 5).tolist()
    )
    swept = sk.sweep(
        scenario(method), {key: values}, out=tmp_path / "sweep.h5", engine="in-process"
    )
    name = old.split(" ")[0]
    alone = [run_scenario(scenario(method, old, f"{name} = {x}"), None).q[-1] for x in values]
    assert (swept.q == alone).all()
    assert len({row[1] for row in alone}) == len(values)


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_interrupted_runs_go_on_to_the_same_bits(method, tmp_path):
    forces = [
        Forces(elements=(sk.Servo("link1", **GAINS, sample_time=0.01, delay=x, q_noise=1e-3),))
        for x in (0.02, 0.03)
    ]
    settings, zero = IntegratorSettings(method=method, dt=1e-3), np.zeros(2)
    plan, other = (Plan(MODEL, zero, zero, 0.2, settings, each, 2) for each in forces)
    whole = session.run(plan, tmp_path / "whole.h5")
    stops = iter([False, True])

    def stop(engine, seconds):
        if next(stops, False):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run(plan, tmp_path / "cut.h5", progress=stop, chunk=7)
    again = session.resume(plan, tmp_path / "cut.h5")
    assert (np.asarray(again.q) == np.asarray(whole.q)).all()
    assert other.identity()["forces"] != plan.identity()["forces"]


def test_what_does_not_fit_is_refused_with_its_key():
    for old, new, words in (
        ("sample_time = 4e-3", "sample_time = 2.5e-3", "sample_time of 0.0025 s, which is 2.5 ti"),
        ("delay = 2e-3", "delay = 5e-4", "delay of 0.0005 s, which is 0.5 times dt"),
        ("sample_time = 4e-3", "", "has a delay, but its law is evaluated all the time"),
        ("sample_time = 5e-3", "", "has a q_noise, but its law is evaluated all the time"),
    ):
        with pytest.raises(sk.ScenarioError, match=words):
            scenario(old=old, new=new)
    with pytest.raises(sk.ModelError, match=r"delay of 0.0005 s, which is 0.5 times dt"):
        run(sk.Servo("link1", 1.0, sample_time=1e-3, delay=5e-4))
