"""Prescribed motions of joints with several degrees of freedom, and beside mimic joints."""

import signal
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation import loop

METHODS = ("rk4", "semi_implicit_euler", "implicit_midpoint", "dormand_prince")
NAN = float("nan")
INERTIA = (0.02, 0.03, 0.04)


def ship(driven_base=True):
    """A base, a gimbal, a ball, a plate and hinges that are left free."""
    b = sk.ModelBuilder(gravity=(0.3, -0.4, -9.81), name="ship")
    b.add_body("base", "world", sk.Free(), mass=5.0, com=(0.1, 0, 0), inertia=(0.3, 0.4, 0.5))
    b.add_body("gimbal", "base", sk.Universal(axis1=(1, 0, 0), axis2=(0, 1, 0)), mass=1.0,
               translation=(0.3, 0, 0), com=(0, 0, -0.2), inertia=INERTIA)  # fmt: skip
    b.add_body("swing", "gimbal", sk.Revolute((0, 1, 1)), translation=(0, 0, -0.4), mass=0.7,
               com=(0.1, 0, -0.2), inertia=INERTIA)  # fmt: skip
    b.add_body("ball", "swing", sk.Spherical(), translation=(0, 0, -0.3), mass=0.6,
               com=(0, 0.05, -0.1), inertia=INERTIA)  # fmt: skip
    b.add_body("plate", "base", sk.Planar(), translation=(-0.4, 0, 0.1), mass=0.8,
               com=(0.02, 0.03, 0), inertia=INERTIA)  # fmt: skip
    b.add_body("tail", "ball", sk.Revolute((1, 0, 0), armature=0.01), translation=(0, 0, -0.2),
               mass=0.3, com=(0, 0.01, -0.15), inertia=INERTIA)  # fmt: skip
    return b.build()


def slide(t, params, out):
    """Planar: coordinates, their rates, their accelerations."""
    a, w = params[0], params[1]
    out[0], out[1], out[2] = a * np.sin(w * t), 0.2 * t * t, a * np.cos(w * t)
    out[3], out[4], out[5] = a * w * np.cos(w * t), 0.4 * t, -a * w * np.sin(w * t)
    out[6], out[7], out[8] = -a * w * w * np.sin(w * t), 0.4, -a * w * w * np.cos(w * t)


def unit(*numbers):
    return tuple(np.array(numbers) / np.linalg.norm(numbers))


ROCK, SPIN = (0.1, -0.2, 0.3, 0.4, 0.1, -0.3), (0.7, -2.0, 1.1)
HOME = (*unit(1, 0.2, -0.3, 0.1), 0.5, -0.2, 1.0)
TURNED = unit(0.9, 0.3, 0.1, -0.2)
TIMES, PLACES = (0.0, 0.2, 0.5), ((0.1, 0.0), (0.3, -0.2), (0.0, 0.4))
MOTIONS = (
    sk.SineMotion("base", ROCK, 1.5, phase=0.4, offset=HOME),
    sk.SteadyMotion("ball", SPIN, start=TURNED),
    sk.MotionTable("gimbal", TIMES, PLACES),
    sk.MotionFunction("plate", slide, (0.1, 6.0)),
)


def start(model, motions):
    q, v = model.random_state(np.random.default_rng(3))
    for motion in motions:
        q[model.q_slice(motion.joint)], v[model.v_slice(motion.joint)] = NAN, NAN
    return q, 0.3 * v


def simulated(motions=MOTIONS, duration=0.4, method="rk4", model=None, dt=1e-3, **more):
    model = model or ship()
    given = {"every": 4, "channels": ["tau", "vdot", "drive", "energy"]} | more
    return sk.simulate(
        model, *start(model, motions), duration=duration, dt=dt, integrator=method,
        motions=motions, **given,
    )  # fmt: skip


def rotation_of(quaternion):
    return Rotation.from_quat(np.asarray(quaternion)[[1, 2, 3, 0]])


