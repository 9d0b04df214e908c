"""Inertias of solids: by formulas, by triangles, and by Monte Carlo's definition."""

import numpy as np
import pytest

import skodyn as sk

SHAPES = {
    "box": (sk.Box((0.3, 0.5, 0.9)), lambda x: (np.abs(x) <= (0.15, 0.25, 0.45)).all(axis=1)),
    "cylinder": (
        sk.Cylinder(0.4, 1.2),
        lambda x: (np.hypot(x[:, 0], x[:, 1]) <= 0.4) & (np.abs(x[:, 2]) <= 0.6),
    ),
    "capsule": (
        sk.Capsule(0.3, 0.8),
        lambda x: np.linalg.norm(x - np.stack(
            [0 * x[:, 0], 0 * x[:, 0], x[:, 2].clip(-0.4, 0.4)], axis=1), axis=1) <= 0.3,
    ),
    "sphere": (sk.Sphere(0.7), lambda x: np.linalg.norm(x, axis=1) <= 0.7),
    "ellipsoid": (
        sk.Ellipsoid((0.3, 0.6, 0.9)),
        lambda x: ((x / (0.3, 0.6, 0.9)) ** 2).sum(axis=1) <= 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES, ids=str)
def test_an_inertia_is_that_of_many_points_inside(name):
    shape, inside = SHAPES[name]
    points = np.random.default_rng(0).uniform(-1, 1, (400_000, 3))
    kept = points[inside(points)]
    found = sk.solid(shape, density=2.0)
    share = len(kept) / len(points)
    assert found.mass == pytest.approx(2.0 * 8.0 * share, rel=0.02)
    squares = (kept**2).mean(axis=0)
    wanted = squares.sum() - squares
    np.testing.assert_allclose(found.inertia.diagonal() / found.mass, wanted, rtol=0.02)
    assert not found.com.any()
    other = sk.solid(shape, mass=3.0)
    np.testing.assert_allclose(other.inertia, found.inertia * 3.0 / found.mass)


def box_triangles(size, place=(0, 0, 0)):
    """Twelve, seen from outside against the clock."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return (corners * size + place)[np.array(faces)]


@pytest.mark.parametrize("turn", [1, -1])
def test_triangles_of_a_box_weigh_what_the_box_does(turn):
    triangles = box_triangles((0.3, 0.5, 0.9), (1.0, -2.0, 3.0))[:, ::turn]
    found, wanted = (sk.solid(x, density=7.0) for x in (triangles, sk.Box((0.3, 0.5, 0.9))))
    assert found.mass == pytest.approx(wanted.mass, rel=1e-12)
    np.testing.assert_allclose(found.com, (1.0, -2.0, 3.0), rtol=1e-12)
    np.testing.assert_allclose(found.inertia, wanted.inertia, atol=1e-13)


def test_solids_add_up_and_move():
    whole = sk.solid(sk.Box((2.0, 1.0, 1.0)), mass=4.0)
    half = sk.solid(sk.Box((1.0, 1.0, 1.0)), mass=2.0)
    both = half.at((0.5, 0, 0)) + half.at((-0.5, 0, 0))
    np.testing.assert_allclose(both.inertia, whole.inertia, atol=1e-15)
    turned = whole.at((1, 2, 3), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(turned.inertia.diagonal(), whole.inertia.diagonal()[[1, 0, 2]])
    b = sk.ModelBuilder()
    b.add_body("arm", "world", sk.Revolute(), **turned)
    model = b.build()
    assert model.mass[0] == 4.0
    np.testing.assert_allclose(model.com[0], (1, 2, 3))


@pytest.mark.parametrize(
    ("shape", "given", "words"),
    [
        (sk.Sphere(1), {}, "solid has no mass; give mass or density"),
        (sk.Sphere(1), {"mass": 1, "density": 1}, "solid has mass and density; give mass or"),
        (sk.Sphere(1), {"mass": -1}, "mass is -1; give a number from 0"),
        (sk.Sphere(-1), {"mass": 1}, "radius is -1"),
        ("ball", {"mass": 1}, "shape is 'ball'; give Box, Cylinder"),
        (box_triangles((1, 1, 1))[:-1], {"mass": 1}, "open edges"),
        (box_triangles((1, 1, 0)), {"mass": 1}, "enclose no volume"),
    ],
)
def test_what_is_no_solid_is_refused(shape, given, words):
    with pytest.raises(sk.ModelError) as refused:
        sk.solid(shape, **given)
    assert words in str(refused.value)
