"""Problems with contact whose answers are known: rods that fall and jam, cradles, wheels, disks,
stacks, spinning and rolling resistance, a gripper that is turned over."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

import skodyn as sk
from test_contact_runs import FINE, FLOOR, RIGID, at, ball, law, reference

TANGENTIAL = ("tangential_stiffness", "tangential_damping")
ROD = reference("falling_rod")


# ---- a rod on its foot --------------------------------------------------------------------------


def rod():
    """1 m, 1 kg, in the plane of x and z; its angle from the vertical, its foot a point."""
    b = sk.ModelBuilder()
    b.add_body("x", joint=sk.Prismatic((1, 0, 0), name="x"))
    b.add_body("z", "x", sk.Prismatic((0, 0, 1), name="z"))
    b.add_body("rod", "z", sk.Revolute((0, 1, 0), name="angle"), mass=1.0,
               inertia=(1 / 12, 1 / 12, 1e-4))  # fmt: skip
    b.add_collision("rod", sk.Points(((0, 0, -0.5),)))
    return b.build()


def rod_run(case, parameters, v, floor=FLOOR):
    t = np.array(case["t"])
    contact = sk.Contact("rod", "floor", **law({**parameters, **case}))
    q = [case["centre_x"][0], case["centre_z"][0], case["angle"][0]]
    return sk.simulate(rod(), q, v, duration=t[-1], dt=t[1], contacts=[contact], ground=floor,
                       channels=["contacts"], **{**FINE, "rtol": 1e-11, "atol": 1e-13})  # fmt: skip


def twin(case, parameters, v, part):
    """The same by SciPy, with the force at the foot (0) or that part of the depth above it."""
    p = {"friction": case["friction"], **parameters, **case}
    k, c, mu, kt, d = (p[key] for key in ("stiffness", "dissipation", "friction", *TANGENTIAL))

    def rates(_t, y):
        _, z, angle, vx, vz, turn, s = y
        depth = 0.5 * np.cos(angle) - z
        arm = -0.5 * np.sin(angle), -0.5 * np.cos(angle) + part * max(depth, 0.0)
        slip, up = vx + turn * arm[1], vz - turn * arm[0]
        n = k * depth * max(1.0 - c * up, 0.0) if depth > 0.0 else 0.0
        pull = -(kt * s + d * slip) if n > 0.0 else 0.0
        f = pull * min(1.0, mu * n / max(abs(pull), 1e-300))
        moment = arm[1] * f - arm[0] * n
        return [vx, vz, turn, f, n - 9.81, 12.0 * moment, -(f + kt * s) / d]

    start = [case["centre_x"][0], case["centre_z"][0], case["angle"][0], *v, 0.0]
    done = solve_ivp(rates, (0, case["t"][-1]), start, t_eval=case["t"], method="DOP853",
                     rtol=1e-11, atol=1e-13)  # fmt: skip
    return done.y.T


def assert_falls_as_both(run, case, parameters, v, fine):
    """The reference has its force at the foot, skodyn in the middle of the overlap: the twin is
    the one with the one and the other with the other."""
    names = ("centre_x", "centre_z", "angle")
    theirs = twin(case, parameters, v, 0.0)
    np.testing.assert_allclose(theirs[:, :3], np.array([case[n] for n in names]).T, atol=fine)
    ours = twin(case, parameters, v, 0.5)
    np.testing.assert_allclose(run.q, ours[:, :3], atol=fine)
    np.testing.assert_allclose(run.v, ours[:, 3:6], atol=20 * fine)


@pytest.mark.parametrize("case", ROD["compliant"]["runs"], ids=lambda x: f"mu {x['friction']}")
def test_a_rod_falls_over_its_foot(case):
    parameters = ROD["compliant"]["parameters"]
    run = rod_run(case, parameters, [0, 0, 0])
    # without friction the foot bounces: two tolerances of the reference differ, too
    fine = max(ROD["suggested_tolerance"]["compliant"], 10 * case["two_tolerances_differ_by"])
    assert_falls_as_both(run, case, parameters, [0, 0, 0], fine)


@pytest.mark.parametrize("case", ROD["painleve"]["runs"],
                         ids=lambda x: f"mu {x['friction']}, k {x['stiffness']:g}")  # fmt: skip
def test_a_sliding_rod_slides_on_or_jams_and_is_thrown_up(case):
    """Painlevé: above friction 4/3 the foot is thrown up, whatever the stiffness."""
    run = rod_run(case, {}, [3.0, 0, 0])
    assert_falls_as_both(run, case, {}, [3.0, 0, 0], 1e-6)
    thrown_up = case["friction"] > 4 / 3
    assert (run.v[2, 1] > 0.5) == thrown_up
    force = run.trajectory["contact_force"][-1]
    assert (force == 0.0).all()  # it has left


# ---- impacts in a row ---------------------------------------------------------------------------


@pytest.mark.parametrize("count", [3, 5])
def test_a_cradle_hands_its_speed_through_to_the_last_ball(count):
    """Equal balls, elastic, one after the other: the last leaves with the speed of the first."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for i in range(count):
        b.add_body(f"ball{i}", joint=sk.Prismatic((1, 0, 0), name=f"x{i}"), mass=0.3,
                   translation=(0.101 * i, 0, 0), inertia=(1e-3, 1e-3, 1e-3))  # fmt: skip
        b.add_collision(f"ball{i}", sk.Sphere(0.05))
    law = [sk.Contact("ball*", "ball*", stiffness=1e9, exponent=1.5)]
    v = np.zeros(count)
    v[0] = 1.0
    run = sk.simulate(b.build(), np.zeros(count), v, duration=0.02, dt=1e-3, contacts=law,
                      **{**FINE, "rtol": 1e-12, "atol": 1e-14})  # fmt: skip
    np.testing.assert_allclose(run.v[-1], v[::-1], atol=1e-6)
    assert abs(run.summary["energy_imbalance"]) < 1e-9


