"""Joints whose motion is prescribed, in simulations: the motion itself, forces, energy, lanes."""

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicSpline

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.scenario import parse_scenario
from skodyn.simulation import session
from skodyn.simulation.element_kinds.motions import spline
from skodyn.simulation.elements import Forces
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings

METHODS = ("rk4", "semi_implicit_euler", "implicit_midpoint", "implicit_contact", "dormand_prince")
NAN = float("nan")


def arm():
    """A slider, three links of several kinds and a ball joint."""
    b = sk.ModelBuilder(gravity=(0.3, -0.4, -9.81), name="driven arm")
    inertia = (0.02, 0.03, 0.04)
    b.add_body("cart", "world", sk.Prismatic(axis=(1, 0, 0)), mass=2.0, inertia=inertia)
    b.add_body(
        "upper", "cart", sk.Revolute(axis=(0, 1, 0), armature=0.05), mass=1.0, com=(0, 0, -0.3),
        inertia=inertia,
    )  # fmt: skip
    b.add_body(
        "screw", "upper", sk.Helical(axis=(0, 0, 1), pitch=0.1), translation=(0, 0, -0.6), mass=0.7,
        com=(0.1, 0, -0.1), inertia=inertia,
    )  # fmt: skip
    b.add_body(
        "lower", "screw", sk.Revolute(axis=(0, 1, 0)), translation=(0, 0, -0.2), mass=0.8,
        com=(0.05, 0.02, -0.25), inertia=inertia,
    )  # fmt: skip
    b.add_body(
        "ball", "lower", sk.Spherical(), translation=(0, 0, -0.5), mass=0.5, com=(0, 0, -0.1),
        inertia=inertia,
    )  # fmt: skip
    return b.build()


def three(t, params, out):
    """A swing that grows: position, velocity, acceleration."""
    a, w = params[0], params[1]
    out[0] = a * t * t * np.sin(w * t)
    out[1] = a * (2 * t * np.sin(w * t) + t * t * w * np.cos(w * t))
    out[2] = a * (2 * np.sin(w * t) + 4 * t * w * np.cos(w * t) - t * t * w * w * np.sin(w * t))


TIMES, PLACES = (0.1, 0.25, 0.4, 0.7), (0.2, 0.5, 0.1, 0.3)
MOTIONS = (
    sk.SineMotion("cart", 0.3, 1.5, phase=0.4, offset=0.1),
    sk.SteadyMotion("upper", 3.0, start=-0.5),
    sk.MotionTable("screw", TIMES, PLACES),
    sk.MotionFunction("lower", three, (2.0, 5.0)),
)


def exact(motion, t):
    """(position, velocity, acceleration) by formulas and by scipy's splines."""
    if isinstance(motion, sk.SineMotion):
        w = 2 * np.pi * motion.frequency
        s, c = np.sin(w * t + motion.phase), np.cos(w * t + motion.phase)
        return np.array(
            [motion.offset + motion.amplitude * s, motion.amplitude * w * c,
             -motion.amplitude * w * w * s]
        )  # fmt: skip
    if isinstance(motion, sk.SteadyMotion):
        return np.array([motion.start + motion.speed * t, motion.speed + 0 * t, 0 * t])
    if isinstance(motion, sk.MotionFunction):
        out = np.empty((3, np.size(t)))
        for i, x in enumerate(np.atleast_1d(t)):
            three(x, motion.parameters, out[:, i])
        return out if np.ndim(t) else out[:, 0]
    curve, inside = theirs(motion), (t >= motion.times[0]) & (t <= motion.times[-1])
    at = np.clip(t, motion.times[0], motion.times[-1])
    return np.array([curve(at), inside * curve(at, 1), inside * curve(at, 2)])


def theirs(motion):
    """Degree five, with the derivatives of the cubic spline inside and none at both ends."""
    cubic = CubicSpline(motion.times, motion.positions, bc_type="clamped")
    known = np.array([cubic(motion.times), cubic(motion.times, 1), cubic(motion.times, 2)]).T
    known[[0, -1], 1:] = 0.0
    return BPoly.from_derivatives(motion.times, known)


