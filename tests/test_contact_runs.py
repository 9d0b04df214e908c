"""Contacts in simulation against reference problems: closed forms, and SciPy at 1e-12."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk

REFERENCES = Path(__file__).parent / "data" / "contact"
FLOOR = [sk.HalfSpace()]
RIGID = 5e-4  # against answers for rigid bodies
FINE = {"integrator": "dormand_prince", "rtol": 1e-10, "atol": 1e-12}


def reference(name):
    return json.loads((REFERENCES / f"{name}.json").read_text())


def law(given, **more):
    """The keys of a reference that are those of a contact."""
    keys = ("stiffness", "exponent", "dissipation", "friction", "tangential_stiffness",
            "tangential_damping")  # fmt: skip
    keys = keys[:3] if given.get("friction") == 0.0 else keys
    return {**{key: given[key] for key in keys if key in given}, **more}


def ball(mass=1.0, radius=0.1, joint=None, gravity=(0, 0, -9.81), inertia=None):
    b = sk.ModelBuilder(gravity=gravity)
    i = 0.4 * mass * radius**2 if inertia is None else inertia
    b.add_body("ball", joint=sk.Free() if joint is None else joint, mass=mass, inertia=(i, i, i))
    b.add_collision("ball", sk.Sphere(radius))
    return b.build()


def at(x, y, z):
    return [1.0, 0.0, 0.0, 0.0, x, y, z]


# ---- bouncing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", reference("bouncing_ball")["impacts"], ids=str)
def test_an_impact_leaves_at_the_restitution_of_the_closed_form(case):
    model = ball(case["mass"], joint=sk.Translation(), gravity=(0, 0, 0))
    contact = sk.Contact("ball", "floor", **law(case))
    v, rest = case["speed_before"], 0.003
    steps = 400
    dt = (case["duration"] + 2 * rest) / steps
    run = sk.simulate(model, [0, 0, 0.1 + rest * v], [0, 0, -v], duration=dt * steps, dt=dt,
                      ground=FLOOR, contacts=[contact], **FINE)  # fmt: skip
    fine = 1e-7
    assert abs(run.v[-1, 2] - case["speed_after"]) < fine
    assert run.summary["warnings"] == []
    assert abs(0.1 - run.q[:, 2].min() - case["deepest"]) < 2e-4 * case["deepest"]
    lost = 0.5 * case["mass"] * (v**2 - case["speed_after"] ** 2)
    assert abs(run.summary["contact_loss"] - lost) < 2 * fine
    assert abs(run.summary["contact_imbalance"]) < 2 * fine


@pytest.mark.parametrize("case", reference("bouncing_ball")["impacts"], ids=str)
def test_error_control_finds_touches_at_every_phase(case):
    """In one long step from far away; the page says how near."""
    model = ball(case["mass"], joint=sk.Translation(), gravity=(0, 0, 0))
    contact, v = sk.Contact("ball", "floor", **law(case)), case["speed_before"]
    for rest in np.linspace(1e-3, 5e-2, 16):
        duration = case["duration"] + rest + 1e-2
        run = sk.simulate(model, [0, 0, 0.1 + rest * v], [0, 0, -v], duration=duration, dt=duration,
                          ground=FLOOR, contacts=[contact], **FINE)  # fmt: skip
        assert abs(run.v[-1, 2] - case["speed_after"]) < 2e-7 * v


def test_a_ball_that_drops_bounces_as_it_should():
    given = reference("bouncing_ball")["drop"]
    contact = sk.Contact("ball", "floor", **law(given))
    model = ball(given["mass"], joint=sk.Translation())
    for bounce in given["bounces"]:
        run = sk.simulate(model, [0, 0, 0.1 + given["gap_at_start"]], [0, 0, 0],
                          duration=bounce["apex_time"], dt=bounce["apex_time"], ground=FLOOR,
                          contacts=[contact], **FINE)  # fmt: skip
        assert abs(run.q[-1, 2] - 0.1 - bounce["apex_gap"]) < 1e-7
        assert abs(run.v[-1, 2]) < 1e-6


# ---- sliding and rolling ------------------------------------------------------------------------


def test_a_block_slides_stops_and_gives_its_bristle_back():
    given = reference("sliding_block")
    p, t = given["parameters"], given["compliant"]["t"]
    model = ball(p["mass"], joint=sk.Translation())
    depth = p["mass"] * p["gravity"] / p["stiffness"]
    contact = sk.Contact("ball", "floor", **law(p))
    for i, stop in enumerate(t[1:], start=1):
        run = sk.simulate(model, [0, 0, 0.1 - depth], [p["speed"], 0, 0], duration=stop, dt=stop,
                          ground=FLOOR, contacts=[contact], **FINE)  # fmt: skip
        assert abs(run.q[-1, 0] - given["compliant"]["x"][i]) < 1e-6
        assert abs(run.v[-1, 0] - given["compliant"]["v"][i]) < 1e-6


def rolling(p, case, gravity, start, method=None):
    """A ball on a plane: x, speed, turn rate at the times of the reference."""
    model = ball(p["mass"], p["radius"], gravity=gravity, inertia=p.get("inertia"))
    depth = -p["mass"] * gravity[2] / p["stiffness"]
    contact = sk.Contact("ball", "floor", **law({**p, **case}))
    found = []
    for stop in case["compliant"]["t"][1:]:
        v = [0.0, start[1], 0.0, start[0], 0.0, 0.0]
        given = method or {**FINE, "dt": stop}
        if method:
            given = {**method, "dt": stop / round(stop / method["dt"])}
        run = sk.simulate(model, at(0, 0, p["radius"] - depth), v, duration=stop, ground=FLOOR,
                          contacts=[contact], every=round(stop / given["dt"]), **given)  # fmt: skip
        motion = sk.velocities(model, run.q[-1], run.v[-1])[0][0]
        found.append((run.q[-1, 4], motion[3], motion[1]))
    return np.array(found).T


@pytest.mark.parametrize("number", range(4))
def test_a_ball_on_a_slope_rolls_or_slips(number):
    given = reference("sphere_on_incline")
    p, case = given["parameters"], given["cases"][number]
    a = np.radians(case["slope_degrees"])
    gravity = (p["gravity"] * np.sin(a), 0.0, -p["gravity"] * np.cos(a))
    x, vx, turning = rolling(p, case, gravity, (0.0, 0.0))
    wanted = case["compliant"]
    assert np.abs(x / wanted["x"][1:] - 1).max() < 1e-6
    assert np.abs(vx / wanted["vx"][1:] - 1).max() < 1e-6
    assert np.abs(turning - wanted["turn_rate"][1:]).max() < 1e-6 * (1 + abs(turning).max())
    assert abs(x[-1] / case["rigid"]["x_1s"] - 1) < 5e-4


@pytest.mark.parametrize("number", range(4))
def test_a_bowling_ball_slides_and_then_rolls(number):
    given = reference("bowling_ball")
    p, case = given["parameters"], given["cases"][number]
    start = case["speed"], case["turn_rate"]
    x, vx, turning = rolling(p, case, (0, 0, -p["gravity"]), start)
    wanted = case["compliant"]
    assert np.abs(x / wanted["x"][1:] - 1).max() < 1e-6
    assert np.abs(vx / wanted["vx"][1:] - 1).max() < 1e-6
    assert np.abs(turning / wanted["turn_rate"][1:] - 1).max() < 1e-6
    assert abs(vx[-1] / case["rigid"]["rolling_speed"] - 1) < 5e-4


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint", "semi_implicit_euler"])
def test_fixed_steps_find_the_same_ball_on_the_slope(method):
    given = reference("sphere_on_incline")
    p, case = given["parameters"], given["cases"][0]
    a = np.radians(case["slope_degrees"])
    gravity = (p["gravity"] * np.sin(a), 0.0, -p["gravity"] * np.cos(a))
    dt = 5e-5 if method != "rk4" else 1e-4
    x, vx, _ = rolling(p, case, gravity, (0.0, 0.0), {"integrator": method, "dt": dt})
    allowed = {"rk4": 3e-9, "implicit_midpoint": 3e-7, "semi_implicit_euler": 4e-3}[method]
    assert np.abs(x / case["compliant"]["x"][1:] - 1).max() < allowed
    assert np.abs(vx / case["compliant"]["vx"][1:] - 1).max() < allowed


def test_a_ball_rolls_down_a_fixed_ball():
    """To the reference's tolerance, and by its closed form for rigid balls that do not slip."""
    given = reference("ball_on_ball")
    p, wanted, fine = given["parameters"], given["compliant"], given["suggested_tolerance"]
    model = ball(p["mass"], p["radius"])
    rock = {"rock": sk.Sphere(p["fixed_radius"])}
    contact = sk.Contact("ball", "rock", **law(p))
    apart, top = p["fixed_radius"] + p["radius"], np.cos(wanted["angle"][0])
    times = np.array(given["rigid"]["reached_at"])
    for i, stop in enumerate(wanted["t"][1:], start=1):
        run = sk.simulate(model, at(wanted["x"][0], 0, wanted["z"][0]), np.zeros(6), duration=stop,
                          dt=stop, ground=rock, contacts=[contact], **FINE)  # fmt: skip
        q, motion = run.q[-1], sk.velocities(model, run.q[-1], run.v[-1])[0][0]
        angle, turn = np.arctan2(q[4], q[6]), 2 * np.arctan2(q[2], q[0])
        found = q[4], q[6], angle, turn, motion[1]
        keys = ("x", "z", "angle", "turn", "turn_rate")
        for key, value in zip(keys, found, strict=True):
            assert abs(value - wanted[key][i]) < fine["compliant"], key
        # θ̇² = 10g(cos θ0 − cos θ)/(7(R + r)): its speed, and when a rigid ball is there
        rigid = np.sqrt(10 * p["gravity"] * (top - np.cos(angle)) / (7 * apart))
        assert abs(np.hypot(motion[3], motion[5]) / (apart * rigid) - 1) < RIGID
        late = times[i - 1] + (angle - given["rigid"]["angles"][i - 1]) / rigid
        assert abs(stop / late - 1) < fine["rigid_time_relative"]


