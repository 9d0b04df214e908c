"""Aggregated SKO models describe the same system (Jain 2012-I section 6)."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adapters
import naive
import skodyn as sk
from exploring import examples
from sko_cases import SEEDS, Case, case_of, close
from skodyn import sko, topology


def admissible(model, rng):
    """A random set of nodes that can be aggregated, by packed index."""
    drawn = rng.permutation(model.n_nodes)[: int(rng.integers(1, model.n_nodes + 1))].tolist()
    return list(topology.aggregation_subgraph(model.tree, drawn).nodes)


def assert_same_system(model, coarse, kappa, rng):
    """𝓜, 𝒞, accelerations, log det and compliance, in the original's order."""
    order = coarse.dof_order
    mass = sko.mass_matrix(model)
    size = np.abs(mass).max(initial=1.0)
    close(sko.mass_matrix(coarse), mass[np.ix_(order, order)], size)
    rest = np.zeros(model.nv)
    bias = sko.inverse_dynamics(model, rest)
    A = np.abs(sko.gather(model.tree, model.weights, np.eye(model.size))).max(initial=1.0)
    terms = size * A * max(np.abs(model.a).max(initial=1.0), np.abs(model.b).max(initial=1.0))
    close(sko.inverse_dynamics(coarse, rest), bias[order], terms)
    tau = rng.normal(size=model.nv)
    vdot = sko.forward_dynamics(model, tau)
    answer = sko.forward_dynamics(coarse, tau[order])
    close(answer, vdot[order], scale=terms / size * kappa, kappa=kappa)
    fine, rough = sko.log_determinant(model), sko.log_determinant(coarse)
    assert abs(fine - rough) <= 100 * np.finfo(float).eps * kappa * max(1, abs(fine))
    nodes = range(model.n_nodes)
    Omega = sko.compliance(model, nodes)
    at = sko.compliance(coarse, range(coarse.n_nodes))
    close(at, Omega[np.ix_(coarse.node_order, coarse.node_order)], kappa=kappa)
    return tau, vdot


@pytest.mark.parametrize("seed", SEEDS)
def test_any_admissible_set_leaves_the_system_as_it_is(seed):
    case = case_of(seed)
    rng = np.random.default_rng([8, seed])
    for _ in range(3):
        coarse = case.model.aggregate(admissible(case.model, rng))
        assert_same_system(case.model, coarse, case.twin.kappa, rng)


@examples(400)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(0, 3))
def test_random_models_and_random_sets(seed, n, shape):
    case = Case(4 * (n - 1) + shape)
    rng = np.random.default_rng(seed)
    own = admissible(case.model, rng)
    coarse = case.model.aggregate(own)
    assert coarse.n_nodes == case.model.n_nodes - len(own) + 1
    assert_same_system(case.model, coarse, case.twin.kappa, rng)


@pytest.mark.slow
@examples(5000)
@given(st.integers(0, 2**31), st.integers(1, 16), st.integers(0, 3))
def test_thousands_of_random_models_and_random_sets(seed, n, shape):
    case = Case(4 * (n - 1) + shape)
    rng = np.random.default_rng(seed)
    coarse = case.model.aggregate(admissible(case.model, rng))
    assert_same_system(case.model, coarse, case.twin.kappa, rng)


@examples(200)
@given(st.integers(0, 2**31), st.integers(2, 14), st.integers(0, 3))
def test_a_set_is_refused_exactly_if_it_has_several_parents(seed, n, shape):
    model = case_of(4 * (min(n, 12) - 1) + shape).model
    rng = np.random.default_rng(seed)
    own = rng.permutation(model.n_nodes)[: int(rng.integers(1, model.n_nodes + 1))].tolist()
    above = {int(model.tree.parent[k]) for k in own} - set(own)
    if len(above) == 1:
        model.aggregate(own)
        return
    with pytest.raises(sk.TopologyError) as refused:
        model.aggregate(own)
    words = str(refused.value)
    if "parents" in words:
        assert f"{len(above)} parents" in words
        assert all(repr(model.names[p]) in words for p in above if p >= 0)
        assert ("the ground" in words) == (-1 in above)
    else:
        assert "pass through" in words
    least = [model.tree.index_of(name) for name in model.aggregation_subgraph(own)]
    assert set(own) <= set(least)
    model.aggregate(least)


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_accelerations_and_forces_come_back(seed):
    case = case_of(seed)
    rng = np.random.default_rng([9, seed])
    twin, model = case.twin, case.model
    coarse = model.aggregate(admissible(model, rng))
    vdot = rng.normal(size=model.nv)
    alpha = twin.A.T @ (twin.H.T @ vdot + twin.a)
    f = twin.A @ (twin.M @ alpha + twin.b)
    there = coarse.H.apply(vdot[coarse.dof_order], transpose=True) + coarse.a
    alpha_a = sko.scatter(coarse.tree, coarse.weights, there)
    size = np.abs(twin.A).max() ** 2 * max(np.abs(alpha).max(), 1.0)
    close(coarse.to_original(alpha_a), alpha, size)
    f_a = sko.gather(coarse.tree, coarse.weights, coarse.M.apply(alpha_a) + coarse.b)
    close(coarse.forces_to_original(f_a), f, size * np.abs(twin.M).max() * np.abs(twin.A).max())


