"""Loops and couplings that are no such thing: one sentence for each fault, all of them at once."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skodyn as sk
from exploring import examples
from skodyn.model.joints import CATALOGUE, CLOSING, Joint
from test_model_faults import GARBAGE, SOUND, built_or_refused

NAN, INF = float("nan"), float("inf")
HINGE = sk.Revolute()


@dataclass(frozen=True)
class Own(sk.Revolute):
    """A joint of one's own, of which no rows are known."""


def robot() -> sk.ModelBuilder:
    """crank → coupler → tool (fixed), rocker → stop (fixed), ball; all but `stop` are heavy."""
    b = sk.ModelBuilder()
    b.add_body("crank", "world", sk.Revolute(name="motor"), **SOUND)
    b.add_body("coupler", "crank", sk.Prismatic(), **SOUND)
    b.add_body("tool", "coupler", sk.Fixed(), **SOUND)
    b.add_body("rocker", "world", sk.Helical(pitch=0.1), **SOUND)
    b.add_body("stop", "rocker", sk.Fixed())
    b.add_body("ball", "world", sk.Spherical(), **SOUND)
    b.add_body("post", "world", sk.Fixed(), **SOUND)
    return b


def faults_of(builder: sk.ModelBuilder) -> tuple[str, ...]:
    with pytest.raises(sk.ModelError) as caught:
        builder.build()
    return tuple(map(str, caught.value.faults))


def loop(**changes: Any) -> Callable[[], tuple[str, ...]]:
    entries = {"name": "pin", "body_a": "tool", "body_b": "rocker", "joint": HINGE, **changes}

    def faults() -> tuple[str, ...]:
        b = robot()
        b.add_loop(**entries)
        return faults_of(b)

    return faults


def coupling(*arguments: Any, **options: Any) -> Callable[[], tuple[str, ...]]:
    def faults() -> tuple[str, ...]:
        b = robot()
        b.add_coupling("gear", *arguments, **options)
        return faults_of(b)

    return faults


ONE_COORDINATE = "couple joints with one coordinate, so take revolute, prismatic or helical ones."
FIVE = "give one to 5 numbers, from that of degree 0 on."

