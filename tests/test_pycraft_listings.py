"""Listings 1 to 16 of PyCraft (Jain, 2016), in order, typed as closely as Python and skodyn allow.

What differs throughout: products are typed with @ (a * b in print), operators come from one object
`g` (HClass(g) in print), .T is getTranspose(), is_zero() is isZero(), dense() is asArray(), and
lyapunov_recursion is LyapunovRecursion. Comments name misprints where they occur.

The model branches and has joints of one, two, three and six degrees of freedom; one has a rotor.
"""

import numpy as np
import pytest

import naive
import skodyn as sk
from adapters import build, to_packed_matrix, to_packed_q


def branched_model():
    b = sk.ModelBuilder(gravity=(0.3, -0.4, -9.81), name="listings")
    rows = [
        ("trunk", "world", sk.Free()),
        ("upper", "trunk", sk.Spherical()),
        ("fore", "upper", sk.Revolute(axis=(0, 1, 0), armature=0.2)),
        ("hand", "fore", sk.Universal()),
        ("neck", "trunk", sk.Cylindrical(axis=(0, 0, 1))),
        ("plate", "neck", sk.Fixed()),
        ("leg", "trunk", sk.Planar()),
        ("foot", "leg", sk.Prismatic(axis=(1, 0, 0))),
    ]
    rng = np.random.default_rng(16)
    for name, parent, joint in rows:
        b.add_body(
            name, parent, joint, translation=rng.normal(size=3), mass=rng.uniform(1, 2),
            com=0.2 * rng.normal(size=3), inertia=np.diag(rng.uniform(0.1, 0.15, size=3)),
        )  # fmt: skip
    return b.build()


def random_state(model):
    return model.random_state(np.random.default_rng(3))


def test_listings_1_to_16_run_in_order_as_printed():
    model = branched_model()
    q, v = random_state(model)
    nodes = [("hand", (0.1, 0.2, 0.3)), ("foot", (0.0, 0.0, -0.1))]
    rng = np.random.default_rng(5)
    g = sk.operators(model, q, v)

    # Listing 1: basic operators
    H = g.H
    ephi = g.E_phi
    M = g.M

    # Listing 2: Jacobian and mass matrix; print has `ephil` for `ephi`, twice
    Id = g.Id
    Hst = H.T
    phi = (Id - ephi).inverse()
    phistar = phi.T
    bstar = g.pickoff(nodes).T
    Jac = bstar @ phistar @ Hst
    massmat = H @ phi @ M @ phistar @ Hst
    marray = massmat.dense()

    assert phi is g.phi
    expected = np.concatenate([sk.jacobian(model, q, body, point) for body, point in nodes])
    np.testing.assert_allclose(Jac.dense(), expected, atol=1e-13)
    np.testing.assert_allclose(marray, sk.mass_matrix(model, q), atol=1e-12)

    # Listing 3: inverse dynamics, the part 𝓜θ̈
    thetaddot = rng.normal(size=model.nv)
    T = H @ phi @ M @ phistar @ Hst @ thetaddot
    np.testing.assert_allclose(T, sk.mass_matrix(model, q) @ thetaddot, atol=1e-11)

    # Listing 4: composite body inertias
    R = ephi.lyapunov_recursion(M)
    assert (R - g.R).is_zero()

    # Listing 5: the mass matrix from composite inertias
    massmat = H @ (phi @ R + R @ phistar - R) @ Hst
    np.testing.assert_allclose(massmat.dense(), marray, atol=1e-12)

    # Listing 6: articulated body inertias
    P = g.P

    # Listing 7: what follows from them
    D = H @ P @ Hst
    Dinv = D.inverse()
    G = P @ Hst @ Dinv
    K = ephi @ G
    tau = G @ H
    taubar = Id - tau
    for typed, named in ((D, g.D), (G, g.G), (K, g.K), (tau, g.tau), (taubar, g.tau_bar)):
        assert (typed - named).is_zero()

    # Listing 8: ℰ_ψ, which the text makes from (ephi * taubar)
    epsi = g.E_psi
    assert (epsi - ephi @ taubar).is_zero()

    # Listing 9: ψ; print has `eps` for `epsi`, twice
    psi = (Id - epsi).inverse()
    psistar = psi.T
    assert psi is g.psi
    assert ((Id - ephi @ taubar).inverse() - psi).is_zero()

    # Listing 10: identities
    assert ((Id - H @ psi @ K) @ H @ phi - H @ psi).is_zero()
    assert (D - H @ psi @ M @ psistar @ Hst).is_zero()

    # Listing 11: Innovations factorisation
    InFac = Id + H @ phi @ K
    massmat = InFac @ D @ InFac.T
    np.testing.assert_allclose(massmat.dense(), marray, atol=1e-12)

    # Listing 12: its inverse
    InFacInv = Id - H @ psi @ K
    assert (InFac @ InFacInv).is_identity()
    assert (InFac.inverse() - InFacInv).is_zero()  # found by structure, as typed in Listing 7

    # Listing 13: the inverse of the mass matrix
    massmatInv = InFacInv.T @ Dinv @ InFacInv
    assert (massmat @ massmatInv).is_identity()
    np.testing.assert_allclose(massmatInv.dense(), np.linalg.inv(marray), atol=1e-11)

    # Listing 14: O(N) forward dynamics
    a, b, ephistar = g.a, g.b, ephi.T
    T = rng.normal(size=model.nv)
    z = psi @ (K @ T + P @ a + b)
    eps = T - H @ z
    nu = Dinv @ eps
    alpha = psistar @ (Hst @ nu + a)
    thetaddot = nu - G.T @ ephistar @ alpha
    expected = sk.forward_dynamics(model, q, v, T)
    kappa = np.linalg.cond(marray)
    assert (
        np.abs(thetaddot - expected).max()
        <= 100 * np.finfo(float).eps * kappa * np.abs(expected).max()
    )

    # Listing 15: backward Lyapunov recursion; `epsistar` was not defined in print
    epsistar = epsi.T
    Y = epsistar.lyapunov_recursion(Hst @ Dinv @ H)
    assert (Y - g.Upsilon).is_zero()

    # Listing 16: Ω; print has massmatInv where eq. 34 has D⁻¹, and `psist` for psistar
    Omega = psistar @ Hst @ Dinv @ H @ psi
    printed = psistar @ Hst @ massmatInv @ H @ psi
    J = Jac.dense()
    compliance = J @ np.linalg.inv(marray) @ J.T
    np.testing.assert_allclose((bstar @ Omega @ bstar.T).dense(), compliance, atol=1e-10)
    assert np.abs((bstar @ printed @ bstar.T).dense() - compliance).max() > 1e-2
    # the decomposition, eq. 35, is for serial chains: on a tree it misses unrelated pairs,
    assert not (Omega - (psistar @ Y + Y @ psi - Y)).is_zero()
    rest = Omega.dense() - (psistar @ Y + Y @ psi - Y).dense()
    assert_zero_for_related_nodes(g, rest)


