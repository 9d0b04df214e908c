"""Random trees of rigid and flexible bodies, for skodyn and for the twin of particles."""

from __future__ import annotations

import numpy as np

import flexible_twin as twin
import skodyn as sk
from skodyn.model.flexible.flexible_packing import with_flexible
from skodyn.model.flexible.modal_body import BeamCurvature, FlexibleBody, FlexibleNode

JOINTS = (
    sk.Revolute(axis=(0, 0, 1)), sk.Free(), sk.Prismatic(axis=(0.6, 0, 0.8)), sk.Spherical(),
    sk.Universal(), sk.Helical(axis=(0, 1, 0), pitch=0.3), sk.Cylindrical(axis=(1, 0, 0)),
    sk.Planar(), sk.Fixed(), sk.Revolute(axis=(0.48, -0.6, 0.64), armature=0.2), sk.Translation(),
)  # fmt: skip


def random_rotation(rng):
    p = rng.normal(size=4)
    return twin.quaternion_matrix(p / np.linalg.norm(p))


def flexible_body(rng, masses, places, modes, slaves, curved=True):
    """A FlexibleBody of particles whose shapes are random, and what the twin takes of it."""
    n = modes + slaves
    shapes = 0.3 * rng.normal(size=(n, len(masses), 3))
    a = rng.normal(size=(slaves, modes, modes))
    a = a + a.transpose(0, 2, 1)
    nodes = {
        name: (rng.normal(size=3), 0.5 * rng.normal(size=(3, n)), 0.5 * rng.normal(size=(3, n)))
        for name in ("root", "middle", "tip")
    }
    gauss = tuple(rng.normal(size=(5, 3, modes)))
    gauss = (np.abs(gauss[0][:, 0]), *gauss[1:]) if curved else None
    stiffness, damping = 1.0 + 9.0 * rng.random(modes), rng.random(modes)
    square = np.einsum("p,px,px->", masses, places, places) * np.eye(3)
    body = FlexibleBody(
        mass=masses.sum(),
        first_moment=masses @ places,
        inertia=square - np.einsum("p,px,py->xy", masses, places, places),
        shape_integrals=np.einsum("p,ipx->ix", masses, shapes),
        position_shapes=np.einsum("p,px,ipy->ixy", masses, places, shapes),
        shape_products=np.einsum("p,ipx,jpy->ijxy", masses, shapes, shapes),
        stiffness=stiffness,
        damping=damping,
        slaves=a,
        labels=tuple(f"mode{i + 1}" for i in range(modes)),
        nodes={name: FlexibleNode(*given) for name, given in nodes.items()},
        frequencies=np.ones(modes),
        length=1.0,
        curvature=BeamCurvature(*gauss) if curved else None,
    )
    return (
        body,
        {"shapes": shapes, "slaves": a, "stiffness": stiffness, "damping": damping, "gauss": gauss},
        nodes,
    )


def twin_joint(joint):
    if isinstance(joint, (sk.Spherical, sk.Free)):
        return twin.Joint(joint.type_name, armature=joint.armature)
    twists = [(np.array(u), np.array(t)) for u, t in joint.twists()]
    return twin.Joint("twists", twists, joint.armature)


def random_system(seed, bodies=7, modes=4, slaves=2, loops=()):
    """(model, twin): a tree in which each body is rigid or has up to so many modes.

    loops: what `add_loop` takes, each."""
    rng = np.random.default_rng(seed)
    builder = sk.ModelBuilder(gravity=rng.normal(size=3) * 5)
    flexible, attached, clouds, nodes, order = {}, {}, [], [], rng.permutation(11)
    for k in range(bodies):
        parent = -1 if k == 0 else int(rng.integers(max(-1, k - 3), k))
        joint = JOINTS[order[k % 11]]
        p = 12
        masses, places = 0.2 + rng.random(p), rng.normal(size=(p, 3))
        rotation, translation = random_rotation(rng), rng.normal(size=3)
        more, own_nodes = {}, None
        if k % 3 != 2:
            m = int(rng.integers(1, modes + 1))
            body, more, own_nodes = flexible_body(
                rng, masses, places, m, int(rng.integers(0, slaves + 1)), curved=k % 2 == 0
            )
            flexible[f"b{k}"] = body
        node = None
        if parent >= 0 and nodes[parent] is not None and rng.random() < 0.85:
            name = ("middle", "tip")[int(rng.integers(2))]
            attached[f"b{k}"], node = name, nodes[parent][name]
        com = masses @ places / masses.sum()
        away = places - com
        inertia = np.einsum("p,px,px->", masses, away, away) * np.eye(3)
        inertia -= np.einsum("p,px,py->xy", masses, away, away)
        builder.add_body(
            f"b{k}", "world" if parent < 0 else f"b{parent}", joint, translation=translation,
            rotation=rotation, mass=masses.sum(), com=com, inertia=inertia,
        )  # fmt: skip
        clouds.append(
            twin.Body(
                parent, twin_joint(joint), rotation, translation, masses, places, node=node, **more
            )
        )
        nodes.append(own_nodes)
    for k, loop in enumerate(loops):
        builder.add_loop(f"l{k}", **loop)
    rigid = builder.build()
    model = with_flexible(rigid, flexible, attached)
    place = {name: i for i, name in enumerate(model.body_names)}
    numbers = [int(name[1:]) for name in model.body_names]
    ordered = [clouds[i] for i in numbers]
    for body in ordered:
        body.parent = -1 if body.parent < 0 else place[f"b{body.parent}"]
    return model, twin.Twin(ordered, model.gravity)
