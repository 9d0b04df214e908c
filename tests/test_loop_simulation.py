"""Motions with closed loops: the reference trajectories, the order of methods, drift, energy."""

from itertools import pairwise

import numpy as np
import pytest

import skodyn as sk
from loop_references import (
    METHODS,
    Mechanism,
    five_bar,
    four_bar_cut,
    n_four_bar,
    n_four_bar_angle,
    reference,
    rsur,
)
from skodyn.simulation.engine import Engine
from skodyn.simulation.settings import IntegratorSettings

MOVING = (
    "01_slider_crank", "02_four_bar", "03_n_four_bar_1", "05_bricard", "07_rssr", "08_stewart",
    "11_gripper", "13_coupled_pendulums",
)  # fmt: skip
DRIFTING = ("02_four_bar", "05_bricard", "07_rssr", "11_gripper")


def pull(joint, value):
    """A constant joint force, as a table of two equal torques."""
    return sk.TorqueTable(joint, (0.0, 1e9), (value, value))


def acting(given: Mechanism):
    """Forces of a file besides gravity: joint properties and elements for sk.simulate."""
    elements = [pull(joint, value) for joint, value in given.source.get("tau", {}).items()]
    joints, legs = {}, given.source.get("spring_on_legs")
    if legs:
        start = given.source["initial"]["q"]
        joints = {
            name: sk.JointProperties(legs["stiffness"], start[name], legs["damping"])
            for name in (f"leg{i}" for i in range(1, 7))
        }
    return {"joints": joints, "elements": elements}


def run_of(given, duration, dt, integrator="rk4", every=1, **more):
    model = given.model
    q, v, _ = given.state(model)
    run = sk.simulate(model, q, v, duration=duration, dt=dt, integrator=integrator, every=every,
                      **acting(given), **more)  # fmt: skip
    assert run.status == "finished", run.message
    return model, run


def apart(given, model, q, expected):
    """The largest difference of coordinates; a quaternion may have either sign."""
    wanted = given.packed_q(model, given.gathered(expected))
    worst = 0.0
    for body in given.bodies:
        s = model.q_slice(body["joint_name"])
        one, two = q[s].copy(), wanted[s]
        if body["joint"]["kind"] in ("spherical", "free") and one[:4] @ two[:4] < 0:
            one[:4] *= -1
        worst = max(worst, np.abs(one - two).max(initial=0.0))
    return worst


# ---- reference trajectories ---------------------------------------------------------------------


@pytest.mark.parametrize("name", MOVING)
def test_dormand_prince_follows_the_reference_trajectory(name):
    """q to 1e-9 at all times, and to the file's own accuracy where that is coarser."""
    given = reference(name)
    rows = given.source["expected"]["trajectory"]
    if name == "03_n_four_bar_1":
        rows = [row for row in rows if row["t"] <= 2.0]  # the rest is in the test of A02
    dt = 0.05
    model, run = run_of(given, rows[-1]["t"], dt, "dormand_prince", rtol=1e-12, atol=1e-12)
    for row in rows:
        i = round(row["t"] / dt)
        assert run.t[i] == pytest.approx(row["t"], abs=1e-12)
        assert apart(given, model, run.q[i], row["q"]) <= 1e-9, f"at {row['t']} s"
        size = max(1.0, np.abs(given.gathered(row["v"])).max())
        v = given.packed_v(model, given.gathered(row["v"]))
        assert np.abs(run.v[i] - v).max() <= 1e-8 * size


def test_bricard_moves_as_its_closed_form_says():
    """Overconstrained: rank 4 on its motion, 5 beside it. P3 is the far end of the second rod."""
    given = reference("05_bricard")
    model, run = run_of(given, 10.0, 0.01)
    for row in given.source["expected"]["trajectory"]:
        i = round(row["t"] / 0.01)
        _, positions = sk.forward_kinematics(model, run.q[i])
        assert positions[model.body_index("rod3")] == pytest.approx(row["P3"], abs=1e-8)
    a, b = (run.q[:, model.q_slice(name)][:, 0] for name in ("j1", "j2"))
    assert np.abs((1 + np.sin(a)) * (1 + np.sin(b)) - 1).max() < 1e-8


MANY = pytest.param(40, marks=pytest.mark.slow)


