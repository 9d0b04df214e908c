"""Diagonalised dynamics: ν = m*·v with 𝓜 = m·m*, against the twin, differences and energies."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from test_derivatives import central
from test_dynamics_twin import Case
from test_mimic import Case as MimicCase

EPS = np.finfo(float).eps
SEEDS = range(0, 100, 3)
SCENARIOS = Path(__file__).parent.parent / "scenarios"


@cache
def case_of(seed):
    return Case(seed)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return case_of(request.param)


def near(actual, expected, kappa, scale=0.0):
    error = np.linalg.norm(actual - expected)
    assert error <= 10 * kappa * EPS * max(np.linalg.norm(expected), scale), error


def test_velocities_and_forces_both_ways_are_those_of_the_twin(case):
    bodies, q, v = case.listed
    m = naive.diagonal_factor(bodies, q)
    near(m @ m.T, case.mass, 10)
    nu, e = case.to_v(m.T @ v), case.to_v(np.linalg.solve(m, case.x_listed))
    root = np.sqrt(case.kappa)
    near(sk.diagonal_velocity(case.model, case.q, case.v), nu, case.kappa)
    near(sk.velocity_from_diagonal(case.model, case.q, nu), case.v, case.kappa)
    near(sk.diagonal_force(case.model, case.q, case.x), e, case.kappa)
    near(sk.force_from_diagonal(case.model, case.q, e), case.x, case.kappa)
    power = np.abs(case.v) @ np.abs(case.x)
    assert abs(nu @ e - case.v @ case.x) <= 100 * root * EPS * max(power, np.abs(nu) @ np.abs(e))


def test_half_its_square_is_the_kinetic_energy(case):
    nu = sk.diagonal_velocity(case.model, case.q, case.v)
    kinetic, _ = sk.energy(case.model, case.q, case.v)
    assert abs(0.5 * nu @ nu - kinetic) <= 20 * case.n * EPS * kinetic


def test_the_equations_of_motion_are_the_derivative_along_the_motion(case):
    """Differences of eighth order along q ⊞ t·v, v + t·v̇, which has the rates of the motion."""
    model, q, v = case.model, case.q, case.v
    nu = sk.diagonal_velocity(model, q, v)
    vdot = sk.forward_dynamics(model, q, v, case.x, case.f)
    found = sk.diagonal_dynamics(model, q, nu, case.x, case.f)
    expected = central(
        lambda t: sk.diagonal_velocity(model, model.integrate(q, t * v), v + t * vdot), 1e-3
    )
    assert np.abs(found - expected).max(initial=0) <= 1e-9 * np.abs(expected).max(initial=1.0)


def test_force_and_bias_make_up_the_equations_of_motion(case):
    model, q = case.model, case.q
    nu = sk.diagonal_velocity(model, q, case.v)
    e, c = sk.diagonal_force(model, q, case.x), sk.diagonal_bias(model, q, nu, case.f)
    found = sk.diagonal_dynamics(model, q, nu, case.x, case.f)
    near(found, e - c, case.kappa, np.linalg.norm(e) + np.linalg.norm(c))


def test_without_gravity_the_bias_does_no_work(case):
    model = adapters.build(case.bodies, (0.0, 0.0, 0.0))
    nu = sk.diagonal_velocity(model, case.q, case.v)
    c = sk.diagonal_bias(model, case.q, nu)
    forces = np.linalg.norm(case.forces_at_play)
    size = np.linalg.norm(c) * np.linalg.norm(nu) + forces * np.linalg.norm(case.v)
    assert abs(c @ nu) <= 10 * case.kappa * EPS * size


@pytest.mark.parametrize("seed", [6, 15, 33, 60])
def test_bits_are_the_same_at_every_width(seed):
    model, rng = case_of(seed).model, np.random.default_rng(seed)
    states = [model.random_state(rng) for _ in range(19)]
    q, v = (np.array(column) for column in zip(*states, strict=True))
    x = rng.normal(size=v.shape)
    for function, given in (
        (sk.diagonal_velocity, (q, v)),
        (sk.velocity_from_diagonal, (q, v)),
        (sk.diagonal_force, (q, v)),
        (sk.force_from_diagonal, (q, v)),
        (sk.diagonal_dynamics, (q, v, x)),
        (sk.diagonal_bias, (q, v)),
    ):
        many = function(model, *given)
        alone = np.array([function(model, *(a[i] for a in given)) for i in range(19)])
        assert (many == alone).all(), function.__name__
        assert (function(model, *given, threads=2) == many).all()
    out = np.empty_like(v)
    assert sk.diagonal_velocity(model, q, v, out=out) is out


def hinged(seed):
    """A tree whose coordinates are numbers, so that classical methods apply to them as they are."""
    rng = np.random.default_rng([5, seed])
    kinds = ("revolute", "prismatic", "helical", "universal", "cylindrical", "planar")
    return adapters.build(naive.random_bodies(rng, 6, kinds, branching=0.3, rotors=0.3))


def classical(rate, y, dt, steps):
    """Runge and Kutta's method of fourth order."""
    for _ in range(steps):
        a = rate(y)
        b = rate(y + dt / 2 * a)
        c = rate(y + dt / 2 * b)
        y = y + dt / 6 * (a + 2 * b + 2 * c + rate(y + dt * c))
    return y


