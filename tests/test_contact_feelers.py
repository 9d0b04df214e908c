"""Feelers that have no twin of their own: on fields, and the points of rims that lie flat."""

from __future__ import annotations

import numpy as np
import pytest

import naive
import skodyn as sk

SLOPES = 0.3, -0.2
SIZE = 20.0, 30.0
FEELERS = {
    "sphere": sk.Sphere(0.3),
    "capsule": sk.Capsule(0.2, 0.5),
    "box": sk.Box((0.2, 0.3, 0.4)),
    "cylinder": sk.Cylinder(0.3, 0.6),
    "disk": sk.Disk(0.4, 0.05),
    "ellipsoid": sk.Ellipsoid((0.2, 0.4, 0.3)),
    "points": sk.Points(((0.1, 0.2, 0.0), (-0.3, 0.1, 0.2)), 0.05),
}


def slanting_field():
    """A plane through the origin, as a height field with other spacings in x and in y."""
    x, y = np.linspace(-0.5, 0.5, 21) * SIZE[0], np.linspace(-0.5, 0.5, 16) * SIZE[1]
    heights = SLOPES[0] * x[:, None] + SLOPES[1] * y[None, :]
    return sk.HeightField(SIZE, tuple(map(tuple, heights)))


def body_with(shape, place, turned):
    b = sk.ModelBuilder()
    b.add_body("it", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    b.add_collision("it", shape, translation=place, rotation=turned)
    return b.build()


def pose(rng):
    q = np.concatenate((rng.normal(size=4), rng.normal(size=3)))
    q[:4] /= np.linalg.norm(q[:4])
    return q


@pytest.mark.parametrize("word", FEELERS)
def test_a_field_without_bends_is_a_half_space_to_every_feeler(word):
    """Both of them turned and shifted; of a rim, the lowest point: a field looks at no other."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        at, turned = rng.normal(size=3), pose(rng)[:4]
        model = body_with(FEELERS[word], rng.normal(size=3) / 3, pose(rng)[:4])
        found = []
        for surface in (slanting_field(), sk.HalfSpace(normal=(-SLOPES[0], -SLOPES[1], 1.0))):
            ground = sk.Collision(surface, translation=at, rotation=turned, name="under")
            contact = [sk.Contact("it", "under", stiffness=1e4)]
            q = pose(np.random.default_rng(int(100 * abs(at[0]))))
            found.append(sk.contact_gaps(model, contact, q, ground={"under": ground}))
        field, plane = found
        up = naive.quaternion_matrix(turned) @ np.array([-SLOPES[0], -SLOPES[1], 1.0])
        assert np.abs(plane.normal - up / np.linalg.norm(up)).max() < 1e-12
        lowest = slice(None, None, 4 if word in ("disk", "cylinder") else 1)
        assert np.abs(field.gap - plane.gap[lowest]).max() < 1e-12
        assert np.abs(field.normal - plane.normal[lowest]).max() < 1e-12
        assert np.abs(field.point - plane.point[lowest]).max() < 1e-12


@pytest.mark.parametrize("word", ["disk", "cylinder"])
def test_a_rim_rests_on_three_points_of_its_plane_besides_the_lowest(word):
    """At 0.8 of its radius and a third of a turn apart, as thick as its edge."""
    rng = np.random.default_rng(5)
    shape = FEELERS[word]
    edge = shape.edge if word == "disk" else 0.0
    ends = [0.0] if word == "disk" else [-0.5 * shape.length, 0.5 * shape.length]
    model = body_with(shape, np.zeros(3), np.array([1.0, 0, 0, 0]))
    for _ in range(5):
        q = pose(rng)
        turn, place = (x[0] for x in sk.forward_kinematics(model, q))
        contact = [sk.Contact("it", "floor", stiffness=1e4)]
        found = sk.contact_gaps(model, contact, q, ground=[sk.HalfSpace()])
        for number, end in enumerate(ends):
            inner = slice(4 * number + 1, 4 * number + 4)
            up = np.array([0.0, 0.0, 1.0])
            centres = found.point[inner] + (edge + 0.5 * found.gap[inner])[:, None] * up
            spokes = centres - (place + end * turn[:, 2])
            assert np.abs(spokes @ turn[:, 2]).max() < 1e-12
            assert np.abs(np.linalg.norm(spokes, axis=1) - 0.8 * shape.radius).max() < 1e-12
            assert np.abs(spokes.sum(axis=0)).max() < 1e-12
            assert np.abs(found.gap[inner] - (centres[:, 2] - edge)).max() < 1e-12
            assert (found.gap[4 * number] <= found.gap[inner] + 1e-12).all()
