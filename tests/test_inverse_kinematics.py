"""Inverse kinematics: targets are reached to rounding, within limits, or it is said why not."""

import numpy as np
import pytest

import skodyn as sk
from skodyn.dynamics.ik_targets import rotation_vectors

ARM = sk.load("scenarios/models/seven_joint_arm.toml")
REACH = {name: {"lower": -2.5, "upper": 2.5} for name in ARM.joint_names}
LIMITED = ARM.with_changes(limits=REACH)
HUMANOID = sk.load("scenarios/models/humanoid.toml")
ENDS = ["left_foot", "right_foot", "left_forearm", "right_forearm"]


def random_rotations(rng, count):
    p = rng.normal(size=(count, 4))
    w, x, y, z = (p / np.linalg.norm(p, axis=1, keepdims=True)).T
    return np.array(
        [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    ).transpose(2, 0, 1)  # fmt: skip


def test_rotation_vectors_are_logarithms_at_any_angle():
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(60, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.concatenate(([0, 1e-9, 1e-4, np.pi - 1e-6, np.pi - 1e-9], np.linspace(0, 3, 55)))
    k = np.zeros((60, 3, 3))
    k[:, 0, 1], k[:, 0, 2], k[:, 1, 2] = -axes[:, 2], axes[:, 1], -axes[:, 0]
    k -= k.transpose(0, 2, 1)
    s, c = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    turns = np.eye(3) + s * k + (1 - c) * (k @ k)
    np.testing.assert_allclose(rotation_vectors(turns), angles[:, None] * axes, atol=1e-8)
    np.testing.assert_allclose(rotation_vectors(turns[:3]), angles[:3, None] * axes[:3], atol=1e-15)


def test_an_arm_reaches_random_targets_within_its_limits():
    rng = np.random.default_rng(1)
    wanted = sk.frame_poses(LIMITED, rng.uniform(-2.5, 2.5, (100, 7)), "tool")
    found = sk.inverse_kinematics(LIMITED, {"tool": wanted})
    assert found.solved.all()
    assert set(found.status) == {"solved"}
    assert set(found.message) == {""}
    assert (np.abs(found.q) <= 2.5).all()
    reached = sk.frame_poses(LIMITED, found.q, "tool")
    assert np.abs(reached[:, :3, 3] - wanted[:, :3, 3]).max() <= 1e-10
    turn = rotation_vectors(wanted[:, :3, :3] @ reached[:, :3, :3].transpose(0, 2, 1))
    assert np.abs(turn).max() <= 1e-10
    np.testing.assert_allclose(found.error, found.error.clip(0, 1e-10))
    alone = sk.inverse_kinematics(LIMITED, {"tool": wanted[7]})
    assert alone.solved is True
    assert isinstance(alone.iterations, int)
    np.testing.assert_allclose(sk.frame_poses(LIMITED, alone.q, "tool"), wanted[7], atol=1e-9)


def test_feet_and_hands_of_a_humanoid_are_brought_to_their_places():
    rng = np.random.default_rng(2)
    states = np.array([HUMANOID.random_state(rng)[0] for _ in range(30)])
    wanted = sk.frame_poses(HUMANOID, states, ENDS)
    bent = dict.fromkeys(("left_elbow", "right_elbow"), (-np.pi, np.pi))
    targets = {name: wanted[:, k] for k, name in enumerate(ENDS)}
    found = sk.inverse_kinematics(HUMANOID, targets, limits=bent)
    assert found.solved.all(), found.message
    for name in bent:
        assert (np.abs(found.q[:, HUMANOID.q_slice(name)]) <= np.pi).all()
    HUMANOID.check_q(found.q[0])


def test_masks_leave_directions_free_and_weights_choose():
    place = (0.4, 0.2, 0.5)
    found = sk.inverse_kinematics(ARM, {"tool": sk.Target(position=place)})
    assert found.solved
    np.testing.assert_allclose(sk.frame_poses(ARM, found.q, "tool")[:3, 3], place, atol=1e-10)
    turn = random_rotations(np.random.default_rng(3), 1)[0]
    found = sk.inverse_kinematics(ARM, {"tool": sk.Target(rotation=turn)})
    np.testing.assert_allclose(sk.frame_poses(ARM, found.q, "tool")[:3, :3], turn, atol=1e-9)
    height = sk.Target(position=(0, 0, 0.7), mask=(False,) * 5 + (True,))
    found = sk.inverse_kinematics(ARM, {"tool": height}, np.full(7, 0.3))
    assert abs(sk.frame_poses(ARM, found.q, "tool")[2, 3] - 0.7) <= 1e-10
    far = {"tool": sk.Target((9, 0, 0)), ARM.body_names[3]: sk.Target((-9, 0, 0))}
    heavy = far | {"tool": sk.Target((9, 0, 0), weight=1e4)}
    even, pulled = (
        sk.frame_poses(ARM, sk.inverse_kinematics(ARM, t, restarts=2).q, "tool")[0, 3]
        for t in (far, heavy)
    )
    assert pulled > even


def test_it_says_why_not():
    far = sk.inverse_kinematics(ARM, {"tool": sk.Target((9, 0, 0))}, restarts=1)
    assert not far.solved
    assert far.status == "out of reach"
    assert "no joint brings it nearer" in far.message
    assert far.error > 1.0
    tight = dict.fromkeys(ARM.joint_names, (-0.1, 0.1))
    wanted = sk.frame_poses(ARM, np.full(7, 0.6), "tool")
    held = sk.inverse_kinematics(ARM, {"tool": wanted}, limits=tight, restarts=1)
    assert held.status == "at limits"
    assert "at their limits" in held.message
    assert (np.abs(held.q) <= 0.1).all()
    short = sk.inverse_kinematics(ARM, {"tool": wanted}, max_iterations=1, restarts=0)
    assert short.status == "iterations"
    assert short.iterations == 1


def test_who_mimics_follows_and_its_limits_count():
    b = sk.ModelBuilder()
    for name, parent in (("one", "world"), ("two", "one"), ("three", "two")):
        b.add_body(name, parent, sk.Revolute(), translation=(1, 0, 0), mass=1, inertia=(1, 1, 1))
    b.add_mimic("two", "one", -0.5, 0.1)
    b.add_frame("tip", "three", translation=(1, 0, 0))
    model = b.build()
    q = np.array([0.8, -0.4])
    place = sk.Target(sk.frame_poses(model, q, "tip")[:3, 3], mask=(0, 0, 0, 1, 1, 0))
    found = sk.inverse_kinematics(model, {"tip": place})
    assert found.solved
    held = sk.inverse_kinematics(model, {"tip": place}, limits={"two": (-0.1, 0.2)}, restarts=3)
    assert (held.q[0] * -0.5 + 0.1 <= 0.2 + 1e-15).all()
    assert (held.q[0] * -0.5 + 0.1 >= -0.1 - 1e-15).all()


def test_loops_are_refused_by_name():
    four_bar = sk.load("scenarios/models/four_bar.toml")
    with pytest.raises(sk.ModelError, match="inverse kinematics does not take models with loops"):
        sk.inverse_kinematics(four_bar, {four_bar.body_names[0]: np.eye(4)})


FAULTS = {
    "nothing": ({}, {}, "give {frame: pose, …}"),
    "shape": ({"tool": [1, 2]}, {}, "The target of 'tool' is [1, 2]; give a pose of shape (4, 4)"),
    "axes": ({"tool": 2 * np.eye(4)}, {}, "has axes that are not a rotation"),
    "empty": ({"tool": sk.Target()}, {}, "has neither position nor rotation"),
    "mask": ({"tool": sk.Target((0, 0, 0), mask=(1,) * 6)}, {}, "a mask for what it does not give"),
    "weight": ({"tool": sk.Target((0, 0, 0), weight=0)}, {}, "has weight 0; give one above 0"),
    "frame": ({"tol": np.eye(4)}, {}, "no body or frame 'tol'; did you mean 'tool'"),
    "world": ({"world": np.eye(4)}, {}, "'world' is fixed in the world and does not move"),
    "q0": ({"tool": np.eye(4)}, {"q0": [1, 2]}, "q"),
    "counts": ({"tool": np.stack([np.eye(4)] * 3)}, {"q0": np.zeros((2, 7))}, "q0 has 2 states"),
    "tolerance": ({"tool": np.eye(4)}, {"tolerance": 0}, "tolerance is 0; give a number above 0"),
    "limits": ({"tool": np.eye(4)}, {"limits": 3}, "limits is 3; give True, False or"),
}


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_what_cannot_be_asked_gets_a_sentence(case):
    targets, options, words = FAULTS[case]
    with pytest.raises((sk.StateError, sk.ModelError)) as refused:
        sk.inverse_kinematics(ARM, targets, **options)
    assert words in str(refused.value)


@pytest.mark.slow
def test_a_thousand_targets_are_all_reached():
    rng = np.random.default_rng(4)
    wanted = sk.frame_poses(LIMITED, rng.uniform(-2.5, 2.5, (1000, 7)), "tool")
    assert sk.inverse_kinematics(LIMITED, {"tool": wanted}).solved.all()
    states = np.array([HUMANOID.random_state(rng)[0] for _ in range(1000)])
    poses = sk.frame_poses(HUMANOID, states, ENDS)
    targets = {name: poses[:, k] for k, name in enumerate(ENDS)}
    assert sk.inverse_kinematics(HUMANOID, targets).solved.all()
