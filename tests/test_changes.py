"""Models with some of their numbers changed, in Python and in scenarios."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.scenario import parse_scenario
from skodyn.sweeps.scenario_data import normal_form, read_data

MODELS = Path("scenarios/models")
PENDULUM = sk.load(MODELS / "double_pendulum.toml")


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.toml")), ids=lambda path: path.stem)
def test_without_changes_the_same_model_comes_back(path):
    model = sk.load(path)
    again = model.with_changes()
    assert again == model
    assert np.array_equal(again.kernel_tree, model.kernel_tree)
    assert np.array_equal(again.parameters, model.parameters)


def test_changed_numbers_are_those_of_a_model_built_with_them():
    def build(mass, z, armature, gravity):
        b = sk.ModelBuilder(gravity, "arm")
        hinge = sk.Revolute(axis=(0, 1, 0), armature=armature)
        b.add_body("arm", "world", hinge, mass=mass, com=(0, 0, z), inertia=(0.1, 0.1, 0.05))
        b.add_frame("tip", "arm", translation=(0, 0, 2 * z))
        return b.build()

    before = build(1.0, -0.5, 0.0, (0, 0, -9.81))
    after = before.with_changes(
        bodies={"arm": {"mass": 3, "com": {"z": -0.25}, "joint.armature": 0.2}},
        frames={"tip": {"translation.z": np.float64(-0.5)}},
        gravity=np.array([0, 0, -1.62]),
    )
    assert after == build(3.0, -0.25, 0.2, (0, 0, -1.62))
    assert before == build(1.0, -0.5, 0.0, (0, 0, -9.81)), "the old one has changed"


def test_whole_paths_as_sweeps_have_them_change_the_same_numbers():
    by_tables = PENDULUM.with_changes(
        bodies={"upper": {"mass": 5, "com": {"z": -0.4}}}, joints={"elbow": {"damping": 0.1}},
        gravity=(0, 0, -1.62),
    )  # fmt: skip
    paths = {"bodies.upper.mass": 5, "bodies.upper.com.z": -0.4, "gravity.z": -1.62}
    assert PENDULUM.with_changes({**paths, "joints.elbow.damping": 0.1}) == by_tables
    assert PENDULUM.with_changes(paths, joints={"elbow": {"damping": 0.1}}) == by_tables
    with pytest.raises(sk.ModelError, match=r"'bodies.upper.mass' is changed twice"):
        PENDULUM.with_changes(paths, bodies={"upper": {"mass": 5}})
    with pytest.raises(sk.ModelError, match="give a dict such as"):
        PENDULUM.with_changes(["bodies.upper.mass"])
    with pytest.raises(sk.ModelError, match=r"did you mean 'bodies.upper.mass'"):
        PENDULUM.with_changes({"bodies.uper.mass": 5})


def test_numbers_of_loops_couplings_and_mimics_can_be_changed():
    four_bar = sk.load(MODELS / "four_bar.toml")
    loop = next(iter(four_bar.loops))
    moved = four_bar.with_changes(loops={loop: {"translation_a": {"x": 0.77}}})
    assert moved.loops[loop].translation_a[0] == 0.77
    b = sk.ModelBuilder()
    for name, parent in (("left", "world"), ("right", "left")):
        b.add_body(name, parent, sk.Revolute(), mass=1, com=(1, 0, 0), inertia=(1, 1, 1))
    b.add_mimic("right", "left", 2.0)
    gripper, joint, body = b.build(), "right", "right"
    other = gripper.with_changes(bodies={body: {"joint": {"mimic": {"multiplier": 0.5}}}})
    assert other.mimics[joint].multiplier == 0.5
    q = other.neutral() + 0.1
    assert not np.allclose(sk.mass_matrix(other, q), sk.mass_matrix(gripper, q))


def test_what_a_robot_file_says_besides_stays_and_can_be_changed():
    arm = sk.load(MODELS / "desk_arm.urdf")
    joint = next(name for name in arm.joint_names if name in arm.limits)
    other = arm.with_changes(
        joints={joint: {"damping": 0.7}}, limits={joint: {"upper": 0.5, "lower": -0.5}}
    )
    assert other.joint_properties[joint] == replace(arm.joint_properties[joint], damping=0.7)
    assert other.limits[joint] == replace(arm.limits[joint], upper=0.5, lower=-0.5)
    assert other.visuals == arm.visuals
    assert other.notes == arm.notes


def test_every_fault_is_told_at_once_and_by_its_path():
    with pytest.raises(sk.ModelError) as refused:
        PENDULUM.with_changes(
            bodies={
                "uper": {"mass": 1.0},
                "upper": {"mass": -1.0, "inertia": (1, 1, 5), "parent": "world"},
                "lower": {},
            },
            joints={"shoulder": {"damping": -1.0, "armature": 2.0}, "elbow": {"stiffness": "a"}},
            limits={"elbow": {"lower": 2.0, "upper": 1.0}},
            loops=4,
            gravity=(0, 0),
        )
    told = "\n".join(map(str, refused.value.faults))
    for words in (
        "'bodies.uper.mass' is not a parameter of model 'double pendulum'; did you mean",
        "'bodies.upper.parent' is not a parameter",
        "'bodies.lower' is not a parameter of model 'double pendulum'; it is a table",
        "Body 'upper': mass is -1",
        "Body 'upper': inertia violates the triangle inequality",
        "'joints.shoulder.armature' is not a passive force, but a parameter of the joint; change "
        "'bodies.upper.joint.armature'.",
        "Joint 'shoulder': damping is -1.0; give a number of at least 0, or a list of them, one "
        "for each degree of freedom.",
        "Joint 'elbow': stiffness is 'a'; give a number of at least 0, or a list of them, one "
        "for each degree of freedom.",
        "Joint 'elbow': lower is 2.0, above upper = 1.0; exchange or correct them.",
        "loops is 4; give a table for each name",
        "The model: gravity is (0, 0); give three numbers.",
    ):
        assert words in told
    assert len(refused.value.faults) == 11


def test_a_whole_and_a_part_of_it_cannot_both_be_changed():
    with pytest.raises(sk.ModelError, match=r"'bodies.upper.com' is changed as a whole, and"):
        PENDULUM.with_changes(bodies={"upper": {"com": (0, 0, 1), "com.z": 2}})


def test_inertias_are_repaired_if_asked_for():
    changes = {"upper": {"inertia": (1, 1, 5)}}
    mended = PENDULUM.with_changes(bodies=changes, repair_inertia=True)
    assert len(mended.repairs) == 1
    assert "Body 'upper': inertia violates" in mended.repairs[0]


def test_replacing_a_column_leads_to_with_changes():
    with pytest.raises(sk.ModelError, match=r"call model\.with_changes, which packs them anew"):
        replace(PENDULUM, mass=2 * PENDULUM.mass)


# ---- scenarios ----------------------------------------------------------------------------------

SCENARIO = """\
duration = 0.1