def start(model, motions):
    q, v = model.random_state(np.random.default_rng(5))
    v *= 0.3
    for motion in motions:
        q[model.q_slice(motion.joint)] = NAN
        v[model.v_slice(motion.joint)] = NAN
    return q, v


def simulated(motions=MOTIONS, duration=0.8, dt=1e-3, method="rk4", **more):
    model = arm()
    given = {"every": 4, "channels": ["tau", "vdot", "drive", "energy"]} | more
    return sk.simulate(
        model, *start(model, motions), duration=duration, dt=dt, integrator=method, motions=motions,
        **given,
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_driven_joints_are_where_their_motion_says_with_every_method(method):
    run = simulated(method=method, duration=0.4)
    assert run.status == "finished"
    model = arm()
    for motion in MOTIONS:
        at, slope = model.q_slice(motion.joint), model.v_slice(motion.joint)
        x, rate, acceleration = exact(motion, run.t)
        assert np.abs(run.q[:, at][:, 0] - x).max() < 1e-14
        assert np.abs(run.v[:, slope][:, 0] - rate).max() < 1e-13
        found = run.trajectory["vdot"][:, slope][:, 0]
        assert np.abs(found - acceleration).max() < 1e-11 * max(1.0, np.abs(acceleration).max())


@pytest.mark.parametrize("method", METHODS)
def test_forces_are_those_of_inverse_dynamics_and_work_is_accounted_for(method):
    springs = {"upper": sk.JointProperties(stiffness=5.0, damping=0.3)}
    servo = sk.Sinusoid("lower", 0.4, 2.0)
    run = simulated(method=method, joints=springs, elements=[servo], duration=0.4)
    model, rows = arm(), run.trajectory
    found = sk.inverse_dynamics(model, run.q, run.v, np.ascontiguousarray(rows["vdot"]))
    assert np.abs(found - rows["tau"]).max() < 1e-11 * np.abs(found).max()
    driven = np.concatenate([np.arange(model.nv)[model.v_slice(m.joint)] for m in MOTIONS])
    others = np.delete(np.arange(model.nv), driven)
    assert (rows["drive"][:, others] == 0.0).all()
    assert np.abs(rows["tau"][:, others]).max() < 1e-10
    upper = model.v_slice("upper")
    passive = -5.0 * run.q[:, model.q_slice("upper")] - 0.3 * run.v[:, upper]
    assert np.abs(rows["tau"][:, upper] - rows["drive"][:, upper] - passive).max() < 1e-12
    # implicit Euler takes 3.3, 1.7 and 0.84 % at 2, 1 and 0.5 ms
    bound = {"semi_implicit_euler": 1e-2, "implicit_contact": 2e-2, "implicit_midpoint": 1e-4}
    assert abs(run.summary["energy_imbalance"]) < bound.get(method, 1e-6)
    assert abs(run.summary["work_of_forces"]) > 1.0


def enforced(model, motions, q, v, dt, steps):
    """The same motion enforced by inverse dynamics: 𝒯 of driven joints is what moves them so.

    Dense matrices, and the classical method on the coordinates of the others.
    """
    nv = model.nv
    driven = {int(model.v_slice(m.joint).start): m for m in motions}
    p, f = np.array(list(driven)), np.array([i for i in range(nv) if i not in driven])

    def placed(t, q, v):
        q, v, a = q.copy(), v.copy(), np.zeros(nv)
        for i, motion in driven.items():
            q[model.q_slice(motion.joint)], v[i], a[i] = exact(motion, t)
        return q, v, a

    def rate(t, q, v):
        q, v, a = placed(t, q, v)
        mass, bias = sk.mass_matrix(model, q), sk.bias_force(model, q, v)
        a[f] = np.linalg.solve(mass[np.ix_(f, f)], -bias[f] - mass[np.ix_(f, p)] @ a[p])
        tau = sk.inverse_dynamics(model, q, v, a)
        return v, sk.forward_dynamics(model, q, v, tau)

    for step in range(steps):
        t = step * dt
        q, v, _ = placed(t, q, v)
        v1, a1 = rate(t, q, v)
        v2, a2 = rate(t + dt / 2, q + dt / 2 * v1, v + dt / 2 * a1)
        v3, a3 = rate(t + dt / 2, q + dt / 2 * v2, v + dt / 2 * a2)
        v4, a4 = rate(t + dt, q + dt * v3, v + dt * a3)
        q, v = q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return placed(steps * dt, q, v)[:2]


def test_a_run_is_the_same_motion_enforced_by_inverse_dynamics():
    model = sk.load("scenarios/models/double_pendulum.toml")
    motion = sk.SineMotion("shoulder", 0.6, 1.3, phase=0.2)
    q, v = np.array([NAN, 0.4]), np.array([NAN, -0.3])
    run = sk.simulate(model, q, v, duration=1.0, dt=1e-3, motions=[motion])
    expected = enforced(model, [motion], np.nan_to_num(q), np.nan_to_num(v), 1e-3, 1000)
    assert np.abs(run.q[-1] - expected[0]).max() < 1e-11
    assert np.abs(run.v[-1] - expected[1]).max() < 1e-10


def test_the_order_of_a_method_is_kept():
    smooth = (MOTIONS[0], MOTIONS[1], MOTIONS[3])
    fine = simulated(smooth, 0.4, 1e-4, every=4000).q[-1]
    for method, order in (("rk4", 4), ("implicit_midpoint", 2), ("semi_implicit_euler", 1)):
        errors = [
            np.abs(simulated(smooth, 0.4, dt, method, every=round(0.4 / dt)).q[-1] - fine).max()
            for dt in (8e-3, 4e-3, 2e-3)
        ]
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        assert np.abs(orders - order).max() < 0.4, (method, errors)


@pytest.mark.skipif(JIT_DISABLED, reason="slow in plain Python")
def test_a_function_that_numba_cannot_compile_is_called_through_python():
    calls = []

    def odd(t, params, out):
        calls.append(t)
        out[:] = 0.1 * t, 0.1, {"a": 0.0}["a"]

    with pytest.warns(UserWarning, match="'odd' is called through Python"):
        run = simulated((sk.MotionFunction("cart", odd),), 0.02)
    assert run.status == "finished"
    assert len(calls) > 20
    assert np.abs(run.q[:, 0] - 0.1 * run.t).max() < 1e-15


def test_interrupted_runs_go_on_to_the_same_bits(tmp_path):
    model = arm()
    q, v = start(model, MOTIONS)
    for method in ("rk4", "dormand_prince"):
        plan = Plan(
            model, q, v, 0.2, IntegratorSettings(method=method, dt=1e-3),
            Forces(motions=MOTIONS), 2, ("drive",),
        )  # fmt: skip
        whole = session.run(plan, tmp_path / f"{method}.h5")
        stops = iter([False, True])

        def stop(engine, seconds, stops=stops):
            if next(stops, False):
                raise KeyboardInterrupt

        path = tmp_path / f"{method}_cut.h5"
        with pytest.raises(KeyboardInterrupt):
            session.run(plan, path, progress=stop, chunk=40)
        again = session.resume(plan, path)
        for name in ("q", "v", "drive"):
            assert (np.asarray(again.trajectory[name]) == np.asarray(whole.trajectory[name])).all()
        other = Plan(
            model, q, v, 0.2, IntegratorSettings(method=method, dt=1e-3),
            Forces(motions=(sk.SteadyMotion("upper", 3.1, start=-0.5),)), 2, ("drive",),
        )  # fmt: skip
        assert other.identity()["forces"] != plan.identity()["forces"]


# ---- scenarios and sweeps -----------------------------------------------------------------------

SCENARIO = """
duration = 0.3
[model]
file = "models/double_pendulum.toml"
[initial]
q = { elbow = 0.3 }
[motions.swing]
type = "sine"
joint = "shoulder"
amplitude = 0.5
frequency = 2.0
[output]
channels = ["drive"]
"""


def read(text):
    return parse_scenario(text, "scenarios")


def test_a_scenario_has_motions():
    from skodyn.scenario.running import run_scenario

    scenario = read(SCENARIO)
    assert scenario.forces.motions == (sk.SineMotion("shoulder", 0.5, 2.0),)
    assert np.allclose(scenario.q0, [0.0, 0.3])
    assert np.allclose(scenario.v0, [2.0 * np.pi, 0.0])
    run = run_scenario(scenario, None)
    assert np.abs(run.q[:, 0] - 0.5 * np.sin(4 * np.pi * run.t)).max() < 1e-14
    steady = SCENARIO.replace('type = "sine"', 'type = "steady"\nspeed = 2.0').replace(
        "amplitude = 0.5\nfrequency = 2.0\n", ""
    )
    assert read(steady).forces.motions == (sk.SteadyMotion("shoulder", 2.0),)
    table = SCENARIO.replace(
        'type = "sine"', 'type = "table"\ntimes = [0, 0.1, 0.2]\npositions = [0, 1, 0]'
    ).replace("amplitude = 0.5\nfrequency = 2.0\n", "")
    assert read(table).forces.motions == (
        sk.MotionTable("shoulder", (0.0, 0.1, 0.2), (0.0, 1.0, 0.0)),
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("q = { elbow = 0.3 }", "q = { shoulder = 0.3 }"), "initial.q names joint 'shoulder'"),
        (("q = { elbow", "v = { shoulder = 1.0 }\nq = { elbow"), "initial.v names joint"),
        (('joint = "shoulder"', 'joint = "sholder"'), "did you mean 'shoulder'"),
        (("amplitude = 0.5", "amplitud = 0.5"), "did you mean 'amplitude'"),
        (('type = "sine"', 'type = "sin"'), "motions.swing.type is 'sin'"),
        (
            (
                "[output]",
                '[motions.more]\ntype = "steady"\njoint = "shoulder"\nspeed = 1\n[output]',
            ),
            "'shoulder' has two motions",
        ),
        (("double_pendulum", "four_bar"), "initial: loop 'pin' is open by"),
    ],
)
def test_scenarios_with_faults_in_motions_are_refused(change, said):
    text = SCENARIO.replace(*change)
    if "four_bar" in text:
        text = text.replace("shoulder", "crank").replace("elbow", "rocker")
    with pytest.raises(sk.ScenarioError, match=said):
        read(text)


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "implicit_contact"])
def test_a_sweep_in_lanes_has_the_bits_of_runs_by_themselves(method, tmp_path):
    text = SCENARIO.replace("[output]", f'[integrator]\nmethod = "{method}"\ndt = 1e-3\n[output]')
    amplitudes = np.linspace(0.1, 1.2, 11)
    found = sk.sweep(
        read(text), {"motions.swing.amplitude": amplitudes.tolist()},
        metrics={"far": {"of": "q.elbow", "kind": "final"}},
        out=tmp_path / "sweep.h5", engine="in-process",
    )  # fmt: skip
    far = found.metric("far")
    for amplitude, value in zip(amplitudes, far, strict=True):
        one = read(text.replace("amplitude = 0.5", f"amplitude = {float(amplitude)!r}"))
        from skodyn.scenario.running import run_scenario

        assert run_scenario(one, None).q[-1, 1] == value


