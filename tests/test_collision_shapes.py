"""Shapes that can touch: given by the builder or a file, kept by hash, record and drawing."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.io.model_record import model_text, read_model
from skodyn.io.shape_tables import IN_FILES
from skodyn.model.drawing import describe, draw
from skodyn.model.shapes import SHAPES
from skodyn.scenario import parse_scenario
from skodyn.sweeps.scenario_data import model_data, to_toml

TURN = (0.5, 0.5, -0.5, 0.5)
EVERY = {
    "box": sk.Box((0.1, 0.2, 0.3)),
    "capsule": sk.Capsule(0.1, 0.5),
    "cylinder": sk.Cylinder(0.1, 0.5),
    "disk": sk.Disk(0.3, 0.02),
    "ellipsoid": sk.Ellipsoid((0.1, 0.2, 0.3)),
    "half_space": sk.HalfSpace((0, 0, 1 / 3), (0, 1, 2)),
    "height_field": sk.HeightField((1.0, 2.0), ((0, 1, 0.1), (2, 3, 0.5))),
    "mesh": sk.Mesh("hull.obj", None, (1.0, 1.0, 2.0)),
    "points": sk.Points(((0, 0, 1), (1, 0, 0)), 0.01),
    "sphere": sk.Sphere(0.1),
}


def builder(**shapes):
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    for name, shape in shapes.items():
        b.add_collision("ball", shape, name=name, rotation=TURN, translation=(0.1, 0, 1 / 7))
    return b


def test_every_shape_is_among_the_cases():
    assert set(EVERY) == set(SHAPES)


def test_every_shape_is_kept_by_the_record_to_the_last_bit():
    b = builder(**EVERY)
    b.add_collision("world", sk.HalfSpace(), name="floor")
    model = b.build()
    back = read_model(model_text(model))
    assert back == model
    assert describe(back) == describe(model)
    assert [one.shape for one in back.collisions["ball"]] == [
        one.shape for one in model.collisions["ball"]
    ]
    assert "ball/capsule" in draw(model)
    assert "half space" in draw(model)


def test_a_shape_counts_in_the_hash_and_its_absence_does_not():
    bare = builder().build()
    dressed = builder(sphere=sk.Sphere(0.1)).build()
    hashes = {
        bare.content_hash,
        dressed.content_hash,
        builder(sphere=sk.Sphere(0.2)).build().content_hash,
        builder(other=sk.Sphere(0.1)).build().content_hash,
    }
    assert len(hashes) == 4
    assert bare.collisions == {}
    assert "collisions" not in describe(bare)
    assert builder(sphere=sk.Sphere(np.float64(0.1))).build() == dressed


def test_shapes_left_without_a_name_are_numbered_by_type():
    b = builder()
    for name in (None, "sphere2", None, None):
        b.add_collision("ball", sk.Sphere(0.1), name=name)
    assert [one.name for one in b.build().collisions["ball"]] == [
        "sphere", "sphere2", "sphere3", "sphere4",
    ]  # fmt: skip


def test_arrays_of_shapes_are_frozen():
    shape = builder(sphere=sk.Sphere(0.1)).build().collisions["ball"][0]
    with pytest.raises(ValueError, match="read-only"):
        shape.translation[0] = 1.0


def test_a_shape_of_a_link_moves_with_its_body_frame():
    """A link's axes are one's own; in the model the shape is placed in those of its joint."""
    b = sk.ModelBuilder()
    b.add_link("arm", mass=1.0, inertia=(1, 1, 1))
    b.add_joint("pin", "world", "arm", sk.Revolute((0, 0, 1)), translation_b=(0.0, 0.0, 0.5),
                rotation_b=TURN)  # fmt: skip
    b.add_collision("arm", sk.Sphere(0.1), translation=(0.0, 0.0, 0.5))
    b.add_frame("there", "arm", translation=(0.0, 0.0, 0.5))
    model = b.build()
    shape, frame = model.collisions["arm"][0], model.frames["there"]
    assert np.abs(shape.translation).max() < 1e-15
    assert (shape.rotation == frame.rotation).all()


FAULTS = [
    ("ball", sk.Box((1, 1, 0)), None, "size is (1, 1, 0); give metres above 0"),
    ("ball", sk.Box(1), None, "size is 1; give three numbers"),
    ("ball", sk.Sphere(-0.1), None, "radius is -0.1; give metres above 0"),
    ("ball", sk.Sphere("big"), None, "radius is 'big'; give a number"),
    ("ball", sk.Capsule(0.1, -1.0), None, "length is -1.0; give metres from 0"),
    ("ball", sk.Disk(0.0), None, "radius is 0.0; give metres above 0"),
    ("ball", sk.HalfSpace(normal=(0, 0, 0)), None, "normal is (0, 0, 0), of no length"),
    ("ball", sk.HalfSpace(point=(0, np.inf, 0)), None, "give three finite numbers"),
    ("ball", sk.Points(()), None, "points is (); give at least one point"),
    ("ball", sk.Points(((0, 0, 0),), -1.0), None, "radius is -1.0; give metres from 0"),
    ("ball", sk.HeightField((1, 0), ((0, 0), (0, 0))), None, "give its extents in x and y"),
    ("ball", sk.HeightField((1, 1), ((0, 0),)), None, "give at least two rows"),
    ("ball", sk.HeightField((1, 1), ((0, np.nan), (0, 0))), None, "give finite numbers"),
    ("ball", sk.Mesh("", None), None, "filename is ''; name a mesh file"),
    ("ball", 3, None, "3 is not a shape; give one of Box, Capsule"),
    ("bal", sk.Sphere(1.0), None, "there is no such body; did you mean 'ball'?"),
    ("ball", sk.Sphere(1.0), "a/b", "its name has one of / * ? [ ] in it"),
    ("ball", sk.Sphere(1.0), "", "it has an empty name"),
]


@pytest.mark.parametrize(("body", "shape", "name", "words"), FAULTS)
def test_a_shape_at_fault_is_named_with_value_and_remedy(body, shape, name, words):
    b = builder()
    b.add_collision(body, shape, name=name)
    with pytest.raises(sk.ModelError) as caught:
        b.build()
    assert len(caught.value.faults) == 1
    assert words in str(caught.value)


def test_two_shapes_of_one_name_on_one_body_are_refused():
    b = builder(tip=sk.Sphere(0.1))
    b.add_collision("ball", sk.Sphere(0.2), name="tip")
    with pytest.raises(sk.ModelError, match="2 of them have this name"):
        b.build()


def test_placements_are_judged_as_everywhere():
    b = builder()
    b.add_collision("ball", sk.Sphere(0.2), translation=(0, 0), rotation=(2, 0, 0, 0))
    with pytest.raises(sk.ModelError) as caught:
        b.build()
    assert [f.split(": ")[1].split()[0] for f in map(str, caught.value.faults)] == [
        "translation", "rotation",
    ]  # fmt: skip


# ---- model files --------------------------------------------------------------------------------

FILE = """
[bodies.ball]
parent = "world"
joint = { type = "free" }
mass = 1.0
inertia = [1, 1, 1]
"""


def as_lists(value):
    return [as_lists(x) for x in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("word", IN_FILES)
def test_a_file_says_the_same_as_the_builder(word, tmp_path):
    shape = EVERY[word]
    keys = {f.name: as_lists(getattr(shape, f.name)) for f in fields(shape) if f.name != "path"}
    table = {"type": word, **keys, "translation": [0.1, 0, 1 / 7], "rotation": list(TURN)}
    body = {"parent": "world", "joint": {"type": "free"}, "mass": 1.0, "inertia": [1, 1, 1]}
    data = {"bodies": {"ball": {**body, "collisions": {word: table}}}}
    (tmp_path / "m.toml").write_text(to_toml(data))
    assert sk.load(tmp_path / "m.toml") == builder(**{word: shape}).build()


def test_the_ground_of_a_file_is_the_worlds(tmp_path):
    (tmp_path / "m.toml").write_text(FILE + '[ground.floor]\ntype = "half_space"\n')
    b = builder()
    b.add_collision("world", sk.HalfSpace(), name="floor")
    assert sk.load(tmp_path / "m.toml") == b.build()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[bodies.ball.collisions.a]\ntype = "sphere"\nradius = -1', 9, "radius is -1; give"),
        ('[bodies.ball.collisions.a]\ntype = "sphere"\nradus = 1', 9, "did you mean 'radius'"),
        ('[bodies.ball.collisions.a]\ntype = "sphre"', 8, "'sphre'; did you mean 'sphere'"),
        ("[bodies.ball.collisions.a]\nradius = 1", 7, "it has no type; use one of box, capsule"),
        ('[bodies.ball.collisions.a]\ntype = "sphere"', 7, "a sphere needs radius"),
        ('[bodies.ball.collisions.a]\ntype = "mesh"', 7, "a mesh needs filename"),
        ("[bodies.ball.collisions]\na = 1", 8, "collision shape 'a' is 1; write one table"),
        ('[ground.floor]\ntype = "half_space"\nnormal = [0, 0, 0]', 9, "of no length"),
    ],
)  # fmt: skip
def test_a_fault_in_a_file_names_line_value_and_remedy(text, line, words, tmp_path):
    (tmp_path / "m.toml").write_text(FILE + text)
    with pytest.raises(sk.ModelError) as caught:
        sk.load(tmp_path / "m.toml")
    assert words in str(caught.value)
    assert f"m.toml:{line}:" in str(caught.value)


def test_the_normal_form_of_a_sweep_keeps_them():
    b = builder(**{word: shape for word, shape in EVERY.items() if word != "mesh"})
    b.add_collision("world", sk.HalfSpace(), name="floor")
    model = b.build()
    data = {"duration": 1.0, "model": model_data(model)}
    again = parse_scenario(to_toml(data), Path()).model
    assert again == model