# ---- it holds -----------------------------------------------------------------------------------


def sled(p, slope):
    """A block that slides along x and z, so that a force on joint x can shake it."""
    a = np.radians(slope)
    b = sk.ModelBuilder(gravity=(p["gravity"] * np.sin(a), 0, -p["gravity"] * np.cos(a)))
    b.add_body("rail", joint=sk.Prismatic((1, 0, 0), name="x"))
    b.add_body("block", "rail", sk.Prismatic((0, 0, 1), name="z"), mass=p["mass"],
               inertia=(1, 1, 1))  # fmt: skip
    b.add_collision("block", sk.Sphere(0.1))
    return b.build()


@pytest.mark.parametrize("shaken", [False, True])
@pytest.mark.parametrize("number", range(3))
def test_a_block_on_a_slope_does_not_creep(number, shaken):
    given = reference("hold_on_slope")
    p, case = given["parameters"], given["cases"][number]
    if shaken and number != 1:
        return  # half as much again would be too much at 16 degrees
    model = sled(p, case["slope_degrees"])
    contact = sk.Contact("block", "floor", dissipation=20.0, **law(p))
    load = p["mass"] * p["gravity"] * np.sin(np.radians(case["slope_degrees"]))
    shake = [sk.Sinusoid("x", 0.5 * load, 20.0)] if shaken else []
    run = sk.simulate(model, [0.0, 0.1 - case["static_depth"]], [0, 0], duration=12.0, dt=5e-4,
                      every=100, ground=FLOOR, contacts=[contact], elements=shake)  # fmt: skip
    late = run.q[run.t >= 2.0]  # rows are whole periods of the shaking apart
    assert np.abs(late - late[0]).max() < 1e-12
    assert abs(late[-1, 1] - 0.1 + case["static_depth"]) < 1e-12
    assert run.summary["warnings"] == []


