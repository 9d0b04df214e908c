"""Scenario files: what they mean, and that every fault names its file, line and remedy."""

from __future__ import annotations

import importlib.util
import math
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from exploring import examples
from skodyn.model.contact.contacts import Contact
from skodyn.scenario import Scenario, ScenarioError, page, parse_scenario, read_scenario
from skodyn.scenario.description import Bounds
from skodyn.scenario.schema import SCHEMA, element_types
from skodyn.simulation.elements import (
    Forces,
    JointProperties,
    PointSpring,
    Servo,
    TorqueTable,
    Wrench,
)
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "scenarios"
SCENARIOS = [p for p in sorted(FOLDER.glob("*.toml")) if not p.stem.startswith("sweep_")]
if os.environ.get("SKODYN_LIGHT") == "1":  # MJCF is read through a peer
    SCENARIOS = [p for p in SCENARIOS if ".xml" not in p.read_text()]

SOUND = """\
title = "test"
seed = 5
duration = 2.0

[model]
name = "four"

[model.bodies.cart]
parent = "world"
joint = { type = "prismatic", axis = [1, 0, 0], name = "rail" }
mass = 1.0

[model.bodies.arm]
parent = "cart"
joint = { type = "spherical", name = "ball" }
mass = 1.0
inertia = [1, 1, 1]

[model.bodies.plate]
parent = "arm"
joint = { type = "fixed", name = "weld" }
mass = 0.1

[model.bodies.drone]
parent = "world"
joint = { type = "free", name = "air" }
mass = 1.0
inertia = [1, 1, 1]

[initial]
v_noise = 0.0

[initial.q]
rail = 0.5
ball = [0.6, 0.8, 0, 0]
air = [1, 0, 0, 0, 1, 2, 3]

[initial.v]
ball = [0.1, 0.2, 0.3]

[joints.rail]
stiffness = 3.0
rest = 0.1
lower = -1.0
upper = 1.0

[joints."*"]
damping = 0.2

[controllers.hold]
type = "servo"
joint = "rail"
kp = 10.0
gravity_compensation = true

[controllers.kick]
type = "torque_table"
joint = "rail"
times = [0, 1, 2]
torques = [0, 5, 0]

[forces.push]
type = "wrench"
body = "arm"
force = [1, 0, 0]
frame = "body"

[forces.rope]
type = "point_spring"
body_a = "world"
body_b = "drone"
stiffness = 7.0

[integrator]
method = "implicit_midpoint"
dt = 0.01
tolerance = 1e-12

[output]
every = 10
channels = ["energy", "tau"]

[bounds]
max_speed = 50.0
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Write a scenario file and return its path."""

    def _write(text: str | bytes, name: str = "s.toml") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def faults_of(text: str) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, FOLDER)
    return list(map(str, caught.value.faults))


def line_of(text: str) -> int:
    return SOUND[: SOUND.index(text)].count("\n") + 1


# ---- what a file means --------------------------------------------------------------------------


def test_a_scenario_says_what_its_file_says():
    s = parse_scenario(SOUND, FOLDER)
    m = s.model
    assert (s.title, s.seed, s.duration, s.path, s.text) == ("test", 5, 2.0, None, SOUND)
    assert s.q0[m.q_slice("rail")] == 0.5
    np.testing.assert_array_equal(s.q0[m.q_slice("ball")], [0.6, 0.8, 0, 0])
    np.testing.assert_array_equal(s.q0[m.q_slice("air")], [1, 0, 0, 0, 1, 2, 3])
    np.testing.assert_array_equal(s.v0[m.v_slice("ball")], [0.1, 0.2, 0.3])
    assert s.v0.sum() == pytest.approx(0.6)
    assert s.forces.joints == {
        "rail": JointProperties(stiffness=3.0, rest=0.1, lower=-1.0, upper=1.0),
        "ball": JointProperties(damping=0.2),
        "air": JointProperties(damping=0.2),
    }
    assert s.forces.elements == (
        Servo("rail", 10.0, gravity_compensation=True),
        TorqueTable("rail", (0.0, 1.0, 2.0), (0.0, 5.0, 0.0)),
        Wrench("arm", (1.0, 0.0, 0.0), frame="body"),
        PointSpring("world", "drone", 7.0),
    )
    assert s.integrator == IntegratorSettings(
        "implicit_midpoint", 0.01, tolerance=1e-12, max_speed=50.0
    )
    assert (s.output.every, s.output.channels, s.bounds) == (10, ("energy", "tau"), Bounds(50.0))
    assert s.rows == 20
    assert not s.q0.flags.writeable
    assert not s.v0.flags.writeable


