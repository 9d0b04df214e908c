"""Servos whose target moves: its curves, the law, limits; lanes, resumed runs, faults."""

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
from test_forces import MODEL, ONE_DOF, STATES, assert_acts, one
from test_mimic import gripper
from test_mimic import start as grip
from test_motions import theirs

FOLDER = Path(__file__).parent.parent / "scenarios"
TIMES, POSITIONS = (0.1, 0.4, 0.5, 1.3), (0.2, -0.3, -0.3, 0.9)
TARGETS = {
    "spline": {"times": TIMES, "positions": POSITIONS},
    "minimum jerk": {"times": TIMES, "positions": POSITIONS, "between": "minimum_jerk"},
    "sinusoid": {"amplitude": 0.4, "frequency": 1.5, "phase": 0.7, "offset": -0.1},
}


def target_of(which, t):
    """(position, velocity) at one time."""
    if which == "sinusoid":
        rate = 2.0 * math.pi * 1.5
        return -0.1 + 0.4 * math.sin(rate * t + 0.7), 0.4 * rate * math.cos(rate * t + 0.7)
    if not TIMES[0] < t < TIMES[-1]:
        return POSITIONS[0 if t <= TIMES[0] else -1], 0.0
    if which == "spline":
        curve = theirs(sk.MotionTable("any", TIMES, POSITIONS))
        return float(curve(t)), float(curve(t, 1))
    i = int(np.searchsorted(TIMES, t, side="right")) - 1
    h, way = TIMES[i + 1] - TIMES[i], POSITIONS[i + 1] - POSITIONS[i]
    s = (t - TIMES[i]) / h
    shape, slope = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4
    return POSITIONS[i] + way * shape, way * slope / h


# ---- the law ------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", TARGETS)
@pytest.mark.parametrize("t", [0.0, 0.1, 0.23, 0.4, 0.45, 0.5, 0.9, 1.3, 7.0])
def test_the_torque_is_that_of_its_formula(which, t):
    for joint, (q, v) in zip(ONE_DOF, STATES, strict=False):
        at, dof = one(joint)
        x, rate = target_of(which, t)
        tau = np.zeros(MODEL.nv)
        tau[dof] = 5.0 * (x - q[at]) + 0.6 * (rate - v[dof]) + 2.0 * 0.25
        gains = {"kp": 5.0, "kd": 0.6, "ki": 2.0, **TARGETS[which]}
        servo = TrackingServo(joint, **gains)
        assert_acts(Forces(elements=(servo,)), q, v, tau, t=t, integrals=(0.25,))
        tau[dof] += sk.gravity_force(MODEL, q)[dof]
        for limit in (0.01, 1.0, 1e3):
            cut = TrackingServo(joint, **gains, limit=limit, gravity_compensation=True)
            bounded = np.clip(tau, -limit, limit)
            assert_acts(Forces(elements=(cut,)), q, v, bounded, t=t, integrals=(0.25,))


def follow(t, q, v, params, tau, integrals, rates):
    """The same law as a controller; the target is a sinusoid, or one motion of least jerk."""
    if params.frequency > 0.0:
        rate = 2.0 * np.pi * params.frequency
        x, speed = params.size * np.sin(rate * t), params.size * rate * np.cos(rate * t)
    else:
        s = min(max((t - 0.1) / 0.3, 0.0), 1.0)
        x = params.size * (10 * s**3 - 15 * s**4 + 6 * s**5)
        speed = params.size * (30 * s**2 - 60 * s**3 + 30 * s**4) / 0.3
    rates[0] = x - q[0]
    push = 30.0 * rates[0] + 3.0 * (speed - v[0]) + 20.0 * integrals[0]
    tau[0] = min(max(push, -params.limit), params.limit)


@pytest.mark.skipif(JIT_DISABLED, reason="laws are compiled")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("frequency", [0.0, 1.5])
def test_a_run_is_that_of_the_same_law_as_a_controller(method, frequency):
    model, zero = sk.examples.pendulum(2), np.zeros(2)
    table = {"times": (0.1, 0.4), "positions": (0.0, 0.5), "between": "minimum_jerk"}
    wave = {"amplitude": 0.5, "frequency": frequency}
    # a method that chooses its steps would try again where a limit bends the torque, and there the
    # last bit decides on a step
    limit = 1e6 if method == "dormand_prince" else 8.0
    servo = TrackingServo("link1", 30.0, 3.0, 20.0, limit=limit, **(wave if frequency else table))
    params = {"size": 0.5, "frequency": frequency, "limit": limit}
    law = sk.Controller(follow, params, integrals=1)
    runs = [
        sk.simulate(model, zero, zero, duration=0.5, dt=1e-3, integrator=method, elements=[each],
                    channels=["tau"])
        for each in (servo, law)
    ]  # fmt: skip
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert np.abs(runs[0].v - runs[1].v).max() < 1e-11
    assert np.ptp(runs[0].trajectory["tau"][:, 0]) > 5.0
    solved = METHODS[method].solves_contacts or "euler" in method
    assert abs(runs[0].summary["energy_imbalance"]) < (1e-1 if solved else 1e-5)


