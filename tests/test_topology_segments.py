"""Serial segments, and the sizes that recursion or a quadratic step would not survive."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from skodyn.errors import TopologyError
from skodyn.topology import (
    Digraph,
    Tree,
    aggregate_digraph,
    aggregate_tree,
    aggregation_condition,
    aggregation_subgraph,
    partition,
    path_induced_subgraph,
    serial_segments,
)

quick = examples(100)
LARGE = 200_000

forests = st.integers(0, 14).flatmap(
    lambda n: st.tuples(*(st.integers(-1, k - 1) for k in range(n))).map(Tree.from_parents)
)


def test_a_tree_is_cut_where_it_branches():
    names = ["hip", "waist", "left", "lhand", "right", "box"]
    above = ["world", "hip", "waist", "left", "waist", "world"]
    cut = serial_segments(Tree.from_named_parents(names, above))
    assert [list(cut.nodes(s)) for s in range(len(cut))] == [[0, 1], [2, 3], [4], [5]]
    assert cut.segment_of.tolist() == [0, 0, 1, 1, 2, 3]
    assert cut.tree == Tree.from_parents([-1, 0, 0, -1], ["hip", "left", "right", "box"])


@quick
@given(forests)
def test_segments_are_serial_maximal_and_cover_the_tree_once(tree):
    cut = serial_segments(tree)
    assert [k for s in range(len(cut)) for k in cut.nodes(s)] == list(range(tree.n))
    for s in range(len(cut)):
        nodes = list(cut.nodes(s))
        assert all(cut.segment_of[k] == s for k in nodes)
        for above, below in pairwise(nodes):
            assert tree.children(above).tolist() == [below]
        assert len(tree.children(nodes[-1])) != 1
        p = int(tree.parent[nodes[0]])
        assert p == -1 or len(tree.children(p)) > 1
        assert cut.tree.parent[s] == (-1 if p == -1 else cut.segment_of[p])
        assert aggregation_condition(tree, nodes)
    for array in (cut.start, cut.end, cut.segment_of):
        assert array.dtype == np.int64
        assert not array.flags.writeable


@quick
@given(forests)
def test_aggregating_every_segment_leaves_the_tree_of_segments(tree):
    cut = serial_segments(tree)
    coarse = tree
    for s in range(len(cut)):
        first = tree.names[cut.start[s]]
        members = [coarse.index_of(tree.names[k]) for k in cut.nodes(s)]
        coarse = aggregate_tree(coarse, members, first).tree
    assert coarse.to_digraph() == cut.tree.to_digraph()
    assert all(len(coarse.children(s)) != 1 for s in range(coarse.n))


@pytest.mark.large
def test_a_line_of_200_000_nodes_listed_tips_first():
    names = [f"b{k}" for k in range(LARGE)]
    tree = Tree.from_named_parents(names[::-1], [*names[-2::-1], "world"])
    assert tree.names == tuple(names)
    assert tree.is_serial_chain
    assert tree.depth == LARGE
    assert len(tree.ancestors(LARGE - 1)) == LARGE - 1
    assert tree.closest_common_ancestor(5, LARGE - 1) == 5
    assert len(serial_segments(tree)) == 1
    assert len(path_induced_subgraph(tree, [0, LARGE - 1]).nodes) == LARGE
    assert len(aggregation_subgraph(tree, [3, LARGE - 1]).nodes) == LARGE - 3
    assert len(partition(tree, range(10, 20)).child) == LARGE - 20
    assert aggregate_tree(tree, range(1, LARGE), "rest").tree.n == 2

    digraph = tree.to_digraph()
    assert digraph.is_serial_chain
    assert digraph.is_acyclic
    assert len(digraph.descendants("b0")) == LARGE - 1
    assert Tree.from_digraph(digraph).n == LARGE
    assert aggregate_digraph(digraph, names[1:], "rest").nodes == ("b0", "rest")


@pytest.mark.large
def test_a_star_of_200_000_nodes():
    tree = Tree.from_parents([-1] + [0] * (LARGE - 1))
    assert tree.depth == 2
    assert len(tree.children(0)) == len(tree.leaves) == LARGE - 1
    assert len(serial_segments(tree)) == LARGE
    assert path_induced_subgraph(tree, range(1, LARGE)).edges == ()
    assert aggregation_condition(tree, range(1, LARGE)).parent == 0
    assert aggregate_tree(tree, range(1, LARGE), "leaves").tree.n == 2
    assert tree.to_digraph().is_tree


def test_a_ring_of_200_000_nodes_is_named_in_full():
    with pytest.raises(TopologyError) as caught:
        Tree.from_parents([LARGE - 1, *range(LARGE - 1)])
    assert str(caught.value.faults[0]).count("→") == LARGE


@pytest.mark.large
def test_a_line_with_an_edge_back_from_every_node_is_searched_in_linear_time():
    """Each back edge closes a cycle of its own; listing them all would be quadratic."""
    line = [(k, k + 1) for k in range(LARGE - 1)]
    back = [(k, 0) for k in range(1, LARGE)]
    digraph = Digraph(range(LARGE), line + back)
    assert digraph.find_cycle()[0] == 0
    assert len(path_induced_subgraph(digraph, [7]).nodes) == LARGE


def test_many_misspelt_parents_are_all_reported():
    n = 3000
    names = [f"body{k}" for k in range(n)]
    with pytest.raises(TopologyError) as caught:
        Tree.from_named_parents(names, ["world"] + [f"boby{k}" for k in range(n - 1)])
    assert len(caught.value.faults) == n - 1
    assert str(caught.value.faults[0]).endswith("did you mean 'body0'?")