SHAKEN = """
duration = 0.3
[model]
name = "shaken ball"
[model.bodies.table]
parent = "world"
joint = { type = "prismatic", axis = [0, 0, 1], name = "shaker" }
mass = 1.0
[model.bodies.ball]
parent = "world"
joint = { type = "free", name = "flight" }
mass = 0.2
inertia = [0.0008, 0.0008, 0.0008]
[shapes.top]
body = "table"
type = "box"
size = [1, 1, 0.1]
translation = [0, 0, -0.05]
[shapes.skin]
body = "ball"
type = "sphere"
radius = 0.1
[contacts.bounce]
a = "ball"
b = "table"
stiffness = 20000.0
dissipation = 0.3
friction = 0.3
[initial]
q = { flight = [1,0,0,0, 0,0,0.2] }
[motions.m]
type = "sine"
joint = "shaker"
amplitude = 0.02
frequency = 5.0
[integrator]
dt = 1e-4
[output]
every = 50
channels = ["drive", "energy"]
"""


def test_a_driven_table_throws_a_ball_that_lies_on_it():
    """Contacts see where driven joints are, and what they take is part of the drive."""
    from skodyn.scenario.running import run_scenario

    run = run_scenario(read(SHAKEN), None)
    model = run.trajectory.model
    place = model.q_slice("shaker").start
    assert np.abs(run.q[:, place] - 0.02 * np.sin(10 * np.pi * run.t)).max() < 1e-15
    assert abs(run.summary["energy_imbalance"]) < 1e-5
    drive = run.trajectory["drive"][:, model.v_slice("shaker")]
    assert np.abs(drive).max() > 30.0  # far more than the table weighs and its motion takes
    text = SHAKEN.replace("dt = 1e-4", 'method = "implicit_contact"\ndt = 1e-4')
    other = run_scenario(read(text), None)
    assert np.abs(other.q[:, place] - run.q[:, place]).max() < 1e-15
    assert np.abs(other.q - run.q).max() < 0.01
    assert np.abs(run.q[:, model.q_slice("flight")][:, 6] - 0.2).max() > 0.04  # it flies
    assert (
        -0.05 < other.summary["energy_imbalance"] < 1e-5
    )  # implicit Euler takes, and adds nothing


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motions", "said"),
    [
        ((sk.SteadyMotion("ball", 1.0),), "'ball' is spherical with 3 degrees of freedom"),
        ((sk.SteadyMotion("uper", 1.0),), "did you mean 'upper'"),
        ((sk.SteadyMotion("upper", NAN),), "speed is nan"),
        ((sk.SteadyMotion("upper", 1.0), sk.SteadyMotion("upper", 1.0)), "has a motion already"),
        ((sk.MotionTable("upper", (0, 1), (0,)),), "it has 2 times and 1 positions"),
        ((sk.MotionTable("upper", (0, 0), (0, 1)),), "times is"),
        ((sk.MotionFunction("upper", 3),), "function is 3; give"),
        ((3,), "3 is not a motion; give MotionFunction"),
    ],
)
def test_motions_that_cannot_be_followed_are_refused(motions, said):
    model = arm()
    q, v = model.random_state(np.random.default_rng(5))
    with pytest.raises(sk.SkodynError, match=said):
        sk.simulate(model, q, v, duration=0.1, motions=motions)