def resting(name):
    """(model, start, joints) of models in which servos are evaluated by different loops."""
    if name == "mimics":
        model = gripper()
        return model, *grip(model), ("finger1", "slide")
    model = sk.load(FOLDER / "models" / f"{name}.toml")
    return model, model.neutral(), np.zeros(model.nv), model.joint_names[:1]


@pytest.mark.parametrize("name", ["mimics", "four_bar", "seven_joint_arm"])
def test_a_target_that_does_not_move_has_the_bits_of_a_servo(name):
    model, q, v, joints = resting(name)
    q = sk.assemble(model, q).q if name == "four_bar" else q
    still = {"amplitude": 0.0, "frequency": 1.0, "offset": 0.3}
    ends = []
    for kind, target in ((Servo, {"target": 0.3}), (TrackingServo, still)):
        servos = [
            kind(joint, kp=4.0, kd=0.2, ki=1.0, limit=2.0,
                 gravity_compensation=joint not in model.mimics, **target)
            for joint in joints
        ]  # fmt: skip
        run = sk.simulate(model, q, v, duration=0.1, dt=2e-3, elements=servos)
        ends.append((run.q, run.v))
    assert (ends[0][0] == ends[1][0]).all()
    assert (ends[0][1] == ends[1][1]).all()


def test_an_arm_goes_through_its_way_points():
    model = sk.load(FOLDER / "models" / "seven_joint_arm.toml")
    inertia = np.diag(sk.mass_matrix(model, model.neutral()))
    servos = [
        TrackingServo(name, kp=2500.0 * m, kd=100.0 * m, gravity_compensation=True,
                      times=(0.0, 1.0, 2.0), positions=(0.0, 0.4, 0.1), between="minimum_jerk")
        for name, m in zip(model.joint_names, inertia, strict=True)
    ]  # fmt: skip
    run = sk.simulate(model, model.neutral(), np.zeros(7), duration=2.0, dt=1e-3, elements=servos)
    there = np.searchsorted(run.t, 1.0 - 1e-9)
    assert np.abs(run.q[there] - 0.4).max() < 0.02
    assert np.abs(run.q[-1] - 0.1).max() < 0.02


# ---- scenarios, lanes, resumed runs -------------------------------------------------------------

SCENARIO = """
duration = 0.3
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
TARGET
[integrator]
method = "METHOD"
dt = 1e-3
"""
IN_FILES = {
    "table": "times = [0.0, 0.1, 0.25]\npositions = [0.0, 0.3, -0.2]",
    "wave": "amplitude = 0.5\nfrequency = 2.0",
}


def scenario(target="table", method="rk4", more="", **numbers):
    text = SCENARIO.replace("TARGET", f"{IN_FILES[target]}\n{more}").replace("METHOD", method)
    for given, value in numbers.items():
        old = next(x for x in text.splitlines() if x.startswith(f"{given} ="))
        text = text.replace(old, f"{given} = {value}")
    return parse_scenario(text, FOLDER)


def swept(base, path, values, folder):
    found = sk.sweep(
        base, {f"controllers.lift.{path}": values}, out=folder / "sweep.h5", engine="in-process",
        metrics={"far": {"of": "q.elbow", "kind": "final"}},
    )  # fmt: skip
    return found.metric("far")


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "implicit_contact"])
@pytest.mark.parametrize(
    ("target", "key"), [("table", "kp"), ("wave", "amplitude"), ("wave", "frequency")]
)
def test_a_sweep_in_lanes_has_the_bits_of_runs_by_themselves(target, key, method, tmp_path):
    values = np.linspace(0.1, 3.0, 11).tolist()
    far = swept(scenario(target, method), key, values, tmp_path)
    alone = [run_scenario(scenario(target, method, **{key: x}), None).q[-1, 1] for x in values]
    assert (far == alone).all()
    assert len(set(alone)) == len(values)


@pytest.mark.parametrize(("key", "i", "values"), [
    ("positions", 1, [0.1, 0.2, 0.4]), ("times", 1, [0.05, 0.12, 0.2]),
])  # fmt: skip
def test_a_sweep_of_one_number_of_a_table(key, i, values, tmp_path):
    far = swept(scenario(), f"{key}.{i}", values, tmp_path)
    table = {"positions": [0.0, 0.3, -0.2], "times": [0.0, 0.1, 0.25]}[key]
    rows = [[*table[:i], x, *table[i + 1 :]] for x in values]
    assert (far == [run_scenario(scenario(**{key: x}), None).q[-1, 1] for x in rows]).all()


