"""Steppers: observed order on every manifold, the same bits at any chunk, lane or interruption."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import skodyn as sk
from skodyn.kernels.status import OUT_OF_BOUNDS, decode
from skodyn.simulation.elements import Forces, JointProperties, Servo
from skodyn.simulation.engine import Engine
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings

ORDERS = {"semi_implicit_euler": 1, "implicit_midpoint": 2, "rk4": 4}


def flier() -> sk.Model:
    """A free base, a ball joint, a hinge and a slider: every manifold there is."""
    b = sk.ModelBuilder(gravity=(0.3, 0.0, -9.81))
    b.add_body("base", joint=sk.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    b.add_body("arm", "base", sk.Spherical(), translation=(0.3, 0, 0), mass=1.0,
               com=(0, 0.2, -0.4), inertia=(0.1, 0.12, 0.05))  # fmt: skip
    b.add_body("tip", "arm", sk.Revolute((0, 1, 1)), translation=(0, 0, -0.8), mass=0.5,
               com=(0.1, 0, -0.2), inertia=(0.02, 0.02, 0.01))  # fmt: skip
    b.add_body("slide", "base", sk.Prismatic((0, 1, 0)), mass=0.3, inertia=(0.01, 0.01, 0.01))
    return b.build()


FORCES = Forces(
    joints={
        "tip": JointProperties(stiffness=2.0, damping=0.1),
        "arm": JointProperties(damping=0.05),
        "slide": JointProperties(stiffness=30.0, friction=0.1, lower=-0.2, upper=0.2),
    },
    elements=(Servo("tip", kp=3.0, kd=0.1, ki=1.0, target=0.5),),
)


def start(model, seed=1):
    q, v = model.random_state(np.random.default_rng(seed))
    q[model.q_slice("slide")] *= 0.1
    return q, v


def engine(method, dt, duration=1.0, forces=None, every=1, **numbers):
    model = flier()
    q, v = start(model)
    settings = IntegratorSettings(method=method, dt=dt, **numbers)
    return Engine(model, q, v, duration, settings, forces, every=every)


def finish(run, chunk=1000):
    blocks = []
    while not run.finished:
        blocks.append(run.advance(chunk))
        assert blocks[-1].status == 0
    return blocks


def distance(a, b):
    apart = np.concatenate((a.model.difference(a.q, b.q), a.v - b.v))
    return float(np.linalg.norm(apart))


@pytest.fixture(scope="module")
def exact():
    run = engine("dormand_prince", 1.0, rtol=1e-13, atol=1e-13)
    finish(run)
    return run


@pytest.mark.parametrize("method", ORDERS)
def test_the_observed_order_is_the_order_of_the_method(method, exact):
    errors = []
    for dt in (0.02, 0.01, 0.005):
        run = engine(method, dt)
        finish(run)
        errors.append(distance(exact, run))
    observed = np.log2(np.array(errors[:-1]) / errors[1:])
    assert observed == pytest.approx(ORDERS[method], abs=0.1)


def test_the_error_of_dormand_prince_follows_its_tolerance(exact):
    errors = []
    for tolerance in (1e-6, 1e-8, 1e-10):
        run = engine("dormand_prince", 1.0, rtol=tolerance, atol=tolerance)
        finish(run)
        errors.append(distance(exact, run))
        assert errors[-1] < 100 * tolerance
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_dense_output_is_of_fourth_order_and_does_not_change_the_steps():
    coarse = engine("dormand_prince", 1.0, rtol=1e-8, atol=1e-8)
    dense = engine("dormand_prince", 0.01, rtol=1e-8, atol=1e-8)
    finish(coarse)
    rows = finish(dense)
    assert (dense.q == coarse.q).all()
    assert (dense.y == coarse.y).all()
    t = np.concatenate([b.t for b in rows])
    assert t == pytest.approx(0.01 * np.arange(1, 101), abs=1e-14)
    fine = engine("dormand_prince", 0.01, rtol=1e-13, atol=1e-13)
    true = finish(fine)
    apart = np.concatenate([b.y for b in rows]) - np.concatenate([b.y for b in true])
    assert np.abs(apart[:, :-1]).max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_quaternions_stay_unit_without_renormalisation(method):
    run = engine(method, 1e-3)
    finish(run)
    q = run.model.check_q(run.q)
    for joint in ("base", "arm"):
        norm = np.linalg.norm(q[run.model.q_slice(joint)][:4])
        assert norm == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_chunks_do_not_change_a_bit(method):
    runs = [engine(method, 5e-3, 0.5, FORCES) for _ in range(3)]
    rows = [finish(run, chunk) for run, chunk in zip(runs, (1, 7, 1000), strict=True)]
    tables = [np.concatenate([np.hstack((b.q, b.y)) for b in block]) for block in rows]
    assert (tables[0] == tables[1]).all()
    assert (tables[0] == tables[2]).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_goes_on_from_its_memory_with_the_same_bits(method):
    whole = engine(method, 5e-3, 0.5, FORCES)
    finish(whole)
    rng = np.random.default_rng(5)
    for stop in rng.integers(1, 90, size=10):
        first = engine(method, 5e-3, 0.5, FORCES)
        first.advance(int(stop))
        second = engine(method, 5e-3, 0.5, FORCES)
        second.restore(first.memory_of_run())
        finish(second)
        assert (second.q == whole.q).all()
        assert (second.y == whole.y).all()


def test_a_step_that_cannot_converge_is_reported_and_not_taken():
    run = engine("implicit_midpoint", 0.5, forces=FORCES)
    before = run.q.copy(), run.y.copy()
    assert run.advance(1).status != 0
    assert (run.q == before[0]).all()
    assert (run.y == before[1]).all()


def test_a_step_that_rounding_keeps_from_its_tolerance_is_taken():
    """Where velocities all but vanish, a relative tolerance asks for more digits than there are."""
    runs = [engine("implicit_midpoint", 5e-3, 0.5, FORCES, tolerance=t) for t in (1e-14, 1e-18)]
    for run in runs:
        finish(run)
    assert distance(*runs) < 1e-11
    model = sk.load("scenarios/models/double_pendulum.toml")
    settings = IntegratorSettings("implicit_midpoint", dt=1e-3, tolerance=1e-18)
    still = Engine(model, np.array([1.0, 0.3]), np.zeros(2), 2.0, settings, every=100)
    finish(still)


def test_a_velocity_beyond_its_bound_stops_the_run_at_that_step():
    run = engine("rk4", 1e-2, 10.0, max_speed=8.0)
    block = run.advance(1000)
    assert decode(block.status)[0] == OUT_OF_BOUNDS
    assert np.abs(run.v).max() <= 8.0
    assert 0 < run.step < 1000


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"method": "rk5"}, ["'rk5'", "rk4"]),
        ({"dt": 0.0}, ["dt", "0.0", "above 0"]),
        ({"dt": float("nan")}, ["dt", "nan"]),
        ({"rtol": -1.0, "atol": 0.0}, ["2 faults", "rtol", "atol"]),
        ({"max_speed": 0.0}, ["max_speed"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_value(numbers, words):
    with pytest.raises(sk.StateError) as error:
        IntegratorSettings(**numbers)
    assert all(word in str(error.value) for word in words)


def test_settings_are_those_of_the_methods_and_cannot_be_set():
    settings = IntegratorSettings("dormand_prince", dt=0.1, rtol=1e-6)
    assert (settings.rtol, settings.atol, settings.tolerance) == (1e-6, 1e-9, 1e-14)
    assert settings == settings.changed(rtol=1e-6) != settings.changed(rtol=1e-7)
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert len({settings, settings.changed(dt=0.1), settings.changed(method="rk4")}) == 2
    with pytest.raises(AttributeError, match="rtol cannot be set"):
        settings.rtol = 1.0
    with pytest.raises(AttributeError, match="has no 'heat'"):
        _ = settings.heat
    with pytest.raises(sk.StateError, match="heat is not a setting of an integrator; give rtol,"):
        IntegratorSettings(heat=1.0)
