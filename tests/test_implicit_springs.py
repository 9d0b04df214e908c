"""Steps of implicit_midpoint that are long beside the periods of joint springs: the same equations,
solved where the plain iteration cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED

SCENARIOS = Path(__file__).parents[1] / "scenarios"
BEAM = {"length": 1.0, "mass": 0.27, "bending": 0.66}  # of the strip of flexible_pendulum.json
OFF = {"rtol": 0, "atol": 1e-10}


def strip(pieces=20, damping=0.0):
    """A strip on a pin, cut into rigid pieces with springs between them."""
    b, d = sk.ModelBuilder(gravity=(0, -9.81, 0)), BEAM["length"] / pieces
    mass = BEAM["mass"] / pieces
    for k in range(pieces):
        b.add_body(
            f"p{k}", f"p{k - 1}" if k else "world", sk.Revolute(axis=(0, 0, 1)),
            translation=(d if k else 0.0, 0, 0), mass=mass, com=(d / 2, 0, 0),
            inertia=(mass * d * d / 24, mass * d * d / 12, mass * d * d / 12),
        )  # fmt: skip
    model = b.build()
    spring = sk.JointProperties(stiffness=BEAM["bending"] / d, damping=damping)
    return model, dict.fromkeys(model.joint_names[1:], spring)


def fastest(model, joints):
    """ω of the fastest vibration, rad/s."""
    stiffness = np.diag([joints[n].stiffness if n in joints else 0.0 for n in model.joint_names])
    values = np.linalg.eigvals(np.linalg.solve(sk.mass_matrix(model, model.neutral()), stiffness))
    return np.sqrt(values.real.max())


def last(model, joints, dt, duration, q=None, v=None, **more):
    q = model.neutral() if q is None else q
    v = np.zeros(model.nv) if v is None else v
    return sk.simulate(
        model, q, v, duration=duration, dt=dt, integrator="implicit_midpoint", joints=joints,
        channels=["energy"], **more,
    )  # fmt: skip


def total_energy(run, joints):
    """Kinetic, of gravity, and of the springs."""
    t = run.trajectory
    springs = [0.5 * joints[n].stiffness * t.joint(n)[:, 0] ** 2 for n in joints]
    return t["energy"].sum(axis=1) + np.sum(springs, axis=0)


def test_steps_can_be_long_beside_the_periods_of_springs():
    model, joints = strip()
    assert 80 < 0.02 * fastest(model, joints) < 90
    plain = last(model, joints, 0.02, 0.2)
    assert plain.status == "failed"
    run = last(model, joints, 0.02, 2.0, implicit_springs=True)
    assert run.status == "finished"
    energy = total_energy(run, joints)
    assert np.abs(energy - energy[0]).max() < 5e-4


@pytest.mark.parametrize("damping", [0.0, 2e-3])
def test_the_solution_is_that_of_the_plain_iteration(damping):
    model, joints = strip(damping=damping)
    dt = 0.5 / fastest(model, joints)
    plain = last(model, joints, dt, 400 * dt)
    sprung = last(model, joints, dt, 400 * dt, implicit_springs=True)
    assert plain.status == sprung.status == "finished"
    np.testing.assert_allclose(sprung.trajectory.q[-1], plain.trajectory.q[-1], **OFF)
    assert not np.array_equal(sprung.trajectory.q[-1], plain.trajectory.q[-1])


def every_joint():
    """A tree with every kind of joint, rotors, springs where they can be and dampers everywhere."""
    model = sk.load(SCENARIOS / "models" / "every_joint.toml")
    joints = {}
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        springy = joint.type_name not in ("spherical", "free")
        if joint.nv:
            joints[name] = sk.JointProperties(stiffness=3.0 if springy else 0.0, damping=0.2)
    return model, joints


def moving(model, seed):
    q, v = model.random_state(np.random.default_rng(seed))
    return q, 0.3 * v


def mimicking():
    b = sk.ModelBuilder()
    for k, parent in enumerate(("world", "b0", "b1", "b2")):
        b.add_body(
            f"b{k}", parent, sk.Revolute(axis=(0, 1, 0)), translation=(0, 0, -0.3), mass=1 + k,
            com=(0, 0, -0.15), inertia=(0.02,) * 3,
        )  # fmt: skip
    b.add_mimic("b2", "b1", multiplier=-0.7, offset=0.2)
    model = b.build()
    spring = sk.JointProperties(stiffness=3e6, damping=10.0)
    return model, {"b1": spring, "b2": spring, "b3": spring}


def looped():
    model = sk.load(SCENARIOS / "models" / "four_bar.toml")
    spring = sk.JointProperties(stiffness=2.0, damping=0.05)
    return model, dict.fromkeys(model.joint_names, spring)


def test_every_joint_and_rotors_have_the_same_solution():
    model, joints = every_joint()
    q, v = moving(model, 3)
    ends = [
        last(model, joints, 1e-3, 0.1, q, v, implicit_springs=given).trajectory.q[-1]
        for given in (False, True)
    ]
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-11)
    assert not np.array_equal(*ends)


def test_stiff_springs_of_mimic_joints_are_held_and_the_midpoint_rule_is_met():
    model, joints = mimicking()
    q, v, dt = np.array([0.3, 0.2, -0.1]), np.array([0.5, -0.3, 0.2]), 0.01
    assert last(model, joints, dt, dt, q, v).status == "failed"
    t = last(model, joints, dt, dt, q, v, implicit_springs=True).trajectory
    v_middle, q_middle = t.v.mean(axis=0), t.q.mean(axis=0)
    passive = -3e6 * q_middle - 10.0 * v_middle
    follower = -0.7 * q_middle[1] + 0.2, -0.7 * v_middle[1]
    passive[0] = 0.0
    passive[1] += -0.7 * (-3e6 * follower[0] - 10.0 * follower[1])
    vdot = sk.forward_dynamics(model, q_middle, v_middle, passive)
    np.testing.assert_allclose((t.v[1] - t.v[0]) / dt, vdot, rtol=1e-8)


def test_loops_have_the_same_solution():
    model, joints = looped()
    q = sk.assemble(model, model.neutral()).q
    v = sk.project_velocity(model, q, np.ones(model.nv))
    ends = [
        last(model, joints, 1e-3, 0.1, q, v, implicit_springs=given).trajectory.q[-1]
        for given in (False, True)
    ]
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-11)
    assert not np.array_equal(*ends)


def test_rates_in_the_log_are_those_of_the_model_without_springs_in_its_rotors():
    model, joints = strip(pieces=3)
    run = last(model, joints, 2e-3, 0.1, implicit_springs=True)
    plain = sk.simulate(
        model, model.neutral(), np.zeros(3), duration=0.1, dt=2e-3, joints=joints,
        integrator="implicit_midpoint", implicit_springs=True, channels=["vdot", "tau"],
    )  # fmt: skip
    t = plain.trajectory
    np.testing.assert_array_equal(t.q, run.trajectory.q)
    expected = sk.forward_dynamics(model, t.q, t.v, t["tau"])
    np.testing.assert_allclose(t["vdot"], expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_a_step_remembers_nothing_of_the_one_before():
    model, joints = strip(pieces=5)
    q, v = model.neutral(), np.zeros(5)
    whole = last(model, joints, 0.01, 1.0, q, v, implicit_springs=True).trajectory
    half = last(model, joints, 0.01, 0.5, q, v, implicit_springs=True).trajectory
    np.testing.assert_array_equal(whole.q[:51], half.q)
    rest = last(model, joints, 0.01, 0.5, half.q[-1], half.v[-1], implicit_springs=True).trajectory
    np.testing.assert_array_equal(whole.q[50:], rest.q)


SCENARIO = """
duration = 0.5
[model]
file = "pendulum.toml"
[initial.q]
shoulder = 1.0
[joints.elbow]
stiffness = 50.0
damping = 0.01
[integrator]
method = "implicit_midpoint"
dt = 0.01
implicit_springs = true
[sweep.grid]
"joints.elbow.stiffness" = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 2e7]
"joints.elbow.damping" = [0.0, 0.01]
[sweep.metrics]
energy = { of = "energy", kind = "max" }
"""


@pytest.fixture
def folder(tmp_path):
    text = (SCENARIOS / "models" / "double_pendulum.toml").read_text()
    (tmp_path / "pendulum.toml").write_text(text)
    (tmp_path / "study.toml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
def test_runs_in_lanes_have_the_bits_of_runs_alone(folder):
    result = sk.sweep(folder / "study.toml", out=folder / "lanes.h5")
    model = sk.load(folder / "pendulum.toml")
    for run in (0, 7, 12, 17):
        values = result.values(run)
        spring = sk.JointProperties(
            stiffness=values["joints.elbow.stiffness"], damping=values["joints.elbow.damping"]
        )
        alone = last(model, {"elbow": spring}, 0.01, 0.5, [1.0, 0.0], implicit_springs=True)
        np.testing.assert_array_equal(result.q[run], alone.trajectory.q[-1])


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "dormand_prince"])
def test_other_methods_refuse_it(method):
    model, joints = strip(pieces=2)
    with pytest.raises(sk.StateError, match=f"is True, but {method} has no such setting"):
        sk.simulate(model, [0, 0], [0, 0], duration=1, dt=0.1, integrator=method,
                    joints=joints, implicit_springs=True)  # fmt: skip


def test_a_value_that_is_no_truth_is_refused():
    model, joints = strip(pieces=2)
    with pytest.raises(sk.StateError, match="implicit_springs is 'yes'; give true or false"):
        last(model, joints, 0.1, 1.0, implicit_springs="yes")


COUNTED = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import test_implicit_springs as t
from skodyn.simulation.systems import sprung_system

count = [0]
plain = sprung_system.hold_springs

def counting(*given):
    count[0] += 1
    return plain(*given)

sprung_system.hold_springs = counting
model, joints = t.strip()
steps = 5
run = t.last(model, joints, 0.02, 0.02 * steps, implicit_springs=True)
assert run.status == "finished"
print(count[0] / steps)
"""


def test_a_step_takes_few_iterations():
    """Counted without the compiler."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, str(Path(__file__).parent)], capture_output=True, text=True,
        check=False, env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert 1 < float(done.stdout) <= 12
