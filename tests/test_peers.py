"""The same random mechanisms in Pinocchio and in MuJoCo: everything both compute must agree."""

import sys
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import naive
import skodyn as sk
from adapters import build
from skodyn import interop

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from models import MODELS, SHARED, mujoco_model, pinocchio_model, random_tree

EPSILON = np.finfo(float).eps
WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
SHARED_WITH_MUJOCO = ("fixed", "revolute", "prismatic", "spherical")


def near(ours, theirs, tolerance=1e-11):
    """Equal up to a tolerance relative to the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


def near_solution(ours, theirs, M):
    """Equal as far as two solvers of M x = b can be."""
    near(ours, theirs, 200 * np.linalg.cond(M) * EPSILON)


def swapped(x):
    """[linear; angular] as [angular; linear], along the first axis."""
    return np.concatenate((x[3:], x[:3]))


def random_forces(rng, model):
    return rng.normal(size=(model.n_bodies, 6))


class Sample:
    """A model, a random state in it, and a counterpart's state."""

    def __init__(self, model, seed):
        self.model = model
        self.rng = np.random.default_rng(seed)
        self.q, self.v = model.random_state(self.rng)
        self.tau = self.rng.normal(size=model.nv)
        self.vdot = self.rng.normal(size=model.nv)
        self.f_ext = random_forces(self.rng, model)
        self.M = sk.mass_matrix(model, self.q)


# ---- Pinocchio --------------------------------------------------------------------------------


class InPinocchio(Sample):
    def __init__(self, model, seed=0):
        super().__init__(model, seed)
        self.peer = pinocchio_model(model)
        self.data = self.peer.createData()
        self.pq, self.pv = interop.to_pinocchio_state(model, self.peer, self.q, self.v)

    def force(self, tau):
        return interop.from_pinocchio_force(self.model, self.peer, self.pq, tau)

    def force_to(self, tau):
        return interop.to_pinocchio_force(self.model, self.peer, self.q, tau)

    def rate(self, vdot):
        return interop.from_pinocchio_acceleration(self.model, self.peer, self.pq, self.pv, vdot)

    def rate_to(self, vdot):
        return interop.to_pinocchio_acceleration(self.model, self.peer, self.q, self.v, vdot)

    def X(self):
        """The orthogonal matrix with v' = X v."""
        rows = np.eye(self.model.nv)
        many = np.tile(self.q, (self.model.nv, 1))
        return interop.to_pinocchio_state(self.model, self.peer, many, rows)[1].T

    def frames(self):
        return [self.peer.getFrameId(name, pin.FrameType.BODY) for name in self.model.body_names]

    def forces_on_joints(self):
        """f_ext as Pinocchio takes it: per joint, in the joint's own frame."""
        rotations, _ = sk.forward_kinematics(self.model, self.q)
        forces = [pin.Force.Zero() for _ in range(self.peer.njoints)]
        for k, number in enumerate(self.frames()):
            moment, force = self.f_ext[k, :3], self.f_ext[k, 3:]
            local = pin.Force(rotations[k].T @ force, rotations[k].T @ moment)
            frame = self.peer.frames[number]
            forces[frame.parentJoint] += frame.placement.act(local)
        return pin.StdVec_Force(forces)


def planar_and_friends():
    """The joints of which Pinocchio has a special form only in their own axes."""
    builder = sk.ModelBuilder(gravity=(0.3, -0.4, -9.81))
    parent = "world"
    joints = [
        sk.Planar(),
        sk.Universal(),
        sk.Helical(axis=(1, 0, 0), pitch=0.3),
        sk.Prismatic(axis=(0, 1, 0)),
        sk.Translation(),
        sk.Revolute(axis=(0, 1, 0)),
        sk.Free(),
        sk.Planar(),
    ]
    rng = np.random.default_rng(2)
    for k, joint in enumerate(joints):
        mass, com, inertia = naive.random_inertia(rng)
        rotation = naive.quaternion_matrix(naive.random_unit(rng, 4))
        builder.add_body(
            f"b{k}",
            parent,
            joint,
            translation=rng.normal(size=3),
            rotation=rotation,
            mass=mass,
            com=com,
            inertia=inertia,
        )
        parent = f"b{k}"
    return builder.build()


def random_model(seed, n=14, kinds=None):
    return build(naive.random_bodies(np.random.default_rng(seed), n, kinds))


PINOCCHIO_MODELS = {
    **{f"random {seed}": lambda seed=seed: random_model(seed) for seed in range(8)},
    "special axes": planar_and_friends,
    "arm": MODELS["arm 7"],
    "humanoid": MODELS["humanoid"],
    "tree": lambda: random_tree(60),
}


