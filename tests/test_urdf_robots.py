"""Robots that nobody here wrote: every URDF of example-robot-data, against Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import skodyn as sk
from skodyn.conventions import GROUND

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
FILES = sorted(str(path.relative_to(ROBOTS)) for path in ROBOTS.rglob("*.urdf"))
EPSILON = np.finfo(float).eps
WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

TRIANGLE = "violates the triangle inequality"
NEGATIVE = "not positive semidefinite"
GROUND_NAME = "'world' has the name of the ground"
NOTHING_MOVES = "Nothing in this robot can move"
MASSLESS = "nothing that it carries has any"
LOOPS = "in <gazebo>, which skodyn does not have"

ALWAYS_REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": ("which is not a joint",),
    "pr2_description/urdf/pr2.urdf": (LOOPS,),
    "romeo_description/urdf/romeo.urdf": (MASSLESS,),
    "romeo_description/urdf/romeo_laas_small.urdf": (TRIANGLE, NEGATIVE, MASSLESS),
    "romeo_description/urdf/romeo_small.urdf": (TRIANGLE,),
    "ur_description/urdf/ur3.urdf": ("The robot has no link",),
}
REFUSED_FIXED = {
    "hector_description/robots/quadrotor_base.urdf": (NOTHING_MOVES,),
    "iris_description/robots/iris_simple.urdf": (NOTHING_MOVES,),
}
REFUSED_FREE = {
    "asr_twodof_description/urdf/TwoDofs.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur10_joint_limited_robot.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur10_robot.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur3_gripper.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur3_joint_limited_robot.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur3_robot.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur5_gripper.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur5_joint_limited_robot.urdf": (GROUND_NAME,),
    "ur_description/urdf/ur5_robot.urdf": (GROUND_NAME,),
    "xarm_description/urdf/xarm7.urdf": (GROUND_NAME,),
    "z1_description/urdf/z1.urdf": (GROUND_NAME,),
}
REFUSED = {
    "fixed": ALWAYS_REFUSED | REFUSED_FIXED,
    "free": ALWAYS_REFUSED | REFUSED_FREE,
}
CASES = [(name, root) for name in FILES for root in ("fixed", "free")]


def near(ours, theirs, tolerance=1e-11):
    """Equal up to a tolerance relative to the largest entry."""
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


def angular_first(x):
    return np.concatenate((x[3:], x[:3]))


def test_the_package_has_the_robots_we_mean():
    assert len(FILES) >= 60
    assert set(REFUSED["fixed"]) | set(REFUSED["free"]) <= set(FILES)


@pytest.mark.parametrize(("name", "root"), [c for c in CASES if c[0] in REFUSED[c[1]]])
def test_a_refused_robot_has_the_defect_that_is_named(name, root):
    with pytest.raises(sk.ModelError) as caught:
        sk.load(ROBOTS / name, root=root, mimic="independent")
    defects = REFUSED[root][name]
    for fault in map(str, caught.value.faults):
        assert any(words in fault for words in defects), fault
    for words in defects:
        assert any(words in fault for fault in map(str, caught.value.faults))


@pytest.mark.parametrize(("name", "root"), [c for c in CASES if c[0] not in REFUSED[c[1]]])
def test_a_robot_moves_as_in_pinocchio(name, root):
    path = ROBOTS / name
    model = sk.load(path, root=root, mimic="independent")
    peer = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] * (root == "free")))
    peer.gravity.linear = model.gravity
    data = peer.createData()
    rng = np.random.default_rng(FILES.index(name))
    for _ in range(2):
        q, v = model.random_state(rng)
        vdot, tau = rng.normal(size=(2, model.nv))
        pin_q, pin_v = sk.interop.to_pinocchio_state(model, peer, q, v)
        pin_vdot = sk.interop.to_pinocchio_acceleration(model, peer, q, v, vdot)
        turn = np.array(
            [sk.interop.to_pinocchio_force(model, peer, q, e) for e in np.eye(model.nv)]
        )
        M = sk.mass_matrix(model, q)
        theirs = np.triu(pin.crba(peer, data, pin_q))
        theirs = theirs + theirs.T - np.diag(np.diag(theirs))
        near(turn.T @ M @ turn, theirs)

        pin_tau = pin.rnea(peer, data, pin_q, pin_v, pin_vdot)
        ours = sk.inverse_dynamics(model, q, v, vdot)
        near(sk.interop.to_pinocchio_force(model, peer, q, ours), pin_tau)

        pin_tau = sk.interop.to_pinocchio_force(model, peer, q, tau)
        found = sk.forward_dynamics(model, q, v, tau)
        found = sk.interop.to_pinocchio_acceleration(model, peer, q, v, found)
        wanted = pin.aba(peer, data, pin_q, pin_v, pin_tau)
        near(found, wanted, 200 * np.linalg.cond(M) * EPSILON)

        _compare_links(model, peer, data, q, pin_q, turn, rng)
        if root == "free":  # with a fixed root, Pinocchio counts the mass of the world too
            near(sk.center_of_mass(model, q), pin.centerOfMass(peer, data, pin_q))


def _compare_links(model, peer, data, q, pin_q, turn, rng):
    """Pose and Jacobian of every link: bodies and the frames that were merged into them."""
    pin.computeJointJacobians(peer, data, pin_q)
    pin.updateFramePlacements(peer, data)
    rotations, positions = sk.forward_kinematics(model, q)
    links = [
        (number, frame)
        for number, frame in enumerate(peer.frames)
        if frame.type == pin.FrameType.BODY
    ]
    assert {link.name for _, link in links} - {GROUND, "universe"} <= (
        set(model.body_names) | set(model.frames)
    )
    for number, link in links:
        if link.name in (GROUND, "universe"):
            continue
        frame = model.frames.get(link.name)
        body = frame.body if frame else link.name
        place = frame.rotation if frame else np.eye(3)
        point = frame.translation if frame else np.zeros(3)
        theirs = data.oMf[number]
        if body == GROUND:
            near(place, theirs.rotation)
            near(point, theirs.translation)
            continue
        k = model.body_index(body)
        near(rotations[k] @ place, theirs.rotation)
        near(positions[k] + rotations[k] @ point, theirs.translation)
        if rng.random() < 0.3 or not frame:
            wanted = pin.getFrameJacobian(peer, data, number, WORLD_AXES)
            near(sk.jacobian(model, q, body, point) @ turn, angular_first(wanted))


@pytest.mark.parametrize("name", ["talos_data/robots/talos_reduced.urdf"])
def test_merging_fixed_joints_changes_no_motion(name):
    path = ROBOTS / name
    merged, kept = (sk.load(path, root="free", merge_fixed=m) for m in (True, False))
    assert merged.n_bodies < kept.n_bodies
    assert merged.nv == kept.nv
    assert set(kept.body_names) == set(merged.body_names) | set(merged.frames)
    q, v = merged.random_state(np.random.default_rng(3))
    there = np.concatenate([np.arange(merged.nv)[merged.v_slice(n)] for n in _moving(kept)])
    q_there = np.concatenate([np.arange(merged.nq)[merged.q_slice(n)] for n in _moving(kept)])
    near(
        sk.mass_matrix(kept, q[q_there]),
        sk.mass_matrix(merged, q)[np.ix_(there, there)],
    )
    near(sk.bias_force(kept, q[q_there], v[there]), sk.bias_force(merged, q, v)[there])


def _moving(model):
    return [n for n, joint in zip(model.joint_names, model.joints, strict=True) if joint.nv]


APART = (
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "go1_description/urdf/go1.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
)
"""Robots with links whose inertia no body can have, on fixed joints: sound once merged."""


@pytest.mark.parametrize("name", APART)
def test_links_kept_apart_are_judged_by_themselves(name):
    with pytest.raises(sk.ModelError, match=f"{TRIANGLE}|{NEGATIVE}"):
        sk.load(ROBOTS / name, root="free", merge_fixed=False, mimic="independent")


@pytest.mark.parametrize("name", [*APART, "romeo_description/urdf/romeo_small.urdf"])
def test_an_impossible_inertia_can_be_repaired_on_request(name):
    options = {"root": "free", "mimic": "independent", "repair_inertia": True}
    model = sk.load(ROBOTS / name, merge_fixed=name not in APART, **options)
    assert model.repairs
    assert all(f"{ROBOTS / name}:" in repair for repair in model.repairs)


def test_meshes_are_found_in_the_package_they_are_in():
    search = ROBOTS.parents[1]
    model = sk.load(ROBOTS / "panda_description/urdf/panda.urdf", mimic="independent",
                    search_paths=[search])  # fmt: skip
    meshes = [v.shape for vs in model.visuals.values() for v in vs]
    assert meshes
    assert all(mesh.path is not None and mesh.path.is_file() for mesh in meshes)
    above = sk.load(ROBOTS / "panda_description/urdf/panda.urdf", mimic="independent")
    assert [v.shape for vs in above.visuals.values() for v in vs] == meshes  # by walking up
    assert not any("search_paths" in note for note in above.notes)


def test_friction_damping_and_limits_of_the_panda_are_kept():
    model = sk.load(ROBOTS / "panda_description/urdf/panda.urdf", mimic="independent")
    assert model.limits["panda_joint4"] == sk.JointLimits(-3.0718, -0.0698, 2.1750, 87.0)
    kept = sk.load(ROBOTS / "talos_data/robots/talos_full_v2.urdf", mimic="independent")
    assert kept.joint_properties["arm_left_1_joint"].damping == 1.0
