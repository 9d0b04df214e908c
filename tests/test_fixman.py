"""Fixman's method against the recursions and against dense algebra, which share no step with it."""

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk

EPSILON = np.finfo(float).eps


def rigid_chain(n, seed=0, kinds=naive.KINDS, rotors=0.0):
    rng = np.random.default_rng(seed)
    model = adapters.build(naive.random_bodies(rng, n, kinds, branching=0.0, rotors=rotors))
    return model, model.random_state(rng)[0]


def bead_chain(n, seed=0, adrift=True):
    """Point masses on bonds with two axes each, not perpendicular to one another."""
    rng = np.random.default_rng(seed)
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    parent, end = "world", (0.0, 0.0, 0.0)
    if adrift:
        b.add_body("m", parent, sk.Translation(), mass=0.7, com=(0.1, 0.2, 0.3), inertia=(0, 0, 0))
        parent, end = "m", (0.1, 0.2, 0.3)
    for k in range(n):
        bond = naive.random_unit(rng) * rng.uniform(0.5, 1.5)
        across = np.linalg.qr(np.column_stack((bond, rng.normal(size=(3, 2)))))[0]
        joint = sk.Universal(axis1=across[:, 1], axis2=across[:, 2] + 0.2 * across[:, 1])
        b.add_body(
            f"m{k}", parent, joint, translation=end, mass=rng.uniform(0.5, 2.0), com=bond,
            inertia=(0, 0, 0),
        )  # fmt: skip
        parent, end = f"m{k}", bond
    model = b.build()
    q = model.random_state(rng)[0]
    return model, np.clip(q, -1.0, 1.0)  # away from axes that line up with their bond


