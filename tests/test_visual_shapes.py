"""Shapes to look at: given by the builder or a file, drawn, kept by logs, never in a result."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io.model_record import model_text, read_model
from skodyn.model.drawing import describe
from skodyn.model.shapes import SHAPES
from skodyn.view.scene import scene_of
from test_collision_shapes import EVERY, TURN

PLACE = {"rotation": TURN, "translation": (0.1, 0, 1 / 7)}
BLUE = (0.2, 0.4, 1.0, 1.0)


def builder(**shapes):
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    for name, shape in shapes.items():
        b.add_visual("ball", shape, name=name, color="#3366FF", **PLACE)
    return b


def test_every_shape_is_kept_by_the_record_to_the_last_bit():
    b = builder(**EVERY)
    b.add_visual("world", sk.Box((1, 1, 0.1)), name="table", color=(1, 0, 0, 0.5))
    b.add_visual("ball", sk.Sphere(0.1))
    model = b.build()
    back = read_model(model_text(model))
    assert describe(back) == describe(model)
    shapes = [one.shape for one in model.visuals["ball"]]
    assert [one.shape for one in back.visuals["ball"]] == shapes
    assert {type(one) for one in shapes} == set(SHAPES.values())
    assert model.visuals["ball"][0].color == BLUE
    assert model.visuals["ball"][-1].color is None
    assert model.visuals["world"][0].color == (1.0, 0.0, 0.0, 0.5)
    assert not model.visuals["ball"][0].translation.flags.writeable


def test_paint_makes_no_other_model():
    bare, dressed = builder().build(), builder(hull=sk.Sphere(0.1)).build()
    assert bare.content_hash == dressed.content_hash
    assert bare == dressed
    assert (bare.parameters == dressed.parameters).all()


@pytest.mark.parametrize("word", sorted(set(EVERY) - {"mesh"}))
def test_every_shape_is_drawn(word):
    scene = scene_of(builder(one=EVERY[word]).build())
    rows = [row for batch in scene.batches if batch.layer == "shapes" for row in batch.instances]
    assert rows
    assert all(int(row[0]) == 0 for row in rows)
    assert all(np.allclose(row[11:14], BLUE[:3]) for row in rows)


@pytest.mark.parametrize("word", sorted(EVERY))
def test_a_file_says_the_same_as_the_builder(word, tmp_path):
    (tmp_path / "m.toml").write_text(FILE + _table(word))
    found = sk.load(tmp_path / "m.toml").visuals["ball"][0]
    wanted = builder(one=EVERY[word]).build().visuals["ball"][0]
    assert found.shape == wanted.shape
    assert found.color == wanted.color == BLUE
    assert (found.rotation == wanted.rotation).all()
    assert (found.translation == wanted.translation).all()
    assert found.name == "one"


FILE = """\
[bodies.ball]
parent = "world"
joint = { type = "free" }
mass = 1
inertia = [1, 1, 1]

[frames.top]
body = "ball"

