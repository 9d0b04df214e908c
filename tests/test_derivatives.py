"""Derivatives of the dynamics against finite differences, identities and Pinocchio.

A central difference of eighth order with step 1e-3 has an error of about 1e-12 of the largest entry
here; the functions it differentiates are checked against the naive twin elsewhere. Derivatives of
the twin itself, exact to rounding, are in test_derivative_twin.py.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import adapters
import naive
import skodyn as sk
from skodyn import interop
from skodyn.dynamics import driver
from skodyn.dynamics.algorithms import MASS_INVERSE
from skodyn.dynamics.derivatives import FORWARD
from skodyn.kernels.inverse_times_derivatives import RECURSION
from skodyn.kernels.many_right_sides import level_count

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from models import chain, humanoid, pinocchio_model, random_tree

WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
SEEDS = range(4)
CLOSE = 1e-10


def along_directions(function, model, q, step=1e-3):
    """∂f/∂q_i along every velocity direction, in the last axis."""

    def column(unit):
        return central(lambda amount: function(model.integrate(q, amount * unit)), step)

    return np.stack([column(unit) for unit in np.eye(model.nv)], axis=-1)


def central(function, step):
    """The derivative at zero of a function of a number."""
    terms = enumerate(WEIGHTS, start=1)
    return sum(c * (function(k * step) - function(-k * step)) for k, c in terms) / step


def by_speed(function, v):
    """∂f/∂v of a quadratic function of v: central differences are exact but for rounding."""
    return np.stack([(function(v + e) - function(v - e)) / 2 for e in np.eye(len(v))], axis=-1)


def near(actual, expected, tolerance=CLOSE):
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


class Case:
    """A random tree with every joint type, a state, and forces."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.model = adapters.build(naive.random_bodies(rng, 12))
        self.q, self.v = self.model.random_state(rng)
        self.x = rng.normal(size=self.model.nv)
        self.f = rng.normal(size=(self.model.n_bodies, 6))
        self.kappa = np.linalg.cond(sk.mass_matrix(self.model, self.q))


@cache
def case_of(seed):
    return Case(seed)


@pytest.fixture(params=SEEDS)
def case(request):
    return case_of(request.param)


def test_the_systems_have_every_joint_type():
    for seed in SEEDS:
        assert {joint.type_name for joint in case_of(seed).model.joints} == set(naive.KINDS)


def test_inverse_dynamics_derivatives_are_those_of_inverse_dynamics(case):
    m, q, v, x, f = case.model, case.q, case.v, case.x, case.f
    dq, dv = sk.inverse_dynamics_derivatives(m, q, v, x, f)
    near(dq, along_directions(lambda at: sk.inverse_dynamics(m, at, v, x, f), m, q))
    near(dv, by_speed(lambda at: sk.inverse_dynamics(m, q, at, x, f), v), 1e-13)


def test_external_forces_change_the_derivative(case):
    """They are not small: a derivative that forgot them would fail the test above."""
    m, q, v, x = case.model, case.q, case.v, case.x
    without, _ = sk.inverse_dynamics_derivatives(m, q, v, x)
    near(without, along_directions(lambda at: sk.inverse_dynamics(m, at, v, x), m, q))
    assert np.abs(without - sk.inverse_dynamics_derivatives(m, q, v, x, case.f)[0]).max() > 1e-2


def test_forward_dynamics_derivatives_are_those_of_forward_dynamics(case):
    m, q, v, x, f = case.model, case.q, case.v, case.x, case.f
    dq, dv, dtau = sk.forward_dynamics_derivatives(m, q, v, x, f)
    near(dq, along_directions(lambda at: sk.forward_dynamics(m, at, v, x, f), m, q), 1e-9)
    near(dv, by_speed(lambda at: sk.forward_dynamics(m, q, at, x, f), v), 1e-14 * case.kappa)
    near(dtau, np.linalg.inv(sk.mass_matrix(m, q)), 1e-15 * case.kappa)


def every_joint(n):
    """A chain with every joint type again and again, half of them with rotors."""
    rng = np.random.default_rng(n)
    bodies = naive.random_bodies(rng, n, branching=0.0, rotors=0.5)
    return adapters.build(bodies)


