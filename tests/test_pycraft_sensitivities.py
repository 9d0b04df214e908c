"""Section 5 of PyCraft: Listings 17 to 23 in order, and every derivative against a complex step.

Typed as closely as Python and skodyn allow: what differs from print is said in
test_pycraft_listings.py, and `d.hinge`, `d.beyond` and `d.outboard` of d = g.derivative(body) are
Hd_iClass(g, body), Hs_iClass and H_iClass. skodyn works in world axes and with every joint; where a
direction also shifts, H̃ is not skew-symmetric, so that H̃* stands where print has −H̃.
"""

from functools import cache

import numpy as np
import pytest

import naive
import sensitivity_twin as twin
import skodyn as sk
from adapters import build, to_packed_q
from skodyn.errors import StateError

EPS = np.finfo(float).eps


@cache
def system(seed=0, rotors=0.0, branching=0.4):
    """A tree with every kind of joint: (model, naive bodies, naive q, workbench)."""
    rng = np.random.default_rng(seed)
    bodies = naive.random_bodies(rng, 11, branching=branching, rotors=rotors)
    model = build(bodies)
    q, _ = naive.random_state(rng, bodies)
    return model, bodies, q, sk.operators(model, to_packed_q(model, bodies, q))


def revolute_tree():
    """What PyCraft assumes, but branched: hinges with one axis; b2 carries two branches."""
    rng = np.random.default_rng(4)
    bodies = naive.random_bodies(rng, 8, kinds=["revolute"], branching=0.0)
    parents = [-1, 0, 1, 2, 3, 2, 5, 0]
    for body, parent in zip(bodies, parents, strict=True):
        body["parent"] = parent
    model = build(bodies)
    q, _ = naive.random_state(rng, bodies)
    return model, bodies, q, sk.operators(model, to_packed_q(model, bodies, q))


def mixed_tree():
    """Joints with several degrees of freedom inboard and outboard of the hinge b2."""
    rng = np.random.default_rng(12)
    kinds = ["free", "spherical", "revolute", "universal", "planar", "cylindrical", "helical"]
    bodies = naive.random_bodies(rng, 7, kinds=["revolute"], branching=0.0)
    for body, kind, parent in zip(bodies, kinds, [-1, 0, 1, 2, 2, 0, 3], strict=True):
        body.update(parent=parent, joint=naive.random_joint(rng, kind))
    model = build(bodies)
    q, _ = naive.random_state(rng, bodies)
    return model, bodies, q, sk.operators(model, to_packed_q(model, bodies, q))


