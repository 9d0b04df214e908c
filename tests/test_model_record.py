"""A log keeps its model: what is read back is what was run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.io.log import LogWriter
from skodyn.io.model_record import model_text, read_model
from skodyn.model import shapes

MODELS = sorted((Path(__file__).parent.parent / "scenarios" / "models").glob("*.toml"))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_every_shipped_model_comes_back_from_its_text_with_the_same_hash(path):
    model = sk.load(path)
    assert read_model(model_text(model)) == model


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
    text = model_text(sk.load(MODELS[0]))
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
