"""Flexible bodies: kernels against a twin of particles, and what dynamics must keep."""

from __future__ import annotations

import numpy as np
import pytest

import flexible_models
import skodyn as sk

EPS = np.finfo(float).eps


@pytest.fixture(scope="module", params=[0, 1, 5])
def case(request):
    """(model, twin, q, v): trees of rigid and modal bodies, with every joint among them."""
    model, twin = flexible_models.random_system(request.param)
    q, v = model.random_state(np.random.default_rng(request.param))
    for body in model.flexible:
        q[model.mode_slice(body)] *= 20.0
    return model, twin, q, v


def close(found, expected, condition=1.0):
    scale = max(np.abs(expected).max(), 1.0)
    assert np.abs(found - expected).max() <= 200 * EPS * condition * scale


def test_a_state_has_modes_behind_the_joint_of_their_body(case):
    model, twin, q, _ = case
    assert (model.nq, model.nv) == (twin.nq, twin.nv)
    body = next(iter(model.flexible))
    k = model.body_index(body)
    joint = model.joint_names[k]
    assert model.mode_slice(body).start == model.q_slice(joint).stop
    assert model.mode_slice(body, "v").start == model.v_slice(joint).stop
    assert np.array_equal(model.integrate(q, np.zeros(model.nv)), q)
    step = np.random.default_rng(0).normal(size=model.nv) * 0.1
    assert np.allclose(model.difference(q, model.integrate(q, step)), step, atol=1e-13)


def test_forward_dynamics_is_that_of_the_particles(case):
    model, twin, q, v = case
    rng = np.random.default_rng(7)
    tau, push = rng.normal(size=model.nv), rng.normal(size=(model.n_bodies, 6))
    mass = twin.mass_matrix(q)
    expected = np.linalg.solve(mass, tau - twin.bias(q, v, push))
    close(sk.forward_dynamics(model, q, v, tau, push), expected, np.linalg.cond(mass))
    close(sk.mass_matrix(model, q), mass)
    close(sk.mass_matrix_solve(model, q, tau), np.linalg.solve(mass, tau), np.linalg.cond(mass))
    close(sk.bias_force(model, q, v, push), twin.bias(q, v, push))
    close(sk.gravity_force(model, q), twin.bias(q, 0 * v))
    close(sk.inverse_dynamics(model, q, v, tau), mass @ tau + twin.bias(q, v))


def test_where_bodies_are_and_how_they_move(case):
    model, twin, q, v = case
    rotations, places = sk.forward_kinematics(model, q)
    for k, (r, x, _) in enumerate(twin.poses(q, 0 * v)):
        close(rotations[k], r)
        close(places[k], x)
    expected = twin.velocities(q, v)
    close(sk.velocities(model, q, v)[0], expected)
    for k in range(model.n_bodies):
        close(sk.jacobian(model, q, k) @ v, expected[k])


def test_energy_and_momentum(case):
    model, twin, q, v = case
    close(np.array(sk.energy(model, q, v)), np.array(twin.energy(q, v)))
    close(sk.momentum(model, q, v), twin.momentum(q, v))
    close(sk.center_of_mass(model, q), twin.center_of_mass(q))


def test_forward_dynamics_undoes_inverse_dynamics(case):
    model, _, q, v = case
    vdot = np.random.default_rng(3).normal(size=model.nv)
    mass = sk.mass_matrix(model, q)
    tau = sk.inverse_dynamics(model, q, v, vdot)
    close(sk.forward_dynamics(model, q, v, tau), vdot, np.linalg.cond(mass))


@pytest.mark.parametrize("seed", [0, 5])
def test_the_general_recursion_with_blocks_of_6_and_m_agrees(seed):
    """M(k) and b(k) from their definitions, by the sweeps of sk.sko instead of the kernels."""
    model, _ = flexible_models.random_system(seed)
    rng = np.random.default_rng(seed)
    q, v = model.random_state(rng)
    for body in model.flexible:
        q[model.mode_slice(body)] *= 20.0
    general, tau = sk.sko_model(model, q, v), rng.normal(size=model.nv)
    for k, name in enumerate(model.body_names):
        modes = model.flexible[name].modes if name in model.flexible else 0
        rotors = model.joints[k].nv if model.joints[k].armature > 0.0 else 0
        assert general.M[k].shape == (6 + modes + rotors,) * 2
    mass = sk.mass_matrix(model, q)
    condition = np.linalg.cond(mass)
    close(sk.sko.mass_matrix(general), mass)
    close(sk.sko.inverse_dynamics(general, tau), sk.inverse_dynamics(model, q, v, tau))
    close(sk.sko.forward_dynamics(general, tau), sk.forward_dynamics(model, q, v, tau), condition)


def test_implicit_contact_refuses_flexible_bodies():
    model, _ = flexible_models.random_system(0, bodies=3)
    q, v = model.neutral(), np.zeros(model.nv)
    words = "implicit_contact does not take models with flexible bodies; choose rk4 or implicit_mid"
    with pytest.raises(sk.StateError, match=words) as refused:
        sk.simulate(model, q, v, duration=0.01, dt=1e-3, integrator="implicit_contact")
    assert len(refused.value.faults) == 1


def test_work_and_energy_balance_in_every_integrator():
    model, _ = flexible_models.random_system(0, bodies=4)
    q, v = model.random_state(np.random.default_rng(1))
    for method, bound in (
        ("rk4", 1e-10), ("dormand_prince", 1e-7), ("implicit_midpoint", 1e-5),
        ("semi_implicit_euler", 2e-2),
    ):  # fmt: skip
        step = {} if method == "dormand_prince" else {"dt": 1e-3}
        run = sk.simulate(
            model, q, v, duration=0.1, integrator=method, every=10, channels=["energy"], **step
        )
        assert run.status == "finished"
        assert abs(run.summary["energy_imbalance"]) < bound, method


def test_what_has_no_code_for_flexible_bodies_says_so():
    model, _ = flexible_models.random_system(0, bodies=3)
    q, v = model.neutral(), np.zeros(model.nv)
    name = next(iter(model.flexible))
    for call in (
        lambda: sk.mass_matrix_inverse(model, q),
        lambda: sk.forward_dynamics_derivatives(model, q, v, v),
        lambda: sk.coriolis_matrix(model, q, v),
        lambda: sk.joint_forces(model, q, v, v),
        lambda: sk.mass_matrix_logdet(model, q),
    ):
        with pytest.raises(sk.ModelError, match=f"flexible bodies, and '{name}' is one"):
            call()