def test_a_start_that_contradicts_a_motion_is_told_what_it_should_be():
    model = sk.load("scenarios/models/double_pendulum.toml")
    motion = [sk.SteadyMotion("shoulder", 2.0, start=0.5)]
    with pytest.raises(sk.StateError) as caught:
        sk.simulate(model, [0.1, 0.0], [0.0, 0.0], duration=0.1, motions=motion)
    assert len(caught.value.faults) == 2
    assert "q0 of joint 'shoulder' is 0.1" in str(caught.value.faults[0])
    assert "starts with 2.0; give that, or NaN" in str(caught.value.faults[1])
    run = sk.simulate(model, [0.5, 0.0], [2.0, 0.0], duration=0.1, motions=motion)
    assert run.status == "finished"
    with pytest.raises(sk.StateError, match="implicit_springs cannot be combined with prescribed"):
        sk.simulate(
            model, [0.5, 0.0], [2.0, 0.0], duration=0.1, motions=motion,
            integrator="implicit_midpoint", implicit_springs=True,
        )  # fmt: skip
    with pytest.raises(sk.ModelError, match="it is a motion, no force; give it in motions"):
        sk.simulate(model, [0.5, 0.0], [2.0, 0.0], duration=0.1, elements=motion)
    with pytest.raises(sk.StateError, match="thermostat draws the velocities"):
        sk.simulate(
            model, [0.5, 0.0], [2.0, 0.0], duration=0.1, motions=motion,
            thermostat=sk.AndersenThermostat(1.0, 1.0),
        )  # fmt: skip


@pytest.mark.parametrize("n", [2, 3, 4, 9])
def test_the_spline_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    times, places = np.cumsum(rng.uniform(0.1, 1.0, n)), rng.normal(size=n)
    expected = theirs(sk.MotionTable("any", times, places))
    for i, row in enumerate(spline(times, places)):
        curve = np.polynomial.Polynomial(row)
        s = np.linspace(0.0, times[i + 1] - times[i], 7)
        for order in range(3):
            found = curve.deriv(order)(s) if order else curve(s)
            size = np.abs(expected(times[i] + s, order)).max()
            assert np.abs(found - expected(times[i] + s, order)).max() <= 1e-11 * max(size, 1.0)
