"""By how much a step of implicit_contact can raise the energy, and why: without any contact.

Inertia, gyroscopic forces and slopes of potentials are those of the start of a step, so that what
it leaves over is of second order in dt; its sign is that of curvature, not always downwards.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import skodyn as sk
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
