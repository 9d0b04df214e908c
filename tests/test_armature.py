"""Armature: the inertia of a rotor that only its own joint moves, exact in every algorithm.

That each dynamics function agrees with the dense twin when joints have rotors is part of
test_dynamics_twin.py; here are the peers, the physics and the words.
"""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import naive
import skodyn as sk
from adapters import build, to_packed_q, to_packed_v

ROTORS = (0.3, 0.0, 1.7)
ARM = """
<mujoco>
  <option gravity="0.3 -0.4 -9.81"><flag contact="disable"/></option>
  <worldbody>
    <body name="b0" pos="0.1 0.2 0.3">
      <joint name="b0" type="hinge" axis="0 1 0" armature="0.3"/>
      <inertial pos="0.2 0 0.1" mass="2" diaginertia="0.2 0.3 0.25"/>
      <body name="b1" pos="0.5 0 0.1">
        <joint name="b1" type="slide" axis="1 0 0"/>
        <inertial pos="0 0.1 0.2" mass="1" diaginertia="0.1 0.12 0.15"/>
        <body name="b2" pos="0 0.4 0.2">
          <joint name="b2" type="ball" armature="1.7"/>
          <inertial pos="0.1 0.1 0.1" mass="0.5" diaginertia="0.05 0.06 0.07"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def arm(gravity=(0.3, -0.4, -9.81), rotors=ROTORS):
    """The same arm as the MuJoCo text above."""
    b = sk.ModelBuilder(gravity=gravity)
    rows = (
        (sk.Revolute((0, 1, 0)), (0.1, 0.2, 0.3), 2.0, (0.2, 0, 0.1), (0.2, 0.3, 0.25)),
        (sk.Prismatic((1, 0, 0)), (0.5, 0, 0.1), 1.0, (0, 0.1, 0.2), (0.1, 0.12, 0.15)),
        (sk.Spherical(), (0, 0.4, 0.2), 0.5, (0.1, 0.1, 0.1), (0.05, 0.06, 0.07)),
    )
    for k, (joint, at, mass, com, inertia) in enumerate(rows):
        given = {f: getattr(joint, f) for f in ("axis",) if hasattr(joint, f)}
        b.add_body(
            f"b{k}", "world" if k == 0 else f"b{k - 1}", type(joint)(**given, armature=rotors[k]),
            translation=at, mass=mass, com=com, inertia=np.diag(inertia),
        )  # fmt: skip
    return b.build()


def near(ours, theirs, tolerance=1e-12):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


def test_mass_matrix_and_both_dynamics_as_in_mujoco():
    model, theirs = arm(), mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(1)
    q, v = model.random_state(rng)
    data.qpos, data.qvel = sk.interop.to_mujoco_state(model, theirs, q, v)
    tau = rng.normal(size=model.nv)
    data.qfrc_applied = tau
    mujoco.mj_forward(theirs, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(theirs, data, full)
    near(sk.mass_matrix(model, q), full)
    vdot = sk.forward_dynamics(model, q, v, tau)
    near(vdot, data.qacc, 1e-11)
    near(sk.inverse_dynamics(model, q, v, vdot), tau, 1e-11)
    assert sk.energy(model, q, v)[0] == pytest.approx(v @ full @ v / 2, rel=1e-12)


def test_forward_dynamics_as_in_pinocchio():
    model = arm(rotors=(0.3, 0.8, 0.0))
    theirs = pin.Model()
    theirs.gravity.linear = np.array([0.3, -0.4, -9.81])
    parent = 0
    kinds = (pin.JointModelRY(), pin.JointModelPX(), pin.JointModelSpherical())
    for k, joint in enumerate(kinds):
        place = pin.SE3(np.eye(3), model.translation[k])
        parent = theirs.addJoint(parent, joint, place, f"b{k}")
        body = pin.Inertia(model.mass[k], model.com[k], model.inertia[k])
        theirs.appendBodyToJoint(parent, body, pin.SE3.Identity())
    theirs.armature = np.array([0.3, 0.8, 0, 0, 0])
    rng = np.random.default_rng(2)
    q, v = model.random_state(rng)
    tau = rng.normal(size=model.nv)
    pq, pv = sk.interop.to_pinocchio_state(model, theirs, q, v)
    near(sk.forward_dynamics(model, q, v, tau), pin.aba(theirs, theirs.createData(), pq, pv, tau))


def test_a_batch_has_the_bits_of_single_states():
    bodies = naive.random_bodies(np.random.default_rng(3), 12, rotors=1.0)
    model = build(bodies)
    rng = np.random.default_rng(4)
    states = [naive.random_state(rng, bodies) for _ in range(11)]
    q = np.array([to_packed_q(model, bodies, q) for q, _ in states])
    v = np.array([to_packed_v(model, bodies, v) for _, v in states])
    for function, given in (
        (sk.forward_dynamics, (q, v, v)),
        (sk.inverse_dynamics, (q, v, v)),
        (sk.mass_matrix, (q,)),
        (sk.mass_matrix_logdet, (q,)),
    ):
        single = np.array([function(model, *(x[k] for x in given)) for k in range(11)])
        np.testing.assert_array_equal(function(model, *given), single)


def test_the_articulated_factors_are_those_of_a_filter_with_measurement_noise():
    """Armature enters the Riccati recursion (Jain 2011-II eq. 33) as D = H P H* + armature."""
    bodies = naive.random_bodies(np.random.default_rng(5), 9, rotors=0.8)
    q, _ = naive.random_state(np.random.default_rng(6), bodies)
    parts, ops = naive.articulated(bodies, q), naive.operators(bodies, q)
    factor = np.eye(len(ops.H)) + ops.H @ ops.phi @ parts.K
    dense = factor @ parts.D_operator @ factor.T
    near(dense, naive.mass_matrix(bodies, q), 1e-11)
    logdet = sk.mass_matrix_logdet(build(bodies), to_packed_q(build(bodies), bodies, q))
    assert logdet == pytest.approx(sum(np.linalg.slogdet(d)[1] for d in parts.D), rel=1e-11)


def test_a_rotor_much_heavier_than_its_body_turns_alone():
    """Torque/armature, to the ratio of the two inertias."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("flap", joint=sk.Revolute((0, 0, 1), armature=1e9), mass=1.0, inertia=np.eye(3))
    model = b.build()
    assert sk.forward_dynamics(model, [0.0], [0.0], [2e9])[0] == pytest.approx(2.0, rel=2e-9)


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "dormand_prince"])
def test_energy_is_kept_with_rotors(method):
    model = arm()
    q, v = model.random_state(np.random.default_rng(8))
    run = sk.simulate(model, q, v, duration=0.2, dt=1e-4, integrator=method)
    start, end = (sum(sk.energy(model, run.q[k], run.v[k])[:2]) for k in (0, -1))
    assert end == pytest.approx(start, rel=1e-7)
    without = arm(rotors=(0, 0, 0))
    other = sk.simulate(without, q, v, duration=0.2, dt=1e-4, integrator=method)
    assert np.abs(other.v[-1] - run.v[-1]).max() > 1e-2


@pytest.mark.parametrize(
    ("joint", "words"),
    [
        (sk.Revolute(armature=-1.0), "armature -1 is negative; give an inertia of zero or more"),
        (sk.Fixed(armature=0.5), "armature 0.5 is on a joint that does not move; take it away"),
        (sk.Free(armature=float("inf")), "armature"),
        (sk.Revolute(armature="big"), "armature"),
    ],
)
def test_armature_that_makes_no_sense_is_refused(joint, words):
    b = sk.ModelBuilder()
    b.add_body("hand", joint=joint, mass=1.0, inertia=np.eye(3))
    with pytest.raises(sk.ModelError) as refused:
        b.build()
    assert words in str(refused.value)
    assert "'hand'" in str(refused.value)


def test_armature_is_a_key_of_a_model_file(tmp_path):
    file = tmp_path / "rotor.toml"
    file.write_text(
        '[bodies.wheel]\nparent = "world"\n'
        'joint = { type = "revolute", axis = [0, 0, 1], armature = 0.25 }\n'
        "mass = 1.0\ninertia = [1, 1, 1]\n"
    )
    assert sk.mass_matrix(sk.load(file), [0.0])[0, 0] == 1.25
