"""Gaps, normals, points and forces against a twin from the definitions, and gaps against coal."""

from __future__ import annotations

import coal
import numpy as np
import pytest

import contact_twin as twin
import skodyn as sk
from skodyn.dynamics import contact_functions
from skodyn.jit import JIT_DISABLED
from skodyn.model.contact.contact_tables import pack_contacts

HEIGHTS = tuple(map(tuple, np.random.default_rng(5).uniform(-0.2, 0.2, (5, 4)).tolist()))
SHAPES = {
    "sphere": sk.Sphere(0.3),
    "capsule": sk.Capsule(0.2, 0.7),
    "box": sk.Box((0.5, 0.8, 0.3)),
    "cylinder": sk.Cylinder(0.3, 0.6),
    "disk": sk.Disk(0.4, 0.05),
    "ellipsoid": sk.Ellipsoid((0.2, 0.4, 0.3)),
    "points": sk.Points(((0.1, 0.2, 0.0), (-0.3, 0.1, 0.2), (0.0, 0.0, 0.4)), 0.05),
    "half_space": sk.HalfSpace((0.1, 0.2, -0.1), (0.3, -0.2, 1.0)),
    "height_field": sk.HeightField((2.0, 3.0), HEIGHTS),
}
LAW = {"stiffness": 1e4, "dissipation": 0.3}
PAIRS = {
    ("sphere", "half_space"): 1, ("sphere", "sphere"): 1, ("sphere", "capsule"): 1,
    ("sphere", "box"): 1, ("sphere", "height_field"): 1, ("capsule", "half_space"): 2,
    ("capsule", "sphere"): 1, ("capsule", "capsule"): 1, ("capsule", "box"): 10,
    ("capsule", "height_field"): 2, ("box", "half_space"): 8, ("box", "sphere"): 1,
    ("box", "capsule"): 10, ("box", "box"): 16, ("box", "height_field"): 8,
    ("cylinder", "half_space"): 8, ("cylinder", "height_field"): 2, ("disk", "half_space"): 4,
    ("disk", "height_field"): 1, ("ellipsoid", "half_space"): 1, ("ellipsoid", "height_field"): 1,
    ("points", "half_space"): 3, ("points", "sphere"): 3, ("points", "capsule"): 3,
    ("points", "box"): 3, ("points", "height_field"): 3, ("half_space", "sphere"): 1,
    ("height_field", "box"): 8,
}  # fmt: skip


