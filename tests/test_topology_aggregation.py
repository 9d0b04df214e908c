"""Aggregation of trees: Jain 2012-I sections 5.2 and 5.3, checked over all small trees."""

from itertools import chain, combinations

import numpy as np
import pytest

from skodyn.errors import TopologyError
from skodyn.topology import (
    Digraph,
    Subgraph,
    Tree,
    aggregate_digraph,
    aggregate_tree,
    aggregation_condition,
    aggregation_subgraph,
    induced_subgraph,
    is_path_induced,
    path_induced_subgraph,
)


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


def some_subsets(n):
    """Every subset of n nodes but the empty one."""
    return chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1))


def trees_and_subsets(n):
    return ((tree, nodes) for tree in all_trees(n) for nodes in some_subsets(n))


def parents_outside(parent, nodes):
    """℘(𝔖) by definition, the ground included."""
    return {parent[k] for k in nodes} - set(nodes)


def robot():
    """world – torso – (left – hand – finger, right – foot), and a box of its own."""
    names = ["torso", "left", "hand", "finger", "right", "foot", "box"]
    above = ["world", "torso", "left", "hand", "torso", "right", "world"]
    return Tree.from_named_parents(names, above)


def test_assumption_1_the_condition_is_one_parent_outside_the_nodes():
    for tree, nodes in trees_and_subsets(6):
        parents = parents_outside(tree.parent.tolist(), nodes)
        condition = aggregation_condition(tree, nodes)
        assert condition.parents == tuple(sorted(parents))
        assert bool(condition) == (len(parents) == 1)
        assert condition.parent == (min(parents) if condition else None)


def test_assumption_1_a_single_parent_is_an_ancestor_of_all_the_nodes():
    for tree, nodes in trees_and_subsets(6):
        parent = aggregation_condition(tree, nodes).parent
        if parent is not None and parent != -1:
            assert all(tree.is_ancestor(parent, k) for k in nodes)


def test_single_nodes_serial_segments_and_subtrees_satisfy_the_condition():
    for tree in all_trees(5):
        for k in range(tree.n):
            assert aggregation_condition(tree, [k])
            assert aggregation_condition(tree, range(k, tree.subtree_end[k]))
            for tip in tree.descendants(k):
                assert aggregation_condition(tree, tree.path(k, tip))


def test_lemma_4_nodes_that_satisfy_the_condition_are_path_induced():
    for tree, nodes in trees_and_subsets(6):
        if aggregation_condition(tree, nodes):
            assert is_path_induced(tree, induced_subgraph(tree, nodes))


def test_lemma_4_has_no_converse():
    tree = robot()
    assert is_path_induced(tree, induced_subgraph(tree, ["hand", "foot"]))
    assert not aggregation_condition(tree, ["hand", "foot"])


def test_lemma_5_the_aggregated_digraph_is_a_tree_exactly_under_the_condition():
    for tree, nodes in trees_and_subsets(6):
        standard = tree.to_digraph(ground="ground")
        coarse = aggregate_digraph(standard, [tree.names[k] for k in nodes], "S")
        if aggregation_condition(tree, nodes):
            assert coarse.is_tree
            assert aggregate_tree(tree, nodes, "S").tree.to_digraph(ground="ground") == coarse
        else:
            assert not coarse.is_tree
            with pytest.raises(TopologyError):
                aggregate_tree(tree, nodes, "S")


def test_assumption_1_needs_the_ground_as_root_outside_the_nodes():
    """Why the ground is never aggregated: with the root in 𝔖, one parent is not enough."""
    line = Digraph("abc", ["ab", "bc"])
    assert {p for node in "ac" for p in line.parents(node)} - {*"ac"} == {"b"}
    assert not aggregate_digraph(line, "ac", "S").is_acyclic
    packed = Tree.from_digraph(line)
    assert aggregation_condition(packed, "ac").parents == (-1, 1)


