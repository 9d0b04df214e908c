"""Rigid bonds bias the angles of a polymer at constant temperature; the Fixman force unbiases them.

Minutes long: `pytest -m slow tests/test_fixman_physics.py`. What is measured is the mean of cos²θ
between bonds that follow each other. In free space every direction of a bond is equally likely once
the bias is gone, so that cos θ is uniform and the mean is 1/3.
"""

from pathlib import Path

import numpy as np
import pytest

import skodyn as sk

MODELS = Path(__file__).parents[1] / "scenarios" / "models"


def cosines(model, q):
    """cos θ between bonds that follow each other, (rows, angles); bonds lie along x."""
    rotations, _ = sk.forward_kinematics(model, q)
    bonds = rotations[:, 1:, :, 0]
    return np.sum(bonds[:, 1:] * bonds[:, :-1], axis=-1)


def expected_with_bias(model, count=200_000):
    """(mean of cos²θ, its error) with uniform directions weighed by √det 𝓜."""
    rng = np.random.default_rng(7)
    q = np.tile(model.neutral(), (count, 1))
    quaternions = rng.normal(size=(count, model.n_bodies - 1, 4))
    quaternions /= np.linalg.norm(quaternions, axis=-1, keepdims=True)
    q[:, 3:] = quaternions.reshape(count, -1)
    logarithm = 0.5 * np.asarray(sk.mass_matrix_logdet(model, q))
    weight = np.exp(logarithm - logarithm.max())
    squares = np.mean(cosines(model, q) ** 2, axis=1)
    mean = np.average(squares, weights=weight)
    error = np.sqrt(np.sum((weight * (squares - mean)) ** 2)) / weight.sum()
    return mean, error


def measured(model, with_force, duration, dt):
    """(mean of cos²θ, its error) of a run, the error from the means of 40 blocks."""
    run = sk.simulate(
        model, model.integrate(model.neutral(), 0.5 * np.arange(model.nv)), np.zeros(model.nv),
        duration=duration, dt=dt, every=round(0.5 / dt),
        elements=[sk.FixmanForce(1.0)] if with_force else [],
        thermostat=sk.AndersenThermostat(kT=1.0, rate=2.0, seed=3),
    )  # fmt: skip
    assert run.status == "finished"
    squares = np.mean(cosines(model, run.q[40:]) ** 2, axis=1)
    blocks = np.array([block.mean() for block in np.array_split(squares, 40)])
    return blocks.mean(), blocks.std(ddof=1) / np.sqrt(len(blocks))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "duration", "dt"), [("trimer", 20_000.0, 0.02), ("ten_beads", 10_000.0, 0.02)]
)
def test_the_fixman_force_takes_the_bias_of_rigid_bonds_away(name, duration, dt):
    model = sk.load(MODELS / f"{name}.toml")
    biased, biased_error = expected_with_bias(model)
    without, without_error = measured(model, False, duration, dt)
    with_force, force_error = measured(model, True, duration, dt)
    print(
        f"{name}: biased {biased:.5f} ± {biased_error:.5f}, without {without:.5f} ± "
        f"{without_error:.5f}, with {with_force:.5f} ± {force_error:.5f}"
    )
    assert abs(without - biased) < 4 * np.hypot(without_error, biased_error)
    assert abs(with_force - 1 / 3) < 4 * force_error
    # and the two can be told apart
    assert 1 / 3 - without > 5 * without_error
    assert with_force - biased > 5 * np.hypot(force_error, biased_error)
