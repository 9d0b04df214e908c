"""Digraphs: structure, classification and contraction, with networkx as the oracle."""

import pickle
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from skodyn.errors import TopologyError
from skodyn.topology import Digraph, aggregate_digraph, contract_edge, contract_nodes
from skodyn.topology.search import disjoint_cycles

quick = examples(100)


@st.composite
def digraphs(draw, min_nodes=0, max_nodes=7):
    """Digraphs of every kind: cyclic, disconnected, multiply connected."""
    n = draw(st.integers(min_nodes, max_nodes))
    pairs = [(i, j) for i, j in product(range(n), repeat=2) if i != j]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=10)) if pairs else []
    return Digraph(range(n), edges)


def as_networkx(digraph):
    graph = nx.DiGraph()
    graph.add_nodes_from(digraph.nodes)
    graph.add_edges_from(digraph.edges)
    return graph


def from_networkx(graph):
    return Digraph(graph.nodes, graph.edges)


def test_a_small_digraph_answers_in_the_order_given():
    diamond = Digraph("abcd", [("a", "c"), ("a", "b"), ("b", "d"), ("c", "d")])
    assert diamond.nodes == ("a", "b", "c", "d")
    assert diamond.edges == (("a", "c"), ("a", "b"), ("b", "d"), ("c", "d"))
    assert diamond.children("a") == ("c", "b")
    assert diamond.parents("d") == ("b", "c")
    assert diamond.parents("a") == ()
    assert diamond.roots == ("a",)
    assert diamond.descendants("b") == {"d"}
    assert diamond.ancestors("d") == {"a", "b", "c"}
    assert diamond.is_rooted
    assert not diamond.is_tree
    assert diamond.is_multiply_connected("a", "d")
    assert not diamond.is_multiply_connected("a", "b")
    assert repr(diamond) == "Digraph(4 nodes, 4 edges)"


def test_parents_may_be_one_many_or_none():
    expected = Digraph("abc", [("a", "b"), ("a", "c"), ("b", "c")])
    for both in (["a", "b"], ("a", "b"), {"a", "b"}, frozenset("ab")):
        assert Digraph.from_parents({"a": None, "b": "a", "c": both}).edges == expected.edges
    assert Digraph.from_parents({"a": [], "b": "a", "c": ["a", "b"]}) == expected
    with pytest.raises(TopologyError, match="unknown node 'bb'; did you mean 'b"):
        Digraph.from_parents({"base": None, "bbb": "bb"})


def test_a_node_on_a_cycle_is_its_own_ancestor_and_descendant():
    ring = Digraph("abc", ["ab", "bc", "ca"])
    assert ring.descendants("a") == ring.ancestors("a") == {"a", "b", "c"}
    assert Digraph("ab", ["ab"]).descendants("a") == {"b"}


def test_the_adjacency_matrix_has_one_in_row_parent_column_child():
    matrix = Digraph("abc", ["ca", "ab"]).adjacency_matrix()
    np.testing.assert_array_equal(matrix, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])


def test_equality_and_hash_ignore_order_and_survive_pickling():
    one, two = Digraph("abc", ["ab", "bc"]), Digraph("cba", ["bc", "ab"])
    assert one == two
    assert hash(one) == hash(two)
    assert one != Digraph("abc", ["ab"])
    assert one != "abc"
    copy = pickle.loads(pickle.dumps(one))
    assert (copy.nodes, copy.edges) == (one.nodes, one.edges)


def test_a_digraph_is_immutable():
    with pytest.raises(AttributeError):
        Digraph("ab").nodes = ()


def test_the_empty_digraph_is_a_forest_and_not_a_tree():
    empty = Digraph(())
    assert empty.is_forest
    assert empty.is_acyclic
    assert empty.is_connected
    assert not empty.is_tree
    assert not empty.is_serial_chain
    assert empty.adjacency_matrix().shape == (0, 0)


@quick
@given(digraphs())
def test_ancestors_and_descendants_agree_with_networkx(digraph):
    graph = as_networkx(digraph)
    for node in digraph.nodes:
        around = {node} if any(node in cycle for cycle in nx.simple_cycles(graph)) else set()
        assert digraph.descendants(node) == nx.descendants(graph, node) | around
        assert digraph.ancestors(node) == nx.ancestors(graph, node) | around
        assert set(digraph.parents(node)) == set(graph.predecessors(node))
        assert set(digraph.children(node)) == set(graph.successors(node))


@quick
@given(digraphs(min_nodes=1))
def test_classification_agrees_with_networkx(digraph):
    graph = as_networkx(digraph)
    assert digraph.is_acyclic == nx.is_directed_acyclic_graph(graph)
    assert digraph.is_connected == nx.is_weakly_connected(graph)
    assert digraph.is_tree == nx.is_arborescence(graph)
    assert digraph.is_forest == nx.is_branching(graph)
    chain = nx.is_arborescence(graph) and max(d for _, d in graph.out_degree) <= 1
    assert digraph.is_serial_chain == chain
    assert digraph.roots == tuple(v for v in graph if graph.in_degree(v) == 0)
    np.testing.assert_array_equal(digraph.adjacency_matrix(), nx.to_numpy_array(graph))


