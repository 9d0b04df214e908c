"""Gather, scatter, single steps and the Riccati sweep on random ragged SKO models, against the
dense operators written out from the definition."""

import numpy as np
import pytest

import sko_cases
import skodyn as sk
from sko_cases import SEEDS, blocks_close, close, largest


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return sko_cases.case_of(request.param)


def test_gather_and_scatter_multiply_by_A_and_its_transpose(case):
    model, twin = case.model, case.twin
    x = case.columns(model.size)
    scale = largest(twin.A, x)
    close(sk.sko.gather(model.tree, model.weights, x), twin.A @ x, scale)
    close(sk.sko.scatter(model.tree, model.weights, x), twin.A.T @ x, scale)
    close(sk.sko.gather(model.tree, model.weights, x[:, 0]), twin.A @ x[:, 0], scale)
    close(sk.sko.scatter(model.tree, model.weights, x[:, 0]), twin.A.T @ x[:, 0], scale)


def test_strict_gather_and_scatter_leave_out_the_diagonal(case):
    model, twin = case.model, case.twin
    x = case.columns(model.size)
    strict = twin.A - twin.one
    scale = largest(twin.A, x)
    close(sk.sko.gather(model.tree, model.weights, x, strict=True), strict @ x, scale)
    close(sk.sko.scatter(model.tree, model.weights, x, strict=True), strict.T @ x, scale)


def test_single_steps_multiply_by_E_and_its_transpose(case):
    model, twin = case.model, case.twin
    x = case.columns(model.size)
    close(sk.sko.pass_inward(model.tree, model.weights, x), twin.E @ x, largest(twin.E, x))
    close(sk.sko.pass_outward(model.tree, model.weights, x), twin.E.T @ x, largest(twin.E, x))


def test_riccati_solves_the_riccati_equation(case):
    model, twin = case.model, case.twin
    got = sk.sko.riccati(model)
    dofs, nodes = twin.dofs, twin.nodes
    turned = largest(twin.tau)
    for name, rows, cols, scale in (
        ("P", nodes, nodes, 0.0),
        ("P_plus", nodes, nodes, largest(twin.P)),
        ("D", dofs, dofs, 0.0),
        ("G", nodes, dofs, 0.0),
        ("tau", nodes, nodes, 0.0),
        ("tau_bar", nodes, nodes, turned),
    ):
        expected = twin.blocks(getattr(twin, name), rows, cols)
        blocks_close(getattr(got, name), expected, scale, twin.kappa)
    blocks_close(got.psi, twin.edges(twin.E_psi), largest(twin.E, twin.tau), twin.kappa)
    blocks_close(got.K, twin.edges(twin.K, dofs), 0.0, twin.kappa)
    for P in (*got.P, *got.P_plus):
        assert (P == P.T).all()
    factors = [np.linalg.cholesky(D) if D.size else D for D in got.D]
    blocks_close(got.D_factor, factors, 0.0, twin.kappa)


def test_weights_of_psi_run_through_the_same_sweeps(case):
    model, twin = case.model, case.twin
    got = sk.sko.riccati(model)
    x, y = case.columns(model.size), case.columns(model.nv)
    scale = largest(twin.psi, x)
    close(sk.sko.gather(model.tree, got.psi, x), twin.psi @ x, scale, twin.kappa)
    close(sk.sko.scatter(model.tree, got.psi, x), twin.psi.T @ x, scale, twin.kappa)
    inward = sk.sko.pass_inward(model.tree, got.K, y, model.sizes)
    close(inward, twin.K @ y, largest(twin.K, y), twin.kappa)
    outward = sk.sko.pass_outward(model.tree, got.K, x, model.sizes)
    close(outward, twin.K.T @ x, largest(twin.K, x), twin.kappa)


def test_blocks_act_as_block_diagonal_operators(case):
    model, twin = case.model, case.twin
    x, y = case.columns(model.size), case.columns(model.nv)
    close(model.H.apply(x), twin.H @ x, largest(twin.H, x))
    close(model.H.apply(y, transpose=True), twin.H.T @ y, largest(twin.H, y))
    close(model.M.apply(x[:, 0]), twin.M @ x[:, 0], largest(twin.M, x))
    assert (model.H.dense() == twin.H).all()
    solved = sk.sko.riccati(model).solve_D(y)
    close(solved, np.linalg.solve(twin.D, y), largest(y), twin.kappa)


def test_printed_equation_37_would_make_K_zero(case):
    """Print has K = ℰ_ψ G, but τ̄G = 0; eq. 43 needs ℰ_𝔸 G."""
    twin = case.twin
    close(twin.E_psi @ twin.G, np.zeros_like(twin.K), largest(twin.E, twin.G), twin.kappa)
    close(twin.E - twin.E_psi, twin.K @ twin.H, largest(twin.K, twin.H), twin.kappa)


def test_last_form_of_equation_36_needs_one_E_psi(case):
    """Print has M = P − ℰ_𝔸 P ℰ_𝔸*; right is P − ℰ_𝔸 P ℰ_ψ*, as P − ℰ_ψ P ℰ_ψ*."""
    twin = case.twin
    scale = largest(twin.P, twin.E, twin.E)
    for mended in (twin.E @ twin.P @ twin.E_psi.T, twin.E_psi @ twin.P @ twin.E_psi.T):
        close(twin.P - mended, twin.M, scale, twin.kappa)


def test_equation_36_as_printed_fails():
    twins = [sko_cases.case_of(seed).twin for seed in SEEDS]
    errors = [np.abs(t.P - t.E @ t.P @ t.E.T - t.M).max() for t in twins]
    assert max(errors) > 0.1
