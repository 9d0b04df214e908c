"""What is wrong with a URDF file is said at once, with its line, the culprit and a remedy."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io import xml_source
from skodyn.view.scene import scene_of

SOUND = """\
<?xml version="1.0"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.5"/>
      <geometry><cylinder radius="0.05" length="1"/></geometry>
      <material name="grey"/>
    </visual>
  </link>
  <link name="lower">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
    <dynamics damping="0.4" friction="0.1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 1" rpy="0 0.1 0"/>
    <parent link="upper"/>
    <child link="lower"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/>
  </joint>
  <joint name="flange" type="fixed">
    <origin xyz="0 0 0.5"/>
    <parent link="lower"/>
    <child link="tool"/>
  </joint>
</robot>
"""

MASS_2, MASS_1 = '<mass value="2"/>', '<mass value="1"/>'
UPPER_I = '<inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.1"/>'
AXIS = '<axis xyz="0 1 0"/>'
DYNAMICS = '<dynamics damping="0.4" friction="0.1"/>'
LIMIT = f'{AXIS}\n    <limit lower="-2" upper="2" effort="50" velocity="3"/>'
SHAPE = '<cylinder radius="0.05" length="1"/>'
ELBOW = '<joint name="elbow" type="revolute">'
END = "</robot>"
LOWER = SOUND[SOUND.index('  <link name="lower">') : SOUND.index('  <link name="tool"/>')]


def limit(text: str) -> tuple[str, str]:
    return LIMIT, f"{AXIS}\n    <limit {text}/>"


def mimic(text: str) -> tuple[str, str]:
    return DYNAMICS, f"<mimic {text}/>"


CASES = {
    # malformed XML
    "not closed": ("</robot>", "", 43, "this is not XML: no element found"),
    "mismatched tag": ("</inertial>", "</inertia>", 10, "this is not XML: mismatched tag"),
    "stray character": ('name="tool"', "name=tool", 23, "this is not XML: not well-formed"),
    "attribute twice": ('name="tool"', 'name="a" name="b"', 23, "duplicate attribute"),
    "two roots of XML": ("</robot>", "</robot><robot/>", 42, "junk after document element"),
    "unknown entity": ('name="tool"', 'name="&tool;"', 23, "undefined entity"),
    "document type": ('<robot name="arm">', '<!DOCTYPE r><robot name="arm">', 2, "document type"),
    "entity bomb": (
        '<robot name="arm">',
        '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;">',
        2,
        "remove it",
    ),
    "external entity": (
        '<robot name="arm">',
        '<!DOCTYPE r SYSTEM "http://nowhere.invalid/r.dtd"><robot name="arm">',
        2,
        "can define entities and name other files",
    ),
    "encoding": ('version="1.0"', 'version="1.0" encoding="utf-99"', 1, "unknown encoding"),
    "another root element": ("<robot name", "<sdf name", 0, "this is not XML: mismatched tag"),
    # tags and attributes
    "misspelt tag": ("<inertial>\n      <mass", "<inertail>\n      <mass", 21, "mismatched tag"),
    "misspelt child": (AXIS, '<axes xyz="0 1 0"/>', 27, "<axes> is not known in <joint>; did you"),
    "misspelt attribute": (MASS_2, '<mass valeu="2"/>', 8, "valeu is not known in <mass>; did you"),
    "xacro": (AXIS, '<xacro:axis xyz="0 1 0"/>', 27, "is a macro of xacro; run xacro"),
    "two inertials": (LOWER, LOWER.replace("</link>", "<inertial/></link>"), 22, "is given twice"),
    "two origins": ('<origin xyz="0 0 1"', '<origin/><origin xyz="0 0 1"', 32, "<origin> is given"),
    # what could change the motion and is not applied
    "loop constraint": (END, "<loop_constraint/></robot>", 42, "has <loop_constraint> in <robot>"),
    "constraint": (END, '<constraint type="rolling"/></robot>', 42, "has <constraint> in <robot>"),
    "loop joint": (END, '<loop_joint name="l"/></robot>', 42, "has <loop_joint> in <robot>"),
    "coupling": (AXIS, f"<coupling/>{AXIS}", 27, "Joint 'shoulder' has <coupling> in <joint>"),
    "spring": (AXIS, f"<spring/>{AXIS}", 27, "has <spring> in <joint>"),
    "bushing": (END, "<drake:linear_bushing_rpy/></robot>", 42, "has <drake:linear_bushing_rpy>"),
    "rotor": (DYNAMICS, '<dynamics armature="1"/>', 29, "has armature in <dynamics>"),
    "axis of something": (AXIS, '<axis xyz="0 1 0" pitch="1"/>', 27, "has pitch in <axis>"),
    "attribute of a joint": (ELBOW, ELBOW.replace(">", ' gear="2">'), 31, "has gear in <joint>"),
    "mass with a scale": (MASS_2, '<mass value="2" scale="3"/>', 8, "has scale in <mass>"),
    "density": (MASS_2, f"{MASS_2}<density/>", 8, "has <density> in <inertial>"),
    "loop for Gazebo": (
        END,
        '<gazebo><joint name="x" type="revolute"/></gazebo></robot>',
        42,
        "The robot has <joint> in <gazebo>, which skodyn does not have",
    ),
    "spring for Gazebo": (
        END,
        '<gazebo reference="elbow"><springStiffness>3</springStiffness></gazebo></robot>',
        42,
        "has <springStiffness> in <gazebo>",
    ),
    "rotor of a transmission": (
        END,
        '<transmission name="t"><actuator name="a"><drake:rotor_inertia value="2"/></actuator>'
        "</transmission></robot>",
        42,
        "has <drake:rotor_inertia> in <transmission>",
    ),
    "gravity of MuJoCo": (
        END,
        '<mujoco><option gravity="0 0 0"/></mujoco></robot>',
        42,
        "has <option> in <mujoco>",
    ),
    "masses of MuJoCo": (
        END,
        '<mujoco><compiler settotalmass="3"/></mujoco></robot>',
        42,
        "has settotalmass in <mujoco>",
    ),
    "link without gravity": (
        '<link name="tool"/>',
        '<link name="tool"><gravity>0</gravity></link>',
        23,
        "Link 'tool' has <gravity> in <link>",
    ),
    "version": ('name="arm">', 'name="arm" version="2.0">', 2, "has version '2.0'; skodyn reads"),
    "limits of 1.2": (
        SOUND,
        SOUND.replace('"arm">', '"arm" version="1.2">').replace('lower="-2" ', "", 1),
        28,
        "<limit> has no lower; give a number",
    ),
    "quaternion in 1.0": (
        '<origin xyz="0 0 1" rpy="0 0.1 0"/>',
        '<origin xyz="0 0 1" quat_xyzw="0 0 0 1"/>',
        32,
        "has quat_xyzw, which URDF 1.0 does not know",
    ),
    "quaternion and angles": (
        '<origin xyz="0 0 1" rpy="0 0.1 0"/>',
        '<origin xyz="0 0 1" quat_xyzw="0 0 0 1" rpy="0 0 0"/>',
        32,
        "has quat_xyzw and rpy too",
    ),
    "quaternion of zero": (
        '<origin xyz="0 0 1" rpy="0 0.1 0"/>',
        '<origin xyz="0 0 1" quat_xyzw="0 0 0 0"/>',
        32,
        "quat_xyzw '0 0 0 0', which has no length",
    ),
    # names
    "link without a name": ('<link name="tool"/>', "<link/>", 23, "A <link> has no name"),
    "joint without a name": (ELBOW, '<joint type="revolute">', 31, "A <joint> has no name"),
    "empty name": ('<link name="tool"/>', '<link name=" "/>', 23, "has an empty name (' ')"),
    "two links": ('<link name="tool"/>', '<link name="base"/>', 23, "is there twice, first in"),
    "two joints": ('name="elbow"', 'name="shoulder"', 31, "Joint 'shoulder' is there twice"),
    "link called world": (SOUND, SOUND.replace('"lower"', '"world"'), 17, "the name of the ground"),
    "material without a name": ('<material name="grey"><', "<material><", 3, "has no name"),
    "materials that differ": (
        "</robot>",
        '<material name="grey"><color rgba="1 0 0 1"/></material></robot>',
        42,
        "is defined twice, differently",
    ),
    # numbers
    "mass in words": (MASS_2, '<mass value="two"/>', 8, "<mass> has value 'two'; give a number"),
    "decimal comma": (MASS_2, '<mass value="2,5"/>', 8, "<mass> has value '2,5'; give a number"),
    "mass not given": (MASS_2, "<mass/>", 8, "<mass> has no value; give a number of at least 0"),
    "negative mass": (MASS_2, '<mass value="-2"/>', 8, "has value '-2'; give a number of at least"),
    "infinite mass": (MASS_2, '<mass value="inf"/>', 8, "finite and at most 1e60"),
    "mass is NaN": (MASS_2, '<mass value="nan"/>', 8, "finite and at most 1e60"),
    "mass overflows": (MASS_2, '<mass value="1e999"/>', 8, "finite and at most 1e60"),
    "underscores": (MASS_2, '<mass value="1_0"/>', 8, "<mass> has value '1_0'; give a number"),
    "two masses in one": (MASS_2, '<mass value="1 2"/>', 8, "<mass> has value '1 2'"),
    "two coordinates": ('xyz="0 0 0.5" rpy', 'xyz="0 0" rpy', 7, "xyz '0 0'; give three numbers"),
    "four coordinates": ('xyz="0 0 1"', 'xyz="0 0 1 2"', 32, "give three numbers with blanks"),
    "commas between": ('xyz="0 0 1"', 'xyz="0,0,1"', 32, "give three numbers with blanks"),
    "angle in words": ('rpy="0 0.1 0"', 'rpy="0 ten 0"', 32, "rpy '0 ten 0'; give three numbers"),
    # inertia
    "no mass": (MASS_2, "", 6, "<inertial> has no <mass>; add it, or remove"),
    "no inertia": (UPPER_I, "", 6, "<inertial> has no <inertia>; add it"),
    "moment missing": (
        'izz="0.1"/>\n    </inertial>\n    <visual>',
        "/></inertial><visual>",
        9,
        "<inertia> has no izz; give a number",
    ),
    "not positive": (
        'izz="0.1"/>\n    </inertial>\n    <vis',
        'izz="-0.1"/>\n    </inertial>\n    <vis',
        6,
        "Link 'upper': inertia is not positive semidefinite",
    ),
    "triangle": (
        'izz="0.1"/>\n    </inertial>\n    <vis',
        'izz="9"/></inertial>\n<vis',
        6,
        "0.2 + 0.2 < 9; correct it, or give repair_inertia=True",
    ),
    "products too large": (UPPER_I, UPPER_I.replace('ixy="0"', 'ixy="3"'), 6, "not positive"),
    "massless leaf": (
        LOWER,
        '<link name="lower"/>',
        17,
        "Link 'lower' has no <inertial>, and nothing that it carries has any, but "
        "joint 'elbow' (revolute) moves it; give it a mass",
    ),
    "zero leaf": (
        LOWER,
        LOWER.replace('"1"', '"0"').replace('"0.1"', '"0"'),
        18,
        "Link 'lower' has neither mass nor inertia",
    ),
    # the tree
    "no link": (SOUND, '<robot name="r"></robot>', 0, "The robot has no link"),
    "nothing moves": (SOUND, '<robot name="r"><link name="a"/></robot>', 1, 'root="free"'),
    "unknown parent": (
        '<parent link="upper"/>',
        '<parent link="uper"/>',
        31,
        "its parent 'uper' is not a link; did you mean 'upper'?",
    ),
    "unknown child": (
        '<child link="tool"/>',
        '<child link="tols"/>',
        37,
        "its child 'tols' is not a link; did you mean 'tool'?",
    ),
    "no parent": ('<parent link="upper"/>', "", 31, "Joint 'elbow' has no <parent>"),
    "no child": ('<child link="lower"/>', "", 31, "Joint 'elbow' has no <child>"),
    "parent without a link": ('<parent link="upper"/>', "<parent/>", 33, "<parent> has no link"),
    "two parents": (
        END,
        '<joint name="again" type="fixed"><parent link="base"/>'
        '<child link="lower"/></joint></robot>',
        42,
        "Link 'lower' has two parents: 'upper' by joint 'elbow' and 'base'",
    ),
    "loop": ('<parent link="base"/>', '<parent link="tool"/>', 24, "upper → lower → tool → upper"),
    "its own parent": (
        '<parent link="upper"/>',
        '<parent link="lower"/>',
        31,
        "The links lower → lower form a loop",
    ),
    "several roots": (
        END,
        '<link name="lost"/></robot>',
        42,
        "2 links have no parent: 'base' and 'lost'",
    ),
    # joints
    "no type": (ELBOW, '<joint name="elbow">', 31, "Joint 'elbow' has no type; give one of"),
    "unknown type": (ELBOW, ELBOW.replace("revolute", "revolut"), 31, "did you mean 'revolute'?"),
    "foreign type": (ELBOW, ELBOW.replace("revolute", "ball"), 31, "give one of revolute"),
    "zero axis": (AXIS, '<axis xyz="0 0 0"/>', 27, "has xyz '0 0 0', which has no length"),
    "axis without numbers": (AXIS, "<axis/>", 27, "<axis> has no xyz; give three numbers"),
    "no limit": (LIMIT, AXIS, 24, "is revolute but has no <limit>; add"),
    "limits reversed": (
        *limit('lower="2" upper="-2" effort="1" velocity="1"'),
        28,
        "its lower limit 2 is above its upper limit -2; exchange",
    ),
    "no effort": (*limit('lower="-2" upper="2" velocity="1"'), 28, "<limit> has no effort"),
    "no velocity": (*limit('lower="-2" upper="2" effort="1"'), 28, "<limit> has no velocity"),
    "negative effort": (*limit('effort="-1" velocity="1"'), 28, "effort '-1'; give a number of"),
    "limit in words": (*limit('lower="low" effort="1" velocity="1"'), 28, "lower 'low'; give a"),
    "negative damping": (DYNAMICS, '<dynamics damping="-1"/>', 29, "damping '-1'; give a number"),
    "friction in words": (DYNAMICS, '<dynamics friction="some"/>', 29, "friction 'some'; give a"),
    # mimics
    "mimic of nobody": (
        *mimic('joint="elbo"'),
        29,
        "it mimics 'elbo', which is not a joint of the model; did you mean 'elbow'?",
    ),
    "mimic without a joint": (*mimic(""), 29, "<mimic> has no joint; name the joint"),
    "mimic of itself": (*mimic('joint="shoulder"'), 29, "Joint 'shoulder': it mimics itself"),
    "mimic of a fixed joint": (
        *mimic('joint="flange"'),
        29,
        "'flange' is fixed and cannot be mimicked; both",
    ),
    "mimic that stands still": (
        *mimic('joint="elbow" multiplier="0"'),
        29,
        "with which it would not move",
    ),
    "mimic multiplied by words": (*mimic('joint="elbow" multiplier="x"'), 29, "multiplier 'x'"),
    # shapes
    "no geometry": (f"<geometry>{SHAPE}</geometry>", "", 11, "<visual> has no shape"),
    "two shapes": (SHAPE, SHAPE * 2, 11, "<visual> has 2 shapes"),
    "unknown shape": (SHAPE, "<torus/>", 11, "give one <geometry> with one of box"),
    "no radius": (SHAPE, '<cylinder length="1"/>', 13, "<cylinder> has no radius"),
    "negative length": (SHAPE, '<cylinder radius="1" length="-1"/>', 13, "length '-1'; give a"),
    "flat box": (SHAPE, '<box size="1 1"/>', 13, "size '1 1'; give three numbers"),
    "negative box": (SHAPE, '<box size="1 1 -1"/>', 13, "give lengths of at least 0"),
    "mesh without a file": (SHAPE, "<mesh/>", 13, "<mesh> has no filename; name the mesh file"),
    "mesh scale": (SHAPE, '<mesh filename="a.stl" scale="2"/>', 13, "scale '2'; give three"),
    "colour": ('rgba="0.5 0.5 0.5 1"', 'rgba="0.5 0.5 0.5"', 3, "give four numbers"),
}


@pytest.fixture
def write(tmp_path: Path):
    def _write(text: str | bytes, name: str = "r.urdf") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return _write


def faults_of(path: Path, **options) -> list[str]:
    """The faults of a file, without its folder: 'r.urdf:3: …'."""
    with pytest.raises(sk.ModelError) as caught:
        sk.load(path, **options)
    prefix = f"{path.parent}{os.sep}"
    assert all(fault.startswith(prefix) for fault in map(str, caught.value.faults))
    return [fault.removeprefix(prefix) for fault in map(str, caught.value.faults)]


def test_the_sound_robot_is_sound(write):
    model = sk.load(write(SOUND))
    assert model.body_names == ("upper", "lower")
    assert set(model.frames) == {"base", "tool"}


def test_there_are_at_least_a_hundred_malformed_files():
    assert len(CASES) >= 100


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_file_is_refused_with_line_and_remedy(write, case):
    old, new, line, words = CASES[case]
    assert old in SOUND
    found = faults_of(write(SOUND.replace(old, new, 1)))
    place = f"r.urdf:{line}: " if line else "r.urdf"
    assert any(fault.startswith(place) and words in fault for fault in found), found
    assert len(found) <= 3, found  # one fault does not drown in its consequences
    assert all(fault.endswith((".", "?")) for fault in found)


def test_all_faults_are_found_at_once(write):
    text = SOUND
    for old, new in (
        (MASS_2, '<mass value="two"/>'),
        (AXIS, '<axis xyz="0 0 0"/>'),
        ('<parent link="upper"/>', '<parent link="uper"/>'),
        ("</robot>", '<link name="base"/></robot>'),
    ):
        text = text.replace(old, new, 1)
    lines = [int(fault.split(":")[1]) for fault in faults_of(write(text))]
    assert lines == [8, 27, 31, 42]


def test_check_prints_every_fault_and_exits_with_2(write, capsys):
    text = SOUND.replace(AXIS, '<axis xyz="0 0 0"/>').replace(MASS_2, '<mass value="-1"/>')
    assert main(["check", str(write(text))]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "r.urdf:8: " in err
    assert "r.urdf:27: " in err


def test_check_shows_notes_and_repairs_but_writes_nothing(write, capsys):
    bad = SOUND.replace('izz="0.1"/>\n    </inertial>\n    <vis', 'izz="9"/></inertial>\n<vis')
    path = write(bad.replace("</robot>", '<gazebo reference="tool"/></robot>'))
    before = path.read_bytes()
    assert main(["check", str(path), "--repair"]) == 0
    out = capsys.readouterr().out
    assert "note: <gazebo> is for that simulator and is not used: tool." in out
    assert f"would repair: {path}:6: Link 'upper': inertia violates the triangle" in out
    assert "valid after 1 repair; nothing was written" in out
    assert path.read_bytes() == before


# ---- safety -------------------------------------------------------------------------------------


def test_a_chain_of_ten_thousand_links_loads(write):
    n = 10_000
    link = (
        '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="j{0}" type="continuous"><origin xyz="1 0 0"/><parent link="l{1}"/>'
        '<child link="l{0}"/></joint>'
    )
    text = "".join(link.format(k) for k in range(n + 1))
    text += "".join(joint.format(k, k - 1) for k in range(n, 0, -1))
    limit = sys.getrecursionlimit()
    model = sk.load(write(f'<robot name="chain">{text}</robot>'))
    assert sys.getrecursionlimit() == limit
    assert model.n_bodies == n
    merged = text.replace("continuous", "fixed").replace(
        '"j1" type="fixed"', '"j1" type="floating"'
    )
    model = sk.load(write(f'<robot name="chain">{merged}</robot>'))
    assert model.n_bodies == 1
    assert model.mass[0] == n
    assert model.com[0][0] == pytest.approx((n - 1) / 2)


def test_a_loop_and_a_mimic_circle_of_thousands_are_found_without_recursion(write):
    n = 5000
    joint = (
        '<joint name="j{0}" type="continuous"><parent link="l{0}"/><child link="l{1}"/>'
        '<mimic joint="j{1}"/></joint>'
    )
    text = "".join(f'<link name="l{k}"/>' for k in range(n))
    text += "".join(joint.format(k, (k + 1) % n) for k in range(n))
    found = faults_of(write(f'<robot name="ring">{text}</robot>'))
    assert sum("form a loop" in fault for fault in found) == 1
    assert sum("in a cycle" in fault for fault in found) == 1


def test_nesting_is_limited(write):
    text = "<robot>" + "<a>" * 10_000
    (fault,) = faults_of(write(text))
    assert "nested more than 500 deep" in fault


def test_size_and_number_of_elements_are_limited(write, monkeypatch):
    monkeypatch.setattr(xml_source, "LARGEST_FILE", 2**20)
    (fault,) = faults_of(write("<robot>" + " " * 2**20 + "</robot>"))
    assert "larger than 1 MiB" in fault
    monkeypatch.setattr(xml_source, "MOST_ELEMENTS", 100)
    (fault,) = faults_of(write("<robot>" + "<a/>" * 200 + "</robot>"))
    assert "more than 100 elements" in fault


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(sk.ModelError, match="there is no such file"):
        sk.load(tmp_path / "none.urdf")
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(sk.ModelError, match="this is a folder"):
        sk.load(tmp_path / "folder.urdf")
    os.mkfifo(tmp_path / "pipe.urdf")
    with pytest.raises(sk.ModelError, match="not a regular file"):
        sk.load(tmp_path / "pipe.urdf")
    with pytest.raises(sk.ModelError, match=r"cannot be read|no such file"):
        sk.load("nul\0.urdf")


def mesh_robot(filename: str) -> str:
    return SOUND.replace(SHAPE, f'<mesh filename="{filename}"/>')


def mesh_of(path: Path, **options):
    model = sk.load(path, **options)
    return model.visuals["upper"][0].shape.path, model.notes


@pytest.mark.parametrize(
    "name", ["../secret.stl", "inner/../../secret.stl", "link.stl", "{outside}", "file://{outside}"]
)
def test_no_mesh_name_leads_out_of_the_search_paths(tmp_path, name):
    folder = tmp_path / "robot"
    (folder / "inner").mkdir(parents=True)
    secret = tmp_path / "secret.stl"
    secret.write_text("solid")
    (folder / "link.stl").symlink_to(secret)
    path = folder / "r.urdf"
    path.write_text(mesh_robot(name.format(outside=secret)))
    found, notes = mesh_of(path)
    assert found is None
    assert any("outside the search paths" in note for note in notes)
    found, _ = mesh_of(path, search_paths=[tmp_path])
    assert found == secret


def test_the_viewer_opens_no_mesh_outside_the_search_paths_either(tmp_path):
    folder = tmp_path / "robot"
    folder.mkdir()
    secret = tmp_path / "secret.obj"
    secret.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path = folder / "r.urdf"
    path.write_text(mesh_robot(str(secret)))
    scene = scene_of(sk.load(path))
    assert str(secret) not in scene.meshes
    assert any("not found" in note for note in scene.notes)
    assert str(secret) in scene_of(sk.load(path, search_paths=[tmp_path])).meshes


def test_packages_are_looked_for_in_the_search_paths_only(tmp_path):
    package = tmp_path / "space" / "my_robot"
    (package / "meshes").mkdir(parents=True)
    (package / "meshes" / "a.stl").write_text("solid")
    path = tmp_path / "r.urdf"
    path.write_text(mesh_robot("package://my_robot/meshes/a.stl"))
    assert mesh_of(path)[0] is None
    for search in (tmp_path / "space", package):
        assert mesh_of(path, search_paths=[search])[0] == package / "meshes" / "a.stl"
    path.write_text(mesh_robot("package://../../secret.stl"))
    assert mesh_of(path, search_paths=[tmp_path / "space"])[0] is None


def put(path: Path, text: str = "solid") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_packages_are_found_by_walking_up_and_by_ros_package_path(tmp_path, monkeypatch):
    name = mesh_robot("package://my_robot/meshes/a.stl")
    mesh = put(tmp_path / "space" / "my_robot" / "meshes" / "a.stl")
    inside = put(tmp_path / "space" / "my_robot" / "urdf" / "deep" / "r.urdf", name)
    assert mesh_of(inside)[0] == mesh  # the robot is in the package
    beside = put(tmp_path / "space" / "other" / "urdf" / "r.urdf", name)
    assert mesh_of(beside)[0] is None  # a folder of this name need not be a package
    put(tmp_path / "space" / "my_robot" / "package.xml", "<package/>")
    assert mesh_of(beside)[0] == mesh
    away = put(tmp_path / "away" / "r.urdf", name)
    found, notes = mesh_of(away)
    assert found is None
    assert sum("--search-path FOLDER" in note for note in notes) == 1
    for path in (tmp_path / "space", tmp_path / "space" / "my_robot"):
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{path}")
        assert mesh_of(away)[0] == mesh


def test_a_name_may_lead_up_within_the_package_of_the_robot_and_no_farther(tmp_path):
    mesh = put(tmp_path / "robot" / "meshes" / "a.stl")
    put(tmp_path / "secret.stl")
    path = put(tmp_path / "robot" / "urdf" / "r.urdf", mesh_robot("../meshes/a.stl"))
    assert mesh_of(path)[0] is None
    put(tmp_path / "robot" / "package.xml", "<package/>")
    assert mesh_of(path)[0] == mesh
    for name in ("../../secret.stl", "package://robot/../secret.stl"):
        path.write_text(mesh_robot(name))
        found, notes = mesh_of(path)
        assert found is None
        assert any("outside the search paths" in note for note in notes)


def test_what_is_not_found_is_said_once_in_the_viewer(tmp_path):
    path = put(tmp_path / "r.urdf", mesh_robot("package://gone/a.stl"))
    (note,) = scene_of(sk.load(path)).notes
    assert "package://gone/a.stl" in note
    assert "--search-path FOLDER" in note


def test_no_network_is_used(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(mesh_robot("http://nowhere.invalid/a.stl"))
    found, notes = mesh_of(path)
    assert found is None
    assert any("http:// are not followed" in note for note in notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"root": "loose"}, "root is 'loose'; give 'fixed' or 'free'"),
        ({"mimic": "exactly"}, "did you mean 'exact'?"),
        ({"merge_fixed": 1}, "merge_fixed is 1; give True or False"),
        ({"search_paths": "here"}, "search_paths is 'here'; give a list of folders"),
        ({"ignore": ["everything"]}, "give a list of equality"),
    ],
)
def test_options_that_do_not_fit_are_refused(write, options, words):
    with pytest.raises(sk.ModelError) as caught:
        sk.load(write(SOUND), **options)
    assert words in str(caught.value)
