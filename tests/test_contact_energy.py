"""Contacts make no energy and keep momentum: at every row, for every phase of an impact, to the
order of the method."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.dynamics.contact_functions import with_ground
from skodyn.model.contact.contacts import restitution_of
from skodyn.simulation.elements import Forces
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings
from test_contact_runs import FLOOR, at, ball, law, reference

# ---- momentum ----------------------------------------------------------------------------------


def test_two_sliders_that_collide_keep_their_momentum_to_rounding():
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 2.0)):
        b.add_body(name, joint=sk.Translation(name=name), mass=mass, inertia=(1, 1, 1))
        b.add_collision(name, sk.Sphere(0.1))
    contact = sk.Contact("a", "b", stiffness=1e5, dissipation=0.5, friction=0.6)
    run = sk.simulate(b.build(), [-0.3, 0.02, 0.03, 0, 0, 0], [2.0, 0.1, 0, 0, 0, 0], duration=0.2,
                      dt=1e-4, contacts=[contact], every=10)  # fmt: skip
    total = run.v[:, :3] + 2.0 * run.v[:, 3:]
    assert np.abs(total - total[0]).max() < 1e-14
    assert run.summary["contact_loss"] > 0.05


RUBBING = sk.Contact("a", "b", stiffness=1e5, dissipation=0.5, friction=0.6,
                     torsional_friction=0.01, rolling_friction=0.005)  # fmt: skip


def two_bodies(slides_first):
    """(model, q, v): a ball meets a capsule; free joints, or a turn upon a slide of world axes."""
    rng = np.random.default_rng(0)
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for name, mass in (("a", 1.0), ("b", 2.0)):
        given = {"mass": mass, "inertia": (0.01, 0.02, 0.015)}
        if slides_first:
            b.add_body(f"at_{name}", joint=sk.Translation(name=f"at_{name}"))
            b.add_body(name, f"at_{name}", sk.Spherical(name=name), **given)
        else:
            b.add_body(name, joint=sk.Free(name=name), **given)
    b.add_collision("a", sk.Sphere(0.1), translation=(0.01, 0, 0))
    b.add_collision("b", sk.Capsule(0.1, 0.3))
    first, second, speed = rng.normal(size=3), 0.3 * rng.normal(size=3), 0.3 * rng.normal(size=3)
    starts = ([-0.3, 0.02, 0.03], [2.0, 0, 0], first), ([0.0, 0, 0], speed, second)
    q, v = [], []
    for place, speed, turn in starts:
        q += [*place, 1, 0, 0, 0] if slides_first else at(*place)
        v += [*speed, *turn] if slides_first else [*turn, *speed]
    return b.build(), np.array(q), np.array(v)


def test_momenta_of_two_bodies_that_collide_and_rub_are_kept_to_the_order_of_the_method():
    """Velocities of a free joint are in axes of the body: RK4 turns them to its fourth order."""
    model, q, v = two_bodies(slides_first=False)
    errors = []
    for dt in (2e-4, 1e-4, 5e-5, 2.5e-5):
        run = sk.simulate(model, q, v, duration=0.4, dt=dt, contacts=[RUBBING], every=100,
                          channels=["momentum", "energy"])  # fmt: skip
        found = run.summary
        assert found["contact_loss"] > 0.05  # they did collide
        assert found["momentum_note"] == ""
        assert abs(found["contact_imbalance"]) < max(1e-4, dt)
        assert abs(found["energy_imbalance"]) < max(1e-4, dt)
        errors.append([found["linear_momentum_imbalance"], found["angular_momentum_imbalance"]])
    assert max(errors[0]) < 2e-9
    linear = np.array(errors)[:, 0]
    assert (linear[:-1] / linear[1:] > 12.0).all()
    assert max(errors[-1]) < 1e-12


@pytest.mark.parametrize("dt", [4e-4, 1e-4])
def test_where_nothing_is_turned_momentum_is_kept_to_rounding(dt):
    """The same bodies with their centres on joints of world axes; they turn as much as before."""
    model, q, v = two_bodies(slides_first=True)
    run = sk.simulate(model, q, v, duration=0.4, dt=dt, contacts=[RUBBING], every=10)
    total = run.v[:, :3] + 2.0 * run.v[:, 6:9]
    assert np.abs(total - total[0]).max() < 2e-14
    assert run.summary["contact_loss"] > 0.05
    assert np.abs(run.v[-1, 3:6] - run.v[0, 3:6]).max() > 0.3


# ---- restitution of fixed steps -----------------------------------------------------------------


def speeds_after(case, dt, phases=64):
    """Of equal balls in one run that touch at as many phases of a step, with rk4."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    v, count = case["speed_before"], int(0.02 / dt) + 8
    for i in range(phases):
        b.add_body(f"ball{i}", joint=sk.Prismatic((0, 0, 1), name=f"z{i}"), mass=case["mass"],
                   inertia=(1, 1, 1))  # fmt: skip
        b.add_collision(f"ball{i}", sk.Sphere(0.1))
    start = 0.1 + (1.5 + np.arange(phases) / phases) * v * dt
    run = sk.simulate(b.build(), start, np.full(phases, -v), duration=count * dt, dt=dt,
                      every=count, ground=FLOOR,
                      contacts=[sk.Contact("ball*", "floor", **law(case))])  # fmt: skip
    assert (run.q[-1] > 0.1).all()
    return run


