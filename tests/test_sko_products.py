"""𝔸X𝔹* and 𝔸*X𝔹 on random ragged SKO models: diagonals by Lyapunov sweeps, and every element."""

import numpy as np
import pytest

import sko_cases
import skodyn as sk
from sko_cases import SEEDS, blocks_close, close, largest
from sko_twin import Twin, random_weight
from skodyn.sko import Blocks


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def case(request):
    return sko_cases.case_of(request.param)


class Pair:
    """A second SPO operator 𝔹 on the tree of a case, of its own sizes, and X between the two."""

    def __init__(self, case):
        rng, twin = case.rng, case.twin
        m = rng.integers(1, 6, size=len(twin.parent)).tolist()
        X = [rng.normal(size=(rows, cols)) for rows, cols in zip(twin.m, m, strict=True)]
        weights = [
            np.zeros((0, m[k])) if p < 0 else random_weight(rng, m[p], m[k])
            for k, p in enumerate(twin.parent)
        ]
        self.X, self.B = Blocks.of(X), Blocks.of(weights)
        self.slices = Twin.slices(m)
        E = np.zeros((sum(m), sum(m)))
        for k, p in enumerate(twin.parent):
            if p >= 0:
                E[self.slices[p], self.slices[k]] = weights[k]
        self.dense = np.linalg.inv(np.eye(len(E)) - E)
        self.dense_X = self.X.dense()


def every_element(case, pair, Z, element, Y):
    """Each Z(i, j) on its own, on the scale of the largest."""
    model, twin = case.model, case.twin
    scale = largest(twin.A, pair.dense, pair.X.data)
    for i, rows in enumerate(twin.nodes):
        for j, cols in enumerate(pair.slices):
            got = element(model.tree, model.weights, Y, i, j, pair.B)
            close(got, Z[rows, cols], scale)


def test_forward_lyapunov_gives_every_block_of_AXB_transposed(case):
    pair = Pair(case)
    Z = case.twin.A @ pair.dense_X @ pair.dense.T
    Y = sk.sko.forward_lyapunov(case.model.tree, case.model.weights, pair.X, pair.B)
    scale = largest(case.twin.A, pair.dense, pair.X.data)
    blocks_close(Y, case.twin.blocks(Z, None, pair.slices), scale)
    every_element(case, pair, Z, sk.sko.forward_element, Y)


def test_backward_lyapunov_gives_every_block_of_A_transposed_XB(case):
    pair = Pair(case)
    Z = case.twin.A.T @ pair.dense_X @ pair.dense
    Y = sk.sko.backward_lyapunov(case.model.tree, case.model.weights, pair.X, pair.B)
    scale = largest(case.twin.A, pair.dense, pair.X.data)
    blocks_close(Y, case.twin.blocks(Z, None, pair.slices), scale)
    every_element(case, pair, Z, sk.sko.backward_element, Y)


def test_blocks_of_unrelated_nodes_are_zero(case):
    model, twin = case.model, case.twin
    forward = sk.sko.forward_lyapunov(model.tree, model.weights, model.M)
    backward = sk.sko.backward_lyapunov(model.tree, model.weights, model.M)
    for i in range(model.n_nodes):
        for j in range(model.n_nodes):
            if not (twin.related(i, j) or twin.related(j, i)):
                Z = sk.sko.forward_element(model.tree, model.weights, forward, i, j)
                assert not Z.any()
            if model.tree.closest_common_ancestor(i, j) < 0:
                Z = sk.sko.backward_element(model.tree, model.weights, backward, i, j)
                assert not Z.any()


def test_composite_inertias_are_the_diagonal_of_AMA(case):
    twin = case.twin
    R = twin.A @ twin.M @ twin.A.T
    scale = largest(twin.A, twin.A, twin.M)
    blocks_close(sk.sko.composite_inertias(case.model), twin.blocks(R), scale)


def test_compliances_of_nodes_and_pairs(case):
    model, twin = case.model, case.twin
    solution = sk.sko.riccati(model)
    X = twin.H.T @ np.linalg.inv(twin.D) @ twin.H
    blocks_close(sk.sko.joint_compliances(model, solution), twin.blocks(X), 0.0, twin.kappa)
    scale = largest(twin.psi, twin.psi, X)
    upsilon = sk.sko.node_compliances(model)
    blocks_close(upsilon, twin.blocks(twin.Omega), scale, twin.kappa)
    nodes = case.rng.integers(model.n_nodes, size=4).tolist()
    place = np.concatenate([np.arange(twin.m[k]) + twin.nodes[k].start for k in nodes])
    omega = sk.sko.compliance(model, nodes, solution)
    close(omega, twin.Omega[np.ix_(place, place)], scale, twin.kappa)
    assert (omega == omega.T).all()


def test_compliance_is_J_times_the_inverse_mass_matrix_times_J_transposed(case):
    """Eqs. 59 and 60: Ω = 𝔸*H*𝓜⁻¹H𝔸, with nothing of ψ in it."""
    model, twin = case.model, case.twin
    J = twin.A.T @ twin.H.T
    expected = J @ np.linalg.solve(twin.mass, J.T)
    omega = sk.sko.compliance(model, range(model.n_nodes))
    close(omega, expected, largest(J, J), twin.kappa)


def test_equation_29_needs_its_loop_from_the_base():
    """Printed as k = 1 … n, where Y(k + 1) is not known yet; tips first, the base is n."""
    case = sko_cases.case_of(44)
    assert case.shape == "chain"
    assert case.model.n_nodes > 3
    model = case.model
    Y = sk.sko.backward_lyapunov(model.tree, model.weights, model.M)
    n = model.n_nodes
    canonical = [n - 1 - k for k in range(n)]  # node of the paper's number k + 1

    def chain(numbers):
        found = {n + 1: None}
        for k in numbers:
            node = canonical[k - 1]
            found[k] = model.M[node].copy()
            inner = found.get(k + 1)
            if inner is not None:
                found[k] += model.weights[node].T @ inner @ model.weights[node]
        return [found[n - node] for node in range(n)]

    blocks_close(Y, chain(range(n, 0, -1)), 1.0)
    wrong = chain(range(1, n + 1))
    assert max(np.abs(a - b).max() for a, b in zip(Y, wrong, strict=True)) > 0.1


def test_operands_that_do_not_fit_are_refused():
    case = sko_cases.case_of(44)
    model = case.model
    with pytest.raises(sk.StateError, match="does not fit the weights"):
        sk.sko.forward_lyapunov(model.tree, model.weights, model.H)
    with pytest.raises(sk.StateError, match="does not fit the weights"):
        sk.sko.backward_element(model.tree, model.weights, model.H, 0, 0)
    with pytest.raises(sk.TopologyError, match="no node 'nowhere'"):
        sk.sko.compliance(model, ["nowhere"])
