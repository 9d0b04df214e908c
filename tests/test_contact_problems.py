"""Problems with contact whose answers are known: rods that fall and jam, cradles, wheels, disks,
stacks, spinning and rolling resistance, a gripper that is turned over."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import skodyn as sk
from test_contact_runs import FINE, FLOOR, at, ball, law, reference

TANGENTIAL = ("tangential_stiffness", "tangential_damping")
RIGID = 5e-4  # against answers for rigid bodies
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


def test_a_rimless_wheel_falls_into_its_limit_cycle():
    """ω⁺ = ηω⁻ at each spoke, and what it gains between: ω² = 4λ²·g/l·sin α·sin γ/(1 − η²)."""
    spokes, length, mass, inertia, slope = 8, 1.0, 1.0, 0.5, 0.08
    alpha = np.pi / spokes
    b = sk.ModelBuilder()
    b.add_body("x", joint=sk.Prismatic((1, 0, 0), name="x"))
    b.add_body("z", "x", sk.Prismatic((0, 0, 1), name="z"))
    b.add_body("wheel", "z", sk.Revolute((0, 1, 0), name="turn"), mass=mass,
               inertia=(inertia, inertia, inertia))  # fmt: skip
    ends = [(length * np.sin(2 * alpha * k), 0, -length * np.cos(2 * alpha * k))
            for k in range(spokes)]  # fmt: skip
    b.add_collision("wheel", sk.Points(tuple(ends)))
    share = mass * length**2 / (mass * length**2 + inertia)
    eta = 1.0 - share * (1.0 - np.cos(2 * alpha))
    gain = 4.0 * share * 9.81 / length * np.sin(alpha) * np.sin(slope)
    after = np.sqrt(eta**2 * gain / (1.0 - eta**2))
    # the ground descends towards +x; a spoke behind by alpha has just taken the weight
    floor = [sk.HalfSpace(normal=(np.sin(slope), 0, np.cos(slope)))]
    contact = sk.Contact("wheel", "floor", stiffness=1e7, dissipation=50.0, friction=2.0,
                         tangential_damping=2e3)  # fmt: skip
    turn = slope - alpha
    q = [length * np.sin(turn), length * np.cos(turn), turn]
    v = [after * length * np.cos(turn), -after * length * np.sin(turn), after]
    run = sk.simulate(b.build(), q, np.array(v), duration=4.0, dt=1e-5, every=5, ground=floor,
                      contacts=[contact], channels=["contacts"])  # fmt: skip
    made = [e for e in run.trajectory.contact_events if e["made"] and e["normal_speed"] < -0.3]
    times = np.array([e["t"] for e in made])[1:]
    before = after / eta
    assert run.summary["warnings"] == []
    found = np.array([np.interp(t - 1e-4, run.t, run.v[:, 2]) for t in times])
    np.testing.assert_allclose(found, before, rtol=2e-3)
    steps = np.diff(times)
    assert np.ptp(steps) < 2e-3 * steps.mean()


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