def test_it_breaks_away_at_the_angle_of_friction():
    p = reference("hold_on_slope")["parameters"]
    contact = sk.Contact("block", "floor", **law(p))
    ways = []
    for slope in (16.6, 16.8):
        depth = p["mass"] * p["gravity"] * np.cos(np.radians(slope)) / p["stiffness"]
        run = sk.simulate(sled(p, slope), [0.0, 0.1 - depth], [0, 0], duration=4.0, dt=1e-3,
                          every=1000, ground=FLOOR, contacts=[contact])  # fmt: skip
        ways.append(run.q[-1, 0] - run.q[1, 0])
    assert abs(ways[0]) < 1e-9
    assert ways[1] > 0.05


def standing(shape, feet=()):
    """A cube, or a plate on three balls, free."""
    b = sk.ModelBuilder()
    b.add_body("body", joint=sk.Free(), mass=1.0, inertia=(0.002, 0.002, 0.002))
    if shape is not None:
        b.add_collision("body", shape)
    for x, y in feet:
        b.add_collision("body", sk.Sphere(0.02), translation=(x, y, -0.05))
    return b.build()


@pytest.mark.parametrize("kind", ["cube", "tripod"])
def test_bodies_that_stand_on_a_slope_stay_where_they_are(kind):
    """10 s after settling: within 10 nm."""
    a = np.radians(10.0)
    model = standing(sk.Box((0.1, 0.1, 0.1))) if kind == "cube" else standing(
        None, ((0.1, 0), (-0.05, 0.08), (-0.05, -0.08)))  # fmt: skip
    slope = sk.HalfSpace(normal=(np.sin(a), 0, np.cos(a)))
    height = 0.05 if kind == "cube" else 0.07
    start = [np.cos(a / 2), 0, np.sin(a / 2), 0, height * np.sin(a), 0, height * np.cos(a)]
    law = {"stiffness": 5e4, "dissipation": 20.0, "friction": 0.8, "tangential_damping": 30.0}
    run = sk.simulate(model, start, np.zeros(6), duration=12.0, dt=5e-4, every=200, ground=[slope],
                      contacts=[sk.Contact("body", "floor", **law)])  # fmt: skip
    late = run.q[run.t >= 2.0]
    assert run.summary["warnings"] == []
    assert np.abs(late - late[0]).max() < 1e-8
    assert np.abs(run.v[-1]).max() < 1e-8