def at_most_one_path(graph):
    """Section 2.1, item 4, path by path."""
    pairs = product(graph.nodes, repeat=2)
    counts = [len(list(nx.all_simple_paths(graph, a, b))) for a, b in pairs if a != b]
    return max(counts, default=0) <= 1


@quick
@given(digraphs())
def test_a_polytree_is_a_connected_acyclic_digraph_with_at_most_one_path_between_nodes(digraph):
    graph = as_networkx(digraph)
    acyclic = nx.is_directed_acyclic_graph(graph)
    connected = not digraph.nodes or nx.is_weakly_connected(graph)
    assert digraph.is_polytree == (acyclic and connected and at_most_one_path(graph))
    if digraph.is_tree:
        assert digraph.is_polytree


def test_polytrees_of_the_paper_may_have_undirected_cycles():
    crossed = Digraph("abcd", ["ac", "ad", "bc", "bd"])
    assert crossed.is_polytree
    assert not nx.is_forest(as_networkx(crossed).to_undirected())
    assert not Digraph("abcd", ["ab", "ac", "bd", "cd"]).is_polytree
    assert not Digraph("abcd", ["ab", "cd"]).is_polytree  # in two pieces
    assert not Digraph("abc", ["ab", "bc", "ca"]).is_polytree


@quick
@given(digraphs(max_nodes=5), st.data())
def test_an_order_is_canonical_if_every_node_comes_before_its_parents(digraph, data):
    order = data.draw(st.permutations(digraph.nodes))
    number = {node: place for place, node in enumerate(order)}
    expected = all(number[parent] > number[child] for parent, child in digraph.edges)
    assert digraph.is_canonical_order(order) == expected
    assert digraph.is_canonical_order() == digraph.is_canonical_order(digraph.nodes)
    permuted = Digraph(order, digraph.edges).adjacency_matrix()
    assert expected == (not np.triu(permuted).any())  # ℰ is strictly lower triangular
    if digraph.is_acyclic:
        assert digraph.is_canonical_order(digraph.canonical_order())
    else:
        with pytest.raises(TopologyError, match=r"is a cycle, so that its nodes have no canonical"):
            digraph.canonical_order()


def test_orders_that_are_none_are_refused_with_all_faults():
    digraph = Digraph("abc", ["ab", "bc"])
    assert digraph.canonical_order() == ("c", "b", "a")
    with pytest.raises(TopologyError) as caught:
        digraph.is_canonical_order("aab")
    assert tuple(map(str, caught.value.faults)) == (
        "The order holds 'a' more than once; give each node once.",
        "The order does not hold 'c'; give each node once.",
    )


@quick
@given(digraphs())
def test_related_nodes_are_joined_by_a_directed_path(digraph):
    graph = as_networkx(digraph)
    for a, b in product(digraph.nodes, repeat=2):
        assert digraph.related(a, b) == (nx.has_path(graph, a, b) or nx.has_path(graph, b, a))


@quick
@given(digraphs())
def test_the_adjacency_matrix_is_nilpotent_exactly_if_there_is_no_cycle(digraph):
    """Jain 2011-II section 8.2: with cycles ℰ has no 1-resolvent, and there is no 𝔸."""
    n = len(digraph.nodes)
    power = np.linalg.matrix_power(digraph.adjacency_matrix(), n) if n else np.zeros((0, 0))
    assert digraph.is_acyclic == (not power.any())


@quick
@given(digraphs())
def test_a_found_cycle_is_a_directed_cycle_and_none_means_acyclic(digraph):
    cycle = digraph.find_cycle()
    assert (cycle is None) == nx.is_directed_acyclic_graph(as_networkx(digraph))
    if cycle is not None:
        assert len(set(cycle)) == len(cycle)
        assert set(zip(cycle, cycle[1:] + cycle[:1], strict=True)) <= set(digraph.edges)


@quick
@given(digraphs())
def test_disjoint_cycles_share_no_node_and_leave_no_cyclic_component_out(digraph):
    cycles = disjoint_cycles([digraph.children(node) for node in digraph.nodes])
    named = [node for cycle in cycles for node in cycle]
    assert len(set(named)) == len(named)
    for cycle in cycles:
        assert set(zip(cycle, cycle[1:] + cycle[:1], strict=True)) <= set(digraph.edges)
    for component in nx.strongly_connected_components(as_networkx(digraph)):
        assert len(component) == 1 or component & set(named)


@quick
@given(digraphs(min_nodes=2))
def test_multiply_connected_means_more_than_one_path_in_an_acyclic_digraph(digraph):
    graph = as_networkx(digraph)
    if digraph.is_acyclic:
        for a, b in product(digraph.nodes, repeat=2):
            paths = [] if a == b else list(nx.all_simple_paths(graph, a, b))
            assert digraph.is_multiply_connected(a, b) == (len(paths) > 1)


