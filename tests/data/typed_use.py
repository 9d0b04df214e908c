# ruff: noqa: F821  reveal_type is of mypy
"""A user's file, which mypy reads from outside: every result has a type (tests/test_types.py)."""

from __future__ import annotations

import numpy as np

import skodyn as sk

model = sk.load("scenarios/models/double_pendulum.toml")
q = model.neutral()
v = np.zeros(model.nv)
tau = np.zeros(model.nv)

reveal_type(model)
reveal_type(model.joint_names)
reveal_type(model.integrate(q, v))
reveal_type(sk.forward_dynamics(model, q, v, tau))
reveal_type(sk.inverse_dynamics(model, q, v, tau))
reveal_type(sk.bias_force(model, q, v))
reveal_type(sk.mass_matrix(model, q))
reveal_type(sk.mass_matrix_solve(model, q, tau))
reveal_type(sk.forward_kinematics(model, q))
reveal_type(sk.jacobian(model, q, "lower", (0.0, 0.0, -1.0)))
reveal_type(sk.operational_space_compliance(model, q, [("lower", (0.0, 0.0, -1.0))]))
reveal_type(sk.momentum(model, q, v, about="com"))
reveal_type(sk.linearize(model, q, v, tau))
reveal_type(sk.forward_dynamics_derivatives(model, q, v, tau))

# the result depends on the argument
reveal_type(sk.energy(model, [0.1, 0.2], [0.0, 0.0]))  # one state
reveal_type(sk.energy(model, [[0.1, 0.2], [0.3, 0.4]], [0.0, 0.0]))  # a batch
reveal_type(sk.energy(model, q, v))  # whichever q is
reveal_type(sk.mass_matrix_logdet(model, [0.1, 0.2]))
reveal_type(sk.fixman_potential(model, [0.1, 0.2], 1.0))

run = sk.simulate(model, q, v, duration=1.0, integrator="rk4", channels=["energy"])
reveal_type(run)
reveal_type(run.status)
reveal_type(run.trajectory)
reveal_type(run.trajectory.q)
reveal_type(run.trajectory["energy"])
reveal_type(run.trajectory[::10])
reveal_type(run.trajectory.joint("elbow"))
reveal_type(run.trajectory.to_xarray())
reveal_type(run.summary["steps"])
reveal_type(run.trajectory.provenance["versions"]["skodyn"])
reveal_type(run.trajectory.contact_events)
reveal_type(sk.run("scenarios/double_pendulum.toml"))
reveal_type(sk.read_scenario("scenarios/double_pendulum.toml").model)

results = sk.sweep("scenarios/double_pendulum.toml", {"duration": [1.0, 2.0]}, engine="threads")
reveal_type(results)
reveal_type(results.metrics)
reveal_type(results.values(0))
reveal_type(results.to_xarray())

ops = sk.operators(model, q, v)
reveal_type(ops)
reveal_type(ops.H @ ops.phi)
reveal_type(ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T @ v)
reveal_type((ops.H @ ops.tau_bar).is_zero())
reveal_type(sk.sko.riccati(sk.sko_model(model, q)).P)
reveal_type(sk.sparsity(model))
reveal_type(sk.examples.four_bar())

builder = sk.ModelBuilder(gravity=(0, 0, -9.81))
builder.add_body("arm", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, inertia=(0.1, 0.1, 0.1))
reveal_type(builder.build())
reveal_type(sk.Servo("elbow", kp=1.0))
reveal_type(sk.Servo("elbow", kp=1.0).control_law(model))
reveal_type(sk.Wrench("lower").control_law(model))
reveal_type(sk.Wrench("lower").part)
reveal_type(sk.Fault("wrong").as_data()["line"])
