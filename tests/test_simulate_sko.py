"""Runs of a function that gives an SKO model for a state, beside those of compiled loops."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import skodyn as sk
from skodyn.simulation.methods import METHODS as ALL_METHODS

MODEL = sk.examples.pendulum(3)
START = ([1.0, 0.4, -0.3], [0.2, -0.5, 0.7])


def at(q, v):
    return sk.sko_model(MODEL, q, v)


def push(t, q, v):
    return [np.sin(3.0 * t), 0.2, -0.1 * v[2]]


def compiled_push(t, q, v, params, tau):
    tau[0], tau[1], tau[2] = np.sin(3.0 * t), 0.2, -0.1 * v[2]


METHODS = ["rk4", "semi_implicit_euler", "implicit_midpoint", "dormand_prince", "implicit_contact"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pushed", [False, True])
def test_rows_are_those_of_the_compiled_loop(method, pushed):
    span = {"duration": 0.2, "dt": 1e-2, "every": 5, "integrator": method}
    run = sk.simulate_sko(at, *START, **span, tau=push if pushed else None)
    more = {"controller": compiled_push} if pushed else {}
    twin = sk.simulate(MODEL, *START, **span, **more)
    assert run.status == "finished"
    assert run.q.shape == run.v.shape == (5, 3)
    assert np.allclose(run.t, twin.t, rtol=1e-15)
    assert np.allclose(run.q, twin.q, rtol=1e-10, atol=1e-11)
    assert np.allclose(run.v, twin.v, rtol=1e-10, atol=1e-10)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.05
    assert "energy_end" not in run.summary


def test_there_are_no_more_methods_than_tested():
    assert {*METHODS} == {*ALL_METHODS.built_in}


def spring(q, v):
    return sk.SKOModel([-1], A={}, H={0: 1.0}, M={0: 1.0}, a={0: 0.0}, b={0: 400.0 * q})


def test_an_adaptive_method_takes_the_steps_it_needs():
    given = {"duration": 0.5, "dt": 0.25, "integrator": "dormand_prince", "first_step": 0.25}
    run = sk.simulate_sko(spring, [1.0], [0.0], **given, rtol=1e-9, atol=1e-9)
    assert run.summary["steps_rejected"] > 0
    assert run.summary["steps"] > 10  # for two rows
    assert np.allclose(run.q[:, 0], np.cos(20.0 * run.t), atol=1e-6)


def bending(t, q, v):
    return 0.5 * v @ v


@pytest.mark.parametrize("method", [name for name in METHODS if name != "dormand_prince"])
def test_a_log_is_extended_to_the_same_bits(method, tmp_path):
    channels = ["vdot", bending] if method == "rk4" else ["vdot"]
    given = {"dt": 1e-2, "integrator": method, "tau": push, "channels": channels}
    whole = sk.simulate_sko(at, *START, duration=0.2, **given, log=tmp_path / "whole.h5")
    log = tmp_path / "half.h5"
    given["names"] = ("first", "second", "third")
    sk.simulate_sko(at, *START, duration=0.1, **given, log=log)
    sk.simulate_sko(at, *START, duration=0.2, **given, log=log, resume=True)
    rows, twin = sk.open(log), whole.trajectory
    assert rows.status == "finished"
    assert rows.q_names == ("first", "second", "third")
    for name in rows.channels:
        assert np.array_equal(rows[name], twin[name]), name
    if method == "rk4":
        assert np.allclose(rows["bending"], 0.5 * (rows.v**2).sum(axis=1), rtol=1e-14)
    in_memory = sk.simulate_sko(at, *START, duration=0.2, **given)
    assert np.array_equal(in_memory.q, rows.q)


PROGRAM = """
import sys, os, signal, time
import numpy as np, skodyn as sk
MODEL = sk.examples.pendulum(3)
def at(q, v):
    if os.environ.get("SLOW") and q[0] < 0.9:
        print("there", flush=True)
        time.sleep(60)
    return sk.sko_model(MODEL, q, v)
run = sk.simulate_sko(at, [1.0, 0.4, -0.3], [0.2, -0.5, 0.7], duration=0.4, dt=1e-2,
                      integrator="dormand_prince", log=sys.argv[1], resume=True)