@pytest.fixture(scope="module", params=sorted(PINOCCHIO_MODELS))
def pinocchio(request):
    return InPinocchio(PINOCCHIO_MODELS[request.param]())


def test_poses_and_velocities_as_in_pinocchio(pinocchio):
    s = pinocchio
    pin.forwardKinematics(s.peer, s.data, s.pq, s.pv)
    pin.updateFramePlacements(s.peer, s.data)
    rotations, positions = sk.forward_kinematics(s.model, s.q)
    velocity, _, _ = sk.velocities(s.model, s.q, s.v)
    for k, number in enumerate(s.frames()):
        near(rotations[k], s.data.oMf[number].rotation)
        near(positions[k], s.data.oMf[number].translation)
        theirs = pin.getFrameVelocity(s.peer, s.data, number, WORLD_AXES).vector
        near(velocity[k], swapped(theirs))


def test_mass_matrix_as_in_pinocchio(pinocchio):
    s = pinocchio
    X = s.X()
    near(X @ X.T, np.eye(s.model.nv))
    near(X @ s.M @ X.T, pin.crba(s.peer, s.data, s.pq))
    inverse = sk.mass_matrix_inverse(s.model, s.q)
    near_solution(X @ inverse @ X.T, pin.computeMinverse(s.peer, s.data, s.pq), s.M)


def test_inverse_dynamics_as_in_pinocchio(pinocchio):
    s = pinocchio
    vdot, forces = s.rate_to(s.vdot), s.forces_on_joints()
    still = s.rate_to(np.zeros(s.model.nv))
    ours = sk.inverse_dynamics(s.model, s.q, s.v, s.vdot, s.f_ext)
    near(ours, s.force(pin.rnea(s.peer, s.data, s.pq, s.pv, vdot, forces)))
    near(
        sk.inverse_dynamics(s.model, s.q, s.v, s.vdot),
        s.force(pin.rnea(s.peer, s.data, s.pq, s.pv, vdot)),
    )
    near(
        sk.gravity_force(s.model, s.q), s.force(pin.computeGeneralizedGravity(s.peer, s.data, s.pq))
    )
    near(sk.bias_force(s.model, s.q, s.v), s.force(pin.rnea(s.peer, s.data, s.pq, s.pv, still)))


def test_forward_dynamics_as_in_pinocchio(pinocchio):
    s = pinocchio
    tau = s.force_to(s.tau)
    ours = sk.forward_dynamics(s.model, s.q, s.v, s.tau, s.f_ext)
    theirs = pin.aba(s.peer, s.data, s.pq, s.pv, tau, s.forces_on_joints())
    near_solution(ours, s.rate(theirs), s.M)
    ours = sk.forward_dynamics(s.model, s.q, s.v, s.tau)
    near_solution(ours, s.rate(pin.aba(s.peer, s.data, s.pq, s.pv, tau)), s.M)


