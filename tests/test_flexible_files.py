"""Flexible bodies in files of their own: saved, loaded, named by model files."""

import os
import pickle
from dataclasses import fields, replace

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skodyn as sk
from flexible_models import flexible_body
from skodyn.cli import main
from skodyn.model.flexible.modal_body import FlexibleDisplay, FlexibleNode

MODEL = """
gravity = [0, -9.81, 0]

[bodies.arm]
parent = "world"
joint = { type = "revolute", axis = [0, 0, 1], name = "pin" }

[bodies.arm.flexible]
file = "parts/arm.h5"

[bodies.camera]
parent = "arm"
at = "tip"
mass = 0.1
"""
BEAM = sk.Beam(1.0, 0.3, 0.7, modes={"y": 3, "z": 1}, damping=0.01, nodes={"middle": 0.5})


def arm(flexible=BEAM):
    builder = sk.ModelBuilder((0, -9.81, 0), "model")
    builder.add_body("arm", joint=sk.Revolute(axis=(0, 0, 1), name="pin"), flexible=flexible)
    builder.add_body("camera", "arm", at="tip", mass=0.1)
    return builder.build()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    arm().flexible["arm"].save(tmp_path / "parts" / "arm.h5")
    (tmp_path / "model.toml").write_text(MODEL)
    return tmp_path


def same(one, other):
    """Every number, type and shape, drawings and the order of nodes too."""
    assert one.content_hash == other.content_hash
    assert (one.labels, list(one.nodes)) == (other.labels, list(other.nodes))
    pairs = [(one, other), (one.curvature, other.curvature), (one.display, other.display)]
    pairs += [(one.nodes[name], other.nodes[name]) for name in one.nodes]
    for a, b in pairs:
        assert (a is None) == (b is None)
        for f in fields(a) if a is not None else ():
            x, y = getattr(a, f.name), getattr(b, f.name)
            if isinstance(x, np.ndarray):
                assert (x.dtype, y.flags.writeable) == (y.dtype, False)
                assert_array_equal(x, y, strict=True)
            elif isinstance(x, float):
                assert x == y


def random_body(slaves, curved):
    rng = np.random.default_rng(slaves)
    body, _, _ = flexible_body(rng, 0.2 + rng.random(9), rng.normal(size=(9, 3)), 4, slaves, curved)
    n = 4 + slaves
    nodes = {"grip/left.1 ä": FlexibleNode(np.ones(3), np.ones((3, n)), np.zeros((3, n)))}
    drawn = FlexibleDisplay(
        rng.normal(size=(5, 3)), rng.normal(size=(5, 3, n)), np.zeros((0, 3, n)),
        np.array([[0, 1, 2], [2, 3, 4]]), np.zeros((0, 2)),
    )  # fmt: skip
    return replace(body, nodes={**body.nodes, **nodes}, display=drawn if curved else None)


@pytest.mark.parametrize(("slaves", "curved"), [(0, False), (2, True)])
def test_a_body_comes_back_to_the_bit(tmp_path, slaves, curved):
    body = random_body(slaves, curved)
    body.save(tmp_path / "body.h5")
    found = sk.flexible.load(str(tmp_path / "body.h5"))
    same(body, found)
    assert found == body
    assert found.file == str(tmp_path / "body.h5")
    assert pickle.loads(pickle.dumps(found)).file == found.file
    assert os.listdir(tmp_path) == ["body.h5"]


def test_a_beam_comes_back_with_its_drawing(folder):
    same(arm().flexible["arm"], sk.flexible.load(folder / "parts" / "arm.h5"))


def test_nothing_is_overwritten_unasked(tmp_path):
    body, other = random_body(0, False), random_body(2, True)
    path = tmp_path / "body.h5"
    body.save(path)
    with pytest.raises(sk.LogError, match="exists and is not overwritten"):
        other.save(path)
    assert sk.flexible.load(path) == body
    other.save(path, overwrite=True)
    assert sk.flexible.load(path) == other
    (tmp_path / "notes.h5").write_text("mine")
    with pytest.raises(sk.LogError, match="holds no flexible body and is not overwritten"):
        body.save(tmp_path / "notes.h5", overwrite=True)
    assert (tmp_path / "notes.h5").read_text() == "mine"
    with pytest.raises(sk.LogError, match="does not exist; create it first"):
        body.save(tmp_path / "nowhere" / "body.h5")