LARGE = {"humanoid": humanoid(), "random tree 30": random_tree(30), "chain 130": chain(130)}
LARGE |= {f"every joint {n}": every_joint(n) for n in (12, 60)}


def related(model):
    """Over all degrees of freedom, the mean number of those in their subtree or on their path."""
    mass = sk.mass_matrix(model, model.random_state(np.random.default_rng(0))[0])
    return np.count_nonzero(mass) / model.nv


@pytest.mark.parametrize("name", LARGE)
def test_forward_dynamics_derivatives_are_products_with_the_inverse_mass_matrix(name):
    """Taken as products where few are related to one another, else by a gather and a scatter."""
    model = LARGE[name]
    deep = name in ("chain 130", "every joint 60")
    assert (related(model) > 2 * RECURSION) if deep else (related(model) < RECURSION)
    q, v = model.random_state(np.random.default_rng(3))
    inverse, mass = sk.mass_matrix_inverse(model, q), sk.mass_matrix(model, q)
    np.testing.assert_array_equal(inverse, inverse.T)
    kappa = np.linalg.cond(mass)
    near(inverse @ mass, np.eye(model.nv), 1e-15 * kappa)
    three = sk.forward_dynamics_derivatives(model, q, v, np.ones(model.nv))
    np.testing.assert_array_equal(three[2], inverse)
    two = sk.inverse_dynamics_derivatives(
        model, q, v, sk.forward_dynamics(model, q, v, np.ones(model.nv))
    )
    for ours, theirs in zip(three, two, strict=False):
        near(ours, -np.linalg.solve(mass, theirs), 1e-15 * kappa)


@pytest.mark.parametrize("n", range(1, 12))
def test_the_inverse_mass_matrix_of_small_forests(n):
    """Any number of columns modulo four, several bodies on the ground, locked joints between.

    Registers reach beyond the columns that they are for: whatever lies there, none of it must show.
    """
    rng = np.random.default_rng(n)
    for _ in range(4):
        bodies = naive.random_bodies(rng, n, branching=0.5)
        for body in bodies[1:]:
            body["parent"] = -1 if rng.random() < 0.3 else body["parent"]
        model = adapters.build(bodies)
        q, _ = model.random_state(rng)
        block = driver.block_of(MASS_INVERSE, model)
        block[block.view(np.int64)[1] :] = np.nan  # the workspace
        inverse, mass = sk.mass_matrix_inverse(model, q), sk.mass_matrix(model, q)
        np.testing.assert_array_equal(inverse, inverse.T)
        near(inverse @ mass, np.eye(model.nv), 1e-15 * (np.linalg.cond(mass) if model.nv else 1.0))


def with_limbs(seed):
    """Long limbs of every joint type that branch off one another, some from the ground."""
    rng = np.random.default_rng(seed)
    bodies = naive.random_bodies(rng, 70, branching=0.0, rotors=0.3)
    for k, body in enumerate(bodies):
        body["parent"] = int(rng.integers(0, k)) if k > 3 and rng.random() < 0.06 else k - 1
    if seed % 2:
        bodies[50]["parent"] = -1
    return adapters.build(bodies), rng


@pytest.mark.parametrize("seed", range(4))
def test_deep_trees_with_limbs(seed):
    """Limbs share rows of the workspace by levels; whatever was there before must not show."""
    model, rng = with_limbs(seed)
    assert level_count(model.indices) > 1
    assert related(model) > RECURSION
    q, v = model.random_state(rng)
    tau, f = rng.normal(size=model.nv), rng.normal(size=(model.n_bodies, 6))
    for algorithm in (MASS_INVERSE, FORWARD):
        block = driver.block_of(algorithm, model)
        block[block.view(np.int64)[1] :] = np.nan
    mass, inverse = sk.mass_matrix(model, q), sk.mass_matrix_inverse(model, q)
    kappa = np.linalg.cond(mass)
    near(inverse @ mass, np.eye(model.nv), 1e-15 * kappa)
    three = sk.forward_dynamics_derivatives(model, q, v, tau, f)
    two = sk.inverse_dynamics_derivatives(model, q, v, sk.forward_dynamics(model, q, v, tau, f), f)
    np.testing.assert_array_equal(three[2], inverse)
    for ours, theirs in zip(three, two, strict=False):
        near(ours, -np.linalg.solve(mass, theirs), 1e-15 * kappa)
    batch = sk.forward_dynamics_derivatives(model, np.tile(q, (11, 1)), v, tau, f)
    for ours, alone in zip(batch, three, strict=True):
        np.testing.assert_array_equal(ours[10], alone)


