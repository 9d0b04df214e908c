"""The channel `deflection`: in memory, in logs, resumed, drawn, refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skodyn as sk
from skodyn.channels.curves import Curves
from skodyn.channels.entry import CHANNELS
from skodyn.cli import main

SCENARIO = """
duration = 0.1
[model]
gravity = [0, -9.81, 0]
[model.bodies.boom]
parent = "world"
joint = { type = "revolute", axis = [0, 0, 1], name = "pin" }
[model.bodies.boom.flexible]
beam = { length = 1.0, mass_per_length = 0.3, bending_stiffness = 5.0 }
modes = { y = 2 }
nodes = { middle = 0.5 }
[model.bodies.hub]
parent = "boom"
at = "middle"
mass = 0.1
[model.bodies.mast]
parent = "hub"
joint = { type = "revolute", axis = [0, 0, 1], name = "elbow" }
[model.bodies.mast.flexible]
beam = { length = 0.5, mass_per_length = 0.2, bending_stiffness = 4.0 }
modes = { y = 1, z = 1 }
[initial.q]
"boom.y1" = 0.02
"mast.z1" = 0.01
[integrator]
method = "implicit_midpoint"
dt = 0.002
[output]
channels = ["deflection"]
"""
NODES = ("boom/root", "boom/tip", "boom/middle", "mast/root", "mast/tip")


@pytest.fixture
def logged(tmp_path):
    (tmp_path / "arm.toml").write_text(SCENARIO)
    assert main(["run", str(tmp_path / "arm.toml"), "-o", str(tmp_path / "arm.h5")]) == 0
    return tmp_path / "arm.h5"


def expected(model, q):
    return np.concatenate([sk.deflections(model, q, body) for body in ("boom", "mast")], axis=1)


def test_logged_rows_are_the_deflections_of_the_rows(logged):
    run = sk.open(logged)
    values = np.asarray(run["deflection"])
    assert values.shape == (51, 5, 3)
    assert_array_equal(values, expected(run.model, np.asarray(run.q)))
    assert run.labels("deflection") == {"node": NODES, "axis": ("x", "y", "z")}
    assert np.abs(values[:, 1, 1]).max() > 0.01
    assert np.abs(values[:, 4, 2]).max() > 0.005
    assert not values[:, 0].any()


def test_a_run_in_memory_has_the_same(logged):
    model = sk.open(logged).model
    start = np.asarray(sk.open(logged).q[0])
    run = sk.simulate(
        model, start, np.zeros(model.nv), duration=0.1, dt=0.002,
        integrator="implicit_midpoint", channels=["deflection"],
    )  # fmt: skip
    assert_array_equal(run.trajectory["deflection"], sk.open(logged)["deflection"])


def test_a_resumed_run_goes_on_with_it(logged):
    assert main(["resume", str(logged), "--until", "0.2"]) == 0
    run = sk.open(logged)
    assert len(run.t) == 101
    assert_array_equal(run["deflection"], expected(run.model, np.asarray(run.q)))


def test_nodes_that_move_are_drawn(logged, tmp_path):
    run = sk.open(logged)
    values = np.asarray(run["deflection"])
    curves = Curves(run.model, run.labels("deflection"), values, (), ())
    (family,) = CHANNELS["deflection"].draw("deflection", curves)
    assert (family.names, family.unit) == (("boom/tip", "boom/middle", "mast/tip"), "m")
    assert_array_equal(family.values[:, 2], np.linalg.norm(values[:, 4], axis=1))
    picture = tmp_path / "deflection.svg"
    assert main(["plot", str(logged), "--channels", "deflection", "-o", str(picture)]) == 0
    assert "boom/tip" in picture.read_text()


def test_models_without_modes_are_refused_by_name(tmp_path, capsys):
    builder = sk.ModelBuilder(name="stiff")
    builder.add_body("rod", flexible=sk.Beam(1.0, 1.0, 1.0, segments=3))
    model = builder.build()
    words = "Channel 'deflection' needs bodies with modes, and model 'stiff' has none"
    with pytest.raises(sk.SkodynError, match=words):
        sk.simulate(model, model.neutral(), np.zeros(model.nv), duration=0.1, dt=0.01,
                    channels=["deflection"])  # fmt: skip
    text = SCENARIO.replace("modes = { y = 2 }", "segments = 3")
    text = text.replace("modes = { y = 1, z = 1 }", "segments = 2")
    text = text.replace('"boom.y1" = 0.02\n"mast.z1" = 0.01\n', "")
    (tmp_path / "stiff.toml").write_text(text)
    assert main(["check", str(tmp_path / "stiff.toml")]) == 2
    assert "Channel 'deflection' needs bodies with modes" in "".join(capsys.readouterr())
