"""Servos with a speed limit: the law, closed forms, what it guarantees; lanes, resumed runs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation import session
from skodyn.simulation.elements import Forces, Servo, TrackingServo
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.methods import METHODS
from skodyn.simulation.plan import Plan
from skodyn.simulation.settings import IntegratorSettings
from skodyn.view.recording import record
from test_forces import MODEL, ONE_DOF, STATES, assert_acts, one
from test_mimic import gripper
from test_mimic import start as grip

FOLDER = Path(__file__).parent.parent / "scenarios"
STILL = {"target": 0.5, "target_velocity": 0.3}
WAVE = {"amplitude": 0.4, "frequency": 1.5, "phase": 0.7, "offset": -0.1}
KINDS = [(Servo, STILL), (TrackingServo, WAVE)]


def rotor(inertia=2.0):
    """One body that turns without weight."""
    build = sk.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    build.add_body("rotor", joint=sk.Revolute(axis=(0, 0, 1)), mass=1.0, inertia=(inertia,) * 3)
    return build.build()


def limited(errors, v, gains, bounds, gathered):
    """The law as it is documented, by division: (torque without weight, rate of the integral)."""
    (error, speed), (kp, kd, ki), (limit, weight, fastest) = errors, gains, bounds
    w = speed + (kp * error + ki * gathered) / kd
    torque = kd * (min(max(w, -fastest), fastest) - v) + weight
    deeper = (w > fastest and ki * error > 0.0) or (w < -fastest and ki * error < 0.0)
    return min(max(torque, -limit), limit), 0.0 if deeper else error


def target_of(kind, t):
    if kind is Servo:
        return 0.5, 0.3
    rate = 2.0 * math.pi * 1.5
    return -0.1 + 0.4 * math.sin(rate * t + 0.7), 0.4 * rate * math.cos(rate * t + 0.7)


# ---- the law ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "target"), KINDS)
@pytest.mark.parametrize("fastest", [0.05, 0.8, 1e4])
def test_the_torque_is_that_of_its_formula(kind, target, fastest):
    for joint, (q, v) in zip(ONE_DOF, STATES, strict=False):
        at, dof = one(joint)
        x, speed = target_of(kind, 0.23)
        for limit, holds in ((math.inf, False), (0.4, True), (50.0, True)):
            weight = sk.gravity_force(MODEL, q)[dof] if holds else 0.0
            tau = np.zeros(MODEL.nv)
            tau[dof], _ = limited((x - q[at], speed), v[dof], (5.0, 0.6, 2.0),
                                  (limit, weight, fastest), 0.25)  # fmt: skip
            servo = kind(joint, 5.0, 0.6, 2.0, limit=limit, gravity_compensation=holds,
                         speed_limit=fastest, **target)  # fmt: skip
            assert_acts(Forces(elements=(servo,)), q, v, tau, t=0.23, integrals=(0.25,))


def law(t, q, v, params, tau, integrals, rates, dynamics):
    """Both kinds, written by hand with the division."""
    x, speed = 0.5, 0.3
    if params.wave > 0.0:
        rate = 2.0 * np.pi * 1.5
        x, speed = -0.1 + 0.4 * np.sin(rate * t + 0.7), 0.4 * rate * np.cos(rate * t + 0.7)
    error = x - q[0]
    w = speed + (30.0 * error + 20.0 * integrals[0]) / 3.0
    cut = min(max(w, -params.fastest), params.fastest)
    rates[0] = 0.0 if (w - cut) * error > 0.0 else error
    dynamics.gravity_force(q, tau)
    tau[0] = 3.0 * (cut - v[0]) + tau[0]
    tau[1] = 0.0


@pytest.mark.skipif(JIT_DISABLED, reason="laws are compiled")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("kind", "target"), KINDS)
@pytest.mark.parametrize("sample_time", [0.0, 2e-3])
def test_a_run_is_that_of_the_same_law_as_a_controller(kind, target, method, sample_time):
    model = sk.examples.pendulum(2)
    params = {"wave": float(kind is TrackingServo), "fastest": 0.4}
    twin = sk.Controller(law, params, integrals=1, sample_time=sample_time)
    servo = kind("link1", 30.0, 3.0, 20.0, gravity_compensation=True, speed_limit=0.4,
                 sample_time=sample_time, **target)  # fmt: skip
    ended, other = (
        sk.simulate(model, [0.43, 0.2], [0.0, 0.0], duration=0.4, dt=1e-3, integrator=method,
                    elements=[each], channels=["tau", "integrals"])
        for each in (servo, twin)
    )  # fmt: skip
    # a method that chooses its steps meets corners of the law at steps that the last bits decide
    close = 1e-6 if method == "dormand_prince" else 1e-11
    assert np.abs(ended.q - other.q).max() < close
    assert np.abs(ended.v - other.v).max() < 100 * close
    kept = ended.trajectory["integrals"][:, 0]
    assert kept == pytest.approx(other.trajectory["integrals"][:, 0], abs=close)
    assert (np.diff(kept) == 0.0).any()  # it stood still
    assert np.ptp(kept) > 0.0
    solved = METHODS[method].solves_contacts or "euler" in method
    assert abs(ended.summary["energy_imbalance"]) < (1e-1 if solved else 1e-4)


# ---- closed forms, and what it promises ---------------------------------------------------------


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("push", [0.0, 0.6])
def test_a_rotor_comes_to_its_speed_as_first_order_systems_do(side, push):
    """I·v̇ = kd·(V − v) + push while the target is far: v = (V + push/kd)·(1 − exp(−kd·t/I))."""
    kd, fastest = 4.0, 0.5
    servo = Servo("rotor", kp=100.0, kd=kd, target=side * 50.0, speed_limit=fastest)
    load = sk.TorqueTable("rotor", times=[0.0, 10.0], torques=[side * push] * 2)
    run = sk.simulate(rotor(), [0.0], [0.0], duration=4.0, dt=1e-3, elements=[servo, load])
    wanted = side * (fastest + push / kd) * (1.0 - np.exp(-kd * run.t / 2.0))
    assert run.v[:, 0] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("kind", "target"), [
    (Servo, {"target": 2.0}),
    (TrackingServo, {"times": (0.0, 0.1, 3.0), "positions": (0.0, 2.0, 2.0)}),
])  # fmt: skip
def test_an_arm_is_driven_no_faster_and_gets_there(kind, target):
    model = sk.examples.pendulum(1)
    gains = {"kp": 400.0, "kd": 40.0, "ki": 100.0, "gravity_compensation": True, **target}
    slow, fast = (
        sk.simulate(model, [0.0], [0.0], duration=8.0, dt=1e-3, every=10,
                    elements=[kind("link1", **gains, speed_limit=x)])
        for x in (0.5, math.inf)
    )  # fmt: skip
    assert np.abs(slow.v).max() <= 0.5 * (1.0 + 1e-12)
    assert np.abs(fast.v).max() > 5.0
    assert slow.q[-1] == pytest.approx([2.0], abs=1e-3)
    assert slow.q.max() < 2.01  # nothing was wound up on the way
    assert fast.q.max() > 2.03
    assert abs(slow.summary["energy_imbalance"]) < 1e-6


def test_a_joint_that_is_too_fast_is_braked_whatever_its_target():
    servo = Servo("rotor", kp=1e3, kd=4.0, target=1e3, speed_limit=0.5)
    run = sk.simulate(rotor(), [0.0], [3.0], duration=4.0, dt=1e-3, elements=[servo])
    assert run.v[:, 0] == pytest.approx(0.5 + 2.5 * np.exp(-2.0 * run.t), abs=1e-11)


# ---- other models -------------------------------------------------------------------------------


def start_of(name):
    """(model, start, joints) of models in which servos are evaluated by different loops."""
    if name == "mimics":
        model = gripper()
        return model, *grip(model), ("finger1", "finger2", "slide")
    model = sk.load(FOLDER / "models" / f"{name}.toml")
    q, zero = model.neutral(), np.zeros(model.nv)
    kinds = zip(model.joint_names, model.joints, strict=True)
    joints = [joint for joint, kind in kinds if kind.nv == 1][:1]
    return model, sk.assemble(model, q).q if model.has_loops else q, zero, joints


MODELS = ["mimics", "four_bar", "seven_joint_arm", "two_link_flexible"]


def ends(name, kind, **given):
    model, q, v, joints = start_of(name)
    dt = 1e-4 if model.flexible else 2e-3
    servos = [
        kind(joint, kp=4.0, kd=0.2, ki=1.0, limit=200.0,
             gravity_compensation=joint not in model.mimics, **given)
        for joint in joints
    ]  # fmt: skip
    run = sk.simulate(model, q, v, duration=50 * dt, dt=dt, elements=servos)
    assert run.status == "finished"
    return run.q, run.v


@pytest.mark.parametrize("name", MODELS)
def test_both_kinds_have_the_same_bits_and_a_far_limit_is_none(name):
    still = {"amplitude": 0.0, "frequency": 1.0, "offset": 0.3}
    for fastest in (0.05, 1e6):
        servo = ends(name, Servo, target=0.3, speed_limit=fastest)
        moving = ends(name, TrackingServo, **still, speed_limit=fastest)
        free = ends(name, Servo, target=0.3)
        assert (servo[0] == moving[0]).all()
        assert (servo[1] == moving[1]).all()
        apart = np.abs(servo[1] - free[1]).max()
        assert apart < 1e-9 if fastest > 1.0 else apart > 1e-4


def test_in_the_sampled_form_the_first_torque_has_the_bits_of_the_other():
    for kind, target in KINDS:
        torques = [
            sk.simulate(sk.examples.pendulum(2), [0.3, -0.2], [0.1, 0.4], duration=2e-3, dt=1e-3,
                        channels=["tau"], elements=[kind("link2", 30.0, 3.0, 1.0, **target,
                        speed_limit=0.7, gravity_compensation=True, sample_time=x)])
            .trajectory["tau"][0, 1] for x in (0.0, 1e-3)
        ]  # fmt: skip
        assert torques[0] == torques[1] != 0.0


def test_its_arrow_is_its_torque():
    servo = Servo("link1", 30.0, 3.0, target=1.0, target_velocity=0.1, speed_limit=0.4, limit=8.0,
                  gravity_compensation=True)  # fmt: skip
    run = sk.simulate(sk.examples.pendulum(2), [0.2, 0.1], [0.9, 0.0], duration=0.3, dt=1e-3,
                      every=10, elements=[servo], channels=["tau"])  # fmt: skip
    arrows = next(one for one in record(run.trajectory).arrows if one.layer == "torques")
    sizes = np.linalg.norm(arrows.vectors[:, 0], axis=-1)
    assert sizes == pytest.approx(np.abs(run.trajectory["tau"][:, 0]), abs=1e-12)


# ---- scenarios, lanes, resumed runs -------------------------------------------------------------

SCENARIO = """
duration = 0.3
[model]
file = "models/double_pendulum.toml"
[initial]
q = { elbow = 0.3 }
[controllers.lift]
type = "TYPE"
joint = "shoulder"
kp = 30.0
kd = 2.0
ki = 1.0
gravity_compensation = true
TARGET
speed_limit = 0.5
[integrator]
method = "METHOD"
dt = 1e-3
"""
TARGETS = {
    "servo": "target = 1.0",
    "tracking_servo": "amplitude = 0.5\nfrequency = 2.0",
    "sampled": "target = 1.0\nsample_time = 2e-3",
}


def scenario(which="servo", method="rk4", **numbers):
    text = SCENARIO.replace("TARGET", TARGETS[which]).replace("METHOD", method)
    text = text.replace("TYPE", "servo" if which == "sampled" else which)
    for given, value in numbers.items():
        old = next(x for x in text.splitlines() if x.startswith(f"{given} ="))
        text = text.replace(old, f"{given} = {value}")
    return parse_scenario(text, FOLDER)


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "implicit_contact"])
@pytest.mark.parametrize("which", TARGETS)
@pytest.mark.parametrize("key", ["speed_limit", "kd"])
def test_a_sweep_in_lanes_has_the_bits_of_runs_by_themselves(which, key, method, tmp_path):
    values = np.linspace(0.2, 3.0, 9).tolist()
    swept = sk.sweep(scenario(which, method), {f"controllers.lift.{key}": values},
                     out=tmp_path / "sweep.h5", engine="in-process")  # fmt: skip
    alone = [run_scenario(scenario(which, method, **{key: x}), None).q[-1] for x in values]
    assert (swept.q == alone).all()
    assert len({row[0] for row in alone}) == len(values)


def test_a_sweep_is_told_what_has_no_meaning(tmp_path):
    with pytest.raises(sk.ScenarioError, match=r"run 0: controllers.lift has .* and kd = 0, so"):
        sk.sweep(scenario(), {"controllers.lift.kd": [0.0, 2.0]}, out=tmp_path / "kd.h5")


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
@pytest.mark.parametrize(("kind", "target"), KINDS)
@pytest.mark.parametrize("sample_time", [0.0, 2e-3])
def test_interrupted_runs_go_on_to_the_same_bits(kind, target, sample_time, method, tmp_path):
    servo = kind("link1", 30.0, 3.0, 5.0, **target, speed_limit=0.4, sample_time=sample_time)
    settings, zero = IntegratorSettings(method=method, dt=1e-3), np.zeros(2)
    model = sk.examples.pendulum(2)
    plan = Plan(model, zero, zero, 0.2, settings, Forces(elements=(servo,)), 2)
    whole = session.run(plan, tmp_path / "whole.h5")
    stops = iter([False, True])

    def stop(engine, seconds):
        if next(stops, False):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run(plan, tmp_path / "cut.h5", progress=stop, chunk=7)
    again = session.resume(plan, tmp_path / "cut.h5")
    assert (np.asarray(again.q) == np.asarray(whole.q)).all()


def test_a_limit_is_part_of_what_a_run_is_and_none_is_no_part():
    def forces(**given):
        servo = Servo("link1", 30.0, 3.0, target=1.0, **given)
        settings, zero = IntegratorSettings(), np.zeros(1)
        model = sk.examples.pendulum(1)
        return Plan(model, zero, zero, 0.1, settings, Forces(elements=(servo,))).identity()

    assert forces() == forces(speed_limit=math.inf)
    found = {forces(**given)["forces"] for given in ({}, {"speed_limit": 1}, {"speed_limit": 2})}
    assert len(found) == 3
    # of a log that was written before there were limits
    assert forces()["forces"].startswith("0e12b8aefcf2567f")


# ---- faults -------------------------------------------------------------------------------------

FAULTS = [
    ({"speed_limit": 0.0, "kd": 1.0}, "speed_limit is 0.0; give a number above 0, or leave it out"),
    ({"speed_limit": -1.0, "kd": 1.0}, "speed_limit is -1.0; give a number above 0"),
    ({"speed_limit": math.nan, "kd": 1.0}, "speed_limit is nan; give a number above 0"),
    ({"speed_limit": "fast", "kd": 1.0}, "speed_limit is 'fast'; give a number above 0"),
    ({"speed_limit": 1.0}, "it has a speed_limit and kd = 0, so that nothing slows its joint down"),
    ({"speed_limit": 1.0, "kd": -2.0}, "kd = -2, so that nothing slows its joint down; give a kd"),
    ({"speed_limit": 1.0, "kd": 1.0, "joint": "adrift"}, "'adrift' is free with 6 degrees of"),
]


@pytest.mark.parametrize(("given", "said"), FAULTS)
@pytest.mark.parametrize(("kind", "target"), KINDS)
def test_faults_are_refused_in_words(kind, target, given, said):
    servo = kind(**{"joint": "hinge", "kp": 1.0, **target, **given})
    with pytest.raises(sk.ModelError) as error:
        pack_forces(MODEL, Forces(elements=(servo,)))
    assert len(error.value.faults) == 1
    assert said in str(error.value)


def test_files_are_told_the_same():
    for given, said in (
        ({"speed_limit": -1.0}, r"controllers.lift.speed_limit is -1.0"),
        ({"kd": 0.0}, r"controllers.lift has a speed_limit and kd = 0, so .*; give a kd above 0"),
        ({"kd": '"x"'}, r"controllers.lift.kd is 'x'"),
    ):
        with pytest.raises(sk.ScenarioError, match=said) as error:
            scenario(**given)
        assert len(error.value.faults) == 1
