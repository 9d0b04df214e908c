"""The simplest walker (Garcia, Chatterjee, Ruina & Coleman 1998) by events of its swing foot.

A hip of mass 1 on legs of length 1 without mass, in units of l and √(l/g), down a slope. Feet of
1e-9 stand for none. The swing foot touches the slope without force that counts (the model lets it
scuff), so that the table of events says when it strikes; the impact is that of the paper.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk

GAITS = json.loads(
    (Path(__file__).parent / "data" / "contact" / "simplest_walker.json").read_text()
)["gaits"]
FOOT, RADIUS = 1e-9, 1.0


def walker(slope):
    b = sk.ModelBuilder(gravity=(np.sin(slope), 0.0, -np.cos(slope)))
    b.add_body("stance", joint=sk.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, 1),
               inertia=(0, 0, 0))  # fmt: skip
    b.add_body("swing", "stance", sk.Revolute((0, 1, 0)), translation=(0, 0, 1), mass=FOOT,
               com=(0, 0, -1), inertia=(0, 0, 0))  # fmt: skip
    b.add_collision("swing", sk.Sphere(RADIUS), translation=(0, 0, -1), name="foot")
    return b.build()


def stride(slope, theta, rates):
    """(θ, θ̇, φ̇) after a strike from those after the one before, and the time between."""
    start = np.array([-theta, 2.0 * theta]), np.array([-rates[0], rates[1]])
    floor = sk.HalfSpace(point=(0, 0, -RADIUS))
    done = sk.simulate(
        walker(slope), *start, duration=4.5, dt=1e-3, integrator="rk4",
        ground={"slope": floor}, channels=["contacts"],
        contacts=[sk.Contact("swing", "slope", stiffness=1e-22)],
    )  # fmt: skip
    events = done.trajectory.contact_events
    made = events["t"][events["made"].astype(bool) & (events["t"] > 1.0)]
    phi = np.interp(made, done.t, done.q[:, 1])
    when = made[np.abs(phi) > 0.2][0]  # legs apart; near φ = 0 the foot scuffs
    row = int(np.searchsorted(done.t, when)) - 1
    rest = sk.simulate(walker(slope), done.q[row], done.v[row], duration=when - done.t[row],
                       dt=when - done.t[row])  # fmt: skip
    before, speed = -rest.q[-1, 0], -rest.v[-1, 0]
    turn = np.cos(2.0 * before)
    return np.array([-before, turn * speed, turn * (1.0 - turn) * speed]), when


@pytest.mark.parametrize("gait", GAITS, ids=lambda g: f"{g['gait']} {g['slope']}")
def test_a_step_of_the_walker_ends_where_it_began(gait):
    given = np.array([gait["theta"], gait["theta_rate"], gait["phi_rate"]])
    after, when = stride(gait["slope"], given[0], given[1:])
    assert abs(when - gait["period"]) < 1e-7
    np.testing.assert_allclose(after, given, atol=1e-8)


@pytest.mark.parametrize("gait", GAITS, ids=lambda g: f"{g['gait']} {g['slope']}")
def test_what_disturbs_a_step_grows_as_published(gait):
    """Eigenvalues of the map from strike to strike, by central differences."""

    def mapped(theta, rate):
        after, _ = stride(gait["slope"], theta, (rate, (1.0 - np.cos(2.0 * theta)) * rate))
        return after[:2]

    at, small = np.array([gait["theta"], gait["theta_rate"]]), 2e-5
    columns = [(mapped(*(at + d)) - mapped(*(at - d))) / (2.0 * small) for d in small * np.eye(2)]
    found = np.linalg.eigvals(np.stack(columns, axis=1))
    published = np.array([complex(*pair) for pair in gait["eigenvalues"]])
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(published), atol=2e-4)