def screw_motion(twist, s):
    """exp of a twist [ω; v] times s, by the matrix exponential."""
    from scipy.linalg import expm

    w, v = s * np.array(twist[:3]), s * np.array(twist[3:])
    m = np.zeros((4, 4))
    m[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    m[:3, 3] = v
    return expm(m)


@pytest.mark.parametrize("method", METHODS)
def test_joints_are_where_the_exponential_of_their_twist_leads(method):
    run, model = simulated(method=method), ship()
    assert run.status == "finished"
    base, ball = model.q_slice("base"), model.q_slice("ball")
    rate = 2 * np.pi * 1.5
    for t, q, v, vdot in zip(run.t, run.q, run.v, run.trajectory["vdot"], strict=True):
        moved = screw_motion(ROCK, np.sin(rate * t + 0.4))
        turn = rotation_of(HOME[:4]).as_matrix() @ moved[:3, :3]
        assert np.abs(rotation_of(q[base][:4]).as_matrix() - turn).max() < 1e-13
        place = np.array(HOME[4:]) + rotation_of(HOME[:4]).as_matrix() @ moved[:3, 3]
        assert np.abs(q[base][4:] - place).max() < 1e-13
        along = model.v_slice("base")
        np.testing.assert_allclose(
            v[along], np.array(ROCK) * rate * np.cos(rate * t + 0.4), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(
            vdot[along], -np.array(ROCK) * rate**2 * np.sin(rate * t + 0.4), rtol=0, atol=1e-11
        )
        turn = rotation_of(TURNED) * Rotation.from_rotvec(np.array(SPIN) * t)
        assert np.abs(rotation_of(q[ball]).as_matrix() - turn.as_matrix()).max() < 1e-13
        assert np.abs(v[model.v_slice("ball")] - SPIN).max() < 1e-14
        assert np.abs(vdot[model.v_slice("ball")]).max() == 0.0
        out = np.empty(9)
        slide(t, (0.1, 6.0), out)
        said = (q[model.q_slice("plate")], v[model.v_slice("plate")], vdot[model.v_slice("plate")])
        assert np.abs(np.concatenate(said) - out).max() < 1e-13


def test_a_table_moves_each_coordinate_along_its_own_spline():
    run, model = simulated(), ship()
    columns = np.array(PLACES).T
    arm = sk.load("scenarios/models/double_pendulum.toml")
    for i, positions in enumerate(columns):
        one = sk.simulate(
            arm, [NAN, 0.0], [NAN, 0.0], duration=0.4, dt=1e-3, every=4,
            motions=[sk.MotionTable("shoulder", TIMES, positions.tolist())],
        )  # fmt: skip
        np.testing.assert_array_equal(run.q[:, model.q_slice("gimbal")][:, i], one.q[:, 0])
        np.testing.assert_array_equal(run.v[:, model.v_slice("gimbal")][:, i], one.v[:, 0])


@pytest.mark.parametrize("method", METHODS)
def test_drives_give_what_inverse_dynamics_asks_for(method):
    springs = {"swing": sk.JointProperties(stiffness=5.0, damping=0.3),
               "gimbal": sk.JointProperties(damping=0.2)}  # fmt: skip
    tight = {"tolerance": 1e-10} if method == "dormand_prince" else {}
    run, model = simulated(method=method, joints=springs, dt=2e-4, every=20, **tight), ship()
    tau, vdot, drive = (np.asarray(run.trajectory[name]) for name in ("tau", "vdot", "drive"))
    needed = sk.inverse_dynamics(model, run.q, run.v, vdot)
    assert np.abs(needed - tau).max() < 1e-10 * np.abs(needed).max()
    driven = np.concatenate([np.arange(model.nv)[model.v_slice(m.joint)] for m in MOTIONS])
    free = np.setdiff1d(np.arange(model.nv), driven)
    assert (drive[:, free] == 0.0).all()
    assert np.abs(drive[:, driven]).max() > 1.0
    gimbal = model.v_slice("gimbal")
    np.testing.assert_allclose((tau - drive)[:, gimbal], -0.2 * run.v[:, gimbal], atol=1e-10)
    scale = np.abs(np.asarray(run.trajectory["energy"])).max()
    bound = {"semi_implicit_euler": 2e-3, "implicit_midpoint": 1e-5}.get(method, 1e-8)
    assert abs(run.summary["energy_imbalance"]) < bound * scale


def test_interrupted_runs_go_on_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "MOST_STEPS", 20)
    model, motions, path = ship(), MOTIONS, tmp_path / "run.h5"
    given = {"dt": 1e-3, "duration": 0.2, "motions": motions, "channels": ["drive"]}
    whole = sk.simulate(model, *start(model, motions), **given)

    def stop(engine, _seconds):
        if 0.05 < engine.t < 0.15:
            signal.raise_signal(signal.SIGINT)

    part = sk.simulate(model, *start(model, motions), **given, log=path, progress=stop)
    assert part.status == "interrupted"
    done = sk.simulate(model, *start(model, motions), **given, log=path, resume=True)
    assert done.status == "finished"
    for name in ("q", "v", "drive"):
        assert np.array_equal(done.trajectory[name], whole.trajectory[name])


SCENARIO = """
duration = 0.1
[model]
name = "carried pendulum"
[model.bodies.base]
parent = "world"
joint = { type = "free", name = "carrier" }
mass = 2.0
inertia = [0.1, 0.1, 0.1]
[model.bodies.gimbal]
parent = "base"
joint = { type = "universal", name = "gimbal" }
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[model.bodies.arm]
parent = "gimbal"
joint = { type = "revolute", axis = [0, 1, 0], name = "arm" }
translation = [0, 0, -0.3]
mass = 1.0
com = [0, 0, -0.3]
inertia = [0.02, 0.02, 0.001]
[motions.carry]
type = "sine"
joint = "carrier"
amplitude = [0.1, 0.0, 0.2, 0.1, 0.0, 0.3]
frequency = 2.0
[motions.turn]
type = "steady"
joint = "gimbal"
speed = [1.0, -2.0]
[initial]
q = { arm = 0.3 }
[integrator]
method = "METHOD"
dt = 1e-3
"""


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint"])
def test_a_sweep_in_lanes_has_the_bits_of_runs_by_themselves(method):
    base = parse_scenario(SCENARIO.replace("METHOD", method), Path())
    grid = {"motions.carry.frequency": [1.0, 2.0, 3.0], "motions.turn.speed.1": [-2.0, 1.0],
            "motions.carry.amplitude.5": [0.3, 0.1]}  # fmt: skip
    sweep = sk.sweep(base, grid, metrics={"far": {"of": "q.arm", "kind": "max"}},
                     engine="in-process")  # fmt: skip
    assert sweep.counts()["finished"] == 12
    for run in range(12):
        alone = run_scenario(parse_scenario(sweep.scenario_text(run), Path()), None)
        assert (alone.q[-1] == sweep.q[run]).all()
        assert (alone.v[-1] == sweep.v[run]).all()
        assert np.asarray(sweep.metric("far")).reshape(-1)[run] == alone.q[:, -1].max()


# ---- beside mimic joints ------------------------------------------------------------------------


def hand():
    """A wrist, fingers that follow one another and a slider that follows the wrist."""
    b = sk.ModelBuilder(gravity=(0.2, 0.1, -9.81), name="hand")
    b.add_body("base", "world", sk.Free(), mass=3.0, inertia=(0.1, 0.2, 0.2))
    b.add_body("wrist", "base", sk.Revolute((0, 1, 0), armature=0.02), translation=(0.2, 0, 0),
               mass=1.0, com=(0.1, 0, 0), inertia=INERTIA)  # fmt: skip
    b.add_body("rod", "wrist", sk.Prismatic((1, 0, 0)), translation=(0.2, 0, 0), mass=0.5,
               inertia=INERTIA)  # fmt: skip
    for name, y in (("left", 0.05), ("right", -0.05), ("thumb", 0.0)):
        b.add_body(name, "rod", sk.Revolute((0, 0, 1)), translation=(0.1, y, 0), mass=0.2,
                   com=(0.08, 0, 0.01), inertia=(1e-3, 1e-3, 1e-3))  # fmt: skip
    b.add_body("ball", "thumb", sk.Spherical(), translation=(0.2, 0, 0), mass=0.3,
               com=(0, 0.02, -0.1), inertia=INERTIA)  # fmt: skip
    b.add_mimic("right", "left", -1.0)
    b.add_mimic("thumb", "wrist", 0.7, 0.2)
    return b.build()


WRIST, BALL = sk.SineMotion("wrist", 0.5, 1.0), sk.SteadyMotion("ball", (0.0, 1.0, 2.0))
ROCKING, ROD = sk.SineMotion("base", ROCK, 1.0), sk.SineMotion("rod", 0.05, 2.0)
FINGER = sk.MotionTable("left", (0.0, 0.3), (0.1, 0.6))
BESIDE = {
    "a source": (WRIST,),
    "a finger": (FINGER,),
    "neither": (ROD,),
    "several": (WRIST, BALL, ROCKING),
    "all": (WRIST, BALL, ROCKING, ROD, FINGER),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("driven", BESIDE)
def test_beside_mimic_joints_it_is_hybrid_dynamics_at_every_row(driven, method):
    motions, model = BESIDE[driven], hand()
    springs = {"right": sk.JointProperties(stiffness=3.0, damping=0.05),
               "thumb": sk.JointProperties(damping=0.1)}  # fmt: skip
    tight = {"tolerance": 1e-9} if method == "dormand_prince" else {}
    run = simulated(motions, 0.3, method, model, dt=2e-4, every=50, joints=springs, **tight)
    assert run.status == "finished"
    tau, vdot, drive = (np.asarray(run.trajectory[name]) for name in ("tau", "vdot", "drive"))
    names = [motion.joint for motion in motions]
    known = np.concatenate([np.arange(model.nv)[model.v_slice(name)] for name in names])
    for row in range(len(run.t)):
        found, force = sk.hybrid_dynamics(
            model, run.q[row], run.v[row], tau=(tau - drive)[row], vdot=vdot[row], prescribed=names
        )
        scale = np.abs(found).max() + np.abs(force).max()
        assert np.abs(found - vdot[row]).max() < 1e-9 * scale
        assert np.abs(force[known] - tau[row, known]).max() < 1e-9 * scale
    bound = {"semi_implicit_euler": 3e-3, "implicit_midpoint": 1e-5}.get(method, 1e-7)
    scale = np.abs(np.asarray(run.trajectory["energy"])).max()
    assert abs(run.summary["energy_imbalance"]) < bound * scale
    for row in range(len(run.t)):  # followers are where their source is
        every = model.expand_q(run.q[row])
        at = model.uncoupled.q_slice
        assert every[at("right")] == -every[at("left")]


FLAP = """
[model.bodies.flap]
parent = "arm"
joint = { type = "revolute", axis = [0, 1, 0], name = "flap", mimic = MIMIC }
translation = [0, 0, -0.5]
mass = 0.3
com = [0, 0, -0.1]
inertia = [0.002, 0.002, 0.001]
"""
GEARED = SCENARIO + FLAP.replace("MIMIC", '{ joint = "arm", multiplier = -0.5 }')


def test_a_sweep_with_both_has_the_bits_of_runs_by_themselves():
    base = parse_scenario(GEARED.replace("METHOD", "rk4"), Path())
    grid = {"motions.carry.frequency": [1.0, 2.0, 3.0], "bodies.flap.joint.mimic.multiplier":
            [-0.5, 1.5, 2.0]}  # fmt: skip
    sweep = sk.sweep(base, grid, metrics={"far": {"of": "q.flap", "kind": "final"}},
                     engine="in-process")  # fmt: skip
    assert sweep.counts()["finished"] == 9
    for run in range(9):
        alone = run_scenario(parse_scenario(sweep.scenario_text(run), Path()), None)
        assert (alone.q[-1] == sweep.q[run]).all()
        ratio = (-0.5, 1.5, 2.0)[run % 3]
        far = np.asarray(sweep.metric("far")).reshape(-1)[run]
        assert far == pytest.approx(ratio * alone.q[-1, -1], rel=1e-15)


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        (sk.SteadyMotion("ball", 1.0), "'ball' is spherical with 3 degrees.*give a list of 3"),
        (sk.SteadyMotion("ball", (1.0, 2.0)), "speed is \\(1.0, 2.0\\).*give a list of 3"),
        (sk.SteadyMotion("swing", (1.0,)), "'swing' is revolute.*give one number"),
        (sk.SteadyMotion("ball", SPIN, start=(1.0, 1.0, 0.0, 0.0)), "has norm 1.41421356, not 1"),
        (sk.MotionTable("ball", (0, 1), ((1, 0, 0, 0), (0, 1, 0, 0))), "give a MotionFunction"),
        (sk.MotionTable("gimbal", (0, 1), (0.0, 1.0)), "give a list of 2 numbers"),
        (sk.MotionTable("gimbal", (0, 1), ((0.0, 1.0), (1.0,))), "positions is"),
        (sk.SteadyMotion("tale", 1.0), "did you mean 'tail'"),
    ],
)  # fmt: skip
def test_motions_that_do_not_fit_their_joint_are_refused(motion, said):
    model = ship()
    q, v = model.random_state(np.random.default_rng(5))
    with pytest.raises(sk.SkodynError, match=said):
        sk.simulate(model, q, v, duration=0.1, motions=[motion])


def test_a_joint_that_follows_another_cannot_be_driven():
    model = hand()
    with pytest.raises(sk.ModelError, match="'thumb' mimics 'wrist'"):
        sk.simulate(model, model.neutral(), np.zeros(model.nv), duration=0.1,
                    motions=[sk.SteadyMotion("thumb", 1.0)])  # fmt: skip
