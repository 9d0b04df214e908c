"""Sweep metrics of contact points: of each run alone and side by side the same, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from test_contact_scenarios import BALL, FOLDER

CUBE = BALL.replace('type = "sphere"', 'type = "box"').replace(
    "radius = 0.1", "size = [0.2, 0.2, 0.2]"
)
GRID = {
    "contacts.skin.friction": [0.0, 0.1, 0.6],  # without friction a point has no bristle
    "contacts.skin.stiffness": [1e4, 2e4],
    "ground.floor.normal.x": [0.0, 0.2],
}
KINDS = ("min", "max", "mean", "final")


def metrics_of(label):
    found = {
        f"{look}_{kind}": {"of": f"contact.{label}.{look}", "kind": kind}
        for look in ("force", "gap", "slip")
        for kind in KINDS
    }
    found["touch"] = {"of": f"contact.{label}.gap", "kind": "crossing", "level": 0.0}
    found["z"] = {"of": "position.ball.z", "kind": "final"}
    found["energy"] = {"of": "energy", "kind": "final"}
    found["lost"] = {"of": "contact_loss", "kind": "final"}
    return found


def of_log(log, label):
    """(force, gap, slip) of every row, from the channel."""
    p = log.labels("contact_gap")["contact"].index(label)
    x, y, z = log["contact_force"][:, p].T
    return {
        "force": np.sqrt(x * x + y * y + z * z),
        "gap": log["contact_gap"][:, p],
        "slip": log["contact_slip"][:, p],
    }


def swept(text, tmp_path, metrics, grid=GRID):
    looks = "interval = 1e-3" if "rtol" in text else "every = 1"
    output = f'[output]\n{looks}\nchannels = ["contacts"]\n' if "[contacts" in text else ""
    scenario = parse_scenario(text + output, FOLDER)
    return sk.sweep(scenario, grid, out=tmp_path / "s.h5", metrics=metrics, engine="in-process")


def logged(done, run):
    return run_scenario(parse_scenario(done.scenario_text(run), FOLDER), None)


@pytest.mark.parametrize("method", ["rk4", "implicit_contact", "dormand_prince"])
@pytest.mark.parametrize(("text", "label"), [(BALL, "ball/floor"), (CUBE, "ball/floor.3")])
def test_metrics_of_contacts_are_those_of_each_log(method, text, label, tmp_path):
    text = text.replace("[integrator]", f'[integrator]\nmethod = "{method}"')
    if method == "dormand_prince":
        text = text.replace("dt = 5e-4", "rtol = 1e-8")
    done = swept(text, tmp_path, metrics_of(label))
    assert done.counts()["finished"] == 12
    for run in range(0, 12, 1 if method == "rk4" else 5):
        alone = logged(done, run)
        for look, values in of_log(alone.trajectory, label).items():
            own = {"min": values.min(), "max": values.max(), "final": values[-1]}
            for kind, value in own.items():
                assert done.metric(f"{look}_{kind}")[run] == value, (run, look, kind)
            assert done.metric(f"{look}_mean")[run] == pytest.approx(values.mean(), rel=1e-12)
        assert done.metric("z")[run] == alone.q[-1, 6]
        assert done.metric("lost")[run] == alone.summary["contact_loss"]
        assert done.metric("energy")[run] == alone.summary["energy_end"]
    assert done.metric("force_max").min() > 0.0 == done.metric("force_min").max()
    assert done.metric("gap_min").max() < 0.0 < done.metric("touch").min()
    assert done.metric("slip_max").max() > 0.0


def test_metrics_of_contacts_take_mimic_joints(tmp_path):
    """Legs that move alike: the state is shorter than that of every joint."""
    text = """
duration = 0.2
[model]
bodies.trunk = { parent = "world", joint = { type = "prismatic", axis = [0, 0, 1] }, mass = 2.0, inertia = [0.1, 0.1, 0.1] }
bodies.left = { parent = "trunk", joint = { type = "revolute", axis = [0, 1, 0] }, translation = [0.2, 0, 0], mass = 0.5, com = [0, 0, -0.1], inertia = [0.01, 0.01, 0.01] }
bodies.right = { parent = "trunk", joint = { type = "revolute", axis = [0, 1, 0], mimic = { joint = "left", multiplier = -1 } }, translation = [-0.2, 0, 0], mass = 0.5, com = [0, 0, -0.1], inertia = [0.01, 0.01, 0.01] }
[initial.q]
trunk = 0.25
left = 0.3
[shapes.toe_left]
body = "left"
type = "sphere"
radius = 0.02
translation = [0, 0, -0.2]
[shapes.toe_right]
body = "right"
type = "sphere"
radius = 0.02
translation = [0, 0, -0.2]
[ground.floor]
type = "half_space"
[contacts.toes]
a = ["left", "right"]
b = "floor"
stiffness = 2e4
dissipation = 1.0
friction = 0.3
[integrator]
method = "rk4"
dt = 5e-4
"""  # fmt: skip  # noqa: E501
    grid = {"contacts.toes.friction": [0.1, 0.2, 0.3], "bodies.trunk.mass": [2.0, 3.0]}
    named = {
        "force": {"of": "contact.right/floor.force", "kind": "max"},
        "slip": {"of": "contact.right/floor.slip", "kind": "max"},
    }
    done = swept(text, tmp_path, named, grid)
    for run in range(6):
        log = of_log(logged(done, run).trajectory, "right/floor")
        assert done.metric("force")[run] == log["force"].max() > 0.0
        assert done.metric("slip")[run] == log["slip"].max() > 0.0


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("contact.ball/flor.force", "use contact.LABEL with one of .force, .gap, .slip and one of "
         "ball/floor."),
        ("contact.ball/floor.power", "one of .force, .gap, .slip and one of ball/floor."),
    ],
)  # fmt: skip
def test_a_contact_that_is_not_there_is_refused_with_those_that_are(of, words, tmp_path):
    with pytest.raises(sk.ScenarioError) as caught:
        swept(BALL, tmp_path, {"one": {"of": of, "kind": "max"}})
    assert words in str(caught.value)
    assert repr(of) in str(caught.value)
    assert "sweep.metrics.one.of" in str(caught.value)


def test_a_run_without_contacts_says_so(tmp_path):
    text = BALL[: BALL.index("[contacts.skin]")] + BALL[BALL.index("[integrator]") :]
    with pytest.raises(sk.ScenarioError, match="this run has no contacts"):
        swept(text, tmp_path, {"one": {"of": "contact.ball/floor.gap", "kind": "min"}},
              {"bodies.ball.mass": [1.0, 2.0]})  # fmt: skip
