"""is_zero and is_identity: false equations are refused however long, true ones hold however bad."""

import numpy as np
import pytest

import skodyn as sk
from skodyn.algebra.comparison import condition_number
from skodyn.algebra.identities import Equation, check_identities


def scenario(name):
    model = sk.load(f"scenarios/models/{name}.toml")
    return sk.operators(model, *model.random_state(np.random.default_rng(0)))


def chain(n, ratio):
    """Of bodies whose masses fall by a ratio, stretched out."""
    b = sk.ModelBuilder()
    for k in range(n):
        mass = ratio**k
        b.add_body(
            f"b{k}", f"b{k - 1}" if k else "world", sk.Revolute(axis=(k % 2, 1 - k % 2, 0)),
            translation=(0, 0, 0.3), mass=mass, com=(0, 0, 0.15), inertia=(0.01 * mass,) * 3,
        )  # fmt: skip
    model = b.build()
    return sk.operators(model, model.neutral())


def typed(g):
    """(𝓜, 𝓜⁻¹), with K typed out as in Listing 7."""
    D = g.H @ g.P @ g.H.T
    K = g.E_phi @ g.P @ g.H.T @ D.inverse()
    factor = g.Id - g.H @ g.psi @ K
    return g.H @ g.phi @ g.M @ g.phi.T @ g.H.T, factor.T @ D.inverse() @ factor


@pytest.mark.parametrize("name", ["humanoid", "chain_1000", "polymer_200", "double_pendulum"])
def test_long_products_are_told_from_their_multiples(name):
    mass, inverse = typed(scenario(name))
    longer = mass
    for _ in range(3):
        longer = longer @ inverse @ mass
        assert (longer - mass).is_zero()
        assert not (longer - 2 * mass).is_zero()
        assert not (longer + mass).is_zero()
        assert not (longer - (1 + 1e-3) * mass).is_zero()
        assert (longer @ inverse).is_identity()
        assert not (longer @ inverse / 2).is_identity()


@pytest.mark.parametrize("name", ["humanoid", "chain_1000", "polymer_200"])
def test_twice_the_identity_is_not_the_mass_matrix_times_its_inverse(name):
    wrong = Equation(
        "twice",
        lambda o: o.mass @ o.factor_inverse.T @ o.Dinv @ o.factor_inverse,
        lambda o: 2 * o.Id,
    )
    (result,) = check_identities(scenario(name), equations=[wrong])
    assert result.failed
    assert result.residual > 0.1


@pytest.mark.parametrize(("n", "ratio"), [(2, 1e-9), (50, 0.5), (100, 0.8), (300, 0.95)])
def test_badly_conditioned_equations_hold_and_false_ones_do_not(n, ratio):
    ops = chain(n, ratio)
    assert condition_number(ops) > 1e7
    mass, inverse = typed(ops)
    assert (mass @ inverse).is_identity()
    assert not (mass @ inverse - 2 * ops.Id).is_zero()
    assert not (mass @ inverse @ mass + mass).is_zero()
    assert not [result for result in check_identities(ops) if result.failed]


def test_a_small_part_is_not_lost_beside_a_large_one():
    """M beside P of a thousand bodies, far from the tips; and one wrong row among many."""
    ops = scenario("chain_1000")
    right = ops.P - ops.E_psi @ ops.P @ ops.E_psi.T
    assert (right - ops.M).is_zero()
    assert not (right - (1 + 1e-4) * ops.M).is_zero()
    assert not right.is_zero()


def test_nothing_is_zero_that_differs_by_more_than_roundings():
    ops = scenario("humanoid")
    for off in (1e-6, 1e-9, 1e-12):
        assert not (ops.phi @ ops.M - (1 + off) * ops.phi @ ops.M).is_zero()
        assert (ops.phi @ ops.M - (1 + off) * ops.phi @ ops.M).is_zero(rtol=10 * off)
    assert (ops.phi @ ops.M - (1 + 1e-16) * ops.phi @ ops.M).is_zero()


def test_an_operator_of_which_only_rounding_is_left_is_zero():
    model = sk.load("scenarios/models/humanoid.toml")
    ops = sk.operators(model, *model.random_state(np.random.default_rng(0)), bodies=["pelvis"])
    assert ops.tau_bar.is_zero()  # a free joint
    assert (ops.H @ ops.tau_bar).is_zero()
    assert (ops.H @ ops.tau_bar - 2 * ops.H @ ops.tau_bar).is_zero()
    assert not ops.tau.is_zero()


def test_id_alone_is_compared_too():
    Id = scenario("double_pendulum").Id
    assert (Id - Id).is_zero()
    assert (2 * Id - Id).is_identity()
    assert not (2 * Id).is_zero()
    assert not (2 * Id).is_identity()


def test_a_verdict_is_the_same_each_time():
    first, again = (check_identities(scenario("humanoid"), seed=3) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("rtol", [-1.0, np.nan, "small", None, True])
def test_a_bound_that_is_none_is_refused(rtol):
    ops = scenario("double_pendulum")
    for question in (ops.M.is_zero, ops.M.is_identity):
        with pytest.raises(sk.StateError, match=r"rtol is .*; give a number, zero or more"):
            question(rtol=rtol)


# ---- inverses of what is zero but for rounding --------------------------------------------------

NO_INVERSE = {
    "free joints": lambda g: g.H @ g.tau_bar @ g.H.T,
    "a difference": lambda g: g.H @ g.P @ g.H.T - g.D @ (g.H @ g.G),
    "multiples": lambda g: 1e9 * (g.H @ g.tau_bar @ g.H.T),
    "another product": lambda g: g.H @ g.tau_bar @ g.G,
    "a Lyapunov solution": lambda g: g.E_phi.lyapunov_recursion(g.M.inverse() @ g.M - g.Id),
    "an inverse undone": lambda g: g.M.inverse() @ g.M - g.Id,
}


@pytest.mark.parametrize("name", NO_INVERSE)
def test_what_is_zero_but_for_rounding_has_no_inverse(name):
    operator = NO_INVERSE[name](scenario("humanoid"))
    with pytest.raises(sk.DynamicsError, match=r"at '\w+' is singular .*has no inverse"):
        operator.inverse() @ np.ones(operator.shape[1])


def test_small_blocks_that_are_no_rounding_have_their_inverse():
    g = scenario("humanoid")
    x = np.ones(g.joint_space.size)
    small = g.H @ g.P @ g.H.T - (1 - 1e-9) * g.D
    np.testing.assert_allclose(small.inverse() @ x, 1e9 * (g.D.inverse() @ x), rtol=1e-4)
    np.testing.assert_allclose((1e-30 * g.D).inverse() @ x, 1e30 * (g.D.inverse() @ x), rtol=1e-12)