def test_printed_equation_41_without_the_underline_is_wrong():
    """𝒞 = H_a𝔸_a(M𝔸_a*·a + b) holds for the transformed a of eq. 38 only."""
    case = case_of(next(s for s in SEEDS if case_of(s).model.n_nodes > 4 and s % 4 == 0))
    model = case.model
    coarse = model.aggregate(range(model.n_nodes))
    plain = model.a[coarse.node_order]
    H, A, M = coarse.H.dense(), np.eye(coarse.size), coarse.M.dense()
    right = H @ A @ (M @ A.T @ coarse.a + coarse.b)
    as_printed = H @ A @ (M @ A.T @ plain + coarse.b)
    close(right, case.twin.bias[coarse.dof_order], scale=np.abs(case.twin.mass).max() * 10)
    assert np.abs(as_printed - right).max() > 1e-3 * np.abs(right).max()


@pytest.mark.parametrize("seed", range(8))
def test_rigid_trees_of_segments_limbs_and_one_node(seed):
    rng = np.random.default_rng([10, seed])
    bodies = naive.random_bodies(rng, 11, branching=(0.0, 0.4, 0.8)[seed % 3])
    model = adapters.build(bodies)
    q, v = model.random_state(rng)
    fine = sk.sko_model(model, q, v)
    kappa = np.linalg.cond(sk.mass_matrix(model, q))
    tau = rng.normal(size=model.nv)
    vdot = sk.forward_dynamics(model, q, v, tau)
    segments = fine.aggregate_segments()
    assert segments.n_nodes == len(topology.serial_segments(model.tree))
    limb = fine.aggregate(range(int(fine.tree.bases[0]), int(fine.tree.subtree_end[0])))
    whole = fine.aggregate(range(fine.n_nodes))
    assert whole.n_nodes == 1
    for coarse in (limb, whole):
        answer = sko.forward_dynamics(coarse, tau[coarse.dof_order])
        close(answer, vdot[coarse.dof_order], kappa=kappa)
    vdot_s = sko.forward_dynamics(segments, segments.torques_from_finest(tau))
    close(segments.to_finest(vdot=vdot_s).vdot, vdot, kappa=kappa)
    assert not set(segments.names) - {*segments.insides}


def states_of(model, vdot):
    """(V, α, f) of a model for rates of its own, from the definition."""
    V = sko.scatter(model.tree, model.weights, model.H.apply(vdot, transpose=True))
    alpha = V + sko.scatter(model.tree, model.weights, model.a)
    return V, alpha, sko.gather(model.tree, model.weights, model.M.apply(alpha) + model.b)


