"""Gaps of boxes: spheres whose centres lie in them, by a closed form; boxes against boxes."""

from __future__ import annotations

import coal
import numpy as np
import pytest

import contact_twin as twin
import skodyn as sk
from test_contact_geometry import LAW, SHAPES, body_of, coal_gap, coal_shape, scene, turn, twin_gaps

HALF, RADIUS = np.array(SHAPES["box"].size) / 2, SHAPES["sphere"].radius


def signed_distance(x):
    """Of a point to the surface of the box, in its axes: |(|x| − h)₊| + min(max(|x| − h), 0)."""
    beyond = np.abs(x) - HALF
    return np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0)


def free_scene(rng, words):
    """Two free bodies, a shape on each, anywhere in it."""
    b = sk.ModelBuilder()
    for name, word in zip(("a2", "b2"), words, strict=True):
        b.add_body(name, joint=sk.Free(name=name), mass=1.0, inertia=(1, 1, 1))
        b.add_collision(name, SHAPES[word], translation=rng.normal(size=3) / 3, rotation=turn(rng))
    return b.build()


@pytest.mark.parametrize("words", [("sphere", "box"), ("box", "sphere")], ids="-".join)
def test_a_sphere_is_as_deep_in_a_box_as_the_closed_form_says(words):
    """Apart, touching, and with its centre inside; coal iterates for depths: to 1e-6."""
    rng = np.random.default_rng(9)
    model = free_scene(rng, words)
    ball, box = words.index("sphere"), words.index("box")
    shapes = [model.collisions[name][0] for name in ("a2", "b2")]
    contact, seen = [sk.Contact("a2", "b2", **LAW)], {"apart": 0, "touching": 0, "inside": 0}
    for _ in range(300):
        q, v = model.random_state(rng)
        bodies = [body_of(model, q, v, name) for name in ("a2", "b2")]
        # where the centre is to be, in axes of the box: in it, or in and about it
        x = rng.choice([1.0, 2.4]) * rng.uniform(-1.0, 1.0, size=3) * HALF
        axes, corner = bodies[box][0] @ shapes[box].rotation, shapes[box].translation
        wanted = twin.placed(bodies[box], corner) + axes @ x
        at = model.q_slice(("a2", "b2")[ball]).stop - 3
        q[at : at + 3] += wanted - twin.placed(bodies[ball], shapes[ball].translation)
        bodies[ball] = body_of(model, q, v, ("a2", "b2")[ball])
        found, far = sk.contact_gaps(model, contact, q), signed_distance(x)
        assert abs(found.gap[0] - (far - RADIUS)) < 1e-12
        gap, n, point = twin_gaps(model, *words, False)[0](*bodies)
        assert abs(found.gap[0] - gap) < 1e-12
        assert np.abs(found.normal[0] - n).max() < 1e-11
        assert np.abs(found.point[0] - point).max() < 1e-12
        assert abs(found.gap[0] - coal_gap(model, q, words)) < (1e-12 if far > RADIUS else 1e-6)
        seen["apart" if far > RADIUS else "touching" if far > 0.0 else "inside"] += 1
    assert min(seen.values()) > 30, seen


def test_boxes_apart_are_never_nearer_than_coal_says_and_as_near_at_corners():
    """Corners are held against faces both ways; where edges are nearest, the gap is too large."""
    rng = np.random.default_rng(8)
    model = scene(rng, "box", "box")
    contact, half = [sk.Contact("a2", "b2", **LAW)], np.array(SHAPES["box"].size) / 2.0
    at_corners = 0
    for _ in range(120):
        q, _v = model.random_state(rng)
        rotations, positions = sk.forward_kinematics(model, q)
        places = []
        for body in ("a2", "b2"):
            k, one = model.body_index(body), model.collisions[body][0]
            places.append((rotations[k] @ one.rotation,
                           positions[k] + rotations[k] @ one.translation))  # fmt: skip
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        there = [coal.Transform3s(*place) for place in places]
        far = coal.distance(
            coal_shape("box"), there[0], coal_shape("box"), there[1], request, result
        )
        if far <= 1e-3:
            continue
        gap = sk.contact_gaps(model, contact, q).gap.min()
        assert gap > far - 1e-9
        nearest = (result.getNearestPoint1(), result.getNearestPoint2())
        local = [r.T @ (x - p) for (r, p), x in zip(places, nearest, strict=True)]
        if any((np.abs(np.abs(x) - half) < 1e-9).all() for x in local):
            assert abs(gap - far) < 1e-9
            at_corners += 1
    assert at_corners > 20