def test_jacobians_as_in_pinocchio(pinocchio):
    s = pinocchio
    X, still = s.X(), s.rate_to(np.zeros(s.model.nv))
    pin.forwardKinematics(s.peer, s.data, s.pq, s.pv, still)
    pin.computeJointJacobians(s.peer, s.data, s.pq)
    pin.updateFramePlacements(s.peer, s.data)
    for k, number in list(enumerate(s.frames()))[:: max(1, s.model.n_bodies // 20)]:
        theirs = pin.getFrameJacobian(s.peer, s.data, number, WORLD_AXES)
        near(sk.jacobian(s.model, s.q, k), swapped(theirs @ X))
        drift = pin.getFrameClassicalAcceleration(s.peer, s.data, number, WORLD_AXES).vector
        near(sk.jacobian_dot_v(s.model, s.q, s.v, k), swapped(drift))


def test_totals_as_in_pinocchio(pinocchio):
    s = pinocchio
    moving = pin.centerOfMass(s.peer, s.data, s.pq).copy()
    mass, ground = s.data.mass[0], s.peer.inertias[0]  # what is fixed to the ground is left out
    near(mass + ground.mass, s.model.mass.sum())
    theirs = (mass * moving + ground.mass * ground.lever) / (mass + ground.mass)
    near(sk.center_of_mass(s.model, s.q), theirs)
    kinetic, potential = sk.energy(s.model, s.q, s.v)
    near(kinetic, pin.computeKineticEnergy(s.peer, s.data, s.pq, s.pv))
    left_out = -ground.mass * s.model.gravity @ ground.lever
    near(potential, pin.computePotentialEnergy(s.peer, s.data, s.pq) + left_out)
    about_com = pin.computeCentroidalMomentum(s.peer, s.data, s.pq, s.pv)
    angular = about_com.angular + np.cross(moving, about_com.linear)
    near(sk.momentum(s.model, s.q, s.v), np.concatenate((angular, about_com.linear)))


def test_integrate_as_in_pinocchio(pinocchio):
    s = pinocchio
    special = [j.shortname() == "JointModelPlanar" for j in s.peer.joints]
    # Pinocchio moves its planar joint with constant velocity in child axes, skodyn in joint axes
    moving = np.ones(s.model.nv)
    for name, is_planar in zip(s.peer.names, special, strict=True):
        if is_planar:
            moving[s.model.v_slice(name)] = 0.0
    step = 0.5 * moving * s.v
    their_step = interop.to_pinocchio_state(s.model, s.peer, s.q, step)[1]
    after = pin.integrate(s.peer, s.pq, their_step)
    reached, _ = interop.from_pinocchio_state(s.model, s.peer, after, s.pv)
    near(s.model.difference(s.model.integrate(s.q, step), reached), np.zeros(s.model.nv))
    near(
        interop.to_pinocchio_state(s.model, s.peer, s.q, s.model.difference(s.q, reached))[1],
        pin.difference(s.peer, s.pq, after),
    )


def test_joint_forces_as_in_pinocchio():
    kinds = [kind for kind in naive.KINDS if kind != "fixed"]  # where every body has a joint
    s = InPinocchio(random_model(21, kinds=kinds))
    pin.forwardKinematics(s.peer, s.data, s.pq)
    pin.rnea(s.peer, s.data, s.pq, s.pv, s.rate_to(s.vdot), s.forces_on_joints())
    tau = sk.inverse_dynamics(s.model, s.q, s.v, s.vdot, s.f_ext)
    ours = sk.joint_forces(s.model, s.q, s.v, tau, s.f_ext)
    for k, name in enumerate(s.model.joint_names):
        number = s.peer.getJointId(name)
        turn = s.data.oMi[number].rotation
        force = s.data.f[number]
        theirs = np.concatenate((turn @ force.angular, turn @ force.linear))
        near(ours[k], theirs, 1e-10)


# ---- MuJoCo -----------------------------------------------------------------------------------


class InMujoco(Sample):
    def __init__(self, model, seed=0):
        super().__init__(model, seed)
        self.peer = mujoco_model(model)
        self.peer.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        self.data = mujoco.MjData(self.peer)
        self.data.qpos[:], self.data.qvel[:] = interop.to_mujoco_state(
            model, self.peer, self.q, self.v
        )
        self.data.qfrc_applied[:] = interop.to_mujoco_force(model, self.peer, self.q, self.tau)
        mujoco.mj_forward(self.peer, self.data)
        self.bodies = [self.peer.body(name).id for name in model.body_names]

    def force(self, tau):
        return interop.from_mujoco_force(self.model, self.peer, self.data.qpos, tau)

    def rate(self, vdot):
        return interop.from_mujoco_acceleration(
            self.model, self.peer, self.data.qpos, self.data.qvel, vdot
        )

    def X(self):
        rows = np.eye(self.model.nv)
        many = np.tile(self.q, (self.model.nv, 1))
        return interop.to_mujoco_state(self.model, self.peer, many, rows)[1].T


def floating_model(seed):
    """A random system on free joints, as far as MuJoCo has them."""
    bodies = naive.random_bodies(np.random.default_rng(seed), 12, SHARED_WITH_MUJOCO)
    return build([b | {"joint": {"kind": "free"}} if b["parent"] == -1 else b for b in bodies])


MUJOCO_MODELS = {
    **{
        f"grounded {seed}": lambda seed=seed: random_model(seed, 12, SHARED_WITH_MUJOCO)
        for seed in range(30, 34)
    },
    **{f"floating {seed}": lambda seed=seed: floating_model(seed) for seed in range(40, 44)},
    "arm": MODELS["arm 7"],
    "humanoid": MODELS["humanoid"],
    "tree": lambda: random_tree(60, SHARED),
}


@pytest.fixture(scope="module", params=sorted(MUJOCO_MODELS))
def in_mujoco(request):
    return InMujoco(MUJOCO_MODELS[request.param]())


def test_poses_and_velocities_as_in_mujoco(in_mujoco):
    s = in_mujoco
    rotations, positions = sk.forward_kinematics(s.model, s.q)
    near(rotations, s.data.xmat[s.bodies].reshape(-1, 3, 3))
    near(positions, s.data.xpos[s.bodies])
    velocity, _, _ = sk.velocities(s.model, s.q, s.v)
    theirs = np.empty(6)
    for k, number in enumerate(s.bodies):
        mujoco.mj_objectVelocity(s.peer, s.data, mujoco.mjtObj.mjOBJ_XBODY, number, theirs, False)
        near(velocity[k], theirs)


def test_mass_matrix_as_in_mujoco(in_mujoco):
    s = in_mujoco
    X, theirs = s.X(), np.zeros((s.model.nv, s.model.nv))
    mujoco.mj_fullM(s.peer, s.data, theirs)
    near(X @ s.M @ X.T, theirs)
    solved = np.empty((1, s.model.nv))
    mujoco.mj_solveM(s.peer, s.data, solved, (X @ s.tau)[None])
    near_solution(X @ sk.mass_matrix_solve(s.model, s.q, s.tau), solved[0], s.M)


def test_inverse_dynamics_as_in_mujoco(in_mujoco):
    s = in_mujoco
    bias = interop.from_mujoco_acceleration(
        s.model, s.peer, s.data.qpos, s.data.qvel, np.zeros(s.model.nv)
    )
    near(sk.inverse_dynamics(s.model, s.q, s.v, bias), s.force(s.data.qfrc_bias))
    data = mujoco.MjData(s.peer)
    data.qpos[:], data.qvel[:] = s.data.qpos, s.data.qvel
    data.qacc[:] = interop.to_mujoco_acceleration(s.model, s.peer, s.q, s.v, s.vdot)
    mujoco.mj_inverse(s.peer, data)
    near(sk.inverse_dynamics(s.model, s.q, s.v, s.vdot), s.force(data.qfrc_inverse))


def test_forward_dynamics_as_in_mujoco(in_mujoco):
    s = in_mujoco
    ours = sk.forward_dynamics(s.model, s.q, s.v, s.tau)
    near_solution(ours, s.rate(s.data.qacc), s.M)


def test_external_forces_as_in_mujoco(in_mujoco):
    s = in_mujoco
    data = mujoco.MjData(s.peer)
    data.qpos[:], data.qvel[:] = s.data.qpos, s.data.qvel
    data.qfrc_applied[:] = s.data.qfrc_applied
    arm = s.data.xipos[s.bodies] - s.data.xpos[s.bodies]  # MuJoCo's forces act at mass centres
    moment, force = s.f_ext[:, :3], s.f_ext[:, 3:]
    data.xfrc_applied[s.bodies] = np.concatenate((force, moment - np.cross(arm, force)), axis=1)
    mujoco.mj_forward(s.peer, data)
    ours = sk.forward_dynamics(s.model, s.q, s.v, s.tau, s.f_ext)
    near_solution(ours, s.rate(data.qacc), s.M)


def test_jacobians_as_in_mujoco(in_mujoco):
    s = in_mujoco
    X, linear, angular = s.X(), np.empty((3, s.model.nv)), np.empty((3, s.model.nv))
    for k, number in list(enumerate(s.bodies))[:: max(1, s.model.n_bodies // 20)]:
        point = s.rng.normal(size=3)
        where = s.data.xpos[number] + s.data.xmat[number].reshape(3, 3) @ point
        mujoco.mj_jac(s.peer, s.data, linear, angular, where, number)
        near(sk.jacobian(s.model, s.q, k, point), np.concatenate((angular, linear)) @ X)


def test_totals_as_in_mujoco(in_mujoco):
    s = in_mujoco
    near(sk.center_of_mass(s.model, s.q), s.data.subtree_com[0])
    kinetic, potential = sk.energy(s.model, s.q, s.v)
    near([potential, kinetic], s.data.energy)
    mujoco.mj_subtreeVel(s.peer, s.data)
    momentum = sk.momentum(s.model, s.q, s.v, about="com")
    near(momentum[:3], s.data.subtree_angmom[0])
    near(momentum[3:], s.data.subtree_linvel[0] * s.model.mass.sum())


def test_integrate_as_in_mujoco(in_mujoco):
    s = in_mujoco
    # MuJoCo moves a free body's position along a straight line, skodyn along a screw motion
    step = 0.5 * s.v
    for k, joint in enumerate(s.model.joints):
        if joint.type_name == "free":
            step[s.model.v_slice(s.model.joint_names[k])][3:] = 0.0
    _, their_step = interop.to_mujoco_state(s.model, s.peer, s.q, step)
    after = s.data.qpos.copy()
    mujoco.mj_integratePos(s.peer, after, their_step, 1.0)
    reached, _ = interop.from_mujoco_state(s.model, s.peer, after, s.data.qvel)
    near(s.model.difference(s.model.integrate(s.q, step), reached), np.zeros(s.model.nv))
