"""What a URDF file means: joints, merged links, friction, limits, shapes, notes."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import skodyn as sk
from skodyn.cli import main
from skodyn.scenario import read_scenario

ROOT = Path(__file__).parent.parent
DESK_ARM = ROOT / "scenarios" / "models" / "desk_arm.urdf"

WEIGHT = """<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="{m}"/>
<inertia ixx="0.2" ixy="0.01" ixz="0.02" iyy="0.3" iyz="0.03" izz="0.25"/></inertial>"""


def link(name: str, mass: float | None = 1.0, more: str = "") -> str:
    weight = "" if mass is None else WEIGHT.format(m=mass)
    return f'<link name="{name}">{weight}{more}</link>'


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    if kind in ("revolute", "prismatic") and "<limit" not in more:
        more += '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="0.3 -0.2 0.5" rpy="0.1 -0.4 0.7"/>'
        f'<parent link="{parent}"/><child link="{child}"/>{more}</joint>'
    )


@pytest.fixture
def load(tmp_path: Path):
    def _load(*parts: str, **options) -> sk.Model:
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
        return sk.load(path, **options)

    return _load


# ---- joints -------------------------------------------------------------------------------------


def test_every_joint_type_is_what_it_says(load):
    names = ["revolute", "continuous", "prismatic", "planar", "floating"]
    axis = '<axis xyz="0 0 2"/>'
    model = load(
        link("root"),
        *(link(name) for name in names),
        *(joint(f"j_{name}", name, "root", name, axis) for name in names),
    )
    found = {n: model.joints[model.joint_index(f"j_{n}")] for n in names}
    assert found["revolute"] == sk.Revolute(axis=(0, 0, 1), name="j_revolute")
    assert found["continuous"] == sk.Revolute(axis=(0, 0, 1), name="j_continuous")
    assert found["prismatic"] == sk.Prismatic(axis=(0, 0, 1), name="j_prismatic")
    assert found["planar"].type_name == "planar"
    assert found["floating"] == sk.Free(name="j_floating")


def test_the_axis_is_x_unless_given_and_counts_by_direction_only(load):
    parts = link("a"), link("b"), link("c"), joint("j", "revolute", "a", "b")
    model = load(*parts, joint("k", "revolute", "b", "c", '<axis xyz="0 -3 4"/>'))
    assert model.joints[0].axis == (1, 0, 0)
    np.testing.assert_allclose(model.joints[1].axis, (0, -0.6, 0.8))


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0.3, -2, 0.5), (0, 0, -1)])
def test_a_planar_joint_moves_in_the_plane_of_its_normal(load, normal):
    axis = f'<axis xyz="{" ".join(map(str, normal))}"/>'
    model = load(link("a"), link("b"), joint("j", "planar", "a", "b", axis))
    n = np.array(normal) / np.linalg.norm(normal)
    rotations, positions = sk.forward_kinematics(model, [0.7, -0.4, 0.9])
    start_rotations, start = sk.forward_kinematics(model, [0.0, 0.0, 0.0])
    moved = start_rotations[0].T @ (positions[0] - start[0])
    assert abs(moved @ n) < 1e-15
    assert np.linalg.norm(moved) == pytest.approx(np.hypot(0.7, 0.4))
    turned = Rotation.from_matrix(start_rotations[0].T @ rotations[0]).as_rotvec()
    np.testing.assert_allclose(turned, 0.9 * n, atol=1e-14)


def test_origins_are_roll_pitch_yaw_about_fixed_axes(load):
    model = load(link("a"), link("b"), joint("j", "revolute", "a", "b"))
    wanted = Rotation.from_euler("xyz", (0.1, -0.4, 0.7)).as_matrix()
    np.testing.assert_allclose(model.rotation[0], wanted, atol=1e-15)
    np.testing.assert_allclose(model.translation[0], (0.3, -0.2, 0.5))


def test_inertia_is_turned_into_the_axes_of_the_link(load):
    model = load(link("a"), link("b", 2.0), joint("j", "revolute", "a", "b"))
    turn = Rotation.from_euler("xyz", (0.4, 0.5, 0.6)).as_matrix()
    given = np.array([[0.2, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.25]])
    np.testing.assert_allclose(model.inertia[0], turn @ given @ turn.T, atol=1e-15)
    np.testing.assert_allclose(model.com[0], (0.1, 0.2, 0.3))
    assert model.mass[0] == 2.0


# ---- merging ------------------------------------------------------------------------------------

TREE = (
    link("a"),
    link("b", 2.0),
    link("c", 3.0),
    link("d", None),
    link("e", 0.5),
    joint("ab", "revolute", "a", "b"),
    joint("bc", "fixed", "b", "c"),
    joint("cd", "fixed", "c", "d"),
    joint("de", "prismatic", "d", "e"),
)


def test_merged_links_keep_their_frames_and_their_weight(load):
    merged, kept = load(*TREE), load(*TREE, merge_fixed=False)
    assert merged.body_names == ("b", "e")
    assert kept.body_names == ("b", "c", "d", "e")
    assert set(merged.frames) == {"a", "c", "d"}
    assert merged.frames["d"].body == "b"
    q, v = merged.random_state(np.random.default_rng(2))
    for ours, theirs in (
        (sk.mass_matrix(merged, q), sk.mass_matrix(kept, q)),
        (sk.bias_force(merged, q, v), sk.bias_force(kept, q, v)),
        (sk.center_of_mass(merged, q), sk.center_of_mass(kept, q)),
    ):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
    rotations, positions = sk.forward_kinematics(merged, q)
    place = merged.frames["d"]
    wanted = sk.forward_kinematics(kept, q)
    np.testing.assert_allclose(rotations[0] @ place.rotation, wanted[0][2], atol=1e-14)
    np.testing.assert_allclose(
        positions[0] + rotations[0] @ place.translation, wanted[1][2], atol=1e-14
    )


def test_a_free_root_has_a_free_joint_and_a_fixed_one_is_the_world(load):
    fixed, free = load(*TREE), load(*TREE, root="free")
    assert fixed.frames["a"].body == "world"
    assert any("does not matter: a" in note for note in fixed.notes)
    assert free.joint_names[0] == "root_joint"
    assert free.joints[0].type_name == "free"
    assert free.mass.sum() == fixed.mass.sum() + 1.0


def test_point_masses_far_apart_merge_without_losing_digits(load):
    point = (
        '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
        "</inertial>"
    )
    far = '<origin xyz="1e6 0 0"/>'
    parts = [f'<link name="{n}">{point}</link>' for n in "bc"]
    model = load(
        '<link name="a"/>', *parts, joint("ab", "continuous", "a", "b"),
        f'<joint name="bc" type="fixed">{far}<parent link="b"/><child link="c"/></joint>',
    )  # fmt: skip
    assert model.com[0].tolist() == [5e5, 0, 0]
    np.testing.assert_allclose(model.inertia[0], np.diag([0, 5e11, 5e11]), atol=1e-3)


def test_a_massless_link_between_moving_ones_is_noted(load):
    parts = (
        link("a"), link("b", None), link("c"),
        joint("j", "continuous", "a", "b"),
        joint("k", "continuous", "b", "c", '<axis xyz="0 1 0"/>'),
    )  # fmt: skip
    model = load(*parts)
    assert any("have no <inertial> are massless: b" in note for note in model.notes)
    q, v = model.random_state(np.random.default_rng(0))
    assert np.isfinite(sk.forward_dynamics(model, q, v, np.zeros(2))).all()


# ---- friction, limits, notes --------------------------------------------------------------------


def test_damping_friction_and_limits_stay_with_the_model():
    model = sk.load(DESK_ARM)
    assert model.joint_properties["pitch"] == sk.JointProperties(damping=0.2, friction=0.1)
    assert model.limits["reach"] == sk.JointLimits(0.0, 0.2, 0.5, 100.0)
    assert model.limits["roll"] == sk.JointLimits(-math.inf, math.inf, 6.0, 5.0)
    stopped = sk.load(DESK_ARM, stops=True).joint_properties["pitch"]
    assert (stopped.damping, stopped.lower, stopped.upper) == (0.2, -1.2, 0.9)
    assert model != sk.load(DESK_ARM, stops=True)
    assert model == pickle.loads(pickle.dumps(model))


def test_stops_need_room(load):
    closed = '<limit effort="1" velocity="1"/>'
    parts = link("a"), link("b"), joint("j", "revolute", "a", "b", closed)
    assert load(*parts).limits["j"].upper == 0.0
    with pytest.raises(sk.ModelError, match="stops would leave it no room"):
        load(*parts, stops=True)


def test_simulate_applies_what_the_file_says_unless_told_otherwise():
    model = sk.load(DESK_ARM)
    start = model.neutral(), np.array([1.0, 0.0, 0.0, 0.0])

    def turned(**options) -> float:
        run = sk.simulate(model, *start, duration=0.5, every=500, **options)
        return run.trajectory.joint("turn")[-1, 0]

    explicit = turned(joints=dict(model.joint_properties))
    assert turned() == explicit
    free = turned(joints={name: sk.JointProperties() for name in model.joint_names})
    assert explicit < free
    assert turned(joints={"turn": sk.JointProperties()}) > explicit


def test_friction_of_the_file_is_the_torque_that_acts():
    model = sk.load(DESK_ARM)
    q, v = model.neutral(), np.array([0.3, -0.2, 0.1, 0.5])
    run = sk.simulate(model, q, v, duration=1e-3, dt=1e-3, channels=["tau"])
    wanted = np.zeros(4)
    for name, given in model.joint_properties.items():
        at = model.v_slice(name)
        speed = v[at]
        smooth = speed / np.sqrt(speed**2 + given.friction_speed**2)
        wanted[at] = -given.damping * speed - given.friction * smooth
    np.testing.assert_allclose(run.trajectory["tau"][0], wanted, rtol=1e-12)


def test_nothing_is_dropped_without_a_note(load):
    model = load(
        link("a", more="<contact/><collision><geometry/></collision>"),
        link("b"),
        joint("j", "revolute", "a", "b",
              '<safety_controller k_velocity="1"/><calibration rising="0"/><dynamics K="3"/>'),
        '<gazebo reference="b"/><transmission name="t"/><sensor name="s"/><ros2_control name="c"/>',
        '<verbose/><mujoco><compiler meshdir="m" balanceinertia="true"/></mujoco>',
    )  # fmt: skip
    for words in (
        "<contact> in <link> does not move anything here: Link 'a'",
        "<collision> without a shape touches nothing: a",
        "<safety_controller> is for a real robot and is not used: j",
        "<calibration> is for a real robot and is not used: j",
        "K in <dynamics> is unknown and not used: Joint 'j'",
        "<gazebo> is for that simulator and is not used: b",
        "<transmission> is not used: forces act on joints directly: t",
        "<sensor> is not used: s",
        "<ros2_control> is not used: c",
        "<verbose> in <robot> does not move anything here: The robot",
        "<mujoco> is for that simulator and is not used: line",
    ):
        assert any(note.startswith(words) for note in model.notes), (words, model.notes)


QUATERNION = """<robot name="r" version="{version}">
<link name="a"/><link name="b"><inertial><origin xyz="0.1 0.2 0.3" quat_xyzw="1 2 0.5 -3"/>
<mass value="2"/><inertia ixx="1" iyy="1.5" izz="2" ixy="0.1" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><origin xyz="1 0 0" quat_xyzw="0.3 -0.1 0.2 0.9"/>
<axis xyz="0 1 1"/><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint></robot>"""


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_quaternions_of_newer_urdf_turn_as_in_pinocchio(tmp_path, version):
    path = tmp_path / "r.urdf"
    path.write_text(QUATERNION.format(version=version))
    model, peer = sk.load(path), pin.buildModelFromUrdf(str(path))
    peer.gravity.linear = model.gravity
    q, v = np.array([0.4]), np.array([0.7])
    data = peer.createData()
    np.testing.assert_allclose(sk.mass_matrix(model, q), pin.crba(peer, data, q), rtol=1e-12)
    ours = sk.inverse_dynamics(model, q, v, [0.0])
    np.testing.assert_allclose(ours, pin.nonLinearEffects(peer, data, q, v), rtol=1e-12)


def test_an_extension_is_left_out_if_asked_for(load):
    parts = link("a"), link("b"), joint("j", "revolute", "a", "b"), '<loop_joint name="l"/>'
    model = load(*parts, ignore=["extension"])
    assert "Left out as asked for (extension): <loop_joint> of The robot." in model.notes
    with pytest.raises(sk.ModelError, match="has <loop_joint> in <robot>, which skodyn does not"):
        load(*parts)


# ---- shapes -------------------------------------------------------------------------------------


def test_shapes_are_kept_in_the_axes_of_the_body_that_carries_them():
    model = sk.load(DESK_ARM)
    sphere, camera = model.visuals["wrist"]
    assert sphere.shape.radius == 0.03
    assert sphere.color == (0.2, 0.4, 0.7, 1.0)
    assert camera.shape.size == (0.04, 0.06, 0.05)
    frame = model.frames["camera"]
    np.testing.assert_allclose(
        camera.translation, frame.translation + frame.rotation @ [0.02, 0, 0], atol=1e-15
    )
    assert model.visuals["world"][0].shape.size == (0.8, 0.5, 0.04)
    with pytest.raises(ValueError, match="read-only"):
        camera.translation[0] = 1.0


def test_a_capsule_and_a_scaled_mesh_are_shapes_too(load, tmp_path):
    (tmp_path / "m.stl").write_text("solid")
    shapes = (
        '<visual><geometry><capsule radius="0.1" length="0.5"/></geometry></visual>'
        '<visual name="cover"><geometry><mesh filename="m.stl" scale="1 2 3"/></geometry>'
        '<material name="late"/></visual>'
    )
    model = load(
        link("a"), link("b", more=shapes), joint("j", "revolute", "a", "b"),
        '<material name="late"><color rgba="0 1 0 0.5"/></material>',
    )  # fmt: skip
    capsule, mesh = model.visuals["b"]
    assert (capsule.shape.radius, capsule.shape.length) == (0.1, 0.5)
    assert (mesh.name, mesh.shape.scale, mesh.color) == ("cover", (1, 2, 3), (0, 1, 0, 0.5))
    assert mesh.shape.path == (tmp_path / "m.stl").resolve()


# ---- mimics -------------------------------------------------------------------------------------


def mimic(name: str, multiplier: float = 2.0, offset: float = 0.1) -> str:
    return f'<mimic joint="{name}" multiplier="{multiplier}" offset="{offset}"/>'


def hand(*more: str) -> tuple[str, ...]:
    links = tuple(link(name) for name in "abcd")
    return (
        *links,
        joint("j", "revolute", "a", "b", more[0]),
        joint("k", "revolute", "a", "c", more[1]),
        joint("l", "revolute", "c", "d", more[2]),
    )


def test_mimics_can_be_let_go_and_that_is_noted(load):
    parts = hand("", mimic("j"), mimic("k"))
    model = load(*parts, mimic="independent")
    assert model.nv == 3
    assert any(
        "follow another move by themselves, as asked for: k, l" in note for note in model.notes
    )


def test_mimics_are_coupled_exactly(load):
    model = load(*hand("", mimic("j"), mimic("k", -3.0, 0.5)))
    assert model.nv == 1
    assert model.mimics["k"] == sk.Mimic("j", 2.0, 0.1)
    assert model.mimics["l"] == sk.Mimic("j", -6.0, 0.5 - 3.0 * 0.1)


def test_a_mimic_circle_is_named(load):
    with pytest.raises(sk.ModelError, match="it mimics itself in a cycle, j → k → j"):
        load(*hand(mimic("k"), mimic("j"), ""))


def test_a_mimic_of_several_degrees_of_freedom_is_refused(load):
    parts = hand("", mimic("j"), "")
    wide = [part.replace('"j" type="revolute"', '"j" type="floating"') for part in parts]
    with pytest.raises(sk.ModelError, match="'j' is free and cannot be mimicked"):
        load(*wide)


# ---- scenarios, command line, converters --------------------------------------------------------


def test_a_scenario_with_a_robot_runs_from_any_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scenario = ROOT / "scenarios" / "desk_arm.toml"
    assert main(["check", str(scenario)]) == 0
    assert "note: <collision> touches only in runs with contacts" in capsys.readouterr().out
    assert main(["run", str(scenario), "-o", "out.h5", "--quiet"]) == 0
    log = sk.open(tmp_path / "out.h5")
    assert log.joint("pitch")[-1, 0] == pytest.approx(0.9, abs=0.02)
    assert log.joint("reach")[-1, 0] == pytest.approx(0.2, abs=0.02)
    read = read_scenario(scenario)
    assert read.forces.joints["turn"].friction == 0.2
    assert read.forces.joints["roll"].damping == 0.03
    assert read.forces.joints["pitch"].upper == 0.9


SCENARIO = '[model]\nfile = "{file}"\n{options}\n[joints.pitch]\n{joint}\n'


@pytest.mark.parametrize(
    ("options", "joint", "words"),
    [
        ('root = "loose"', "damping = 1", "root is 'loose'; give 'fixed' or 'free'"),
        ('roots = "free"', "damping = 1", "'roots' in model; did you mean 'root'?"),
        ("stops = 3", "damping = 1", "stops is 3; give True or False"),
        ('ignore = ["tendons"]', "damping = 1", "give a list of equality"),
        ("stops = true", "lower = 1.0", "joints.pitch.lower is 1.0, not below upper = 0.9"),
        ("", "stop_damping = 1.0", "stop_damping has no effect by itself"),
        ("bodies.a.mass = 1", "damping = 1", "model has both file and bodies"),
    ],
)
def test_a_scenario_names_what_is_wrong_with_its_robot(tmp_path, options, joint, words):
    path = tmp_path / "s.toml"
    text = SCENARIO.format(file=DESK_ARM, options=options, joint=joint)
    path.write_text(f"duration = 1.0\n{text}[integrator]\nmethod = 'rk4'\ndt = 0.01\n")
    with pytest.raises(sk.ScenarioError) as caught:
        read_scenario(path)
    assert words in str(caught.value)


def test_search_paths_of_a_scenario_start_at_its_folder(tmp_path, monkeypatch):
    (tmp_path / "space" / "pack").mkdir(parents=True)
    (tmp_path / "space" / "pack" / "a.stl").write_text("solid")
    robot = DESK_ARM.read_text().replace(
        '<sphere radius="0.03"/>', '<mesh filename="package://pack/a.stl"/>'
    )
    (tmp_path / "r.urdf").write_text(robot)
    scenario = tmp_path / "s.toml"
    scenario.write_text(
        'duration = 1.0\n[model]\nfile = "r.urdf"\nsearch_paths = ["space"]\n'
        '[integrator]\nmethod = "rk4"\ndt = 0.01\n'
    )
    monkeypatch.chdir("/")
    model = read_scenario(scenario).model
    found = model.visuals["wrist"][0].shape.path
    assert found == (tmp_path / "space/pack/a.stl").resolve()


def test_info_and_check_take_the_options_of_robots(capsys):
    assert main(["info", str(DESK_ARM), "--root", "free", "--keep-fixed"]) == 0
    drawn = capsys.readouterr().out
    assert "root_joint: free" in drawn
    assert "lens_mount: fixed" in drawn
    assert "notes\n   Limits of 4 joints" in drawn
    assert main(["info", str(DESK_ARM), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["limits"]["reach"] == {"lower": 0.0, "upper": 0.2, "velocity": 0.5, "effort": 100}
    assert data["joint_properties"]["turn"]["friction"] == 0.2
    assert data["visuals"]["boom"][0]["shape"] == "cylinder"
    assert data["notes"]
    assert main(["check", str(DESK_ARM)]) == 0
    out = capsys.readouterr().out
    assert "note: <collision> touches only in runs with contacts" in out
    assert "valid (4 bodies, nq 4, nv 4)" in out


@pytest.mark.parametrize("root", ["fixed", "free"])
def test_states_convert_to_pinocchio_and_back_by_name(root):
    model = sk.load(DESK_ARM, root=root)
    free = [pin.JointModelFreeFlyer()] if root == "free" else []
    peer = pin.buildModelFromUrdf(str(DESK_ARM), *free)
    q, v = model.random_state(np.random.default_rng(5))
    there = sk.interop.to_pinocchio_state(model, peer, q, v)
    assert len(there[0]) == peer.nq
    back = sk.interop.from_pinocchio_state(model, peer, *there)
    apart = (model.difference(q, back[0]) + np.pi) % (2 * np.pi) - np.pi  # roll has no turns there
    np.testing.assert_allclose(apart, 0, atol=1e-12)
    np.testing.assert_allclose(back[1], v, atol=1e-14)


def test_options_of_robots_mean_nothing_to_toml():
    with pytest.raises(sk.ModelError, match="a TOML model takes no option root"):
        sk.load(ROOT / "scenarios/models/double_pendulum.toml", root="free")