@pytest.mark.parametrize("n", [1, 4, MANY])
def test_a02_passes_the_singular_position_on_the_right_branch(n):
    """All cranks level is where n + 1 freedoms meet for an instant: ten times in ten seconds.

    A gap of 1e-15 m is an acceleration of 0.15 rad/s² at 5e-5 rad from level (docs/loops.md). It
    lies across the motion as the mass matrix measures, and so must the projection.
    """
    given = n_four_bar(n)
    model, run = run_of(given, 10.0, 1e-3, every=1000)
    for t in (1, 2, 5, 10):
        angle = n_four_bar_angle(n, float(t))
        end = run.q[t][model.q_slice("crank0")][0]
        assert np.cos(end) == pytest.approx(np.cos(angle), abs=1e-6)
        assert np.sin(end) == pytest.approx(np.sin(angle), abs=1e-6)
        for i in range(1, n + 1):
            assert run.q[t][model.q_slice(f"crank{i}")][0] == pytest.approx(end, abs=1e-6)


@pytest.mark.parametrize("steps", [5_000, 9_523, 10_526, 11_111, 20_000])
@pytest.mark.parametrize("n", [1, 4])  # of 40, 9523 steps are off by 1.2e-6 (docs/loops.md)
def test_a02_does_not_depend_on_where_steps_happen_to_end(n, steps):
    """Least changes of coordinates alone are off by 4e-5 (1 window, 20,000 steps) and 1e-5 (4
    windows, 5000 steps): whatever comes nearest to level decides."""
    given = n_four_bar(n)
    model, run = run_of(given, 10.0, 10.0 / steps, every=steps)
    ends = [run.q[-1][model.q_slice(f"crank{i}")][0] for i in range(n + 1)]
    off = np.array(ends) - n_four_bar_angle(n, 10.0)
    assert np.abs(np.sin(0.5 * off)).max() < 0.5e-6  # whole turns aside


# ---- order --------------------------------------------------------------------------------------

ORDER = {
    "four_bar": (reference("02_four_bar"), 0.1, 0.01),
    "five_bar": (five_bar(), 0.24, 0.02),
    "rssr": (reference("07_rssr"), 0.24, 0.02),
    "rsur": (rsur(), 0.16, 0.02),
    "stewart": (reference("08_stewart"), 0.1, 0.01),
}


@pytest.mark.parametrize("name", ORDER)
def test_rk4_is_of_order_four(name):
    """Its error falls at least 14-fold when the step is halved, down to 1e-10."""
    given, duration, dt = ORDER[name]
    _, fine = run_of(given, duration, duration, "dormand_prince", rtol=1e-13, atol=1e-13)
    model = given.model
    errors = []
    for halvings in range(4):
        step = dt / 2**halvings
        _, run = run_of(given, duration, step, every=round(duration / step))
        errors.append(np.abs(model.difference(fine.q[-1], run.q[-1])).max())
    ratios = [a / b for a, b in pairwise(errors) if b > 1e-10]
    assert ratios, errors
    assert errors[0] > 1e-8  # so that something can fall
    assert min(ratios[-2:]) >= 14, (errors, ratios)


# ---- drift --------------------------------------------------------------------------------------


def widest(model, q, v):
    """The largest row of g, and of Gv, over all rows of a run."""
    return np.abs(sk.loop_error(model, q)).max(), np.abs(sk.loop_rate(model, q, v)).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DRIFTING)
def test_loops_stay_closed_in_every_row(name, method):
    given = reference(name)
    dt = 2.5e-4 if name == "11_gripper" else 1e-3
    count = 800 if name == "11_gripper" else 2000  # the gripper's fingers meet after 0.3 s
    model, run = run_of(given, count * dt, dt, method)
    assert len(run.t) == count + 1
    gaps, rates = widest(model, run.q, run.v)
    assert gaps <= 1e-13
    assert rates <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DRIFTING)
def test_loops_stay_closed_for_a_million_steps(name, method):
    """50 s: a crank's angle then has 400 rad, which a double holds to 6e-14."""
    given = reference(name)
    still = Mechanism(**vars(given))
    still.source = {}  # the gripper without its motor: it would run into its end
    model, run = run_of(still, 50.0, 5e-5, method, every=97)
    gaps, rates = widest(model, run.q, run.v)
    assert gaps <= 1e-13
    assert rates <= 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("turns", [300, 20_000])
def test_a_crank_that_has_turned_many_times_goes_on(turns, method):
    """Rounding of a large angle leaves a gap that no Newton step can close; that is no fault."""
    given = reference("02_four_bar")
    wound = Mechanism(**vars(given))
    wound.q = given.q + 2 * np.pi * turns * np.array([1.0, -1.0, 0.0])
    model, run = run_of(wound, 0.2, 1e-3, method)
    _, near = run_of(given, 0.2, 1e-3, method)
    rounding = np.spacing(2 * np.pi * turns)
    assert np.abs(sk.loop_error(model, run.q)).max() <= 4 * rounding
    shift = given.packed_q(model, wound.q) - given.packed_q(model, given.q)
    assert np.abs(run.q - shift - near.q).max() <= 1e4 * rounding


