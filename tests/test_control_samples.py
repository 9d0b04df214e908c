"""Control laws that take samples: when, what is held, delays, and noise that follows a seed."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import plain
from skodyn.simulation.control.noise import philox
from skodyn.simulation.methods import METHODS

MODEL = sk.examples.pendulum(2)


def clock(t, q, v, params, tau):
    """The time of the last sample, as a torque."""
    tau[0] = t


def run(law=clock, method="rk4", duration=0.1, dt=1e-3, seed=0, **given):
    return sk.simulate(
        MODEL, [0.3, -0.2], [0.1, 0.4], duration=duration, dt=dt, integrator=method, seed=seed,
        channels=["tau"], elements=[sk.Controller(law, **given)],
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_torques_are_held_from_sample_to_sample(method):
    ended = run(method=method, sample_time=0.01)
    steps = np.arange(101)
    assert ended.trajectory["tau"][:, 0] == pytest.approx(steps // 10 * 0.01, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delay", [0.004, 0.01, 0.03])
def test_a_delay_is_the_time_from_a_sample_to_its_torques(method, delay):
    if METHODS[method].adaptive and delay < 0.01:
        with pytest.raises(sk.ModelError, match=r"delay of 0.004 s, which is 0.4 times its sampl"):
            run(method=method, sample_time=0.01, delay=delay)
        return
    ended = run(method=method, sample_time=0.01, delay=delay)
    steps = np.arange(101) - round(delay / 1e-3)
    expected = np.maximum(steps // 10, 0) * 0.01
    assert ended.trajectory["tau"][:, 0] == pytest.approx(expected, abs=1e-12)


def count(t, q, v, params, tau, integrals, rates):
    rates[0] = 1.0 / 0.01
    tau[0] = integrals[0]


def test_an_integral_of_a_sampled_law_counts_its_samples():
    held = run(count, sample_time=0.01, integrals=1).trajectory["tau"][:, 0]
    assert held == pytest.approx(np.arange(101) // 10, abs=1e-9)


def test_a_sampled_servo_is_close_to_one_that_acts_all_the_time():
    def servo(t, q, v, params, tau):
        tau[0] = 30.0 * (0.5 - q[0]) - 5.0 * v[0]

    fast = run(servo, duration=1.0, sample_time=1e-3)
    slow = run(servo, duration=1.0, sample_time=0.02)
    whole = run(servo, duration=1.0)
    close, far = (np.abs(one.q - whole.q).max() for one in (fast, slow))
    assert 1e-3 < far < 1e-2
    assert 15.0 < far / close < 25.0  # of first order in the sample time, 1 ms and 20 ms


def see(t, q, v, params, tau):
    tau[0], tau[1] = q[0], v[0]


def test_noise_follows_from_the_seed_and_has_its_deviation():
    given = {"sample_time": 1e-3, "q_noise": 1e-2, "v_noise": 0.3, "duration": 3.0}
    first, again, other = (run(see, seed=seed, **given) for seed in (1, 1, 2))
    assert np.array_equal(first.q, again.q)
    assert not np.array_equal(first.q, other.q)
    noise = first.trajectory["tau"] - np.stack((first.q[:, 0], first.v[:, 0]), axis=1)
    assert noise.mean(axis=0) == pytest.approx([0.0, 0.0], abs=0.02)
    assert noise.std(axis=0) == pytest.approx([1e-2, 0.3], rel=0.05)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.06
    steps = noise[1:, 1] * noise[:-1, 1]
    assert abs(steps.mean()) < 0.06 * 0.3**2 * 3


def test_philox_is_that_of_its_paper():
    """Known answers of the authors' Random123, kat_vectors: philox4x32 of ten rounds."""
    words = plain(philox)
    assert [f"{x:08x}" for x in words(0, 0, 0, 0, 0, 0)] == [
        "6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8",
    ]  # fmt: skip
    full = 0xFFFFFFFF
    assert [f"{x:08x}" for x in words(full, full, full, full, full, full)] == [
        "408f276d", "41c83b0e", "a20bc7c6", "6d5451fd",
    ]  # fmt: skip


def test_samples_between_steps_are_refused():
    for given, words in (
        ({"sample_time": 2.5e-3}, "sample_time of 0.0025 s, which is 2.5 times dt"),
        ({"sample_time": 2e-3, "delay": 5e-4}, "delay of 0.0005 s, which is 0.5 times dt"),
        ({"delay": 1e-3}, "has a delay, but its law is evaluated all the time"),
        ({"q_noise": 1e-3}, "has a q_noise, but its law is evaluated all the time"),
    ):
        with pytest.raises(sk.ModelError, match=words):
            run(**given)
