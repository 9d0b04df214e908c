"""Cycles, groups and spanning trees against networkx and against the definitions, as sets."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skodyn as sk
from exploring import examples
from skodyn import topology
from skodyn.topology import Digraph, cycle, groups, span, spanning_tree
from skodyn.topology.spanning import breadth_first

SEED = st.integers(0, 2**31)


def random_parents(rng, n, branching=0.5):
    return np.array(
        [k - 1 if rng.random() > branching else int(rng.integers(-1, k)) for k in range(n)]
    )


def path(parent, k):
    """k and its ancestors, the ground left out."""
    found = set()
    while k >= 0:
        found.add(int(k))
        k = parent[k]
    return found


# ---- cycles and groups in a tree ----------------------------------------------------------------


@examples(300)
@given(SEED, st.integers(1, 30))
def test_a_cycle_is_the_symmetric_difference_of_two_paths(seed, n):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, n, rng.random())
    a, b = (int(k) for k in rng.integers(-1, n, size=2))
    expected = sorted(path(parent, a) ^ path(parent, b))
    assert cycle(parent, a, b) == cycle(parent, b, a) == tuple(expected)


@examples(300)
@given(SEED, st.integers(1, 30), st.integers(1, 5))
def test_a_span_holds_the_paths_below_the_parents_common_ancestors(seed, n, count):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, n, rng.random())
    bodies = rng.permutation(n)[: min(count, n)].tolist()
    paths = [path(parent, k) for k in bodies]
    above = [path(parent, parent[k]) for k in bodies]
    expected = set.union(*paths) - set.intersection(*above)
    assert span(parent, bodies) == tuple(sorted(expected))


def test_a_span_of_an_ancestor_and_its_descendant_holds_both():
    parent = [-1, 0, 1, 2, 1]
    assert span(parent, [1, 3]) == (1, 2, 3)
    assert span(parent, [3, 4]) == (2, 3, 4)
    assert span(parent, [2]) == (2,)
    assert span(parent, []) == ()


@examples(400)
@given(SEED, st.integers(2, 40), st.integers(1, 8))
def test_groups_are_connected_cycles_with_a_single_parent(seed, n, count):
    rng = np.random.default_rng(seed)
    parent = random_parents(rng, n, rng.random())
    cycles = [cycle(parent, *map(int, rng.integers(-1, n, size=2))) for _ in range(count)]
    cycles.append(span(parent, rng.permutation(n)[:2].tolist()))
    shared = nx.Graph()
    shared.add_nodes_from(i for i, own in enumerate(cycles) if own)
    for i, one in enumerate(cycles):
        shared.add_edges_from((i, j) for j in range(i) if set(one) & set(cycles[j]))
    found = groups(parent, cycles)
    assert {g.cycles for g in found} == {tuple(sorted(c)) for c in nx.connected_components(shared)}
    assert [g.members[0] for g in found] == sorted(g.members[0] for g in found)
    tree = topology.Tree(parent)
    for group in found:
        members = set().union(*(cycles[i] for i in group.cycles))
        assert group.members == tuple(sorted(members))
        assert {int(parent[k]) for k in members} - members == {group.parent}
        packed = [tree.index_of(k) for k in group.members]
        condition = topology.aggregation_condition(tree, [tree.handle(k) for k in packed])
        assert condition


def test_loops_mounted_on_a_member_are_groups_of_their_own():
    """A tower of windows: left, rung and right each, on the rung below."""
    parent, cycles, below = [], [], -1
    for k in range(0, 30, 3):
        parent += [below, k, below]
        cycles.append(cycle(parent, k + 1, k + 2))
        below = k + 1
    found = groups(parent, cycles)
    assert [g.members for g in found] == [(k, k + 1, k + 2) for k in range(0, 30, 3)]
    assert [g.parent for g in found] == [-1, *range(1, 28, 3)]


def test_long_cycles_take_linear_time():
    n = 200_000
    parent = np.arange(-1, n - 1)
    assert len(cycle(parent, n - 1, -1)) == n
    (group,) = groups(parent, [range(k, k + 2) for k in range(n - 1)])
    assert (len(group.members), group.parent) == (n, -1)


# ---- spanning trees -----------------------------------------------------------------------------


def random_digraph(rng, n, edges):
    pairs = {tuple(map(int, rng.integers(0, n, size=2))) for _ in range(edges)}
    pairs = sorted(pair for pair in pairs if pair[0] != pair[1])
    rng.shuffle(pairs)
    return Digraph([f"n{k}" for k in range(n)], [(f"n{a}", f"n{b}") for a, b in pairs])


def undirected(graph):
    """A multigraph, because a → b and b → a are two edges."""
    made = nx.MultiGraph()
    made.add_nodes_from(graph.nodes)
    made.add_edges_from(graph.edges)
    return made


def tree_edges(tree):
    names, parent = tree.names, tree.parent.tolist()
    return [(names[p], names[k]) for k, p in enumerate(parent) if p >= 0]


@examples(400)
@given(SEED, st.integers(1, 25), st.integers(0, 50))
def test_random_graphs(seed, n, edges):
    rng = np.random.default_rng(seed)
    graph = random_digraph(rng, n, edges)
    whole = undirected(graph)
    parts = list(nx.connected_components(whole))
    found = spanning_tree(graph)
    tree, cuts = found
    assert sorted(tree.names) == sorted(graph.nodes)
    assert len(cuts) == len(graph.edges) - n + len(parts)  # the size of a cycle basis
    assert len(tree.bases) == len(parts)
    turned = set(found.turned)
    kept = [(b, a) if (b, a) in turned else (a, b) for a, b in tree_edges(tree)]
    assert sorted([*kept, *cuts]) == sorted(graph.edges)
    for part in parts:
        (base,) = [tree.names[k] for k in tree.bases if tree.names[k] in part]
        assert base in graph.roots or not set(graph.roots) & part
        far = nx.single_source_shortest_path_length(whole, base)
        assert all(tree.level[tree.index_of(node)] == far[node] for node in part)
    check_cycles(found)


def check_cycles(found):
    """With its cut, the nodes of a cycle and what carries them are one closed walk."""
    tree = found.tree
    for (a, b), own in zip(found.cuts, found.cycles, strict=True):
        walk = nx.MultiGraph([(k, int(tree.parent[k])) for k in own])
        ends = [-1 if end == found.ground else tree.index_of(end) for end in (a, b)]
        walk.add_edge(*ends)
        assert all(degree == 2 for _, degree in walk.degree)
        assert nx.is_connected(walk)
    for group in found.groups:
        members = set(group.members)
        assert {int(tree.parent[k]) for k in members} - members == {group.parent}


@examples(200)
@given(SEED, st.integers(2, 20), st.integers(0, 40))
def test_the_ground_is_no_node_of_the_tree(seed, n, edges):
    rng = np.random.default_rng(seed)
    graph = random_digraph(rng, n, edges)
    found = spanning_tree(graph, ground="n0")
    whole = undirected(graph)
    near = set(whole["n0"])
    assert "n0" not in found.tree.names
    assert near <= {found.tree.names[k] for k in found.tree.bases}
    parts = nx.number_connected_components(whole)
    assert len(found.cuts) == len(graph.edges) - n + parts
    check_cycles(found)


@examples(200)
@given(SEED, st.integers(3, 15), st.integers(5, 40))
def test_edges_can_be_chosen_to_be_cut(seed, n, edges):
    rng = np.random.default_rng(seed)
    graph = random_digraph(rng, n, edges)
    wanted = list(spanning_tree(graph).cuts)
    whole = undirected(graph)
    for edge in rng.permutation(len(graph.edges)).tolist()[:3]:
        pair = graph.edges[edge]
        left = whole.copy()
        left.remove_edges_from([*wanted, pair])
        if nx.number_connected_components(left) == nx.number_connected_components(whole):
            wanted.append(pair)
    found = spanning_tree(graph, cut=wanted)
    assert set(wanted) <= set(found.cuts)
    assert len(found.cuts) == len(spanning_tree(graph).cuts)


def ring(n):
    return Digraph(range(n), [*pairwise(range(n)), (n - 1, 0)])


def test_a_ring_is_cut_where_it_is_farthest_from_its_root():
    tree, cuts = spanning_tree(ring(5))
    assert (tree.depth, cuts) == (3, ((2, 3),))
    tree, cuts = spanning_tree(ring(5), cut=[(4, 0)])
    assert (tree.depth, cuts) == (5, ((4, 0),))
    found = spanning_tree(ring(5), roots=[2])
    assert found.turned == ((0, 1), (1, 2))
    assert found.cuts == ((4, 0),)


def test_several_roots_stand_on_the_ground():
    found = spanning_tree(ring(4), roots=[0, 1])
    assert found.cuts == ((0, 1), (2, 3))
    assert [found.tree.names[k] for k in found.tree.bases] == [0, 1]
    assert [group.parent for group in found.groups] == [-1]


def test_parallel_edges_of_the_integer_search():
    above, through = breadth_first(3, [(0, 1), (1, 0), (1, 2), (1, 2)], [0], {2})
    assert (above, through) == ([-1, 0, 1], [-1, 0, 3])
    above, through = breadth_first(2, [], [0])
    assert (above, through) == ([-1, -2], [-1, -2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cut": [(1, 0)]}, "no edge (1, 0) to cut; did you mean (0, 1)?"),
        ({"cut": [(1, 3)]}, "no edge (1, 3) to cut; give one of its edges."),
        ({"cut": [7]}, "no edge 7 to cut"),
        ({"cut": 7}, "cut is 7; give"),
        ({"cut": [(0, 1), (4, 0)]}, "No root leads to 1, 2, 3 and 4 without (0, 1), (4, 0)"),
        ({"roots": []}, "No root leads to 0, 1, 2, 3 and 4; make one of them a root."),
        ({"roots": [9]}, "no node 9"),
        ({"ground": 9}, "no node 9"),
    ],
)
def test_faults(arguments, words):
    with pytest.raises(sk.TopologyError) as refused:
        spanning_tree(ring(5), **arguments)
    assert words in str(refused.value)


def test_a_tree_is_no_digraph():
    with pytest.raises(sk.TopologyError, match=r"tree\.to_digraph"):
        spanning_tree(topology.Tree([-1, 0]))
