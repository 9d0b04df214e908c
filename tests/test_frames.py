"""Named frames wherever a body goes: poses, velocities, Jacobians, forces, operators, files."""

from pathlib import Path

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from skodyn.scenario import parse_scenario

EPSILON = np.finfo(float).eps
ARM = sk.load("scenarios/models/seven_joint_arm.toml")
FLIP = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]


def random_model(seed, count=8):
    """A tree with joints of every kind, and frames in some of its bodies and in the world."""
    rng = np.random.default_rng(seed)
    builder = adapters.builder(naive.random_bodies(rng, count, branching=0.5))
    bodies = [b.name for b in builder.bodies]
    for k in range(4):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        turn *= np.sign(np.linalg.det(turn))
        builder.add_frame(
            f"frame {k}", bodies[rng.integers(count)], translation=rng.normal(size=3), rotation=turn
        )
    builder.add_frame("lamp", "world", translation=(1, 2, 3), rotation=FLIP)
    return builder.build(), rng


def pose_by_hand(model, q, name):
    """From poses of bodies, which other tests hold to the naive twin."""
    frame, found = model.frame(name), np.eye(4)
    found[:3, :3], found[:3, 3] = frame.rotation, frame.translation
    if frame.body != "world":
        rotations, positions = sk.forward_kinematics(model, q)
        k = model.body_index(frame.body)
        found[:3, :3] = rotations[k] @ frame.rotation
        found[:3, 3] = positions[k] + rotations[k] @ frame.translation
    return found


@pytest.mark.parametrize("seed", range(6))
def test_poses_and_velocities_of_frames_are_those_of_their_bodies(seed):
    model, rng = random_model(seed)
    names = [*model.frames, *model.body_names, "world"]
    q, v = model.random_state(rng)
    poses = sk.frame_poses(model, q, names)
    rates = sk.frame_velocities(model, q, v, names)
    scale = 1.0 + np.abs(poses).max()
    for name, pose, rate in zip(names, poses, rates, strict=True):
        np.testing.assert_allclose(pose, pose_by_hand(model, q, name), atol=64 * EPSILON * scale)
        assert (sk.frame_poses(model, q, name) == pose).all(), "one name has other bits than a list"
        if model.frame(name).body == "world":
            assert not rate.any()
            continue
        wanted = sk.jacobian(model, q, name) @ v
        size = scale * (1.0 + np.abs(v).max())
        np.testing.assert_allclose(rate, wanted, atol=256 * EPSILON * size)


def test_velocities_are_the_derivatives_of_poses():
    model, rng = random_model(3)
    q, v = model.random_state(rng)
    names, h = [*model.frames], 1e-5
    ahead, behind = (sk.frame_poses(model, model.integrate(q, s * h * v), names) for s in (1, -1))
    rates = sk.frame_velocities(model, q, v, names)
    here = sk.frame_poses(model, q, names)
    for one, two, at, rate in zip(ahead, behind, here, rates, strict=True):
        slope = (one - two) / (2 * h)
        spin = slope[:3, :3] @ at[:3, :3].T
        np.testing.assert_allclose((spin[2, 1], spin[0, 2], spin[1, 0]), rate[:3], atol=1e-7)
        np.testing.assert_allclose(slope[:3, 3], rate[3:], atol=1e-7)


def test_batches_have_the_bits_of_single_states_and_out_is_filled(monkeypatch):
    from skodyn.dynamics.algorithm import Algorithm

    model, rng = random_model(1)
    states = [model.random_state(rng) for _ in range(11)]
    q, v = (np.array(x) for x in zip(*states, strict=True))
    names = ("frame 0", "lamp", model.body_names[-1])
    poses = np.array([sk.frame_poses(model, one, names) for one in q])
    rates = np.array([sk.frame_velocities(model, *one, names) for one in states])
    monkeypatch.setattr(Algorithm, "goes_one_by_one", lambda *_: False)
    out = np.empty((11, 3, 4, 4))
    assert sk.frame_poses(model, q, names, out=out) is out
    assert (out == poses).all()
    assert (sk.frame_velocities(model, q, v, names) == rates).all()
    single = np.empty((4, 4))
    assert sk.frame_poses(model, q[0], "lamp", out=single) is single
    assert (single == poses[0, 1]).all()
    turned = np.empty((4, 4), order="F")
    assert (sk.frame_poses(model, q[0], "frame 0", out=turned) == poses[0, 0]).all()
    with pytest.raises(sk.StateError, match="out"):
        sk.frame_poses(model, q[0], names, out=np.empty((2, 4, 4)))


