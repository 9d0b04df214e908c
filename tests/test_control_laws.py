"""Control laws of one's own: their dynamics, integrals, samples, delays and noise; in scenarios,
lanes and resumed runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.scenario import parse_scenario, read_scenario
from skodyn.scenario.running import plan_of, run_scenario
from skodyn.simulation import session
from skodyn.simulation.control.control_methods import METHODS as ASKED
from skodyn.simulation.engine import Engine
from skodyn.simulation.methods import METHODS
from skodyn.simulation.settings import IntegratorSettings
from test_mimic import gripper

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="laws are compiled")

ROOT = Path(__file__).parent.parent
ARM = sk.load(ROOT / "scenarios/models/seven_joint_arm.toml")
HUMANOID = sk.load(ROOT / "scenarios/models/humanoid.toml")


def simulate(model, law, q=None, v=None, duration=0.05, dt=1e-3, **more):
    start = model.neutral() if q is None else q
    speed = np.zeros(model.nv) if v is None else v
    given = {name: more.pop(name) for name in list(more) if name in FIELDS}
    return sk.simulate(
        model, start, speed, duration=duration, dt=dt, elements=[sk.Controller(law, **given)],
        channels=["tau"], **more,
    )  # fmt: skip


FIELDS = ("params", "integrals", "frames", "scratch", "sample_time", "delay", "q_noise", "v_noise")


# ---- the dynamics that a law can ask for ---------------------------------------------------------


def ask_everything(t, q, v, params, rates, integrals, dynamics, scratch, tau):
    """Every answer, one after the other, as rates of integrals."""
    nv, at = dynamics.nv, 0
    vdot = scratch[:nv]
    for i in range(nv):
        vdot[i] = params.vdot[i]
    dynamics.inverse_dynamics(q, v, vdot, rates[:nv])
    dynamics.bias_force(q, v, rates[nv : 2 * nv])
    dynamics.gravity_force(q, rates[2 * nv : 3 * nv])
    at = 3 * nv
    dynamics.mass_matrix(q, rates[at : at + nv * nv])
    at += nv * nv
    for frame in range(2):
        dynamics.jacobian(frame, q, rates[at : at + 6 * nv])
        dynamics.jacobian_dot_v(frame, q, v, rates[at + 6 * nv : at + 6 * nv + 6])
        at += 6 * nv + 6
        dynamics.frame_pose(frame, q, rates[at : at + 16].reshape(4, 4))
        dynamics.frame_velocity(frame, q, v, rates[at + 16 : at + 22])
        at += 22
    rates[at], rates[at + 1] = dynamics.energy(q, v)


def expected(model, q, v, vdot, frames):
    found = [
        sk.inverse_dynamics(model, q, v, vdot), sk.bias_force(model, q, v),
        sk.gravity_force(model, q), sk.mass_matrix(model, q),
    ]  # fmt: skip
    for name in frames:
        found += [
            sk.jacobian(model, q, name), sk.jacobian_dot_v(model, q, v, name),
            sk.frame_poses(model, q, name), sk.frame_velocities(model, q, v, name),
        ]  # fmt: skip
    return np.concatenate([np.ravel(x) for x in (*found, sk.energy(model, q, v))])


def random_state(model, seed=3):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)


LOOPED = sk.load(ROOT / "scenarios/models/four_bar.toml")
CASES = {
    "arm": (ARM, ("tool", "elbow")),
    "humanoid": (HUMANOID, tuple(HUMANOID.body_names[-2:])),
    "mimic joints": (gripper(), tuple(gripper().body_names[-2:])),
    "every joint": (sk.load(ROOT / "scenarios/models/every_joint.toml"), None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_law_is_told_what_the_functions_of_a_state_tell(case):
    model, frames = CASES[case]
    frames = frames or tuple(model.body_names[-2:])
    q, v, vdot = random_state(model)
    told = expected(model, q, v, vdot, frames)
    law = sk.Controller(
        ask_everything, {"vdot": vdot}, integrals=told.size, frames=frames, scratch=model.nv
    )
    forces = sk.simulation.Forces(elements=(law,))
    engine = Engine(model, q, v, 1e-3, IntegratorSettings("semi_implicit_euler", dt=1e-3), forces)
    assert engine.advance(1).status == 0
    rates = engine.y[model.nv : model.nv + told.size] / 1e-3
    assert rates == pytest.approx(told, rel=1e-12, abs=1e-9)
    asked = set(ask_everything.__code__.co_names) & set(ASKED)
    assert asked == set(ASKED) - {"solve"}


def test_a_law_of_a_model_with_loops_is_told_the_dynamics_of_its_tree():
    q, v, vdot = LOOPED.neutral(), np.zeros(3), np.array([0.1, 0.2, 0.3])

    def law(t, q, v, params, tau, rates, dynamics, scratch):
        for i in range(3):
            scratch[i] = params[i]
        dynamics.inverse_dynamics(q, v, scratch[:3], rates)

    scenario = read_scenario(ROOT / "scenarios/four_bar.toml")
    q, v = scenario.q0, scenario.v0
    forces = sk.simulation.Forces(elements=(sk.Controller(law, vdot, 3, scratch=3),))
    engine = Engine(LOOPED, q, v, 1e-4, IntegratorSettings("semi_implicit_euler", 1e-4), forces)
    q, v = engine.q.copy(), engine.v.copy()
    assert engine.advance(1).status == 0
    rates = engine.y[3:6] / 1e-4
    assert rates == pytest.approx(sk.inverse_dynamics(LOOPED.opened, q, v, vdot), rel=1e-9)


def test_solve_is_that_of_numpy():
    def law(t, q, v, params, tau, dynamics, scratch):
        mass = scratch[:49].reshape(7, 7)
        dynamics.mass_matrix(q, mass)
        for i in range(7):
            tau[i] = params.push[i]
        dynamics.solve(mass, tau)

    push = np.arange(7.0)
    q, v, _ = random_state(ARM)
    run = simulate(ARM, law, q, v, params={"push": push}, scratch=49, duration=1e-3)
    assert run.trajectory["tau"][0] == pytest.approx(
        np.linalg.solve(sk.mass_matrix(ARM, q), push), rel=1e-9
    )


def test_what_does_not_fit_a_method_ends_the_run_with_its_form():
    def law(t, q, v, params, tau, dynamics):
        dynamics.bias_force(q, v, tau[:3])

    with pytest.raises(sk.ControllerError, match=r"dynamics\.bias_force\(q, v, out\).*nv = 7"):
        simulate(ARM, law)

    def frame(t, q, v, params, tau, dynamics, scratch):
        dynamics.jacobian(1, q, scratch)
        tau[0] = scratch[0]

    with pytest.raises(sk.ControllerError, match=r"a number of its `frames`"):
        simulate(ARM, frame, frames=("tool",), scratch=42)


class Gravity:
    """The same law as an object, which numba cannot compile."""

    def __call__(self, t, q, v, params, tau, dynamics, scratch):
        gravity(t, q, v, params, tau, dynamics, scratch)


def gravity(t, q, v, params, tau, dynamics, scratch):
    dynamics.gravity_force(q, tau)
    dynamics.jacobian(0, q, scratch)
    tau[0] += scratch[5]


def test_a_law_that_is_called_through_python_has_the_same_dynamics():
    q, v, _ = random_state(ARM)
    more = {"frames": ("tool",), "scratch": 42}
    with pytest.warns(sk.SlowControllerWarning):
        slow = simulate(ARM, Gravity(), q, v, **more)
    fast = simulate(ARM, gravity, q, v, **more)
    assert np.array_equal(slow.q, fast.q)
    assert np.array_equal(slow.trajectory["tau"], fast.trajectory["tau"])


# ---- params and integrals -----------------------------------------------------------------------


def test_parameters_go_by_name_and_in_any_order():
    def named(tau, params, v):
        for i in range(v.size):
            tau[i] = params.scale * params.gains[i] - v[i]

    run = simulate(ARM, named, params={"scale": 2.0, "gains": np.arange(7.0)}, duration=1e-3)
    assert np.array_equal(run.trajectory["tau"][0], 2.0 * np.arange(7.0))


def pid(t, q, v, params, tau, integrals, rates):
    rates[0] = params.target - q[0]
    tau[0] = params.kp * rates[0] - params.kd * v[0] + params.ki * integrals[0]


@pytest.mark.parametrize("method", METHODS)
def test_an_integral_of_its_own_is_that_of_a_servo(method):
    model = sk.examples.pendulum(2)
    gains = {"kp": 30.0, "kd": 3.0, "ki": 20.0, "target": 0.4}
    ruled = simulate(model, pid, params=gains, integrals=1, duration=1.0, integrator=method)
    built = sk.simulate(
        model, [0.0, 0.0], [0.0, 0.0], duration=1.0, integrator=method,
        elements=[sk.Servo("link1", **gains)],
    )  # fmt: skip
    solved = METHODS[method].solves_contacts  # it solves for servos, not for laws
    assert ruled.q == pytest.approx(built.q, abs=1e-2 if solved else 1e-9)
    rough = solved or "euler" in method
    assert abs(ruled.summary["energy_imbalance"]) < (1e-2 if rough else 1e-5)


def test_two_laws_add_up_and_keep_to_their_own():
    model = sk.examples.pendulum(2)

    def push(t, q, v, params, tau, integrals, rates):
        rates[0] = params[0]
        tau[1] = integrals[0]

    laws = [sk.Controller(push, (x,), integrals=1) for x in (2.0, 3.0)]
    run = sk.simulate(
        model, [0.0, 0.0], [0.0, 0.0], duration=0.1, dt=0.01, elements=laws, channels=["tau"]
    )
    assert run.trajectory["tau"][:, 1] == pytest.approx(5.0 * run.t)


# ---- what is refused ----------------------------------------------------------------------------


def test_a_law_that_writes_nothing_is_refused_with_the_right_form():
    def rebinds(t, q, v, params, tau):
        tau = -0.1 * v  # noqa: F841

    def reads(t, q, v, params, tau):
        if tau[0] > 0.0:
            pass

    with pytest.raises(sk.ControllerError, match=r"'rebinds' writes nothing to 'tau' \(line \d+"):
        simulate(ARM, rebinds)
    with pytest.raises(sk.ControllerError, match=r"write tau\[i\] = … or tau\[:\] = …"):
        simulate(ARM, reads)


def slices(t, q, v, params, tau):
    tau[2:4] = 1.0


def adds(t, q, v, params, tau):
    tau -= 0.5


def hands_on(t, q, v, params, tau):
    slices(t, q, v, params, tau)


def aliases(t, q, v, params, tau):
    out = tau[1:]
    out[0] = 1.0


def fills(t, q, v, params, tau):
    tau.fill(0.25)


@pytest.mark.parametrize("law", [slices, adds, aliases, fills])
def test_every_way_of_writing_is_one(law):
    assert simulate(ARM, law, duration=1e-3).trajectory["tau"].any()


def test_parameters_that_there_are_none_of_are_refused():
    def law(t, q, v, params, tau, memory):
        tau[0] = 1.0

    with pytest.raises(sk.ControllerError, match="'memory' is not one of its parameters"):
        simulate(ARM, law)


LAWS = """
import numpy as np

