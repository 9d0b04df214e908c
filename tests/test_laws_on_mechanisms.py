"""Control laws that ask the dynamics in whole runs of models with loops, mimic joints and beams."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario, read_scenario
from skodyn.scenario.running import plan_of, run_scenario
from skodyn.simulation import session

MODELS = (Path(__file__).parent.parent / "scenarios" / "models").as_posix()

LAWS = """
def track(t, q, v, params, tau, dynamics, scratch):
    n = dynamics.nv
    mass = scratch[: n * n].reshape(n, n)
    jacobian = scratch[n * n : n * n + 6 * n].reshape(6, n)
    dynamics.mass_matrix(q, mass)
    dynamics.jacobian(0, q, jacobian)
    dynamics.bias_force(q, v, tau)
    for i in range(n):
        tau[i] *= params.weight
        tau[i] += 1e-3 * jacobian[3, i] - params.kd * mass[i, i] * v[i]
    vdot = scratch[n * n + 6 * n : n * n + 7 * n]
    for i in range(n):
        vdot[i] = -0.1 * v[i]
    dynamics.inverse_dynamics(q, v, vdot, vdot)
    for i in range(n):
        tau[i] += 0.1 * vdot[i]


def damp(t, q, v, params, tau):
    tau[0] = params.weight - params.kd * v[0]
"""

SCENARIO = """
duration = DURATION
[model]
file = "MODELS/MODEL.toml"
START
[controllers.law]
type = "python"
function = "laws.py:FUNCTION"
params = { kd = 0.3, weight = 0.5 }
MORE
[integrator]
method = "METHOD"
dt = DT
[output]
every = 2
channels = ["tau"]
"""
LOOP = (
    "[initial]\nassemble = true\nproject = true\n[initial.q]\ncrank = 1.0\n[initial.v]\ncrank = 6.0"
)
ASKS = 'frames = ["FRAME"]\nscratch = 200'
HAND = """
gravity = [0.0, 0.0, -9.81]
[bodies.palm]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0] }
mass = 1.0
com = [0.1, 0, 0]
inertia = [0.01, 0.02, 0.02]
[bodies.left]
parent = "palm"
joint = { type = "prismatic", axis = [0, 1, 0], name = "finger1" }
translation = [0.2, 0.02, 0]
mass = 0.2
com = [0.03, 0, 0]
inertia = [1e-3, 1e-3, 1e-3]
[bodies.right]
parent = "palm"
joint = { type = "prismatic", axis = [0, -1, 0], name = "finger2", mimic = { joint = "finger1" } }
translation = [0.2, -0.02, 0]
mass = 0.3
com = [0.03, 0, 0.01]
inertia = [1e-3, 1e-3, 1e-3]
"""
CASES = {
    "loop": ("four_bar", LOOP, "track", ASKS.replace("FRAME", "coupler"), "1e-3", "0.2"),
    "sampled loop": (
        "four_bar", LOOP, "track",
        ASKS.replace("FRAME", "coupler") + "\nsample_time = 4e-3\nq_noise = 1e-4", "1e-3", "0.2",
    ),
    "mimics": ("hand", "", "track", ASKS.replace("FRAME", "right"), "1e-3", "0.2"),
    "beams": ("two_link_flexible", "", "damp", "", "1e-4", "0.02"),
}  # fmt: skip

KINDS = [*((case, "rk4") for case in CASES), ("loop", "implicit_midpoint")]


def text_of(case, method="rk4"):
    model, start, law, more, dt, duration = CASES[case]
    text = (
        SCENARIO.replace("MODELS", "." if model == "hand" else MODELS)
        .replace("MODEL", model)
        .replace("START", start)
    )
    text = text.replace("FUNCTION", law).replace("MORE", more).replace("METHOD", method)
    return text.replace("DT", dt).replace("DURATION", duration)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "laws.py").write_text(LAWS)
    (tmp_path / "hand.toml").write_text(HAND)
    return tmp_path


def interrupt(engine, seconds):
    if engine.step >= 60:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(("case", "method"), KINDS)
def test_an_interrupted_run_goes_on_to_the_same_bits(case, method, folder):
    path, log = folder / "run.toml", folder / "run.h5"
    path.write_text(text_of(case, method))
    whole = sk.run(path)
    assert whole.status == "finished"
    assert np.ptp(whole.trajectory["tau"], axis=0).max() > 0.0
    ended = session.run(plan_of(read_scenario(path)), log, chunk=7, progress=interrupt)
    assert ended.status == "interrupted"
    again = sk.resume(log)
    assert again.status == "finished"
    for name in ("q", "v", "tau"):
        assert np.array_equal(again.trajectory[name], whole.trajectory[name]), name


@pytest.mark.parametrize(("case", "method"), KINDS)
def test_runs_side_by_side_have_the_bits_of_runs_alone(case, method, folder):
    values = np.linspace(0.1, 0.8, 5).tolist()
    path = folder / "run.toml"
    path.write_text(text_of(case, method))
    swept = sk.sweep(path, {"controllers.law.params.weight": values}, out=folder / "sweep.h5",
                     engine="in-process")  # fmt: skip
    assert swept.finished.all()
    alone = [
        run_scenario(parse_scenario(text_of(case, method).replace("weight = 0.5", f"weight = {x}"),
                                    folder), None).q[-1] for x in values
    ]  # fmt: skip
    assert (swept.q == alone).all()
    assert len({q.tobytes() for q in swept.q}) == len(values)


def ask(t, q, v, params, tau, dynamics):
    dynamics.gravity_force(q, tau)


def test_beams_tell_no_law_their_dynamics(folder):
    model = sk.load(f"{MODELS}/two_link_flexible.toml")
    said = r"takes dynamics, which models with flexible bodies do not have; take dynamics out"
    with pytest.raises(sk.StateError, match=said):
        sk.simulate(model, model.neutral(), np.zeros(model.nv), duration=1e-3, dt=1e-4,
                    elements=[sk.Controller(ask)])  # fmt: skip
    text = text_of("beams").replace("laws.py:damp", "laws.py:ask")
    (folder / "laws.py").write_text(
        "def ask(t, q, v, params, tau, dynamics):\n    dynamics.gravity_force(q, tau)\n"
    )
    (folder / "run.toml").write_text(text)
    with pytest.raises(sk.StateError, match=said):
        sk.run(folder / "run.toml")