def test_what_is_left_out_has_the_default_of_its_dataclass():
    s = parse_scenario('duration = 1\n[model]\nfile = "models/double_pendulum.toml"', FOLDER)
    assert s.title == "double pendulum"
    assert s.integrator == IntegratorSettings()
    assert s.forces == Forces()
    assert s.bounds == Bounds(math.inf)
    np.testing.assert_array_equal(s.q0, s.model.neutral())


def test_an_adaptive_method_logs_at_intervals():
    text = 'duration = 1\nmodel.file = "models/double_pendulum.toml"\noutput.interval = 0.25\n'
    s = parse_scenario(text + 'integrator = { method = "dormand_prince", rtol = 1e-6 }', FOLDER)
    assert (s.integrator.dt, s.integrator.rtol, s.output.every, s.rows) == (0.25, 1e-6, 1, 4)


def test_noise_follows_from_the_seed_alone():
    noisy = SOUND.replace("v_noise = 0.0", "q_noise = 0.3\nv_noise = 0.2")
    a, b = parse_scenario(noisy, FOLDER), parse_scenario(noisy, FOLDER)
    other = parse_scenario(noisy.replace("seed = 5", "seed = 6"), FOLDER)
    calm = parse_scenario(SOUND, FOLDER)
    np.testing.assert_array_equal(a.q0, b.q0)
    np.testing.assert_array_equal(a.v0, b.v0)
    a.model.check_q(a.q0)
    assert not np.isclose(a.q0, other.q0).any()
    shift, kick = a.model.difference(calm.q0, a.q0), a.v0 - calm.v0
    assert 0.05 < shift.std() < 0.6
    assert 0.05 < kick.std() < 0.4


def test_the_model_file_is_found_from_the_folder_of_the_scenario(write: Any, tmp_path: Path):
    (tmp_path / "m.toml").write_text('[bodies.a]\nparent = "world"\nmass = 1')
    path = write('duration = 1\nmodel.file = "m.toml"')
    assert read_scenario(path).path == path
    assert read_scenario(os.path.relpath(path)).model.body_names == ("a",)


def test_a_duration_of_rounded_steps_is_accepted():
    for duration, dt in (("60", "0.0166666667"), ("0.3", "0.1"), ("1e3", "1e-3")):
        text = SOUND.replace("duration = 2.0", f"duration = {duration}")
        text = text.replace("every = 10", "every = 1").replace("dt = 0.01", f"dt = {dt}")
        assert parse_scenario(text, FOLDER).rows == round(float(duration) / float(dt))


# ---- the folder, the schema and the page --------------------------------------------------------


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_is_sound_and_says_what_to_look_at(path: Path):
    scenario = read_scenario(path)
    assert isinstance(scenario, Scenario)
    assert scenario.rows >= 100
    assert "# What to look at: " in scenario.text
    assert f"`{path.name}`" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_there_are_ten_scenarios_and_they_use_every_element_and_method_but_one():
    read = [read_scenario(path) for path in SCENARIOS]
    assert len(read) >= 10
    used = {type(element) for scenario in read for element in scenario.forces.elements}
    assert used == {*element_types("controllers").values(), *element_types("forces").values()}
    methods = {scenario.integrator.method for scenario in read}
    assert methods == {*METHODS} - {"semi_implicit_euler"}


