"""Rows of loops and couplings against the poses of the naive twin, and G by central differences."""

from dataclasses import replace

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from skodyn.model.joints import CATALOGUE, CLOSING
from skodyn.model.loops.loop_description import JointCoupling, Loop
from skodyn.model.loops.loop_geometry import Geometry, constraint_cycle, constraint_rows
from skodyn.topology.loops import cycle

SINGLE = ("revolute", "prismatic", "helical")
CLOSINGS = sorted(CLOSING)


def closed_by(model, loops=None, couplings=None):
    """The model with loops, without what kernels would need of them."""
    return replace(model, loops=loops or {}, couplings=couplings or {}, packed_with=())


def unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def random_joint(rng, kind):
    if kind == "rod":
        return CLOSING[kind](length=float(rng.uniform(0.2, 2.0)))
    arguments = naive.random_joint(rng, kind) if hasattr(naive, "random_joint") else {}
    arguments = {key: value for key, value in arguments.items() if key != "kind"}
    return CATALOGUE[kind](**arguments)


def random_rotation(rng):
    q = rng.normal(size=4)
    return naive.quaternion_matrix(q / np.linalg.norm(q))


def random_loop(rng, model, kind):
    names = ["world", *model.body_names]
    while True:
        a, b = rng.choice(names, 2, replace=False)
        ends = [-1 if name == "world" else model.body_index(name) for name in (a, b)]
        own = cycle(model.parent, *ends)
        if any(model.joints[k].nv for k in own):
            break
    return Loop(
        str(a), str(b), random_joint(rng, kind),
        random_rotation(rng), rng.normal(size=3), random_rotation(rng), rng.normal(size=3),
    )  # fmt: skip


class Case:
    """A random tree of every joint type with a loop of one kind, and a random configuration."""

    def __init__(self, seed, kind):
        self.rng = np.random.default_rng([11, seed, CLOSINGS.index(kind)])
        self.bodies = naive.random_bodies(
            self.rng, 6 + seed % 7, naive.KINDS, branching=(0.0, 0.5, 0.9)[seed % 3]
        )
        self.tree = adapters.build(self.bodies)
        self.loop = random_loop(self.rng, self.tree, kind)
        self.model = closed_by(self.tree, {"loop": self.loop})
        self.q = self.tree.random_state(self.rng)[0]


def difference_rows(model, q, dofs, step=1e-5):
    """Columns of dg by central differences through model.integrate."""
    columns = []
    for i in dofs:
        dv = np.zeros(model.nv)
        dv[i] = step
        ahead, behind = (constraint_rows(model, model.integrate(q, s * dv))[0].g for s in (1, -1))
        columns.append((ahead - behind) / (2 * step))
    return np.array(columns).T


@pytest.mark.parametrize("kind", [kind for kind in CLOSINGS if kind != "helical"])
@pytest.mark.parametrize("seed", range(8))
def test_slopes_are_derivatives(kind, seed):
    case = Case(seed, kind)
    (found,) = constraint_rows(case.model, case.q)
    expected = difference_rows(case.model, case.q, found.dofs)
    scale = 1.0 + np.abs(found.G).max()
    np.testing.assert_allclose(found.G, expected, atol=3e-8 * scale)


@pytest.mark.parametrize("kind", CLOSINGS)
@pytest.mark.parametrize("seed", range(8))
def test_only_joints_of_the_cycle_open_a_loop(kind, seed):
    """Errors do not change with other joints, up to a turn of the axes that points are given in."""
    case = Case(seed, kind)
    (found,) = constraint_rows(case.model, case.q)
    dv = case.rng.normal(size=case.model.nv)
    dv[found.dofs] = 0.0
    (moved,) = constraint_rows(case.model, case.model.integrate(case.q, dv))
    assert np.linalg.norm(moved.g) == pytest.approx(np.linalg.norm(found.g), abs=1e-12)
    assert np.linalg.svd(moved.G)[1] == pytest.approx(np.linalg.svd(found.G)[1], abs=1e-12)