print(run.status)
"""


def test_a_killed_run_goes_on_to_the_same_bits(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def started(log, **more):
        command = [sys.executable, str(program), str(tmp_path / log)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **more})

    killed = started("killed.h5", SLOW="1")
    assert killed.stdout.readline() == b"there\n"
    killed.kill()
    killed.communicate()
    assert sk.open(tmp_path / "killed.h5").status == "running"
    for log in ("killed.h5", "whole.h5"):
        assert started(log).communicate()[0] == b"finished\n"
    rows, twin = (sk.open(tmp_path / log) for log in ("killed.h5", "whole.h5"))
    assert len(rows) == 41
    assert np.array_equal(rows.q, twin.q)


def test_another_function_does_not_go_on_with_a_log(tmp_path):
    given = {"dt": 1e-2, "log": tmp_path / "run.h5"}
    sk.simulate_sko(at, *START, duration=0.1, **given)

    def heavier(q, v):
        return sk.sko_model(sk.examples.pendulum(3), q, v)

    with pytest.raises(sk.StateError, match=r"cannot be resumed .* controller"):
        sk.simulate_sko(heavier, *START, duration=0.2, **given, resume=True)
    with pytest.raises(sk.StateError, match=r"cannot be resumed .* controller"):
        sk.simulate_sko(at, *START, duration=0.2, **given, tau=push, resume=True)
    with pytest.raises(sk.LogError, match="exists"):
        sk.simulate_sko(at, *START, duration=0.1, **given)
    with pytest.raises(sk.LogError, match="simulate_sko"):
        sk.resume(tmp_path / "run.h5", until=0.3)


@pytest.mark.parametrize("channel", ["energy", "poses", "tau", "momentum", "frame_poses"])
def test_channels_that_speak_of_bodies_are_refused_by_name(channel):
    with pytest.raises(sk.StateError, match=rf"'{channel}' needs bodies.*f\(t, q, v\)"):
        sk.simulate_sko(at, *START, duration=0.1, dt=1e-2, channels=[channel])


def test_so_are_functions_of_poses():
    def height(t, q, v, positions, rotations):
        return positions[0, 2]

    with pytest.raises(sk.StateError, match="'height' needs bodies"):
        sk.simulate_sko(at, *START, duration=0.1, dt=1e-2, channels=[height])


def test_a_method_that_is_none_is_refused():
    with pytest.raises(sk.StateError, match="'x' is unknown"):
        sk.simulate_sko(at, *START, duration=0.1, dt=1e-2, integrator="x")


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
        ({"names": ["a"]}, "names are .* give 3"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    given = {"model_at": at, "q0": START[0], "v0": START[1], "duration": 0.1, "dt": 0.01}
    if "q0" in change:
        given["model_at"] = lambda q, v: at(np.resize(q, 3), v)
    with pytest.raises(sk.StateError, match=words):
        sk.simulate_sko(**{**given, **change})


def breaks(q, v):
    if q[0] > 1.02:
        raise sk.StateError("too far", "stay near.")
    return at(q, v)


@pytest.mark.parametrize("method", METHODS)
def test_a_failure_keeps_the_rows_before_it(method, tmp_path):
    given = {"duration": 1.0, "dt": 1e-2, "integrator": method}
    start = [1.0, 0, 0], [1.0, 0, 0]
    run = sk.simulate_sko(breaks, *start, **given)
    logged = sk.simulate_sko(breaks, *start, **given, log=tmp_path / "run.h5")
    for one in (run, logged, logged.trajectory):
        assert one.status == "failed"
        assert "too far" in one.message
        assert 1 < len(one.t) < 5


def test_a_force_or_model_of_the_wrong_size_ends_the_run_and_says_so():
    forced = sk.simulate_sko(at, *START, duration=1.0, dt=0.1, tau=lambda t, q, v: [np.inf, 0, 0])
    assert forced.status == "failed"
    short = sk.simulate_sko(at, *START, duration=1.0, dt=0.1, tau=lambda t, q, v: [1.0])
    assert "let it return 3" in short.message

    def shrinks(q, v):
        return at(q, v) if q[0] == 1.0 else sk.sko_model(sk.examples.pendulum(1), q[:1], v[:1])

    assert "1 velocities, the run has 3" in sk.simulate_sko(shrinks, *START, duration=1.0).message


def test_what_a_function_raises_by_mistake_comes_out():
    def wrong(q, v):
        return at(q, v) if q[0] == 1.0 else undefined  # noqa: F821

    with pytest.raises(sk.SkodynError, match="NameError"):
        sk.simulate_sko(wrong, *START, duration=1.0)


def test_simulate_says_where_functions_go():
    with pytest.raises(sk.StateError, match="simulate_sko"):
        sk.simulate(at, *START, duration=1.0)
