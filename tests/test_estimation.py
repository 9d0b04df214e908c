"""Filter and smoother on a tree against dense Gaussian conditioning, Kalman and RTS, and dice."""

import numpy as np
import pytest

import skodyn as sk
from sko_cases import EPS, SEEDS, case_of, close
from skodyn import estimation, sko


@pytest.fixture(params=SEEDS)
def case(request):
    return case_of(request.param)


def conditioned(S_x, H, seen, T):
    """Mean and covariance of x given rows `seen` of T = Hx, for x ~ N(0, S_x), densely."""
    H = H[seen]
    if not len(H):
        return np.zeros(len(S_x)), S_x
    gain = S_x @ H.T @ np.linalg.inv(H @ S_x @ H.T)
    return gain @ T[seen], S_x - gain @ H @ S_x


def data(case):
    twin = case.twin
    T = np.random.default_rng([20, case.model.nv]).normal(size=case.model.nv)
    return twin, T, twin.A @ twin.M @ twin.A.T


def test_smoothed_estimates_and_covariances_are_those_of_dense_conditioning(case):
    twin, T, S_x = data(case)
    found = estimation.smooth(case.model, T)
    mean, covariance = conditioned(S_x, twin.H, slice(None), T)
    size = np.abs(S_x).max()
    close(found.smoothed, mean, scale=1.0, kappa=twin.kappa)
    for k, part in enumerate(twin.nodes):
        close(found.smoothed_covariances[k], covariance[part, part], size, twin.kappa)


def test_predicted_and_filtered_estimates_know_only_what_is_outboard(case):
    twin, T, S_x = data(case)
    found = estimation.smooth(case.model, T)
    size = np.abs(S_x).max()
    for k, part in enumerate(twin.nodes):
        below = [j for j in range(len(twin.nodes)) if twin.related(k, j)]
        for own, estimate, covariance in (
            (False, found.predicted, found.predicted_covariances),
            (True, found.filtered, found.filtered_covariances),
        ):
            seen = [twin.dofs[j] for j in below if own or j != k]
            rows = np.concatenate([np.arange(s.start, s.stop) for s in seen] or [np.zeros(0, int)])
            mean, dense = conditioned(S_x, twin.H, rows.astype(int), T)
            close(estimate[part], mean[part], scale=1.0, kappa=twin.kappa)
            close(covariance[k], dense[part, part], size, twin.kappa)


def test_both_forms_of_the_smoothed_estimate_agree(case):
    """f = 𝔷 + Pα = 𝔷⁺ + P⁺α⁺."""
    twin, T, _ = data(case)
    found = estimation.smooth(case.model, T)
    outer = sko.pass_outward(case.model.tree, case.model.weights, found.costate)
    close(found.filtered + found.solution.P_plus.apply(outer), found.smoothed, 1.0, twin.kappa)


def test_the_smoothed_estimate_is_the_interbody_force_of_a_system_at_rest(case):
    """The duality itself: no a, no b, the same T."""
    model = case.model
    bare = sko.SKOModel.from_packed(model.tree, model.weights, model.H, model.M)
    _, T, _ = data(case)
    force = sko.articulated_model(bare, T).force
    close(estimation.smooth(model, T).smoothed, force, 1.0, case.twin.kappa)


def test_covariances_on_the_slide_of_key_quantities(case):
    twin, T, S_x = data(case)
    A, one = twin.A, twin.one
    A_strict, psi_strict = A - one, twin.psi - one
    size, kappa = np.abs(S_x).max() * np.abs(twin.psi).max() ** 2, twin.kappa
    R = np.zeros_like(S_x)
    for part in twin.nodes:
        R[part, part] = S_x[part, part]
    cov_z = A @ twin.K @ twin.D @ twin.K.T @ A.T  # the slide prints D⁻¹
    close(cov_z, A_strict @ twin.tau @ twin.P @ twin.tau.T @ A_strict.T, size, kappa)
    close(cov_z, S_x - (twin.P + A_strict @ twin.P + twin.P @ A_strict.T), size, kappa)
    spread = R - twin.P
    close(cov_z, spread + A_strict @ spread + spread @ A_strict.T, size, kappa)
    error = twin.psi @ twin.M @ twin.psi.T
    close(error, twin.P + psi_strict @ twin.P + twin.P @ psi_strict.T, size, kappa)
    close(estimation.output_covariance(case.model), twin.mass, size)
    for k, part in enumerate(twin.nodes):
        close(estimation.state_covariances(case.model)[k], S_x[part, part], size)
    # the operators that make 𝔷 and ε from T have these covariances under cov T = 𝓜
    to_z = twin.psi @ twin.K
    close(to_z @ twin.mass @ to_z.T, cov_z, size, kappa)
    to_innovations = np.eye(len(T)) - twin.H @ to_z
    close(to_innovations @ twin.mass @ to_innovations.T, twin.D, size, kappa)