"""


def _table(word):
    from dataclasses import asdict

    keys = {k: v for k, v in asdict(EVERY[word]).items() if k != "path"}

    def written(x):
        if isinstance(x, str):
            return f'"{x}"'
        return f"[{', '.join(map(written, x))}]" if isinstance(x, tuple) else repr(float(x))

    lines = [f"{k} = {written(v)}" for k, v in {**keys, **PLACE}.items()]
    head = f'[bodies.ball.visuals.one]\ntype = "{word}"\ncolor = "#3366FF"\n'
    return head + "\n".join(lines) + "\n"


def test_meshes_of_a_file_are_found_beside_it_and_where_one_says(tmp_path):
    corner = "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    mesh = corner + "endloop\nendfacet\nendsolid\n"
    (tmp_path / "m").mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "m" / "hull.stl").write_text(mesh)
    (tmp_path / "more" / "far.stl").write_text(mesh)
    text = FILE + "".join(
        f'[bodies.ball.visuals.{name}]\ntype = "mesh"\nfilename = "{name}.stl"\n'
        for name in ("hull", "far")
    )
    (tmp_path / "m" / "m.toml").write_text(text)
    model = sk.load(tmp_path / "m" / "m.toml")
    hull, far = (one.shape for one in model.visuals["ball"])
    assert hull.path.samefile(tmp_path / "m" / "hull.stl")
    assert far.path is None
    assert "far.stl" in model.notes[0]
    assert "--search-path" in model.notes[0]
    again = sk.load(tmp_path / "m" / "m.toml", search_paths=[tmp_path / "more"])
    assert again.visuals["ball"][1].shape.path.name == "far.stl"
    assert again.notes == ()
    assert any("hull.stl" in batch.mesh for batch in scene_of(model).batches)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[bodies.ball.visuals.a]\ntype = "spher"\nradius = 1', 11, "did you mean 'sphere'?"),
        ('[bodies.ball.visuals.a]\ntype = "sphere"\ncolour = "#000000"\nradius = 1', 12,
         "did you mean 'color'?"),
        ('[bodies.ball.visuals.a]\ntype = "sphere"', 10, "a sphere needs radius"),
        ('[bodies.ball.visuals.a]\ntype = "sphere"\nradius = -1', 12, "metres above 0"),
        ('[bodies.ball.visuals.a]\ntype = "sphere"\nradius = 1\ncolor = "red"', 13, "#RRGGBB"),
        ('[bodies.ball.visuals.a]\ntype = "sphere"\nradius = 1\ncolor = [1, 2, 0]', 13, "0 to 1"),
        ('[bodies.ball.visuals.a]\ntype = "sphere"\nradius = 1\nsurface = {}', 13,
         "unknown key 'surface'"),
        ("[bodies.ball.visuals]\na = 1", 11, "visual shape 'a' is 1; write one table"),
        ('[scenery.floor]\ntype = "half_space"\nnormal = [0, 0, 0]', 12, "of no length"),
        ('[scenery.floor]\ntype = "sphere"\nradius = 1\ncolor = [1]', 13, "alpha from 0 to 1"),
    ],
)  # fmt: skip
def test_a_fault_in_a_file_names_line_value_and_remedy(text, line, words, tmp_path):
    (tmp_path / "m.toml").write_text(FILE + text)
    with pytest.raises(sk.ModelError) as caught:
        sk.load(tmp_path / "m.toml")
    assert words in str(caught.value)
    assert f"m.toml:{line}:" in str(caught.value)


def test_all_faults_of_a_builder_are_told_at_once():
    b = builder(a=sk.Sphere(0.1))
    b.add_visual("ball", sk.Sphere(0.1), name="a")
    with pytest.raises(sk.ModelError, match="'a'"):
        b.build()
    b = builder()
    b.add_visual("bal", sk.Sphere(-1.0))
    b.add_visual("ball", "sphere", color=(0.0, 0.0, float("nan")))
    b.add_visual("ball", sk.Mesh("hull.stl", None, (1.0, 2.0)))
    with pytest.raises(sk.ModelError) as caught:
        b.build()
    assert len(caught.value.faults) == 5
    for words in ("did you mean 'ball'?", "is not a shape", "metres above 0", "alpha", "scale"):
        assert words in str(caught.value)


def test_a_shape_of_a_link_moves_with_its_body_frame():
    b = sk.ModelBuilder()
    b.add_link("bar", mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    b.add_joint("pin", "world", "bar", sk.Revolute(axis=(0, 1, 0)), translation_b=(0.25, 0, 0))
    b.add_visual("bar", sk.Sphere(0.1), translation=(1.0, 0, 0))
    assert np.allclose(b.build().visuals["bar"][0].translation, (0.75, 0, 0))


def test_flexible_bodies_are_refused_by_name_and_their_pieces_are_not():
    beam = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": (1.0, 1.0)}
    b = sk.ModelBuilder()
    joint = sk.Revolute(axis=(0, 0, 1))
    b.add_body("boom", "world", joint, flexible=sk.Beam(**beam, segments=2))
    b.add_visual("boom.1", sk.Sphere(0.1))
    assert b.build().visuals["boom.1"]
    b.add_visual("boom", sk.Sphere(0.1))
    with pytest.raises(sk.ModelError, match=r"Visual shape of 'boom'.*'boom.1' and so on"):
        b.build()
    b = sk.ModelBuilder()
    b.add_body("boom", "world", joint, flexible=sk.Beam(**beam, modes={"y": 1}))
    b.add_visual("boom", sk.Sphere(0.1))
    with pytest.raises(sk.ModelError, match="rigid body at one of its nodes"):
        b.build()


def test_changes_keep_them_and_cannot_reach_them():
    model = builder(one=sk.Sphere(0.1)).build()
    heavy = model.with_changes(bodies={"ball": {"mass": 2.0}})
    assert heavy.visuals == model.visuals
    with pytest.raises(sk.ModelError, match="visuals"):
        model.with_changes(bodies={"ball": {"visuals": {"one": {"radius": 1.0}}}})


def test_runs_settings_and_sweeps_keep_them_and_paint_lets_a_run_go_on(tmp_path):
    table = _table("capsule")
    (tmp_path / "m.toml").write_text(FILE + table)
    text = 'duration = 0.01\n[model]\nfile = "m.toml"\n[integrator]\ndt = 0.001\n'
    (tmp_path / "s.toml").write_text(text)
    log = tmp_path / "s.h5"
    line = ["run", str(tmp_path / "s.toml"), "-o", str(log)]
    assert main([*line, "--set", "bodies.ball.mass=2"]) == 0
    assert sk.open(log).model.visuals["ball"][0].color == BLUE
    assert main([*line, "--overwrite"]) == 0
    (tmp_path / "m.toml").write_text(FILE + table.replace("#3366FF", "#FF0000"))
    assert main(["resume", str(log), "--until", "0.02"]) == 0
    swept = text + '[sweep.grid]\n"bodies.ball.mass" = [1.0, 2.0]\n'
    (tmp_path / "w.toml").write_text(swept)
    done = sk.sweep(tmp_path / "w.toml", out=tmp_path / "w.h5", logs=[1])
    found = sk.open(done.log(1)).model.visuals["ball"][0]
    assert found.color == (1.0, 0.0, 0.0, 1.0)
    with pytest.raises(sk.ArgumentError, match=r"w.h5.*out="):
        sk.sweep(tmp_path / "w.toml", tmp_path / "w.h5")
