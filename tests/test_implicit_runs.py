"""Runs of implicit_contact: standing without creep, energy that never rises, order, refusals."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.dynamics.contact_functions import with_ground
from skodyn.errors import StateError
from skodyn.jit import JIT_DISABLED
from skodyn.simulation.elements import Forces, Servo
from skodyn.simulation.engine import Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics
from test_motions_of_joints import MOTIONS, ship, start

LEGS = {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "hl": (-0.2, 0.1), "hr": (-0.2, -0.1)}
POSTURE = {"hip": 0.0, "thigh": 0.6, "knee": -1.2}
FEET = sk.Contact("*_shank", "floor", stiffness=2e4, dissipation=5.0, friction=0.8)
SLOPE = (math.sin(math.radians(10)), 0.0, math.cos(math.radians(10)))


def quadruped(normal=(0.0, 0.0, 1.0)):
    """(model, servos, q): a free base and twelve hinges, feet that are spheres, gravity turned."""
    b = sk.ModelBuilder(gravity=-9.81 * np.array(normal))
    b.add_body("trunk", joint=sk.Free(), mass=6.0, inertia=(0.03, 0.15, 0.16))
    for leg, (x, y) in LEGS.items():
        rods = {"mass": 0.4, "com": (0, 0, -0.1), "inertia": (2e-3, 2e-3, 2e-4)}
        b.add_body(f"{leg}_hip", "trunk", sk.Revolute((1, 0, 0), name=f"{leg}_hip"), mass=0.3,
                   inertia=(5e-4, 5e-4, 5e-4), translation=(x, y, 0))  # fmt: skip
        b.add_body(f"{leg}_thigh", f"{leg}_hip", sk.Revolute((0, 1, 0), name=f"{leg}_thigh"),
                   **rods)  # fmt: skip
        b.add_body(f"{leg}_shank", f"{leg}_thigh", sk.Revolute((0, 1, 0), name=f"{leg}_knee"),
                   translation=(0, 0, -0.2), **rods)  # fmt: skip
        b.add_collision(f"{leg}_shank", sk.Sphere(0.02), translation=(0, 0, -0.2))
    servos = tuple(
        Servo(f"{leg}_{j}", kp=80.0, kd=2.0, target=x) for leg in LEGS for j, x in POSTURE.items()
    )
    height = 0.2 * (math.cos(0.6) + math.cos(-0.6)) + 0.02
    q = np.array([1.0, 0, 0, 0, 0, 0, height + 0.02, *list(POSTURE.values()) * 4])
    return with_ground(b.build(), [sk.HalfSpace()]), servos, q


def engine(model, q, v, forces, dt, duration):
    settings = IntegratorSettings("implicit_contact", dt=dt)
    return Engine(model, np.asarray(q, float), np.asarray(v, float), duration, settings, forces)


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3, 1e-2])
def test_a_quadruped_stands_on_a_slope_without_creep_and_jitter(dt):
    model, servos, q = quadruped(SLOPE)
    run = engine(model, q, np.zeros(18), Forces(elements=servos, contacts=(FEET,)), dt, 20.0)
    while run.t < 10.0 - dt / 2:
        assert run.advance(round((10.0 - run.t) / dt)).status == 0
    settled, squares = run.q.copy(), []
    while not run.finished:
        block = run.advance(500)
        assert block.status == 0
        squares += (block.y[:, :18] ** 2).sum(axis=1).tolist()
    assert np.abs(run.q - settled).max() < 1e-8
    assert math.sqrt(np.mean(squares)) < 1e-8
    bent = run.contacts.bristles(run.y[None])[0]
    found = sk.contact_forces(model, [FEET], run.q, run.v, bent)
    weight = -model.mass.sum() * np.array(model.gravity)
    assert np.abs(found.force.sum(axis=0) - weight).max() < 1e-6 * weight.max()
    assert np.linalg.norm(found.force[:, :2], axis=1).max() > 1.0  # friction holds it


def energies(run, rows):
    """Kinetic, of gravity and what contacts hold."""
    model, out = run.model, []
    for q, y in zip(rows.q, rows.y, strict=True):
        moving = sum(sk.energy(model, q, np.ascontiguousarray(y[: model.nv])))
        out.append(moving + run.contacts.stored(q, y))
    return np.array(out)


@pytest.mark.parametrize("seed", range(8))
def test_no_step_raises_the_energy_of_balls_and_blocks(seed):
    """Thrown at random at random floors, stiffnesses and steps; gyroscopic forces left out."""
    rng = np.random.default_rng(seed)
    normal = np.array([*rng.uniform(-0.4, 0.4, 2), 1.0])
    b = sk.ModelBuilder()
    b.add_body("it", joint=sk.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    corners = sk.Points(((0.1, 0, 0), (-0.1, 0.1, 0), (-0.1, -0.1, 0)), 0.05)
    b.add_collision("it", sk.Sphere(0.1) if seed % 2 else corners)
    model = with_ground(b.build(), [sk.HalfSpace(normal=normal)])
    contact = sk.Contact("it", "floor", stiffness=10 ** rng.uniform(3, 6),
                         dissipation=rng.choice([0.0, 1.0]), friction=rng.choice([0.2, 1.0]),
                         rolling_friction=rng.choice([0.0, 0.01]))  # fmt: skip
    dt = 0.6 / rng.integers(60, 500)
    run = engine(
        model, [1, 0, 0, 0, 0, 0, 0.4], rng.normal(size=6), Forces(contacts=(contact,)), dt, 0.6
    )
    first = energies(run, run.present())
    rows = run.advance(500)
    assert rows.status == 0
    found = np.concatenate((first, energies(run, rows)))
    rise = np.diff(found).max() / np.ptp(found)
    # points on arms turn within a step, which its linear gaps do not see: to second order in dt
    assert rise < (1e-12 if seed % 2 else 0.02), rise
    assert run.y[-2] > 0.0
    assert (np.diff(rows.y[:, -2]) >= 0.0).all()  # the loss never falls


def test_a_standing_quadruped_loses_energy_at_every_step():
    model, servos, q = quadruped(SLOPE)
    for dt in (1e-3, 2e-3, 5e-3, 1e-2):
        run = engine(model, q, np.zeros(18), Forces(elements=servos, contacts=(FEET,)), dt, 1.0)
        total = energies(run, run.present())
        rows = run.advance(10**6)
        held = [
            sum(0.5 * s.kp * (s.target - float(q[model.q_slice(s.joint)][0])) ** 2 for s in servos)
            for q in rows.q
        ]
        total = np.concatenate((total, energies(run, rows) + np.array(held)))
        assert np.diff(total).max() < 1e-3 * np.ptp(total), dt


def slide(method, dt):
    """A ball that sinks in, slides and rolls; where it is after 0.3 s."""
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    b.add_collision("ball", sk.Sphere(0.1))
    law = sk.Contact("ball", "floor", stiffness=3e3, dissipation=0.5, friction=0.3,
                     rolling_friction=2e-3)  # fmt: skip
    run = sk.simulate(b.build(), [1, 0, 0, 0, 0, 0, 0.0985], [0, 3.0, 0, 1.0, 0.5, 0], duration=0.3,
                      dt=dt, integrator=method, ground=[sk.HalfSpace()], contacts=[law]
                      )  # fmt: skip
    return np.concatenate((run.q[-1], run.v[-1]))


def test_it_converges_to_the_law_with_order_one():
    exact = slide("rk4", 2e-5)
    errors = [np.abs(slide("implicit_contact", dt) - exact).max() for dt in (2e-4, 1e-4, 5e-5)]
    assert 1.8 < errors[0] / errors[1] < 2.3
    assert 1.8 < errors[1] / errors[2] < 2.3
    assert errors[-1] < 0.02


def test_a_force_of_the_start_acts_as_in_other_methods():
    """Wrenches, sinusoids and controllers: order one against rk4."""
    model, servos, q = quadruped()
    more = (
        sk.Wrench("trunk", force=(5.0, 0, 0)),
        sk.Sinusoid("fl_hip", amplitude=3.0, frequency=2.0),
    )

    def push(t, q, v, params, tau):
        tau[3] += params[0]

    def last(method, dt):
        run = sk.simulate(model, q, np.zeros(18), duration=0.2, dt=dt, integrator=method,
                          elements=(*servos, *more), contacts=[FEET], controller=push,
                          controller_parameters=[4.0])  # fmt: skip
        assert run.status == "finished"
        return np.concatenate((run.q[-1], [run.summary["work_of_forces"]]))

    exact = last("rk4", 1e-4)
    errors = [np.abs(last("implicit_contact", dt) - exact).max() for dt in (1e-3, 5e-4, 2.5e-4)]
    assert 1.5 < errors[0] / errors[1] < 2.7
    assert 1.5 < errors[1] / errors[2] < 2.7


def test_work_and_loss_of_a_rolling_ball_balance_to_rounding():
    run = sk.simulate(rolling(), [1, 0, 0, 0, 0, 0, 0.2], [0, 0, 0, 1, 0, 0], duration=1.0, dt=1e-2,
                      integrator="implicit_contact", ground=[sk.HalfSpace()],
                      contacts=[sk.Contact("ball", "floor", stiffness=1e5, friction=0.5)]
                      )  # fmt: skip
    assert abs(run.summary["contact_imbalance"]) < 1e-12
    assert run.summary["contact_loss"] > 0.1
    assert run.summary["energy_imbalance"] < 0.0
    assert run.summary["warnings"] == []


def rolling():
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    b.add_collision("ball", sk.Sphere(0.1))
    return b.build()


# ---- contacts between two bodies ----------------------------------------------------------------


def test_two_bodies_that_collide_and_rub_keep_their_momentum():
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for name in "ab":
        b.add_body(name, joint=sk.Free(name=name), mass=1.0 if name == "a" else 2.5,
                   inertia=(0.01, 0.01, 0.01))  # fmt: skip
        b.add_collision(name, sk.Sphere(0.2))
    model = b.build()
    law = sk.Contact("a", "b", stiffness=1e5, dissipation=1.0, friction=0.5)
    q = [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0.45, 0.1, 0.05]
    v = np.array([1.0, 2.0, 3.0, 2.0, 0.0, 0.0, -4.0, 1.0, 0.0, 0.0, 0.1, 0.0])
    run = sk.simulate(model, q, v, duration=0.2, dt=2e-3, integrator="implicit_contact",
                      contacts=[law])  # fmt: skip
    assert run.summary["contact_loss"] > 0.1
    assert run.summary["linear_momentum_imbalance"] < 1e-13
    assert run.summary["angular_momentum_imbalance"] < 1e-13


def gripper():
    """(model, forces, q): two fingers on sliders hold a ball against gravity."""
    b = sk.ModelBuilder()
    for name, x, axis in (("left", -0.16, (1, 0, 0)), ("right", 0.16, (-1, 0, 0))):
        b.add_body(name, joint=sk.Prismatic(axis, name=name), mass=0.1, translation=(x, 0, 0),
                   inertia=(1e-4, 1e-4, 1e-4))  # fmt: skip
        b.add_collision(name, sk.Sphere(0.06))
    b.add_body("ball", joint=sk.Free(name="ball"), mass=0.2, inertia=(8e-4, 8e-4, 8e-4))
    b.add_collision("ball", sk.Sphere(0.1))
    law = sk.Contact(["left", "right"], "ball", stiffness=1e5, dissipation=2.0, friction=0.8,
                     torsional_friction=1e-3)  # fmt: skip
    servos = tuple(Servo(name, kp=1000.0, kd=20.0, target=0.01) for name in ("left", "right"))
    return b.build(), Forces(elements=servos, contacts=(law,)), np.array([0, 0, 1.0, *[0] * 6])


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_gripper_holds_a_ball_without_creep(dt):
    model, forces, q = gripper()
    run = engine(model, q, np.zeros(8), forces, dt, 12.0)
    while run.t < 2.0 - dt / 2:
        assert run.advance(round((2.0 - run.t) / dt)).status == 0
    held = run.q.copy()
    while not run.finished:
        assert run.advance(1000).status == 0
    assert np.abs(run.q - held).max() < 1e-8
    assert held[8] > -1e-3


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
def test_runs_side_by_side_have_the_bits_they_have_alone():
    """Pairs and ground, open and closed in one register, with other frictions and speeds."""
    b = sk.ModelBuilder()
    for name in "abc":
        b.add_body(name, joint=sk.Free(name=name), mass=1.0, inertia=(0.01, 0.02, 0.015))
        b.add_collision(name, sk.Sphere(0.1))
    model = with_ground(b.build(), [sk.HalfSpace(normal=(0.1, 0, 1))])
    laws = (
        sk.Contact(
            "*", "floor", stiffness=2e4, dissipation=0.5, friction=0.5, rolling_friction=0.01
        ),
        sk.Contact("a", "b", stiffness=1e4, friction=0.3),
        sk.Contact("b", "c", stiffness=1e4, dissipation=1.0, friction=0.3, torsional_friction=0.01),
    )
    forces, rng = Forces(contacts=laws), np.random.default_rng(2)
    tables, runs, steps = pack_forces(model, forces), 13, 120
    settings = IntegratorSettings("implicit_contact", dt=4e-3)
    q = np.tile([1, 0, 0, 0, 0, 0, 0.12, 1, 0, 0, 0, 0.19, 0, 0.14, 1, 0, 0, 0, 0.2, 0.05, 0.36],
                (runs, 1)).astype(float)  # fmt: skip
    v = rng.normal(size=(runs, model.nv))
    numbers = np.tile(tables.numbers, (runs, 1))
    friction = np.flatnonzero(tables.numbers == 0.3)
    assert friction.size
    numbers[:, friction] *= rng.uniform(0.1, 3.0, (runs, 1))
    found = []
    for order in (np.arange(runs), rng.permutation(runs)):
        packed = PackedRuns(
            model.kernel_tree, tables.codes, np.tile(model.parameters, (runs, 1)), numbers[order],
            q[order], v[order], tables.n_integrals, model.n_bodies, settings, steps, steps,
            tables.parts,
        )  # fmt: skip
        batch = LaneBatch(packed, pack_metrics({}, model, Path()))
        batch.run()
        assert (batch.status == 0).all()
        back = np.argsort(order)
        found.append((batch.out_q[back], batch.out_v[back]))
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()
    for i in range(0, runs, 4):
        alone = Engine(model, q[i], v[i], steps * 4e-3, settings, forces, every=steps)
        alone._system.numbers[:] = numbers[i]
        assert alone.advance(steps).status == 0
        assert (alone.q == found[0][0][i]).all()
        assert (alone.v == found[0][1][i]).all()


def test_it_converges_by_order_one_where_a_free_base_is_driven():
    """Its axes turn while it slides; a gimbal, a ball and a plate on it are driven, too."""
    model = ship()
    q, v = start(model, MOTIONS)

    def last(method, dt):
        run = sk.simulate(model, q, v, duration=0.2, dt=dt, integrator=method, motions=MOTIONS,
                          every=round(0.2 / dt))  # fmt: skip
        assert run.status == "finished", run.message
        return run

    exact = last("rk4", 5e-4)
    runs = [last("implicit_contact", dt) for dt in (2e-3, 1e-3, 5e-4)]
    errors = [np.abs(model.difference(run.q[-1], exact.q[-1])).max() for run in runs]
    assert all(1.7 < a / b < 2.3 for a, b in pairwise(errors)), errors
    work = [abs(run.summary["work_of_forces"] - exact.summary["work_of_forces"]) for run in runs]
    assert all(1.7 < a / b < 2.3 for a, b in pairwise(work)), work


def test_more_than_eight_points_between_bodies_are_refused():
    b = sk.ModelBuilder()
    for name in "ab":
        b.add_body(name, joint=sk.Free(name=name), mass=1.0, inertia=(1, 1, 1))
        b.add_collision(name, sk.Box((0.1, 0.1, 0.1)))
    q = [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]
    law = sk.Contact("a", "b", stiffness=1e4)
    message = refused((b.build(), q, np.zeros(12)), contacts=[law])
    assert "8 points of contact between two bodies, and there are 16" in message
    assert "rk4" in message


def refused(build, **more):
    with pytest.raises(StateError) as caught:
        sk.simulate(*build, duration=0.1, integrator="implicit_contact", **more)
    return str(caught.value)


def test_what_it_cannot_take_is_refused_by_name():
    b = sk.ModelBuilder()
    for name in "abc":
        b.add_body(name, joint=sk.Revolute((0, 1, 0), name=name), mass=1.0, com=(0.1, 0, 0),
                   inertia=(1, 1, 1))  # fmt: skip
    b.add_mimic("b", "a")
    motion = sk.SteadyMotion("c", speed=1.0)
    start = [0.0, np.nan]
    message = refused((b.build(), start, start), motions=[motion])
    assert "prescribed motions beside mimic joints; choose rk4" in message
    model, (q, v) = sk.examples.four_bar(), four_bar_state()
    v[0], motion = 1.0, sk.SteadyMotion("crank", speed=1.0, start=float(q[0]))
    v = sk.project_velocity(model, q, v, hold=["crank"])
    message = refused((model, q, v), motions=[motion])
    assert "prescribed motions beside closed loops, as 'pin'; choose rk4" in message


def four_bar_state():
    model = sk.examples.four_bar()
    q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    return q, np.zeros(model.nv)


# ---- crossings ----------------------------------------------------------------------------------

WAVES = tuple(tuple(0.02 * math.sin(i + 2 * j) for j in range(6)) for i in range(6))


GROUNDS = {
    "height_field": sk.HeightField((2.0, 2.0), WAVES),
    "box": sk.Box((1, 1, 0.2)),
    "sphere": sk.Sphere(0.5),
}


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_a_ball_comes_to_rest_on_other_grounds(ground):
    """Rolling friction holds it; rows of the channel show the force that carries it."""
    high = 0.62 if isinstance(ground, sk.Sphere) else 0.25
    law = sk.Contact("ball", "under", stiffness=1e5, dissipation=5.0, friction=0.8,
                     rolling_friction=0.05, torsional_friction=0.02)  # fmt: skip
    run = sk.simulate(rolling(), [1, 0, 0, 0, 0.01, 0, high], np.zeros(6), duration=3.0, dt=5e-3,
                      integrator="implicit_contact", ground={"under": ground}, contacts=[law],
                      every=10, channels=["contacts"])  # fmt: skip
    assert run.status == "finished"
    assert np.abs(run.v[-1]).max() < 1e-6
    force = run.trajectory["contact_force"][-1].sum(axis=0)
    assert np.abs(force - [0, 0, 9.81]).max() < 1e-4


def test_a_thermostat_and_the_fixman_force_go_along():
    model = sk.examples.pendulum(3)
    bath = sk.AndersenThermostat(kT=0.5, rate=20.0, seed=4)

    def last(method, dt, **more):
        run = sk.simulate(model, [0.3, 0.5, -0.4], [0.0, 0.1, 0.0], duration=0.4, dt=dt,
                          integrator=method, elements=[sk.FixmanForce(2.0)], **more)  # fmt: skip
        return run.q[-1]

    exact = last("rk4", 1e-3)
    errors = [np.abs(last("implicit_contact", dt) - exact).max() for dt in (2e-3, 1e-3)]
    assert 1.6 < errors[0] / errors[1] < 2.4
    warm = last("implicit_contact", 1e-3, thermostat=bath)
    assert np.abs(warm - exact).max() > 1e-2