def test_whole_covariances_and_what_the_slides_call_by_symbols(case):
    twin, T, S_x = data(case)
    found, model = estimation.smooth(case.model, T), case.model
    size, kappa = np.abs(S_x).max() * np.abs(twin.psi).max() ** 2, twin.kappa
    expected = {
        "x": S_x,
        "T": twin.mass,
        "z": twin.A @ twin.K @ twin.D @ twin.K.T @ twin.A.T,
        "z_error": twin.psi @ twin.M @ twin.psi.T,
        "epsilon": twin.D,
        "nu": np.linalg.inv(twin.D),
    }
    ops = sk.operators(model)
    for name, matrix in expected.items():
        close(estimation.covariance(model, name), matrix, size, kappa)
        close(getattr(ops.covariances, name).dense(), matrix, size, kappa)
    for k, (part, freedoms) in enumerate(zip(twin.nodes, twin.dofs, strict=True)):
        close(found.z_covariances[k], expected["z"][part, part], size, kappa)
        close(found.nu_covariances[k], expected["nu"][freedoms, freedoms], size, kappa)
    pairs = [
        (found.z, found.predicted), (found.z_plus, found.filtered), (found.f, found.smoothed),
        (found.epsilon, found.innovations), (found.alpha, found.costate),
    ]  # fmt: skip
    for one, other in pairs:
        assert one is other
    close(found.nu, np.linalg.solve(twin.D, found.epsilon), 1.0, kappa)
    other_form = found.z_plus + found.solution.P_plus.apply(found.alpha_plus)
    close(found.f, other_form, np.abs(S_x).max(), kappa)
    estimators = ops.covariances
    for name in ("z", "z_plus", "epsilon", "nu", "alpha", "f"):
        close(getattr(estimators, f"to_{name}") @ T, getattr(found, name), size, kappa)


def test_covariances_of_other_things_are_refused():
    with pytest.raises(sk.StateError, match="of is 'w'; give one of 'x', 'T', 'z'"):
        estimation.covariance(case_of(9).model, "w")


def test_the_printed_covariance_of_the_estimate_is_wrong():
    case = next(case_of(s) for s in SEEDS if case_of(s).model.n_nodes > 5 and s % 4 == 0)
    twin = case.twin
    right = twin.A @ twin.K @ twin.D @ twin.K.T @ twin.A.T
    printed = twin.A @ twin.K @ np.linalg.inv(twin.D) @ twin.K.T @ twin.A.T
    assert np.abs(right - printed).max() > 1e-3 * np.abs(right).max()


# ---- chains: an ordinary Kalman filter and RTS smoother -----------------------------------------


def kalman_and_rts(F, H, Q, T):
    """Textbook filter and Rauch–Tung–Striebel smoother; lists over time, x(0) ~ N(0, Q(0))."""
    predicted, filtered = [], []
    x, P = np.zeros(len(Q[0])), Q[0]
    for k in range(len(Q)):
        if k:
            x, P = F[k] @ x, F[k] @ P @ F[k].T + Q[k]
        predicted.append((x, P))
        if len(H[k]):
            gain = P @ H[k].T @ np.linalg.inv(H[k] @ P @ H[k].T)
            x, P = x + gain @ (T[k] - H[k] @ x), P - gain @ H[k] @ P
        filtered.append((x, P))
    smoothed = [filtered[-1]]
    for k in reversed(range(len(Q) - 1)):
        (x, P), (x_next, P_next) = filtered[k], predicted[k + 1]
        back = P @ F[k + 1].T @ np.linalg.inv(P_next)
        xs, Ps = smoothed[0]
        smoothed.insert(0, (x + back @ (xs - x_next), P + back @ (Ps - P_next) @ back.T))
    return predicted, filtered, smoothed


