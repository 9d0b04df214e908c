"""Models with beams that have modes: from files to motions."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk
from skodyn.io.model_record import model_text, read_model

REFERENCE = Path(__file__).parent / "data" / "flexible"
FREQUENCIES = json.loads((REFERENCE / "beam_frequencies.json").read_text())
PENDULUM = json.loads((REFERENCE / "flexible_pendulum.json").read_text())

BOOM = """
name = "boom on a hub"

[bodies.hub]
parent = "world"
joint = { type = "revolute", axis = [0, 0, 1], name = "pin" }
mass = 1.0
inertia = [1, 1, 1]

[bodies.boom]
parent = "hub"

[bodies.boom.flexible]
beam = { length = 5.0, mass_per_length = 2.0, bending_stiffness = [1500.0, 1200.0] }
modes = { y = 3, z = 2 }
damping = 0.005

[bodies.boom.flexible.nodes]
middle = 0.5

[bodies.camera]
parent = "boom"
at = "tip"
mass = 0.1
inertia = [1e-3, 1e-3, 1e-3]

[frames.lamp]
body = "boom"
at = "middle"
translation = [0, 0.1, 0]
"""


@pytest.fixture
def boom(tmp_path):
    path = tmp_path / "boom.toml"
    path.write_text(BOOM)
    return sk.load(path)


def origins(model, q, body):
    """Where a body is, for one state or several."""
    return sk.forward_kinematics(model, q)[1][..., model.body_index(body), :]


def test_modes_follow_the_joint_and_have_names(boom):
    assert (boom.nq, boom.nv) == (6, 6)
    assert boom.mode_slice("boom") == slice(1, 6)
    assert boom.flexible["boom"].labels == ("y1", "y2", "y3", "z1", "z2")
    assert boom.attached == {"camera": "tip", "lamp": "middle"}
    assert boom.mass.sum() == pytest.approx(11.1)
    assert "y1 0.6" in str(boom)
    assert "4 slaves, RK4 up to" in str(boom) or "slaves, RK4 up to" in str(boom)


def test_what_hangs_at_a_node_moves_with_it(boom):
    q = boom.neutral()
    q[boom.mode_slice("boom")] = [0.1, 0.0, 0.0, 0.02, 0.0]
    place = {name: origins(boom, q, name) for name in ("camera", "lamp")}
    assert_allclose(place["camera"][1:], [0.1, 0.02], rtol=1e-12)
    assert 4.99 < place["camera"][0] < 5.0  # foreshortened
    assert 0.12 < place["lamp"][1] < 0.15


def test_changes_and_logs_keep_the_beam(boom):
    assert boom.with_changes() == boom
    assert read_model(model_text(boom)) == boom
    fewer = boom.with_changes(bodies={"boom": {"flexible": {"modes.y": 1}}})
    assert fewer.nv == 4
    assert tuple(fewer.frames) == () == tuple(boom.frames)
    assert "lamp" in fewer.body_names
    soft = boom.with_changes(bodies={"boom.flexible.beam.bending_stiffness.y": 375.0})
    ratio = soft.flexible["boom"].frequencies / boom.flexible["boom"].frequencies
    assert_allclose(ratio, [0.5, 0.5, 0.5, 1.0, 1.0])
    assert soft != boom


@pytest.mark.parametrize("ratio", ["0.5", "2.0"])
def test_a_mass_at_the_tip_has_the_frequencies_of_the_closed_form(ratio):
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("beam", flexible=sk.Beam(1.0, 1.0, 1.0, modes={"y": 5}))
    builder.add_body("load", "beam", mass=float(ratio), at="tip")
    model = builder.build()
    mass = sk.mass_matrix(model, model.neutral())
    stiffness = np.diag(model.flexible["beam"].stiffness)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    expected = FREQUENCIES["clamped_tip_mass"]["values"][ratio][:2]
    assert_allclose(squares[:2] ** 0.25, expected, rtol=2e-5)


def test_a_falling_strip_of_four_modes_meets_the_exact_beam():
    p = PENDULUM["parameters"]
    builder = sk.ModelBuilder(gravity=(0.0, -p["g"], 0.0))
    beam = sk.Beam(p["L"], p["rhoA"], p["EI"], rotary_inertia=(p["rhoI"], 0.0), modes={"y": 4})
    builder.add_body("strip", joint=sk.Revolute(axis=(0, 0, 1)), flexible=beam)
    builder.add_frame("end", "strip", at="tip")
    model = builder.build()
    run = sk.simulate(model, model.neutral(), np.zeros(model.nv), duration=2.0, dt=2e-3, every=10)
    rows = np.array(PENDULUM["rows"])
    tip = origins(model, np.asarray(run.q), "end")
    assert len(tip) == 101
    assert np.abs(tip[:, :2] - rows[:101, 1:3]).max() < 1e-3


def test_a_beam_in_flight_has_free_modes():
    beam = sk.Beam(2.0, 1.0, 10.0, rotary_inertia=0.01, modes={"y": 2})
    builder = sk.ModelBuilder()
    builder.add_body("beam", joint=sk.Free(), flexible=beam)
    assert not builder.build().flexible["beam"].is_clamped
    builder.add_body("load", "beam", mass=1.0, at="tip")
    assert builder.build().flexible["beam"].is_clamped


def test_a_scenario_starts_modes_by_name(tmp_path):
    (tmp_path / "boom.toml").write_text(BOOM)
    start = '[initial.q]\n"boom.y1" = 0.05\npin = 0.2\n[initial.v]\n"boom.z2" = -0.5\n'
    text = f'duration = 0.1\n[model]\nfile = "boom.toml"\n{start}'
    (tmp_path / "run.toml").write_text(text)
    scenario = sk.read_scenario(tmp_path / "run.toml")
    assert_allclose(scenario.q0, [0.2, 0.05, 0, 0, 0, 0])
    assert_allclose(scenario.v0, [0, 0, 0, 0, 0, -0.5])
    (tmp_path / "bad.toml").write_text(text.replace("0.05", '"far"'))
    with pytest.raises(sk.ScenarioError, match="a mode takes a finite number"):
        sk.read_scenario(tmp_path / "bad.toml")


def test_modes_do_not_go_with_loops_or_mimics_and_bodies_not_with_other_roots():
    builder = sk.ModelBuilder()
    builder.add_body("beam", flexible=sk.Beam(1.0, 1.0, 1.0, modes={"y": 1}))
    builder.add_body("a", joint=sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("b", joint=sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    builder.add_mimic("a", "b")
    with pytest.raises(sk.ModelError, match="cannot be combined with mimic joints"):
        builder.build()
    free = sk.ModelBuilder()
    free.add_body("beam", joint=sk.Free(),
                  flexible=sk.Beam(1.0, 1.0, 1.0, rotary_inertia=0.1, modes={"y": 1}))  # fmt: skip
    floating = free.build().flexible["beam"]
    builder = sk.ModelBuilder()
    builder.add_body("beam", joint=sk.Revolute(), flexible=floating)
    with pytest.raises(sk.ModelError, match="its modes move the root"):
        builder.build()
