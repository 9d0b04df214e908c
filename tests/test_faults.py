"""A fault is data; its sentence is made of it, and nobody reads the sentence back."""

import ast
import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.errors import FaultsError, ModelError, ScenarioError, StateError, TopologyError
from skodyn.faults import Fault, Subject, dotted, in_file
from skodyn.scenario import parse_scenario
from skodyn.sweeps.plan import read_plan

SOURCES = Path(sk.__file__).parent
ROOT = Path(__file__).parents[1]

# ---- the value ----------------------------------------------------------------------------------


def test_the_sentence_is_place_problem_and_remedy():
    fault = Fault("mass is -1", "give one of at least 0.")
    assert str(fault) == "mass is -1; give one of at least 0."
    (placed,) = in_file("a.toml", [fault])
    assert str(placed) == "a.toml: mass is -1; give one of at least 0."
    assert str(Fault("no.", file="a.toml", line=3)) == "a.toml:3: no."
    outer = Fault("model.file has a fault", file="run.toml", line=2, cause=placed)
    assert str(outer) == "run.toml:2: model.file has a fault: " + str(placed)


def test_faults_of_a_file_come_from_its_top_down():
    faults = [Fault("c", line=9), Fault("a"), Fault("b", line=2)]
    assert [str(f) for f in in_file("x", faults)] == ["x: a", "x:2: b", "x:9: c"]