def turn(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def scene(rng, first, second, on_world=False):
    """Two arms of a tree with several joints, a shape at the end of each; or one on the ground."""
    b = sk.ModelBuilder()
    b.add_body("base", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    for name in "ab":
        b.add_body(f"{name}1", "base", sk.Revolute(rng.normal(size=3)), mass=1.0,
                   inertia=(1, 1, 1), translation=rng.normal(size=3) / 3,
                   rotation=turn(rng))  # fmt: skip
        b.add_body(f"{name}2", f"{name}1", sk.Helical(rng.normal(size=3), pitch=0.2), mass=1.0,
                   inertia=(1, 1, 1), translation=rng.normal(size=3) / 3)  # fmt: skip
    for body, shape in (("a2", first), ("world" if on_world else "b2", second)):
        b.add_collision(body, SHAPES[shape], name="it", translation=rng.normal(size=3) / 3,
                        rotation=turn(rng))  # fmt: skip
    return b.build()


def body_of(model, q, v, name):
    """(R, p, ω, v) of a body, in its own axes."""
    if name == "world":
        return np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    k = model.body_index(name)
    rotations, positions = sk.forward_kinematics(model, q)
    motion = sk.velocities(model, q, v)[0][k]
    return rotations[k], positions[k], motion[:3], motion[3:]


def twin_gaps(model, first, second, on_world):
    """gap functions of the twin, one for each point, in the kernel's order."""
    other = "world" if on_world else "b2"
    a, b = model.collisions["a2"][0], model.collisions[other][0]
    forward = points(a, first, b, second)
    if forward is None:
        return [flipped(f) for f in points(b, second, a, first)]
    both = {("box", "box"), ("capsule", "box"), ("box", "capsule")}
    if (first, second) in both:
        return forward + [flipped(f) for f in points(b, second, a, first)]
    return forward


def flipped(gap_of):
    def other(a, b):
        gap, n, x = gap_of(b, a)
        return gap, -n, x

    other.flipped = gap_of
    return other


def balls(placed, word):
    """The balls by which a shape touches."""
    at, axes, shape = placed.translation, placed.rotation, placed.shape
    if word == "sphere":
        return [(at, shape.radius)]
    if word == "capsule":
        return [(at + s * shape.length / 2 * axes[:, 2], shape.radius) for s in (-1, 1)]
    if word == "box":
        signs = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        return [(at + axes @ (np.array(s) * shape.size / 2), 0.0) for s in signs]
    return [(at + axes @ np.array(x), shape.radius) for x in shape.points]


def straight(placed):
    shape = placed.shape
    half = getattr(shape, "length", 0.0) / 2
    return placed.translation, placed.rotation[:, 2], half, shape.radius


def rims(placed, word):
    at, axes, shape = placed.translation, placed.rotation, placed.shape
    if word == "disk":
        return [(at, axes[:, 2], shape.radius, shape.edge)]
    return [(at + s * shape.length / 2 * axes[:, 2], axes[:, 2], shape.radius, 0.0)
            for s in (-1, 1)]  # fmt: skip


def points(a, first, b, second):
    """One gap function for each point of a on the surface of b; None if b is no surface for it."""
    round_ones = ("sphere", "capsule")
    if second == "half_space":
        point = b.translation + b.rotation @ np.array(b.shape.point)
        normal = b.rotation @ np.array(b.shape.normal)
        if first == "ellipsoid":
            return [lambda x, y: twin.ellipsoid_on_plane(
                x, y, a.translation, a.rotation, a.shape.radii, point, normal)]  # fmt: skip
        if first in ("disk", "cylinder"):
            return [lambda x, y, r=r: twin.rim_on_plane(x, y, *r, point, normal)
                    for r in rims(a, first)]  # fmt: skip
        return [lambda x, y, c=c: twin.ball_on_plane(x, y, *c, point, normal)
                for c in balls(a, first)]  # fmt: skip
    if first in ("half_space", "height_field"):
        return None
    if second == "height_field":
        return [lambda x, y, c=c: twin.ball_on_field(
            x, y, *c, b.translation, b.rotation, b.shape.size, b.shape.heights)
            for c in balls(a, first)]  # fmt: skip
    if first in round_ones and second in round_ones:
        return [lambda x, y: twin.capsule_on_capsule(x, y, straight(a), straight(b))]
    if second == "box":
        return [lambda x, y, c=c: twin.ball_on_box(
            x, y, *c, b.translation, b.rotation, np.array(b.shape.size) / 2)
            for c in balls(a, first)]  # fmt: skip
    if first == "box" and second == "sphere":
        return None
    return [lambda x, y, c=c: twin.capsule_on_capsule(
        x, y, (c[0], np.array([0, 0, 1.0]), 0.0, c[1]), straight(b))
        for c in balls(a, first)]  # fmt: skip


def chosen(first, count):
    """Which points of the kernel the twin speaks of: of a rim, not those for lying flat."""
    if first in ("disk", "cylinder"):
        return list(range(0, count, 4)) if count > 2 else list(range(count))
    return list(range(count))


def test_every_pair_of_the_table_is_here_and_every_other_is_refused():
    rng = np.random.default_rng(0)
    for first in SHAPES:
        for second in SHAPES:
            model = scene(rng, first, second)
            contact = [sk.Contact("a2", "b2", **LAW)]
            known = PAIRS.get((first, second), PAIRS.get((second, first)))
            if known is None:
                with pytest.raises(sk.ModelError, match="cannot be done; cover one of them with"):
                    pack_contacts(model, contact)
            else:
                assert pack_contacts(model, contact).n_points == known


WITH_TWINS = [p for p in PAIRS if p[1] != "height_field" or p[0] not in ("ellipsoid", "disk",
                                                                         "cylinder")]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), WITH_TWINS)
def test_gaps_normals_and_points_are_those_of_the_definition(first, second):
    rng = np.random.default_rng(1)
    for trial in range(4):
        on_world = trial % 2 == 1 and first not in ("half_space", "height_field")
        model = scene(rng, first, second, on_world)
        q, v = model.random_state(rng)
        q[4:7] *= 0.3
        contact = [sk.Contact("a2", "it" if on_world else "b2", **LAW)]
        found = sk.contact_gaps(model, contact, q)
        bodies = body_of(model, q, v, "a2"), body_of(model, q, v, "world" if on_world else "b2")
        twins = twin_gaps(model, first, second, on_world)
        at = chosen(first, len(found.labels))
        assert len(twins) == len(at)
        for i, gap_of in zip(at, twins, strict=True):
            gap, n, x = gap_of(*bodies)
            assert abs(found.gap[i] - gap) < 1e-12
            assert np.abs(found.normal[i] - n).max() < 1e-11
            assert np.abs(found.point[i] - x).max() < 1e-12


def overlapping(rng, first, second, contact):
    """A model and a state in which a point of the contact overlaps, but not too deep."""
    for _ in range(40):
        model = scene(rng, first, second)
        states = [model.random_state(rng) for _ in range(100)]
        q = np.array([state[0] for state in states])
        q[:, 4:7] *= 0.4
        gap = sk.contact_gaps(model, contact, q).gap.min(axis=1)
        for i in np.flatnonzero((gap < -1e-3) & (gap > -0.35)):
            return model, q[i], states[i][1]
    raise AssertionError("no overlap found")


