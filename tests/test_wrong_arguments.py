"""sk.sko, sk.topology and the operators say in a sentence what they were given by mistake."""

import pickle

import numpy as np
import pytest

import sko_cases
import skodyn as sk
from skodyn import estimation, sko, topology
from skodyn.algebra.identities import check_identities
from skodyn.topology import Digraph, Tree

# ---- a solution of another model ----------------------------------------------------------------


def chain(mass=1.0, names=("base", "arm", "hand"), parents=(-1, 0, 1)):
    n = len(names)
    A = [None if p < 0 else np.array([[1.0, 0.5], [0.0, 1.0]]) for p in parents]
    M = [np.diag([mass, 2.0])] * n
    return sko.SKOModel(parents, A, [[1.0, 1.0]] * n, M, names=names)


TAKE_A_SOLUTION = {
    "forward_dynamics": lambda m, s: sko.forward_dynamics(m, np.ones(3), s),
    "mass_matrix_solve": lambda m, s: sko.mass_matrix_solve(m, np.ones(3), s),
    "log_determinant": lambda m, s: sko.log_determinant(m, s),
    "innovations": lambda m, s: sko.innovations(m, s, np.ones(3)),
    "innovations_inverse": lambda m, s: sko.innovations_inverse(m, s, np.ones(3)),
    "joint_compliances": lambda m, s: sko.joint_compliances(m, s),
    "node_compliances": lambda m, s: sko.node_compliances(m, s),
    "compliance": lambda m, s: sko.compliance(m, ["arm"], s),
    "articulated_model": lambda m, s: sko.articulated_model(m, np.ones(3), s),
    "inboard_model": lambda m, s: sko.inboard_model(m, np.ones(3), s),
    "smooth": lambda m, s: estimation.smooth(m, np.ones(3), s),
}
OTHERS = {
    "mass": (lambda: chain(2.0), "its M of node 'base' differs"),
    "names": (lambda: chain(names=("base", "arm", "tool")), "it has another tree"),
    "parents": (lambda: chain(parents=(-1, 0, 0)), "it has another tree"),
    "size": (lambda: chain(names=("base", "arm"), parents=(-1, 0)), "it has another tree"),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("name", TAKE_A_SOLUTION)
def test_the_solution_of_another_model_is_refused(name, other):
    make, words = OTHERS[other]
    with pytest.raises(sk.StateError, match=f"solution is that of another model.*{words}"):
        TAKE_A_SOLUTION[name](chain(), sko.riccati(make()))


@pytest.mark.parametrize("name", TAKE_A_SOLUTION)
def test_the_solution_of_the_same_model_made_twice_is_taken(name):
    model = chain()
    mine, theirs = (TAKE_A_SOLUTION[name](model, sko.riccati(m)) for m in (model, chain()))
    for a, b in zip(*(x if np.ndim(x) else [x] for x in (mine, theirs)), strict=True):
        if isinstance(a, (float, np.ndarray)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", TAKE_A_SOLUTION)
def test_what_is_no_solution_is_refused(name):
    with pytest.raises(sk.StateError, match=r"solution is int; give riccati\(model\)"):
        TAKE_A_SOLUTION[name](chain(), 3)


# ---- names that are integers --------------------------------------------------------------------


def numbered():
    """Names that are no positions, and positions that are names of others."""
    return Tree.from_edges([2, 0, 7, 1], [(2, 0), (0, 7), (2, 1)])


def test_integers_that_were_given_as_names_are_names():
    tree = numbered()
    assert tree.names == (2, 0, 7, 1)
    for k, name in enumerate(tree.names):
        assert tree.resolve(name) == tree.resolve(np.int64(name)) == tree.index_of(name) == k
        assert tree.handle(k) == name
    assert tree.indices([1, 7]).tolist() == [3, 2]
    assert tree.children(2).tolist() == [1, 3]
    assert tree.children(0).tolist() == [2]
    assert tree.ancestors(7).tolist() == [1, 0]
    assert tree.descendants(2) == range(1, 4)
    assert tree.is_ancestor(2, 7)
    assert not tree.related(1, 7)
    assert tree.closest_common_ancestor(7, 1) == 0
    assert tree.path(2, 7).tolist() == [0, 1, 2]
    with pytest.raises(sk.TopologyError, match="no node 3; integers are names of its nodes"):
        tree.resolve(3)


def test_functions_of_trees_read_integers_as_names():
    tree, graph = numbered(), numbered().to_digraph()
    for nodes in ([0, 7], [2, 1], [7], [0, 1]):
        mine = topology.induced_subgraph(tree, nodes)
        theirs = topology.induced_subgraph(graph, nodes)
        assert {tree.names[k] for k in mine.nodes} == set(theirs.nodes)
        assert topology.is_induced(tree, mine)
        assert topology.is_path_induced(tree, topology.path_induced_subgraph(tree, nodes))
    assert topology.partition(tree, [0]).child.tolist() == [2]
    assert topology.aggregation_condition(tree, [0, 7]).parents == (0,)
    assert topology.aggregation_subgraph(tree, [7]).nodes == (2,)
    coarse = topology.aggregate_tree(tree, [0, 7], 9).tree
    assert coarse.names == (2, 9, 1)
    assert coarse.children(2).tolist() == [1, 2]
    assert topology.serial_segments(tree).tree.resolve(1) == 2


def test_copies_keep_what_integers_mean():
    for tree in (numbered(), Tree([1, -1])):
        again = pickle.loads(pickle.dumps(tree))
        assert again == tree
        assert [again.handle(k) for k in range(again.n)] == [tree.handle(k) for k in range(tree.n)]
    assert Tree([1, -1]) != Tree([1, -1], [0, 1])


def test_models_read_integers_as_names():
    names = (10, 0, 1)
    model, plain = chain(names=names), chain()
    for k, name in enumerate(names):
        assert model.node_slice(name) == plain.node_slice(k)
        assert model.dof_slice(name) == plain.dof_slice(k)
        np.testing.assert_array_equal(model.A_block(name), plain.weights[k])
        np.testing.assert_array_equal(sko.compliance(model, [name]), sko.compliance(plain, [k]))
    merged, expected = model.aggregate([0, 1], 5), plain.aggregate(["arm", "hand"])
    np.testing.assert_array_equal(sko.mass_matrix(merged), sko.mass_matrix(expected))
    np.testing.assert_array_equal(
        sko.mass_matrix(pickle.loads(pickle.dumps(merged))), sko.mass_matrix(expected)
    )
    assert model.aggregate_segments().n_nodes == 1
    parts = model.partition([0])
    assert (parts.child.names, parts.own.names, parts.parent.names) == ((1,), (0,), (10,))
    np.testing.assert_array_equal(
        parts.propagation_operator(), plain.partition(["arm"]).propagation_operator()
    )
    A, Y = model.weights, sko.composite_inertias(model)
    np.testing.assert_array_equal(
        sko.forward_element(model.tree, A, Y, 10, 1), sko.forward_element(plain.tree, A, Y, 0, 2)
    )


def test_operators_read_integers_as_names():
    g, plain = sk.operators(chain(names=(10, 0, 1))), sk.operators(chain())
    for operator, other in ((g.phi, plain.phi), (g.psi.T, plain.psi.T), (g.K, plain.K)):
        np.testing.assert_array_equal(operator[10, 1], other["base", "hand"])
        np.testing.assert_array_equal(operator[0], other["arm"])
        np.testing.assert_array_equal(operator[1, :], other["hand", :])
    np.testing.assert_array_equal(g.pickoff([0]).dense(), plain.pickoff(["arm"]).dense())
    assert sk.operators(chain(names=(10, 0, 1)), bodies=[0, 1]).bodies == (0, 1)
    assert g.joint_vector({1: 2.0}).tolist() == [0.0, 0.0, 2.0]
    assert not [result for result in check_identities(g) if result.failed]


# ---- arguments of the wrong kind ----------------------------------------------------------------

TREE, GRAPH = numbered(), numbered().to_digraph()
MODEL = sko_cases.case_of(8).model

TOPOLOGY = {
    "partition of none": (lambda: topology.partition(3, [0]), "graph is int; give a Tree or a"),
    "order": (lambda: TREE.is_canonical_order([0]), "The order does not hold"),
    "no order": (lambda: GRAPH.is_canonical_order(0), "nodes is 0; give a list"),
    "condition": (
        lambda: topology.aggregation_condition(GRAPH, [0]),
        r"give Tree.from_digraph\(digraph\)",
    ),
    "subgraph": (lambda: topology.aggregation_subgraph(GRAPH, [0]), "tree is a Digraph"),
    "aggregate_tree": (lambda: topology.aggregate_tree(GRAPH, [0], 1), "tree is a Digraph"),
    "segments": (lambda: topology.serial_segments(GRAPH), "tree is a Digraph"),
    "aggregate": (lambda: topology.aggregate_digraph(TREE, [0], 1), r"give tree.to_digraph\(\)"),
    "contract": (lambda: topology.contract_nodes(TREE, 0, 1, 2), "digraph is a Tree"),
    "contract_edge": (lambda: topology.contract_edge(TREE, 2, 0, 2), "digraph is a Tree"),
    "contract none": (lambda: topology.contract_edge("x", 2, 0, 2), "digraph is str"),
    "induced": (lambda: topology.induced_subgraph([1], [0]), "graph is list; give a Tree or a"),
    "path-induced": (lambda: topology.path_induced_subgraph(None, [0]), "graph is NoneType"),
    "is_induced": (lambda: topology.is_induced(TREE, [0]), "subgraph is list; give a Subgraph"),
    "is_path_induced": (lambda: topology.is_path_induced(GRAPH, [0]), "subgraph is list"),
    "strange": (lambda: topology.is_induced(Tree([-1]), topology.Subgraph(("a",), ())), "'a', no"),
    "nodes": (lambda: topology.partition(TREE, 0), "nodes is 0; give a list of nodes"),
    "nodes of a digraph": (lambda: topology.induced_subgraph(GRAPH, 0), "nodes is 0; give a list"),
    "between": (lambda: GRAPH.between(2, [0]), "nodes is 2; give a list"),
    "unhashable": (lambda: TREE.resolve([1]), r"no node \[1\]"),
    "unhashable in a digraph": (lambda: GRAPH.index_of([1]), r"no node \[1\]"),
    "truth": (lambda: Tree([-1, 0], "ab").resolve(True), "no node True"),
    "parents": (lambda: Tree(3), "parents is 3; give a list of positions"),
    "names": (lambda: Tree([-1], 3), "names is 3; give a list of names"),
    "name": (lambda: Tree([-1], [[1]]), r"position 0 is named \[1\], a list; give a name"),
    "named": (lambda: Tree.from_named_parents([{}], ["world"]), "position 0 is named {}"),
    "edges": (lambda: Tree.from_edges([1], 4), r"edges is 4; give \(parent, child\) pairs"),
    "digraph": (lambda: Digraph(3), "nodes is 3; give a list of nodes"),
    "digraph's names": (lambda: Digraph([[1]]), r"position 0 is named \[1\]"),
    "digraph's edges": (lambda: Digraph([1], [([1], 1)]), r"write it as a \(parent, child\) pair"),
    "digraph's parents": (lambda: Digraph.from_parents([1]), "parents is list; give a dict"),
    "tree of a tree": (lambda: Tree.from_digraph(TREE), "digraph is Tree; give a Digraph"),
}


@pytest.mark.parametrize("name", TOPOLOGY)
def test_topology_refuses_in_a_sentence(name):
    call, words = TOPOLOGY[name]
    with pytest.raises(sk.TopologyError, match=words):
        call()


OF_A_MODEL = {
    "forward_dynamics": lambda m: sko.forward_dynamics(m, [1.0]),
    "inverse_dynamics": lambda m: sko.inverse_dynamics(m, [1.0]),
    "velocities": lambda m: sko.velocities(m, [1.0]),
    "mass_matrix": sko.mass_matrix,
    "mass_matrix_solve": lambda m: sko.mass_matrix_solve(m, [1.0]),
    "log_determinant": sko.log_determinant,
    "riccati": sko.riccati,
    "composite_inertias": sko.composite_inertias,
    "innovations": lambda m: sko.innovations(m, sko.riccati(MODEL), [1.0]),
    "innovations_inverse": lambda m: sko.innovations_inverse(m, sko.riccati(MODEL), [1.0]),
    "joint_compliances": lambda m: sko.joint_compliances(m, sko.riccati(MODEL)),
    "node_compliances": sko.node_compliances,
    "compliance": lambda m: sko.compliance(m, [0]),
    "terminal_model": lambda m: sko.terminal_model(m, [1.0]),
    "composite_model": lambda m: sko.composite_model(m, [1.0]),
    "articulated_model": lambda m: sko.articulated_model(m, [1.0]),
    "inboard_model": lambda m: sko.inboard_model(m, [1.0]),
    "smooth": lambda m: estimation.smooth(m, [1.0]),
}


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_functions_of_sko_models_take_nothing_else(name):
    for given in (sk.load("scenarios/models/double_pendulum.toml"), None, "arm"):
        words = f"model is {type(given).__name__}; give an SKOModel"
        with pytest.raises(sk.StateError, match=words):
            OF_A_MODEL[name](given)


OTHER_STATE_ERRORS = {
    "sparsity": (lambda: sko.sparsity("arm"), "model is str; give a Model or an SKOModel"),
    "pattern": (lambda: sko.sparsity(MODEL).pattern(["E"]), "There is no pattern of"),
    "gather": (lambda: sko.gather(MODEL, MODEL.weights, [1.0]), "tree is SKOModel; give a Tree"),
    "scatter": (lambda: sko.scatter(MODEL.tree, [1.0], [1.0]), "weights is list; give Blocks"),
    "inward": (lambda: sko.pass_inward(MODEL.tree, None, [1.0]), "edges is NoneType"),
    "outward": (lambda: sko.pass_outward(None, MODEL.weights, [1.0]), "tree is NoneType"),
    "forward": (
        lambda: sko.forward_lyapunov(MODEL.tree, MODEL.weights, np.eye(3)),
        "block-diagonal operator is ndarray; give Blocks",
    ),
    "backward": (lambda: sko.backward_lyapunov(MODEL.tree, 1, MODEL.M), "A is int; give Blocks"),
    "element": (
        lambda: sko.forward_element(MODEL.tree, MODEL.weights, None, 0, 0),
        "operator is NoneType",
    ),
    "back": (lambda: sko.backward_element(3, MODEL.weights, MODEL.M, 0, 0), "tree is int"),
    "Blocks": (lambda: sko.Blocks.of([[1.0, 2.0]]), r"Block 0 has shape \(2,\); give a matrix"),
    "words": (lambda: sko.Blocks.of([["a"]]), "Block 0 is not an array of real numbers"),
    "identities": (lambda: check_identities(MODEL), r"ops is SKOModel; give sk.operators"),
}


@pytest.mark.parametrize("name", OTHER_STATE_ERRORS)
def test_sko_refuses_in_a_sentence(name):
    call, words = OTHER_STATE_ERRORS[name]
    with pytest.raises(sk.StateError, match=words):
        call()


def ops():
    model = sk.load("scenarios/models/double_pendulum.toml")
    return sk.operators(model, [0.1, 0.2])


OPERATORS = {
    "three names": (
        lambda g: g.phi["upper", "lower"]["lower"],
        r"phi\['upper', 'lower'\] is an array and has no names; give row and column",
    ),
    "after a row": (lambda g: g.phi["upper", :]["lower"], r"phi\['upper', :\] is an array"),
    "Lyapunov": (lambda g: g.E_phi.lyapunov_recursion(np.eye(12)), "X is ndarray; give a block"),
    "backward": (lambda g: g.E_psi.T.lyapunov_recursion(None), "X is NoneType; give a block"),
    "vector": (lambda g: g.joint_vector("x"), "The vector is str, no array of real numbers"),
    "part": (lambda g: g.joint_vector({"upper": [1, 2]}), "The part of 'upper' is .*; give a"),
    "Id": (lambda g: g.Id @ "x", "Id is applied to str"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_refuse_in_a_sentence(name):
    call, words = OPERATORS[name]
    with pytest.raises(sk.StateError, match=words):
        call(ops())


def test_blocks_by_name_are_arrays_all_the_same():
    g = ops()
    block = g.phi["upper", "lower"]
    assert isinstance(block, np.ndarray)
    np.testing.assert_array_equal(block[0], np.asarray(block)[0])
    np.testing.assert_array_equal(block @ np.eye(6), np.asarray(block))
    with pytest.raises(sk.TopologyError, match="no node"):
        g.phi[["upper"], "lower"]
