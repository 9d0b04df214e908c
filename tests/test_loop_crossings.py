"""Loops beside what else a model can have: what the table in docs/loops.md says of each."""

import re

import numpy as np
import pytest

import skodyn as sk
from loop_references import METHODS, reference

HINGE = sk.Revolute(axis=(0, -1, 0))
ROD = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (1e-4, 1 / 12, 1 / 12)}
FLOOR = [sk.HalfSpace(point=(0, 0, -0.8))]


def parallelogram(friction=0.0):
    """Its bar moves in circles and does not turn; a ball on it meets the floor."""
    b = sk.ModelBuilder(name="parallelogram")
    b.add_body("crank", joint=HINGE, **ROD)
    b.add_body("bar", parent="crank", joint=HINGE, translation=(1, 0, 0), mass=2.0,
               com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))  # fmt: skip
    b.add_body("rocker", joint=HINGE, translation=(1, 0, 0), **ROD)
    b.add_loop("pin", "bar", "rocker", HINGE, translation_a=(1, 0, 0), translation_b=(1, 0, 0))
    b.add_collision("bar", sk.Sphere(0.1), translation=(0.3, 0, 0))
    return b.build(), sk.Contact("bar", "floor", stiffness=2e4, dissipation=0.3, friction=friction)


def pendulum():
    """The same as a tree: both cranks, and the bar's mass at their end."""
    b = sk.ModelBuilder(name="pendulum")
    about_com = 2 * (1 / 3) + 2.0 - 4.0 * 0.75**2
    b.add_body("crank", joint=HINGE, mass=4.0, com=(0.75, 0, 0), inertia=(0.4, about_com, 0.4))
    b.add_collision("crank", sk.Sphere(0.1), translation=(1, 0, 0))
    return b.build(), sk.Contact("crank", "floor", stiffness=2e4, dissipation=0.3, friction=0.0)


def dropped(made, q, method, dt, **more):
    model, contact = made
    run = sk.simulate(model, q, np.zeros(model.nv), duration=0.9, dt=dt, integrator=method,
                      ground=FLOOR, contacts=[contact], **more)  # fmt: skip
    assert run.status == "finished", run.message
    return model, run


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_on_a_bar_in_a_loop_bounces_as_on_the_pendulum_that_is_the_same(method):
    fine = {"rtol": 1e-10, "atol": 1e-12} if method == "dormand_prince" else {}
    dt = 1e-3 if method == "dormand_prince" else 1e-4
    model, looped = dropped(parallelogram(), [-0.2, 0.2, -0.2], method, dt, **fine)
    _, alone = dropped(pendulum(), [-0.2], method, dt, **fine)
    crank = looped.trajectory.joint("crank")[:, 0]
    assert crank.min() < -0.776  # where its ball touches the floor: −arcsin 0.7
    same = {"dormand_prince": 1e-7, "rk4": 1e-6}.get(method, 1e-3)
    assert np.abs(crank - alone.trajectory.joint("crank")[:, 0]).max() < same
    assert np.abs(sk.loop_error(model, looped.q)).max() < 1e-13


def test_what_contacts_take_is_accounted_for_with_loops():
    model, run = dropped(parallelogram(friction=0.4), [-0.2, 0.2, -0.2], "rk4", 1e-4)
    lost = (
        sum(sk.energy(model, run.q[:1], run.v[:1]))[0]
        - sum(sk.energy(model, run.q[-1:], run.v[-1:]))[0]
    )
    assert lost > 0.1
    assert abs(run.summary["energy_imbalance"]) < 1e-4 * lost
    assert run.summary["loop_error_max"] < 1e-13


REFUSED = {
    "cut": lambda m, q, v: sk.cut(m, []),
    "inverse kinematics": lambda m, q, v: sk.inverse_kinematics(m, {m.body_names[0]: np.eye(4)}),
    "diagonal_velocity": sk.diagonal_velocity,
    "hybrid_dynamics_derivatives": lambda m, q, v: sk.hybrid_dynamics_derivatives(
        m, q, v, 0 * v, 0 * v, prescribed=[m.joint_names[0]]
    ),
    "sko_model": lambda m, q, v: sk.sko_model(m, q),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_code_for_loops_is_refused_by_name(what):
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    with pytest.raises(sk.SkodynError, match=re.escape(what)) as error:
        REFUSED[what](model, q, v)
    assert "'pin'" in str(error.value)


def test_frames_and_operational_space_take_loops():
    given = reference("02_four_bar")
    model = given.model
    q, _, _ = given.state(model)
    pose = sk.frame_poses(model, q, "coupler")
    assert np.array_equal(pose, sk.frame_poses(model.opened, q, "coupler"))
    node = ("coupler", (0.3, 0, 0))
    J = sk.jacobian(model, q, *node)
    X = sk.loop_basis(model, q)
    inner = X @ np.linalg.inv(X.T @ sk.mass_matrix(model.opened, q) @ X) @ X.T
    assert sk.operational_space_compliance(model, q, [node]) == pytest.approx(J @ inner @ J.T)