def test_a_stack_of_spheres_rests_at_the_depths_of_its_weights():
    b = sk.ModelBuilder()
    masses = (3.0, 2.0, 1.0)
    for i, mass in enumerate(masses):
        b.add_body(f"ball{i}", joint=sk.Prismatic((0, 0, 1), name=f"z{i}"), mass=mass,
                   inertia=(1e-2, 1e-2, 1e-2))  # fmt: skip
        b.add_collision(f"ball{i}", sk.Sphere(0.1))
    contacts = [sk.Contact("ball0", "floor", stiffness=1e5, dissipation=5.0),
                sk.Contact("ball*", "ball*", stiffness=5e4, dissipation=5.0)]  # fmt: skip
    run = sk.simulate(b.build(), [0.1, 0.3, 0.5], np.zeros(3), duration=6.0, dt=5e-4, every=1000,
                      ground=FLOOR, contacts=contacts, channels=["contacts"])  # fmt: skip
    carried = 9.81 * np.array([6.0, 3.0, 0.0, 1.0])  # floor, 0 on 1, 0 on 2, 1 on 2
    depth = -run.trajectory["contact_gap"][-1]
    touching = [0, 1, 3]
    np.testing.assert_allclose(depth[touching], (carried / [1e5, 5e4, 5e4, 5e4])[touching],
                               rtol=1e-6)  # fmt: skip
    force = np.abs(run.trajectory["contact_force"][-1, :, 2])
    np.testing.assert_allclose(force, carried, rtol=1e-6, atol=1e-9)
    assert run.summary["warnings"] == []


WHEEL = {"spokes": 8, "length": 1.0, "mass": 1.0, "inertia": 0.5, "slope": 0.08}


class RigidWheel:
    """On one spoke, without slip: ω² = ω0² + 2λ·g/l·(cos θ0 − cos θ); ω⁺ = ηω⁻ at each spoke."""

    def __init__(self, spokes, length, mass, inertia, slope):
        self.alpha, self.slope = np.pi / spokes, slope
        share = mass * length**2 / (mass * length**2 + inertia)
        self.eta = 1.0 - share * (1.0 - np.cos(2 * self.alpha))
        self.pull = 2.0 * share * 9.81 / length

    def squares(self, start, steps, angle):
        """ω² at this angle from the vertical, on each of so many spokes; ω = start on the first."""
        first, last = self.slope - self.alpha, self.slope + self.alpha
        found, square = [], start**2
        for _ in range(steps):
            found.append(square + self.pull * (np.cos(first) - np.cos(angle)))
            square = self.eta**2 * (square + self.pull * (np.cos(first) - np.cos(last)))
        return np.array(found)

    def cycle(self):
        """ω just after a spoke has met the ground, of the limit cycle."""
        gain = 2.0 * self.pull * np.sin(self.alpha) * np.sin(self.slope)
        return np.sqrt(self.eta**2 * gain / (1.0 - self.eta**2))