def worst(case, dt):
    return np.abs(speeds_after(case, dt).v[-1] - case["speed_after"]).max()


def fastest(case):
    """ω of the stiffest moment: √(p·k·δ^(p−1)·(1 + c·v)/m)."""
    k, c = case["stiffness"], case["dissipation"]
    hard = k if case["exponent"] == 1 else 1.5 * k * np.sqrt(case["deepest"])
    return np.sqrt(hard * (1 + c * case["speed_before"]) / case["mass"])


IMPACTS = reference("bouncing_ball")["impacts"]
LINEAR = [case for case in IMPACTS if case["exponent"] == 1]


@pytest.mark.parametrize("case", IMPACTS, ids=str)
def test_rk4_misses_the_restitution_by_what_the_kink_of_the_force_allows(case):
    """Where the force begins in a step, Simpson's rule has an error of (dt·ω)²·v times −1/24 to
    1/72; with that of the end of the contact, (dt·ω)²·v/18 at most: 2.2e-3 at 0.2, 1e-3 at 0.134.
    """
    fine = 0.2**2 / 18 if case["exponent"] == 1 else 1e-4
    run = speeds_after(case, 0.2 / fastest(case))
    assert np.abs(run.v[-1] - case["speed_after"]).max() < fine * case["speed_before"]
    assert not any("oscillates" in sentence for sentence in run.summary["warnings"])
    assert worst(case, 0.134 / fastest(case)) < 1e-3


def test_an_elastic_impact_comes_as_near_to_that_bound_as_it_says():
    """The bound is no more than it must be."""
    assert worst(LINEAR[0], 0.2 / fastest(LINEAR[0])) > 0.9 * 0.2**2 / 18


@pytest.mark.parametrize(("case", "known"), [*zip(LINEAR, (2.7e-5, 1.2e-3, 1.2e-4), strict=True)],
                         ids=["c·v 0", "c·v 0.5", "c·v 5"])  # fmt: skip
def test_sixteen_steps_in_the_elastic_contact_time_do_better(case, known):
    """Whole steps in a contact: it ends at the phase at which it began, and both errors are alike,
    with opposite effect."""
    dt = np.pi * np.sqrt(case["mass"] / case["stiffness"]) / 16
    assert abs(worst(case, dt) / known - 1) < 0.05


# ---- energy -------------------------------------------------------------------------------------


def impact(k, c, v, dt, phase, exponent=1.0):
    model = ball(1.0, joint=sk.Translation(), gravity=(0, 0, 0))
    contact = sk.Contact("ball", "floor", stiffness=k, dissipation=c, exponent=exponent)
    steps = int(40.0 / np.sqrt(k * (1 + c * v)) / dt) + 12
    return sk.simulate(model, [0, 0, 0.1 + (1.5 + phase) * v * dt], [0, 0, -v], ground=FLOOR,
                       duration=dt * steps, dt=dt, contacts=[contact])  # fmt: skip


def rise(energy):
    """By how much of the largest it is ever above what it has been before."""
    return (energy - np.minimum.accumulate(energy)).max() / energy.max()


def energies(run, k):
    """Of the unit ball of `impact` and of its contact, of every row."""
    return 0.5 * run.v[:, 2] ** 2 + 0.5 * k * np.maximum(0.1 - run.q[:, 2], 0.0) ** 2


def test_no_energy_comes_from_nowhere_without_a_warning():
    """Random stiffness, dissipation, speed, phase and dt; what leaves too fast is warned of."""
    rng = np.random.default_rng(1)
    warned = silent = 0
    for _ in range(60):
        k, v = 10.0 ** rng.uniform(3, 6), 10.0 ** rng.uniform(-1, 0.7)
        c = rng.choice([0.0, 10.0 ** rng.uniform(-2, 1)])
        dt = 10.0 ** rng.uniform(-1.6, 0.8) / np.sqrt(k * (1 + c * v))
        run = impact(k, c, v, dt, rng.uniform())
        e = restitution_of(c, v)
        if run.summary["warnings"]:
            warned += 1
            continue
        silent += 1
        assert run.v[-1, 2] <= (e + 0.005) * v
        assert run.summary["contact_loss"] >= 0.0
        assert abs(run.summary["contact_imbalance"]) < 1e-2
        assert rise(energies(run, k)) < 1e-2
        finer = impact(k, c, v, 0.25 * dt, rng.uniform())
        assert finer.v[-1, 2] <= (e + 0.0005) * v
        assert abs(finer.summary["contact_imbalance"]) < 1e-3
        assert rise(energies(finer, k)) < 1e-3
    assert warned > 5
    assert silent > 12