def test_dense_output_is_closed_as_well():
    """Rows between the steps of dormand_prince are interpolated; the logged ones are projected."""
    given = reference("07_rssr")
    model, run = run_of(given, 0.5, 1e-3, "dormand_prince", rtol=1e-5, atol=1e-5)
    assert run.summary["steps"] < 300
    gaps, rates = widest(model, run.q, run.v)
    assert gaps <= 1e-13
    assert rates <= 1e-12


# ---- what is conserved --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_a_gripper_in_flight_keeps_its_momentum(method):
    given = reference("11_gripper")
    more = {"rtol": 1e-12, "atol": 1e-12} if method == "dormand_prince" else {}
    model, run = run_of(given, 0.2, 1e-4, method, every=100, **more)
    momenta = sk.momentum(model, run.q, run.v)
    size = np.abs(momenta[0]).max()
    assert np.abs(momenta - momenta[0]).max() <= 1e-12 * max(1.0, size)


def energies(model, run):
    return sum(sk.energy(model, run.q, run.v))


def trend_of(model, run):
    """How far a straight line through the energy climbs, and how far it swings about that line."""
    energy = energies(model, run)
    line = np.polyval(np.polyfit(run.t, energy, 1), run.t)
    return abs(line[-1] - line[0]), np.ptp(energy - line)


def swinging_four_bar(duration, dt, every=1):
    """Too slow to go round: it swings, and each swing is the reverse of the one before."""
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    run = sk.simulate(
        model, q, 0.05 * v, duration=duration, dt=dt, integrator="implicit_midpoint", every=every
    )
    return model, run


def test_implicit_midpoint_has_no_trend_of_energy_in_motions_that_turn_back():
    model, run = swinging_four_bar(80.0, 2e-3)
    assert np.ptp(run.q[:, 0]) < 2 * np.pi  # it does not go round
    trend, swing = trend_of(model, run)
    assert trend <= 0.1 * swing
    assert swing < 1e-3


@pytest.mark.slow
def test_implicit_midpoint_has_no_trend_of_energy_in_a_million_steps():
    model, run = swinging_four_bar(1000.0, 1e-3, every=37)
    trend, swing = trend_of(model, run)
    assert trend <= 0.1 * swing


@pytest.mark.parametrize("name", ["02_four_bar", "07_rssr", "05_bricard", "11_gripper"])
def test_steps_of_implicit_midpoint_are_their_own_reverse(name):
    """Symmetric to rounding; projected at its end only, a step would be so to fourth order."""
    given = reference(name)
    model = given.model
    q, v, _ = given.state(model)
    settings = {"duration": 0.2, "dt": 4e-3, "integrator": "implicit_midpoint"}
    there = sk.simulate(model, q, v, **settings)
    back = sk.simulate(model, there.q[-1], -there.v[-1], **settings)
    assert np.abs(model.difference(q, back.q[-1])).max() < 1e-11
    assert np.abs(back.v[-1] + v).max() < 1e-10 * max(1.0, np.abs(v).max())


def test_rk4_keeps_the_energy_of_an_overconstrained_mechanism():
    """With projection at the ends of steps only it would gain 180 %."""
    model, run = run_of(reference("05_bricard"), 10.0, 0.01, every=10)
    energy = energies(model, run)
    assert np.abs(energy - energy[0]).max() <= 1e-8 * abs(energy[0])


def test_cutting_another_joint_gives_the_same_motion():
    ends = []
    for at in ("pin", "coupler", "rocker"):
        given = four_bar_cut(at)
        model, run = run_of(given, 0.5, 0.5, "dormand_prince", rtol=1e-12, atol=1e-12)
        R, p = sk.forward_kinematics(model, run.q[-1])
        names = ("crank", "coupler", "rocker")
        ends.append([
            p[model.body_index(n)] + R[model.body_index(n)] @ model.com[model.body_index(n)]
            for n in names
        ])  # fmt: skip
    assert np.abs(np.array(ends) - ends[0]).max() < 1e-9


def test_a_run_that_is_advanced_by_hand_has_the_bits_of_simulate():
    """A state evaluates to the same bits wherever it stands: chunks change nothing."""
    given = reference("07_rssr")
    model, run = run_of(given, 0.1, 1e-3)
    q, v, _ = given.state(model)
    engine = Engine(model, q, v, 0.1, IntegratorSettings("rk4", dt=1e-3))
    while not engine.finished:
        assert engine.advance(7).status == 0
    assert np.array_equal(engine.q, run.q[-1])
    assert np.array_equal(engine.v, run.v[-1])