class Strange:
    """Fails whatever is done with it."""

    @property
    def dtype(self):
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        (True, True),
        (2, 2),
        ("text", "text"),
        ([1, [2.5, "x"]], (1, (2.5, "x"))),
        (np.float64(1.5), 1.5),
        (np.arange(3), (0, 1, 2)),
        ({"a": 1}, "{'a': 1}"),
        (len, "<built-in function len>"),
        (Strange(), "<Strange without a printable form>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_kept_as_numbers_texts_and_tuples(given, kept):
    fault = Fault("problem", value=given)
    assert fault.value == kept
    assert type(fault.value) is type(kept)
    assert pickle.loads(pickle.dumps(fault)) == fault
    assert hash(fault) == hash(Fault("problem", value=given))


def test_a_list_in_itself_does_not_hang():
    endless: list = []
    endless.append(endless)
    assert isinstance(Fault("problem", value=endless).value, tuple)


@pytest.mark.parametrize("kind", [ModelError, ScenarioError, StateError, TopologyError])
def test_errors_carry_faults_and_survive_a_process_boundary(kind):
    one = kind("q is 3", "give four numbers.")
    assert one.faults == (Fault("q is 3", "give four numbers."),)
    assert str(one) == "q is 3; give four numbers."
    several = kind([Fault("a", "b.", ("bodies", "arm", "mass"), -1.0, "arm"), "a sentence."])
    assert [type(fault) for fault in several.faults] == [Fault, Fault]
    back = pickle.loads(pickle.dumps(several))
    assert (type(back), back.faults, str(back)) == (kind, several.faults, str(several))
    assert str(several) == f"2 faults in this {kind.what}:\n  - a; b.\n  - a sentence."


def test_a_subject_writes_its_path_unless_it_has_words():
    in_words = Subject(("bodies", "arm"), "Body 'arm'", body="arm")
    assert str(in_words.found("mass", -1, "no.", ", hm")) == "Body 'arm': mass is -1, hm; no."
    as_path = Subject(("joints", "my joint")).found("lower", 2, "no.")
    assert str(as_path) == "joints.'my joint'.lower is 2; no."
    assert as_path.path == ("joints", "my joint", "lower")
    assert dotted("sweep", "designs", 2, "kind") == "sweep.designs[2].kind"


# ---- what the faults of a model, a scenario and a robot say as data ------------------------------

MODEL = """\
nme = "arm"
gravity = [0, 0]

[bodies.upper]
parent = "wrld"
joint = { type = "revolute", axis = [0, 0, 0], name = "shoulder" }
mass = -2.0

[bodies.lower]
parent = "upper"
joint.type = "prismatic"
joint.axis = [0, 1, 0]
joint.mimic.joint = "shouldr"
joint.mimic.multiplier = 0
com = [0, "a", 0]
inertia = [1, 1, 5]

[frames.tip]
body = "lwer"
rotation = [2, 0, 0, 0]

[loops.pin]
joint = { type = "revolute", armature = 1 }
body_a = "lower"
body_b = "nowhere"

[couplings.gear]
joint = "shoulder"
source = "nobody"
coefficients = [1, 2]
offset = 3
"""

PLACES = {
    (("nme",), 1),
    (("gravity",), 2),
    (("bodies", "upper", "parent"), 5),
    (("bodies", "upper", "joint", "axis"), 6),
    (("bodies", "upper", "mass"), 7),
    (("bodies", "lower", "joint", "mimic", "joint"), 13),
    (("bodies", "lower", "joint", "mimic", "multiplier"), 14),
    (("bodies", "lower", "joint", "mimic"), 13),  # beside loops
    (("bodies", "lower", "com"), 15),
    (("bodies", "lower", "inertia"), 16),
    (("frames", "tip", "body"), 19),
    (("frames", "tip", "rotation"), 20),
    (("loops", "pin", "joint", "armature"), 23),
    (("loops", "pin", "body_b"), 25),
    (("couplings", "gear", "source"), 29),
    (("couplings", "gear", "offset"), 31),
}


def refused(call, *arguments):
    with pytest.raises(FaultsError) as caught:
        call(*arguments)
    return caught.value.faults


def saved(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_every_fault_of_a_model_file_says_where_it_is(tmp_path):
    path = saved(tmp_path, "m.toml", MODEL)
    faults = refused(sk.load, path)
    assert {(fault.path, fault.line) for fault in faults} == PLACES
    assert {fault.file for fault in faults} == {str(path)}
    assert all(fault.problem and fault.remedy for fault in faults)
    by_path = {fault.path: fault for fault in faults}
    assert by_path["bodies", "upper", "mass"].value == -2.0
    assert by_path["bodies", "upper", "mass"].body == "upper"
    mimic = by_path["bodies", "lower", "joint", "mimic", "multiplier"]
    assert (mimic.body, mimic.joint, mimic.value) == ("lower", "lower", 0)


def test_faults_of_a_description_in_python_have_the_paths_of_a_file():
    builder = sk.ModelBuilder(gravity=(0, 0))
    builder.add_body("arm", "wall", sk.Revolute(axis=(0, 0, 0)), mass=-1.0, com=(1, 2))
    found = {(fault.path, fault.value) for fault in refused(builder.build)}
    assert found == {
        (("gravity",), (0, 0)),
        (("bodies", "arm", "parent"), "wall"),
        (("bodies", "arm", "joint", "axis"), (0, 0, 0)),
        (("bodies", "arm", "mass"), -1.0),
        (("bodies", "arm", "com"), (1, 2)),
    }


SCENARIO = """\
duraton = 1.0
seed = -1
[model]
file = "m.toml"
[initial.q]
elbow = 1
[joints."*"]
damping = -1
lower = 2
upper = 1
[controllers.hold]
type = "servo"
joint = "shoulder"
kp = "a"
[integrator]
method = "rk5"
[output]
evry = 2
"""

GOOD = """\
[bodies.upper]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0], name = "shoulder" }
mass = 1.0
"""


def test_a_scenario_tells_the_fault_in_its_model_file_as_the_cause(tmp_path):
    saved(tmp_path, "m.toml", MODEL)
    faults = refused(parse_scenario, SCENARIO, tmp_path)
    inner = [fault.cause for fault in faults if fault.cause]
    assert {(fault.path, fault.line) for fault in inner} == PLACES
    assert {fault.path for fault in faults if fault.cause} == {("model", "file")}


ROBOT = """\
<robot name="r">
  <link name="a"><inertial><mass value="-1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/></inertial></link>
  <link name="b"/>
  <joint name="j" type="revolut"><parent link="a"/><child link="c"/></joint>
  <joint name="k" type="continuous"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 0"/>
    <mimic joint="jj" multiplier="2"/></joint>
</robot>
"""

SWEEP = """\
duration = 0.1
[model]
file = "good.toml"
[joints.shoulder]
damping = 0.1
[sweep]
logz = "all"
replicas = 0
[sweep.grid]
"joints.shoulder.damping" = 3
[[sweep.designs]]
kind = "grid"
parameters = { "duration" = [0.1, 0.2] }
[[sweep.designs]]
kind = "gird"
[sweep.metrics.top]
of = "enrgy"
kind = "max"
level = 3
"""

POINTS = SWEEP.partition("[sweep]")[0] + '[sweep.grid]\n"joints.shoulder.damping" = [1, -3]\n'

CHANGES = """\
duration = 0.1
[model]
file = "good.toml"
gravity = [0, 0]
[model.changes.bodies.upper]
mass = -3.0
com.z = "a"
[model.changes.joints.shoulder]
damping = -1
"""


def every_refusal(folder):
    """Faults of all kinds of files, those of Python descriptions are told by the same code."""
    saved(folder, "good.toml", GOOD)
    good = SCENARIO.replace("m.toml", "good.toml")
    return [
        *refused(sk.load, saved(folder, "m.toml", MODEL)),
        *refused(parse_scenario, SCENARIO, folder),
        *refused(parse_scenario, good, folder),
        *refused(parse_scenario, CHANGES, folder),
        *refused(sk.load, saved(folder, "r.urdf", ROBOT)),
        *refused(read_plan, saved(folder, "s.toml", SWEEP)),
        *refused(read_plan, saved(folder, "p.toml", POINTS)),
    ]


def place_of(fault):
    cause = place_of(fault.cause) if fault.cause else None
    return fault.file, fault.line, fault.path, fault.body, fault.joint, cause


def test_rewording_every_sentence_moves_no_line(tmp_path, monkeypatch):
    before = [place_of(fault) for fault in every_refusal(tmp_path)]
    assert len(before) > 40
    assert len({line for _, line, *_ in before}) > 15
    as_it_was = Fault.__post_init__

    def reworded(fault):
        as_it_was(fault)
        if not fault.problem.startswith("\u2060"):  # `replace` makes faults of faults
            object.__setattr__(fault, "problem", "\u2060" + fault.problem[::-1])
            object.__setattr__(fault, "remedy", fault.remedy[::-1])

    monkeypatch.setattr(Fault, "__post_init__", reworded)
    after = every_refusal(tmp_path)
    assert all("\u2060" in str(fault) for fault in after)
    assert [place_of(fault) for fault in after] == before


def test_faults_of_a_sweep_have_lines_too(tmp_path):
    saved(tmp_path, "good.toml", GOOD)
    found = {fault.path: fault.line for fault in refused(read_plan, saved(tmp_path, "s", SWEEP))}
    assert found["sweep", "logz"] == 7
    assert found["sweep", "replicas"] == 8
    assert found["sweep", "grid", "joints.shoulder.damping"] == 10
    assert found["sweep", "designs", 1, "kind"] == 15
    assert found["sweep", "metrics", "top", "level"] == 19


def test_close_names_are_looked_for_in_one_place():
    users = [p for p in SOURCES.rglob("*.py") if "get_close_matches" in p.read_text()]
    assert [p.relative_to(SOURCES).as_posix() for p in users] == ["wording.py"]


# ---- misspelt keywords --------------------------------------------------------------------------


def arm():
    builder = sk.ModelBuilder()
    builder.add_body("arm", joint=sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0, 0, -1))
    return builder.build()


@pytest.mark.parametrize(
    ("call", "sentences"),
    [
        (
            lambda: sk.simulate(arm(), [0], [0], duration=1.0, dtt=0.1),
            ["simulate has no argument 'dtt'; did you mean 'dt'?"],
        ),
        (
            lambda: sk.simulate(arm(), [0], [0], duraton=1.0, rtoll=1e-6, chanels=["energy"]),
            [
                "simulate has no argument 'duraton'; did you mean 'duration'?",
                "simulate has no argument 'rtoll'; did you mean 'rtol'?",
                "simulate has no argument 'chanels'; did you mean 'channels'?",
            ],
        ),
        (
            lambda: sk.ModelBuilder().add_body("a", mas=1.0),
            ["ModelBuilder.add_body has no argument 'mas'; did you mean 'mass'?"],
        ),
        (
            lambda: sk.ModelBuilder().add_frame("a", "b", xyz=(0, 0, 0)),
            [
                "ModelBuilder.add_frame has no argument 'xyz'; it takes name, body, translation, "
                "rotation, at."
            ],
        ),
        (
            lambda: sk.ModelBuilder(gravty=(0, 0, 0)),
            ["ModelBuilder has no argument 'gravty'; did you mean 'gravity'?"],
        ),
        (
            lambda: sk.ModelBuilder().build(repair=True),
            ["ModelBuilder.build has no argument 'repair'; did you mean 'repair_inertia'?"],
        ),
        (
            lambda: sk.Revolute(axs=(0, 0, 1)),
            ["Revolute has no argument 'axs'; did you mean 'axis'?"],
        ),
        (
            lambda: sk.JointProperties(stifness=1.0, dampin=2.0),
            [
                "JointProperties has no argument 'stifness'; did you mean 'stiffness'?",
                "JointProperties has no argument 'dampin'; did you mean 'damping'?",
            ],
        ),
        (
            lambda: sk.Servo("elbow", kp=1.0, kdd=2.0),
            ["Servo has no argument 'kdd'; did you mean 'kd'?"],
        ),
        (
            lambda: sk.load("x.urdf", merge=False),
            ["load has no argument 'merge'; did you mean 'merge_fixed'?"],
        ),
        (
            lambda: sk.sweep("x.toml", {}, overwrit=True, metrcs={}),
            [
                "sweep has no argument 'overwrit'; did you mean 'overwrite'?",
                "sweep has no argument 'metrcs'; did you mean 'metrics'?",
            ],
        ),
    ],
)
def test_a_misspelt_keyword_is_answered_like_a_misspelt_key(call, sentences):
    with pytest.raises(sk.ArgumentError) as caught:
        call()
    assert isinstance(caught.value, TypeError)
    assert [str(fault) for fault in caught.value.faults] == sentences


def test_settings_of_integrators_are_still_arguments_of_simulate():
    run = sk.simulate(arm(), [0.1], [0], duration=0.01, dt=0.001, max_speed=50.0, tolerance=1e-12)
    assert run.status == "finished"
    with pytest.raises(TypeError, match="missing"):
        sk.simulate(arm(), [0], [0])


# ---- skodyn check --json ------------------------------------------------------------------------


def checked(path, capsys):
    code = main(["check", str(path), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_check_prints_the_faults_as_json(tmp_path, capsys):
    path = saved(tmp_path, "m.toml", MODEL)
    code, listed = checked(path, capsys)
    assert code == 2
    faults = refused(sk.load, path)
    assert [entry["sentence"] for entry in listed] == [str(fault) for fault in faults]
    (mass,) = [entry for entry in listed if entry["path"] == ["bodies", "upper", "mass"]]
    assert mass == {
        "file": str(path),
        "line": 7,
        "path": ["bodies", "upper", "mass"],
        "body": "upper",
        "joint": None,
        "value": -2.0,
        "problem": "Body 'upper': mass is -2, which is negative",
        "remedy": "give its mass in kilograms.",
        "cause": None,
        "sentence": f"{path}:7: Body 'upper': mass is -2, which is negative; give its mass in "
        "kilograms.",
    }


def test_check_prints_causes_in_other_files_and_numbers_that_json_has_not(tmp_path, capsys):
    saved(tmp_path, "m.toml", GOOD.replace("1.0", "nan"))
    path = saved(tmp_path, "s.toml", 'duration = 1\n[model]\nfile = "m.toml"\n')
    code, (entry,) = checked(path, capsys)
    assert (code, entry["line"], entry["path"]) == (2, 3, ["model", "file"])
    assert (entry["cause"]["line"], entry["cause"]["value"]) == (4, "nan")
    assert entry["cause"]["file"] == str(tmp_path / "m.toml")


def test_a_valid_file_has_an_empty_list_of_faults_and_a_missing_one_does_not(tmp_path, capsys):
    assert checked(saved(tmp_path, "m.toml", GOOD), capsys) == (0, [])
    code, (entry,) = checked(tmp_path / "none.toml", capsys)
    assert (code, entry["remedy"]) == (2, "check the path.")


WORDS = re.compile(
    r"\b(sound|mend|mends|culprit|left the finite|against no inertia|speaks of|at fault|came open"
    r"|nobody|is none|do(es)? not go (together )?with)\b|(?<!here )\bis no (joint|body|link)\b"
)


def test_messages_are_in_the_words_that_everybody_uses():
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text())
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert id(node) in said or not WORDS.search(node.value), (path, node.lineno)


def test_pages_and_public_docstrings_are_in_these_words_too():
    words = re.compile(r"\b(sound|mend|mends|culprit|left the finite)\b")
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    assert [page.name for page in pages if words.search(page.read_text())] == []
    assert [name for name in sk.__all__ if words.search(getattr(sk, name).__doc__ or "")] == []


# ---- one rule, one wording ----------------------------------------------------------------------

PROPERTIES = [
    (
        {"damping": -1.0},
        "damping is -1.0; give a number of at least 0, or a list of them, one for each degree of "
        "freedom.",
    ),
    (
        {"stiffness": "a"},
        "stiffness is 'a'; give a number of at least 0, or a list of them, one for each degree of "
        "freedom.",
    ),
    ({"friction_speed": 0.0}, "friction_speed is 0.0; give a number above 0."),
    ({"rest": float("nan")}, "rest is nan; give a finite number."),
    ({"damping": 1e70}, "damping is 1e+70; give ordinary SI values, at most 1e+60."),
    (
        {"lower": 2.0, "upper": 1.0},
        "lower is 2.0, not below upper = 1.0; exchange or correct them.",
    ),
]


@pytest.mark.parametrize(("given", "said"), PROPERTIES)
def test_joint_properties_are_judged_alike_in_python_in_files_and_as_changes(given, said, tmp_path):
    saved(tmp_path, "good.toml", GOOD)
    model = sk.load(tmp_path / "good.toml")
    keys = "".join(f"{key} = {json.dumps(x).lower()}\n" for key, x in given.items())
    base = 'duration = 1\n[model]\nfile = "good.toml"\n'
    more = "stiffness = 1\n" if "rest" in given else "friction = 1\n" * ("friction_speed" in given)
    (in_file,) = refused(parse_scenario, f"{base}[joints.shoulder]\n{keys}{more}", tmp_path)
    (changed,) = refused(lambda: model.with_changes(joints={"shoulder": given}))
    (in_python,) = refused(
        lambda: sk.simulate(
            model, [0], [0], duration=1.0, joints={"shoulder": sk.JointProperties(**given)}
        )
    )
    assert str(replace(in_file, file="", line=0)) == f"joints.shoulder.{said}"
    assert str(changed) == str(in_python) == f"Joint 'shoulder': {said}"
    assert in_file.path == changed.path == in_python.path
    assert in_file.remedy == changed.remedy == in_python.remedy


def test_springs_of_ball_joints_are_refused_alike(tmp_path):
    ball = GOOD.replace('type = "revolute", axis = [0, 1, 0]', 'type = "spherical"')
    saved(tmp_path, "good.toml", ball)
    model = sk.load(tmp_path / "good.toml")
    base = 'duration = 1\n[model]\nfile = "good.toml"\n'
    (in_file,) = refused(parse_scenario, f"{base}[joints.shoulder]\nstiffness = 1.0\n", tmp_path)
    (in_python,) = refused(lambda: model.with_changes(joints={"shoulder": {"stiffness": 1.0}}))
    assert in_file.remedy == in_python.remedy == "leave it out, or use a point spring."
    assert in_file.path == in_python.path == ("joints", "shoulder", "stiffness")


def test_a_sweep_speaks_of_stops_as_a_file_does(tmp_path):
    saved(tmp_path, "good.toml", GOOD)
    text = POINTS.partition("[sweep")[0].replace("damping = 0.1", "lower = -1\nupper = 1")
    text += '[sweep.grid]\n"joints.shoulder.lower" = [0, 2]\n"joints.shoulder.upper" = [1, 3]\n'
    (fault,) = refused(read_plan, saved(tmp_path, "s.toml", text))
    wording = "joints.shoulder.lower is 2.0, not below upper = 1.0; exchange or correct them."
    assert str(replace(fault, file="", line=0)) == f"run 2: {wording}"


KINDS = {"ArgumentError", "ModelError", "ScenarioError", "StateError", "TopologyError"}


def test_no_fault_is_written_as_one_sentence_with_its_remedy_inside():
    """Otherwise `remedy` would be empty; "[angular; linear]" is none."""
    for path in SOURCES.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords:
                continue
            named = ast.unparse(call.func)
            if named in KINDS or named.endswith("faults.append"):
                words = ast.unparse(call.args[0])
                sentence = isinstance(call.args[0], ast.Constant | ast.JoinedStr)
                assert not (sentence and "; " in words), (path, call.lineno, words)