def test_mimic_joints_and_loops_move_frames():
    b = sk.ModelBuilder()
    for name, parent in (("left", "world"), ("right", "left")):
        b.add_body(name, parent, sk.Revolute(), translation=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    b.add_mimic("right", "left", 2.0)
    b.add_frame("tip", "right", translation=(1, 0, 0))
    model = b.build()
    wanted = sk.frame_poses(model.uncoupled, [0.3, 0.6], "tip")
    assert (sk.frame_poses(model, [0.3], "tip") == wanted).all()
    rate = sk.frame_velocities(model, [0.3], [0.7], "tip")
    np.testing.assert_allclose(rate, sk.jacobian(model, [0.3], "tip") @ [0.7], atol=1e-14)
    four_bar = sk.load("scenarios/models/four_bar.toml")
    body, q = four_bar.body_names[-1], np.full(four_bar.nq, 0.2)
    assert (sk.frame_poses(four_bar, q, body) == sk.frame_poses(four_bar.opened, q, body)).all()


def test_jacobians_compliances_and_operators_take_frames():
    model, rng = random_model(2)
    q, v = model.random_state(rng)
    for name, frame in model.frames.items():
        if frame.body == "world":
            continue
        point = rng.normal(size=3)
        there = frame.translation + frame.rotation @ point
        for ours, of_body in (
            (sk.jacobian(model, q, name, point), sk.jacobian(model, q, frame.body, there)),
            (sk.jacobian_dot_v(model, q, v, name, point),
             sk.jacobian_dot_v(model, q, v, frame.body, there)),
            (sk.operational_space_compliance(model, q, [name, (name, point)]),
             sk.operational_space_compliance(
                 model, q, [(frame.body, frame.translation), (frame.body, there)])),
            (sk.operators(model, q).pickoff([name, (name, point)]).dense(),
             sk.operators(model, q).pickoff(
                 [(frame.body, frame.translation), (frame.body, there)]).dense()),
        ):  # fmt: skip
            np.testing.assert_allclose(ours, of_body, atol=1e-12 * (1 + np.abs(of_body).max()))
    space = sk.operational_space(ARM, np.full(7, 0.3), np.zeros(7), ["tool"])
    np.testing.assert_allclose(space.jacobian, sk.jacobian(ARM, np.full(7, 0.3), "tool"))


def test_wrenches_and_springs_act_at_frames():
    model, rng = random_model(4)
    name, frame = next((n, f) for n, f in model.frames.items() if f.body != "world")
    force, point = rng.normal(size=(2, 3))
    there = frame.translation + frame.rotation @ point
    lamp = model.frames["lamp"]
    pairs = [
        (sk.Wrench(name, force, point=point), sk.Wrench(frame.body, force, point=there)),
        (
            sk.Wrench(name, force, moment=point, frame="body"),
            sk.Wrench(frame.body, frame.rotation @ force, frame.rotation @ point,
                      frame.translation, frame="body"),
        ),
        (
            sk.PointSpring("lamp", name, 3.0, point_b=point),
            sk.PointSpring("world", frame.body, 3.0, point_a=lamp.translation, point_b=there),
        ),
    ]  # fmt: skip
    q, v = model.random_state(rng)
    for ours, by_hand in pairs:
        runs = [
            sk.simulate(model, q, v, duration=0.01, dt=1e-3, elements=[one])
            for one in (ours, by_hand)
        ]
        first, second = (run.trajectory.v for run in runs)
        np.testing.assert_allclose(first, second, atol=1e-11 * (1 + np.abs(second).max()))


def test_faults_name_the_frame():
    q = np.zeros(7)
    with pytest.raises(sk.ModelError, match=r"no body or frame 'tol'; did you mean 'tool'"):
        sk.jacobian(ARM, q, "tol")
    with pytest.raises(sk.ModelError) as refused:
        sk.frame_poses(ARM, q, ["tol", "tool", "x"])
    assert len(refused.value.faults) == 2
    with pytest.raises(sk.StateError, match="frames is 3; give a name of a frame or body"):
        sk.frame_poses(ARM, q, 3)
    model, _ = random_model(0)
    with pytest.raises(sk.ModelError, match="'lamp' is fixed in the world and does not move"):
        sk.jacobian(model, model.neutral(), "lamp")
    push = [sk.Wrench("lamp", (1, 0, 0))]
    with pytest.raises(sk.ModelError, match="'lamp' is fixed in the world; name a body"):
        sk.simulate(model, model.neutral(), np.zeros(model.nv), duration=0.01, elements=push)


SCENARIO = """\
duration = 0.01
[model]
file = "models/seven_joint_arm.toml"
[forces.push]
type = "wrench"
body = "{}"
force = [0, 0, 1]
"""


def test_scenarios_push_at_frames():
    read = parse_scenario(SCENARIO.format("tool"), "scenarios")
    assert read.forces.elements[0].body == "tool"
    with pytest.raises(sk.ScenarioError, match=r":6: forces.push.body is 'tol'; did you mean"):
        parse_scenario(SCENARIO.format("tol"), "scenarios")


# ---- files --------------------------------------------------------------------------------------

MJCF = """<mujoco><worldbody>
<site name="lamp" pos="1 2 3"/>
<body name="base" pos="0 0 1" quat="0.9 0.1 0.2 0.3"><freejoint name="root"/>
<geom size="0.1" mass="1"/><site name="base" pos="0.1 0 0"/>
<body name="arm" pos="0.3 0 0"><joint name="elbow" axis="0 1 0" pos="0.05 0 0" ref="0.2"/>
<geom size="0.1" mass="1"/><site name="tip" pos="0.5 0.1 0" euler="30 40 50"/>
<body name="hand" pos="0.2 0 0"><joint name="wrist" type="ball"/><geom size="0.1" mass="1"/>
<body name="plate" pos="0 0 0.1"><geom size="0.1" mass="1"/><site name="pad" pos="0 1 0"/></body>
</body></body></body></worldbody>
<keyframe>
<key name="home" qpos="0.1 0.2 0.3 0.5 -0.5 0.5 0.5 0.7 0.6 0 0.8 0"
     qvel="1 2 3 0.1 0.2 0.3 0.4 0.5 0.6 0.7"/>
<key qpos="0 0 2 1 0 0 0 0 1 0 0 0"/>
</keyframe></mujoco>"""


@pytest.fixture
def robot(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text(MJCF)
    return sk.load(path), mujoco.MjModel.from_xml_string(MJCF), mujoco


@pytest.mark.parametrize("key", ["home", "key_1"])
def test_sites_are_frames_and_keyframes_are_starts(robot, key):
    model, mj, mujoco = robot
    data = mujoco.MjData(mj)
    mujoco.mj_resetDataKeyframe(mj, data, list(model.starts).index(key))
    mujoco.mj_forward(mj, data)
    q, v = model.starts[key]
    wanted = sk.interop.from_mujoco_state(model, mj, data.qpos, data.qvel)
    np.testing.assert_allclose(q * np.sign(q[0]), wanted[0] * np.sign(wanted[0][0]), atol=1e-14)
    np.testing.assert_allclose(v, wanted[1], atol=1e-14)
    for site, name in (("lamp",) * 2, ("base", "base/site"), ("tip",) * 2, ("pad",) * 2):
        pose = sk.frame_poses(model, q, name)
        there = data.site(site)
        np.testing.assert_allclose(pose[:3, 3], there.xpos, atol=1e-14)
        np.testing.assert_allclose(pose[:3, :3], there.xmat.reshape(3, 3), atol=1e-14)
        spin = np.empty(6)
        number = mj.site(site).id
        mujoco.mj_objectVelocity(mj, data, mujoco.mjtObj.mjOBJ_SITE, number, spin, 0)
        np.testing.assert_allclose(sk.frame_velocities(model, q, v, name), spin, atol=1e-13)


def test_scenarios_start_at_keyframes(robot, tmp_path):
    model, _, _ = robot
    text = "duration = 0.01\n[model]\nfile = 'robot.xml'\n[initial]\nstart = '{}'\nq.elbow = 0.25\n"
    read = parse_scenario(text.format("home"), tmp_path)
    wanted = model.starts["home"][0].copy()
    wanted[model.q_slice("elbow")] = 0.25
    assert (read.q0 == wanted).all()
    assert (read.v0 == model.starts["home"][1]).all()
    with pytest.raises(sk.ScenarioError, match=r":5: initial.start is 'hom', no start .* 'home'"):
        parse_scenario(text.format("hom"), tmp_path)


def test_fixed_links_of_urdf_are_frames():
    pin = pytest.importorskip("pinocchio")
    folder = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    path = folder / "panda_description/urdf/panda.urdf"
    model = sk.load(path, mimic="independent")
    peer = pin.buildModelFromUrdf(str(path))
    data = peer.createData()
    q, v = model.random_state(np.random.default_rng(0))
    pin.forwardKinematics(peer, data, q, v)
    pin.updateFramePlacements(peer, data)
    number = peer.getFrameId("panda_hand_tcp")
    pose = data.oMf[number].homogeneous
    np.testing.assert_allclose(sk.frame_poses(model, q, "panda_hand_tcp"), pose, atol=1e-14)
    rate = pin.getFrameVelocity(peer, data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    ours = sk.frame_velocities(model, q, v, "panda_hand_tcp")
    np.testing.assert_allclose(ours, np.concatenate((rate.angular, rate.linear)), atol=1e-13)


def test_a_log_has_the_poses_of_named_frames(tmp_path):
    b = sk.ModelBuilder()
    b.add_body("arm", "world", sk.Revolute(axis=(1, 2, 0)), mass=1.0, com=(0, 0.1, -0.5))
    b.add_frame("tip", "arm", translation=(0.1, 0, -1), rotation=(0.5, 0.5, -0.5, 0.5))
    b.add_frame("post", "world", translation=(1, 0, 0))
    model = b.build()
    run = sk.simulate(
        model, [0.3], [0.1], duration=0.1, dt=0.01, channels=["frame_poses"], log=tmp_path / "a.h5"
    )
    for found in (run.trajectory, sk.open(tmp_path / "a.h5")):
        poses = sk.frame_poses(model, np.asarray(found["q"]), ["tip", "post"])
        assert (found["frame_positions"][:] == poses[..., :3, 3]).all()
        assert (found["frame_rotations"][:] == poses[..., :3, :3]).all()


def test_models_without_frames_cannot_log_them():
    model = sk.examples.pendulum(1)
    with pytest.raises(sk.SkodynError, match=r"needs named frames, and model .* has none"):
        sk.simulate(model, [0.3], [0.0], duration=0.1, dt=0.01, channels=["frame_poses"])