def assert_zero_for_related_nodes(g, rest):
    """What eq. 35 misses is R of Jain 2011-II eq. 21, with blocks of unrelated pairs alone."""
    scale = np.abs(rest).max()
    for i in g.bodies:
        for j in g.bodies:
            block = rest[g.node_space.slice_of(i), g.node_space.slice_of(j)]
            if g.tree.related(i, j):
                assert np.abs(block).max() <= 1e-12 * scale
    assert np.abs(rest[g.node_space.slice_of("hand"), g.node_space.slice_of("foot")]).max() > 0


@pytest.mark.parametrize("bodies", [("trunk", "upper", "fore", "hand"), ("leg", "foot")])
def test_listing_16_holds_as_printed_on_a_limb_that_is_a_serial_chain(bodies):
    """PyCraft: `g` can be any connected sub-tree, for example a limb of a robot."""
    model = branched_model()
    g = sk.operators(model, *random_state(model), bodies=bodies)
    H, psi, Dinv = g.H, g.psi, g.D.inverse()
    Y = g.E_psi.T.lyapunov_recursion(H.T @ Dinv @ H)
    Omega = psi.T @ H.T @ Dinv @ H @ psi
    assert (Omega - (psi.T @ Y + Y @ psi - Y)).is_zero()


def test_the_statements_of_the_introduction():
    """Section 1: print assigns MassMatrix and then asserts on `MassMat`."""
    model = branched_model()
    g = sk.operators(model, *random_state(model))
    MassMatrix = g.H @ g.phi @ g.M @ g.phi.T @ g.H.T
    InnovFactorInv = g.Id - g.H @ g.psi @ g.K
    MassmatInv = InnovFactorInv.T @ g.D.inverse() @ InnovFactorInv
    assert (MassMatrix @ MassmatInv).is_identity()


def test_the_mass_matrix_of_the_listings_is_the_dense_twins():
    """The same model through the independent twin, so that kernels/ and sko/ do not agree alone."""
    rng = np.random.default_rng(9)
    bodies = naive.random_bodies(rng, 7, branching=0.6, rotors=0.5)
    model = build(bodies)
    q, _ = naive.random_state(rng, bodies)
    g = sk.operators(model, to_packed_q(model, bodies, q))
    typed = (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T).dense()
    expected = to_packed_matrix(model, bodies, naive.mass_matrix(bodies, q))
    np.testing.assert_allclose(typed, expected, atol=1e-12 * np.abs(expected).max())
