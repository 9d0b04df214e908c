"""Model files: what they mean, and that every fault names its file and line."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import skodyn as sk
from exploring import examples
from skodyn.io import load, model_toml
from skodyn.io.model_toml import load_model
from skodyn.model.joints import CATALOGUE, CLOSING
from skodyn.model.shapes import SHAPES
from skodyn.scenario import model_page

MODELS = sorted((Path(__file__).parent.parent / "scenarios" / "models").glob("*.toml"))

SOUND = """\
name = "one arm"
gravity = [0, 0, -1.62]

[bodies.arm]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0], name = "shoulder" }
translation = [0, 0, 1]
rotation = [0.8, 0.6, 0, 0]
mass = 2.0
com = [0, 0, -0.5]
inertia = [
    [0.2, 0.01, 0],
    [0.01, 0.2, 0],
    [0, 0, 0.1],
]

[frames.tip]
body = "arm"
translation = [0, 0, -1]
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Write a model file and return its path."""

    def _write(text: str | bytes, name: str = "m.toml") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def faults_of(path: Path, **options: Any) -> list[str]:
    """The faults of a file, without its folder: 'm.toml:3: …'."""
    with pytest.raises(sk.ModelError) as caught:
        load_model(path, **options)
    prefix = f"{path.parent}{os.sep}"
    assert all(fault.startswith(prefix) for fault in map(str, caught.value.faults))
    return [fault.removeprefix(prefix) for fault in map(str, caught.value.faults)]


# ---- what a file means --------------------------------------------------------------------------


def test_a_file_says_the_same_as_the_builder(write: Any):
    builder = sk.ModelBuilder(gravity=(0, 0, -1.62), name="one arm")
    builder.add_body(
        "arm",
        joint=sk.Revolute(axis=(0, 1, 0), name="shoulder"),
        translation=(0, 0, 1),
        rotation=(0.8, 0.6, 0, 0),
        mass=2.0,
        com=(0, 0, -0.5),
        inertia=((0.2, 0.01, 0), (0.01, 0.2, 0), (0, 0, 0.1)),
    )
    builder.add_frame("tip", "arm", translation=(0, 0, -1))
    model = load(write(SOUND))
    assert model == builder.build()
    assert model.name == "one arm"


def test_what_is_left_out_has_the_builders_default(write: Any):
    builder = sk.ModelBuilder()
    builder.add_body("a")
    model = load_model(write('[bodies.a]\nparent = "world"\n', "crate.toml"))
    assert model == builder.build()
    assert model.name == "crate"


@pytest.mark.parametrize("type_name", CATALOGUE)
def test_every_joint_type_reads_back_with_its_parameters(type_name: str, write: Any):
    joint_type = CATALOGUE[type_name]
    defaults = {f.name: f.default for f in fields(joint_type) if f.name != "name"}
    keys = [f'type = "{type_name}"']
    keys += [f"{key} = {np.asarray(value).tolist()}" for key, value in defaults.items()]
    body = f'[bodies.a]\nparent = "world"\nmass = 1\njoint = {{ {", ".join(keys)} }}\n'
    model = load_model(write(body))
    np.testing.assert_array_equal(model.joints[0].twists(), joint_type().twists())
    assert type(model.joints[0]) is joint_type


def test_bodies_may_come_in_any_order_and_any_toml_form(write: Any):
    text = """
        bodies.hand = { parent = "arm", joint.type = "spherical", mass = 1 }
        bodies."arm" = { parent = 'world', mass = 1 }
    """
    model = load_model(write(text))
    assert model.body_names == ("arm", "hand")


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(write: Any):
    text = b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode()
    assert load_model(write(text)) == load_model(write(SOUND))


def test_repair_inertia_reaches_the_builder(write: Any):
    path = write('[bodies.a]\nparent = "world"\nmass = 1\ninertia = [1, 1, 5]\n')
    (fault,) = faults_of(path)
    assert fault.startswith("m.toml:4: Body 'a': inertia violates the triangle inequality")
    assert len(load(path, repair_inertia=True).repairs) == 1


# ---- scenarios ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_model_of_the_scenarios_is_sound(path: Path):
    model = load(path)
    q, v = model.random_state(np.random.default_rng(0))
    np.testing.assert_allclose(
        model.difference(q, model.integrate(q, 0.1 * v)), 0.1 * v, atol=1e-12
    )


def test_every_joint_has_every_joint():
    model = load(next(path for path in MODELS if path.stem == "every_joint"))
    assert sorted(joint.type_name for joint in model.joints) == sorted(CATALOGUE)


def test_the_scenarios_are_listed_in_their_readme():
    readme = (MODELS[0].parent.parent / "README.md").read_text()
    assert all(f"models/{path.name}" in readme for path in MODELS)


# ---- faults -------------------------------------------------------------------------------------

# a line of SOUND -> what it becomes -> how the only fault begins, and more words of it
CHANGES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "unknown top key": (
        "gravity =",
        "gravty =",
        "m.toml:2: ",
        ("'gravty'", "did you mean 'gravity'"),
    ),
    "unknown body key": ("mass =", "mas =", "m.toml:9: ", ("'mas'", "body 'arm'", "'mass'?")),
    "unknown key like none": ("com =", "zzz =", "m.toml:10: ", ("use one of parent, joint",)),
    "unknown frame key": ("body = ", "bdy = ", "m.toml:18: ", ("frame 'tip'", "'body'?")),
    "unknown joint key": (
        "axis =",
        "axes =",
        "m.toml:6: ",
        ("revolute joint of body 'arm'", "'axis'?"),
    ),
    "unknown joint type": ('"revolute"', '"revolut"', "m.toml:6: ", ("'revolut'", "'revolute'?")),
    "strange joint type": ('"revolute"', '"qqq"', "m.toml:6: ", ("use one of fixed, revolute",)),
    "joint type no text": ('"revolute"', "3", "m.toml:6: ", ("has type 3", "use one of fixed")),
    "joint without type": ('type = "revolute", ', "", "m.toml:6: ", ("no type", 'type = "rev')),
    "parent misspelt": ('"world"', '"wold"', "m.toml:5: ", ("'wold'", "did you mean 'world'")),
    "no parent": ('parent = "world"\n', "", "m.toml:4: ", ("'arm' has no parent", "'world'")),
    "negative mass": ("2.0", "-2.0", "m.toml:9: ", ("Body 'arm': mass is -2", "kilograms")),
    "true mass": ("2.0", "true", "m.toml:9: ", ("mass is True", "give a number")),
    "date for mass": ("2.0", "2024-01-01", "m.toml:9: ", ("mass is datetime", "give a number")),
    "NaN in com": ("-0.5", "nan", "m.toml:10: ", ("com is [0.0, 0.0, nan]", "not finite")),
    "asymmetric inertia": ("[0.01,", "[0.05,", "m.toml:11: ", ("not symmetric", "transpose")),
    "long quaternion": ("0.8", "1.8", "m.toml:8: ", ("norm 1.897", "unit quaternion")),
    "zero axis": ("[0, 1, 0]", "[0, 0, 0]", "m.toml:6: ", ("zero length", "(0, 0, 1)")),
    "number for joint name": ('"shoulder"', "1", "m.toml:6: ", ("its joint is named 1",)),
    "number for model name": ('"one arm"', "1", "m.toml:1: ", ("The model is named 1",)),
    "empty model name": ('"one arm"', '""', "m.toml:1: ", ("The model has an empty name",)),
    "short gravity": ("[0, 0, -1.62]", "[0, -1.62]", "m.toml:2: ", ("gravity is [0, -1.62]",)),
    "frame of no body": ('body = "arm"', 'body = "amr"', "m.toml:18: ", ("'amr'", "'arm'?")),
    "frame without body": ('body = "arm"\n', "", "m.toml:17: ", ("Frame 'tip' has no body",)),
    "body named world": ("[bodies.arm]", "[bodies.world]", "m.toml:4: ", ("'world'", "rename")),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_fault_names_file_line_and_remedy(what: str, write: Any):
    before, after, start, words = CHANGES[what]
    assert before in SOUND
    fault = faults_of(write(SOUND.replace(before, after, 1)))[0]
    assert fault.startswith(start)
    for word in words:
        assert word in fault


def test_a_misspelt_key_is_read_as_what_was_meant_so_that_it_is_the_only_fault(write: Any):
    assert len(faults_of(write(SOUND.replace("mass", "mas").replace("inertia", "inertai")))) == 2


@pytest.mark.parametrize(
    ("text", "start", "word"),
    [
        ("bodies = 3", "m.toml:1: ", "bodies is 3; write one table [bodies.NAME] each"),
        ("[bodies]\n\na = 3", "m.toml:3: ", "Body 'a' is 3; write a table [bodies.a]"),
        ("frames = []\n[bodies.a]\nparent='world'", "m.toml:1: ", "[frames.NAME]"),
        ("[[bodies]]\nparent='world'", "m.toml:1: ", "[bodies.NAME]"),
        ("[bodies.a]\nparent='world'\njoint='free'", "m.toml:3: ", "The joint of body 'a'"),
        ("", "m.toml: ", "no body"),
        ("[bodies.'']\nparent = 'world'", "m.toml:1: ", "empty name"),
        ("[bodies.a]\nparent = 'b'\n[bodies.b]\nparent='a'", "m.toml:2: ", "a → b → a"),
        ("[bodies.a]\nparent = 'world'\n[bodies.b]\nparent='a'\njoint={type='free', name='a'}",
         "m.toml:5: ", "Joint 'a'"),
    ],
)  # fmt: skip
def test_a_file_of_the_wrong_shape_is_refused(text: str, start: str, word: str, write: Any):
    assert any(f.startswith(start) and word in f for f in faults_of(write(text)))


def test_all_faults_of_file_and_model_come_at_once_from_top_to_bottom(write: Any):
    text = SOUND.replace("gravity", "gravty").replace("2.0", "-2.0").replace("[0, 1, 0]", "[0]")
    text += "\n[frames.tip2]\nbody = 'leg'\n"
    starts = [fault.split(": ")[0] for fault in faults_of(write(text))]
    assert starts == ["m.toml:2", "m.toml:6", "m.toml:9", "m.toml:22"]


def test_lines_are_found_past_multi_line_strings_and_arrays(write: Any):
    text = 'name = """\n[bodies.b]\nmass = 1\n"""\n' + SOUND.split("\n", 1)[1]
    text = text.replace("[0, 0, 0.1],", "[0, 0, 0.1], # ]\n").replace("[0, 0, -1]", "[0, -1]")
    lines = [fault.split(": ")[0] for fault in faults_of(write(text))]
    assert lines == ["m.toml:1", "m.toml:23"]  # a name of several lines; the frame's translation


# ---- files that cannot be read ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name = ", 1),
        ("name = 'a'\nname = 'b'", 2),
        ("[bodies.a]\n[bodies.a]", 2),
        ("\n\n[bodies.a\n", 3),
        ("x = [1,\n2,\n", 3),
    ],
)
def test_a_syntax_error_names_its_line(text: str, line: int, write: Any):
    (fault,) = faults_of(write(text))
    assert fault.startswith(f"m.toml:{line}: this is not TOML: ")


def test_text_that_is_not_utf8_names_its_line(write: Any):
    (fault,) = faults_of(write(b"name = 'a'\n# caf\xe9\n"))
    assert fault == "m.toml:2: this is not UTF-8 text; save the file as UTF-8."


def test_values_nested_without_end_are_refused(write: Any):
    (fault,) = faults_of(write("x = " + "[" * 100_000))
    assert "m.toml: values are nested too deeply" in fault


def test_missing_files_folders_and_odd_paths_are_refused(tmp_path: Path):
    (tmp_path / "folder.toml").mkdir()
    for name, words in (
        ("none.toml", "there is no such file"),
        ("folder.toml", "this is a folder"),
        ("folder.toml/none.toml", "there is no such file"),
        ("a\0b.toml", "cannot be read"),
        ("x" * 300 + ".toml", "cannot be read"),
    ):
        with pytest.raises(sk.ModelError, match=words):
            load(tmp_path / name)


@pytest.mark.parametrize("name", ["robot.sdf", "robot.xacro", "robot", "robot.TXT"])
def test_other_suffixes_are_refused_and_the_known_ones_named(name: str):
    with pytest.raises(sk.ModelError, match=r"does not read .*; give a model file in .*\.toml"):
        load(name)


def test_a_folder_is_refused_as_such(tmp_path: Path):
    with pytest.raises(sk.ModelError, match="does not read folders"):
        load(tmp_path)


# ---- fuzz ---------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [*SOUND.splitlines(keepends=True), *'[]{}"=,.#\n', "bodies", "'''", "true", "nan", "1e999", "é"]
)


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECES, max_size=20), cut=st.integers(0, len(SOUND)))
def test_any_text_is_a_model_or_a_model_error(pieces: list[str], cut: int, write: Any):
    path = write(SOUND[:cut] + "".join(pieces) + SOUND[cut:])
    try:
        faults = () if load(path).n_bodies else ("empty",)
    except sk.ModelError as error:
        faults = tuple(map(str, error.faults))
    assert all(fault.startswith(str(path)) for fault in faults)


def test_the_page_of_keys_is_current_and_has_every_key_of_the_reader():
    text = (Path(__file__).parents[1] / "docs" / "model-files.md").read_text(encoding="utf-8")
    assert text == model_page.renewed(text), (
        "run python -m skodyn.scenario.model_page docs/model-files.md"
    )
    parts = {part.partition("\n")[0]: part for part in text.split("\n### ")}
    rows = {head: set(re.findall(r"^\| `([^`]+)`", part, re.M)) for head, part in parts.items()}
    for group in ("bodies", "frames", "loops", "couplings"):
        further = {"collisions", "visuals"} if group == "bodies" else set()
        assert rows[f"`[{group}.NAME]`"] == {*model_toml.KEYS[group], *further}
    assert rows["`joint = { … }`: joints"] == {*CATALOGUE.built_in, *CLOSING}
    kinds = (*CATALOGUE.built_in.values(), *CLOSING.values())
    every = {f.name for kind in kinds for f in fields(kind)}
    assert rows["`joint = { … }`: keys of joints"] == every
    assert {*SHAPES} in rows.values()
    assert "| — |  |" not in text