def test_generated_models_are_what_the_script_makes():
    spec = importlib.util.spec_from_file_location("make_models", FOLDER / "make_models.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, make in script.FILES.items():
        assert (FOLDER / "models" / name).read_text(encoding="utf-8") == make()


def test_the_schema_has_every_field_of_its_dataclasses():
    elsewhere = {AndersenThermostat: {"seed"}, Contact: {"name"}}
    for cls in SCHEMA.keys() - {IntegratorSettings}:
        assert {*SCHEMA[cls]} == {f.name for f in fields(cls)} - elsewhere.get(cls, set())
    assert {*SCHEMA[IntegratorSettings]} == {*IntegratorSettings().plain()} - {"max_speed"}


def test_the_page_is_current():
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    remedy = "run python -m skodyn.scenario.page docs/scenarios.md"
    assert text == page.renewed(text), remedy
    for name, method in METHODS.items():
        assert f"| `{name}` | {', '.join(f'`{key}`' for key in method.keys)} |" in text


# ---- faults -------------------------------------------------------------------------------------

# what is at fault: what SOUND has, what stands there instead, words of the only fault
CHANGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "unknown top key": ("seed =", "sede =", ("'sede' in the scenario", "did you mean 'seed'?")),
    "unknown section": ("[bounds]", "[bouns]", ("'bouns'", "did you mean 'bounds'?")),
    "key like none": ("seed =", "zzz =", ("'zzz'", "use one of title, duration, seed, model")),
    "unknown model key": ('name = "four"', 'nam = "four"', ("'nam' in model", "'name'?")),
    "unknown body key": ("mass = 0.1", "mas = 0.1", ("'mas'", "did you mean 'mass'?")),
    "unknown initial key": ("v_noise", "v_nois", ("'v_nois' in initial", "'v_noise'?")),
    "unknown joint key": ("damping", "dampin", ("'dampin' in joints.'*'", "'damping'?")),
    "unknown servo key": ("kp =", "kpp =", ("'kpp' in controllers.hold", "'kp'?")),
    "unknown output key": ("every =", "evry =", ("'evry' in output", "'every'?")),
    "no duration": ("duration = 2.0\n", "", ("The scenario has no duration", "above 0")),
    "negative duration": ("= 2.0", "= -2.0", ("duration is -2.0; give a number above 0",)),
    "duration no number": ("= 2.0", '= "2"', ("duration is '2'; give a number",)),
    "duration a truth": ("= 2.0", "= true", ("duration is True; give a number",)),
    "endless duration": ("= 2.0", "= inf", ("duration is inf; give a number above 0",)),
    "huge duration": ("= 2.0", "= 1e300", ("duration is 1e+300", "at most 1e+60")),
    "duration no whole steps": ("= 2.0", "= 2.004", ("200.4 times integrator", "give 2 or 2.01,")),
    "title no text": ('"test"', "3", ("title is 3; give a text",)),
    "negative seed": ("seed = 5", "seed = -5", ("seed is -5; give a whole number",)),
    "broken seed": ("seed = 5", "seed = 5.0", ("seed is 5.0; give a whole number",)),
    "model fault": ("mass = 0.1", "mass = -0.1", ("Body 'plate': mass is -0.1",)),
    "joint misspelt in q": ("rail = 0.5", "rial = 0.5", ("no joint 'rial'", "'rail'?")),
    "joint like none in q": (
        "rail = 0.5",
        "zz = 1",
        ("no joint 'zz'", "the joints are 'rail', 'ball', 'weld' and 'air'"),
    ),
    "fixed joint in q": ("rail = 0.5", "weld = 0.5", ("joint 'weld' is fixed", "leave it out")),
    "two numbers in q": ("rail = 0.5", "rail = [1, 2]", ("initial.q.rail is [1, 2]", "a finite")),
    "text in q": ("rail = 0.5", 'rail = "x"', ("initial.q.rail is 'x'", "prismatic joint takes")),
    "infinite q": ("rail = 0.5", "rail = inf", ("initial.q.rail is inf", "a finite number")),
    "table in q": ("rail = 0.5", "rail.x = 5", ("initial.q.rail is {'x': 5}",)),
    "short quaternion": ("[0.6, 0.8, 0, 0]", "[1, 0, 0]", ("a spherical", "unit quaternion")),
    "long quaternion": (
        "[0.6, 0.8, 0, 0]",
        "[0, 3, 0, 4]",
        ("has norm 5 instead of 1; give [0.0, 0.6, 0.0, 0.8]",),
    ),
    "zero quaternion": ("[0.6, 0.8, 0, 0]", "[0, 0, 0, 0]", ("norm 0", "give [1, 0, 0, 0]")),
    "free joint's quaternion": ("air = [1, 0,", "air = [1, 1,", ("initial.q.air", "norm 1.414")),
    "short free joint": ("air = [1, 0, 0, 0, 1, 2, 3]", "air = [1, 0, 0]", ("seven numbers",)),
    "long velocity": ("[0.1, 0.2, 0.3]", "[1, 2, 3, 4]", ("initial.v.ball", "three numbers")),
    "pattern in v": ("ball = [0.1,", '"*l" = [0.1,', ("initial.v.'*l' (for joint 'rail')",)),
    "negative noise": ("v_noise = 0.0", "v_noise = -1", ("initial.v_noise is -1", "at least 0")),
    "negative damping": ("damping = 0.2", "damping = -0.2", ("joints.'*'.damping is -0.2",)),
    "infinite damping": ("damping = 0.2", "damping = nan", ("joints.'*'.damping is nan",)),
    "joint misspelt": ("[joints.rail]", "[joints.rall]", ("no joint 'rall'", "'rail'?")),
    "stops exchanged": ("lower = -1.0", "lower = 2.0", ("is 2.0, not below upper = 1.0",)),
    "infinite stop": ("upper = 1.0", "upper = inf", ("upper is inf", "leave it out for no limit")),
    "spring on quaternion": ("damping = 0.2", "stiffness = 1", ("'ball' is spherical",)),
    "stop on quaternion": ("damping = 0.2", "lower = 1", ("joints.'*'.lower", "quaternion")),
    "rest without spring": ("stiffness = 3.0\n", "", ("rest has no effect", "give stiffness too")),
    "two patterns": ('[joints."*"]', '[joints."*l"]\n[joints."b*"]', ("both fit joint 'ball'",)),
    "pattern of none": ('[joints."*"]', '[joints."x*"]', ("no joint 'x*'",)),
    "no type": ('type = "servo"\n', "", ("hold has no type", "give one of python, servo")),
    "type misspelt": ('"servo"', '"sevro"', ("type is 'sevro'", "did you mean 'servo'?")),
    "type of the other group": ('"servo"', '"wrench"', ("give one of python, servo, sinusoid",)),
    "type no text": ('"servo"', "[1]", ("hold.type is [1]", "give one of python, servo")),
    "no kp": ("kp = 10.0\n", "", ("controllers.hold has no kp; give a finite number",)),
    "kp no number": ("kp = 10.0", "kp = [10.0]", ("controllers.hold.kp is [10.0]",)),
    "truth no truth": ("= true", "= 1", ("gravity_compensation is 1; give true or false",)),
    "servo on no joint": ('"rail"\nkp', '"rai"\nkp', ("hold.joint is 'rai'", "'rail'?")),
    "servo on a ball": ('"rail"\nkp', '"ball"\nkp', ("a spherical joint with 3 degrees",)),
    "servo on a weld": ('"rail"\nkp', '"weld"\nkp', ("a fixed joint with 0 degrees",)),
    "negative limit": ("kp = 10.0", "kp = 10.0\nlimit = -1", ("limit is -1; give a number above",)),
    "times not rising": ("[0, 1, 2]", "[0, 1, 1]", ("times is [0, 1, 1]", "later than the one")),
    "too few torques": ("[0, 5, 0]", "[0, 5]", ("3 times and 2 torques",)),
    "body misspelt": ('body = "arm"', 'body = "amr"', ("push.body is 'amr'", "'arm'?")),
    "body like none": ('body = "arm"', 'body = "zz"', ("the bodies are 'cart', 'arm'",)),
    "push on the ground": ('body = "arm"', 'body = "world"', ("ground; name a body",)),
    "push of nothing": ("force = [1, 0, 0]\n", "", ("neither force nor moment",)),
    "flat force": ("force = [1, 0, 0]", "force = [1, 0]", ("push.force is [1, 0]; give three",)),
    "frame misspelt": ('"body"\n', '"boddy"\n', ("push.frame is 'boddy'", "'body'?")),
    "spring to itself": ('"drone"\n', '"world"\n', ("both ends on 'world'", "two different")),
    "controller no table": ("[controllers.hold]", "[controllers]\nx = 3\n[controllers.hold]",
                            ("controllers.x is 3; write a table [controllers.x]",)),
    "method misspelt": ("implicit_midpoint", "implicit_midpint", ("'implicit_midpoint'?",)),
    "setting of another method": ('"implicit_midpoint"', '"rk4"', ("tolerance is not for",)),
    "zero dt": ("dt = 0.01", "dt = 0", ("integrator.dt is 0; give a number above 0",)),
    "tiny dt": ("dt = 0.01", "dt = 1e-30", ("integrator.dt is 1e-30", "2e+30 parts")),
    "long dt": ("dt = 0.01", "dt = 30", ("integrator.dt is 30.0", "fits the duration")),
    "every 0": ("every = 10", "every = 0", ("every is 0; give a whole number of at least 1",)),
    "every a fraction": ("every = 10", "every = 1.5", ("output.every is 1.5",)),
    "every beyond the end": ("every = 10", "every = 300", ("only 200 steps; give 200 or less",)),
    "interval of fixed steps": ("every = 10", "interval = 0.1", ("give output.every instead",)),
    "channel misspelt": ('"energy"', '"enrgy"', ("['enrgy', 'tau']", "did you mean 'energy'?")),
    "channel twice": ('"energy"', '"tau"', ("['tau', 'tau']", "each at most once")),
    "channels no list": ('["energy", "tau"]', '"all"', ("channels is 'all'; give a list of",)),
    "negative bound": ("max_speed = 50.0", "max_speed = -1", ("bounds.max_speed is -1",)),
    "section no table": ("[bounds]\n", "[[bounds]]\n", ("write a table [bounds]",)),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_a_fault_is_the_only_one_and_names_line_value_and_remedy(what: str):
    before, after, words = CHANGES[what]
    assert before in SOUND
    faults = faults_of(SOUND.replace(before, after, 1))
    assert all(word in faults[0] for word in words), faults[0]
    assert {fault.split(":")[0] for fault in faults} == {"scenario"}
    assert len({fault.split(": ", 1)[1] for fault in faults}) == len(faults) == 1


@pytest.mark.parametrize(
    ("before", "after", "misspelt"),
    [
        ("[bounds]\n", "[run]\n", "'run' in the scenario; did you mean 'ground'?"),
        ("[bounds]\n", "[contcts]\n", "'contcts' in the scenario; did you mean 'contacts'?"),
        ("[integrator]\n", "[motoins.rail]\n", "'motoins'"),
        ("[controllers.hold]\n", '[controlers.hold]\nkd = "x"\n', "'controlers'"),
        ("seed =", "duraton = -1\nsede =", "'sede' in the scenario; did you mean 'seed'?"),
        ("kp = 10.0", 'kpp = "x"', "'kpp' in controllers.hold; did you mean 'kp'?"),
        ("[model]\n", "[modl]\nmas = 3\n", "'modl' in the scenario; did you mean 'model'?"),
    ],
)
def test_of_a_misspelt_table_or_key_only_the_misspelling_is_told(before, after, misspelt):
    assert before in SOUND
    faults = faults_of(SOUND.replace(before, after, 1))
    assert any(misspelt in fault for fault in faults), faults
    assert all("Unknown key" in fault for fault in faults), faults


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("kp = 10.0", "kp = true"),
        ('"drone"\n', '"dron"\n'),
        ("every = 10", "every = 0"),
        ("rail = 0.5", "rial = 0.5"),
        ("mass = 0.1", "mass = -1"),
    ],
)
def test_a_fault_names_its_line(before: str, after: str):
    (fault,) = faults_of(SOUND.replace(before, after, 1))
    assert fault.startswith(f"scenario:{line_of(before)}: ")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("", ("scenario: The scenario has no model", "write a table [model]")),
        ("model = 3", ("scenario:2: model is 3; write a table [model]",)),
        ("[model]", ("scenario:2: model has neither file nor bodies",)),
        ("model.file = 3", ("scenario:2: model.file is 3; give the path",)),
        ('model.file = ""', ("model.file is ''",)),
        ('model.fil = "models/furuta.toml"', ("'fil' in model; did you mean 'file'?",)),
        ('model.file = "models/furata.toml"', ("no file", "did you mean 'furuta.toml'?")),
        ('model.file = "no/where.toml"', ("there is no file", "check the path")),
        ('model.file = "models"', ("there is no file",)),
        ('model.file = "a\\u0000b"', ("there is no file",)),
        (f'model.file = "{"x" * 5000}"', ("there is no file",)),
        ('model.file = "README.md"', ("model.file has a fault", "does not read .md files")),
        (
            '[model]\nfile = "models/furuta.toml"\nbodies.a.mass = 1',
            ("scenario:4: model has both file and bodies",),
        ),
    ],
)
def test_a_model_that_cannot_be_had_is_refused(model: str, words: tuple[str, ...]):
    faults = faults_of(f"duration = 1\n{model}")
    assert all(word in faults[0] for word in words), faults
    assert len(faults) == 1