# ---- Pinocchio --------------------------------------------------------------------------------

CONSTANT = ("fixed", "revolute", "prismatic", "spherical", "translation")


def shared_model(seed):
    """A floating tree whose velocities Pinocchio numbers and orders, but does not turn."""
    rng = np.random.default_rng(seed)
    bodies = naive.random_bodies(rng, 10, CONSTANT, branching=0.4)
    for body in bodies:
        if body["parent"] == -1:
            body["joint"] = {"kind": "free"}
    return adapters.build(bodies)


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_as_in_pinocchio(seed):
    model = shared_model(seed)
    pin_model = pinocchio_model(model)
    data = pin_model.createData()
    q, v = model.random_state(np.random.default_rng(seed))
    x = np.random.default_rng(seed + 1).normal(size=model.nv)
    pq, pv = interop.to_pinocchio_state(model, pin_model, q, v)
    px = interop.to_pinocchio_force(model, pin_model, q, x)
    order = np.stack(
        [interop.to_pinocchio_state(model, pin_model, q, e)[1] for e in np.eye(model.nv)], axis=1
    )
    np.testing.assert_allclose(order @ order.T, np.eye(model.nv), atol=1e-15)
    kappa = np.linalg.cond(sk.mass_matrix(model, q))
    ours = sk.forward_dynamics_derivatives(model, q, v, x)
    pin.computeABADerivatives(pin_model, data, pq, pv, px)
    upper = np.triu(data.Minv)
    theirs = (data.ddq_dq, data.ddq_dv, upper + np.triu(upper, 1).T)
    for mine, peer in zip(ours, theirs, strict=True):
        near(order @ mine @ order.T, peer, 1e-14 * kappa)
    ours = sk.inverse_dynamics_derivatives(model, q, v, x)
    pin.computeRNEADerivatives(pin_model, data, pq, pv, px)
    for mine, peer in zip(ours, (data.dtau_dq, data.dtau_dv), strict=True):
        near(order @ mine @ order.T, peer, 1e-12)


# ---- linear systems ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_linearize_predicts_how_nearby_motions_part(case, seed):
    """d/dt of model.difference between two motions, by central differences in δ and in time."""
    m, q, v, x, f = case.model, case.q, case.v, case.x, case.f
    A, B = sk.linearize(m, q, v, x, f)
    nv, step = m.nv, 0.01
    direction = naive.random_unit(np.random.default_rng(seed), 3 * nv)

    def moved(delta, time):
        """Where a neighbour is after `time`, to first order in it: only the rate is asked for."""
        start, speed, tau = m.integrate(q, delta[:nv]), v + delta[nv : 2 * nv], x + delta[2 * nv :]
        rate = sk.forward_dynamics(m, start, speed, tau, f)
        return m.integrate(start, time * speed), speed + time * rate

    def gap(amount, time):
        (q0, v0), (q1, v1) = (moved(a * direction, time) for a in (0.0, amount))
        return np.concatenate((m.difference(q0, q1), v1 - v0))

    def rate(amount):
        return central(lambda time: gap(amount, time), step)

    expected = A @ direction[: 2 * nv] + B @ direction[2 * nv :]
    near(central(rate, step), expected)


