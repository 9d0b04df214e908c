"""Sweep metrics of named frames: of each run alone and side by side the same, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.sweeps.metrics import Metric, check_metrics
from test_contact_scenarios import BALL, FOLDER

ARM = """
duration = 0.1
[model]
bodies.base = { parent = "world", joint = { type = "free" }, mass = 2.0, inertia = [0.1, 0.2, 0.15] }
bodies.upper = { parent = "base", joint = { type = "revolute", axis = [0.6, 0, 0.8] }, translation = [0.2, 0, 0.1], mass = 0.5, com = [0, 0.1, -0.1], inertia = [0.01, 0.01, 0.01] }
bodies.lower = { parent = "upper", joint = { type = "MIMIC" }, translation = [0, 0.3, 0], mass = 0.5, com = [0, 0, -0.1], inertia = [0.01, 0.01, 0.01] }
frames.tool = { body = "lower", translation = [0.1, -0.2, 0.3], rotation = [0.6, 0.8, 0, 0] }
frames.eye = { body = "upper", translation = [0.05, 0.0, 0.07] }
frames.mark = { body = "world", translation = [1.0, 2.0, 3.0] }
[initial.v]
base = [0.3, -0.2, 0.5, 1.0, 0.0, 0.2]
upper = 2.0
[integrator]
method = "rk4"
dt = 1e-3
[output]
every = 1
channels = ["frame_poses"]
"""  # noqa: E501
PLAIN = ARM.replace('type = "MIMIC"', 'type = "revolute", axis = [0, 1, 0]')
MIMIC = ARM.replace(
    'type = "MIMIC"',
    'type = "revolute", axis = [0, 1, 0], mimic = { joint = "upper", multiplier = -0.5 }',
)
GRID = {
    "frames.tool.translation.x": [0.1, 0.25, -0.3],
    "bodies.upper.mass": [0.5, 1.5],
    "bodies.upper.translation.z": [0.1, 0.3],
}
METRICS = {
    f"{frame}_{axis}_{kind}": {"of": f"position.{frame}.{axis}", "kind": kind}
    for frame in ("tool", "eye", "mark")
    for axis in "xyz"
    for kind in ("min", "final")
} | {"base": {"of": "position.base.z", "kind": "final"}, "E": {"of": "energy", "kind": "final"}}


def swept(text, tmp_path, metrics=METRICS, grid=GRID):
    scenario = parse_scenario(text, FOLDER)
    return sk.sweep(scenario, grid, out=tmp_path / "s.h5", metrics=metrics, engine="in-process")


def check(done, run, metrics=METRICS):
    alone = run_scenario(parse_scenario(done.scenario_text(run), FOLDER), None)
    log = alone.trajectory
    names = log.labels("frame_positions")["frame"]
    for name, entry in metrics.items():
        _, frame, axis = (*entry["of"].split("."), "", "")[:3]
        if frame in names:
            x = log["frame_positions"][:, names.index(frame), "xyz".index(axis)]
            value = {"min": x.min(), "final": x[-1]}[entry["kind"]]
            assert done.metric(name)[run] == value, (run, name)
    return alone


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
@pytest.mark.parametrize("text", [PLAIN, MIMIC], ids=["plain", "mimic"])
def test_metrics_of_frames_are_those_of_each_log(text, method, tmp_path):
    if method == "dormand_prince":
        text = text.replace('"rk4"\ndt = 1e-3', '"dormand_prince"\nrtol = 1e-8')
        text = text.replace("every = 1", "interval = 1e-3")
    done = swept(text, tmp_path)
    assert done.counts()["finished"] == 12
    for run in range(0, 12, 1 if method == "rk4" else 5):
        alone = check(done, run)
        assert done.metric("base")[run] == alone.q[-1, 6]
    assert len(np.unique(done.metric("tool_x_final"))) == 12
    assert (done.metric("mark_y_min") == 2.0).all()


def test_frames_that_springs_hold_may_move_too(tmp_path):
    """Then the same parameter stands at two places of the packed arrays."""
    spring = '[forces.hold]\ntype = "point_spring"\nbody_a = "world"\nbody_b = "tool"\n'
    spring += "stiffness = 50.0\n"
    done = swept(PLAIN + spring, tmp_path)
    for run in range(12):
        check(done, run)


def test_frames_beside_contacts(tmp_path):
    head = '[model]\nframes.top = { body = "ball", translation = [0.02, 0, 0.1] }\n'
    assert "[model]\n" in BALL
    text = BALL.replace("[model]\n", head)
    text += '[output]\nevery = 1\nchannels = ["contacts", "frame_poses"]\n'
    metrics = {
        "top": {"of": "position.top.x", "kind": "final"},
        "push": {"of": "contact.ball/floor.force", "kind": "max"},
        "low": {"of": "position.top.z", "kind": "min"},
    }
    grid = {"contacts.skin.friction": [0.1, 0.6], "frames.top.translation.x": [0.02, 0.05, 0.0]}
    done = swept(text, tmp_path, metrics, grid)
    for run in range(6):
        log = check(done, run, metrics).trajectory
        x, y, z = log["contact_force"][:, 0].T
        assert done.metric("push")[run] == np.sqrt(x * x + y * y + z * z).max() > 0.0


def test_a_name_that_is_neither_body_nor_frame_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(sk.ScenarioError, match=r"position\.tol\.x.*position\.tool\.x"):
        swept(PLAIN, tmp_path, {"one": {"of": "position.tol.x", "kind": "max"}})


def test_frames_of_flexible_models_are_refused_by_name():
    b = sk.ModelBuilder()
    section = {"mass_per_length": 0.5, "bending_stiffness": 30.0, "rotary_inertia": 1e-3}
    beam = sk.Beam(2.0, **section, modes={"y": 1})
    b.add_body("hub", joint=sk.Revolute(axis=(0, 0, 1)), mass=2.0, inertia=(1, 1, 1))
    b.add_body("boom", "hub", joint=sk.Revolute(axis=(0, 0, 1)), flexible=beam)
    b.add_frame("eye", "boom", at="tip")  # frames at nodes are bodies there
    b.add_frame("mark", "hub", translation=(0.1, 0, 0))
    wanted = {"one": Metric("max", "position.mark.x"), "fine": Metric("max", "position.eye.x")}
    (fault,) = check_metrics(wanted, b.build(), FOLDER)
    assert "flexible bodies have no positions of frames as metrics" in str(fault)
    assert fault.path == ("sweep", "metrics", "one", "of")


def test_the_channel_of_frames_is_drawn():
    from skodyn.view.signals import families

    run = run_scenario(parse_scenario(PLAIN, FOLDER), None)
    found = {f.channel: f for f in families(run.trajectory)}["frame_positions"]
    assert found.unit == "m"
    assert found.names[:3] == ("tool.x", "tool.y", "tool.z")
    where = run.trajectory["frame_positions"][:, 1, 2]
    assert (found.values[:, found.names.index("eye.z")] == where).all()
    (alone,) = families(run.trajectory, channels=["frame_poses"])
    assert alone.channel == "frame_positions"
