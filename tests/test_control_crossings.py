"""Control laws beside prescribed motions, contacts and a thermostat."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk


def hold(t, q, v, params, tau):
    for i in range(tau.size):
        tau[i] = -params[0] * q[i] - params[1] * v[i]


LAW = sk.Controller(hold, (4.0, 0.5))


def test_a_law_beside_a_prescribed_motion():
    model = sk.examples.pendulum(2)
    driven, free = model.joint_names
    motion = sk.SteadyMotion(driven, speed=0.5)
    span = {"duration": 0.2, "dt": 1e-3, "motions": [motion]}
    start = ([np.nan, 0.3], [np.nan, 0.0])
    run = sk.simulate(model, *start, elements=[LAW], **span)
    servo = sk.Servo(free, kp=4.0, kd=0.5, target=0.0)
    twin = sk.simulate(model, *start, elements=[servo], **span)
    assert np.allclose(run.q[:, 0], 0.5 * run.t, atol=1e-12)
    assert np.allclose(run.q, twin.q, rtol=1e-12, atol=1e-13)


def test_a_law_beside_contacts():
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Prismatic(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    b.add_collision("ball", sk.Sphere(0.1))
    model = b.build()
    law = {"stiffness": 1e4, "dissipation": 1.0}
    run, twin = (
        sk.simulate(
            model, [0.11], [0.0], duration=0.2, dt=5e-4, elements=[element],
            ground=[sk.HalfSpace()], contacts=[sk.Contact("ball", "floor", **law)],
        )
        for element in (LAW, sk.Servo("ball", kp=4.0, kd=0.5, target=0.0))
    )  # fmt: skip
    assert run.q.min() < 0.1
    assert np.allclose(run.q, twin.q, rtol=1e-11, atol=1e-13)


def test_a_law_beside_a_thermostat():
    model = sk.examples.pendulum(2)
    servos = [sk.Servo(name, kp=4.0, kd=0.5, target=0.0) for name in model.joint_names]
    run, twin = (
        sk.simulate(
            model, [0.3, 0.2], [0.0, 0.0], duration=0.2, dt=1e-3, elements=elements,
            thermostat=sk.AndersenThermostat(kT=0.1, rate=50.0, seed=3),
        )
        for elements in ([LAW], servos)
    )  # fmt: skip
    assert np.abs(np.diff(run.v, axis=0)).max() > 0.05  # it did draw
    assert np.allclose(run.q, twin.q, rtol=1e-11, atol=1e-12)


def carry(t, q, v, params, tau, dynamics):
    dynamics.gravity_force(q, tau)


METHODS = ["rk4", "semi_implicit_euler", "implicit_midpoint", "dormand_prince", "implicit_contact"]


@pytest.mark.parametrize("method", METHODS)
def test_a_law_that_asks_the_dynamics_in_every_integrator(method):
    model = sk.examples.pendulum(2)
    span = {"duration": 0.05, "dt": 1e-3, "integrator": method}
    run = sk.simulate(model, [0.7, -0.4], [0.0, 0.0], **span, elements=[sk.Controller(carry)])
    fallen = sk.simulate(model, [0.7, -0.4], [0.0, 0.0], **span)
    assert run.status == "finished"
    assert np.abs(run.q - [0.7, -0.4]).max() < 1e-12
    assert np.abs(fallen.q - [0.7, -0.4]).max() > 1e-3


def test_a_law_that_asks_the_dynamics_beside_contacts():
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Prismatic(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    b.add_collision("ball", sk.Sphere(0.1))
    law = {"stiffness": 1e4, "dissipation": 0.0}
    run = sk.simulate(
        b.build(), [0.12], [-0.5], duration=0.2, dt=2e-4, elements=[sk.Controller(carry)],
        ground=[sk.HalfSpace()], contacts=[sk.Contact("ball", "floor", **law)],
    )  # fmt: skip
    assert run.q.min() < 0.1  # it touched
    assert abs(run.v[-1, 0] - 0.5) < 1e-3  # and, without weight or loss, came back as fast