def test_a_sweep_with_a_target_that_is_too_fast_is_refused(tmp_path):
    base = scenario("wave", more="max_speed = 3.0", amplitude=0.1)
    with pytest.raises(sk.ScenarioError, match=r"run 3: .* moves at 5.02655 at t = 0 s"):
        swept(base, "amplitude", [0.1, 0.2, 0.3, 0.4], tmp_path)


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_interrupted_runs_go_on_to_the_same_bits(method, tmp_path):
    model, zero = sk.examples.pendulum(2), np.zeros(2)
    forces = [
        Forces(elements=(TrackingServo("link1", 9.0, 1.0, 2.0, times=(0.0, x), positions=(0, 1)),))
        for x in (0.15, 0.16)
    ]
    settings = IntegratorSettings(method=method, dt=1e-3)
    plan, other = (Plan(model, zero, zero, 0.2, settings, each, 2) for each in forces)
    whole = session.run(plan, tmp_path / "whole.h5")
    stops = iter([False, True])

    def stop(engine, seconds):
        if next(stops, False):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run(plan, tmp_path / "cut.h5", progress=stop, chunk=40)
    again = session.resume(plan, tmp_path / "cut.h5")
    assert (np.asarray(again.q) == np.asarray(whole.q)).all()
    assert other.identity()["forces"] != plan.identity()["forces"]


# ---- limits of speed, and faults ----------------------------------------------------------------


@pytest.mark.parametrize("which", TARGETS)
def test_a_target_that_is_too_fast_is_refused_with_the_time(which):
    t = np.linspace(0.0, 0.4 if which == "sinusoid" else 1.4, 14001)
    speeds = np.abs([target_of(which, float(x))[1] for x in t])
    top = float(speeds.max())
    allowed, slow = (
        Forces(elements=(TrackingServo("hinge", 1.0, max_speed=x * top, **TARGETS[which]),))
        for x in (1.001, 0.999)
    )
    pack_forces(MODEL, allowed)
    with pytest.raises(sk.ModelError) as error:
        pack_forces(MODEL, slow)
    said = str(error.value)
    found, when = said.split("moves at ")[1].split(" at t = ")
    assert float(found) == pytest.approx(top, rel=1e-5)
    assert float(when.split(" s, and max_speed")[0]) == pytest.approx(t[speeds.argmax()], abs=2e-3)


def test_least_jerk_may_go_as_fast_as_it_does():
    fast = TrackingServo("hinge", 1.0, times=(0.0, 2.0), positions=(0.0, 1.0), max_speed=0.9375)
    pack_forces(MODEL, Forces(elements=(fast,)))


FAULTS = [
    ({}, "it has no target; give times and positions, or amplitude and frequency"),
    ({"times": (0, 1)}, "it has times and no positions; give positions, too"),
    ({"positions": (0, 1)}, "it has positions and no times; give times, too"),
    ({"amplitude": 1.0}, "it has amplitude and no frequency; give frequency, too"),
    ({"frequency": 1.0}, "it has frequency and no amplitude"),
    ({**TARGETS["spline"], "phase": 1.0}, "it has times and positions, and phase of a sinusoid"),
    ({**TARGETS["spline"], **TARGETS["sinusoid"]}, "give one target, a table or a sinusoid"),
    ({"times": (0, 1), "positions": (1, 2, 3)}, "it has 2 times and 3 positions"),
    ({"times": (0, 0), "positions": (1, 2)}, "each later than the one before"),
    ({"times": np.array([0, 1]), "positions": np.array([1, math.nan])}, "positions"),
    ({**TARGETS["spline"], "between": "minimum_jrk"}, "did you mean 'minimum_jerk'"),
    ({**TARGETS["sinusoid"], "max_speed": 0.0}, "max_speed is 0.0; give a number above 0"),
    ({**TARGETS["sinusoid"], "joint": "adrift"}, "'adrift' is free with 6 degrees of freedom"),
]


@pytest.mark.parametrize(("given", "said"), FAULTS)
def test_faults_are_refused_in_words(given, said):
    servo = TrackingServo(**{"joint": "hinge", "kp": 1.0, **given})
    with pytest.raises(sk.ModelError) as error:
        pack_forces(MODEL, Forces(elements=(servo,)))
    assert len(error.value.faults) == 1
    assert said in str(error.value)


def test_a_mimic_joint_leaves_weight_to_its_source():
    servo = TrackingServo("finger2", 1.0, **TARGETS["spline"], gravity_compensation=True)
    with pytest.raises(sk.ModelError, match="which carries the weight of both"):
        pack_forces(gripper(), Forces(elements=(servo,)))


@pytest.mark.parametrize(("given", "said"), [
    ({"more": "max_speed = 2.0"}, r"controllers.lift has a target that moves at .* at t = "),
    ({"positions": "[0, 1]"}, "controllers.lift has 3 times and 2 positions"),
    ({"positions": '"up"'}, "controllers.lift.positions is"),
    ({"times": "[3, 2, 1]", "more": "max_speed = 2.0"}, "controllers.lift.times is"),
    ({"target": "wave", "frequency": -1.0, "more": "max_speed = 2.0"}, "lift.frequency is -1.0"),
    ({"more": "frequency = 1.0"}, "give one target"),
])  # fmt: skip
def test_files_are_told_the_same(given, said):
    with pytest.raises(sk.ScenarioError, match=said) as error:
        scenario(**given)
    assert len(error.value.faults) == 1
