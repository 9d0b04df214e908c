"""Momentum in the accounts of a run: balanced where a system floats freely, else not claimed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io.trajectory import open as open_trajectory
from skodyn.simulation import Forces, JointProperties, PointSpring, Servo, Wrench, simulate
from skodyn.simulation.engine import Engine
from skodyn.simulation.methods import METHODS
from skodyn.simulation.monitors import momentum_obstacle, snapshot, turning_obstacle
from skodyn.simulation.settings import IntegratorSettings

ACCOUNTS = ("linear_momentum_imbalance", "angular_momentum_imbalance", "momentum_note")


def floater(gravity=(0.0, 0.0, 0.0), base=None):
    """A free base with a hinged and a ball-jointed limb, and a second free body beside it."""
    b = sk.ModelBuilder(gravity=gravity)
    b.add_body("base", joint=base or sk.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    b.add_body("arm", "base", sk.Spherical(), translation=(0.3, 0, 0), mass=1.0,
               com=(0, 0.2, -0.4), inertia=(0.1, 0.12, 0.05))  # fmt: skip
    b.add_body("fin", "base", sk.Revolute((0, 1, 1), armature=0.03), translation=(0, 0.2, 0),
               mass=0.5, com=(0.1, 0, -0.2), inertia=(0.02, 0.02, 0.01))  # fmt: skip
    b.add_body("stone", joint=sk.Free(), mass=0.7, inertia=(0.01, 0.02, 0.02))
    return b.build()


INSIDE = {
    "joints": {"fin": JointProperties(stiffness=3.0, damping=0.2, friction=0.1)},
    "elements": [
        Servo("fin", kp=2.0, kd=0.1, target=0.4, gravity_compensation=True),
        PointSpring("arm", "stone", stiffness=4.0, damping=0.1, point_a=(0, 0, -0.3), length=0.5),
    ],
}


def run(model, method="rk4", duration=1.0, dt=2e-3, **acting):
    q, v = model.random_state(np.random.default_rng(8))
    return simulate(model, q, v, duration=duration, dt=dt, integrator=method, **acting)


def accounts(model=None, **more):
    summary = run(model or floater(), **more).summary
    return [summary[name] for name in ACCOUNTS]


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.5, 0.0, -9.81)])
@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_forces_inside_and_gravity_leave_both_momenta_balanced(method, gravity):
    linear, angular, note = accounts(model=floater(gravity), method=method, **INSIDE)
    assert note == ""
    assert 0.0 <= linear < 1e-8
    assert 0.0 <= angular < 1e-8


def test_a_coarse_method_shows_its_drift():
    for dt, floor in ((2e-3, 1e-6), (2e-2, 1e-5)):
        linear, angular, _ = accounts(method="semi_implicit_euler", dt=dt, **INSIDE)
        assert linear > floor
        assert angular > floor


def test_a_wrench_in_world_axes_is_an_impulse_and_ends_the_angular_account():
    wrench = Wrench("arm", force=(1.0, -2.0, 0.5), point=(0, 0, 1))
    linear, angular, note = accounts(elements=[wrench, *INSIDE["elements"]])
    assert linear < 1e-8
    assert angular is None
    assert note == "a wrench acts on body 'arm'"


def idle(t, q, v, p, tau):
    tau[0] += 0.0


@pytest.mark.parametrize(
    ("words", "acting"),
    [
        ("'base' is fixed to the world", {"model": floater(base=sk.Spherical())}),
        ("'base' to the world has a rotor", {"model": floater(base=sk.Free(armature=0.1))}),
        ("'base' to the world has forces", {"joints": {"base": JointProperties(damping=0.1)}}),
        ("a controller may apply an external force", {"controller": idle}),
        ("a spring is tied to the world", {"elements": [PointSpring("arm", "world", 1.0)]}),
        ("turns with body 'fin'", {"elements": [Wrench("fin", force=(0, 0, 1), frame="body")]}),
    ],
)
def test_what_pushes_from_outside_is_named_and_momentum_left_out(words, acting):
    linear, angular, note = accounts(duration=0.02, **acting)
    assert (linear, angular) == (None, None)
    assert words in note


def test_a_moment_alone_leaves_the_linear_account():
    forces = Forces(elements=(Wrench("arm", moment=(0, 0, 1), frame="body"),))
    assert momentum_obstacle(floater(), forces) == ""
    assert "'arm'" in turning_obstacle(floater(), forces)


@pytest.mark.parametrize("seed", range(5))
def test_no_momentum_is_larger_than_the_largest(seed):
    model = floater()
    q, v = model.random_state(np.random.default_rng(seed))
    taken = snapshot(Engine(model, q, v, 1.0, IntegratorSettings()))
    momentum = sk.momentum(model, q, v, about="com")
    assert taken.angular == tuple(momentum[:3])
    assert taken.linear == tuple(momentum[3:])
    assert np.linalg.norm(taken.angular) <= taken.largest[0]
    assert np.linalg.norm(taken.linear) <= taken.largest[1]


def test_the_largest_is_reached_by_bodies_that_move_as_one():
    model = floater()
    v = np.zeros(model.nv)
    for joint in ("base", "stone"):
        v[model.v_slice(joint)][3:] = (1.0, 2.0, 3.0)
    taken = snapshot(Engine(model, model.neutral(), v, 1.0, IntegratorSettings()))
    assert np.linalg.norm(taken.linear) == pytest.approx(taken.largest[1], rel=1e-14)


FREE = """
duration = 0.2
[model]
gravity = [0, 0, -9.81]
[model.bodies.stone]
parent = "world"
joint = { type = "free" }
mass = 2
inertia = [0.1, 0.2, 0.25]
[initial.v]
stone = [1, 2, 3, 4, 5, 6]
[integrator]
method = "rk4"
dt = 0.001
"""


def test_run_info_json_and_log_tell_it(tmp_path, capsys):
    scenario, log = tmp_path / "s.toml", str(tmp_path / "s.h5")
    scenario.write_text(FREE)
    assert main(["run", str(scenario), "-o", log, "--quiet"]) == 0
    words = "momentum: linear: error "
    assert any(line.startswith(words) for line in capsys.readouterr().out.splitlines())
    assert main(["info", log]) == 0
    assert words in capsys.readouterr().out
    assert main(["info", log, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["summary"]
    kept = open_trajectory(log).summary
    for name in ACCOUNTS:
        assert told[name] == kept[name]
    assert kept["linear_momentum_imbalance"] < 1e-12
    assert kept["angular_momentum_imbalance"] < 1e-10


def test_every_method_tells_it():
    for method in METHODS:
        assert accounts(method=method, duration=0.02)[2] == ""
