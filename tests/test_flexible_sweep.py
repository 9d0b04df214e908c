"""Sweeps of models with flexible bodies: in lanes, each run with the bits of the run alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.sweeps import lane_batch

TEXT = """
title = "boom"
duration = 0.03
[integrator]
method = "METHOD"
dt = 0.001
[initial.q]
root = 0.4
"boom.y1" = 0.02
[initial.v]
root = 1.5
[model]
gravity = [0, -9.81, 0]
[model.bodies.boom]
parent = "world"
joint = { type = "revolute", axis = [0, 0, 1], name = "root" }
[model.bodies.boom.flexible]
beam = { length = 1.0, mass_per_length = 0.5, bending_stiffness = [8.0, 6.0], rotary_inertia = [1e-4, 1e-4] }
modes = { y = 2, z = 1 }
damping = 0.02
[model.bodies.camera]
parent = "boom"
at = "tip"
joint = { type = "revolute", axis = [0, 1, 0], name = "tilt" }
mass = 0.1
inertia = [[1e-3, 0, 0], [0, 1e-3, 0], [0, 0, 1e-3]]
"""  # noqa: E501
METRICS = {
    "energy": {"of": "energy", "kind": "final"},
    "drift": {"kind": "energy_drift"},
    "highest": {"of": "position.camera.y", "kind": "max"},
    "bent": {"of": "q.boom.y1", "kind": "final"},
    "com": {"of": "com.x", "kind": "final"},
}
BEAM = "bodies.boom.flexible.beam"
PATHS = {
    f"{BEAM}.bending_stiffness.y": [6.0, 7.0, 8.0, 9.0, 10.0],
    f"{BEAM}.length": [0.8, 0.9, 1.0, 1.1, 1.2],
    "bodies.boom.flexible.damping": [0.0, 0.01, 0.02, 0.04, 0.3],
    "bodies.camera.mass": [0.05, 0.1, 0.15, 0.2, 0.25],
    "initial.q.root": [0.1, 0.2, 0.3, 0.4, 0.5],
}


@pytest.fixture
def counted(monkeypatch):
    """How many runs each register loop was given; that no run goes alone."""
    sizes = []
    whole = lane_batch.LaneBatch.__init__

    def count(self, runs, metrics):
        sizes.append(len(runs))
        whole(self, runs, metrics)

    monkeypatch.setattr(lane_batch.LaneBatch, "__init__", count)
    return sizes


def check_run(study, i):
    """Run i by itself, read in full: its metrics to the bit; (model, run)."""
    scenario = study.packer.scenario(study.points[i])
    alone = sk.run(scenario)
    model, q, v = scenario.model, alone.q[-1], alone.v[-1]
    assert study.metric("bent")[i] == q[model.mode_slice("boom")][0]
    kinetic, potential = sk.energy(model, q, v)
    assert study.metric("energy")[i] == kinetic + potential
    heights = sk.forward_kinematics(model, alone.q)[1][:, model.body_index("camera"), 1]
    assert study.metric("highest")[i] == heights.max()
    assert study.metric("com")[i] == sk.center_of_mass(model, q)[0]
    return model, alone


def swept(folder, values, method="rk4", more=""):
    path = folder / "boom.toml"
    text = TEXT.replace("METHOD", method) + more
    if method == "dormand_prince":
        text = text.replace("dt = 0.001", "rtol = 1e-6")
    path.write_text(text)
    return sk.sweep(path, values, workers=1, engine="in-process", metrics=METRICS)


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
@pytest.mark.parametrize("path", PATHS)
def test_runs_share_registers_and_keep_their_bits(path, tmp_path, counted):
    study = swept(tmp_path, {path: PATHS[path]})
    assert counted == [5]
    assert study.finished.all()
    assert len(np.unique(study.metric("bent"))) == 5  # each value has its effect
    for i in range(5):
        _, alone = check_run(study, i)
        assert_array_equal(study.q[i], alone.q[-1])
        assert_array_equal(study.v[i], alone.v[-1])
    if not path.endswith("damping"):
        assert study.metric("drift").max() < 2e-2


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
def test_implicit_springs_in_lanes_have_the_bits_of_the_run_alone(tmp_path, counted):
    study = swept(tmp_path, {f"{BEAM}.bending_stiffness.y": [6.0, 8.0, 60.0]}, "implicit_midpoint")
    assert counted == [3]
    for i in range(3):
        assert_array_equal(study.q[i], check_run(study, i)[1].q[-1])


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
def test_runs_with_other_modes_go_in_groups_of_their_own(tmp_path, counted):
    """Final states have the coordinates of the scenario; NaN for modes that a run does not have."""
    grid = {"bodies.boom.flexible.modes.y": [1, 2, 3], "initial.q.root": [0.1, 0.2]}
    study = swept(tmp_path, grid)
    assert sorted(counted) == [2, 2, 2]
    assert study.finished.all()
    for i, modes in enumerate(study.points[:, 0].astype(int)):
        model, alone = check_run(study, i)
        assert model.nq == 3 + modes
        assert study.q[i, 0] == alone.q[-1, 0]
        assert study.q[i, -1] == alone.q[-1, -1]  # the camera's joint
        assert np.isnan(study.q[i]).sum() == (modes == 1)


def test_a_metric_of_a_mode_that_a_run_lacks_refuses_that_run(tmp_path):
    path = tmp_path / "boom.toml"
    path.write_text(TEXT.replace("METHOD", "rk4"))
    metrics = {"second": {"of": "q.boom.y2", "kind": "final"}}
    study = sk.sweep(path, {"bodies.boom.flexible.modes.y": [1, 2]}, workers=1,
                     engine="in-process", metrics=metrics)  # fmt: skip
    assert study.finished.tolist() == [False, True]
    assert "boom.y2" in study.reason(0)


def test_runs_that_choose_their_steps_have_the_same_metrics(tmp_path, counted):
    study = swept(tmp_path, {f"{BEAM}.length": [0.9, 1.1]}, "dormand_prince")
    assert counted == []
    for i in range(2):
        check_run(study, i)


FORCES = """
[forces.push]
type = "wrench"
body = "boom"
node = "tip"
force = [0, 1, 0.5]
moment = [0.01, 0, 0.02]
frame = "FRAME"
[forces.tie]
type = "point_spring"
body_a = "boom"
node_a = "tip"
body_b = "world"
point_b = [1, 1, 0.2]
stiffness = 20.0
damping = 0.1
"""


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
@pytest.mark.parametrize(("frame", "method"), [("world", "rk4"), ("body", "implicit_midpoint")])
def test_forces_at_nodes_go_side_by_side(tmp_path, counted, frame, method):
    varied = {
        "bodies.boom.flexible.damping": [0.0, 0.1],
        "forces.tie.stiffness": [10.0, 20.0],
        "forces.push.force.y": [1.0, 3.0],
    }
    study = swept(tmp_path, varied, method, more=FORCES.replace("FRAME", frame))
    assert counted == [8]
    assert len(np.unique(study.metric("bent"))) == 8  # each value has its effect
    for i in range(8):
        assert_array_equal(study.q[i], check_run(study, i)[1].q[-1])


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
def test_springs_at_nodes_give_in_lanes_what_their_energy_loses(tmp_path, counted):
    """Conservative forces: the work that lanes integrate is that of the run alone, and is what
    `force_energy` falls by."""
    forces = FORCES.replace("FRAME", "world").replace("moment = [0.01, 0, 0.02]\n", "")
    text = TEXT.replace("METHOD", "rk4") + forces.replace("damping = 0.1\n", "")
    path = tmp_path / "boom.toml"
    path.write_text(text.replace("damping = 0.02", "damping = 0.0"))
    metrics = {"work": {"of": "work", "kind": "final"}, "energy": METRICS["energy"]}
    study = sk.sweep(path, {"forces.tie.stiffness": [10.0, 20.0, 40.0]}, workers=1,
                     engine="in-process", metrics=metrics)  # fmt: skip
    assert counted == [3]
    for i in range(3):
        scenario = study.packer.scenario(study.points[i])
        alone = sk.simulate(
            scenario.model, scenario.q0, scenario.v0, duration=0.03, dt=1e-3,
            elements=list(scenario.forces.elements), channels=["energy", "force_energy"],
        )  # fmt: skip
        assert_array_equal(study.q[i], alone.q[-1])
        assert study.metric("work")[i] == alone.summary["work_of_forces"]
        stored = np.asarray(alone.trajectory["force_energy"])
        assert abs(stored[0] - stored[-1]) > 1e-3
        assert study.metric("work")[i] == pytest.approx(stored[0] - stored[-1], rel=1e-6)
        gained = np.asarray(alone.trajectory["energy"]).sum(axis=1)
        assert study.metric("energy")[i] == pytest.approx(gained[-1], rel=1e-14)
