"""Converters between state layouts: round trips, what X must satisfy, and what is refused."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import naive
import skodyn as sk
from adapters import build
from skodyn import interop
from skodyn.model import peer_rules

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from models import mujoco_model, pinocchio_model

SHARED = ("fixed", "revolute", "prismatic", "spherical")


def floating(bodies):
    """The same system on free joints."""
    return [b | {"joint": {"kind": "free"}} if b["parent"] == -1 else b for b in bodies]


def planar_in_its_own_plane():
    """A chain with a planar joint that Pinocchio has as such, and a free joint below it."""
    builder = sk.ModelBuilder()
    for name, parent, joint in (
        ("cart", "world", sk.Planar()),
        ("drone", "cart", sk.Free()),
        ("ball", "drone", sk.Spherical()),
    ):
        builder.add_body(name, parent, joint, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))
    return builder.build()


def pinocchio_pairs():
    rng = np.random.default_rng(11)
    models = [build(naive.random_bodies(rng, 14)) for _ in range(4)]
    return [(model, pinocchio_model(model)) for model in [*models, planar_in_its_own_plane()]]


def mujoco_pairs():
    rng = np.random.default_rng(12)
    models = [build(floating(naive.random_bodies(rng, 12, SHARED))) for _ in range(4)]
    return [(model, mujoco_model(model)) for model in models]


PEERS = {"pinocchio": pinocchio_pairs, "mujoco": mujoco_pairs}


@pytest.fixture(params=sorted(PEERS))
def peer(request):
    """A library: its pairs of models, and the converters by their short names."""

    class Peer:
        pairs = PEERS[request.param]()
        to_state = staticmethod(getattr(interop, f"to_{request.param}_state"))
        from_state = staticmethod(getattr(interop, f"from_{request.param}_state"))
        to_force = staticmethod(getattr(interop, f"to_{request.param}_force"))
        from_force = staticmethod(getattr(interop, f"from_{request.param}_force"))
        to_acceleration = staticmethod(getattr(interop, f"to_{request.param}_acceleration"))
        from_acceleration = staticmethod(getattr(interop, f"from_{request.param}_acceleration"))

    return Peer


def states(model, count, seed=3):
    rng = np.random.default_rng(seed)
    drawn = [model.random_state(rng) for _ in range(count)]
    q, v = np.array([q for q, _ in drawn]), np.array([v for _, v in drawn])
    return q, v, rng.normal(size=(count, model.nv))


# ---- round trips ------------------------------------------------------------------------------


def test_state_comes_back(peer):
    for model, other in peer.pairs:
        q, v, _ = states(model, 5)
        their_q, their_v = peer.to_state(model, other, q, v)
        assert their_q.shape == (5, other.nq)
        assert their_v.shape == (5, other.nv)
        back_q, back_v = peer.from_state(model, other, their_q, their_v)
        np.testing.assert_allclose(model.difference(q, back_q), 0, atol=1e-14)
        np.testing.assert_allclose(back_v, v, atol=1e-14)


def test_force_and_acceleration_come_back(peer):
    for model, other in peer.pairs:
        q, v, x = states(model, 5)
        their_q, their_v = peer.to_state(model, other, q, v)
        force = peer.to_force(model, other, q, x)
        np.testing.assert_allclose(peer.from_force(model, other, their_q, force), x, atol=1e-14)
        rate = peer.to_acceleration(model, other, q, v, x)
        back = peer.from_acceleration(model, other, their_q, their_v, rate)
        np.testing.assert_allclose(back, x, atol=1e-13)


def test_a_batch_is_its_states_one_by_one(peer):
    for model, other in peer.pairs:
        q, v, x = states(model, 3)
        their_q, their_v = peer.to_state(model, other, q, v)
        force = peer.to_force(model, other, q, x)
        rate = peer.to_acceleration(model, other, q, v, x)
        for k in range(3):
            one_q, one_v = peer.to_state(model, other, q[k], v[k])
            np.testing.assert_array_equal(one_q, their_q[k])
            np.testing.assert_array_equal(one_v, their_v[k])
            np.testing.assert_array_equal(peer.to_force(model, other, q[k], x[k]), force[k])
            np.testing.assert_array_equal(
                peer.to_acceleration(model, other, q[k], v[k], x[k]), rate[k]
            )


def test_arguments_are_left_alone(peer):
    model, other = peer.pairs[0]
    q, v, x = states(model, 2)
    before = q.copy(), v.copy(), x.copy()
    peer.to_state(model, other, q, v)
    peer.to_acceleration(model, other, q, v, x)
    for array, copy in zip((q, v, x), before, strict=True):
        np.testing.assert_array_equal(array, copy)


# ---- what the maps must satisfy ---------------------------------------------------------------


def test_power_is_the_same_on_both_sides(peer):
    for model, other in peer.pairs:
        q, v, tau = states(model, 5)
        _, their_v = peer.to_state(model, other, q, v)
        theirs = (peer.to_force(model, other, q, tau) * their_v).sum(axis=1)
        np.testing.assert_allclose(theirs, (tau * v).sum(axis=1), rtol=1e-12)


def test_acceleration_is_the_rate_of_the_converted_velocity(peer):
    h = 1e-6
    for model, other in peer.pairs:
        q, v, vdot = states(model, 3)
        ahead = peer.to_state(model, other, model.integrate(q, h * v), v + h * vdot)[1]
        behind = peer.to_state(model, other, model.integrate(q, -h * v), v - h * vdot)[1]
        rate = peer.to_acceleration(model, other, q, v, vdot)
        np.testing.assert_allclose((ahead - behind) / (2 * h), rate, atol=1e-8)


def test_an_unbounded_joint_of_pinocchio_is_an_angle():
    builder = sk.ModelBuilder()
    builder.add_body("wheel", "world", sk.Revolute(axis=(0, 1, 0)), mass=1, inertia=(1, 1, 1))
    builder.add_body("spoke", "wheel", sk.Revolute(axis=(1, 0, 0)), mass=1, inertia=(1, 1, 1))
    model = builder.build()
    theirs = pin.Model()
    first = theirs.addJoint(0, pin.JointModelRUBY(), pin.SE3.Identity(), "wheel")
    theirs.addJoint(first, pin.JointModelRUBX(), pin.SE3.Identity(), "spoke")
    q, v = interop.to_pinocchio_state(model, theirs, [0.3, -2.0], [1.0, 2.0])
    np.testing.assert_array_equal(q, [np.cos(0.3), np.sin(0.3), np.cos(-2.0), np.sin(-2.0)])
    np.testing.assert_array_equal(v, [1.0, 2.0])
    back, _ = interop.from_pinocchio_state(model, theirs, q, v)
    np.testing.assert_allclose(back, [0.3, -2.0], rtol=1e-15)
    data = theirs.createData()
    pin.forwardKinematics(theirs, data, q)
    rotations, _ = sk.forward_kinematics(model, [0.3, -2.0])
    np.testing.assert_allclose(rotations[1], data.oMi[2].rotation, atol=1e-15)


MJCF = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="drone" pos="1 2 3" quat="0.5 0.5 0.5 0.5">
      <freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body name="arm" pos="0 0 1">
        <joint name="elbow" type="hinge" axis="0 1 0" ref="0.25"/>
        <inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def drone_with_an_arm():
    builder = sk.ModelBuilder()
    builder.add_body(
        "drone",
        "world",
        sk.Free(),
        translation=(1, 2, 3),
        rotation=(0.5, 0.5, 0.5, 0.5),
        mass=1.0,
        inertia=(1, 1, 1),
    )
    builder.add_body(
        "arm",
        "drone",
        sk.Revolute(axis=(0, 1, 0), name="elbow"),
        translation=(0, 0, 1),
        mass=1.0,
        com=(0, 0, 0.1),
        inertia=(1, 1, 1),
    )
    return builder.build()


def test_mujoco_ref_placement_and_joints_without_a_name():
    model, theirs = drone_with_an_arm(), mujoco.MjModel.from_xml_string(MJCF)
    qpos, _ = interop.to_mujoco_state(model, theirs, model.neutral(), np.zeros(model.nv))
    np.testing.assert_allclose(qpos, theirs.qpos0, atol=1e-15)
    q, v, _ = states(model, 1)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = interop.to_mujoco_state(model, theirs, q[0], v[0])
    mujoco.mj_forward(theirs, data)
    rotations, positions = sk.forward_kinematics(model, q[0])
    np.testing.assert_allclose(data.xpos[1:], positions, atol=1e-14)
    np.testing.assert_allclose(data.xmat[1:].reshape(-1, 3, 3), rotations, atol=1e-14)


def test_quaternions_of_placements_near_half_turns():
    rng = np.random.default_rng(5)
    for largest in range(4):
        given = 0.01 * rng.normal(size=4)
        given[largest] = 1.0
        given /= np.linalg.norm(given)
        found = peer_rules._quaternion(naive.quaternion_matrix(given))
        np.testing.assert_allclose(found * np.sign(found @ given), given, atol=1e-15)


# ---- what is refused --------------------------------------------------------------------------


def hinge(name="hinge", joint=None):
    builder = sk.ModelBuilder()
    carried = sk.Revolute() if joint is None else joint
    builder.add_body(name, "world", carried, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))
    return builder.build()


def pinocchio_joint(made, name="hinge"):
    theirs = pin.Model()
    theirs.addJoint(0, made, pin.SE3.Identity(), name)
    return theirs


def test_joints_missing_on_either_side_are_all_named():
    theirs = pinocchio_joint(pin.JointModelRZ(), "elbow")
    with pytest.raises(sk.ModelError) as caught:
        interop.to_pinocchio_state(hinge(), theirs, [0.0], [0.0])
    assert len(caught.value.faults) == 2
    assert "'hinge'" in str(caught.value.faults[0])
    assert "'elbow'" in str(caught.value.faults[1])


def test_names_that_differ_can_be_given():
    theirs = pinocchio_joint(pin.JointModelRZ(), "elbow")
    q, v = interop.to_pinocchio_state(hinge(), theirs, [0.5], [2.0], names={"hinge": "elbow"})
    assert (q[0], v[0]) == (0.5, 2.0)
    with pytest.raises(sk.ModelError, match="'knee'"):
        interop.to_pinocchio_state(hinge(), theirs, [0.5], [2.0], names={"knee": "elbow"})


@pytest.mark.parametrize(
    ("made", "joint"),
    [
        (pin.JointModelPZ(), sk.Revolute()),
        (pin.JointModelRZ(), sk.Prismatic()),
        (pin.JointModelSphericalZYX(), sk.Spherical()),
        (pin.JointModelTranslation(), sk.Planar()),
        (pin.JointModelFreeFlyer(), sk.Spherical()),
        (pin.JointModelComposite(pin.JointModelRX()), sk.Universal()),
        (pin.JointModelComposite(pin.JointModelPX()), sk.Revolute()),
    ],
    ids=lambda x: getattr(x, "type_name", None) or x.shortname(),
)
def test_another_type_of_pinocchio_is_refused(made, joint):
    model, theirs = hinge(joint=joint), pinocchio_joint(made)
    with pytest.raises(sk.ModelError, match=f"'hinge' is {joint.type_name}; Pinocchio's is a"):
        interop.to_pinocchio_state(model, theirs, model.neutral(), np.zeros(model.nv))


def mujoco_joints(*lines):
    return mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='hinge'><inertial pos='0 0 0' mass='1' "
        f"diaginertia='1 1 1'/>{''.join(lines)}</body></worldbody></mujoco>"
    )


def test_another_type_of_mujoco_is_refused():
    theirs = mujoco_joints("<joint name='hinge' type='slide'/>")
    with pytest.raises(sk.ModelError, match="'hinge' is revolute; MuJoCo's is a slide joint"):
        interop.to_mujoco_state(hinge(), theirs, [0.0], [0.0])


def test_a_type_that_mujoco_lacks_is_refused():
    theirs = mujoco_joints("<joint name='hinge' type='hinge'/>")
    with pytest.raises(sk.ModelError, match="'hinge' is helical; MuJoCo has no such joint"):
        interop.to_mujoco_state(hinge(joint=sk.Helical()), theirs, [0.0], [0.0])


def test_two_joints_of_mujoco_without_names_on_one_body_are_refused():
    theirs = mujoco_joints("<joint type='hinge'/>", "<joint type='slide'/>")
    with pytest.raises(sk.ModelError, match="'hinge'"):
        interop.to_mujoco_state(hinge(), theirs, [0.0], [0.0])


def test_a_free_joint_away_from_the_world_is_refused_for_mujoco():
    builder = sk.ModelBuilder()
    builder.add_body("base", "world", sk.Fixed())
    builder.add_body("hinge", "base", sk.Free(), mass=1.0, inertia=(1, 1, 1))
    model, theirs = builder.build(), mujoco_joints("<joint name='hinge' type='free'/>")
    with pytest.raises(sk.ModelError, match=r"'hinge' is free; .* from 'base'"):
        interop.to_mujoco_state(model, theirs, model.neutral(), np.zeros(6))


@pytest.mark.parametrize(
    ("q", "v", "said"),
    [
        ([0.0, 1.0], [0.0], r"q has shape \(2,\)"),
        ([0.0], [[[0.0]]], r"v has shape \(1, 1, 1\)"),
        ([[0.0], [1.0]], [[0.0]], "the same number of states"),
        (["x"], [0.0], "q is not an array of numbers"),
    ],
)
def test_arrays_of_another_shape_are_refused(q, v, said):
    theirs = pinocchio_joint(pin.JointModelRZ())
    with pytest.raises(sk.StateError, match=said):
        interop.to_pinocchio_state(hinge(), theirs, q, v)
    with pytest.raises(sk.StateError, match=said):
        interop.from_pinocchio_state(hinge(), theirs, q, v)


def test_a_joint_of_others_says_itself_who_stands_for_it():
    """Composites of single axes follow from the twists; the entry says other counterparts."""

    @dataclass(frozen=True)
    class Crane(sk.Joint):
        name: str | None = None
        type_name = "test_interop_crane"
        nq = nv = 2

        def twists(self):
            return (((0.0,) * 3, (1.0, 0.0, 0.0)), ((0.0, 0.0, 1.0), (0.0,) * 3))

    @dataclass(frozen=True)
    class Backward(sk.Joint):
        name: str | None = None
        type_name = "test_interop_backward"
        nq = nv = 1
        peers: ClassVar = {"mujoco": {"hinge": peer_rules.OffsetRule()}}

        def twists(self):
            return (((0.0, 0.0, -1.0), (0.0,) * 3),)

    b = sk.ModelBuilder()
    b.add_body("trolley", joint=Crane(), mass=2.0, inertia=(0.1, 0.1, 0.1))
    crane = b.build()
    theirs = pin.Model()
    parts = pin.JointModelComposite(pin.JointModelPX())
    parts.addJoint(pin.JointModelRZ())
    theirs.addJoint(0, parts, pin.SE3.Identity(), "trolley")
    q, v = interop.to_pinocchio_state(crane, theirs, [0.3, 0.4], [1.0, 2.0])
    assert q.tolist() == [0.3, 0.4]
    assert v.tolist() == [1.0, 2.0]
    turned = pin.Model()
    parts = pin.JointModelComposite(pin.JointModelRZ())
    parts.addJoint(pin.JointModelPX())
    turned.addJoint(0, parts, pin.SE3.Identity(), "trolley")
    with pytest.raises(sk.ModelError, match="which moves in another way"):
        interop.to_pinocchio_state(crane, turned, [0.3, 0.4], [1.0, 2.0])

    b = sk.ModelBuilder()
    b.add_body("door", joint=Backward(), mass=2.0, inertia=(0.1, 0.1, 0.1))
    text = """<mujoco><worldbody><body name="door"><joint name="door" type="hinge" axis="0 0 -1"
        ref="30"/><geom size="0.1"/></body></worldbody></mujoco>"""
    there = mujoco.MjModel.from_xml_string(text)
    qpos, _ = interop.to_mujoco_state(b.build(), there, [0.1], [1.0])
    assert qpos[0] == pytest.approx(0.1 + np.radians(30.0))
    with pytest.raises(sk.ModelError, match="MuJoCo has no such joint"):
        interop.to_mujoco_state(crane, there, [0.3, 0.4], [1.0, 2.0], {"trolley": "door"})


@pytest.mark.parametrize("kind", [sk.Spherical(), sk.Free(), sk.Planar()])
def test_the_bracket_of_a_joint_is_that_of_its_manifold(kind):
    """(q ⊞ εv) ⊞ εw and (q ⊞ εw) ⊞ εv differ by ε²[v, w]."""
    b = sk.ModelBuilder()
    b.add_body("body", joint=kind, mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = b.build()
    rng = np.random.default_rng(2)
    q, v = model.random_state(rng)
    w, size = rng.normal(size=model.nv), 1e-4
    one = model.integrate(model.integrate(q, size * v), size * w)
    other = model.integrate(model.integrate(q, size * w), size * v)
    found = model.difference(other, one) / size**2
    np.testing.assert_allclose(kind.bracket(v) @ w, found, atol=2e-3)