def rolled(start, stiffness, damping_ratio, duration=4.2):
    """(time as a function of the angle, last angle) of a run that begins upon a spoke; the
    bristle's damping is so many times 2√(kt·m)."""
    spokes, length, mass, inertia, slope = WHEEL.values()
    b = sk.ModelBuilder()
    b.add_body("x", joint=sk.Prismatic((1, 0, 0), name="x"))
    b.add_body("z", "x", sk.Prismatic((0, 0, 1), name="z"))
    b.add_body("wheel", "z", sk.Revolute((0, 1, 0), name="turn"), mass=mass,
               inertia=(inertia, inertia, inertia))  # fmt: skip
    part = 2 * np.pi / spokes
    ends = [(length * np.sin(part * k), 0, -length * np.cos(part * k)) for k in range(spokes)]
    b.add_collision("wheel", sk.Points(tuple(ends)))
    # the ground descends towards +x; a spoke behind by half a part has just taken the weight
    floor = [sk.HalfSpace(normal=(np.sin(slope), 0, np.cos(slope)))]
    damping = 2 * damping_ratio * np.sqrt(stiffness * mass)
    contact = sk.Contact("wheel", "floor", stiffness=stiffness, dissipation=1e3, friction=2.0,
                         tangential_damping=damping)  # fmt: skip
    turn = slope - part / 2
    q = [length * np.sin(turn), length * np.cos(turn), turn]
    v = start * np.array([length * np.cos(turn), -length * np.sin(turn), 1.0])
    run = sk.simulate(b.build(), q, v, duration=duration, dt=1e-3, ground=floor,
                      contacts=[contact], **{**FINE, "rtol": 1e-9, "atol": 1e-11})  # fmt: skip
    assert run.summary["warnings"] == []
    return CubicHermiteSpline(run.q[:, 2], run.t, 1.0 / run.v[:, 2]), run.q[-1, 2]


def wheel_errors(start, stiffness, damping_ratio=2.0, steps=5):
    """Of ω three quarters through each step, beside that of the rigid wheel."""
    rigid = RigidWheel(**WHEEL)
    angle = rigid.slope + 0.5 * rigid.alpha
    time, end = rolled(start, stiffness, damping_ratio)
    at_angles = angle + 2 * rigid.alpha * np.arange(steps)
    assert end > at_angles[-1]
    return 1.0 / time(at_angles, 1) / np.sqrt(rigid.squares(start, steps, angle)) - 1.0


def test_a_rimless_wheel_keeps_its_limit_cycle_the_better_the_stiffer_it_is():
    """ω⁺² = η²·4λ·g/l·sin α·sin γ/(1 − η²); what compliance changes falls as 1/stiffness."""
    start = RigidWheel(**WHEEL).cycle()
    errors = [np.abs(wheel_errors(start, k)).max() for k in (1e5, 1e6, 1e7)]
    assert max(errors) < RIGID
    assert all(8.0 < a / b < 20.0 for a, b in itertools.pairwise(errors))
    assert errors[-1] < 5e-6


@pytest.mark.parametrize("part", [0.95, 1.2])
def test_a_rimless_wheel_falls_into_its_limit_cycle_spoke_by_spoke(part):
    rigid = RigidWheel(**WHEEL)
    assert np.abs(wheel_errors(part * rigid.cycle(), 1e6)).max() < RIGID
    there = rigid.squares(part * rigid.cycle(), 2, rigid.slope - rigid.alpha) - rigid.cycle() ** 2
    assert abs(there[1] / there[0] - rigid.eta**2) < 1e-12  # it comes nearer, by η² a spoke


def test_a_bristle_that_swings_throws_the_wheel_forward():
    """Too little tangential damping is a restitution along the ground: no stiffness mends that."""
    start = RigidWheel(**WHEEL).cycle()
    for k in (1e6, 1e7):
        assert wheel_errors(start, k, damping_ratio=0.1, steps=2)[1] > 4 * RIGID


# ---- spinning and rolling -----------------------------------------------------------------------


def test_a_spinning_ball_is_stopped_by_torsion():
    """dω/dt = −μt·N/I, until it holds."""
    mass, radius, torsion, spin = 2.0, 0.1, 2e-3, 10.0
    inertia = 0.4 * mass * radius**2
    contact = sk.Contact("ball", "floor", stiffness=1e5, friction=0.5, torsional_friction=torsion)
    q = at(0, 0, radius - mass * 9.81 / 1e5)
    stops = spin * inertia / (torsion * mass * 9.81)
    run = sk.simulate(ball(mass, radius), q, [0, 0, spin, 0, 0, 0], duration=2 * stops,
                      dt=stops / 10, ground=FLOOR, contacts=[contact], **FINE)  # fmt: skip
    expected = np.maximum(spin * (1 - run.t / stops), 0.0)
    np.testing.assert_allclose(run.v[:10, 2], expected[:10], atol=RIGID * spin)
    # then it swings on its bristle, which holds (μN)²/(2·kt), and loses that, too
    held = (0.5 * mass * 9.81) ** 2 / (2 * 1e5)
    assert np.abs(run.v[11:, 2]).max() < 1.001 * np.sqrt(2 * held / inertia)
    left = 0.5 * inertia * spin**2 - run.summary["contact_loss"]
    assert -1e-9 < left < held