LAWS = {
    "smooth": {"stiffness": 2e3, "dissipation": 0.1},
    "rough": {"stiffness": 2e3, "dissipation": 0.1, "friction": 0.6, "tangential_damping": 8.0},
    "hertz": {"stiffness": 5e3, "exponent": 1.5, "dissipation": 0.2, "friction": 0.3,
              "tangential_stiffness": 900.0, "static_friction": 0.5, "slip_speed": 0.4},
    "twisting": {"stiffness": 2e3, "friction": 0.7, "torsional_friction": 0.02},
    "rolling": {"stiffness": 2e3, "friction": 0.7, "torsional_friction": 0.02,
                "rolling_friction": 0.01, "tangential_damping": 3.0},
}  # fmt: skip


def twin_law(given):
    mu = given.get("friction", 0.0)
    kt = given.get("tangential_stiffness", given["stiffness"])
    return {
        "k": given["stiffness"], "c": given.get("dissipation", 0.0), "p": given.get("exponent", 1),
        "mu": mu, "mu_s": given.get("static_friction", mu),
        "slip_speed": given.get("slip_speed", 1.0), "kt": kt,
        "d": given.get("tangential_damping", 2e-3 * kt),
        "torsion": given.get("torsional_friction", 0.0) / mu if mu else 0.0,
        "rolling": given.get("rolling_friction", 0.0) / mu if mu else 0.0,
    }  # fmt: skip


def twin_turn(gap_of, bodies, first, second, n):
    """ωc as the study says; a pair that is turned round is turned round here, too."""
    source = getattr(gap_of, "flipped", None)
    if source is not None:
        return twin_turn(source, bodies[::-1], second, first, -n)
    if second == "box":
        return twin.turning_on_box(gap_of, *bodies, n)
    return twin.turning(gap_of, *bodies, n, second in ("half_space", "height_field"))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("first", "second"),
    [("sphere", "half_space"), ("sphere", "sphere"), ("capsule", "capsule"), ("sphere", "box"),
     ("box", "capsule"), ("sphere", "height_field"), ("half_space", "sphere"),
     ("ellipsoid", "half_space"), ("disk", "half_space")],
)  # fmt: skip
def test_forces_rates_energies_and_losses_are_those_of_the_law(first, second, law):
    rng = np.random.default_rng(3)
    given = LAWS[law]
    contact = [sk.Contact("a2", "b2", **given)]
    seen = set()
    for _ in range(3):
        model, q, v = overlapping(rng, first, second, contact)
        v *= 0.3
        tables = pack_contacts(model, contact)
        strain = 0.02 * rng.normal(size=tables.n_bristles)
        found = sk.contact_forces(model, contact, q, v, strain)
        bodies = body_of(model, q, v, "a2"), body_of(model, q, v, "b2")
        twins = twin_gaps(model, first, second, False)
        for i, gap_of in zip(chosen(first, len(found.labels)), twins, strict=True):
            gap, n, x = gap_of(*bodies)
            at, count = tables.bristles_of_points[i]
            own = np.zeros(6)
            own[:count] = strain[at : at + count] if count else []
            sign = -1.0 if hasattr(gap_of, "flipped") else 1.0  # bristles are the feeler's
            wanted = twin.law(
                twin_law(given), gap, sign * n,
                sign * (twin.velocity(bodies[0], x) - twin.velocity(bodies[1], x)),
                sign * (bodies[0][2] - bodies[1][2]),
                twin_turn(gap_of, bodies, first, second, n), own[:3], own[3:],
            )  # fmt: skip
            wanted["force"], wanted["moment"] = sign * wanted["force"], sign * wanted["moment"]
            size = 1.0 + np.abs(wanted["force"]).max()
            assert np.abs(found.force[i] - wanted["force"]).max() < 1e-9 * size
            assert np.abs(found.moment[i] - wanted["moment"]).max() < 1e-9 * size
            assert abs(found.stored[i] - wanted["stored"]) < 1e-9 * size
            assert abs(found.loss[i] - wanted["loss"]) < 1e-8 * (1.0 + abs(wanted["loss"]))
            if count:
                rates = np.concatenate((wanted["s"], wanted["zeta"]))[:count]
                # ωc × s is measured by differences
                assert np.abs(found.bristle_rates[at : at + count] - rates).max() < 1e-7
            smooth = "friction" not in given  # nothing sticks where there is no friction
            holds = wanted["r"] >= 1.0 and not (smooth and gap < 0)
            assert found.sticks[i] == holds
            seen.add((gap < 0, holds))
    assert any(closed for closed, _ in seen)


