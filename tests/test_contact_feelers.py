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


@pytest.mark.parametrize("shift", [-1.4, -0.6, -0.1, 0.0, 0.25, 0.8, 1.2])
@pytest.mark.parametrize("other_way", [False, True])
def test_parallel_capsules_meet_in_the_middle_of_what_they_share(shift, other_way):
    """Or end to end, where they share nothing."""
    rng = np.random.default_rng(6)
    lengths, radii, apart = (0.5, 1.2), (0.1, 0.2), 0.27
    turned = pose(rng)[:4]
    axes = naive.quaternion_matrix(turned)
    along, out = axes[:, 2], axes[:, 0]
    model = body_with(sk.Capsule(radii[0], lengths[0]), np.zeros(3), np.array([1.0, 0, 0, 0]))
    over = np.array([0.0, 1.0, 0, 0]) if other_way else np.array([1.0, 0, 0, 0])
    q = np.concatenate((naive.quaternion_product(turned, over), shift * along + apart * out))
    ground = sk.Collision(
        sk.Capsule(radii[1], lengths[1]), rotation=turned, translation=np.zeros(3), name="log"
    )
    contact = [sk.Contact("it", "log", stiffness=1e4)]
    found = sk.contact_gaps(model, contact, q, ground={"log": ground})
    low = max(shift - lengths[0] / 2, -lengths[1] / 2)
    high = min(shift + lengths[0] / 2, lengths[1] / 2)
    between = max(low - high, 0.0) * np.sign(shift)  # along the axes, from log to it
    d = apart * out + between * along
    distance = np.linalg.norm(d)
    assert abs(found.gap[0] - (distance - sum(radii))) < 1e-12
    assert np.abs(found.normal[0] - d / distance).max() < 1e-12
    middle = 0.5 * (low + high) if not between else np.sign(shift) * lengths[1] / 2
    on_log = middle * along + (radii[1] + 0.5 * found.gap[0]) * d / distance
    assert np.abs(found.point[0] - on_log).max() < 1e-12


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_field_goes_on_level_beyond_each_edge_alone(axis, side):
    """As high as the edge there, without a slope across it and with its slope along it."""
    rng = np.random.default_rng(7)
    size = np.array([2.0, 3.0])
    field = sk.HeightField(tuple(size), tuple(map(tuple, rng.normal(size=(5, 6)))))
    model = body_with(sk.Sphere(0.1), np.zeros(3), np.array([1.0, 0, 0, 0]))
    contact = [sk.Contact("it", "under", stiffness=1e4)]

    def below(out):
        """(height, slopes) at the edge, or so far beyond."""
        place = np.array([0.17, 0.31, 5.0])
        place[axis] = side * (size[axis] / 2 + out)
        found = sk.contact_gaps(model, contact, [1, 0, 0, 0, *place], ground={"under": field})
        n = found.normal[0]
        return place[2] - (found.gap[0] + 0.1) / n[2], -n[:2] / n[2]

    (edge, slopes), (beyond, level) = below(0.0), below(0.7)
    assert abs(edge - beyond) < 1e-12
    assert level[axis] == 0.0
    assert abs(slopes[axis]) > 1e-3
    assert abs(level[1 - axis] - slopes[1 - axis]) < 1e-12
    assert abs(level[1 - axis]) > 1e-3