def quadruped():
    """A trunk on four legs of three hinges, sphere feet; servos hold the posture."""
    b = sk.ModelBuilder()
    b.add_body("trunk", joint=sk.Free(), mass=6.0, inertia=(0.03, 0.15, 0.16))
    posture, limb = {"hip": 0.0, "thigh": 0.6, "knee": -1.2}, 0.2
    rod = {"mass": 0.4, "com": (0, 0, -limb / 2), "inertia": (2e-3, 2e-3, 2e-4)}
    servos = []
    for leg, (x, y) in {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "hl": (-0.2, 0.1),
                        "hr": (-0.2, -0.1)}.items():  # fmt: skip
        b.add_body(f"{leg}_hip", "trunk", sk.Revolute((1, 0, 0), name=f"{leg}_hip"), mass=0.3,
                   inertia=(5e-4, 5e-4, 5e-4), translation=(x, y, 0))  # fmt: skip
        b.add_body(f"{leg}_thigh", f"{leg}_hip", sk.Revolute((0, 1, 0), name=f"{leg}_thigh"), **rod)
        b.add_body(f"{leg}_shank", f"{leg}_thigh", sk.Revolute((0, 1, 0), name=f"{leg}_knee"),
                   translation=(0, 0, -limb), **rod)  # fmt: skip
        b.add_collision(f"{leg}_shank", sk.Sphere(0.02), translation=(0, 0, -limb))
        servos += [sk.Servo(f"{leg}_{joint}", kp=200.0, kd=5.0, target=angle)
                   for joint, angle in posture.items()]  # fmt: skip
    height = limb * (np.cos(0.6) + np.cos(-0.6)) + 0.02
    return b.build(), servos, [0.0, 0.6, -1.2] * 4, height