def test_lemma_6_the_aggregation_subgraph_is_the_least_set_that_satisfies_the_condition():
    for tree in all_trees(7):
        parent = tree.parent.tolist()
        valid = [set(s) for s in some_subsets(tree.n) if len(parents_outside(parent, s)) == 1]
        for nodes in some_subsets(tree.n):
            holders = [s for s in valid if s.issuperset(nodes)]
            least = min(holders, key=len)
            assert all(least <= holder for holder in holders)
            assert set(aggregation_subgraph(tree, nodes).nodes) == least


def test_lemma_6_1_the_aggregation_subgraph_is_path_induced():
    for tree, nodes in trees_and_subsets(6):
        assert is_path_induced(tree, aggregation_subgraph(tree, nodes))


def test_lemma_6_2_each_subgraph_holds_the_one_before():
    for tree, nodes in trees_and_subsets(6):
        bare = Subgraph(nodes, ())
        induced = induced_subgraph(tree, nodes)
        path_induced = path_induced_subgraph(tree, nodes)
        assert bare <= induced <= path_induced <= aggregation_subgraph(tree, nodes)


def test_lemma_6_3_the_root_of_the_smallest_subtree_is_dropped_unless_it_was_asked_for():
    for tree, nodes in trees_and_subsets(6):
        c = nodes[0]
        for k in nodes:
            c = tree.closest_common_ancestor(c, k) if c != -1 else -1
        smallest = {c}.union(*(tree.ancestors(k).tolist() for k in nodes), nodes)
        smallest = {k for k in smallest if k >= c}
        expected = smallest if c in nodes else smallest - {c}
        assert set(aggregation_subgraph(tree, nodes).nodes) == expected


def test_the_aggregation_subgraph_of_nothing_is_empty():
    assert aggregation_subgraph(robot(), []).nodes == ()


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (["left", "hand"], "The nodes have the single parent 'torso'."),
        (["torso", "box"], "The nodes have the single parent the ground."),
        (
            ["hand", "foot"],
            "The nodes have 2 parents, 'left' and 'right'; aggregate the nodes of "
            "aggregation_subgraph instead.",
        ),
        (
            ["box", "hand", "right"],
            "The nodes have 3 parents, the ground, 'torso' and 'left'; aggregate the nodes of "
            "aggregation_subgraph instead.",
        ),
        (
            ["torso", "finger"],
            "Paths between the nodes pass through 'left' and 'hand'; aggregate those too.",
        ),
        ([], "No nodes were given to aggregate; name at least one."),
    ],
)
def test_the_condition_says_why(nodes, reason):
    assert aggregation_condition(robot(), nodes).reason == reason


def test_an_aggregation_says_where_each_node_went():
    fine = robot()
    coarse = aggregate_tree(fine, ["left", "hand", "right"], "limbs")
    assert coarse.tree.names == ("torso", "limbs", "finger", "foot", "box")
    assert coarse.tree.parent.tolist() == [-1, 0, 1, 1, -1]
    assert coarse.node == 1
    assert coarse.node_of.tolist() == [0, 1, 1, 2, 1, 3, 4]
    assert not coarse.node_of.flags.writeable


def test_old_nodes_keep_their_names_and_the_new_one_holds_the_rest():
    for tree, nodes in trees_and_subsets(6):
        if aggregation_condition(tree, nodes):
            coarse = aggregate_tree(tree, nodes, "S")
            assert np.flatnonzero(coarse.node_of == coarse.node).tolist() == list(nodes)
            assert coarse.tree.names[coarse.node] == "S"
            for k in set(range(tree.n)) - set(nodes):
                assert coarse.tree.names[coarse.node_of[k]] == tree.names[k]


def test_aggregating_twice_is_aggregating_the_union():
    tree = Tree.from_named_parents("abcdef", ["world", "a", "b", "b", "c", "a"])
    twice = aggregate_tree(aggregate_tree(tree, "bc", "S").tree, ["S", "d"], "S").tree
    once = aggregate_tree(tree, "bcd", "S").tree
    assert twice.to_digraph("world") == once.to_digraph("world")


def test_the_aggregated_node_may_take_the_name_of_a_member_only():
    assert aggregate_tree(robot(), ["left", "hand"], "left").tree.index_of("left") == 1
    with pytest.raises(TopologyError, match="The name 'box' belongs to a node"):
        aggregate_tree(robot(), ["left", "hand"], "box")
