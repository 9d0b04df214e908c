"""Every force against an independent formula in NumPy, its power, and the faults of its numbers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.simulation import simulate
from skodyn.simulation.elements import (
    Forces,
    JointProperties,
    PointSpring,
    Servo,
    Sinusoid,
    TorqueTable,
    Wrench,
)
from skodyn.simulation.engine import Block, Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.settings import IntegratorSettings

MODELS = Path(__file__).parent.parent / "scenarios" / "models"
MODEL = sk.load(MODELS / "every_joint.toml")
QUATERNION = ("spherical", "free")
STATES = [MODEL.random_state(np.random.default_rng(seed)) for seed in range(6)]
ONE_DOF = tuple(
    name for name, joint in zip(MODEL.joint_names, MODEL.joints, strict=True) if joint.nv == 1
)


def rates(forces, q, v, t=0.0, integrals=()):
    """(v̇, τ, ẏ's integrals are not shown) of one state."""
    engine = Engine(MODEL, q, v, 1.0, IntegratorSettings(), forces)
    y = np.concatenate((v, integrals, np.zeros(engine.y.size - len(v) - len(integrals))))
    vdot, tau = engine.rates(Block(np.zeros(1, np.int64), np.array([t]), q[None], y[None], 0))
    return vdot[0], tau[0]


def assert_acts(forces, q, v, tau=None, f_ext=None, **when):
    """The engine applies these generalised forces and these forces on bodies."""
    tau = np.zeros(MODEL.nv) if tau is None else tau
    vdot, applied = rates(forces, q, v, **when)
    assert applied == pytest.approx(tau, rel=1e-12, abs=1e-12 * max(1.0, np.abs(tau).max()))
    expected = sk.forward_dynamics(MODEL, q, v, tau, f_ext=f_ext)
    scale = max(1.0, np.abs(expected).max())
    assert vdot == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale)


def one(joint):
    """(coordinate, degree of freedom) of a joint that has one of each."""
    return MODEL.q_slice(joint).start, MODEL.v_slice(joint).start


# ---- joints -------------------------------------------------------------------------------------


def passive(given, q, v):
    tau = -given.damping * v - given.friction * v / np.sqrt(v**2 + given.friction_speed**2)
    if q is None:
        return tau
    tau = tau - given.stiffness * (q - given.rest)
    push_up = np.maximum(given.stop_stiffness * (given.lower - q) - given.stop_damping * v, 0.0)
    push_down = np.maximum(given.stop_stiffness * (q - given.upper) + given.stop_damping * v, 0.0)
    return tau + np.where(q < given.lower, push_up, 0) - np.where(q > given.upper, push_down, 0)


PROPERTIES = {
    "spring": JointProperties(stiffness=3.0, rest=0.4),
    "damping": JointProperties(damping=0.7),
    "friction": JointProperties(friction=0.3, friction_speed=0.05),
    "stops": JointProperties(lower=-0.1, upper=0.1, stop_stiffness=50.0, stop_damping=2.0),
    "soft stops": JointProperties(lower=-0.1, upper=0.1, stop_stiffness=1.0, stop_damping=30.0),
    "upper stop": JointProperties(upper=-0.2),
    "all": JointProperties(2.0, -0.3, 0.1, 0.2, 0.01, -0.5, 0.2, 40.0, 1.0),
}


@pytest.mark.parametrize("what", PROPERTIES)
def test_passive_joint_forces(what):
    given = PROPERTIES[what]
    bounded = math.isfinite(given.lower) or math.isfinite(given.upper)
    on_position = given.stiffness > 0.0 or bounded
    names = [
        name
        for name, joint in zip(MODEL.joint_names, MODEL.joints, strict=True)
        if not (on_position and joint.type_name in QUATERNION)
    ]
    assert len(names) >= 8
    for q, v in STATES:
        tau = np.zeros(MODEL.nv)
        for name in names:
            has_position = MODEL.joints[MODEL.joint_names.index(name)].type_name not in QUATERNION
            at = q[MODEL.q_slice(name)] if has_position else None
            tau[MODEL.v_slice(name)] = passive(given, at, v[MODEL.v_slice(name)])
        assert_acts(Forces(joints=dict.fromkeys(names, given)), q, v, tau)


