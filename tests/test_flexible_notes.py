"""What is said of flexible bodies before and after a run: by `simulate`, `run` and `info`."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main

BOOM = """
name = "boom"
gravity = [0, 0, 0]

[bodies.boom]
parent = "world"
joint = { type = "revolute", axis = [0, 0, 1], name = "pin" }

[bodies.boom.flexible]
beam = { length = 1.0, mass_per_length = 0.27, bending_stiffness = 0.66, rotary_inertia = 1e-6 }
modes = { y = 4 }
"""
RUN = """
duration = 0.02

[model]
file = "boom.toml"

[integrator]
method = "METHOD"
dt = DT

[forces.push]
type = "wrench"
body = "boom"
node = "tip"
force = [0, 1e-6, 0]
"""
LOAD = (
    "a force acts at node 'tip' of body 'boom': its static shape is not among the modes; "
    'add loaded = ["tip"]'
)


def boom(*, loaded=(), carries=None, joint=None, frame=None):
    beam = sk.Beam(
        1.0, mass_per_length=0.27, bending_stiffness=0.66, rotary_inertia=1e-4, modes={"y": 2},
        nodes={"middle": 0.5, "half": 0.5, "start": 0.0, "end": 1.0}, loaded=loaded,
    )  # fmt: skip
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("boom", joint=joint or sk.Revolute(axis=(0, 0, 1)), flexible=beam)
    if carries:
        builder.add_body("load", "boom", at=carries, mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
    if frame:
        builder.add_frame("eye", "boom", at=frame)
    return builder.build()


def notes(model, *elements):
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=2e-3, dt=1e-3,
        integrator="implicit_midpoint", elements=elements,
    )  # fmt: skip
    return run.summary["warnings"]


def push(node="", body="boom"):
    return sk.Wrench(body, force=(0, 1e-6, 0), node=node)


def test_a_force_at_a_node_without_static_shapes_is_noted_once():
    model = boom()
    assert notes(model, push("tip"), push("tip")) == [LOAD]
    assert notes(model) == []
    both = notes(model, push("tip"), push("middle"))
    assert len(both) == 2
    assert both[0] == LOAD
    assert "node 'middle' of body 'boom'" in both[1]
    assert both[1].endswith('add loaded = ["middle"]')
    assert notes(boom(joint=sk.Free()), push("tip")) == [LOAD]


def test_both_ends_of_springs_are_looked_at():
    model = boom()
    for ends in (
        {"body_a": "boom", "node_a": "tip", "body_b": "world"},
        {"body_a": "world", "body_b": "boom", "node_b": "tip"},
    ):
        assert notes(model, sk.PointSpring(**ends, stiffness=1e-3)) == [LOAD]


def test_a_frame_at_a_node_is_that_node():
    assert notes(boom(frame="tip"), push(body="eye")) == [LOAD]
    assert notes(boom(frame="tip", loaded=["tip"]), push(body="eye")) == []
    assert notes(boom(frame="root"), push(body="eye")) == []


@pytest.mark.parametrize(
    ("given", "node"),
    [
        ({"loaded": ["tip"]}, "tip"),
        ({"loaded": ["tip"]}, "end"),  # at the same place
        ({"carries": "tip"}, "tip"),
        ({"carries": "half"}, "middle"),
        ({}, "root"),
        ({}, "start"),
    ],
)
def test_nodes_with_static_shapes_are_not_noted(given, node):
    assert notes(boom(**given), push(node)) == []


def test_bodies_that_came_with_their_modes_are_not_judged():
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("boom", flexible=boom().flexible["boom"])
    assert notes(builder.build(), push("tip")) == []


def files(folder, method, dt, loaded=""):
    (folder / "boom.toml").write_text(BOOM + loaded)
    (folder / "run.toml").write_text(RUN.replace("METHOD", method).replace("DT", str(dt)))
    return str(folder / "run.toml"), str(folder / "run.h5")


def said(capsys, scenario, log, *more):
    assert main(["run", scenario, "-o", log, "--overwrite", *more]) == 0
    return capsys.readouterr().err


def test_run_prints_notes_before_it_begins(tmp_path, capsys, monkeypatch):
    scenario, log = files(tmp_path, "rk4", 0.01)
    err = said(capsys, scenario, log)
    assert err.count(f"note: {LOAD}\n") == 1
    step = "note: dt = 0.01 s is too long for rk4 with vibrations of "
    assert err.count(step) == 1
    assert "or implicit_midpoint\n" in err
    assert LOAD in sk.open(log).summary["warnings"]
    assert "note:" not in said(capsys, scenario, log, "--quiet")

    def stop(*_, **__):
        raise sk.SkodynError("here the run would begin")

    monkeypatch.setattr("skodyn.scenario.running.run_scenario", stop)
    assert main(["run", scenario, "-o", log, "--overwrite"]) == 2
    err = capsys.readouterr().err
    assert -1 < err.index(LOAD) < err.index(step) < err.index("here the run would begin")


@pytest.mark.parametrize(("method", "dt"), [("rk4", 0.002), ("implicit_midpoint", 0.01)])
def test_run_prints_nothing_where_nothing_is_wrong(tmp_path, capsys, method, dt):
    scenario, log = files(tmp_path, method, dt, 'loaded = ["tip"]\n')
    assert "note:" not in said(capsys, scenario, log)
    assert sk.open(log).summary["warnings"] == []


def test_info_says_the_step_that_the_note_asks_for(tmp_path, capsys):
    scenario, log = files(tmp_path, "rk4", 0.01)
    err = said(capsys, scenario, log)
    longest = err.split("use dt up to ")[1].split(" s,")[0]
    assert main(["info", str(tmp_path / "boom.toml")]) == 0
    out = capsys.readouterr().out
    assert f"RK4 up to {longest} s" in out