def damp(t, q, v, params, tau, dynamics):
    dynamics.gravity_force(q, tau)
    for i in range(v.size):
        tau[i] += params.kp * (params.goal[i] - q[i]) - params.kd * v[i]

def pid(t, q, v, params, tau, integrals, rates):
    for i in range(v.size):
        rates[i] = params.goal[i] - q[i]
        tau[i] = params.kp * rates[i] - params.kd * v[i] + integrals[i]

def broken(t, q, v, params, tau):
    seen = {}
    tau[0] = seen["what"].there

def wrong(t, q, v, params, tau):
    return -v
"""

SCENARIO = """
duration = 0.4
seed = 5

[model]
file = "double_pendulum.toml"

[initial]
q = { shoulder = 1.0, elbow = 0.5 }

[controllers.law]
type = "python"
function = "laws.py:damp"

[controllers.law.params]
kp = 3.0
kd = 0.5
goal = [0.2, -0.1]

[integrator]
dt = 0.002

[output]
channels = ["tau"]
"""


@pytest.fixture
def folder(tmp_path):
    model = ROOT / "scenarios/models/double_pendulum.toml"
    (tmp_path / "double_pendulum.toml").write_text(model.read_text())
    (tmp_path / "laws.py").write_text(LAWS)
    return tmp_path


def written(folder, text=SCENARIO, name="scenario.toml"):
    (folder / name).write_text(text)
    return folder / name


def test_a_law_that_cannot_be_compiled_is_refused_with_its_line(folder):
    path = written(folder, SCENARIO.replace("laws.py:damp", "laws.py:broken"))
    with pytest.raises(sk.ControllerError, match=r"'laws.py:broken' cannot be compiled: line \d+"):
        sk.run(path)
    path = written(folder, SCENARIO.replace("laws.py:damp", "laws.py:wrong"))
    with pytest.raises(sk.ControllerError, match=r"'wrong' returns a value of type array"):
        sk.run(path)


def test_the_line_is_that_of_the_file():
    def law(t, q, v, params, tau):
        tau[0] = undefined_name  # noqa: F821

    line = law.__code__.co_firstlineno + 1
    with (
        pytest.warns(sk.SlowControllerWarning, match=rf"line {line} of test_control_laws.py, `tau"),
        pytest.raises(sk.ControllerError),
    ):
        simulate(ARM, law)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("laws.py:damp", "laws.py:dump", "has no function 'dump'"),
        ("laws.py:damp", "lows.py:damp", "there is no file"),
        ('"laws.py:damp"', "3", "give FILE.py:FUNCTION"),
        ("kp = 3.0", 'kp = "three"', "a table of numbers"),
        ("[controllers.law.params]", 'frames = ["toe"]\n[controllers.law.params]', "toe"),
        ("[controllers.law.params]", "delay = 0.1\n[controllers.law.params]", "sample_time too"),
        (
            "[controllers.law.params]",
            "sample_time = 0.003\n[controllers.law.params]",
            "1.5 times dt = 0.002",
        ),
        ("[controllers.law.params]", "integrals = -1\n[controllers.law.params]", "0 to 10000"),
    ],
)
def test_a_scenario_with_a_faulty_law_is_refused_with_its_line(folder, old, new, words):
    path = written(folder, SCENARIO.replace(old, new))
    with pytest.raises(sk.ScenarioError, match=words) as caught:
        read_scenario(path)
    assert "scenario.toml:" in str(caught.value)


# ---- scenarios, resuming, lanes -----------------------------------------------------------------


def test_commands_that_only_look_do_not_run_a_law(folder):
    marker = folder / "ran"
    (folder / "laws.py").write_text(f"open({str(marker)!r}, 'w').close()\n" + LAWS)
    swept = SCENARIO + '\n[sweep.grid]\n"controllers.law.params.kp" = [1.0, 2.0]\n'
    path, study = written(folder), written(folder, swept, "study.toml")
    for command in (["check", path], ["info", path], ["check", study], ["sweep", "plan", study]):
        called = [sys.executable, "-m", "skodyn", *map(str, command)]
        subprocess.run(called, check=False, capture_output=True, cwd=folder)
        assert not marker.exists(), command
    sk.run(path)
    assert marker.exists()


def test_a_run_of_a_scenario_is_that_of_python(folder):
    by_file = sk.run(written(folder))
    space: dict = {}
    exec(compile(LAWS, "laws", "exec"), space)
    params = {"kp": 3.0, "kd": 0.5, "goal": [0.2, -0.1]}
    model = sk.load(folder / "double_pendulum.toml")
    by_hand = sk.simulate(
        model, [1.0, 0.5], [0.0, 0.0], duration=0.4, dt=0.002,
        elements=[sk.Controller(space["damp"], params)], channels=["tau"],
    )  # fmt: skip
    assert np.array_equal(by_file.q, by_hand.q)
    assert np.array_equal(by_file.trajectory["tau"], by_hand.trajectory["tau"])


def interrupt(engine, seconds):
    import signal

    if engine.step >= 60:
        signal.raise_signal(signal.SIGINT)


SAMPLED = SCENARIO.replace("laws.py:damp", "laws.py:pid").replace(
    "[controllers.law.params]",
    "integrals = 2\nsample_time = 0.01\ndelay = 0.014\nq_noise = 1e-3\nv_noise = 1e-2\n"
    "[controllers.law.params]",
)
PID = SCENARIO.replace("laws.py:damp", "laws.py:pid").replace(
    "[controllers.law.params]", "integrals = 2\n[controllers.law.params]"
)


@pytest.mark.parametrize("text", [SCENARIO, PID, SAMPLED], ids=["law", "integrals", "sampled"])
def test_a_resumed_run_has_the_same_bits_and_an_edited_law_is_refused_by_name(folder, text):
    path, log = written(folder, text), folder / "run.h5"
    whole = sk.run(path)
    plan = plan_of(read_scenario(path))
    ended = session.run(plan, log, chunk=7, progress=interrupt)
    assert ended.status == "interrupted"
    (folder / "laws.py").write_text(LAWS.replace("params.kp * ", "1.1 * params.kp * "))
    name = r"controller 'laws.py:\w+' changed"
    with pytest.raises(sk.StateError, match=name):
        sk.resume(log)
    (folder / "laws.py").write_text(LAWS)
    resumed = sk.resume(log)
    assert resumed.status == "finished"
    for name in ("q", "v", "tau"):
        assert np.array_equal(resumed.trajectory[name], whole.trajectory[name]), name


SWEPT = """
[sweep.grid]
"controllers.law.params.kp" = [1.0, 2.0, 3.5]
"controllers.law.params.goal.0" = [0.1, 0.3]
"bodies.upper.mass" = [0.8, 1.3]

[sweep.metrics]
far = { of = "q.elbow", kind = "max" }
"""


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.parametrize("text", [SCENARIO, PID, SAMPLED], ids=["law", "integrals", "sampled"])
def test_runs_of_a_sweep_are_those_of_their_scenarios_bit_by_bit(folder, text, method):
    body = sk.load(folder / "double_pendulum.toml").body_names[0]
    text = text.replace("dt = 0.002", f'method = "{method}"\ndt = 0.002')
    path = written(folder, text + SWEPT.replace("bodies.upper", f"bodies.{body}"))
    result = sk.sweep(path, out=folder / "index.h5", engine="in-process")
    assert result.finished.all()
    assert len(result) == 12
    for run in np.random.default_rng(1).permutation(12)[:4].tolist():
        ended = run_scenario(parse_scenario(result.scenario_text(run), folder), None)
        assert np.array_equal(result.q[run], ended.q[-1])
        assert np.array_equal(result.v[run], ended.v[-1])
    assert len({q.tobytes() for q in result.q}) == 12