@pytest.mark.parametrize("seed", [s for s in SEEDS if s // 4 >= 5])
def test_a_chain_of_aggregations_has_one_way_back(seed):
    case = case_of(seed)
    rng = np.random.default_rng([11, seed])
    model = coarse = case.model
    while coarse.n_nodes > 2 and len(getattr(coarse, "chain", ())) < 5:
        coarse = coarse.aggregate(admissible(coarse, rng))
        coarse = coarse.aggregate_segments()
    assert coarse.finest is model
    assert coarse.chain[0] is coarse
    assert coarse.chain[-1] is model
    assert_same_chain(model, coarse, case.twin, rng)


def assert_same_chain(model, coarse, twin, rng):
    """Everything, in one call, is what the finest model has."""
    vdot = rng.normal(size=model.nv)
    here = coarse.torques_from_finest(vdot)  # for aggregation a permutation, as for rates
    V, alpha, f = states_of(coarse, here)
    back = coarse.to_finest(
        v=here, vdot=here, tau=here, velocities=V, accelerations=alpha, forces=f
    )
    for x in (back.v, back.vdot, back.tau):
        np.testing.assert_array_equal(x, vdot)
    expected = twin.A.T @ (twin.H.T @ vdot + twin.a)
    size = np.abs(twin.A).max() ** 2 * max(np.abs(expected).max(), 1.0)
    close(back.velocities, twin.A.T @ twin.H.T @ vdot, size)
    close(back.accelerations, expected, size)
    heavy = size * np.abs(twin.M).max() * np.abs(twin.A).max()
    close(back.forces, twin.A @ (twin.M @ expected + twin.b), heavy)
    assert coarse.to_finest(v=here).forces is None


def test_several_groups_at_once_are_one_after_the_other():
    case = case_of(46)
    model = case.model
    last = model.n_nodes - 1
    first = topology.aggregation_subgraph(model.tree, [last, last - 1]).nodes
    second = [max(set(range(model.n_nodes)) - set(first))]
    both = model.aggregate_groups({"x": first, "y": second})
    once = model.aggregate(first, "x")
    after = once.aggregate([once.tree.index_of(model.names[second[0]])], "y")
    assert both.names == after.names
    for k in range(both.n_nodes):
        for kind in ("A_block", "H_block", "M_block"):
            np.testing.assert_allclose(getattr(both, kind)(k), getattr(after, kind)(k), rtol=1e-14)
    assert_same_system(model, both, case.twin.kappa, np.random.default_rng(1))
    with pytest.raises(sk.StateError, match="2 aggregated nodes, 'x' and 'y'; ask for one of"):
        _ = both.inside
    with pytest.raises(sk.TopologyError, match="cannot be in two groups"):
        model.aggregate_groups({"x": first, "y": first})
    for nothing in ({}, [1], None):
        with pytest.raises(sk.StateError, match="give a dict with a list of nodes for each name"):
            model.aggregate_groups(nothing)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tree_of_segments_is_the_same_system(seed):
    case = case_of(seed)
    coarse = case.model.aggregate_segments()
    assert coarse.n_nodes == len(topology.serial_segments(case.model.tree))
    assert_same_system(case.model, coarse, case.twin.kappa, np.random.default_rng(seed))
    copy = pickle.loads(pickle.dumps(coarse))
    assert copy.names == coarse.names
    np.testing.assert_array_equal(sko.mass_matrix(copy), sko.mass_matrix(coarse))


def test_embedded_constraints_in_a_chain_give_back_what_they_know():
    chain = sk.SKOModel(
        [-1, 0, 1, 2], A=[None, *[[[1.0]]] * 3], H=[[[1.0]]] * 4, M=[[[1.0]]] * 4, names="abcd"
    )
    geared = sko.embed(chain, ["b", "c"], X=[[1.0], [0.5]], x_p=[0.25, -0.5], name="bc")
    coarse = geared.aggregate(["bc", "d"])
    back = coarse.to_finest(v=[1.0, 2.0, 3.0], vdot=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(back.v, [1.0, 2.0, 1.0, 3.0])
    np.testing.assert_array_equal(back.vdot, [1.0, 2.25, 0.5, 3.0])
    np.testing.assert_array_equal(coarse.torques_from_finest([1.0, 2.0, 4.0, 8.0]), [1, 4, 8])
    V = states_of(coarse, np.array([1.0, 2.0, 3.0]))[0]
    np.testing.assert_allclose(coarse.to_finest(velocities=V).velocities, [1.0, 3.0, 4.0, 7.0])
    for what in ("tau", "forces"):
        with pytest.raises(sk.StateError, match="cannot be given back: the constraints embedded"):
            coarse.to_finest(**{what: np.zeros(3 if what == "tau" else 4)})


def test_the_aggregated_node_is_named_and_may_be_renamed_and_pickled():
    model = case_of(20).model
    tip = int(model.tree.leaves[0])
    coarse = model.aggregate([tip], name="tip")
    assert "tip" in coarse.names
    back = pickle.loads(pickle.dumps(coarse))
    np.testing.assert_array_equal(sko.mass_matrix(back), sko.mass_matrix(coarse))
    assert back.name == "tip"
    named = sk.SKOModel(
        [-1, 0, 0], A=[None, [[1.0]], [[1.0]]], H=[[[1.0]]] * 3, M=[[[1.0]]] * 3, names="abc"
    )
    assert named.aggregate(["a", "b"]).names == ("a+b", "c")
    with pytest.raises(sk.TopologyError, match="name"):
        named.aggregate(["a", "b"], name="c")
