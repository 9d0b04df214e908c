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


def lumped_chain(n, seed=0, rotors=0.0, kinds=(sk.Revolute, sk.Prismatic)):
    """Masses at the joints, hinges and slides in any direction, some bodies rods."""
    rng = np.random.default_rng(seed)
    b = sk.ModelBuilder()
    parent, end = "world", (0.0, 0.0, 0.0)
    for k in range(n):
        bond = naive.random_unit(rng) * rng.uniform(0.5, 1.5)
        kind = kinds[int(rng.integers(len(kinds)))]
        joint = kind(axis=naive.random_unit(rng), armature=0.3 * (rng.random() < rotors))
        slender = 0.1 * (np.eye(3) - np.outer(bond, bond) / (bond @ bond)) * (rng.random() < 0.3)
        b.add_body(
            f"m{k}", parent, joint, translation=end, mass=rng.uniform(0.5, 2.0), com=bond,
            inertia=slender,
        )  # fmt: skip
        parent, end = f"m{k}", bond
    model = b.build()
    return model, model.random_state(rng)[0]


def planar_arm(n, seed=0):
    """Masses at the joints of a planar arm that is stretched out: all bonds lie in one line."""
    b = sk.ModelBuilder()
    for k in range(n):
        b.add_body(f"m{k}", f"m{k - 1}" if k else "world", sk.Revolute(axis=(0, 1, 0)),
                   translation=(0.5, 0, 0) if k else (0, 0, 0), mass=1.0 + k % 3, com=(0.5, 0, 0),
                   inertia=(0, 0, 0))  # fmt: skip
    model = b.build()
    return model, np.zeros(n)


