"""A log keeps its model: what is read back is what was run."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields, replace
from pathlib import Path

import h5py
import numpy as np
import pinocchio as pin
import pytest

import skodyn as sk
from skodyn.io.log import LogWriter
from skodyn.io.model_record import model_text, read_model
from skodyn.model import shapes
from skodyn.model.drawing import describe

MODELS = sorted((Path(__file__).parent.parent / "scenarios" / "models").iterdir())
ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
WITH_ARMATURE = """
<mujoco model="lamp"><compiler angle="radian"/><worldbody>
  <body name="arm"><joint name="hinge" axis="0 1 0" damping="0.3" stiffness="2" springref="0.1"
    frictionloss="0.2" armature="0.01" limited="true" range="-1 2"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02" rgba="1 0 0 1"/>
    <body name="head" pos="0 0 0.3"><joint name="neck" axis="1 0 0" damping="0.05"/>
      <geom type="sphere" size="0.05"/><site name="bulb" pos="0 0 0.05"/></body></body>
</worldbody></mujoco>
"""


def assert_comes_back(model):
    """Whatever a model has is in its text."""
    back = read_model(model_text(model))
    assert back == model
    assert back.content_hash == model.content_hash
    assert back.joint_properties == model.joint_properties
    assert back.limits == model.limits
    assert (back.notes, back.repairs) == (model.notes, model.repairs)
    assert (back.mimics, back.joint_names) == (model.mimics, model.joint_names)
    assert (back.loop_names, back.couplings) == (model.loop_names, model.couplings)
    assert (dict(back.flexible), dict(back.attached)) == (
        dict(model.flexible),
        dict(model.attached),
    )
    assert dict(back.bent) == dict(model.bent)
    assert describe(back) == describe(model)


def test_every_field_of_a_model_is_looked_at():
    looked_at = {"joint_properties", "limits", "visuals", "notes", "repairs", "frames", "mimics"}
    looked_at |= {"loops", "couplings", "collisions", "starts", "flexible", "attached", "bent"}
    looked_at |= {"packed_with"}  # the model's own guard, of the fields that are packed
    optional = {
        f.name for f in fields(sk.Model) if (f.default, f.default_factory) != (MISSING, MISSING)
    }
    assert optional == looked_at, "assert_comes_back does not look at it"


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.name)
def test_every_shipped_model_comes_back_from_its_text(path):
    assert_comes_back(sk.load(path))


def test_models_of_several_formats_are_shipped():
    assert {path.suffix for path in MODELS} == {".toml", ".urdf", ".xml"}


@pytest.mark.parametrize(
    "name",
    [
        "panda_description/urdf/panda.urdf",
        "anymal_b_simple_description/robots/anymal.urdf",
        "talos_data/robots/talos_reduced.urdf",
    ],
)
def test_a_robot_that_nobody_here_wrote_comes_back_from_its_text(name):
    model = sk.load(ROBOTS / name)
    assert model.limits
    assert_comes_back(model)


def test_a_model_of_mujoco_comes_back_from_its_text(tmp_path):
    (tmp_path / "lamp.xml").write_text(WITH_ARMATURE)
    model = sk.load(tmp_path / "lamp.xml")
    assert len(model.joint_properties) == 2
    assert model.limits["hinge"].upper == 2.0
    assert_comes_back(model)


def test_stops_and_properties_in_their_extremes_come_back():
    model = sk.load(MODELS[0])
    given = sk.JointProperties(1.0, 0.1, 0.2, 0.3, 0.4, -0.5, math.inf, 7.0, 8.0)
    extras = {"notes": ("line 3: é is not used",), "repairs": ("an inertia was replaced",)}
    assert_comes_back(replace(model, joint_properties={model.joint_names[0]: given}, **extras))


def test_a_rotated_placement_and_an_unnormalised_axis_keep_their_bits():
    b = sk.ModelBuilder(gravity=(0.1, -9.0, 0.3), name="é")
    turn = np.array([0.3, 0.4, 0.5, 0.6]) / np.linalg.norm([0.3, 0.4, 0.5, 0.6])
    b.add_body("a", "world", sk.Revolute(axis=(1, 2, 3)), rotation=turn, mass=1.0,
               com=(0.1, 0.2, 0.3), inertia=(0.3, 0.3, 0.3))  # fmt: skip
    b.add_body("c", "a", sk.Helical(axis=(0, 3, 4), pitch=0.7), translation=(1 / 3, 0, 0), mass=0.1,
               inertia=(0.1, 0.1, 0.1))  # fmt: skip
    b.add_frame("tool", "c", rotation=turn, translation=(1 / 7, 0, 0))
    model = b.build()
    back = read_model(model_text(model))
    assert back == model
    assert back.frames["tool"].body == "c"


def test_a_log_gives_its_model_back_and_an_older_log_says_that_it_cannot(tmp_path):
    model = sk.load(MODELS[0])
    LogWriter.create(tmp_path / "a.h5", (), model, {}).finish("finished")
    assert sk.open(tmp_path / "a.h5").model == model
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        del file["model/description"]
    with pytest.raises(sk.LogError, match="before logs kept their model"):
        _ = sk.open(tmp_path / "a.h5").model


@pytest.mark.parametrize(
    ("old", "new"), [('"revolute"', '"ball of wool"'), ('"mass":', '"weight":'), ("{", "")]
)
def test_a_text_of_another_kind_is_refused_in_a_sentence(old, new):
    text = model_text(sk.load(next(p for p in MODELS if p.name == "double_pendulum.toml")))
    with pytest.raises(sk.LogError, match="cannot be built by this version of skodyn"):
        read_model(text.replace(old, new))


def test_shapes_to_look_at_come_back_too():
    box = shapes.Visual(shapes.Box((1.0, 2.0, 3.0)), np.eye(3), np.array((0.1, 0, 0)), None, "b")
    file = shapes.Mesh("a.stl", Path("/tmp/a.stl"), (2.0, 2.0, 2.0))
    mesh = shapes.Visual(file, np.eye(3), np.zeros(3), (1.0, 0.5, 0.0, 1.0))
    model = sk.load(MODELS[0])
    name = model.body_names[0]
    back = read_model(model_text(replace(model, visuals={name: (box, mesh)})))
    assert [one.shape for one in back.visuals[name]] == [box.shape, file]
    assert back.visuals[name][1].color == mesh.color
    np.testing.assert_array_equal(back.visuals[name][0].translation, box.translation)