@pytest.mark.parametrize("kind", CLOSINGS)
@pytest.mark.parametrize("seed", range(6))
def test_a_loop_closed_by_the_joint_itself_is_closed(kind, seed):
    """Frame B put where the joint would take it from frame A: all rows vanish, G is exact."""
    case = Case(seed, kind)
    loop = case.loop
    names, (rotations, origins) = case.tree.body_names, poses(case)

    def world(body, rotation, translation):
        if body == "world":
            return rotation, translation
        k = names.index(body)
        return rotations[k] @ rotation, origins[k] + rotations[k] @ translation

    r_a, x_a = world(loop.body_a, loop.rotation_a, loop.translation_a)
    if kind == "rod":
        r_rel, x_rel = random_rotation(case.rng), loop.joint.length * unit(case.rng)
    else:
        tree = sk.ModelBuilder()
        tree.add_body("b", "world", loop.joint, mass=1.0)
        alone = tree.build()
        q = alone.random_state(case.rng)[0]
        r_rel, x_rel = (a[0] for a in sk.forward_kinematics(alone, q))
    r_b0, x_b0 = world(loop.body_b, np.eye(3), np.zeros(3))
    r_b, x_b = r_a @ r_rel, x_a + r_a @ x_rel
    closed = replace(loop, rotation_b=r_b0.T @ r_b, translation_b=r_b0.T @ (x_b - x_b0))
    model = closed_by(case.tree, {"loop": closed})
    (found,) = constraint_rows(model, case.q)
    np.testing.assert_allclose(found.g, 0.0, atol=1e-13)
    expected = difference_rows(model, case.q, found.dofs)
    np.testing.assert_allclose(found.G, expected, atol=3e-8 * (1.0 + np.abs(found.G).max()))
    freedom = {"rod": 5}.get(kind, loop.joint.nv)
    assert len(found.g) == 6 - freedom


def poses(case):
    kinematics = sk.forward_kinematics(case.tree, case.q)
    return kinematics[0], kinematics[1]


@pytest.mark.parametrize("seed", range(8))
def test_couplings(seed):
    rng = np.random.default_rng([12, seed])
    bodies = naive.random_bodies(rng, 8, SINGLE, branching=0.5)
    tree = adapters.build(bodies)
    i, j, k = (tree.joint_names[n] for n in rng.permutation(8)[:3])
    model = closed_by(
        tree,
        couplings={
            "curve": JointCoupling((i, j), coefficients=(0.1, -0.5, 0.3, 0.2, -0.1)),
            "sum": JointCoupling((i, j, k), factors=(1.0, -2.0, 0.5), offset=0.25),
        },
    )
    q = tree.random_state(rng)[0]
    curve, line = constraint_rows(model, q)
    at = {name: q[tree.q_slice(name)][0] for name in (i, j, k)}
    s = at[j]
    f = 0.1 - 0.5 * s + 0.3 * s**2 + 0.2 * s**3 - 0.1 * s**4
    assert curve.g[0] == pytest.approx(at[i] - f, abs=1e-14)
    assert line.g[0] == pytest.approx(at[i] - 2 * at[j] + 0.5 * at[k] - 0.25, abs=1e-14)
    np.testing.assert_allclose(curve.G, difference_rows(model, q, curve.dofs), atol=1e-8)
    only = closed_by(tree, couplings={"sum": model.couplings["sum"]})
    np.testing.assert_allclose(line.G, difference_rows(only, q, line.dofs), atol=1e-8)
    cycle_of = constraint_cycle(model, model.couplings["sum"])
    assert {tree.joint_index(name) for name in (i, j, k)} <= set(cycle_of)


def test_numbers_choose_constraints():
    case = Case(1, "fixed")
    both = closed_by(case.tree, {"one": case.loop, "two": random_loop(case.rng, case.tree, "rod")})
    every = constraint_rows(both, case.q)
    (second,) = constraint_rows(both, case.q, [1])
    assert len(every) == 2
    assert second.g == pytest.approx(every[1].g, abs=0.0)


@pytest.mark.parametrize("kind", [kind for kind in CLOSINGS if kind != "helical"])
@pytest.mark.parametrize("seed", range(4))
def test_guides_are_derivatives_and_vanish_with_the_rows(kind, seed):
    case = Case(seed, kind)
    geometry = Geometry(case.model, [case.loop], range(case.tree.n_bodies))
    (found,) = geometry.guides(case.q)

    def moved(i, step):
        dv = np.zeros(case.model.nv)
        dv[i] = step
        return geometry.guides(case.model.integrate(case.q, dv))[0].g

    expected = [(moved(i, 1e-5) - moved(i, -1e-5)) / 2e-5 for i in found.dofs]
    scale = 1.0 + np.abs(found.G).max()
    np.testing.assert_allclose(found.G, np.array(expected).T, atol=3e-8 * scale)
    assert len(found.angular) == len(found.g)