def test_what_is_put_into_a_contact_is_stored_or_lost():
    """−force·velocity = rate of the stored energy + loss, and the loss is never negative."""
    rng = np.random.default_rng(4)
    contact = [sk.Contact("a2", "b2", **LAWS["rolling"])]
    for first, second in (("sphere", "sphere"), ("capsule", "capsule"), ("sphere", "box"),
                          ("ellipsoid", "half_space"), ("disk", "half_space")):  # fmt: skip
        model, q, v = overlapping(rng, first, second, contact)
        v *= 0.1
        tables = pack_contacts(model, contact)
        s = 0.002 * rng.normal(size=tables.n_bristles)
        found = sk.contact_forces(model, contact, q, v, s)
        h = 1e-6
        stored = [
            sk.contact_forces(model, contact, model.integrate(q, x * v), v,
                              s + x * found.bristle_rates).stored.sum()
            for x in (h, -h)
        ]  # fmt: skip
        bodies = body_of(model, q, v, "a2"), body_of(model, q, v, "b2")
        power = 0.0
        for i in range(len(found.labels)):
            x = found.point[i]
            power += found.force[i] @ (twin.velocity(bodies[0], x) - twin.velocity(bodies[1], x))
            power += found.moment[i] @ (bodies[0][2] - bodies[1][2])
        rate = (stored[0] - stored[1]) / (2 * h)
        assert (found.loss >= 0.0).all()
        assert abs(power + rate + found.loss.sum()) < 1e-6 * (1 + abs(power) + abs(rate))


# ---- coal ---------------------------------------------------------------------------------------


def coal_shape(word):
    shape = SHAPES[word]
    made = {
        "sphere": lambda: coal.Sphere(shape.radius),
        "capsule": lambda: coal.Capsule(shape.radius, shape.length),
        "box": lambda: coal.Box(*shape.size),
        "cylinder": lambda: coal.Cylinder(shape.radius, shape.length),
        "ellipsoid": lambda: coal.Ellipsoid(*shape.radii),
    }
    if word == "half_space":
        n = np.array(shape.normal) / np.linalg.norm(shape.normal)
        return coal.Halfspace(n, float(n @ np.array(shape.point)))
    return made[word]()


def coal_gap(model, q, words):
    places = []
    rotations, positions = sk.forward_kinematics(model, q)
    for body in ("a2", "b2"):
        k, one = model.body_index(body), model.collisions[body][0]
        places.append(coal.Transform3s(rotations[k] @ one.rotation,
                                       positions[k] + rotations[k] @ one.translation))  # fmt: skip
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    return coal.distance(coal_shape(words[0]), places[0], coal_shape(words[1]), places[1],
                         request, result)  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [("sphere", "half_space"), ("capsule", "half_space"), ("box", "half_space"),
     ("ellipsoid", "half_space"), ("cylinder", "half_space"), ("sphere", "sphere"),
     ("sphere", "capsule"), ("capsule", "capsule"), ("sphere", "box")],
    ids="-".join,
)  # fmt: skip
def test_gaps_are_those_of_coal(words):
    rng = np.random.default_rng(6)
    model = scene(rng, *words)
    contact = [sk.Contact("a2", "b2", **LAW)]
    compared = 0
    for _ in range(60):
        q, _v = model.random_state(rng)
        q[4:7] *= 0.5
        gap = sk.contact_gaps(model, contact, q).gap.min()
        # coal finds the depth of boxes by iterations: test_contact_boxes.py
        if words == ("sphere", "box") and gap < 0.0:
            continue
        assert abs(gap - coal_gap(model, q, words)) < 1e-12
        compared += 1
    assert compared > 20


# ---- lanes --------------------------------------------------------------------------------------


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python has one width")
@pytest.mark.parametrize("words", [p for p in PAIRS if p[0] != "points"], ids="-".join)
def test_a_batch_has_the_bits_of_its_states(words):
    rng = np.random.default_rng(7)
    model = scene(rng, *words)
    contact = [sk.Contact("a2", "b2", **LAWS["rolling"])]
    states = [model.random_state(rng) for _ in range(19)]
    q, v = (np.array([s[i] for s in states]) for i in range(2))
    q[:, 4:7] *= 0.4
    count = pack_contacts(model, contact).n_bristles
    s = 0.01 * rng.normal(size=(19, count))
    tables = pack_contacts(model, contact)
    many = contact_functions.forces_of(
        tables, contact_functions.evaluate_contacts(model, tables, q, v, s, wide=True)
    )
    for i in range(19):
        one = sk.contact_forces(model, contact, q[i], v[i], s[i])
        for name in ("gap", "point", "force", "moment", "stored", "loss", "bristle_rates"):
            assert (getattr(one, name) == getattr(many, name)[i]).all(), name
