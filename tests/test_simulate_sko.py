"""Runs of a function that gives an SKO model for a state, beside those of compiled loops."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk

MODEL = sk.examples.pendulum(3)
START = ([1.0, 0.4, -0.3], [0.2, -0.5, 0.7])


def at(q, v):
    return sk.sko_model(MODEL, q, v)


def push(t, q, v):
    return [np.sin(3.0 * t), 0.2, -0.1 * v[2]]


def compiled_push(t, q, v, params, tau):
    tau[0], tau[1], tau[2] = np.sin(3.0 * t), 0.2, -0.1 * v[2]


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("pushed", [False, True])
def test_rows_are_those_of_the_compiled_loop(method, pushed):
    span = {"duration": 0.2, "dt": 1e-2, "every": 5, "integrator": method}
    run = sk.simulate_sko(at, *START, **span, tau=push if pushed else None)
    more = {"controller": compiled_push} if pushed else {}
    twin = sk.simulate(MODEL, *START, **span, **more)
    assert run.status == "finished"
    assert run.q.shape == run.v.shape == (5, 3)
    assert np.allclose(run.t, twin.t, rtol=1e-15)
    assert np.allclose(run.q, twin.q, rtol=1e-12, atol=1e-12)
    assert np.allclose(run.v, twin.v, rtol=1e-12, atol=1e-11)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.05


@pytest.mark.parametrize("method", ["dormand_prince", "implicit_midpoint", "implicit_contact", "x"])
def test_methods_that_need_more_than_accelerations_are_refused_by_name(method):
    with pytest.raises(sk.StateError, match=rf"'{method}' does not take.*rk4"):
        sk.simulate_sko(at, *START, duration=0.1, dt=1e-2, integrator=method)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_at": MODEL}, "function of"),
        ({"model_at": lambda q, v: 3.0}, "let it return an sk.SKOModel"),
        ({"q0": [1.0]}, "q0 has 1 numbers, the SKO model 3"),
        ({"v0": [1.0, np.nan, 2.0]}, "v0 is"),
        ({"dt": 0.03}, "duration is 0.1"),
        ({"dt": -1.0}, "dt is -1.0"),
        ({"every": 50}, "the run has only 10 steps"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    given = {"model_at": at, "q0": START[0], "v0": START[1], "duration": 0.1, "dt": 0.01}
    if "q0" in change:
        given["model_at"] = lambda q, v: at(np.resize(q, 3), v)
    with pytest.raises(sk.StateError, match=words):
        sk.simulate_sko(**{**given, **change})


def test_a_failure_keeps_the_rows_before_it():
    def breaks(q, v):
        if q[0] > 1.02:
            raise sk.StateError("too far", "stay near.")
        return at(q, v)

    run = sk.simulate_sko(breaks, [1.0, 0, 0], [1.0, 0, 0], duration=1.0, dt=1e-2)
    assert run.status == "failed"
    assert "too far" in run.message
    assert 1 < len(run.t) < 5
    forced = sk.simulate_sko(at, *START, duration=1.0, dt=0.1, tau=lambda t, q, v: [np.inf, 0, 0])
    assert forced.status == "failed"


def test_simulate_says_where_functions_go():
    with pytest.raises(sk.StateError, match="simulate_sko"):
        sk.simulate(at, *START, duration=1.0)