@pytest.mark.parametrize("seed", range(3))
def test_diagonal_equations_give_the_same_trajectory_to_the_order_of_the_method(seed):
    model = hinged(seed)
    rng = np.random.default_rng(seed)
    q, v = model.random_state(rng)
    v, n = 0.5 * v, model.nv
    tau = rng.normal(size=n)

    def ordinary(y):
        return np.concatenate([y[n:], sk.forward_dynamics(model, y[:n], y[n:], tau)])

    def diagonal(y):
        rates = sk.velocity_from_diagonal(model, y[:n], y[n:])
        return np.concatenate([rates, sk.diagonal_dynamics(model, y[:n], y[n:], tau)])

    exact = classical(ordinary, np.concatenate([q, v]), 0.2 / 1600, 1600)
    start = np.concatenate([q, sk.diagonal_velocity(model, q, v)])
    errors = []
    for steps in (25, 50, 100):
        y = classical(diagonal, start, 0.2 / steps, steps)
        y[n:] = sk.velocity_from_diagonal(model, y[:n], y[n:])
        errors.append(np.abs(y - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all(), (errors, orders)
    assert errors[-1] < 1e-4 * np.abs(exact).max()


def test_mimic_joints_and_loops_are_refused_by_name():
    model = MimicCase(2).model
    q, v = model.random_state(np.random.default_rng(0))
    for call in (sk.diagonal_velocity, sk.velocity_from_diagonal, sk.diagonal_force):
        with pytest.raises(sk.ModelError, match=f"{call.__name__} does not take models with mimic"):
            call(model, q, v)
    four_bar = sk.load("scenarios/models/four_bar.toml")
    with pytest.raises(sk.ModelError, match="diagonal_dynamics does not take models with loops"):
        sk.diagonal_dynamics(
            four_bar, four_bar.neutral(), np.zeros(four_bar.nv), np.zeros(four_bar.nv)
        )
    with pytest.raises(sk.StateError, match="nu has shape"):
        sk.velocity_from_diagonal(hinged(0), np.zeros(hinged(0).nq), [1.0])


@pytest.mark.parametrize("spin", [0.0, 12.0])
def test_a_force_along_the_diagonal_velocities_leads_to_the_wanted_energy(spin):
    text = (SCENARIOS / "energy_drive.toml").read_text()
    text = text.replace("v = { elbow = 1.0 }", f"v = {{ elbow = 1.0, shoulder = {spin} }}")
    rows = run_scenario(parse_scenario(text, SCENARIOS), None).trajectory
    energy = np.add(*sk.energy(rows.model, rows.q, rows.v))
    missing = 40.0 - energy
    assert abs(missing[-1]) < 1e-4 < 10.0 < abs(missing[0])
    back = np.sign(missing[0]) * np.diff(energy) < -1e-6  # more than what rk4 errs by
    assert not back.any()
    nu = sk.diagonal_velocity(rows.model, rows.q, rows.v)
    along = sk.force_from_diagonal(rows.model, rows.q, 0.05 * missing[:, None] * nu)
    assert np.abs(rows["tau"] - along).max() < 1e-12 * np.abs(along).max()
