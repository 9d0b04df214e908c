"""Inverse and forward dynamics, mass matrix, its factors and determinant of random ragged SKO
models, against dense linear algebra from the definition."""

import numpy as np
import pytest

import sko_cases
import skodyn as sk
from sko_cases import EPS, SEEDS, close, largest


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return sko_cases.case_of(request.param)


def forces_at_play(twin):
    """The largest sum of sizes of terms in H𝔸(M𝔸*a + b)."""
    HA = np.abs(twin.H @ twin.A)
    return (HA @ (np.abs(twin.M) @ np.abs(twin.A.T) @ np.abs(twin.a) + np.abs(twin.b))).max(
        initial=1.0
    )


def innovations_of(twin):
    """(I + H𝔸K, I − HψK), dense."""
    one = np.eye(len(twin.H))
    return one + twin.H @ twin.A @ twin.K, one - twin.H @ twin.psi @ twin.K


def test_velocities_are_what_the_definition_says(case):
    v = case.rng.normal(size=case.model.nv)
    expected = case.twin.A.T @ case.twin.H.T @ v
    close(sk.sko.velocities(case.model, v), expected, largest(case.twin.A, case.twin.H, v))


def test_inverse_dynamics(case):
    twin, vdot = case.twin, case.rng.normal(size=case.model.nv)
    scale = forces_at_play(twin) + largest(twin.mass, vdot)
    close(sk.sko.inverse_dynamics(case.model, vdot), twin.mass @ vdot + twin.bias, scale)


def test_mass_matrix(case):
    got = sk.sko.mass_matrix(case.model)
    close(got, case.twin.mass, largest(case.twin.A, case.twin.A, case.twin.M))
    assert (got == got.T).all()


def test_forward_dynamics_solves_for_the_accelerations(case):
    twin, tau = case.twin, case.rng.normal(size=case.model.nv)
    if not case.model.nv:
        assert sk.sko.forward_dynamics(case.model, tau).shape == (0,)
        return
    expected = np.linalg.solve(twin.mass, tau - twin.bias)
    scale = (forces_at_play(twin) + largest(tau)) / np.linalg.norm(twin.mass, 2)
    got = sk.sko.forward_dynamics(case.model, tau)
    close(got, expected, scale, twin.kappa)
    again = sk.sko.forward_dynamics(case.model, tau, sk.sko.riccati(case.model))
    assert (again == got).all()


def test_innovations_factor_and_its_inverse_act_on_columns(case):
    model, twin = case.model, case.twin
    solution, x = sk.sko.riccati(model), case.columns(model.nv)
    factor, inverse = innovations_of(twin)
    for function, dense in ((sk.sko.innovations, factor), (sk.sko.innovations_inverse, inverse)):
        scale = largest(dense, x)
        close(function(model, solution, x), dense @ x, scale, twin.kappa)
        close(function(model, solution, x, transpose=True), dense.T @ x, scale, twin.kappa)
        close(function(model, solution, x[:, 0]), dense @ x[:, 0], scale, twin.kappa)
    back = sk.sko.innovations_inverse(model, solution, sk.sko.innovations(model, solution, x))
    close(back, x, largest(factor, inverse, x), twin.kappa)


def test_innovations_factorise_the_mass_matrix(case):
    """Eq. 49, by the sweeps alone."""
    model = case.model
    solution, one = sk.sko.riccati(model), np.eye(model.nv)
    right = sk.sko.innovations(model, solution, one, transpose=True)
    got = sk.sko.innovations(model, solution, solution.D.apply(right))
    close(got, case.twin.mass, largest(right, right, solution.D.data), case.twin.kappa)


def test_mass_matrix_solve(case):
    twin, rhs = case.twin, case.columns(case.model.nv)
    expected = np.linalg.solve(twin.mass, rhs)
    close(sk.sko.mass_matrix_solve(case.model, rhs), expected, 0.0, twin.kappa)
    close(sk.sko.mass_matrix_solve(case.model, rhs[:, 0]), expected[:, 0], 0.0, twin.kappa)


def test_log_determinant(case):
    twin, n = case.twin, case.model.nv
    sign, expected = np.linalg.slogdet(twin.mass)
    assert sign == 1
    got = sk.sko.log_determinant(case.model)
    assert abs(got - expected) <= 10 * EPS * (n + 1) * (twin.kappa + abs(expected))


def test_equation_54_holds_as_printed(case):
    twin, tau = case.twin, case.rng.normal(size=case.model.nv)
    _, inverse = innovations_of(twin)
    D_inverse = np.linalg.inv(twin.D)
    residual = tau - twin.H @ twin.psi @ (twin.K @ tau + twin.P @ twin.a + twin.b)
    printed = inverse.T @ D_inverse @ residual - twin.K.T @ twin.psi.T @ twin.a
    close(sk.sko.forward_dynamics(case.model, tau), printed, largest(printed), twin.kappa)


def test_equation_51_inverts_the_mass_matrix(case):
    """As stated; its proof prints one inverse too many, see below."""
    twin = case.twin
    _, inverse = innovations_of(twin)
    D_inverse = np.linalg.inv(twin.D)
    close(inverse.T @ D_inverse @ inverse @ twin.mass, np.eye(len(twin.H)),
          largest(inverse, inverse, D_inverse, twin.mass), twin.kappa)  # fmt: skip


def test_factors_are_unit_triangular_tips_first_and_corollary_6_1_needs_a_plus(case):
    twin = case.twin
    factor, inverse = innovations_of(twin)
    backward = np.concatenate([np.arange(s.start, s.stop) for s in twin.dofs[::-1]]).astype(int)
    for matrix in (factor, inverse):
        turned = matrix[np.ix_(backward, backward)]
        lower = np.tril(turned, -1) + np.eye(len(turned))
        close(turned, lower, largest(factor, inverse), twin.kappa)
    close(factor, np.eye(len(factor)) + twin.H @ (twin.A - twin.one) @ twin.G,
          largest(twin.H, twin.A, twin.G), twin.kappa)  # fmt: skip


def test_the_proofs_as_printed_fail():
    """Eq. 51's last factor inverted, and I − H𝔸K for I + H𝔸K, are wrong on most models."""
    wrong_51, wrong_52 = [], []
    for seed in SEEDS:
        twin = sko_cases.case_of(seed).twin
        _, inverse = innovations_of(twin)
        one = np.eye(len(twin.H))
        if not len(one):
            continue
        printed = inverse.T @ np.linalg.inv(twin.D) @ np.linalg.inv(inverse)
        wrong_51.append(np.abs(printed @ twin.mass - one).max())
        minus = one - twin.H @ twin.A @ twin.K
        wrong_52.append(np.abs(minus @ inverse - one).max())
    assert max(wrong_51) > 0.1
    assert max(wrong_52) > 0.1


def test_arguments_that_do_not_fit_are_refused():
    model = sko_cases.case_of(44).model
    with pytest.raises(sk.StateError, match="vdot has shape"):
        sk.sko.inverse_dynamics(model, np.zeros(model.nv + 1))
    with pytest.raises(sk.StateError, match="tau has shape"):
        sk.sko.forward_dynamics(model, np.zeros((model.nv, 2)))
    with pytest.raises(sk.StateError, match=r"rhs\[0\] is inf"):
        sk.sko.mass_matrix_solve(model, np.full(model.nv, np.inf))