def test_a_quadruped_stands_on_a_slope_without_creeping():
    """10 s after settling: within 10 nm. Its feet carry its weight."""
    model, servos, joints, height = quadruped()
    a = np.radians(10.0)
    slope = [sk.HalfSpace(normal=(np.sin(a), 0, np.cos(a)))]
    start = [np.cos(a / 2), 0, np.sin(a / 2), 0, height * np.sin(a), 0, height * np.cos(a)]
    feet = sk.Contact("*_shank", "floor", stiffness=2e4, dissipation=10.0, friction=0.8,
                      tangential_damping=20.0)  # fmt: skip
    run = sk.simulate(model, [*start, *joints], np.zeros(18), duration=16.0, dt=4e-4, every=500,
                      ground=slope, contacts=[feet], elements=servos)  # fmt: skip
    late = run.q[run.t >= 6.0]
    assert run.summary["warnings"] == []
    assert np.abs(late - late[0]).max() < 1e-8


# ---- refusals and warnings ----------------------------------------------------------------------


def test_a_start_deep_in_the_ground_is_refused_with_its_depth():
    with pytest.raises(sk.StateError, match=r"'ball/floor' begins 0.06 m deep, more than half of"):
        sk.simulate(ball(), at(0, 0, 0.04), np.zeros(6), duration=0.1, ground=FLOOR,
                    contacts=[sk.Contact("ball", "floor", stiffness=1e4)])  # fmt: skip


def test_semi_implicit_euler_refuses_steps_that_are_too_long_for_friction():
    contact = sk.Contact("ball", "floor", stiffness=1e4, friction=0.5)
    with pytest.raises(sk.StateError, match=r"dt is 0\.005, and semi_implicit_euler needs less"):
        sk.simulate(ball(), at(0, 0, 0.2), np.zeros(6), duration=0.1, dt=5e-3, ground=FLOOR,
                    integrator="semi_implicit_euler", contacts=[contact])  # fmt: skip


def test_a_ball_that_may_pass_through_and_one_that_sinks_in_are_warned_of():
    contact = sk.Contact("ball", "floor", stiffness=2e3)
    run = sk.simulate(ball(), at(0, 0, 0.11), [0, 0, 0, 0, 0, -3.0], duration=0.03, dt=1e-3,
                      ground=FLOOR, contacts=[contact])  # fmt: skip
    assert any("more than half of the shape" in w for w in run.summary["warnings"])
    run = sk.simulate(ball(), at(0, 0, 1.0), [0, 0, 0, 0, 0, -200.0], duration=0.01, dt=1e-3,
                      ground=FLOOR, contacts=[contact])  # fmt: skip
    assert any("may have passed through" in w for w in run.summary["warnings"])


def test_friction_too_fast_for_the_step_is_warned_of():
    contact = sk.Contact("ball", "floor", stiffness=1e4, friction=0.5, dissipation=1.0,
                         tangential_damping=4e3)  # fmt: skip
    run = sk.simulate(ball(), at(0, 0, 0.0999), np.zeros(6), duration=0.02, dt=1e-3,
                      ground=FLOOR, contacts=[contact])  # fmt: skip
    assert any("friction of contact 'ball/floor'" in w for w in run.summary["warnings"])


def test_a_pattern_that_fits_nothing_is_refused_by_simulate():
    with pytest.raises(sk.ModelError, match="fits no shape"):
        sk.simulate(ball(), at(0, 0, 1.0), np.zeros(6), duration=0.1,
                    contacts=[sk.Contact("ball", "floor", stiffness=1e4)])  # fmt: skip
