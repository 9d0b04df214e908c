"""What a run says of its contacts: energies that close, steps that are too long, momentum."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import skodyn as sk
from skodyn.simulation.contact.contact_watch import IMBALANCE, RESOLVED

FLOOR = [sk.HalfSpace()]


def ball(mass=1.0, gravity=9.81):
    b = sk.ModelBuilder(gravity=(0, 0, -gravity))
    b.add_body("ball", joint=sk.Translation(), mass=mass, inertia=(1e-3, 1e-3, 1e-3))
    b.add_collision("ball", sk.Sphere(0.1))
    return b.build()


def fall(dt, speed=0.0, height=0.1, duration=0.05, mass=1.0, gravity=9.81, **law):
    duration = round(duration / dt) * dt
    return sk.simulate(ball(mass, gravity), [0, 0, height], [0, 0, -speed], duration=duration,
                       dt=dt, ground=FLOOR, contacts=[sk.Contact("ball", "floor", **law)]
                       ).summary  # fmt: skip


def test_stored_lost_and_done_are_the_energies_of_the_law():
    """Pushed in by 2 mm without weight, a ball swings on a spring: ½kδ² is stored, none is lost."""
    k, deep, m = 2e3, 2e-3, 1.0
    quarter = 0.25 * 2 * math.pi / math.sqrt(k / m)
    steps = 400
    dt = quarter / steps
    half = fall(dt, duration=steps // 2 * dt, height=0.1 - deep, gravity=0.0, stiffness=k)
    left = deep * math.cos(math.pi / 4)
    assert half["contact_stored"] == pytest.approx(0.5 * k * left**2, rel=1e-8)
    assert half["contact_work"] == pytest.approx(0.5 * k * (deep**2 - left**2), rel=1e-8)
    assert half["contact_loss"] == 0.0
    assert abs(half["contact_imbalance"]) < 1e-8
    damped = fall(dt, 1.0, height=0.1001, duration=8 * quarter, gravity=0.0, stiffness=k,
                  restitution=0.6, impact_speed=1.0)  # fmt: skip
    assert damped["contact_loss"] == pytest.approx(0.5 * m * (1 - 0.6**2), rel=1e-6)
    assert damped["contact_stored"] == 0.0


OMEGAS = [
    # (mass, law, speed, ω where it is worst: at touch, or deepest with exponent 1.5)
    (2.0, {"stiffness": 1e5}, 1.0, math.sqrt(1e5 / 2.0)),
    (1.0, {"stiffness": 1e5, "dissipation": 3.0}, 1.0, math.sqrt(1e5 * (1 + 3.0 * 1.0))),
    (1.0, {"stiffness": 1e6, "exponent": 1.5}, 1.0,
     math.sqrt(1.5 * 1e6 * math.sqrt((1.25 / 1e6) ** 0.4))),
]  # fmt: skip


@pytest.mark.parametrize(("mass", "law", "speed", "omega"), OMEGAS)
def test_steps_that_do_not_resolve_a_contact_are_named_with_a_step_that_does(
    mass, law, speed, omega
):
    """ω² = p·k·δ^(p−1)·(1 + c·δ̇)·Λ, here Λ = 1/m."""
    given = {"mass": mass, "speed": speed, "height": 0.101, "gravity": 0.0, **law}
    said = fall(1.2 * RESOLVED / omega, **given)["warnings"][0]
    found = re.search(
        r"contact 'ball/floor' oscillates at ω = (\S+) rad/s .* use dt = (\S+),", said
    )
    assert float(found[1]) == pytest.approx(omega, rel=0.01)
    dt = float(found[2])
    assert dt * omega <= RESOLVED
    assert not any("oscillates" in w for w in fall(dt, **given)["warnings"])


def test_what_the_integration_of_contacts_leaves_over_is_warned_of():
    given = {"speed": 1.0, "height": 0.101, "gravity": 0.0, "stiffness": 1e4, "duration": 0.1}
    bad, good = fall(1.2e-2, **given), fall(1e-3, **given)
    assert abs(bad["contact_imbalance"]) > IMBALANCE
    (said,) = [w for w in bad["warnings"] if "contact_imbalance" in w]
    assert f"{bad['contact_imbalance']:.2g} of the largest energy" in said
    assert "use a smaller dt" in said
    assert abs(good["contact_imbalance"]) < IMBALANCE
    assert good["warnings"] == []


@pytest.mark.parametrize("touching", ["floor", "other"])
def test_a_contact_with_the_world_keeps_momentum_from_being_accounted_for(touching):
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for name in ("ball", "other"):
        b.add_body(name, joint=sk.Free(name=name), mass=1.0, inertia=(4e-3, 4e-3, 4e-3))
        b.add_collision(name, sk.Sphere(0.1))
    q = [1.0, 0, 0, 0, 0, 0, 0.5, 1.0, 0, 0, 0, 0, 0, 0.8]
    law = sk.Contact("ball", touching, stiffness=1e4)
    found = sk.simulate(b.build(), q, np.zeros(12), duration=0.01, dt=1e-3, ground=FLOOR,
                        contacts=[law]).summary  # fmt: skip
    if touching == "floor":
        assert found["momentum_note"] == "body 'ball' touches the world"
        assert found["linear_momentum_imbalance"] is None
    else:
        assert found["momentum_note"] == ""
        assert found["linear_momentum_imbalance"] == 0.0
