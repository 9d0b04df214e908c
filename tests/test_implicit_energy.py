"""What a step of implicit_contact never raises; by how much it can raise the energy, and why.

Inertia, gyroscopic forces and slopes of potentials are those of the start of a step, so that what
it leaves over is of second order in dt; its sign is that of curvature, not always downwards.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import adapters
import implicit_contact_twin as twin
import naive
import skodyn as sk
import test_implicit_contact as one_step
from skodyn.simulation.elements import Forces
from skodyn.simulation.engine import Engine
from skodyn.simulation.settings import IntegratorSettings


def states(model, q, v, dt, duration):
    """(q, v) of every step, the start included."""
    settings = IntegratorSettings("implicit_contact", dt=dt)
    run = Engine(model, np.array(q, float), np.array(v, float), duration, settings, Forces())
    found = [(run.q.copy(), run.v.copy())]
    while not run.finished:
        rows = run.advance(100)
        assert rows.status == 0
        found += [(q, y[: model.nv].copy()) for q, y in zip(rows.q, rows.y, strict=True)]
    return found


def energies(model, found):
    """(kinetic, in all) of every state."""
    both = np.array([sk.energy(model, q, v) for q, v in found])
    return both[:, 0], both.sum(axis=1)


def free(inertia, gravity=0.0, arm=False):
    b = sk.ModelBuilder(gravity=(0, 0, -gravity))
    b.add_body("trunk", joint=sk.Free(), mass=2.0, inertia=inertia)
    if arm:
        b.add_body("arm", "trunk", sk.Revolute((0, 1, 0), name="hip"), mass=0.5, com=(0, 0, -0.1),
                   inertia=(2e-3, 2e-3, 1e-3), translation=(0.1, 0, -0.05))  # fmt: skip
    return b.build()


def chain(count, gravity=0.0):
    b = sk.ModelBuilder(gravity=(0, 0, -gravity))
    for i in range(count):
        b.add_body(f"b{i}", f"b{i - 1}" if i else "world", sk.Revolute((0, 1, 0)), mass=1.0,
                   com=(0, 0, -0.1), inertia=(1e-3, 1e-3, 1e-4),
                   translation=(0, 0, -0.2 if i else 0.0))  # fmt: skip
    return b.build()


REST = [1.0, 0, 0, 0, 0, 0, 0]


def test_a_ball_loses_the_same_at_every_step():
    """½m(gh)²: what implicit Euler takes from a fall."""
    model, h = free((0.02, 0.02, 0.02), 9.81), 5e-3
    _, total = energies(model, states(model, REST, [3.0, -1, 2, 1, 0.5, 2], h, 0.5))
    assert np.abs(np.diff(total) + 0.5 * 2.0 * (9.81 * h) ** 2).max() < 1e-12


def test_gyroscopic_forces_of_the_start_raise_the_energy_at_every_step():
    """By ½h²·(ω × Iω)·I⁻¹(ω × Iω), exactly: the force does no work at the start of the step."""
    inertia, h = np.array([0.02, 0.03, 0.04]), 5e-3
    model = free(tuple(inertia))
    found = states(model, REST, [3.0, 4, 5, 0.3, 0.2, 0.1], h, 0.5)
    _, total = energies(model, found)
    omega = np.array([v[:3] for _, v in found[:-1]])
    push = np.cross(omega, inertia * omega)
    expected = 0.5 * h**2 * (push**2 / inertia).sum(axis=1)
    assert expected.min() > 1e-6
    assert np.abs(np.diff(total) - expected).max() < 1e-13


def test_a_pendulum_gains_at_the_bottom_what_it_loses_at_the_turns():
    """½h²·(V″·v² − V′²/I): the potential is bent, and its slope that of the start of the step."""
    model, h = chain(1, 9.81), 5e-4
    found = states(model, [1.5], [0.0], h, 1.0)
    _, total = energies(model, found)
    q, v = (np.array([one[i][0] for one in found[:-1]]) for i in range(2))
    weight, about = 9.81 * 0.1, 1e-3 + 0.1**2
    expected = 0.5 * h**2 * (weight * np.cos(q) * v**2 - (weight * np.sin(q)) ** 2 / about)
    assert expected.max() > 0.0 > expected.min()
    assert np.abs(np.diff(total) - expected).max() < 0.02 * np.abs(expected).max()


CASES = {
    "double pendulum": (chain(2), [1.5, 0.5], [5.0, -3.0]),
    "free body with an arm": (free((0.02, 0.02, 0.02), arm=True), [*REST, 0.5],
                              [1.0, 2, 3, 0.3, 0.2, 0.1, 4.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_inertia_of_the_start_leaves_second_order_a_step_and_first_order_in_all(name):
    """As parts of the largest kinetic energy, at 10, 5 and 2.5 ms; the page has the figures."""
    model, q, v = CASES[name]
    rises, drifts = [], []
    for h in (1e-2, 5e-3, 2.5e-3):
        kinetic, total = energies(model, states(model, q, v, h, 1.0))
        rises.append(np.diff(total).max() / kinetic.max())
        drifts.append((total.max() - total[0]) / kinetic.max())
    assert 0.0 < rises[0] < (5.0 * 1e-2) ** 2  # (fastest speed · dt)²
    for values, order in ((rises, 2), (drifts, 1)):
        for coarse, fine in pairwise(values):
            assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)
    assert drifts[0] < 0.08


# ---- what no step raises ------------------------------------------------------------------------


def axes_of_the_start(scene, v):
    """Velocities of free joints, which a step leaves along the axes of its end."""
    v = v.copy()
    for s in one_step.free_joints(scene):
        turn = naive.quaternion_matrix(naive.quaternion_exp(scene.h * v[s][:3]))
        v[s.start + 3 : s.stop] = turn @ v[s][3:]
    return v


def stored_in_joints(scene, v):
    """Of springs and stops, where the joints are after going on for a step with v."""
    total = 0.0
    for joint, x in zip(scene.joints, scene.coordinates() + scene.h * v, strict=True):
        total += 0.5 * joint.get("stiffness", 0.0) * (x - joint.get("rest", 0.0)) ** 2
        beyond = max(joint.get("lower", x) - x, 0.0), max(x - joint.get("upper", x), 0.0)
        total += 0.5 * joint.get("stop_stiffness", 0.0) * (beyond[0] ** 2 + beyond[1] ** 2)
    return total


def stored_in_contacts(scene, points, bristles, v):
    """By the gaps that v leaves, taken along the normals of the start."""
    total = 0.0
    for point, bent in zip(points, bristles, strict=True):
        law, depth = point.law, -point.gap - scene.h * (point.normal_row @ v)
        total += law["k"] * max(depth, 0.0) ** (law["p"] + 1) / (law["p"] + 1)
        total += 0.5 * law["kt"] * (bent @ bent) if law["mu"] else 0.0
    return total


def work_of_servos(scene, v):
    """What drives, whose force is that of the end of the step."""
    total = 0.0
    for joint, x, before, u in zip(scene.joints, scene.coordinates(), scene.v, v, strict=True):
        drives = {"servos": joint.get("servos", ())}
        total += twin.joint_impulse(drives, x, before, u, scene.h)[0] * u
    return total


@pytest.mark.parametrize("seed", range(40))
def test_no_step_raises_the_energy_of_its_convex_problem(seed):
    """½v*𝓜v with the inertia of the start, springs, stops, contacts at their linear gaps and
    bristles: together they rise by no more than what weight, gyroscopic forces and servos do. They
    fall short of it by ½Δv*𝓜Δv, by what contacts lose, and by dampers and friction of joints."""
    scene = one_step.Scene(700 + seed, pairs=seed % 3)
    bristles = one_step.random_bristles(scene)
    points = scene.points(bristles)
    run, places = one_step.run_of(scene, bristles, tolerance=1e-13)
    assert run.advance(1).status == 0
    found = adapters.from_packed_v(scene.model, scene.bodies, run.v)
    v, before, h = axes_of_the_start(scene, found), scene.v, scene.h
    mass = naive.mass_matrix(scene.bodies, scene.q)
    given = -naive.inverse_dynamics(
        scene.bodies, scene.q, before, one_step.of_axes_that_stay(scene), scene.gravity
    )
    still = np.zeros_like(v)
    first = 0.5 * before @ mass @ before + stored_in_joints(scene, still)
    first += stored_in_contacts(scene, points, map(np.concatenate, bristles), still)
    last = 0.5 * v @ mass @ v + stored_in_joints(scene, v)
    bent = [run.y[places[number]] for number in range(len(points))]
    last += stored_in_contacts(scene, points, bent, v)
    lost, change = run.y[-2], v - before
    assert lost > 0.0
    done = h * given @ v + work_of_servos(scene, v)
    size = first + last + abs(h * given) @ abs(v)
    assert last - first <= done + 1e-9 * size
    assert last - first <= done - 0.5 * change @ mass @ change - lost + 1e-9 * size