def test_faults_of_a_model_file_are_told_with_its_lines(write: Any, tmp_path: Path):
    bad = write('[bodies.a]\nparent = "wold"\nmass = -1', "bad.toml")
    with pytest.raises(ScenarioError) as caught:
        read_scenario(write('duration = 1\nsede = 1\n\n[model]\nfile = "bad.toml"'))
    starts = [fault.removeprefix(f"{tmp_path}{os.sep}") for fault in map(str, caught.value.faults)]
    assert [start.split(": ")[0] for start in starts] == ["s.toml:2", "s.toml:5", "s.toml:5"]
    assert f"has a fault: {bad}:2: " in starts[1]
    assert f"has a fault: {bad}:3: " in starts[2]


def test_all_faults_come_at_once_from_top_to_bottom():
    text = SOUND.replace('"drone"\n', '"dron"\n').replace("seed", "sede").replace("2.0", "-2.0")
    text = text.replace("kp = 10.0", 'kp = "x"').replace("0.8", "0.9").replace('"tau"', '"tao"')
    text = text.replace("mass = 0.1", "mass = -1")
    lines = [int(fault.split(":")[1]) for fault in faults_of(text)]
    assert lines == sorted(lines)
    assert len(lines) == 5  # without a model, names and quaternions cannot be judged
    assert len(faults_of(text.replace("mass = -1", "mass = 1"))) == 6