def test_a_file_that_cannot_be_completed_gets_no_name(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    body = random_body(0, False)
    body.save(tmp_path / "body.h5")
    monkeypatch.setattr("skodyn.io.flexible_files._write", full)
    for name in ("body.h5", "new.h5"):
        with pytest.raises(sk.LogError, match=r"cannot write it: No space left"):
            random_body(2, True).save(tmp_path / name, overwrite=True)
    assert os.listdir(tmp_path) == ["body.h5"]
    assert sk.flexible.load(tmp_path / "body.h5") == body


def flip(path, place):
    with h5py.File(path, "r+") as file:
        values = file[place][...]
        values.flat[0] += 1
        file[place][...] = values


def attribute(name, value):
    def change(path):
        with h5py.File(path, "r+") as file:
            file.attrs[name] = value

    return change


def without(place):
    def change(path):
        with h5py.File(path, "r+") as file:
            del file[place]

    return change


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


DAMAGES = {
    "no file": (lambda p: p.unlink(), "there is no such file; check the path"),
    "a folder": (lambda p: (p.unlink(), p.mkdir()), "there is no such file"),
    "text": (lambda p: p.write_text("x"), "this is not an HDF5 file; give a file that Flexible"),
    "a log": (attribute("schema", "skodyn-log"), "this file is of schema 'skodyn-log', not 'skod"),
    "newer": (attribute("schema_version", 2), "is of version 2 of 'skodyn-flexible-body', not 1; "
              "upgrade skodyn"),
    "older": (attribute("schema_version", 0), "is of version 0 of 'skodyn-flexible-body', not 1; "
              "save the body again"),
    "a number": (lambda p: flip(p, "stiffness"), "damaged: its numbers are not those saved"),
    "a node": (lambda p: flip(p, "nodes/translation"), "damaged: its numbers are not those saved"),
    "a face": (lambda p: flip(p, "display/points"), "damaged: its numbers are not those saved"),
    "no stiffness": (without("stiffness"), "this file is damaged: "),
    "no labels": (without("labels"), "this file is damaged: "),
    "no tip": (lambda p: attribute_of_nodes(p), "this file is damaged: "),
    "cut": (cut, "this file is damaged: "),
}  # fmt: skip


def attribute_of_nodes(path):
    with h5py.File(path, "r+") as file:
        file["nodes/name"][...] = ["root", "end", "middle"]


@pytest.mark.parametrize("name", DAMAGES)
def test_whatever_is_no_body_is_refused_by_name(folder, name, capsys):
    damage, words = DAMAGES[name]
    path = folder / "parts" / "arm.h5"
    damage(path)
    with pytest.raises(sk.ModelError) as refused:
        sk.flexible.load(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert words in str(refused.value)
    with pytest.raises(sk.ModelError) as refused:
        sk.load(folder / "model.toml")
    (fault,) = refused.value.faults
    assert (fault.line, fault.path) == (9, ("bodies", "arm", "flexible", "file"))
    assert f"model.toml:9: Body 'arm': flexible.file has a fault: {path}: " in str(fault)
    assert words in str(fault)
    assert main(["check", str(folder / "model.toml")]) == 2
    assert words in "".join(capsys.readouterr())


def test_a_model_file_names_a_body(folder, monkeypatch, capsys):
    monkeypatch.chdir("/")  # seen from the model file
    model, built = sk.load(folder / "model.toml"), arm()
    assert model.content_hash == built.content_hash
    assert model.mode_slice("arm") == slice(1, 5)
    assert main(["check", str(folder / "model.toml")]) == 0
    heavier = model.with_changes(bodies={"camera.mass": 0.2})
    assert heavier.flexible["arm"] == model.flexible["arm"]


def test_what_else_stands_beside_the_file_is_refused_all_at_once(folder):
    more = (
        "beam = { length = 1.0, mass_per_length = 1.0, bending_stiffness = 1.0 }\n"
        "modes = { y = 2 }\ndamping = 0.1\nstiffening = false\n"
    )
    text = MODEL.replace('"parts/arm.h5"\n', f'"parts/arm.h5"\n{more}')
    text = text.replace(
        'name = "pin" }\n', 'name = "pin" }\nmass = 1.0\ncom = [1, 0, 0]\ninertia = [1, 1, 1]\n'
    )
    (folder / "model.toml").write_text(text)
    with pytest.raises(sk.ModelError) as refused:
        sk.load(folder / "model.toml")
    found = {fault.line: str(fault) for fault in refused.value.faults}
    words = {
        7: "mass follows from the flexible body", 8: "com follows", 9: "inertia follows",
        13: "flexible has both beam and file; give the one or the other.",
        14: "flexible.modes follows from file; leave it out.", 15: "flexible.damping follows",
        16: "says by itself what stiffens; leave it out.",
    }  # fmt: skip
    assert found.keys() == words.keys()
    for line, said in words.items():
        assert said in found[line]
        assert "Body 'arm'" in found[line]


@pytest.mark.parametrize("name", ["3", '""', "[]"])
def test_a_path_that_is_none_is_refused(folder, name):
    (folder / "model.toml").write_text(MODEL.replace('"parts/arm.h5"', name))
    with pytest.raises(sk.ModelError, match=r"model.toml:9: Body 'arm': flexible.file is .*; give"):
        sk.load(folder / "model.toml")


RUN = """
duration = 0.02
[integrator]
method = "rk4"
dt = 0.001
[initial.q]
pin = 0.3
"arm.y1" = 0.01
"""


def test_scenarios_and_sweeps_find_the_file(folder, monkeypatch):
    monkeypatch.chdir("/")
    inline = MODEL.replace("[bodies", "[model.bodies").replace("gravity", "[model]\ngravity")
    (folder / "inline.toml").write_text(RUN + inline)
    (folder / "named.toml").write_text(f'{RUN}[model]\nfile = "model.toml"\n')
    ends = [sk.run(folder / f"{name}.toml").q[-1] for name in ("inline", "named")]
    assert_array_equal(*ends)
    study = sk.sweep(
        folder / "named.toml", {"bodies.camera.mass": [0.1, 0.2]}, workers=1,
        metrics={"end": {"of": "q.pin", "kind": "final"}},
    )  # fmt: skip
    first, second = study.metric("end")
    assert first == ends[0][0] != second