def test_the_step_that_throws_a_ball_back_at_four_times_its_speed_is_warned_of():
    k, c, v = 1e5, 50.0, 1.0
    dt = 5.6 / np.sqrt(k * 51.0)
    thrown = [impact(k, c, v, dt, phase) for phase in np.linspace(0, 1, 16)]
    assert max(run.v[-1, 2] for run in thrown) > 3.0
    assert all(run.summary["warnings"] for run in thrown)
    words = thrown[0].summary["warnings"][0]
    assert "contact 'ball/floor'" in words
    assert "use dt =" in words


def rows_of(model, q, v, dt, steps, contact):
    """(q, y) of every step; y has the bristles behind the velocities, the loss before the work."""
    plan = Plan(with_ground(model, FLOOR), q, v, dt * steps, IntegratorSettings("rk4", dt=dt),
                Forces(contacts=(contact,)))  # fmt: skip
    engine = plan.engine()
    blocks = [engine.present()]
    while not engine.finished:
        blocks.append(engine.advance(1000))
    return (np.concatenate([getattr(block, name) for block in blocks]) for name in ("q", "y"))


def rubbing_impact(rng):
    """(law, q, v, dt) of a ball that spins and slides into the floor."""
    k, speed = 10.0 ** rng.uniform(3, 6), 10.0 ** rng.uniform(-1, 0.7)
    c, turns = rng.choice([0.0, 10.0 ** rng.uniform(-2, 1)]), rng.choice([0.0, 0.01])
    kt = k * rng.uniform(0.2, 1.0)
    contact = sk.Contact("ball", "floor", stiffness=k, dissipation=c, tangential_stiffness=kt,
                         friction=rng.uniform(0.1, 1.5), torsional_friction=turns,
                         tangential_damping=rng.uniform(0.1, 1.0) * np.sqrt(kt),
                         rolling_friction=turns * rng.choice([0.0, 1.0]))  # fmt: skip
    dt = 10.0 ** rng.uniform(-1.8, 0.2) / np.sqrt(k * (1 + c * speed))
    v = np.concatenate((speed * rng.normal(size=3) / 0.1, speed * rng.normal(size=2), [-speed]))
    return contact, np.array(at(0, 0, 0.1 + rng.uniform(0.5, 1.5) * speed * dt)), v, dt


def rise_while_rubbing(contact, q, v, dt):
    """(rise of kinetic and stored energy together at any row, warnings); the loss never falls."""
    model = ball(1.0, gravity=(0, 0, 0))
    steps = int(12.0 / np.sqrt(contact.stiffness) / dt) + 12
    where, y = rows_of(model, q, v, dt, steps, contact)
    own = y[:, 6 : y.shape[1] - 3]
    stored = sk.contact_forces(with_ground(model, FLOOR), [contact], where, y[:, :6], own).stored
    weights = np.array([4e-3] * 3 + [1.0] * 3)
    assert (np.diff(y[:, -2]) >= 0.0).all()
    run = sk.simulate(model, q, v, duration=steps * dt, dt=dt, ground=FLOOR, contacts=[contact])
    return rise(0.5 * (weights * y[:, :6] ** 2).sum(axis=1) + stored[:, 0]), run.summary["warnings"]


def test_a_ball_that_spins_and_rubs_gains_no_energy_at_any_row():
    """Bristles of friction, torsion and rolling among what is stored; no other force works."""
    rng = np.random.default_rng(2)
    warned = silent = 0
    for _ in range(40):
        contact, q, v, dt = rubbing_impact(rng)
        found, warnings = rise_while_rubbing(contact, q, v, dt)
        if warnings:
            warned += 1
            continue
        silent += 1
        assert found < 1e-2
        assert rise_while_rubbing(contact, q, v, 0.25 * dt)[0] < 1e-3
    assert warned > 5
    assert silent > 12


def test_the_loss_never_falls():
    contact = sk.Contact("ball", "floor", stiffness=1e4, dissipation=0.5, friction=0.4)
    q, v = np.array(at(0, 0, 0.2)), np.array([3.0, 2, 1, 1, 0, 0])
    _, y = rows_of(ball(1.0), q, v, 5e-4, 1600, contact)
    assert (np.diff(y[:, -2]) >= 0.0).all()
    assert y[-1, -2] > 0.5