def differs(operator, expected):
    """How far an expression is from a matrix, relatively."""
    return np.abs(operator.dense() - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("make", [revolute_tree, mixed_tree])
def test_listings_17_to_23_run_in_order(make):
    model, bodies, q, g = make()
    bd3 = "b2"
    exact = twin.derivatives(model, bodies, q, 2, 0)
    H, Hst, phi, phistar, phitilde, M, P = g.H, g.H.T, g.phi, g.phi.T, g.phi_tilde, g.M, g.P
    G, K, taubar, epsi, psi, Id = g.G, g.K, g.tau_bar, g.E_psi, g.psi, g.Id
    Dinv = g.D.inverse()
    InFacInv = Id - H @ psi @ K

    # Listing 17: the hinge and what it moves; all three have the axis of body 3 in every place,
    # where eq. 40 prints each body's own
    d = g.derivative(bd3)
    Hi_3 = d.outboard
    Hsi_3 = d.beyond
    Hdi_3 = d.hinge
    assert (Hi_3 - Hsi_3 - Hdi_3).is_zero()
    assert (Hi_3 + Hi_3.T).is_zero()

    # Listing 18: eq. 41b as it must read; print has Hdi_3 * phi * Hdi_3 - phi * Hdi_3
    phi_3 = phi @ Hdi_3 @ phitilde + Hsi_3 @ phi - phi @ Hsi_3
    assert differs(phi_3, exact["phi"]) < 1e-12
    assert differs(Hdi_3 @ phi @ Hdi_3 - phi @ Hdi_3, exact["phi"]) > 0.1
    assert differs(phi @ Hi_3 @ phi - phi @ Hsi_3, exact["phi"]) > 0.1  # eq. 41b as printed
    # print has Hdi_3 where eq. 41d has what is here Hi_3
    M_3 = Hi_3 @ M - M @ Hi_3
    assert differs(M_3, exact["M"]) < 1e-12
    assert differs(Hdi_3 @ M - M @ Hdi_3, exact["M"]) > 0.1
    # eqs. 41a and 41c, which have no listing
    assert differs(Hi_3 @ g.E_phi - g.E_phi @ Hsi_3, exact["E_phi"]) < 1e-12
    assert differs(Hsi_3 @ Hst, exact["H"].T) < 1e-12

    # Listing 19: the derivative of the mass matrix, eq. 42
    massmat_3 = H @ phi @ (Hdi_3 @ phi @ M - M @ phistar @ Hdi_3) @ phistar @ Hst
    assert differs(massmat_3, exact["mass_matrix"]) < 1e-12

    # Listing 20: λ, eq. 43
    lambda_3 = epsi.lyapunov_recursion(Hdi_3 @ P - P @ Hdi_3)
    assert (lambda_3 - d.lambda_).is_zero()
    assert differs(lambda_3 + Hsi_3 @ P - P @ Hsi_3, exact["P"]) < 1e-11

    # Listing 21: eqs. 44a and 44c; print has `Dinvs` for Dinv and `Hs_3` for Hsi_3
    D_3 = H @ lambda_3 @ Hst
    G_3 = taubar @ lambda_3 @ Hst @ Dinv + Hsi_3 @ G
    assert differs(D_3, exact["D"]) < 1e-11
    assert differs(G_3, exact["G"]) < 1e-11
    # eqs. 44b, 44d, 44e and 44f, which have no listing
    tau_3 = taubar @ lambda_3 @ Hst @ Dinv @ H + Hsi_3 @ g.tau - g.tau @ Hsi_3
    assert differs(-Dinv @ H @ lambda_3 @ Hst @ Dinv, exact["D_inverse"]) < 1e-11
    assert differs(tau_3, exact["tau"]) < 1e-11
    assert differs(-tau_3, exact["tau_bar"]) < 1e-11
    rest = epsi @ Hsi_3 + epsi @ lambda_3 @ Hst @ Dinv @ H
    assert differs(Hi_3 @ epsi - rest, exact["E_psi"]) < 1e-11
    assert differs(Hsi_3 @ epsi - rest, exact["E_psi"]) > 0.01  # as printed

    # Listing 22: eqs. 45 and 46; print has `Hd_3` for Hdi_3
    InFac_3 = H @ phi @ (Hdi_3 @ phitilde @ P + taubar @ lambda_3) @ Hst @ Dinv
    InFacInv_3 = -H @ psi @ (Hdi_3 @ phi @ K + taubar @ lambda_3 @ Hst @ Dinv) @ InFacInv
    assert differs(InFac_3, exact["innovations"]) < 1e-11
    assert differs(InFacInv_3, exact["innovations_inverse"]) < 1e-11

    # Listing 23: eq. 48, with Y of Listing 15
    Y = epsi.T.lyapunov_recursion(Hst @ Dinv @ H)
    grad_fixman_3 = 2 * np.trace(P[bd3] @ Y[bd3] @ Hdi_3[bd3])
    assert grad_fixman_3 == pytest.approx(exact["log_det"], rel=1e-10)
    assert d.log_det == pytest.approx(exact["log_det"], rel=1e-10)


def test_equation_40_needs_the_axis_of_the_one_hinge_in_every_place():
    """With each body's own axis, as printed, [M] of eq. 41d is wrong beyond the hinge."""
    model, bodies, q, g = revolute_tree()
    exact = twin.derivatives(model, bodies, q, 2, 0)["M"]
    own = sum(
        (g.derivative(name).hinge.dense() for name in ("b2", "b3", "b4", "b5", "b6")),
        start=np.zeros_like(exact),
    )
    printed = own @ g.M.dense() - g.M.dense() @ own
    here = g.node_space.slice_of("b2")
    np.testing.assert_allclose(printed[here, here], exact[here, here], atol=1e-12)
    assert np.abs(printed - exact).max() > 0.1 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("seed", "rotors", "branching"),
    [(0, 0.0, 0.4), (1, 0.5, 0.4), (2, 0.5, 0.0), (3, 0.0, 0.9), (4, 1.0, 0.9), (7, 0.0, 0.0)],
)
def test_every_derivative_is_the_complex_step_of_the_dense_twin(seed, rotors, branching):
    """Along every degree of freedom of every kind of joint, with and without rotors."""
    model, bodies, q, g = system(seed, rotors, branching)
    values = twin.operators(model, bodies, q)
    kappa = np.linalg.cond(values["mass_matrix"])
    assert kappa < 1e4  # so that the bound means ten digits
    kinds = set()
    for k, body in enumerate(bodies):
        kinds.add(body["joint"]["kind"])
        for dof in range(naive.SIZES[body["joint"]["kind"]][1]):
            d, exact = g.derivative(f"b{k}", dof), twin.derivatives(model, bodies, q, k, dof)
            for name in twin.NAMES:
                scale = max(np.abs(values[name]).max(), np.abs(exact[name]).max())
                error = np.abs(getattr(d, name).dense() - exact[name]).max()
                roundings = 50 if name in twin.PRODUCTS else 10 * kappa
                assert error <= roundings * EPS * scale, (name, body["joint"], dof)
            assert abs(d.log_det - exact["log_det"]) <= 20 * EPS * kappa, (body["joint"], dof)
    assert kinds == set(naive.KINDS)


