"""Subgraphs and partitions: Jain 2012-I section 3, checked by brute force."""

from itertools import chain, combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from skodyn.errors import TopologyError
from skodyn.topology import (
    Digraph,
    Subgraph,
    Tree,
    induced_subgraph,
    is_induced,
    is_path_induced,
    partition,
    path_induced_subgraph,
)

quick = examples(100)


@st.composite
def digraphs_with_nodes(draw, max_nodes=6):
    n = draw(st.integers(1, max_nodes))
    pairs = [(i, j) for i, j in product(range(n), repeat=2) if i != j]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=9)) if pairs else []
    return Digraph(range(n), edges), draw(st.sets(st.integers(0, n - 1)))


def all_trees(n):
    """Every ordered forest of n nodes, once: the next node hangs from the last or above it."""
    grown = [[]]
    for k in range(n):
        longer = []
        for parents in grown:
            p = k - 1
            while p != -1:
                longer.append([*parents, p])
                p = parents[p]
            longer.append([*parents, -1])
        grown = longer
    return [Tree.from_parents(parents) for parents in grown]


def all_subsets(n):
    return chain.from_iterable(combinations(range(n), size) for size in range(n + 1))


def trees_and_subsets(n):
    return ((tree, nodes) for tree in all_trees(n) for nodes in all_subsets(n))


def packed_digraph(tree):
    """The tree as a digraph of packed indices, so that both forms can be compared."""
    return Digraph(range(tree.n), [(int(p), k) for k, p in enumerate(tree.parent) if p != -1])


def holds_all_paths(graph, nodes):
    """Path-induced by definition: nothing outside lies on a walk from node to node."""
    outside = set(graph) - set(nodes)
    return not any(
        any(nx.has_path(graph, s, x) for s in nodes)
        and any(nx.has_path(graph, x, s) for s in nodes)
        for x in outside
    )


def as_networkx(digraph):
    graph = nx.DiGraph()
    graph.add_nodes_from(digraph.nodes)
    graph.add_edges_from(digraph.edges)
    return graph


@quick
@given(digraphs_with_nodes())
def test_the_induced_subgraph_has_every_edge_between_its_nodes(case):
    digraph, nodes = case
    expected = as_networkx(digraph).subgraph(nodes)
    induced = induced_subgraph(digraph, nodes)
    assert induced == Subgraph(tuple(expected.nodes), tuple(expected.edges))
    assert is_induced(digraph, induced)
    for dropped in induced.edges:
        thinned = Subgraph(induced.nodes, tuple(e for e in induced.edges if e != dropped))
        assert thinned <= induced
        assert not is_induced(digraph, thinned)
        assert not is_path_induced(digraph, thinned)


@quick
@given(digraphs_with_nodes())
def test_the_path_induced_subgraph_is_the_least_one_that_holds_all_paths(case):
    digraph, nodes = case
    graph = as_networkx(digraph)
    closed = [
        set(more)
        for more in all_subsets(len(graph))
        if nodes <= set(more) and holds_all_paths(graph, more)
    ]
    least = min(closed, key=len)
    assert all(least <= other for other in closed)
    found = path_induced_subgraph(digraph, nodes)
    assert set(found.nodes) == least
    assert is_path_induced(digraph, found)
    assert is_induced(digraph, found)


@quick
@given(digraphs_with_nodes())
def test_eq_21_a_subgraph_is_in_its_induced_and_that_in_its_path_induced_subgraph(case):
    digraph, nodes = case
    bare = Subgraph(tuple(nodes), ())
    induced, path_induced = induced_subgraph(digraph, nodes), path_induced_subgraph(digraph, nodes)
    assert bare <= induced <= path_induced