@pytest.mark.parametrize("seed", range(0, 48, 4))  # the chains among the cases
def test_chains_are_filtered_as_by_kalman_and_smoothed_as_by_rauch_tung_and_striebel(seed):
    case = case_of(seed)
    model, twin = case.model, case.twin
    T = np.random.default_rng([21, seed]).normal(size=model.nv)
    time = list(reversed(range(model.n_nodes)))  # the tip is the beginning
    F = [np.zeros(0)] + [model.weights[k] for k in time[:-1]]
    H, Q = [model.H[k] for k in time], [model.M[k] for k in time]
    seen = [T[twin.dofs[k]] for k in time]
    found = estimation.smooth(model, T)
    estimates = (found.predicted, found.filtered, found.smoothed)
    blocks = (
        found.predicted_covariances,
        found.filtered_covariances,
        found.smoothed_covariances,
    )
    size = max(np.abs(P).max() for P in found.predicted_covariances)
    for textbook, estimate, covariance in zip(
        kalman_and_rts(F, H, Q, seen), estimates, blocks, strict=True
    ):
        for (x, P), k in zip(textbook, time, strict=True):
            close(estimate[twin.nodes[k]], x, scale=1.0, kappa=twin.kappa)
            close(covariance[k], P, size, twin.kappa)


# ---- dice ---------------------------------------------------------------------------------------

DRAWS = 100_000


@pytest.mark.parametrize("seed", [13, 18, 23])
def test_sample_covariances_of_100_000_draws_are_the_analytic_ones(seed):
    case = case_of(seed)
    model = case.model
    x, T = estimation.sample(model, DRAWS, np.random.default_rng(seed))
    found = estimation.smooth(model, T)
    solution = found.solution
    # what is known exactly has covariance zero, up to rounding
    rounding = 100 * EPS * case.twin.kappa * np.abs(x @ x.T / DRAWS).max()
    for k, part in enumerate(case.twin.nodes):
        own = case.twin.dofs[k]
        for draws, covariance in (
            (x[part], estimation.state_covariances(model)[k]),
            (x[part] - found.predicted[part], found.predicted_covariances[k]),
            (x[part] - found.filtered[part], found.filtered_covariances[k]),
            (x[part] - found.smoothed[part], found.smoothed_covariances[k]),
            (found.innovations[own], solution.D[k]),
        ):
            within_noise(draws, covariance, rounding)
    within_noise(T, case.twin.mass, rounding)
    whole = np.zeros_like(case.twin.D)
    for k, own in enumerate(case.twin.dofs):
        whole[own, own] = solution.D[k]
    # innovations of different nodes are independent
    within_noise(found.innovations, whole, rounding)


def within_noise(draws, covariance, rounding):
    """Each entry within 6 standard errors of a Gaussian sample covariance."""
    if not len(covariance):
        return
    sampled = draws @ draws.T / DRAWS
    spread = np.diag(covariance)
    error = np.sqrt((covariance**2 + np.outer(spread, spread)) / DRAWS)
    assert (np.abs(sampled - covariance) <= 6 * error + rounding).all()


def test_many_draws_at_once_are_the_draws_one_by_one():
    model = case_of(22).model
    _, T = estimation.sample(model, 3, np.random.default_rng(1))
    together = estimation.smooth(model, T)
    for j in range(3):
        alone = estimation.smooth(model, T[:, j])
        np.testing.assert_array_equal(together.smoothed[:, j], alone.smoothed)


def test_outputs_that_do_not_fit_are_refused():
    with pytest.raises(sk.StateError, match="T has shape"):
        estimation.smooth(case_of(22).model, [1.0])