[model]
file = "models/double_pendulum.toml"
gravity = [0, 0, -1.62]

[model.changes.bodies.upper]
mass = 3
com.z = -0.25

[model.changes.joints]
shoulder.damping = 0.1
"""


def scenario(text):
    return parse_scenario(text, "scenarios")


def test_a_scenario_changes_the_model_of_a_file():
    read = scenario(SCENARIO)
    wanted = PENDULUM.with_changes(
        bodies={"upper": {"mass": 3, "com.z": -0.25}},
        joints={"shoulder": {"damping": 0.1}},
        gravity=(0, 0, -1.62),
    )
    assert read.model == wanted
    assert read.forces.joints["shoulder"].damping == 0.1
    again = read_data(normal_form(read))
    assert np.array_equal(again.model.parameters, wanted.parameters)
    assert again.forces.joints == read.forces.joints


FAULTS = {
    "mass": ("mass = 3", "mass = -3", 8, "Body 'upper': mass is -3"),
    "body": ("bodies.upper", "bodies.upr", 8, "'bodies.upr.mass' is not a parameter of model"),
    "group": ("changes.joints", "changes.joint", 11, "Unknown key 'joint' in model.changes"),
    "damping": ("damping = 0.1", "damping = -1", 12, "Joint 'shoulder': damping is -1"),
    "table": ("[model.changes.bodies.upper]\nmass", "changes", 7, "write a table [model.changes]"),
    "gravity": ("-1.62", "nan", 5, "gravity is [0.0, 0.0, nan]"),
    "bodies": ("gravity", "bodies.a.mass = 1\ngravity", 5, "write [model.changes.bodies] to"),
    "both": ("[model.changes.joints]", "[model.changes]\ngravity = [0, 0, 0]\n[joints]", 12,
             "model has gravity and changes.gravity"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_faults_of_changes_come_with_their_lines(case):
    old, new, line, words = FAULTS[case]
    assert old in SCENARIO
    text = SCENARIO.replace(old, new)
    if case == "table":
        text = text.replace("com.z = -0.25\n\n[model.changes.joints]\nshoulder.damping = 0.1\n", "")
    with pytest.raises(sk.ScenarioError) as refused:
        scenario(text)
    assert any(f":{line}: " in f and words in f for f in map(str, refused.value.faults)), (
        refused.value
    )


def test_changes_are_for_models_of_files():
    text = "duration = 1\n[model]\nbodies.a.parent = 'world'\nchanges.gravity = [0, 0, 0]\n"
    with pytest.raises(sk.ScenarioError, match=r":4: model\.changes is for a model file"):
        scenario(text)


BENT = "inertia = [0.1, 0.1, 0.9]"


def test_inertias_are_repaired_in_scenarios_that_say_so(tmp_path):
    model = (MODELS / "double_pendulum.toml").read_text()
    first = next(line for line in model.splitlines() if line.startswith("inertia"))
    (tmp_path / "bent.toml").write_text(model.replace(first, BENT, 1))
    text = "duration = 1\n[model]\nfile = 'bent.toml'\n"
    with pytest.raises(sk.ScenarioError, match="triangle"):
        parse_scenario(text, tmp_path)
    mended = parse_scenario(text + "repair_inertia = true\n", tmp_path).model
    assert len(mended.repairs) == 1
    inline = "duration = 1\n[model]\n%s[model.bodies.a]\nparent = 'world'\nmass = 1\n" + BENT
    inline += "\njoint.type = 'revolute'\n"
    assert parse_scenario(inline % "repair_inertia = true\n", tmp_path).model.repairs
    with pytest.raises(sk.ScenarioError, match="triangle"):
        parse_scenario(inline % "repair_inertia = false\n", tmp_path)
    with pytest.raises(sk.ScenarioError, match=r"repair_inertia is 1; give true or false"):
        parse_scenario(inline % "repair_inertia = 1\n", tmp_path)


def test_the_command_line_repairs_inertias_if_asked_for(tmp_path, capsys):
    model = (MODELS / "double_pendulum.toml").read_text()
    first = next(line for line in model.splitlines() if line.startswith("inertia"))
    path = tmp_path / "bent.toml"
    path.write_text(model.replace(first, BENT, 1))
    assert main(["info", str(path)]) == 2
    assert main(["info", str(path), "--repair"]) == 0
    assert "repairs\n   Body 'upper': inertia violates" in capsys.readouterr().out


# ---- robots -------------------------------------------------------------------------------------

BASE = """<robot name="r"><link name="base"/>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
<link name="arm"><inertial><mass value="2"/>
<inertia ixx="{arm}" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial></link>
<joint name="f" type="fixed"><parent link="arm"/><child link="imu"/></joint>
<link name="imu"><inertial><mass value="1e-6"/>
<inertia ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1e-6"/></inertial></link></robot>"""


def test_inertias_are_judged_after_fixed_links_are_merged(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(BASE.format(arm="0.2"))
    assert sk.load(path).n_bodies == 1
    with pytest.raises(sk.ModelError, match=r":6: Link 'imu': inertia violates the triangle"):
        sk.load(path, merge_fixed=False)
    assert sk.load(path, merge_fixed=False, repair_inertia=True).repairs[0].startswith(f"{path}:6")
    path.write_text(BASE.format(arm="9"))
    words = r":3: Link 'arm' with what is fixed to it \('imu'\): inertia violates the triangle"
    with pytest.raises(sk.ModelError, match=words):
        sk.load(path)
    repaired = sk.load(path, repair_inertia=True)
    assert repaired.repairs[0].startswith(f"{path}:3: Link 'arm' with what is fixed to it")


def test_anymal_loads():
    pin = pytest.importorskip("pinocchio")
    robots = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    for kind, folder in (("b", "robots"), ("c", "urdf")):
        path = robots / f"anymal_{kind}_simple_description" / folder / "anymal.urdf"
        robot = sk.load(path, root="free")
        model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        assert robot.nv == model.nv
        np.testing.assert_allclose(robot.mass.sum(), pin.computeTotalMass(model), rtol=1e-12)
