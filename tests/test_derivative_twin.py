"""Derivatives of the dynamics against complex steps through the dense twin, and general recursions.

A complex step subtracts nothing, so the twin's derivatives are good to rounding. Bounds are, as in
test_dynamics_twin.py, some roundings of the largest entry, times κ(𝓜) where an inverse enters.
"""

from functools import cache, cached_property

import numpy as np
import pytest

import adapters
import derivative_twin as twin
import naive
import skodyn as sk
from test_derivatives import along_directions, structure_constants

EPS = np.finfo(float).eps
SEEDS = range(6)
MOVING = tuple(kind for kind in naive.KINDS if kind != "fixed")


class Case:
    """A random system in a random state: skodyn's model, and the twin's bodies in list order."""

    def __init__(self, seed, n, **options):
        rng = np.random.default_rng([71, seed])
        self.bodies = naive.random_bodies(rng, n, **options)
        self.gravity = rng.normal(scale=6.0, size=3)
        self.model = adapters.build(self.bodies, self.gravity)
        self.listed_q, self.listed_v = naive.random_state(rng, self.bodies)
        self.listed_x, self.listed_f = rng.normal(size=len(self.listed_v)), rng.normal(size=(n, 6))
        self.q = adapters.to_packed_q(self.model, self.bodies, self.listed_q)
        self.v, self.x = self.packed(self.listed_v), self.packed(self.listed_x)
        self.f = adapters.to_packed_bodies(self.model, self.listed_f)
        self.kappa = np.linalg.cond(naive.mass_matrix(self.bodies, self.listed_q))

    @property
    def listed(self):
        """What the twin's dynamics take."""
        state = self.bodies, self.listed_q, self.listed_v
        return (*state, self.listed_x, self.gravity, self.listed_f)

    @property
    def state(self):
        """What skodyn's take."""
        return self.model, self.q, self.v, self.x, self.f

    @cached_property
    def inverse(self):
        return twin.inverse_dynamics_derivatives(*self.listed)

    @cached_property
    def forward(self):
        return twin.forward_dynamics_derivatives(*self.listed)

    def packed(self, values):
        """In packed order, from list order, whatever the number of axes: all count velocities."""
        for _ in range(np.ndim(values)):  # the last axis comes to the front, each in its turn
            values = np.moveaxis(adapters.to_packed_v(self.model, self.bodies, values), -1, 0)
        return values


@cache
def case_of(which):
    """By number, a tree with every joint type; by kind, a chain in which each joint is of it."""
    if which in MOVING:
        return Case(MOVING.index(which), 4, kinds=[which], branching=0.0, rotors=0.5)
    options = {"branching": (0.0, 0.5, 0.9)[which % 3], "rotors": (0.0, 0.7)[which % 2]}
    return Case(which, 12, **options, massless=float(which > 3))


@pytest.fixture(params=[*SEEDS, *MOVING])
def case(request):
    return case_of(request.param)


@pytest.fixture(params=SEEDS)
def tree(request):
    return case_of(request.param)


def close(actual, expected, roundings=100.0):
    """Equal up to so many roundings of the largest entry."""
    assert np.shape(actual) == np.shape(expected)
    size = max(1.0, np.abs(expected).max())
    error = np.abs(actual - expected).max()
    assert error <= roundings * EPS * size, f"{error / (EPS * size):.3g} roundings"


def test_the_systems_cover_joints_rotors_bases_and_massless_bodies():
    """And are so conditioned that a bound of 10·κ·ε means more than nine digits."""
    cases = [case_of(seed) for seed in SEEDS]
    for one in cases:
        assert {body["joint"]["kind"] for body in one.bodies} == set(naive.KINDS)
    rotors = [{b["joint"]["kind"] for b in one.bodies if "armature" in b["joint"]} for one in cases]
    assert set.union(*rotors) == set(MOVING)
    assert any(not kinds for kinds in rotors)
    assert any(body["mass"] == 0 for one in cases for body in one.bodies)
    assert sum((one.model.parent == -1).sum() > 1 for one in cases) > 2
    assert max(case_of(which).kappa for which in (*SEEDS, *MOVING)) < 1e5


def test_the_twin_moves_as_the_one_that_writes_no_velocity_product_out(case):
    close(twin.inverse_dynamics(*case.listed), naive.inverse_dynamics(*case.listed))
    V, bias = twin.motion(*case.listed[:3])
    close(V, naive.velocities(*case.listed[:3]))
    close(bias, naive.bias_accelerations(*case.listed[:3]))
    expected = naive.forward_dynamics(*case.listed)
    close(twin.forward_dynamics(*case.listed), expected, 10 * case.kappa)
    bodies, q = case.bodies, case.listed_q
    mass = twin.mass_matrix_of_bodies(bodies, q) + np.diag(naive.armatures(bodies))
    close(mass, naive.mass_matrix(bodies, q))


def test_inverse_dynamics_derivatives(case):
    by_q, by_v, by_vdot = (case.packed(each) for each in case.inverse)
    dq, dv = sk.inverse_dynamics_derivatives(*case.state)
    close(dq, by_q)
    close(dv, by_v)
    close(sk.mass_matrix(case.model, case.q), by_vdot)


def test_forward_dynamics_derivatives(case):
    found = sk.forward_dynamics_derivatives(*case.state)
    for ours, exact in zip(found, case.forward, strict=True):
        close(ours, case.packed(exact), 10 * case.kappa)