def test_linearize_has_the_turning_term_of_quaternion_joints():
    """Two freely spinning spheres with the same v in child axes part by −ω × δq."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("ball", "world", sk.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = b.build()
    v = np.array([0.3, -0.2, 0.9, 1.0, 2.0, 3.0])
    A, B = sk.linearize(model, model.neutral(), v, np.zeros(6))
    delta = np.array([0.1, 0.7, -0.4, 0.2, 0.5, 0.6])
    expected = np.concatenate(
        (-np.cross(v[:3], delta[:3]), -np.cross(v[:3], delta[3:]) - np.cross(v[3:], delta[:3]))
    )
    np.testing.assert_allclose(A[:6, :6] @ delta, expected, atol=1e-15)
    np.testing.assert_array_equal(B[:6], 0.0)


# ---- Coriolis and Christoffel -----------------------------------------------------------------


def test_coriolis_matrix_gives_the_velocity_part_of_the_bias_force(case):
    m, q, v = case.model, case.q, case.v
    expected = sk.bias_force(m, q, v) - sk.gravity_force(m, q)
    near(sk.coriolis_matrix(m, q, v) @ v, expected, 1e-13)


def mass_rates(m, q):
    """∂𝓜/∂q_k along every velocity direction."""
    return along_directions(lambda at: sk.mass_matrix(m, at), m, q)


def test_mass_matrix_rate_less_twice_coriolis_is_skew(case):
    m, q, v = case.model, case.q, case.v
    difference = mass_rates(m, q) @ v - 2 * sk.coriolis_matrix(m, q, v)
    assert np.abs(difference).max() > 1e-2
    near(difference, -difference.T)


def structure_constants(model):
    """c[l, k, j]: component l of the bracket [e_k, e_j]."""
    c = np.zeros((model.nv,) * 3)
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        i = model.v_slice(name).start
        if joint.type_name in ("spherical", "free"):
            for a, b, d in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                c[i + d, i + a, i + b], c[i + d, i + b, i + a] = 1.0, -1.0
                if joint.type_name == "free":
                    c[i + 3 + d, i + a, i + 3 + b], c[i + 3 + d, i + 3 + b, i + a] = 1.0, -1.0
                    c[i + 3 + d, i + b, i + 3 + a], c[i + 3 + d, i + 3 + a, i + b] = -1.0, 1.0
    return c


def test_christoffel_symbols_by_koszul(case):
    """PyCraft eq. 38, with the brackets of velocity directions that are no coordinates."""
    m, q = case.model, case.q
    dM = mass_rates(m, q)  # [i, j, k] = ∂_k M_ij
    lowered = np.einsum("il,lkj->ikj", sk.mass_matrix(m, q), structure_constants(m))  # ⟨[k,j], i⟩
    expected = 0.5 * (
        dM + dM.swapaxes(1, 2) - np.moveaxis(dM, -1, 0)
        + lowered.swapaxes(1, 2) - np.einsum("kji->ijk", lowered) - np.einsum("jki->ijk", lowered)
    )  # fmt: skip
    near(sk.christoffel_symbols(m, q), expected)


def test_coriolis_matrix_is_the_sum_of_christoffel_symbols(case):
    m, q, v = case.model, case.q, case.v
    symbols = sk.christoffel_symbols(m, q)
    near(symbols @ v, sk.coriolis_matrix(m, q, v), 1e-13)
    bracket = np.einsum("il,lkj->ijk", sk.mass_matrix(m, q), structure_constants(m))
    near(symbols - symbols.swapaxes(1, 2), bracket, 1e-13)


def test_a_batch_is_its_states_one_by_one():
    m = case_of(0).model
    rng = np.random.default_rng(8)
    q, v = (np.array(c) for c in zip(*(m.random_state(rng) for _ in range(13)), strict=True))
    x, f = rng.normal(size=(13, m.nv)), rng.normal(size=(13, m.n_bodies, 6))
    calls = (
        (sk.inverse_dynamics_derivatives, (q, v, x, f)),
        (sk.forward_dynamics_derivatives, (q, v, x, f)),
        (sk.linearize, (q, v, x, f)),
        (sk.coriolis_matrix, (q, v)),
        (sk.christoffel_symbols, (q[:2],)),
        (sk.mass_matrix_inverse, (q,)),
    )
    for function, tables in calls:
        batch = function(m, *tables)
        for row in range(len(tables[0])):
            alone = function(m, *(t[row] for t in tables))
            both = zip(batch, alone, strict=True) if isinstance(batch, tuple) else [(batch, alone)]
            for many, one in both:
                np.testing.assert_array_equal(many[row], one)


def test_out_receives_all_matrices_of_a_result():
    c = case_of(1)
    out = np.empty((3, c.model.nv, c.model.nv))
    three = sk.forward_dynamics_derivatives(c.model, c.q, c.v, c.x, out=out)
    assert all(np.shares_memory(one, out) for one in three)
    np.testing.assert_array_equal(
        out, np.stack(sk.forward_dynamics_derivatives(c.model, c.q, c.v, c.x))
    )