def test_noise_beyond_reason_still_makes_a_state():
    s = parse_scenario(SOUND.replace("v_noise = 0.0", "q_noise = 1e60\nv_noise = 1e60"), FOLDER)
    s.model.check_q(s.q0)
    assert np.isfinite(s.v0).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("duration = ", "scenario:1: this is not TOML"),
        ("a = 1\na = 2", "scenario:2: this is not TOML"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("duration = " + "1" * 5000, "too many digits"),
        ("duration = 0x" + "1" * 5000, "duration is <int without a printable form>"),
    ],
)
def test_text_that_cannot_be_read_is_refused(text: str, words: str):
    assert any(words in fault for fault in faults_of(text))


def test_files_that_cannot_be_read_are_refused(write: Any, tmp_path: Path):
    for path, words in (
        (tmp_path / "none.toml", "there is no such file"),
        (tmp_path, "this is a folder"),
        (write(b"\xff\xfe"), "not UTF-8"),
    ):
        with pytest.raises(ScenarioError, match=words):
            read_scenario(path)


# ---- fuzz ---------------------------------------------------------------------------------------

LINES = SOUND.splitlines(keepends=True)
SPARE = ["true\n", "[]\n", "{}\n", "nan", "1e999", "-1", "'''", '"*"', "[joints]\n", "é", "[[a]]\n"]
EDIT = st.tuples(
    st.integers(0, len(LINES) - 1),
    st.sampled_from(["drop", "double", "value", "name", "insert"]),
    st.sampled_from([*LINES, *SPARE]),
)


def mutated(edits: list[tuple[int, str, str]]) -> str:
    lines = list(LINES)
    for at, how, piece in edits:
        key, equals, value = lines[at].partition(" = ")
        if how == "drop":
            lines[at] = ""
        elif how == "double":
            lines[at] += lines[at]
        elif how == "insert":
            lines[at] += piece
        elif how == "value":
            lines[at] = f"{key} = {piece.partition(' = ')[2] or piece}\n"
        else:
            lines[at] = f"{piece.partition(' = ')[0].strip()}{equals}{value}"
    return "".join(lines)


@examples(300, suppress_health_check=list(HealthCheck))
@given(edits=st.lists(EDIT, min_size=1, max_size=4))
def test_any_text_is_a_scenario_or_a_scenario_error(edits: list[tuple[int, str, str]]):
    try:
        faults = () if parse_scenario(mutated(edits), FOLDER).rows else ("empty",)
    except ScenarioError as error:
        faults = tuple(map(str, error.faults))
    assert all(fault.startswith("scenario") for fault in faults)