CHAINS = {
    "lumped": lumped_chain,
    "lumped, rotors": lambda n, seed=0: lumped_chain(n, seed, rotors=0.5),
    "planar arm, stretched": planar_arm,
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
@pytest.mark.parametrize("kind", ["rigid", "some rotors", "beads", "torsions", "lumped"])
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


def agrees(model, q, pieces):
    mass = sk.mass_matrix(model, q)
    assert pieces.log_det == pytest.approx(np.linalg.slogdet(mass)[1], rel=1e-11, abs=1e-11)
    b = np.random.default_rng(0).normal(size=model.nv)
    np.testing.assert_allclose(pieces.solve(b), np.linalg.solve(mass, b), rtol=1e-9)


def test_every_serial_chain_has_a_form_of_the_method():
    """Rods beside bodies, beads on hinges across bonds, slides, rotors on beads."""
    b = sk.ModelBuilder()
    b.add_body("a", "world", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("rod", "a", sk.Revolute(), mass=1.0, com=(1, 0, 0), inertia=(0, 0.1, 0.1))
    mixed = b.build()
    b = sk.ModelBuilder()
    point = {"mass": 1.0, "com": (1, 0, 0), "inertia": (0, 0, 0)}
    hip = sk.Universal((0, 1, 0), (0, 0, 1), armature=0.5)
    b.add_body("a", "world", hip, **point)
    b.add_body("b", "a", sk.Revolute((0, 0, 1)), translation=(1, 0, 0), **point)
    b.add_body("c", "b", sk.Prismatic(), translation=(1, 0, 0), **point)
    b.add_body("d", "c", sk.Revolute((0, 1, 0)), translation=(2, 0, 0), **point)
    lumped = b.build()
    for model, q in ((mixed, [0.3, 0.4]), (lumped, [0.4, 0.9, 0.3, 0.2, -0.5])):
        pieces = sk.fixman.take_apart(model, q)
        assert pieces.kind == "lumped masses"
        agrees(model, q, pieces)
        for name in ("H11", "H12", "H22", "log_det_G", "H22_bands"):
            with pytest.raises(sk.ModelError, match="has no banded H: bodies without inertia"):
                getattr(pieces, name)


def test_a_chain_that_nothing_resists_is_refused_by_name():
    b = sk.ModelBuilder(name="loose")
    b.add_body("a", "world", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("tip", "a", sk.Revolute((0, 0, 1)), mass=1.0, com=(0, 0, 1), inertia=(0, 0, 0))
    model = b.build()
    with pytest.raises(sk.DynamicsError, match="singular to rounding, near body 'tip'"):
        sk.fixman.mass_matrix_logdet(model, [0.1, 0.2])


@pytest.mark.parametrize("kind", ["rigid", "some rotors", "beads", "torsions, held"])
def test_H_is_the_inverse_of_the_mass_matrix_of_all_coordinates(kind):
    """Eqs. 5 and 9, block by block."""
    model, q = CHAINS[kind](6, seed=3)
    pieces = sk.fixman.take_apart(model, q)
    H11, H12, H22 = pieces.H11, pieces.H12, pieces.H22
    assert H11.shape == (model.nv, model.nv)
    assert H12.shape == (model.nv, len(H22))
    H = np.block([[H11, H12], [H12.T, H22]])
    np.testing.assert_allclose(H, H.T, atol=1e-10 * np.abs(H).max())
    assert np.linalg.slogdet(H)[1] == pytest.approx(-pieces.log_det_G, rel=1e-9, abs=1e-9)
    assert np.linalg.slogdet(H22)[1] == pytest.approx(pieces.log_det_H22, rel=1e-9, abs=1e-9)
    inverse = np.linalg.inv(sk.mass_matrix(model, q))
    mended = H11 - H12 @ np.linalg.inv(H22) @ H12.T
    np.testing.assert_allclose(mended, inverse, atol=1e-8 * np.abs(inverse).max())
    bands = pieces.H22_bands
    for i in range(len(H22)):
        for j in range(min(i + 1, bands.shape[1])):
            assert bands[i, j] == pytest.approx(H22[i, i - j], abs=1e-11 * np.abs(H22).max())
    np.testing.assert_array_equal(
        np.triu(np.abs(H22) > 1e-9 * np.abs(H22).max(), bands.shape[1]), 0
    )


@pytest.mark.parametrize("kind", ["rigid", "rotors", "beads", "lumped, rotors"])
def test_joints_can_be_made_hard(kind):
    """The mass matrix is then without their rows and columns."""
    model, q = CHAINS[kind](6, seed=5)
    held = [model.joint_names[k] for k in (1, 4)]
    places = [np.arange(model.nv)[model.v_slice(name)] for name in held]
    kept = np.delete(np.arange(model.nv), np.concatenate(places))
    mass = sk.mass_matrix(model, q)[np.ix_(kept, kept)]
    b = np.random.default_rng(1).normal(size=len(kept))
    assert sk.fixman.mass_matrix_logdet(model, q, hard=held) == pytest.approx(
        np.linalg.slogdet(mass)[1], rel=1e-9, abs=1e-9
    )
    x = sk.fixman.mass_matrix_solve(model, q, b, hard=held)
    np.testing.assert_allclose(x, np.linalg.solve(mass, b), rtol=1e-7, atol=1e-9)
    pieces = sk.fixman.take_apart(model, q, hard=held)
    assert pieces.n_soft == len(kept)
    if kind in ("rigid", "rotors"):
        assert pieces.H11.shape == (len(kept),) * 2
        assert pieces.log_det_G + pieces.log_det_H22 == pytest.approx(pieces.log_det)
    with pytest.raises(sk.ModelError, match="has no joint 'nobody'"):
        sk.fixman.mass_matrix_logdet(model, q, hard=["nobody"])
    with pytest.raises(sk.StateError, match="hard is 'elbow'; give a list of joints"):
        sk.fixman.mass_matrix_logdet(model, q, hard="elbow")


@pytest.mark.parametrize("rhs", [[1.0], "nine", [[1.0], [1.0, 2.0]], [np.nan] * 9])
def test_right_hand_sides_that_do_not_fit_are_refused(rhs):
    model, q = bead_chain(3)
    with pytest.raises(sk.StateError, match="rhs"):
        sk.fixman.mass_matrix_solve(model, q, rhs)


@pytest.mark.parametrize("kind", ["rigid", "beads", "lumped"])
def test_batches_are_their_states_one_by_one(kind):
    model, q = CHAINS[kind](4, seed=2)
    rng = np.random.default_rng(6)
    states = np.stack([q, *(model.integrate(q, 0.1 * rng.normal(size=model.nv)) for _ in range(3))])
    sides = rng.normal(size=(4, model.nv))
    logdet = sk.fixman.mass_matrix_logdet(model, states)
    many = sk.fixman.mass_matrix_solve(model, states, sides)
    shared = sk.fixman.mass_matrix_solve(model, states, sides[0])
    columns = sk.fixman.mass_matrix_solve(model, q, sides)
    for k in range(4):
        assert logdet[k] == sk.fixman.mass_matrix_logdet(model, states[k])
        for found, state, side in (
            (many, states[k], sides[k]), (shared, states[k], sides[0]), (columns, q, sides[k]),
        ):  # fmt: skip
            expected = sk.fixman.mass_matrix_solve(model, state, side)
            np.testing.assert_array_equal(found[k], expected)
    with pytest.raises(sk.StateError, match="q has 4 rows and rhs 3; give as many"):
        sk.fixman.mass_matrix_solve(model, states, sides[:3])
    with pytest.raises(sk.StateError, match="take_apart is for one configuration"):
        sk.fixman.take_apart(model, states)
