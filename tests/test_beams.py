"""Beams: their frequencies, their integrals, their foreshortening."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk
from skodyn.model.flexible.beam_bodies import beam_body
from skodyn.model.flexible.beam_elements import gauss_rule

REFERENCE = Path(__file__).parent / "data" / "flexible"
FREQUENCIES = json.loads((REFERENCE / "beam_frequencies.json").read_text())
UNIT = {"mass_per_length": 1.0, "bending_stiffness": 1.0}


def betas(body):
    """β of a beam of unit length, mass and stiffness: ω = β²."""
    return np.sqrt(2.0 * np.pi * body.frequencies)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_clamped_beams_have_the_frequencies_of_the_closed_form(count):
    body = beam_body(sk.Beam(1.0, **UNIT, modes={"y": count}))
    assert_allclose(betas(body), FREQUENCIES["clamped_free"][:count], rtol=1e-9)
    assert body.is_clamped


def test_free_beams_have_the_frequencies_of_the_closed_form():
    body = beam_body(sk.Beam(1.0, **UNIT, modes={"z": 6}), free=True)
    assert_allclose(betas(body), FREQUENCIES["free_free"], rtol=1e-8)
    assert not body.is_clamped
    # their modes move neither the centre of mass nor the mean axis
    assert_allclose(body.shape_integrals[:6], 0.0, atol=1e-12)
    moments = np.array([n[0, 2] - n[2, 0] for n in body.position_shapes[:6]])
    assert_allclose(moments, 0.0, atol=1e-12)


@pytest.mark.parametrize("direction", ["twist", "stretch"])
def test_twist_and_stretch_are_those_of_a_rod(direction):
    beam = sk.Beam(
        2.0, **UNIT, torsion_stiffness=3.0, axial_stiffness=5.0, rotary_inertia=(0.01, 0.02),
        modes={direction: 4},
    )  # fmt: skip
    speed = np.sqrt(3.0 / 0.03) if direction == "twist" else np.sqrt(5.0)
    expected = (np.arange(4) + 0.5) * np.pi * speed / 2.0
    assert_allclose(2.0 * np.pi * beam_body(beam).frequencies, expected, rtol=1e-9)


@pytest.mark.parametrize("ratio", ["0.1", "1.0", "10.0"])
def test_static_shapes_find_the_frequencies_with_a_mass_at_the_tip(ratio):
    """Craig and Bampton: with the tip as an interface, a mass there costs no accuracy."""
    body = beam_body(sk.Beam(1.0, **UNIT, modes={"y": 6}), ["tip"])
    tip = body.nodes["tip"].translation[1, :6]
    mass = body.modal_mass[:6, :6] + float(ratio) * np.outer(tip, tip)
    squares = np.linalg.eigvals(np.linalg.solve(mass, np.diag(body.stiffness)))
    found = np.sort(squares.real) ** 0.25
    assert_allclose(found[0], FREQUENCIES["clamped_tip_mass"]["values"][ratio][0], rtol=1e-5)
    alone = beam_body(sk.Beam(1.0, **UNIT, modes={"y": 2}))
    tip = alone.nodes["tip"].translation[1, :2]
    mass = alone.modal_mass[:2, :2] + float(ratio) * np.outer(tip, tip)
    squares = np.linalg.eigvals(np.linalg.solve(mass, np.diag(alone.stiffness)))
    apart = np.sort(squares.real) ** 0.25
    assert abs(apart[0] - found[0]) > 1e-5  # two modes of the beam alone do not


def test_a_force_at_an_interface_bends_it_as_statics_says():
    """F L³/3EI and F L²/2EI at the tip, and at a node inside."""
    beam = sk.Beam(
        2.0, mass_per_length=1.0, bending_stiffness=(3.0, 5.0), modes={"y": 3, "z": 5},
        nodes={"inside": 0.37},
    )  # fmt: skip
    for name, x in (("tip", 2.0), ("inside", 0.74)):
        body = beam_body(beam, [name])
        node = body.nodes[name]
        for axis, stiffness in ((1, 3.0), (2, 5.0)):
            push = node.translation[axis, : body.modes]
            eta = push / body.stiffness
            assert push @ eta == pytest.approx(x**3 / (3.0 * stiffness), rel=1e-9)
            slope = node.rotation[3 - axis, : body.modes] @ eta * (1 if axis == 1 else -1)
            assert slope == pytest.approx(x**2 / (2.0 * stiffness), rel=1e-9)


def test_integrals_of_a_box_are_those_of_the_solid():
    beam = sk.Beam(
        1.5, section={"box": (0.2, 0.1)}, young=70e9, density=2700.0, poisson=0.3, modes={"y": 2}
    )
    body = beam_body(beam)
    mass = 2700.0 * 1.5 * 0.2 * 0.1
    assert body.mass == pytest.approx(mass)
    assert_allclose(body.first_moment, [mass * 0.75, 0.0, 0.0])
    y, z = mass * 0.2**2 / 12.0, mass * 0.1**2 / 12.0
    rod = mass * 1.5**2 / 3.0
    assert_allclose(body.inertia, np.diag([y + z, rod + z, rod + y]), atol=1e-12)
    assert beam.numbers.torsion == pytest.approx(70e9 / 2.6 * 0.2286 * 0.2 * 0.1**3, rel=1e-3)
    square = sk.Beam(1.0, section={"box": (1, 1)}, young=1.0, density=1.0, poisson=-0.5)
    assert square.numbers.torsion == pytest.approx(0.140577, rel=1e-5)  # Roark, table 10.1


def test_a_tube_has_the_stiffness_of_the_closed_form():
    beam = sk.Beam(1.0, section={"tube": (0.05, 0.045)}, young=2.0, density=3.0, poisson=0.0)
    area, second = np.pi * (0.05**2 - 0.045**2), np.pi / 4 * (0.05**4 - 0.045**4)
    numbers = beam.numbers
    assert numbers.mass == pytest.approx(3.0 * area)
    assert_allclose(numbers.bending, [2.0 * second] * 2)
    assert_allclose([numbers.torsion, numbers.axial], [2.0 * second, 2.0 * area])
    assert_allclose(numbers.rotary, [3.0 * second] * 2)


def test_masters_are_orthogonal_normalised_and_damped_as_asked():
    beam = sk.Beam(3.0, **UNIT, rotary_inertia=0.01, modes={"y": 3, "z": 2}, damping=0.02)
    body = beam_body(beam, ["tip"])
    mass = body.modal_mass[:5, :5]
    assert_allclose(mass - np.diag(np.diag(mass)), 0.0, atol=1e-12)
    assert body.labels == ("y1", "y2", "y3", "z1", "z2")
    assert_allclose(np.abs(body.display.translation[:, :, :5]).max(axis=(0, 1)), 1.0, rtol=1e-2)
    omega = np.sqrt(body.stiffness / np.diag(mass))
    assert_allclose(body.frequencies, omega / (2 * np.pi))
    assert_allclose(body.damping, 2 * 0.02 * omega * np.diag(mass))
    each = beam_body(sk.Beam(3.0, **UNIT, modes={"y": 2}, damping=(0.1, 0.0)))
    assert each.damping[0] > 0.0 == each.damping[1]


def test_slaves_shorten_the_beam_by_the_square_of_its_slope():
    """At the tip, −½∫v′² of a deflection in the first mode and of one in all."""
    body = beam_body(sk.Beam(1.0, **UNIT, modes={"y": 3, "z": 2}))
    x = np.linspace(0.0, 1.0, 2001)
    first = FREQUENCIES["clamped_free"][0]
    k = (np.cosh(first) + np.cos(first)) / (np.sinh(first) + np.sin(first))
    shape = np.cosh(first * x) - np.cos(first * x) - k * (np.sinh(first * x) - np.sin(first * x))
    slope = np.gradient(shape / shape[-1], x, edge_order=2)
    expected = -0.5 * np.trapezoid(slope**2, x) * 0.1**2
    eta = np.array([0.1, 0, 0, 0, 0])
    slaves = 0.5 * np.einsum("bij,i,j->b", body.slaves, eta, eta)
    tip = body.nodes["tip"].translation
    assert tip[0, 5:] @ slaves == pytest.approx(expected, rel=1e-3)
    assert tip[1, :3] @ eta[:3] == pytest.approx(0.1)
    assert len(beam_body(sk.Beam(1.0, **UNIT, modes={"y": 3}, stiffening=False)).slaves) == 0


def test_strain_energy_of_fourth_order_is_that_of_the_exact_curvature():
    """½∫EI κ² of a plane curve with |r′| = 1, against ½ηKη and the terms at Gauss points."""
    body = beam_body(sk.Beam(1.0, **UNIT, modes={"z": 2}))
    eta = np.array([0.08, 0.01])
    x = np.linspace(0.0, 1.0, 20001)
    shapes = body.curvature
    quadratic = 0.5 * body.stiffness @ eta**2
    fourth = 0.5 * shapes.weights @ ((shapes.slope_z @ eta) * (shapes.curvature_z @ eta)) ** 2
    from skodyn.model.flexible.beam_elements import Field, Mesh, find_shapes, shapes_at

    mesh = Mesh.of(1.0, [])
    found, _ = find_shapes(mesh, Field(2, 1.0, 1.0), 2, [], True)
    slope, bend = (shapes_at(mesh, found, x, d) @ eta for d in (1, 2))
    exact = 0.5 * np.trapezoid(bend**2 / (1.0 - slope**2), x)  # of an inextensible curve, w(s)
    assert abs(quadratic + fourth - exact) < 0.03 * fourth
    assert fourth > 1e-3 * quadratic


@pytest.mark.parametrize(
    ("modes", "carried", "points"), [(2, ("tip",), 4), (2, (), 8), (3, ("tip",), 10)]
)
def test_static_shapes_need_four_points(modes, carried, points):
    """Cubics: the fourth-order energy has the sixth degree, and four points are exact to the
    seventh. Other shapes take more."""
    beam = sk.Beam(1.0, **UNIT, modes={"y": modes}, nodes={"middle": 0.5})
    shapes = beam_body(beam, carried).curvature
    assert len(shapes.weights) == points
    if points == 4:
        eta, coarse = np.array([0.1, -0.03]), np.linspace(0.0, 1.0, 4)
        x = gauss_rule(4)[0]
        # what the four points say of v′ and v″, a polynomial of degree 2 and one of degree 1
        slope = np.polynomial.Polynomial.fit(x, shapes.slope_y @ eta, 2)
        bend = np.polynomial.Polynomial.fit(x, shapes.curvature_y @ eta, 1)
        assert np.allclose(slope.deriv()(coarse), bend(coarse), rtol=1e-8, atol=1e-10)
        whole = ((slope * bend) ** 2).integ()
        found = shapes.weights @ ((shapes.slope_y @ eta) * (shapes.curvature_y @ eta)) ** 2
        assert found == pytest.approx(whole(1.0) - whole(0.0), rel=1e-10)


def test_beams_are_equal_if_they_say_the_same():
    """A number for both directions, a list, an array: what a record writes comes back equal."""
    one = sk.Beam(1.0, **UNIT, rotary_inertia=1e-3, segments=4)
    same = {**UNIT, "bending_stiffness": np.array([1.0, 1.0])}
    assert one == sk.Beam(1.0, **same, rotary_inertia=(1e-3, 1e-3), segments=4)
    assert one != sk.Beam(1.0, **same, rotary_inertia=(1e-3, 2e-3), segments=4)
    assert one != "beam"