@quick
@given(digraphs(min_nodes=2), st.data())
def test_node_contraction_agrees_with_networkx(digraph, data):
    a, b = data.draw(st.lists(st.sampled_from(digraph.nodes), min_size=2, max_size=2, unique=True))
    expected = nx.contracted_nodes(as_networkx(digraph), a, b, self_loops=False)
    assert contract_nodes(digraph, a, b, name=a) == from_networkx(expected)
    if (a, b) in digraph.edges:
        assert contract_edge(digraph, a, b, name=a) == from_networkx(expected)
    else:
        with pytest.raises(TopologyError, match=r"There is no edge .* use contract_nodes"):
            contract_edge(digraph, a, b, name=a)


@quick
@given(digraphs(min_nodes=1), st.data())
def test_aggregation_agrees_with_the_quotient_graph_of_networkx(digraph, data):
    own = data.draw(st.sets(st.sampled_from(digraph.nodes), min_size=1))
    blocks = [own, *({node} for node in digraph.nodes if node not in own)]
    quotient = nx.quotient_graph(as_networkx(digraph), blocks)
    name = {block: "S" if block == own else next(iter(block)) for block in quotient}
    expected = from_networkx(nx.relabel_nodes(quotient, name))
    assert aggregate_digraph(digraph, own, "S") == expected


@quick
@given(digraphs(min_nodes=1), st.data())
def test_lemma_3_aggregation_depends_on_the_nodes_alone(digraph, data):
    """Contracting pair by pair in any order, with or without the inner edges, is all the same."""
    own = data.draw(st.permutations(digraph.nodes))
    own = own[: data.draw(st.integers(1, len(own)))]
    whole = aggregate_digraph(digraph, own, own[0])
    stepwise = digraph
    for node in own[1:]:
        stepwise = contract_nodes(stepwise, own[0], node, own[0])
    assert stepwise == whole
    inner = [edge for edge in digraph.edges if set(edge) <= set(own)]
    dropped = data.draw(st.sets(st.sampled_from(inner))) if inner else set()
    thinned = Digraph(digraph.nodes, [edge for edge in digraph.edges if edge not in dropped])
    assert aggregate_digraph(thinned, own, own[0]) == whole


def test_the_aggregated_node_stands_where_its_first_member_stood():
    coarse = aggregate_digraph(Digraph("abcd", ["ab", "bc", "cd"]), "cb", "S")
    assert coarse.nodes == ("a", "S", "d")
    assert coarse.edges == (("a", "S"), ("S", "d"))


def test_edge_contraction_keeps_a_tree_a_tree_and_node_contraction_need_not():
    tree = Digraph("abcd", ["ab", "bc", "bd"])
    assert contract_edge(tree, "b", "c", "x").is_tree
    assert not contract_nodes(tree, "a", "c", "x").is_acyclic
    assert not contract_nodes(Digraph("abcd", ["ab", "bc", "ad"]), "c", "d", "x").is_tree


@pytest.mark.parametrize(
    ("nodes", "edges", "faults"),
    [
        ("aba", [], ["Node 'a' is given 2 times; give each node a name of its own."]),
        (
            ["arm", "hand"],
            [("arm", "hnd")],
            ["Edge 'arm' → 'hnd' names an unknown node 'hnd'; did you mean 'hand'?"],
        ),
        (
            "a",
            ["zz"],
            [
                "Edge 'z' → 'z' names an unknown node 'z'; add that node or drop the edge.",
                "Edge 'z' → 'z' leads from a node to itself; drop it.",
            ],
        ),
        ("ab", ["ab", "ab", "ab"], ["Edge 'a' → 'b' is given 3 times; keep one of them."]),
        ("ab", ["aa"], ["Edge 'a' → 'a' leads from a node to itself; drop it."]),
        (
            "ab",
            [("a",), 7],
            [
                "Edge 0 is ('a',); write it as a (parent, child) pair.",
                "Edge 1 is 7; write it as a (parent, child) pair.",
            ],
        ),
        (
            [1, 1, 2],
            [(1, 3), (2, 2), (1, 2), (1, 2)],
            [
                "Node 1 is given 2 times; give each node a name of its own.",
                "Edge 1 → 3 names an unknown node 3; add that node or drop the edge.",
                "Edge 2 → 2 leads from a node to itself; drop it.",
                "Edge 1 → 2 is given 2 times; keep one of them.",
            ],
        ),
    ],
)
def test_malformed_digraphs_are_refused_with_all_faults_at_once(nodes, edges, faults):
    with pytest.raises(TopologyError) as caught:
        Digraph(nodes, edges)
    assert list(map(str, caught.value.faults)) == faults


def test_questions_about_unknown_nodes_are_refused_with_a_guess():
    digraph = Digraph(["shoulder", "elbow"])
    with pytest.raises(TopologyError, match="no node 'elbwo'; did you mean 'elbow'"):
        digraph.parents("elbwo")
    with pytest.raises(TopologyError, match="no node 3; give one of its nodes"):
        digraph.descendants(3)


def test_impossible_aggregations_are_refused():
    digraph = Digraph("abc", ["ab"])
    with pytest.raises(TopologyError, match="No nodes were given"):
        aggregate_digraph(digraph, [], "S")
    with pytest.raises(TopologyError, match="The name 'c' belongs to a node"):
        aggregate_digraph(digraph, "ab", "c")