def test_joints_that_are_not_named_stay_free():
    q, v = STATES[0]
    assert_acts(Forces(joints={"hinge": JointProperties(stiffness=0.0)}), q, v)
    assert_acts(Forces(), q, v)


# ---- controllers of one joint -------------------------------------------------------------------


@pytest.mark.parametrize("joint", ONE_DOF)
def test_a_servo(joint):
    at, dof = one(joint)
    for q, v in STATES:
        servo = Servo(joint, kp=5.0, kd=0.6, target=0.3, target_velocity=-0.2)
        tau = np.zeros(MODEL.nv)
        tau[dof] = 5.0 * (0.3 - q[at]) + 0.6 * (-0.2 - v[dof])
        assert_acts(Forces(elements=(servo,)), q, v, tau)
        tau[dof] += sk.gravity_force(MODEL, q)[dof]
        held = Servo(joint, 5.0, 0.6, 0.0, 0.3, -0.2, gravity_compensation=True)
        assert_acts(Forces(elements=(held,)), q, v, tau)
        for limit in (0.01, 1.0, 100.0):
            cut = Servo(joint, 5.0, 0.6, 0.0, 0.3, -0.2, limit, gravity_compensation=True)
            bounded = np.clip(tau, -limit, limit)
            assert_acts(Forces(elements=(cut,)), q, v, bounded)


def test_servos_have_an_integral_each():
    q, v = STATES[1]
    first, second = ONE_DOF[:2]
    (a, i), (b, j) = one(first), one(second)
    elements = (
        Servo(first, kp=0.0, ki=2.0, target=1.0),
        Servo(second, kp=1.0),
        Servo(second, kp=0.0, ki=-3.0),
    )
    tau = np.zeros(MODEL.nv)
    tau[i] = 2.0 * 0.25
    tau[j] = -q[b] - 3.0 * -0.5
    assert_acts(Forces(elements=elements), q, v, tau, integrals=(0.25, -0.5))
    run = Engine(MODEL, q, v, 1.0, IntegratorSettings(dt=1e-6), Forces(elements=elements))
    run.advance(1)
    assert run.y[MODEL.nv : MODEL.nv + 2] == pytest.approx(
        [1e-6 * (1.0 - q[a]), -1e-6 * q[b]], rel=1e-4
    )