def torsion_chain(n, seed=0, adrift=True):
    """Point masses with hard bond angles: every hinge turns about the bond before it."""
    rng = np.random.default_rng(seed)
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    parent, end, axis = "world", (0.0, 0.0, 0.0), np.array([0.0, 0.6, 0.8])
    if adrift:
        b.add_body("m", parent, sk.Translation(), mass=0.7, inertia=(0, 0, 0))
        parent = "m"
    for k in range(n):
        bond = np.cross(axis, naive.random_unit(rng)) + rng.uniform(-0.5, 0.5) * axis
        bond *= rng.uniform(0.5, 1.5) / np.linalg.norm(bond)
        mass = rng.uniform(0.5, 2.0)
        b.add_body(
            f"m{k}", parent, sk.Revolute(axis=axis * (-1) ** (k // 2)), translation=end,
            mass=mass, com=bond, inertia=(0, 0, 0),
        )  # fmt: skip
        parent, end, axis = f"m{k}", bond, bond / np.linalg.norm(bond)
    model = b.build()
    return model, model.random_state(rng)[0]


CHAINS = {
    "rigid": rigid_chain,
    "rotors": lambda n, seed=0: rigid_chain(n, seed, rotors=1.0),
    "some rotors": lambda n, seed=0: rigid_chain(n, seed, rotors=0.5),
    "beads": bead_chain,
    "beads, held": lambda n, seed=0: bead_chain(n, seed, adrift=False),
    "torsions": torsion_chain,
    "torsions, held": lambda n, seed=0: torsion_chain(n, seed, adrift=False),
}


@pytest.mark.parametrize("n", [2, 3, 5, 12, 40])
@pytest.mark.parametrize("kind", CHAINS)
def test_against_the_mass_matrix(kind, n):
    model, q = CHAINS[kind](n, seed=n)
    mass = sk.mass_matrix(model, q)
    kappa = np.linalg.cond(mass)
    sign, logdet = np.linalg.slogdet(mass)
    assert sign == 1.0
    near = 1e-14 * model.nv * max(1.0, abs(logdet))
    assert abs(sk.fixman.mass_matrix_logdet(model, q) - logdet) < near + 10 * EPSILON * kappa
    b = np.random.default_rng(n).normal(size=model.nv)
    x = np.linalg.solve(mass, b)
    error = np.linalg.norm(sk.fixman.mass_matrix_solve(model, q, b) - x)
    assert error < 20 * EPSILON * kappa * np.linalg.norm(x)


@pytest.mark.parametrize("n", [2, 20, 200, 2000])
@pytest.mark.parametrize("kind", ["rigid", "some rotors", "beads", "torsions"])
def test_against_the_recursions(kind, n):
    """Two O(n) methods: log det to 1e-10 relative, and solutions to what κ allows."""
    model, q = CHAINS[kind](n, seed=1)
    logdet = sk.mass_matrix_logdet(model, q)
    assert abs(sk.fixman.mass_matrix_logdet(model, q) - logdet) < 1e-10 * max(1.0, abs(logdet))
    b = np.random.default_rng(n).normal(size=model.nv)
    ours, theirs = sk.fixman.mass_matrix_solve(model, q, b), sk.mass_matrix_solve(model, q, b)
    kappa = condition(model, q)
    assert np.linalg.norm(ours - theirs) < 20 * EPSILON * kappa * np.linalg.norm(theirs)


def condition(model, q, rounds=40):
    """κ of the mass matrix by power iteration on it and on its inverse; a lower bound of it."""
    rng = np.random.default_rng(0)
    zero = np.zeros(model.nv)
    gravity = sk.gravity_force(model, q)
    largest = smallest = 1.0
    x, y = rng.normal(size=(2, model.nv))
    for _ in range(rounds):
        x = sk.inverse_dynamics(model, q, zero, x / np.linalg.norm(x)) - gravity
        y = sk.mass_matrix_solve(model, q, y / np.linalg.norm(y))
        largest, smallest = np.linalg.norm(x), np.linalg.norm(y)
    return largest * smallest


def test_the_hard_matrix_is_the_inverse_metric_of_bond_lengths():
    """Fixman 1974: for beads it is tridiagonal, 1/m + 1/m′ and −cos θ/m between neighbours."""
    model, q = bead_chain(6)
    bands = sk.fixman.hard_matrix(model, q)
    rotation, position = sk.forward_kinematics(model, q)
    place = position + np.einsum("kij,kj->ki", rotation, model.com)
    bond = np.diff(place, axis=0)
    unit = bond / np.linalg.norm(bond, axis=1, keepdims=True)
    m = model.mass
    np.testing.assert_allclose(bands[:, 0], 1 / m[:-1] + 1 / m[1:], rtol=1e-13)
    cosines = np.sum(unit[1:] * unit[:-1], axis=1)
    np.testing.assert_allclose(bands[1:, 1], -cosines / m[1:-1], atol=1e-13)
    np.testing.assert_array_equal(bands[:, 2:], 0.0)


def test_branched_trees_are_refused_by_name():
    b = sk.ModelBuilder()
    for name, parent in (("a", "world"), ("b", "a"), ("c", "a")):
        b.add_body(name, parent, sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    with pytest.raises(sk.ModelError, match="body 'a' carries body 'c' besides another"):
        sk.fixman.mass_matrix_logdet(model, model.neutral())
    b.add_body("d", "world", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))


def test_chains_that_are_neither_are_refused_by_name():
    b = sk.ModelBuilder()
    b.add_body("a", "world", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("rod", "a", sk.Revolute(), mass=1.0, com=(1, 0, 0), inertia=(0, 0.1, 0.1))
    model = b.build()
    with pytest.raises(sk.ModelError, match="Body 'rod' has no mass, or no inertia about some"):
        sk.fixman.mass_matrix_solve(model, model.neutral(), [1.0, 2.0])


def test_chains_of_beads_that_do_not_fit_name_every_fault():
    b = sk.ModelBuilder()
    point = {"mass": 1.0, "com": (1, 0, 0), "inertia": (0, 0, 0)}
    b.add_body("a", "world", sk.Universal((0, 1, 0), (0, 0, 1)), **point)
    b.add_body("b", "a", sk.Revolute((0, 0, 1), name="slanted"), translation=(1, 0, 0), **point)
    b.add_body("c", "b", sk.Prismatic(name="slide"), translation=(1, 0, 0), **point)
    b.add_body("d", "c", sk.Universal(name="far"), translation=(2, 0, 0), **point)
    model = b.build()
    with pytest.raises(sk.ModelError) as caught:
        sk.fixman.mass_matrix_logdet(model, model.neutral())
    assert len(caught.value.faults) == 3
    assert "'slanted' (revolute) turns about an axis at 90°" in str(caught.value)
    assert "'slide' (prismatic) has no place" in str(caught.value)
    assert "'far' (universal) is 1 m away" in str(caught.value)


def test_rotors_on_point_masses_are_refused_by_name():
    b = sk.ModelBuilder()
    point = {"mass": 1.0, "com": (1, 0, 0), "inertia": (0, 0, 0)}
    b.add_body("a", "world", sk.Universal((0, 1, 0), (0, 0, 1), armature=0.5, name="hip"), **point)
    model = b.build()
    with pytest.raises(sk.ModelError, match=r"'hip' \(universal\) has a rotor \(armature 0.5"):
        sk.fixman.mass_matrix_logdet(model, model.neutral())


@pytest.mark.parametrize("rhs", [[1.0], "nine", [[1.0], [1.0, 2.0]], [np.nan] * 9])
def test_right_hand_sides_that_do_not_fit_are_refused(rhs):
    model, q = bead_chain(3)
    with pytest.raises(sk.StateError, match="rhs"):
        sk.fixman.mass_matrix_solve(model, q, rhs)


def test_batches_are_refused_by_name():
    model, q = bead_chain(3)
    batch, b = np.tile(q, (4, 1)), np.ones(model.nv)
    for call in (
        lambda: sk.fixman.mass_matrix_logdet(model, batch),
        lambda: sk.fixman.hard_matrix(model, batch),
        lambda: sk.fixman.mass_matrix_solve(model, batch, b),
        lambda: sk.fixman.mass_matrix_solve(model, q, np.tile(b, (4, 1))),
    ):
        with pytest.raises(sk.StateError, match="takes one configuration at a time"):
            call()
