"""Mutations of robot files: a model that is what the peers read in the same file, or a sentence.

A short run belongs to every check; `pytest -m slow tests/fuzz/test_robot_files.py` makes 20,000
files of each format. What such runs once found stands below as cases of its own.
"""

from __future__ import annotations

import random
from pathlib import Path

import mjcf_files
import pytest
import robot_files as files
import urdf_files

SHORT, LONG = 400, 20_000
SECONDS = 10.0  # of a short run, on a slow machine


@pytest.mark.parametrize(("peer", "name"), [(mjcf_files, "fuzz.xml"), (urdf_files, "fuzz.urdf")])
def test_mutations_agree_with_the_peer_or_are_refused_in_words(tmp_path, peer, name):
    ends = files.campaign(
        tmp_path, name, peer.made, peer.judge, seed=2026, count=SHORT, seconds=SECONDS
    )
    assert ends["agreed"] > 0.1 * ends.total()
    assert ends["refused"] > 0.1 * ends.total()


@pytest.mark.parametrize(("peer", "name"), [(mjcf_files, "fuzz.xml"), (urdf_files, "fuzz.urdf")])
def test_loops_made_by_chance_are_as_far_open_as_the_peer_finds_them(tmp_path, peer, name):
    ends = files.campaign(tmp_path, name, peer.made_with_loops, peer.judge, seed=18, count=60)
    assert ends["looped"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("peer", "name"), [(mjcf_files, "fuzz.xml"), (urdf_files, "fuzz.urdf")])
