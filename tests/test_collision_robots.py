"""Shapes that touch in robots that nobody here wrote: where Pinocchio and MuJoCo have them, and
which of them may meet, by MuJoCo's own list."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import skodyn as sk
import test_mjcf_models as mjcf
import test_urdf_robots as urdf
from skodyn.conventions import GROUND
from skodyn.model.contact.contact_pairs import Placed, _meeting
from skodyn.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
)

EXACT = 1e-12
SHARE = urdf.ROBOTS.parents[1]


def placed(model, q):
    """(body, collision, rotation, position) of every shape, in the world."""
    rotations, positions = sk.forward_kinematics(model, q)
    for body, shapes in model.collisions.items():
        turn, place = np.eye(3), np.zeros(3)
        if body != GROUND:
            k = model.body_index(body)
            turn, place = rotations[k], positions[k]
        for one in shapes:
            yield body, one, turn @ one.rotation, place + turn @ one.translation


# ---- URDF ---------------------------------------------------------------------------------------


def sizes(shape):
    """What coal calls a shape, and its sizes."""
    if isinstance(shape, Sphere):
        return "Sphere", [shape.radius]
    if isinstance(shape, Box):
        return "Box", [x / 2 for x in shape.size]
    if isinstance(shape, Cylinder | Capsule):
        return type(shape).__name__, [shape.radius, shape.length / 2]
    return "BVHModelOBBRSS", []


def theirs(geometry):
    kind = type(geometry).__name__
    found = {"Sphere": ["radius"], "Box": ["halfSide"], "Cylinder": ["radius", "halfLength"],
             "Capsule": ["radius", "halfLength"]}.get(kind, [])  # fmt: skip
    kind = "BVHModelOBBRSS" if kind == "Convex" else kind  # <collision_checking> asks for its hull
    return kind, np.concatenate([np.atleast_1d(getattr(geometry, x)) for x in found] or [[]])


ROBOTS = [n for n in urdf.FILES if n not in urdf.REFUSED["fixed"]]


def has_meshes(name):
    text = (urdf.ROBOTS / name).read_text()
    return any("<mesh" in part.split("</collision>")[0] for part in text.split("<collision")[1:])


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] if has_meshes(n) else []) for n in ROBOTS],
)
def test_shapes_of_a_robot_are_where_pinocchio_has_them(name):
    """Those with meshes are slow, since Pinocchio reads all of them."""
    path = str(urdf.ROBOTS / name)
    model = sk.load(path, mimic="independent")
    peer = pin.buildModelFromUrdf(path)
    try:
        geometry = pin.buildGeomFromUrdf(
            peer, path, pin.GeometryType.COLLISION, package_dirs=[str(SHARE)]
        )
    except ValueError as error:
        pytest.skip(f"Pinocchio cannot read its meshes: {error}")
    data, placements = peer.createData(), geometry.createData()
    rng = np.random.default_rng(urdf.FILES.index(name))
    q, v = model.random_state(rng)
    pin.updateGeometryPlacements(
        peer, data, geometry, placements, sk.interop.to_pinocchio_state(model, peer, q, v)[0]
    )
    left = list(placed(model, q))
    assert len(left) == len(geometry.geometryObjects)
    for one, at in zip(geometry.geometryObjects, placements.oMg, strict=True):
        kind, numbers = theirs(one.geometry)
        match = next(
            (i for i, (_, mine, turn, place) in enumerate(left)
             if sizes(mine.shape)[0] == kind
             and np.allclose(sizes(mine.shape)[1], numbers, rtol=0, atol=EXACT)
             and np.abs(place - at.translation).max() < EXACT * 10
             and np.abs(turn - at.rotation).max() < EXACT),
            None,
        )  # fmt: skip
        assert match is not None, (one.name, kind)
        left.pop(match)


# ---- MJCF ---------------------------------------------------------------------------------------


MODELS = [n for n in mjcf.FILES if n not in mjcf.REFUSED]
_PLAIN = str.maketrans(dict.fromkeys("/*?[]", "_"))


def loaded(name):
    ignore = sorted(mjcf.IGNORED.get(name, set()))
    return sk.load(mjcf.SITE / name, ignore=ignore, **mjcf.options(name))


def geoms(peer):
    """The names of geoms as skodyn has them, by number."""
    named = [peer.geom(g).name.translate(_PLAIN).strip() for g in range(peer.ngeom)]
    return [name or f"geom{g}" for g, name in enumerate(named)]


SIZES = {
    mujoco.mjtGeom.mjGEOM_SPHERE: (Sphere, lambda s: [s.radius, 0, 0]),
    mujoco.mjtGeom.mjGEOM_CAPSULE: (Capsule, lambda s: [s.radius, s.length / 2, 0]),
    mujoco.mjtGeom.mjGEOM_CYLINDER: (Cylinder, lambda s: [s.radius, s.length / 2, 0]),
    mujoco.mjtGeom.mjGEOM_BOX: (Box, lambda s: [x / 2 for x in s.size]),
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: (Ellipsoid, lambda s: list(s.radii)),
}


@pytest.mark.parametrize("name", mjcf.marked(MODELS))
def test_shapes_of_a_model_are_where_mujoco_has_them(name):
    model, peer = loaded(name), mjcf.compiled(name)
    peer.geom_sameframe[:] = 0  # MuJoCo rounds by 1e-7 where a geom is nearly as its body
    data = mujoco.MjData(peer)
    rng = np.random.default_rng(0)
    q, v = model.random_state(rng)
    data.qpos[:] = sk.interop.to_mujoco_state(model, peer, q, v)[0]
    mujoco.mj_kinematics(peer, data)
    names = geoms(peer)
    found = {one.name: (one, turn, place) for _, one, turn, place in placed(model, q)}
    able = [g for g in range(peer.ngeom) if peer.geom_contype[g] or peer.geom_conaffinity[g]]
    inline = [note for note in model.notes if note.startswith("Geoms that cannot touch here")]
    missing = [g for g in able if names[g] not in found]
    assert not missing or inline  # meshes without a file
    assert all(peer.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH for g in missing)
    for g in (g for g in able if names[g] in found):
        one, turn, place = found[names[g]]
        kind = mujoco.mjtGeom(int(peer.geom_type[g]))
        if isinstance(one.shape, Mesh):
            continue  # centred by MuJoCo; those to look at are placed the same way
        scale = max(1.0, np.abs(data.geom_xpos[g]).max())
        np.testing.assert_allclose(place, data.geom_xpos[g], rtol=0, atol=EXACT * scale)
        np.testing.assert_allclose(turn.reshape(-1), data.geom_xmat[g], rtol=0, atol=EXACT)
        if kind in SIZES:
            assert isinstance(one.shape, SIZES[kind][0])
            mine = np.array(SIZES[kind][1](one.shape))
            np.testing.assert_allclose(mine[mine > 0], peer.geom_size[g][mine > 0], rtol=1e-15)
        else:
            assert isinstance(one.shape, HalfSpace | HeightField)


def mujoco_pairs(peer):
    """Pairs of geoms that MuJoCo looks at: with endless margins, it reports all of them."""
    peer.geom_margin[:] = peer.body_margin[:] = 1e3
    peer.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    peer.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(peer)
    mujoco.mj_kinematics(peer, data)
    mujoco.mj_comPos(peer, data)
    mujoco.mj_collision(peer, data)
    found = {tuple(sorted(pair)) for pair in data.contact.geom[: data.ncon].tolist()}
    return found, data


@pytest.mark.parametrize("name", mjcf.marked(MODELS))
def test_the_same_shapes_may_meet_as_in_mujoco(name):
    model, peer = loaded(name), mjcf.compiled(name)
    if peer.nflex or np.count_nonzero(peer.geom_contype) > 150:
        pytest.skip("too many pairs for MuJoCo's memory")
    names = geoms(peer)
    both, data = mujoco_pairs(peer)
    if any(w.number for w in data.warning):
        pytest.skip("too many pairs for MuJoCo's memory")
    theirs = {frozenset((names[a], names[b])) for a, b in both}
    everything = [Placed(body, one) for body, some in model.collisions.items() for one in some]
    given = sk.Contact("*", "*", stiffness=1.0)
    pairs, _ = _meeting(model, [everything, everything], given)
    meshes = {x.collision.name for x in everything if isinstance(x.collision.shape, Mesh)}
    known = {x.collision.name for x in everything}
    ours = {frozenset((a.collision.name, b.collision.name)) for a, b in pairs}

    def compared(some):
        return {p for p in some if p <= known and not p & meshes and len(p) == 2}

    no_way = {p for p in compared(ours) if _has_no_collision(model, p)}
    assert compared(theirs) - no_way == compared(ours) - no_way
    assert compared(theirs) <= compared(ours)


def _has_no_collision(model, pair):
    """Two planes or height fields: MuJoCo has no such function; two boxes: it sees no distance."""
    shapes = [x.shape for some in model.collisions.values() for x in some if x.name in pair]
    flat = all(isinstance(x, HalfSpace | HeightField) for x in shapes)
    return flat or all(isinstance(x, Box) for x in shapes)
