"""The Fixman potential, its gradient, and velocities drawn at a temperature."""

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from test_derivatives import along_directions, near


def random_model(seed, n=12):
    rng = np.random.default_rng(seed)
    model = adapters.build(naive.random_bodies(rng, n))
    return model, model.random_state(rng)[0]


@pytest.mark.parametrize("seed", range(6))
def test_gradient_of_the_logarithm_of_the_determinant(seed):
    model, q = random_model(seed)
    assert {joint.type_name for joint in model.joints} == set(naive.KINDS)
    expected = along_directions(lambda at: np.array(sk.mass_matrix_logdet(model, at)), model, q)
    near(sk.mass_matrix_logdet_gradient(model, q), expected)


def test_gradient_of_a_batch_is_that_of_its_states():
    model, _ = random_model(3)
    rng = np.random.default_rng(0)
    q = np.array([model.random_state(rng)[0] for _ in range(11)])
    batch = sk.mass_matrix_logdet_gradient(model, q)
    for row, state in zip(batch, q, strict=True):
        np.testing.assert_array_equal(row, sk.mass_matrix_logdet_gradient(model, state))


def test_gradient_of_a_planar_trimer_in_closed_form():
    """Two equal rods with equal end masses m, lengths l: det 𝓜 = m²l⁴(2 − cos²θ)."""
    model = planar_trimer()
    q = np.array([0.4, 1.1])
    np.testing.assert_allclose(
        sk.mass_matrix_logdet(model, q), np.log(2 - np.cos(1.1) ** 2), rtol=1e-13
    )
    expected = np.sin(2.2) / (2 - np.cos(1.1) ** 2)
    gradient = sk.mass_matrix_logdet_gradient(model, q)
    np.testing.assert_allclose(gradient, [0.0, expected], atol=1e-14)


def planar_trimer():
    """A fixed bead and two that swing about it and about each other, without weight."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for k, parent in enumerate(("world", "bead0")):
        b.add_body(
            f"bead{k}", parent, sk.Revolute(), translation=(float(k), 0, 0), mass=1.0,
            com=(1, 0, 0), inertia=(0, 0, 0),
        )  # fmt: skip
    return b.build()


def test_potential_is_half_of_the_logarithm_times_temperature():
    model, q = random_model(1)
    expected = 0.5 * 2.5 * sk.mass_matrix_logdet(model, q)
    np.testing.assert_allclose(sk.fixman_potential(model, q, 2.5), expected, rtol=1e-15)
    batch = sk.fixman_potential(model, np.tile(q, (11, 1)), kT=2.5)
    np.testing.assert_array_equal(batch, sk.fixman_potential(model, q, 2.5))


@pytest.mark.parametrize("kT", [-1.0, np.nan, np.inf, "hot"])
def test_temperatures_that_are_none_are_refused(kT):
    model, q = random_model(1, 3)
    with pytest.raises(sk.StateError, match="give a finite number from 0"):
        sk.fixman_potential(model, q, kT)
    with pytest.raises(sk.StateError, match="give a finite number from 0"):
        sk.sample_velocity(model, q, kT, np.random.default_rng(0))


def test_a_seed_is_no_generator():
    model, q = random_model(1, 3)
    with pytest.raises(sk.StateError, match="numpy Generator"):
        sk.sample_velocity(model, q, 1.0, 3)


class Ones(np.random.Generator):
    """White noise that is one unit vector after the other."""

    def standard_normal(self, shape):
        assert shape[0] == shape[1]
        return np.eye(shape[0])


@pytest.mark.parametrize("seed", range(4))
def test_the_map_from_noise_to_velocity_is_a_square_root_of_the_inverse_mass_matrix(seed):
    """Exactly, without statistics: the rows below are the columns of the square root."""
    model, q = random_model(seed)
    states = np.tile(q, (model.nv, 1))
    root = sk.sample_velocity(model, states, 0.7, Ones(np.random.PCG64(0)))
    inverse = np.linalg.inv(sk.mass_matrix(model, q))
    near(root.T @ root, 0.7 * inverse, 1e-15 * np.linalg.cond(inverse))


def test_drawn_velocities_have_the_covariance_of_maxwell_and_boltzmann():
    model, q = random_model(2)
    kT, count = 0.3, 40_000
    v = sk.sample_velocity(model, np.tile(q, (count, 1)), kT, np.random.default_rng(4))
    root = np.linalg.cholesky(sk.mass_matrix(model, q) / kT)
    white = v @ root  # covariance 1 if v has covariance kT M⁻¹
    covariance = white.T @ white / count
    # each entry has standard deviation 1/√count, √2 times that on the diagonal; 5σ on 700 entries
    assert np.abs(covariance - np.eye(model.nv)).max() < 5 * np.sqrt(2 / count)
    assert np.abs(white.mean(axis=0)).max() < 5 / np.sqrt(count)


def test_one_state_gives_one_velocity_and_the_same_seed_the_same():
    model, q = random_model(2)
    first, second = (sk.sample_velocity(model, q, 1.0, np.random.default_rng(9)) for _ in range(2))
    assert first.shape == (model.nv,)
    np.testing.assert_array_equal(first, second)