def test_many_mutations_agree_with_the_peer_or_are_refused_in_words(tmp_path, peer, name, seed):
    ends = files.campaign(tmp_path, name, peer.made, peer.judge, seed=seed, count=LONG // 10)
    assert ends["agreed"] > LONG // 100
    assert ends["looped"] > LONG // 1000
    assert ends["refused"] > LONG // 100


def test_a_nearly_singular_robot_agrees_to_rounding(tmp_path):
    """Two ball joints, a hinge and a slide between three bodies: accelerations of 1e10."""
    rng, path = random.Random("17201/3503"), tmp_path / "fuzz.xml"
    path.write_bytes(mjcf_files.made(rng))
    assert mjcf_files.judge(path, rng) == "agreed"


def test_the_axis_of_a_fixed_loop_means_nothing_whatever_it_is(tmp_path):
    rng, path = random.Random("17201/3043"), tmp_path / "fuzz.urdf"
    path.write_bytes(urdf_files.made(rng))
    assert '<loop name="t0" type="fixed">' in path.read_text()
    assert '<axis xyz="1,0,0"/></loop>' in path.read_text()
    assert urdf_files.judge(path, rng) == "looped"


@pytest.mark.parametrize("peer", [mjcf_files, urdf_files])
def test_a_seed_names_a_file_for_ever(peer):
    one, again = (peer.made(random.Random("5/7")) for _ in range(2))
    assert one == again


# ---- findings of earlier runs -------------------------------------------------------------------

MJCF = """<mujoco><compiler {compiler}/><option>{option}</option><worldbody>
<body name="a" pos="0.1 0.2 0.3" {body}><joint name="j" axis="0 1 1" {joint}/>{more}
<geom name="g" type="box" size="0.1 0.2 0.3" pos="0.3 0 0" {geom}/>
<body name="b" pos="1 0 0"><joint name="k" type="ball"/><geom name="h" size="0.1" pos="0 0 0.2"/>
</body></body></worldbody>{end}</mujoco>"""

MJCF_CASES = {
    "rotor of a motor": {"end": '<actuator><motor joint="j" gear="-3" armature="1"/></actuator>'},
    "damper of a motor": {"end": '<actuator><motor joint="j" gear="2" damping="1"/></actuator>'},
    "rotor of a controller": {
        "end": '<actuator><position joint="j" kp="3" armature="1" damping="1"/></actuator>'
    },
    "rotor, actuation off": {
        "option": '<flag actuation="disable"/>',
        "end": '<actuator><motor joint="j" armature="1" damping="1"/></actuator>',
    },
    "damper of a motor, dampers off": {
        "option": '<flag damper="disable"/>',
        "end": '<actuator><motor joint="j" damping="1"/></actuator>',
    },
    "rotor in the parent": {"end": '<actuator><motor jointinparent="j" armature="1"/></actuator>'},
    "rotor of a dc motor": {
        "end": '<actuator><dcmotor joint="j" resistance="2" motorconst="0.1" armature="1"/>'
        "</actuator>"
    },
    "weld of the end": {"end": '<equality><weld body1="b"/></equality>'},
    "point of the end": {"end": '<equality><connect body1="b" anchor="0 0 1"/></equality>'},
    "joint at an angle": {"end": '<equality><joint joint1="j" polycoef="0.2"/></equality>'},
    "point that no joint moves": {
        "end": '<equality><weld body1="world" body2="a" torquescale="0"/></equality>'
    },
    "all constraints off": {
        "option": '<flag constraint="disable"/>',
        "end": '<equality><weld body1="b"/></equality>',
    },
}
MJCF_LOOPED = {
    "weld of the end", "point of the end", "joint at an angle", "point that no joint moves"
}  # fmt: skip
MJCF_REFUSED = {
    "rotor of a ball joint": {
        "end": '<actuator><motor joint="k" gear="1 2 0" armature="1"/></actuator>'
    },
    "rotor of a tendon": {
        "end": '<tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>'
        '<actuator><motor tendon="t" armature="1"/></actuator>'
    },
    "bent damper of a motor": {"end": '<actuator><motor joint="j" damping="1 2"/></actuator>'},
    "spring that pushes": {"joint": 'stiffness="-3" springref="0.2"'},
    "spring that rests far away": {"joint": 'stiffness="3" springref="1e308"'},
    "joint that starts far away": {"joint": 'ref="1e308"'},
    "geom at infinity": {"more": '<geom size="0.1" mass="0" pos="0 inf 0"/>'},
    "geom with a huge quaternion": {"geom": 'quat="0.6 1e308 0.9 0.6"'},
    "body at the end of doubles": {"body": 'euler="1 2 3"', "joint": 'pos="0 1e308 0"'},
    "joint at infinity": {"joint": 'pos="0 -inf 0"'},
    "a message with a character that screens obey": {"option": '<flag gravity="\u202e"/>'},
}


def mjcf_case(path: Path, case: dict[str, str]) -> str:
    blanks = dict.fromkeys(("compiler", "option", "body", "joint", "more", "geom", "end"), "")
    path.write_text(MJCF.format_map(blanks | case))
    return mjcf_files.judge(path, random.Random(1))


@pytest.mark.parametrize("case", MJCF_CASES)
def test_an_mjcf_finding_agrees_now(tmp_path, case):
    end = "looped" if case in MJCF_LOOPED else "agreed"
    assert mjcf_case(tmp_path / "m.xml", MJCF_CASES[case]) == end


@pytest.mark.parametrize("case", MJCF_REFUSED)
def test_an_mjcf_finding_is_refused_now(tmp_path, case):
    assert mjcf_case(tmp_path / "m.xml", MJCF_REFUSED[case]) == "refused"


INERTIA = '<mass value="2"/><inertia ixx="1" iyy="1.5" izz="2" ixy="0.1" ixz="0" iyz="0"/>'
URDF = f"""<robot name="r" version="{{version}}"><link name="a"/>
<link name="b"><inertial><origin xyz="0.1 0.2 0.3" {{mass}}/>{INERTIA}</inertial></link>
<joint name="j" type="continuous"><origin xyz="1 0 0" {{place}}/><axis xyz="0 1 1"/>
<parent link="a"/><child link="b"/></joint>{{end}}</robot>"""

URDF_CASES = {
    "quaternion of an inertia": ({"version": "1.1", "mass": 'quat_xyzw="1 2 3 4"'}, "agreed"),
    "quaternion of a joint": ({"version": "1.2", "place": 'quat_xyzw="1 0 0 1"'}, "agreed"),
    "quaternion before its time": ({"place": 'quat_xyzw="1 0 0 1"'}, "refused"),
    "loop": ({"end": '<loop_joint name="l"/>'}, "refused"),
    "loop to the ground": (
        {
            "end": '<loop name="l" type="revolute"><predecessor link="a"/><successor link="b"/>'
            '<axis xyz="0 1 1"/></loop>'
        },
        "looped",
    ),
}


@pytest.mark.parametrize("case", URDF_CASES)
def test_a_urdf_finding_is_settled(tmp_path, case):
    given, end = URDF_CASES[case]
    blanks = {"version": "1.0", "mass": "", "place": "", "end": ""}
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format_map(blanks | given))
    assert urdf_files.judge(path, random.Random(1)) == end
