"""What flexible bodies must come to in limits that have closed forms: weight, and bodies in two."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from test_flexible_motion import modal_stiffness


def unit_beam(modes, length=1.0, mass=1.0, **more):
    """EI is 1."""
    return sk.Beam(
        length, mass_per_length=mass, bending_stiffness=1.0, rotary_inertia=1e-12,
        modes={"y": modes}, **more,
    )  # fmt: skip


def softness(weight):
    """How far a unit force across moves the tip of a beam that stands (weight above 0) or hangs.

    The slope φ at ξ from the tip has φ″ = −wξφ − 1, φ′ = 0 at the tip, φ = 0 at the root: Bessel
    functions of order 1/3, here by their series in ξ³.
    """

    def series(at_tip, force):
        a = np.zeros(90)
        a[0], a[2] = at_tip, -0.5 * force
        for k in range(1, 88):
            a[k + 2] = -weight * a[k - 1] / ((k + 2) * (k + 1))
        return a

    free, pushed = series(1.0, 0.0), series(0.0, 1.0)
    slope = pushed - free * pushed.sum() / free.sum()
    return (slope / np.arange(1, 91)).sum()


def test_the_series_has_its_known_values():
    assert softness(0.0) == pytest.approx(1.0 / 3.0, rel=1e-14)
    assert softness(7.837347438943 * (1.0 - 1e-9)) > 1e7  # Greenhill's column buckles


@pytest.mark.parametrize("weight", [-20.0, -5.0, 3.0, 6.0])
def test_weight_stiffens_a_hanging_beam_and_softens_a_standing_one(weight):
    """With four modes to 5e-4; the standing one has up to three quarters of its critical weight."""
    builder = sk.ModelBuilder(gravity=(-np.sign(weight), 0, 0))
    builder.add_body("beam", flexible=unit_beam(4, mass=abs(weight), loaded=["tip"]))
    model = builder.build()
    k = modal_stiffness(model, "beam", np.zeros(model.nv))
    moved = model.flexible["beam"].nodes["tip"].translation[1, :4]
    assert moved @ np.linalg.solve(k, moved) == pytest.approx(softness(weight), rel=5e-4)


def frequencies_of_halves(modes):
    """Of a cantilever of two bodies with a fixed joint, rad/s."""
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("inner", flexible=unit_beam(modes, 0.5))
    builder.add_body("outer", "inner", at="tip", flexible=unit_beam(modes, 0.5))
    model = builder.build()
    stiffness = np.concatenate([body.stiffness for body in model.flexible.values()])
    mass = sk.mass_matrix(model, model.neutral())
    squares = np.linalg.eigvals(np.linalg.solve(mass, np.diag(stiffness)))
    return np.sqrt(np.sort(squares.real))[:3]


def test_splitting_a_beam_changes_frequencies_by_no_more_than_its_modes_own_error():
    """What one more mode in each half changes is a measure of that error, which falls by four and
    more with each."""
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("beam", flexible=unit_beam(6))
    whole = 2.0 * np.pi * builder.build().flexible["beam"].frequencies[:3]
    halves = {modes: frequencies_of_halves(modes) for modes in (3, 4, 5)}
    for modes in (3, 4):
        own = np.abs(halves[modes] - halves[modes + 1])
        assert (np.abs(halves[modes] - whole) < 1.5 * own).all()
    assert np.abs(halves[4] / whole - 1.0).max() < 1e-4