# what is described -> its only fault
TABLE: dict[str, tuple[Callable[[], tuple[str, ...]], str]] = {
    # ends
    "unknown body": (
        loop(body_a="tol"),
        "Loop 'pin': body_a is 'tol', which is not a body; did you mean 'tool'?",
    ),
    "a body like no other": (
        loop(body_b="xyz"),
        "Loop 'pin': body_b is 'xyz', which is not a body; name a body of the model, or 'world'.",
    ),
    "a number for a body": (
        loop(body_b=3),
        "Loop 'pin': body_b is 3, which is not a body; name a body of the model, or 'world'.",
    ),
    "no body": (
        loop(body_b=None),
        "Loop 'pin': it has no body_b; name a body of the model, or 'world'.",
    ),
    "one body": (
        loop(body_a="rocker"),
        "Loop 'pin': body_a and body_b are both 'rocker'; join two bodies that can move against "
        "each other.",
    ),
    "the ground twice": (
        loop(body_a="world", body_b="world"),
        "Loop 'pin': body_a and body_b are both 'world'; join two bodies that can move against "
        "each other.",
    ),
    "a body and what is fixed to it": (
        loop(body_a="stop"),
        "Loop 'pin': body_a 'stop' and body_b 'rocker' cannot move against each other, because all "
        "joints between them are fixed; take the loop away, or make one of them a joint that "
        "moves.",
    ),
    "a post in the ground": (
        loop(body_a="post", body_b="world"),
        "Loop 'pin': body_a 'post' and body_b 'world' cannot move against each other, because all "
        "joints between them are fixed; take the loop away, or make one of them a joint that "
        "moves.",
    ),
    # closing joints
    "free": (
        loop(joint=sk.Free()),
        "Loop 'pin': joint is free and closes nothing; take another, or no loop.",
    ),
    "no joint": (
        loop(joint=None),
        "Loop 'pin': joint is None; give a joint such as Revolute(axis=(0, 0, 1)) or "
        "Rod(length=0.5).",
    ),
    "a class": (
        loop(joint=sk.Revolute),
        "Loop 'pin': joint is <class 'skodyn.model.joint_kinds.revolute.Revolute'>; give a joint "
        "such as Revolute(axis=(0, 0, 1)) or Rod(length=0.5).",
    ),
    "a joint of one's own": (
        loop(joint=Own()),
        "Loop 'pin': joint is Own(armature=0.0, axis=(0.0, 0.0, 1.0), name=None), which cannot "
        f"close a loop; take one of {', '.join(CLOSING)}.",
    ),
    "armature": (
        loop(joint=sk.Revolute(armature=0.1)),
        "Loop 'pin', revolute joint: armature is 0.1, but a closing joint has no coordinate for a "
        "rotor; take it away, or cut the loop at another joint.",
    ),
    "armature of a weld": (
        loop(joint=sk.Fixed(armature=-1)),
        "Loop 'pin', fixed joint: armature is -1, but a closing joint has no coordinate for a "
        "rotor; take it away, or cut the loop at another joint.",
    ),
    "a name": (
        loop(joint=sk.Revolute(name="elbow")),
        "Loop 'pin', revolute joint: name is 'elbow', but a closing joint goes by the name of its "
        "loop; take it away.",
    ),
    "no axis": (
        loop(joint=sk.Revolute((0, 0, 0))),
        "Loop 'pin', revolute joint: axis (0.0, 0.0, 0.0) has zero length; give a direction such "
        "as (0, 0, 1).",
    ),
    "parallel axes": (
        loop(joint=sk.Universal((1, 0, 0), (1, 0, 0))),
        "Loop 'pin', universal joint: axis1 (1, 0, 0) and axis2 (1, 0, 0) are parallel; turn one "
        "of them, or use a revolute joint.",
    ),
    "a rod of no length": (
        loop(joint=sk.Rod()),
        "Loop 'pin', rod joint: length is 0; give a length greater than zero, in metres.",
    ),
    "a rod of negative length": (
        loop(joint=sk.Rod(-0.5)),
        "Loop 'pin', rod joint: length is -0.5; give a length greater than zero, in metres.",
    ),
    "a rod without end": (
        loop(joint=sk.Rod(INF)),
        "Loop 'pin', rod joint: length is inf, which is not finite; give ordinary SI values.",
    ),
    "a long rod": (
        loop(joint=sk.Rod("long")),  # type: ignore[arg-type]
        "Loop 'pin', rod joint: length is 'long'; give a number.",
    ),
    # frames
    "NaN": (
        loop(translation_a=(0, NAN, 0)),
        "Loop 'pin': translation_a is [0.0, nan, 0.0], which is not finite; give ordinary SI "
        "values.",
    ),
    "two numbers": (
        loop(translation_b=(0, 1)),
        "Loop 'pin': translation_b is (0, 1); give three numbers.",
    ),
    "no unit quaternion": (
        loop(rotation_a=(1, 1, 0, 0)),
        "Loop 'pin': rotation_a is (1, 1, 0, 0), of norm 1.41421356; give a unit quaternion (w, x, "
        "y, z).",
    ),
    "reflection": (
        loop(rotation_b=((1, 0, 0), (0, 1, 0), (0, 0, -1))),
        "Loop 'pin': rotation_b is ((1, 0, 0), (0, 1, 0), (0, 0, -1)), which is a reflection; flip "
        "the sign of one axis.",
    ),
    "infinite rotation": (
        loop(rotation_b=(INF, 0, 0, 0)),
        "Loop 'pin': rotation_b is (inf, 0, 0, 0), which is not finite; give a 3×3 matrix or a "
        "unit quaternion (w, x, y, z).",
    ),
    # names
    "empty name": (loop(name=" "), "Loop number 1 has an empty name (' '); give it one."),
    "no text for a name": (loop(name=7), "Loop number 1 is named 7; give it a text for a name."),
    # polynomials
    "itself": (
        coupling("motor", "motor", (0, 1)),
        "Coupling 'gear': joint and source are both 'motor'; couple two joints.",
    ),
    "unknown joint": (
        coupling("moto", "coupler", (0, 1)),
        "Coupling 'gear': joint is 'moto', which is not a joint; did you mean 'motor'?",
    ),
    "a body's name that is no joint's": (
        coupling("coupler", "crank", (0, 1)),
        "Coupling 'gear': source is 'crank', which is not a joint; name a joint of the model.",
    ),
    "a number for a joint": (
        coupling("coupler", 5, (0, 1)),
        "Coupling 'gear': source is 5, which is not a joint; name a joint of the model.",
    ),
    "no joint that follows": (
        coupling(source="coupler", coefficients=(0, 1)),
        "Coupling 'gear': it has no joint; name a joint of the model.",
    ),
    "nothing to follow": (
        coupling("coupler", coefficients=(0, 1)),
        "Coupling 'gear': it has no source for its 2 coefficients; name the joint that it follows.",
    ),
    "three coordinates": (
        coupling("coupler", "ball", (0, 1)),
        f"Coupling 'gear': source is 'ball', a spherical joint; {ONE_COORDINATE}",
    ),
    "no coordinate": (
        coupling("tool", "motor", (0, 1)),
        f"Coupling 'gear': joint is 'tool', a fixed joint; {ONE_COORDINATE}",
    ),
    "degree 5": (
        coupling("coupler", "motor", (0, 1, 0, 0, 0, 1)),
        "Coupling 'gear': coefficients has 6 numbers, which makes degree 5; give at most 5, for "
        "degree 4.",
    ),
    "no coefficients": (
        coupling("coupler", "motor", ()),
        f"Coupling 'gear': coefficients is (); {FIVE}",
    ),
    "a number for coefficients": (
        coupling("coupler", "motor", 2.0),
        f"Coupling 'gear': coefficients is 2.0; {FIVE}",
    ),
    "text among coefficients": (
        coupling("coupler", "motor", (0, "1")),
        f"Coupling 'gear': coefficients is (0, '1'); {FIVE}",
    ),
    "infinite coefficient": (
        coupling("coupler", "motor", (0, INF)),
        "Coupling 'gear': coefficients is [0.0, inf], which is not finite; give ordinary SI "
        "values.",
    ),
    "absurd coefficient": (
        coupling("coupler", "motor", (0, 1e90)),
        "Coupling 'gear': coefficients is [0.0, 1e+90], which is beyond ±1e60; give ordinary SI "
        "values.",
    ),
    "offset of a polynomial": (
        coupling("coupler", "motor", (0, 1), offset=0.5),
        "Coupling 'gear': offset is 0.5 beside coefficients; it belongs to terms, so add it to the "
        "first coefficient.",
    ),
    # which kind
    "nothing": (
        coupling("coupler", "motor"),
        "Coupling 'gear': it has neither coefficients nor terms; give one of them.",
    ),
    "both": (
        coupling("coupler", "motor", (0, 1), terms={"coupler": 1, "motor": 1}),
        "Coupling 'gear': it has both coefficients and terms; keep one of them.",
    ),
    # terms
    "no terms": (
        coupling(terms={}),
        "Coupling 'gear': terms is {}; give two joints or more, each with its factor.",
    ),
    "one term": (
        coupling(terms={"motor": 1}),
        "Coupling 'gear': terms is {'motor': 1}; give two joints or more, each with its factor.",
    ),
    "a list of terms": (
        coupling(terms=["motor", "coupler"]),
        "Coupling 'gear': terms is ['motor', 'coupler']; give two joints or more, each with its "
        "factor.",
    ),
    "zero factor": (
        coupling(terms={"motor": 1, "coupler": 1, "rocker": 0}),
        "Coupling 'gear': terms give 'rocker' the factor 0, which leaves it out; take it away.",
    ),
    "NaN factor": (
        coupling(terms={"motor": 1, "coupler": NAN}),
        "Coupling 'gear': terms give 'coupler' the factor nan; give a finite number.",
    ),
    "text for a factor": (
        coupling(terms={"motor": "1", "coupler": 1}),
        "Coupling 'gear': terms give 'motor' the factor '1'; give a finite number.",
    ),
    "unknown joint among terms": (
        coupling(terms={"motor": 1, "copler": 1}),
        "Coupling 'gear': terms name 'copler', which is not a joint; did you mean 'coupler'?",
    ),
    "a ball among terms": (
        coupling(terms={"motor": 1, "ball": 1}),
        f"Coupling 'gear': terms name 'ball', a spherical joint; {ONE_COORDINATE}",
    ),
    "infinite offset": (
        coupling(terms={"motor": 1, "coupler": 1}, offset=-INF),
        "Coupling 'gear': offset is -inf, which is not finite; give ordinary SI values.",
    ),
    "three offsets": (
        coupling(terms={"motor": 1, "coupler": 1}, offset=(1, 2, 3)),
        "Coupling 'gear': offset is (1, 2, 3); give a number.",
    ),
    "a joint beside terms": (
        coupling("rocker", terms={"motor": 1, "coupler": 1}),
        "Coupling 'gear': joint is 'rocker' beside terms; put it among them.",
    ),
    "a source beside terms": (
        coupling(source="rocker", terms={"motor": 1, "coupler": 1}),
        "Coupling 'gear': source is 'rocker' beside terms; put it among them.",
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_a_fault_is_one_sentence(case: str):
    faults, sentence = TABLE[case]
    assert faults() == (sentence,)


def test_the_robot_of_these_tests_is_sound():
    b = robot()
    b.add_loop("pin", "tool", "rocker", sk.Revolute(name="pin"))
    b.add_coupling("gear", "coupler", "motor", np.arange(5.0))
    b.add_coupling("lock", "rocker", coefficients=(0.5,))
    b.add_coupling("sum", terms={"motor": 1, "coupler": np.float32(2), "rocker": 3}, offset=-1)
    assert b.build().loop_names == ("pin", "gear", "lock", "sum")


def test_two_polynomials_for_one_joint_are_refused():
    b = robot()
    b.add_coupling("first", "coupler", "motor", (0, 1))
    b.add_coupling("second", "coupler", "rocker", (0, 1))
    b.add_coupling("third", "coupler", coefficients=(1,))
    b.add_coupling("sum", terms={"motor": 1, "coupler": 1})
    assert faults_of(b) == tuple(
        f"Coupling '{name}': joint is 'coupler', which coupling 'first' has as its joint already; "
        "keep one of them, or write terms."
        for name in ("second", "third")
    )


def test_a_name_used_twice_is_refused():
    b = robot()
    for name in ("pin", "pin", "other"):
        b.add_loop(name, "tool", "rocker", HINGE)
    b.add_coupling("gear", "coupler", "motor", (0, 1))
    b.add_coupling("gear", "rocker", "motor", (0, 1))
    b.add_coupling("other", terms={"motor": 1, "coupler": 1})
    assert faults_of(b) == (
        "Loop 'pin': 2 of them have this name; give each its own.",
        "Coupling 'gear': 2 of them have this name; give each its own.",
        "Coupling 'other' has the name of a loop; rename one of them.",
    )


def test_a_loop_cannot_be_called_like_the_ground():
    b = robot()
    b.add_loop("world", "tool", "rocker", HINGE)
    assert faults_of(b) == ("Loop 'world' has the name of the ground; rename it.",)


def test_mimic_joints_beside_loops_are_refused():
    b = robot()
    b.add_loop("pin", "tool", "rocker", HINGE)
    b.add_mimic("coupler", "motor", -2.0, 0.5)
    assert faults_of(b) == (
        "Joint 'coupler': it mimics 'motor', but models with loops or couplings take no mimic "
        "joints; write it as a coupling: add_coupling(name, 'coupler', 'motor', (0.5, -2.0)).",
    )
    b.mimics = []
    b.add_coupling("instead", "coupler", "motor", (0.5, -2.0))
    b.build()


def test_a_rod_carries_no_body():
    b = sk.ModelBuilder()
    b.add_body("arm", joint=sk.Rod(0.5), **SOUND)
    assert faults_of(b) == (
        "Body 'arm': joint is Rod(armature=0.0, length=0.5), which carries no body; take another "
        "joint, or close a loop with it (add_loop).",
    )


def test_all_faults_come_at_once_with_those_of_bodies():
    b = robot()
    b.add_body("arm", "wrld", sk.Revolute(), **{**SOUND, "mass": -1})
    b.add_loop("a", "tol", "rocker", sk.Revolute((0, 0, 0)), translation_a=(NAN, 0, 0))
    b.add_loop("b", "tool", "tool", sk.Rod(-1), rotation_b=5)
    b.add_coupling("c", "motor", "motor", (NAN,))
    b.add_coupling("d", terms={"motor": 0, "ball": 1, "x": 1}, offset=None)
    b.add_mimic("coupler", "motor")
    faults = faults_of(b)
    starts = ["Body 'arm'"] * 2 + ["Loop 'a'"] * 2 + ["Loop 'b'"] * 2 + ["Loop 'b'", "Loop 'a'"]
    starts += ["Coupling 'c'"] * 2 + ["Coupling 'd'"] * 4 + ["Joint 'coupler'"]
    assert sorted(starts) == sorted(fault.replace(",", ":").split(":")[0] for fault in faults)


# ---- anything else ------------------------------------------------------------------------------


LOOP_FIELDS = ["name", "body_a", "body_b", "joint", "translation_a", "rotation_a", "translation_b"]
COUPLING_FIELDS = ["name", "joint", "source", "coefficients", "terms", "offset"]
PARAMETERS = [(t, f.name) for t in CLOSING.values() for f in fields(t)]


@examples(300)
@given(
    loop=st.dictionaries(st.sampled_from([*LOOP_FIELDS, "rotation_b"]), GARBAGE, max_size=3),
    coupling=st.dictionaries(st.sampled_from(COUPLING_FIELDS), GARBAGE, max_size=3),
    terms=st.none() | st.dictionaries(st.sampled_from(["motor", "rocker", "x"]), GARBAGE),
)
def test_garbage_in_any_field_is_built_or_refused(
    loop: dict[str, Any], coupling: dict[str, Any], terms: Any
):
    b = robot()
    b.add_loop(**{"name": "pin", "body_a": "tool", "body_b": "rocker", "joint": HINGE, **loop})
    b.add_coupling(**{"name": "gear", "joint": "motor", "source": "rocker", **coupling})
    b.add_coupling("sum", terms=terms)
    assert built_or_refused(b)


@examples(200)
@given(parameter=st.sampled_from(PARAMETERS), value=GARBAGE)
def test_garbage_in_any_parameter_of_a_closing_joint_is_built_or_refused(
    parameter: tuple[type[Joint], str], value: Any
):
    joint_type, name = parameter
    b = robot()
    b.add_loop("pin", "tool", "rocker", joint_type(**{name: value}))
    assert built_or_refused(b)


# ---- in files -----------------------------------------------------------------------------------


SOUND_FILE = """\
[bodies.a]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0] }
mass = 1
[bodies.b]
parent = "a"
joint = { type = "revolute", axis = [0, 1, 0] }
mass = 1

[loops.pin]
joint = { type = "rod", length = 0.5 }
body_a = "b"
body_b = "world"
translation_b = [0, 0, 1]

[couplings.gear]
joint = "b"
source = "a"
coefficients = [0, 2]
"""


def faults_in(tmp_path: Path, *changes: tuple[str, str]) -> list[str]:
    text = SOUND_FILE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "m.toml"
    path.write_text(text)
    with pytest.raises(sk.ModelError) as caught:
        sk.load(path)
    return [fault.removeprefix(f"{tmp_path}{os.sep}") for fault in map(str, caught.value.faults)]


EXAMPLE = 'write for example joint = { type = "revolute", axis = [0, 0, 1] }.'
KEYS = "joint, source, coefficients, terms, offset"
IN_FILES = {
    "m.toml:14: Unknown key 'translation_c' in loop 'pin'; did you mean 'translation_b'?": [
        ("translation_b", "translation_c")
    ],
    "m.toml:18: Unknown key 'sourse' in coupling 'gear'; did you mean 'source'?": [
        ("source", "sourse")
    ],
    f"m.toml:19: Unknown key 'weight' in coupling 'gear'; use one of {KEYS}.": [
        ("coefficients = [0, 2]", "weight = 2\ncoefficients = [0, 2]")
    ],
    "m.toml:11: Unknown key 'lenght' in rod joint of loop 'pin'; did you mean 'length'?": [
        ("length", "lenght")
    ],
    "m.toml:11: The joint of loop 'pin' has type 'rodd'; did you mean 'rod'?": [
        ('"rod"', '"rodd"')
    ],
    f"m.toml:10: The joint of loop 'pin' is missing; {EXAMPLE}": [
        ('joint = { type = "rod", length = 0.5 }\n', "")
    ],
    f"m.toml:11: The joint of loop 'pin' is 3; {EXAMPLE}": [
        ('{ type = "rod", length = 0.5 }', "3")
    ],
    "m.toml:11: Loop 'pin': joint is free and closes nothing; take another, or no loop.": [
        ('{ type = "rod", length = 0.5 }', '{ type = "free" }')
    ],
    "m.toml:11: Loop 'pin', rod joint: length is -0.5; give a length greater than zero, in "
    "metres.": [("0.5", "-0.5")],
    "m.toml:11: Loop 'pin', rod joint: length is 0; give a length greater than zero, in metres.": [
        (", length = 0.5", "")
    ],
    "m.toml:10: Loop 'pin': it has no body_a; name a body of the model, or 'world'.": [
        ('body_a = "b"\n', "")
    ],
    "m.toml:12: Loop 'pin': body_a is 'bb', which is not a body; did you mean 'b'?": [
        ('body_a = "b"', 'body_a = "bb"')
    ],
    "m.toml:14: Loop 'pin': translation_b is [0, 1]; give three numbers.": [
        ("[0, 0, 1]", "[0, 1]")
    ],
    "m.toml:18: Coupling 'gear': source is 'c', which is not a joint; name a joint of the model.": [
        ('source = "a"', 'source = "c"')
    ],
    "m.toml:16: Coupling 'gear': it has no joint; name a joint of the model.": [
        ('joint = "b"\n', "")
    ],
}


@pytest.mark.parametrize("sentence", IN_FILES)
def test_a_fault_in_a_file_names_its_line(sentence: str, tmp_path: Path):
    assert faults_in(tmp_path, *IN_FILES[sentence]) == [sentence]


def test_a_name_in_both_tables_of_a_file_is_refused(tmp_path: Path):
    assert faults_in(tmp_path, ("couplings.gear", "couplings.pin")) == [
        "m.toml:16: Coupling 'pin' has the name of a loop; rename one of them."
    ]


TREE = SOUND_FILE[: SOUND_FILE.index("\n[loops")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("loops = 3\n", "loops is 3; write one table [loops.NAME] each."),
        ("loops.pin = 3\n", "Loop 'pin' is 3; write a table [loops.pin]."),
        ("couplings.gear = 3\n", "Coupling 'gear' is 3; write a table [couplings.gear]."),
    ],
)
def test_what_is_no_table_is_refused(text: str, sentence: str, tmp_path: Path):
    assert faults_in(tmp_path, (SOUND_FILE, text + TREE)) == [f"m.toml:1: {sentence}"]


def test_a_body_on_a_rod_is_refused_in_files(tmp_path: Path):
    rod = TREE.replace('"revolute", axis = [0, 1, 0]', '"rod", length = 1', 1)
    assert faults_in(tmp_path, (SOUND_FILE, rod)) == [
        f"m.toml:3: The joint of body 'a' has type 'rod'; use one of {', '.join(CATALOGUE)}."
    ]


def test_empty_names_in_a_file_are_refused_with_their_lines(tmp_path: Path):
    changes = (("loops.pin", 'loops." "'), ("couplings.gear", 'couplings.""'))
    assert faults_in(tmp_path, *changes) == [
        "m.toml:10: Loop number 1 has an empty name (' '); give it one.",
        "m.toml:16: Coupling number 1 has an empty name (''); give it one.",
    ]