def difference_quotient(model, q, joint, dof, value):
    """Of a function of q along q ⊞ ε e, by central differences of order six."""
    direction, step, total = np.zeros(model.nv), 0.01, 0.0
    direction[model.v_slice(joint).start + dof] = step
    for count, weight in {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}.items():
        for sign in (1, -1):
            there = value(model.integrate(q, sign * count * direction))
            total = total + sign * weight / step * there
    return total


def test_the_derivatives_belong_to_operators_at_neighbouring_states():
    """Through sk.operators and model.integrate, which the twin does not know."""
    model, bodies, q, g = system(1, 0.5)
    packed = to_packed_q(model, bodies, q)
    body = next(f"b{k}" for k, b in enumerate(bodies) if b["joint"]["kind"] == "free")
    for dof, name in ((1, "P"), (1, "K"), (5, "G"), (5, "psi")):
        value = lambda x, name=name: getattr(sk.operators(model, x), name).dense()  # noqa: E731
        expected = difference_quotient(model, packed, body, dof, value)
        here = getattr(g.derivative(body, dof), name).dense()
        scale = max(np.abs(expected).max(), np.abs(value(packed)).max())
        assert np.abs(here - expected).max() < 1e-8 * scale, (name, dof)


def test_the_gradient_of_log_det_is_the_kernels():
    model, bodies, q, g = system(1, 0.5)
    gradient = sk.mass_matrix_logdet_gradient(model, to_packed_q(model, bodies, q))
    for k, body in enumerate(bodies):
        for dof in range(naive.SIZES[body["joint"]["kind"]][1]):
            d = g.derivative(f"b{k}", dof)
            expected = gradient[model.v_slice(f"b{k}").start + dof]
            assert d.log_det == pytest.approx(expected, abs=1e-11)
            assert np.trace((g.D.inverse() @ d.D).dense()) == pytest.approx(expected, abs=1e-11)


def test_christoffel_symbols_follow_from_derivatives_of_the_mass_matrix():
    """Eq. 38; for joints whose velocities are rates of coordinates."""
    model, bodies, q, g = revolute_tree()
    dM = np.array([g.derivative(name).mass_matrix.dense() for name in g.bodies])  # [k, i, j]
    by_formula = (np.moveaxis(dM, 0, 2) + np.moveaxis(dM, 0, 1) - dM) / 2
    expected = sk.christoffel_symbols(model, to_packed_q(model, bodies, q))
    np.testing.assert_allclose(by_formula, expected, atol=1e-12 * np.abs(expected).max())