@quick
@given(digraphs_with_nodes())
def test_corollary_3_1_path_induced_subgraphs_hold_whole_cycles_and_all_multiple_paths(case):
    digraph, nodes = case
    graph = as_networkx(digraph)
    found = path_induced_subgraph(digraph, nodes)
    for cycle in nx.simple_cycles(graph):
        edges = set(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        assert edges <= set(found.edges) or not edges & set(found.edges)
    for a, b in combinations(found.nodes, 2):
        for path in chain(
            nx.all_simple_edge_paths(graph, a, b), nx.all_simple_edge_paths(graph, b, a)
        ):
            assert set(path) <= set(found.edges)


def test_a_node_on_a_cycle_brings_the_cycle_along():
    digraph = Digraph("abcd", ["ab", "bc", "ca", "cd"])
    assert path_induced_subgraph(digraph, "a").nodes == ("a", "b", "c")
    assert path_induced_subgraph(digraph, "d").nodes == ("d",)


def test_relatedness_is_preserved_exactly_by_path_induced_subgraphs_of_trees():
    for tree, nodes in trees_and_subsets(5):
        found = path_induced_subgraph(tree, nodes)
        inside = Digraph(found.nodes, found.edges)
        for i, j in combinations(found.nodes, 2):
            assert tree.is_ancestor(i, j) == (j in inside.descendants(i))


def test_trees_and_their_digraphs_have_the_same_subgraphs():
    for tree, nodes in trees_and_subsets(6):
        digraph = packed_digraph(tree)
        assert induced_subgraph(tree, nodes) == induced_subgraph(digraph, nodes)
        assert path_induced_subgraph(tree, nodes) == path_induced_subgraph(digraph, nodes)


def test_lemma_1_a_path_induced_set_partitions_a_tree_into_path_induced_parts():
    for tree, nodes in trees_and_subsets(6):
        graph = as_networkx(packed_digraph(tree))
        if not holds_all_paths(graph, nodes):
            with pytest.raises(TopologyError, match="not path-induced"):
                partition(tree, nodes)
            continue
        parts = partition(tree, nodes)
        below = set().union(*(nx.descendants(graph, k) for k in nodes)) - set(nodes)
        assert parts.own.tolist() == list(nodes)
        assert parts.child.tolist() == sorted(below)
        assert parts.parent.tolist() == sorted(set(range(tree.n)) - below - set(nodes))
        for part in (parts.child, parts.own, parts.parent):
            assert part.dtype == np.int64
            assert not part.flags.writeable
            assert holds_all_paths(graph, part.tolist())


@quick
@given(digraphs_with_nodes())
def test_lemma_1_holds_for_digraphs_with_cycles_too(case):
    digraph, nodes = case
    graph = as_networkx(digraph)
    own = set(path_induced_subgraph(digraph, nodes).nodes)
    if own != nodes:
        with pytest.raises(TopologyError, match="not path-induced"):
            partition(digraph, nodes)
    child = set().union(*(nx.descendants(graph, node) for node in own)) - own
    parts = partition(digraph, own)
    assert (set(parts.own), set(parts.child)) == (own, child)
    assert set(parts.parent) == set(digraph.nodes) - own - child
    for part, subgraph in zip((parts.child, parts.own, parts.parent), parts.subgraphs, strict=True):
        assert subgraph == induced_subgraph(digraph, part)
        assert is_path_induced(digraph, subgraph)
        assert holds_all_paths(graph, part)


@quick
@given(digraphs_with_nodes())
def test_connecting_edges_of_a_partition_are_those_in_none_of_its_parts(case):
    digraph, nodes = case
    parts = partition(digraph, path_induced_subgraph(digraph, nodes).nodes)
    inside = [edge for part in parts.subgraphs for edge in part.edges]
    assert sorted((*inside, *parts.connecting_edges)) == sorted(digraph.edges)
    kinds = {node: kind for kind in ("child", "own", "parent") for node in getattr(parts, kind)}
    allowed = {("own", "child"), ("parent", "own"), ("parent", "child")}
    assert {(kinds[a], kinds[b]) for a, b in parts.connecting_edges} <= allowed


def test_in_a_digraph_a_descendant_may_have_a_parent_elsewhere_so_eq_22_is_for_trees():
    digraph = Digraph("abc", ["ac", "bc"])
    assert partition(digraph, "a").connecting_edges == (("a", "c"), ("b", "c"))


def test_partitions_of_a_tree_and_of_its_digraph_are_the_same():
    for tree, nodes in trees_and_subsets(5):
        own = path_induced_subgraph(tree, nodes).nodes
        here, there = partition(tree, own), partition(packed_digraph(tree), own)
        for kind in ("child", "own", "parent"):
            assert getattr(here, kind).tolist() == list(getattr(there, kind))
        assert here.subgraphs == there.subgraphs
        assert sorted(here.connecting_edges) == sorted(there.connecting_edges)


def test_eq_22_edges_lead_only_inside_the_parts_from_parent_to_own_and_from_own_to_child():
    for tree, nodes in trees_and_subsets(5):
        own = path_induced_subgraph(tree, nodes).nodes
        parts = partition(tree, own)
        tips_first = np.concatenate([parts.child[::-1], parts.own[::-1], parts.parent[::-1]])
        block = np.repeat([0, 1, 2], [len(parts.child), len(parts.own), len(parts.parent)])
        place = np.argsort(tips_first)
        for k in range(tree.n):
            if tree.parent[k] != -1:
                row, column = place[tree.parent[k]], place[k]
                assert row > column
                assert block[row] - block[column] in (0, 1)


def test_a_partition_names_the_missing_nodes():
    tree = Tree.from_named_parents("abcd", ["world", "a", "b", "c"])
    with pytest.raises(TopologyError) as caught:
        partition(tree, ["a", "d"])
    assert tuple(map(str, caught.value.faults)) == (
        "These nodes are not path-induced, because paths between them pass through 'b' and 'c'; "
        "add the missing nodes.",
    )
    parts = partition(tree, ["b", "c"])
    assert (parts.child.tolist(), parts.own.tolist(), parts.parent.tolist()) == ([3], [1, 2], [0])


def test_subgraphs_are_values_compared_as_sets():
    one, two = Subgraph((1, 2, 3), ((1, 2), (2, 3))), Subgraph((3, 2, 1), ((2, 3), (1, 2)))
    assert one == two
    assert hash(one) == hash(two)
    assert one != Subgraph((1, 2, 3), ())
    assert one != "one"


def test_unknown_nodes_are_refused():
    tree = Tree.from_named_parents(["arm"], ["world"])
    for ask in (induced_subgraph, path_induced_subgraph, partition):
        with pytest.raises(TopologyError, match="no node 'amr'; did you mean 'arm'"):
            ask(tree, ["amr"])
    for ask in (induced_subgraph, path_induced_subgraph, partition):
        with pytest.raises(TopologyError, match="no node 'amr'; did you mean 'arm'"):
            ask(tree.to_digraph(), ["amr"])