def test_a_rolling_ball_is_stopped_by_rolling_resistance():
    """(I + m·R²)·dω/dt = −μr·N; one limit for all makes it less by (f/μN)²/2, 4e-5."""
    mass, radius, rolling, speed = 1.0, 0.1, 1e-3, 1.0
    contact = sk.Contact("ball", "floor", stiffness=1e5, friction=0.8, rolling_friction=rolling)
    q = at(0, 0, radius - mass * 9.81 / 1e5)
    run = sk.simulate(ball(mass, radius), q, [0, speed / radius, 0, speed, 0, 0], duration=2.0,
                      dt=0.1, ground=FLOOR, contacts=[contact], **FINE)  # fmt: skip
    brake = rolling * 9.81 / (1.4 * radius)
    way = speed * run.t - 0.5 * brake * run.t**2
    np.testing.assert_allclose(run.q[:, 4], way, rtol=RIGID, atol=1e-4)


def test_a_disk_precesses_as_euler_says():
    """A thin disk that rolls about a fixed centre: Ω² = 4g/(a·sin α)."""
    mass, radius, tilt = 0.5, 0.1, 0.3
    b = sk.ModelBuilder()
    flat = mass * radius**2 / 4
    b.add_body("disk", joint=sk.Free(), mass=mass, inertia=(flat, flat, 2 * flat))
    b.add_collision("disk", sk.Disk(radius))
    contact = sk.Contact("disk", "floor", stiffness=1e6, friction=1.0, tangential_damping=200.0)
    rate = np.sqrt(4 * 9.81 / (radius * np.sin(tilt)))
    height = radius * np.sin(tilt) - mass * 9.81 / 1e6
    q = [np.cos(tilt / 2), 0, np.sin(tilt / 2), 0, 0, 0, height]
    # the lowest point is on the side of +x; the axis of rotation is the diameter through it
    spin = rate * np.sin(tilt)
    turns = 3
    duration = turns * 2 * np.pi / rate
    run = sk.simulate(b.build(), q, [-spin, 0, 0, 0, 0, 0], duration=duration, dt=duration / 600,
                      every=10, ground=FLOOR, contacts=[contact], **FINE)  # fmt: skip
    axes = [sk.forward_kinematics(b.build(), row)[0][0][:, 2] for row in run.q]
    lean = np.unwrap([np.arctan2(axis[1], axis[0]) for axis in axes])
    assert abs(abs(lean[-1] - lean[0]) / (2 * np.pi * turns) - 1) < 1e-6
    tilts = np.arccos([axis[2] for axis in axes])
    np.testing.assert_allclose(tilts, tilt, rtol=1e-6)
    assert np.abs(run.q[:, 4:6]).max() < 1e-6  # its centre stays


# ---- a gripper ----------------------------------------------------------------------------------


def test_a_gripper_turned_upside_down_holds_without_creeping():
    b = sk.ModelBuilder()
    b.add_body("palm", joint=sk.Revolute((1, 0, 0), name="wrist"), mass=1.0, translation=(0, 0, 1),
               inertia=(0.01, 0.01, 0.01))  # fmt: skip
    for side, sign in (("left", -1.0), ("right", 1.0)):
        b.add_body(side, "palm", sk.Prismatic((-sign, 0, 0), name=side), mass=0.1,
                   translation=(sign * 0.05, 0, -0.1), inertia=(1e-4, 1e-4, 1e-4))  # fmt: skip
        b.add_collision(side, sk.Box((0.02, 0.06, 0.08)))
    b.add_body("pill", joint=sk.Free(name="pill"), mass=0.2, inertia=(2e-4, 2e-4, 1e-4))
    b.add_collision("pill", sk.Capsule(0.02, 0.03))
    model = b.build()
    contact = sk.Contact(["left", "right"], "pill", stiffness=3e4, dissipation=5.0, friction=0.8,
                         tangential_damping=20.0, torsional_friction=2e-3)  # fmt: skip
    servos = [sk.Servo(s, kp=2000.0, kd=20.0, target=0.03) for s in ("left", "right")]
    servos.append(sk.Servo("wrist", kp=400.0, kd=40.0, target=np.pi))
    q = [0.0, 0.0199, 0.0199, 1, 0, 0, 0, 0, 0, 0.9]
    run = sk.simulate(model, q, np.zeros(9), duration=12.0, dt=2e-4, every=1000, contacts=[contact],
                      elements=servos)  # fmt: skip
    assert run.summary["warnings"] == []
    late = run.q[run.t >= 4.0]
    assert abs(late[0, 0] - np.pi) < 0.2
    assert late[0, 9] > 1.0  # above the wrist
    assert np.abs(late - late[0]).max() < 1e-8