def test_derivatives_of_a_subtree_are_those_of_the_part_moving_alone():
    model, bodies, q, _ = revolute_tree()
    q, chosen = to_packed_q(model, bodies, q), ["b2", "b3", "b4", "b5"]

    def mass_matrix(x):
        g = sk.operators(model, x, bodies=chosen)
        return (g.H @ g.phi @ g.M @ g.phi.T @ g.H.T).dense()

    limb = sk.operators(model, q, bodies=chosen)
    expected = difference_quotient(model, q, "b3", 0, mass_matrix)
    derived = limb.derivative("b3").mass_matrix.dense()
    np.testing.assert_allclose(derived, expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(limb.derivative("b2").mass_matrix.dense(), 0.0, atol=1e-12)


def test_derivatives_are_lazy_and_read_as_printed():
    *_, g = revolute_tree()
    d = g.derivative("b2")
    text = d.mass_matrix.text().replace("derivative('b2').", "")
    assert text == "H @ phi @ (hinge @ phi @ M + M @ phi.T @ hinge.T) @ phi.T @ H.T"
    assert d.D.text() == "H @ derivative('b2').lambda_ @ H.T"
    assert "solution" not in vars(g)  # no Riccati equation was solved for all this
    assert repr(d).startswith("<derivative('b2') in the operators of")
    assert d.D.latex() == r"H\,\lambda_{\mathrm{b2}}\,H^*"


def test_a_long_chain_takes_no_matrix_of_its_size():
    """5,000 bodies: φ written out would take 7 GB; blocks and sweeps alone do the work."""
    b = sk.ModelBuilder()
    for k in range(5_000):
        axis = (1, 0, 0) if k % 2 else (0, 1, 0)
        b.add_body(f"b{k}", f"b{k - 1}" if k else "world", sk.Revolute(axis=axis),
                   translation=(0, 0, -0.01), mass=1.0, inertia=np.eye(3))  # fmt: skip
    model = b.build()
    q = np.linspace(-1, 1, model.nq)
    g = sk.operators(model, q)
    x = np.random.default_rng(0).normal(size=model.nv)
    y = g.derivative("b2500").mass_matrix @ x
    step = np.zeros(model.nv)
    step[2500] = 1e-4
    ahead, behind = (sk.operators(model, q + s * step) for s in (1, -1))
    mass_times = [o.H @ (o.phi @ (o.M @ (o.phi.T @ (o.H.T @ x)))) for o in (ahead, behind)]
    expected = (np.asarray(mass_times[0]) - np.asarray(mass_times[1])) / 2e-4
    assert np.abs(y - expected).max() < 1e-7 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("joint", "dof", "words"),
    [
        ("free", None, "has 6 degrees of freedom; say which"),
        ("free", 6, "no degree of freedom 6; give a number from 0 to 5"),
        ("free", -1, "no degree of freedom -1"),
        ("free", True, "no degree of freedom True"),
        ("fixed", None, "no degree of freedom to differentiate along"),
    ],
)
def test_directions_that_do_not_exist_are_refused(joint, dof, words):
    _, bodies, _, g = system()
    name = next(f"b{k}" for k, b in enumerate(bodies) if b["joint"]["kind"] == joint)
    with pytest.raises(StateError, match=words):
        g.derivative(name, dof)


def test_unknown_joints_and_models_without_joints_are_refused():
    *_, g = system()
    with pytest.raises(sk.SkodynError, match="nowhere"):
        g.derivative("nowhere")
    general = sk.operators(g.model)
    with pytest.raises(StateError, match="does not say how it changes"):
        general.derivative(g.bodies[0])


def test_a_joint_is_found_by_its_own_name_unless_another_body_has_it():
    b = sk.ModelBuilder()
    b.add_body("upper", "world", sk.Revolute(axis=(0, 1, 0), name="shoulder"), mass=1.0,
               com=(0, 0, -0.2), inertia=0.1 * np.eye(3))  # fmt: skip
    b.add_body("fore", "upper", sk.Revolute(axis=(0, 1, 0), name="elbow"), mass=1.0,
               translation=(0, 0, -0.4), com=(0, 0, -0.2), inertia=0.1 * np.eye(3))  # fmt: skip
    b.add_body("hand", "fore", sk.Revolute(axis=(1, 0, 0), name="upper"), mass=1.0,
               translation=(0, 0, -0.4), com=(0, 0, -0.1), inertia=0.1 * np.eye(3))  # fmt: skip
    model = b.build()
    g = sk.operators(model, [0.1, 0.2, 0.3])
    assert g.derivative("elbow").node == g.derivative("fore").node == 1
    with pytest.raises(StateError, match="'upper' is the joint of body 'hand' and also another"):
        g.derivative("upper")
    assert g.derivative(0).node == 0