def test_linear_systems(case):
    """The rate at which neighbours part is a difference in time, hence the 1e-12."""
    nv = case.model.nv
    A, B = twin.linear_system(case.bodies, case.listed_q, case.listed_v, case.forward)
    a, b = sk.linearize(*case.state)
    for columns in (slice(0, nv), slice(nv, None)):
        close(a[:nv, columns], case.packed(A[:nv, columns]), 1e-12 / EPS)
        close(a[nv:, columns], case.packed(A[nv:, columns]), 10 * case.kappa)
    close(b[nv:], case.packed(B[nv:]), 10 * case.kappa)
    assert not b[:nv].any()


def test_christoffel_symbols_and_the_coriolis_matrix(case):
    symbols = case.packed(twin.christoffel_symbols(case.bodies, case.listed_q))
    close(sk.christoffel_symbols(case.model, case.q), symbols)
    close(sk.coriolis_matrix(case.model, case.q, case.v), symbols @ case.v)


def test_gradient_of_the_fixman_potential(case):
    exact = case.packed(twin.logdet_gradient(case.bodies, case.listed_q))
    close(sk.mass_matrix_logdet_gradient(case.model, case.q), exact, 10 * case.kappa)


# ---- the general recursions -------------------------------------------------------------------


def directions(case):
    """The derivatives of the workbench along every velocity direction, in the order of v."""
    ops = sk.operators(case.model, case.q)
    found = [None] * case.model.nv
    for name in case.model.joint_names:
        columns = case.model.v_slice(name)
        for dof, i in enumerate(range(columns.start, columns.stop)):
            found[i] = ops.derivative(name, dof)
    return ops, found


def stacked(case, ops, rows):
    """Six numbers per body as the workbench stacks them: none for rotors."""
    vector = np.zeros(ops.node_space.size)
    for name, row in zip(case.model.body_names, rows, strict=True):
        start = ops.node_space.slice_of(name).start
        vector[start : start + 6] = row
    return vector


def test_kernel_operators_and_twin_agree_at_rest(tree):
    """τ = 𝓜v̇ + Hφ(M[0; −g] − f) by the rules of PyCraft eqs. 41 and 42."""
    ops, along = directions(tree)
    up = stacked(tree, ops, np.tile([0, 0, 0, *-np.asarray(tree.gravity)], (len(tree.f), 1)))
    needed = ops.M @ up - stacked(tree, ops, tree.f)
    columns = [
        d.mass_matrix @ tree.x
        + d.H @ (ops.phi @ needed) + ops.H @ (d.phi @ needed) + ops.H @ (ops.phi @ (d.M @ up))
        for d in along
    ]  # fmt: skip
    still = 0 * tree.v
    kernel, _ = sk.inverse_dynamics_derivatives(tree.model, tree.q, still, tree.x, tree.f)
    bodies, q, _, x, gravity, f = tree.listed
    exact, _, _ = twin.inverse_dynamics_derivatives(bodies, q, 0 * x, x, gravity, f)
    close(np.stack(columns, axis=-1), tree.packed(exact))
    close(kernel, tree.packed(exact))


def test_kernel_operators_and_twin_agree_on_christoffel_symbols(tree):
    """Koszul's formula with the derivatives of eq. 42; brackets weigh with the bodies alone."""
    _, along = directions(tree)
    dM = np.stack([d.mass_matrix.dense() for d in along], axis=-1)  # [i, j, k] = ∂_k 𝓜_ij
    rotors = np.diag(tree.packed(naive.armatures(tree.bodies)))
    mass = sk.mass_matrix(tree.model, tree.q) - rotors
    lowered = np.einsum("il,lkj->ikj", mass, structure_constants(tree.model))  # ⟨[k,j], i⟩
    general = 0.5 * (
        dM + dM.swapaxes(1, 2) - np.moveaxis(dM, -1, 0)
        + lowered.swapaxes(1, 2) - np.einsum("kji->ijk", lowered) - np.einsum("jki->ijk", lowered)
    )  # fmt: skip
    close(general, tree.packed(twin.christoffel_symbols(tree.bodies, tree.listed_q)))


def test_kernels_have_the_derivatives_of_the_general_recursions(tree):
    """Eighth-order differences of recursions that know nothing of rigid bodies; in motion."""
    m, q, v, x, _ = tree.state
    dq, _ = sk.inverse_dynamics_derivatives(m, q, v, x)
    general = along_directions(
        lambda at: sk.sko.inverse_dynamics(sk.sko_model(m, at, v), x), m, q, step=0.01
    )
    close(dq, general, 1e-10 / EPS)
    dq, _, _ = sk.forward_dynamics_derivatives(m, q, v, x)
    general = along_directions(
        lambda at: sk.sko.forward_dynamics(sk.sko_model(m, at, v), x), m, q, step=0.003
    )
    close(dq, general, 1e-9 / EPS)


# ---- rotors -----------------------------------------------------------------------------------


def test_rotors_change_accelerations_and_leave_forces_alone():
    """So a derivative of accelerations that forgot them would fail the tests above."""
    heavy = case_of(1)
    light = [
        body | {"joint": {key: x for key, x in body["joint"].items() if key != "armature"}}
        for body in heavy.bodies
    ]
    without = adapters.build(light, heavy.gravity), *heavy.state[1:]
    same = zip(
        sk.inverse_dynamics_derivatives(*heavy.state),
        sk.inverse_dynamics_derivatives(*without),
        strict=True,
    )
    for one, other in same:
        np.testing.assert_array_equal(one, other)
    changed = zip(
        sk.forward_dynamics_derivatives(*heavy.state),
        sk.forward_dynamics_derivatives(*without),
        strict=True,
    )
    for one, other in changed:
        assert np.abs(one - other).max() > 0.1 * np.abs(other).max()