@pytest.mark.parametrize("t", [0.0, 0.3, 17.25, 1e4])
def test_a_sinusoid(t):
    q, v = STATES[2]
    for joint in ONE_DOF:
        tau = np.zeros(MODEL.nv)
        tau[one(joint)[1]] = 0.5 + 2.0 * math.sin(2 * math.pi * 1.5 * t + 0.7)
        wave = Sinusoid(joint, amplitude=2.0, frequency=1.5, phase=0.7, offset=0.5)
        vdot, applied = rates(Forces(elements=(wave,)), q, v, t)
        assert applied == pytest.approx(tau, abs=1e-15 * 20 * max(1.0, t) + 1e-14)
        assert vdot == pytest.approx(sk.forward_dynamics(MODEL, q, v, applied), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("knots", [2, 3, 7, 100])
def test_a_table_is_linear_inside_and_constant_outside(knots):
    rng = np.random.default_rng(knots)
    times, torques = np.cumsum(rng.uniform(0.1, 1.0, knots)), rng.normal(size=knots)
    q, v = STATES[3]
    dof = one("hinge")[1]
    between = rng.uniform(times[0], times[-1], 20)
    for t in (-5.0, 0.0, *times, *np.nextafter(times, 0.0), *between, times[-1] + 1.0, 1e6):
        tau = np.zeros(MODEL.nv)
        tau[dof] = np.interp(t, times, torques)
        assert_acts(Forces(elements=(TorqueTable("hinge", times, torques),)), q, v, tau, t=t)


def test_a_table_meets_its_knots():
    q, v = STATES[3]
    table = TorqueTable("hinge", [0.0, 0.1, 0.3], [1.0, -2.0, 4.0])
    for t, torque in zip(table.times, table.torques, strict=True):
        assert rates(Forces(elements=(table,)), q, v, t)[1][one("hinge")[1]] == torque


# ---- forces on bodies ---------------------------------------------------------------------------


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("body", MODEL.body_names)
def test_a_wrench(body, frame):
    point, force, moment = (0.1, -0.2, 0.3), np.array([1.0, 2.0, -3.0]), np.array([0.4, -0.5, 0.6])
    k = MODEL.body_names.index(body)
    for q, v in STATES[:3]:
        rotation = sk.forward_kinematics(MODEL, q)[0][k]
        turn = rotation if frame == "body" else np.eye(3)
        f_ext = np.zeros((MODEL.n_bodies, 6))
        f_ext[k, 3:] = turn @ force
        f_ext[k, :3] = turn @ moment + np.cross(rotation @ point, turn @ force)
        wrench = Wrench(body, force, moment, point, frame)
        assert_acts(Forces(elements=(wrench,)), q, v, f_ext=f_ext)


def spring_forces(spring, q, v):
    rotations, positions = sk.forward_kinematics(MODEL, q)
    velocity = sk.velocities(MODEL, q, v)[0]

    def end(body, point):
        if body == "world":
            return None, np.zeros(3), np.asarray(point, float), np.zeros(3)
        k = MODEL.body_names.index(body)
        arm = rotations[k] @ point
        return k, arm, positions[k] + arm, velocity[k, 3:] + np.cross(velocity[k, :3], arm)

    a, b = end(spring.body_a, spring.point_a), end(spring.body_b, spring.point_b)
    line = b[2] - a[2]
    length = np.linalg.norm(line)
    along = line / length if length > 0.0 else np.zeros(3)
    pull = spring.stiffness * (length - spring.length) + spring.damping * along @ (b[3] - a[3])
    f_ext = np.zeros((MODEL.n_bodies, 6))
    for (k, arm, _, _), force in ((a, pull * along), (b, -pull * along)):
        if k is not None:
            f_ext[k] += np.concatenate((np.cross(arm, force), force))
    return f_ext


ENDS = [
    (MODEL.body_names[0], MODEL.body_names[-1]),
    (MODEL.body_names[-1], MODEL.body_names[2]),
    (MODEL.body_names[3], "world"),
    ("world", MODEL.body_names[4]),
]


@pytest.mark.parametrize(("a", "b"), ENDS)
@pytest.mark.parametrize("length", [0.0, 0.7])
def test_a_spring_between_points(a, b, length):
    spring = PointSpring(a, b, 20.0, 3.0, length, (0.1, 0.2, -0.3), (-0.2, 0.05, 0.4))
    for q, v in STATES:
        assert_acts(Forces(elements=(spring,)), q, v, f_ext=spring_forces(spring, q, v))


@pytest.mark.parametrize("length", [0.0, 0.5])
def test_a_spring_whose_ends_meet_pulls_nowhere(length, monkeypatch):
    """Ends on one body meet to the last digit; such springs are refused otherwise."""
    monkeypatch.setattr(PointSpring, "check", classmethod(lambda cls, given: []))
    q, v = STATES[0]
    body = MODEL.body_names[4]
    same = PointSpring(body, body, 20.0, 3.0, length, (0.1, 0, 0), (0.1, 0, 0))
    assert_acts(Forces(elements=(same,)), q, v)
    ground = PointSpring("world", "world", 20.0, 3.0, length, (1, 2, 3))
    assert_acts(Forces(elements=(ground,)), q, v)


def test_everything_at_once_adds_up():
    elements = (
        Servo("hinge", kp=5.0, kd=0.6, target=0.3),
        Servo("hinge", kp=1.0, gravity_compensation=True),
        Sinusoid("slide", 2.0, 1.5),
        TorqueTable("hinge", (0.0, 1.0), (1.0, 3.0)),
        Wrench(MODEL.body_names[2], (1, 2, 3), (4, 5, 6), (0.1, 0.2, 0.3), "body"),
        Wrench(MODEL.body_names[2], (-1, 2, 3)),
        PointSpring(MODEL.body_names[2], "world", 10.0, 1.0),
    )
    joints = {"hinge": JointProperties(damping=0.2), "slide": JointProperties(stiffness=4.0)}
    for q, v in STATES:
        alone = [rates(Forces(elements=(e,)), q, v, 0.4) for e in elements]
        alone += [rates(Forces(joints={n: p}), q, v, 0.4) for n, p in joints.items()]
        free = sk.forward_dynamics(MODEL, q, v, np.zeros(MODEL.nv))
        vdot, tau = rates(Forces(joints, elements), q, v, 0.4)
        assert tau == pytest.approx(sum(t for _, t in alone), abs=1e-12)
        together = free + sum(a - free for a, _ in alone)
        assert vdot == pytest.approx(together, rel=1e-8, abs=1e-8 * np.abs(together).max())


# ---- work and motion ----------------------------------------------------------------------------

DRIVEN = Forces(
    joints={
        name: JointProperties(damping=0.3)
        for name, joint in zip(MODEL.joint_names, MODEL.joints, strict=True)
        if joint.nv
    },
    elements=(
        Sinusoid("hinge", 1.0, 0.8),
        Servo("slide", kp=30.0, kd=1.0, ki=2.0, target=0.1, gravity_compensation=True),
        Wrench(MODEL.body_names[0], (0, 1, 8), (0.1, 0, 0.2), (0.1, 0, 0), "body"),
        PointSpring(MODEL.body_names[-1], "world", 5.0, 0.5, 0.3, (0, 0, 0.1), (0, 0, 1)),
    ),
)


def test_energy_changes_by_the_work_of_all_forces():
    q, v = MODEL.random_state(np.random.default_rng(3))
    q, v = MODEL.integrate(MODEL.neutral(), 0.2 * MODEL.difference(MODEL.neutral(), q)), 0.2 * v
    missing = []
    for dt in (2e-3, 1e-3, 5e-4):  # with 4e-3, damping of the light gimbal makes RK4 unstable
        run = simulate(
            MODEL, q, v, duration=0.4, dt=dt, joints=DRIVEN.joints, elements=DRIVEN.elements
        )
        s = run.summary
        assert abs(s["work_of_forces"]) > 0.1
        missing.append(abs(s["energy_end"] - s["energy_start"] - s["work_of_forces"]))
    assert missing[-1] < 1e-7
    assert np.log2(missing[0] / missing[-1]) / 2 == pytest.approx(4.0, abs=0.8)


def arm():
    return sk.load(MODELS / "seven_joint_arm.toml")


def test_an_arm_compensated_for_gravity_stays_where_it_is():
    model = arm()
    servos = [Servo(name, kp=0.0, gravity_compensation=True) for name in model.joint_names
              if model.v_slice(name).stop > model.v_slice(name).start]  # fmt: skip
    q = model.random_state(np.random.default_rng(2))[0]
    run = simulate(model, q, np.zeros(model.nv), duration=1.0, dt=2e-3, elements=servos)
    assert run.q[-1] == pytest.approx(q, abs=1e-9)
    assert np.abs(run.v).max() < 1e-9
    falling = simulate(model, q, np.zeros(model.nv), duration=0.1, dt=2e-3)
    assert np.abs(falling.v).max() > 0.1


def test_an_integral_takes_away_what_gravity_leaves():
    b = sk.ModelBuilder()
    b.add_body("rod", joint=sk.Revolute((0, 1, 0), name="pivot"), mass=1.0, com=(0, 0, -0.5),
               inertia=(0.1, 0.1, 0.02))  # fmt: skip
    model = b.build()
    ends = []
    for ki in (0.0, 30.0):
        servo = Servo("pivot", kp=40.0, kd=8.0, ki=ki, target=1.0)
        run = simulate(model, [0.0], [0.0], duration=20.0, dt=2e-3, elements=[servo], every=100)
        ends.append(float(run.q[-1, 0]))
    assert abs(ends[0] - 1.0) > 0.05
    assert ends[1] == pytest.approx(1.0, abs=1e-4)


# ---- faults -------------------------------------------------------------------------------------

BODY = MODEL.body_names[0]
FAULTS = [
    (Servo("hnge", 1.0), ["Servo number 1", "hnge"]),
    (Servo("adrift", 1.0), ["'adrift' is free with 6 degrees of freedom"]),
    (Servo("weld", 1.0), ["'weld' is fixed with 0 degrees of freedom"]),
    (Servo("hinge", math.nan), ["kp is nan", "finite"]),
    (Servo("hinge", "5"), ["kp is '5'", "give a finite number"]),
    (Servo("hinge", [1.0, 2.0]), ["kp is [1.0, 2.0]", "give a finite number"]),
    (Servo("hinge", 1.0, limit=-1.0), ["limit is -1.0", "above 0"]),
    (Servo("hinge", 1.0, gravity_compensation="yes"), ["gravity_compensation", "true or false"]),
    (Servo(3, 1.0), ["joint is 3", "give the name of a joint"]),
    (Sinusoid("hinge", math.inf, 1.0), ["amplitude is inf"]),
    (Sinusoid("hinge", 1.0, None), ["frequency is None", "give a number of at least 0"]),
    (
        TorqueTable("hinge", [0.0, 1.0], [1.0]),
        ["2 times and 1 torques"],
    ),
    (TorqueTable("hinge", [0.0], [1.0]), ["times is [0.0]", "two or more times"]),
    (TorqueTable("hinge", [0.0, 2.0, 1.0], [1.0, 1.0, 1.0]), ["each later than the one before"]),
    (TorqueTable("hinge", [0.0, 0.0], [1.0, 1.0]), ["each later than the one before"]),
    (TorqueTable("hinge", [0.0, [1.0]], [1.0, 2.0]), ["times", "give a list of two or more times"]),
    (TorqueTable("hinge", [0.0, 1.0], [1.0, math.nan]), ["torques", "finite"]),
    (Wrench("nobody"), ["nobody"]),
    (Wrench(BODY, (1.0, 2.0)), ["force is (1.0, 2.0)", "three finite numbers"]),
    (Wrench(BODY, (1, 2, math.inf)), ["force", "finite"]),
    (Wrench(BODY, frame="sky"), ["frame is 'sky'", "give one of world, body"]),
    (PointSpring(BODY, "nobody", 1.0), ["nobody"]),
    (PointSpring(BODY, "world", -1.0), ["stiffness is -1.0", "at least 0"]),
    (PointSpring(BODY, "world", 1.0, length=-0.1), ["length is -0.1"]),
    (
        PointSpring(BODY, "world", 1.0, point_a=(0, 0)),
        ["point_a is (0, 0)", "three finite"],
    ),
    (PointSpring(BODY, BODY, 1.0), ["has both ends on"]),
    ("a push", ["'a push' is not a force", "Servo", "Wrench"]),
    (None, ["None is not a force"]),
]
JOINT_FAULTS = [
    ({"hnge": JointProperties()}, ["hnge"]),
    ({"hinge": JointProperties(stiffness=-1.0)}, ["'hinge'", "stiffness is -1.0"]),
    ({"hinge": JointProperties(damping=math.nan)}, ["damping is nan"]),
    ({"hinge": JointProperties(damping="0.1")}, ["damping is '0.1'", "give a number"]),
    ({"hinge": JointProperties(rest=math.inf)}, ["rest is inf"]),
    ({"hinge": JointProperties(friction_speed=0.0)}, ["friction_speed is 0.0", "above 0"]),
    ({"hinge": JointProperties(lower=1.0, upper=0.5)}, ["lower is 1.0", "upper = 0.5", "exchange"]),
    ({"hinge": JointProperties(upper=math.nan)}, ["upper is nan"]),
    ({"adrift": JointProperties(stiffness=1.0)}, ["'adrift'", "has a quaternion"]),
    ({"adrift": JointProperties(upper=1.0)}, ["'adrift'", "has a quaternion"]),
    ({"hinge": {"damping": 1.0}}, ["'hinge'", "JointProperties"]),
]


@pytest.mark.parametrize(("element", "words"), FAULTS)
def test_a_faulty_element_is_refused_in_words(element, words):
    with pytest.raises(sk.ModelError) as error:
        pack_forces(MODEL, Forces(elements=(element,)))
    assert len(error.value.faults) == 1
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize(("joints", "words"), JOINT_FAULTS)
def test_faulty_properties_are_refused_in_words(joints, words):
    with pytest.raises(sk.ModelError) as error:
        pack_forces(MODEL, Forces(joints=joints))
    assert len(error.value.faults) == 1
    assert all(word in str(error.value) for word in words)


def test_all_faults_are_told_at_once():
    joints = {"hinge": JointProperties(stiffness=-1.0), "slide": JointProperties(damping=-1.0)}
    with pytest.raises(sk.ModelError) as error:
        pack_forces(MODEL, Forces(joints, tuple(element for element, _ in FAULTS)))
    assert len(error.value.faults) == len(FAULTS) + 2
    for number, (_, words) in enumerate(FAULTS, start=1):
        assert f"number {number}:" in str(error.value)
        assert all(w in str(error.value) for w in words if "number 1" not in w)
