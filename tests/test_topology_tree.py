"""Trees: packing, questions, value semantics, and every fault at once."""

import copy
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from skodyn.errors import TopologyError
from skodyn.topology import Digraph, Tree

quick = examples(100)


@st.composite
def parent_lists(draw, max_nodes=12):
    """Forests with their nodes listed in any order."""
    n = draw(st.integers(0, max_nodes))
    above = [draw(st.integers(-1, k - 1)) for k in range(n)]
    place = draw(st.permutations(range(n)))
    parents = [-1] * n
    for k, p in enumerate(above):
        parents[place[k]] = -1 if p == -1 else place[p]
    return parents


trees = parent_lists().map(Tree.from_parents)


def standard_digraph(tree):
    """The packed tree as networkx sees it, the ground (−1) its root."""
    graph = nx.DiGraph()
    graph.add_node(-1)
    graph.add_edges_from((int(p), k) for k, p in enumerate(tree.parent))
    return graph


def arm():
    """world – base – (left – hand, right), listed out of order."""
    return Tree.from_named_parents(
        ["hand", "left", "base", "right"], ["left", "base", "world", "base"]
    )


def test_a_small_tree_is_packed_depth_first_with_siblings_as_given():
    tree = arm()
    assert tree.names == ("base", "left", "hand", "right")
    assert tree.order.tolist() == [2, 1, 0, 3]
    assert tree.parent.tolist() == [-1, 0, 1, 0]
    assert tree.bases.tolist() == [0]
    assert tree.child_start.tolist() == [0, 2, 3, 3, 3]
    assert tree.child_index.tolist() == [1, 3, 2]
    assert tree.level.tolist() == [0, 1, 2, 1]
    assert tree.subtree_end.tolist() == [4, 3, 3, 4]
    assert (tree.n, len(tree), tree.depth) == (4, 4, 3)
    assert tree.leaves.tolist() == [2, 3]
    assert not tree.is_serial_chain
    assert repr(tree) == "Tree(4 nodes, 1 bases, depth 3)"


def test_nodes_are_given_as_index_or_as_name():
    tree = arm()
    assert tree.index_of("hand") == tree.resolve("hand") == tree.resolve(2) == 2
    assert tree.resolve(np.int32(2)) == 2
    assert tree.children("base").tolist() == tree.children(0).tolist() == [1, 3]
    assert tree.ancestors("hand").tolist() == [1, 0]
    assert tree.descendants("left") == range(2, 3)
    assert tree.is_ancestor("base", 2)
    assert tree.path("base", "hand").tolist() == [0, 1, 2]
    assert tree.closest_common_ancestor("hand", "right") == 0
    assert tree.indices(["hand", 0]).tolist() == [2, 0]


def test_an_integer_is_an_index_where_no_names_were_given():
    tree = Tree.from_parents([1, -1])
    assert tree.names == (1, 0)
    assert tree.resolve(1) == 1
    assert tree.index_of(1) == 0


def test_only_the_ground_may_be_common():
    tree = Tree.from_parents([-1, -1, 0])
    assert tree.closest_common_ancestor(0, 2) == -1
    assert not tree.related(1, 2)
    assert tree.related(0, 0)
    assert not tree.is_ancestor(0, 0)


@quick
@given(parent_lists())
def test_packing_puts_parents_first_and_subtrees_in_ranges(parents):
    tree = Tree.from_parents(parents)
    n = len(parents)
    assert sorted(tree.order) == list(range(n))
    assert tree.names == tuple(tree.order)
    graph = standard_digraph(tree)
    for k in range(n):
        p = int(tree.parent[k])
        assert p < k
        assert parents[tree.order[k]] == (-1 if p == -1 else tree.order[p])
        assert set(tree.descendants(k)) == nx.descendants(graph, k)
        assert tree.children(k).tolist() == sorted(graph.successors(k))
        assert tree.level[k] == nx.shortest_path_length(graph, -1, k) - 1
        assert tree.ancestors(k).tolist() == nx.shortest_path(graph, -1, k)[-2:0:-1]
    assert tree.bases.tolist() == sorted(graph.successors(-1))
    assert tree.leaves.tolist() == [k for k in range(n) if graph.out_degree(k) == 0]
    assert tree.depth == nx.dag_longest_path_length(graph)


@quick
@given(parent_lists())
def test_siblings_keep_the_order_in_which_they_were_given(parents):
    tree = Tree.from_parents(parents)
    for siblings in [tree.bases, *(tree.children(k) for k in range(tree.n))]:
        assert np.all(np.diff(tree.order[siblings]) > 0)


@quick
@given(trees)
def test_pairs_of_nodes_agree_with_networkx(tree):
    graph = standard_digraph(tree)
    pairs = [(i, j) for i in range(tree.n) for j in range(tree.n)]
    ancestors = dict(nx.all_pairs_lowest_common_ancestor(graph, pairs))
    for i, j in pairs:
        common = ancestors[i, j] if (i, j) in ancestors else ancestors[j, i]
        assert tree.closest_common_ancestor(i, j) == common
        assert tree.is_ancestor(i, j) == (i in nx.ancestors(graph, j))
        assert tree.related(i, j) == (i == j or tree.is_ancestor(i, j) or tree.is_ancestor(j, i))
        if i == j or tree.is_ancestor(i, j):
            assert tree.path(i, j).tolist() == nx.shortest_path(graph, i, j)
        else:
            with pytest.raises(TopologyError, match="No directed path leads from node"):
                tree.path(i, j)


@quick
@given(trees)
def test_serial_chains_are_the_trees_whose_nodes_are_all_related(tree):
    pairs = [(i, j) for i in range(tree.n) for j in range(tree.n)]
    assert tree.is_serial_chain == (tree.n > 0 and all(tree.related(i, j) for i, j in pairs))
    assert tree.is_serial_chain == tree.to_digraph().is_serial_chain


@quick
@given(trees)
def test_in_canonical_order_the_adjacency_matrix_is_strictly_lower_triangular(tree):
    tips_first = tree.canonical_order()
    digraph = Digraph(
        tips_first.tolist(), [(int(p), k) for k, p in enumerate(tree.parent) if p != -1]
    )
    matrix = digraph.adjacency_matrix()
    np.testing.assert_array_equal(matrix, np.tril(matrix, -1))
    assert matrix.sum() == tree.n - len(tree.bases)
    assert tree.is_canonical_order(tips_first.tolist())
    assert tree.is_canonical_order(range(tree.n)) == (matrix.sum() == 0)  # packed is base first


@quick
@given(trees)
def test_a_tree_becomes_a_digraph_and_comes_back(tree):
    digraph = tree.to_digraph()
    assert digraph.is_forest
    assert tree.to_digraph(ground="ground").is_tree
    assert nx.utils.graphs_equal(
        nx.DiGraph(list(tree.to_digraph("ground").edges)),
        nx.relabel_nodes(
            standard_digraph(tree).edge_subgraph(standard_digraph(tree).edges),
            {-1: "ground", **dict(enumerate(tree.names))},
        ),
    )
    again = Tree.from_digraph(digraph)
    assert again == Tree.from_edges(digraph.nodes, digraph.edges)
    assert again.names == tree.names
    assert again.parent.tolist() == tree.parent.tolist()


@quick
@given(parent_lists())
def test_names_and_positions_give_the_same_tree(parents):
    names = [f"n{k}" for k in range(len(parents))]
    above = ["world" if p == -1 else names[p] for p in parents]
    assert Tree.from_named_parents(names, above) == Tree.from_parents(parents, names)
    renamed = ["sky" if p == -1 else names[p] for p in parents]
    assert Tree.from_named_parents(names, renamed, ground="sky") == Tree(parents, names)


@quick
@given(trees, trees)
def test_trees_are_values(tree, other):
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert twin == tree
        assert hash(twin) == hash(tree)
        assert twin.order.tolist() == tree.order.tolist()
        assert not twin.parent.flags.writeable
    same = (tree.names, tree.parent.tolist()) == (other.names, other.parent.tolist())
    assert (tree == other) == same
    assert tree != "tree"


def test_the_order_in_which_nodes_were_given_is_part_of_the_value():
    one, two = Tree.from_parents([-1, 0], "ab"), Tree.from_parents([1, -1], "ba")
    assert one.names == two.names
    assert one.parent.tolist() == two.parent.tolist()
    assert one != two


def test_a_tree_and_its_arrays_are_frozen():
    tree = arm()
    with pytest.raises(AttributeError):
        tree.parent = tree.level
    fields = ("order", "parent", "bases", "child_start", "child_index", "level", "subtree_end")
    for field in fields:
        array = getattr(tree, field)
        assert array.dtype == np.int64
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        tree.children(0)[0] = 7


def test_the_empty_tree_has_nothing_in_it():
    tree = Tree.from_parents([])
    assert (tree.n, tree.depth, tree.names) == (0, 0, ())
    assert tree.child_start.tolist() == [0]
    assert tree.leaves.tolist() == tree.canonical_order().tolist() == []
    assert tree == Tree.from_edges([], []) == pickle.loads(pickle.dumps(tree))
    with pytest.raises(TopologyError, match="out of range; it has no nodes"):
        tree.children(0)


TWO_PARENTS = "a tree allows one, so keep one of these edges and treat the others as cut-edges."
OPEN = "attach one of them to the ground or to a node outside the cycle."
OWN = "give each node a name of its own."


@pytest.mark.parametrize(
    ("build", "faults"),
    [
        (
            lambda: Tree.from_parents([1, 2, 0, 4, 3, -1], "abcdef"),
            [
                f"The nodes a → c → b → a form a cycle; {OPEN}",
                f"The nodes d → e → d form a cycle; {OPEN}",
            ],
        ),
        (
            lambda: Tree.from_parents([1, 0, 0, 2, -1], "abcde"),
            [
                f"The nodes a → b → a form a cycle; {OPEN}",
                "Node 'c' cannot be reached from the ground, because it hangs from the cycle "
                "through 'a'; open that cycle.",
                "Node 'd' cannot be reached from the ground, because it hangs from the cycle "
                "through 'a'; open that cycle.",
            ],
        ),
        (
            lambda: Tree.from_parents([-1, 1], "ab"),
            [
                "Node 'b' is its own parent, b → b; attach it to the ground or to another node.",
            ],
        ),
        (
            lambda: Tree.from_parents([-1, 7, -2, 0.5, None]),
            [
                "Node 1 has the parent 7; give a position from 0 to 4, or −1 for the ground.",
                "Node 2 has the parent -2; give a position from 0 to 4, or −1 for the ground.",
                "Node 3 has the parent 0.5; give a position from 0 to 4, or −1 for the ground.",
                "Node 4 has the parent None; give a position from 0 to 4, or −1 for the ground.",
            ],
        ),
        (
            lambda: Tree.from_parents([-1, 0], ["a"]),
            ["There are 1 names but 2 parents; give one parent for each name."],
        ),
        (
            lambda: Tree.from_named_parents(["a"], []),
            ["There are 1 names but 0 parents; give one parent for each name."],
        ),
        (
            lambda: Tree.from_named_parents(["base", "arm"], ["world", "bsae"]),
            ["Node 'arm' has an unknown parent 'bsae'; did you mean 'base'?"],
        ),
        (
            lambda: Tree.from_named_parents(["base", "arm"], ["wrld", "xyz"]),
            [
                "Node 'base' has an unknown parent 'wrld'; did you mean 'world'?",
                "Node 'arm' has an unknown parent 'xyz'; add that node or attach to 'world'.",
            ],
        ),
        (
            lambda: Tree.from_named_parents(
                ["a", "a", "", "world", "b", "c", "d"], ["world", "a", "a", "a", "c", "b", "oops"]
            ),
            [
                "The node at position 2 has an empty name (''); give it one.",
                f"The name 'a' is given to 2 nodes, at positions 0 and 1; {OWN}",
                "A node is named 'world' like the ground; rename one of the two.",
                "Node 'd' has an unknown parent 'oops'; add that node or attach to 'world'.",
                f"The nodes b → c → b form a cycle; {OPEN}",
            ],
        ),
        (
            lambda: Tree.from_edges("abcd", ["ac", "bc", "dd"]),
            [
                "Edge 'd' → 'd' leads from a node to itself; drop it.",
                f"Node 'c' has 2 parents, 'a' and 'b'; {TWO_PARENTS}",
            ],
        ),
        (
            lambda: Tree.from_edges("abc", ["ab", "bc", "cb"]),
            [
                f"Node 'b' has 2 parents, 'a' and 'c'; {TWO_PARENTS}",
                f"The nodes b → c → b form a cycle; {OPEN}",
            ],
        ),
        (
            lambda: Tree.from_edges(["a", "a", " "], ["ab"]),
            [
                "The node at position 2 has an empty name (' '); give it one.",
                f"Node 'a' is given 2 times; {OWN}",
                "Edge 'a' → 'b' names an unknown node 'b'; add that node or drop the edge.",
            ],
        ),
        (
            lambda: Tree.from_digraph(Digraph("abcde", ["ab", "bc", "ca", "de", "cd"])),
            [
                f"The nodes a → b → c → a form a cycle; {OPEN}",
                "Node 'd' cannot be reached from the ground, because it hangs from the cycle "
                "through 'a'; open that cycle.",
                "Node 'e' cannot be reached from the ground, because it hangs from the cycle "
                "through 'a'; open that cycle.",
            ],
        ),
    ],
)
def test_malformed_trees_are_refused_with_all_faults_at_once(build, faults):
    with pytest.raises(TopologyError) as caught:
        build()
    assert list(map(str, caught.value.faults)) == faults


@quick
@given(
    st.integers(1, 9).flatmap(lambda n: st.lists(st.integers(-1, n - 1), min_size=n, max_size=n))
)
def test_every_cycle_and_every_node_that_hangs_from_one_is_named(parents):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(parents)))
    graph.add_edges_from((p, k) for k, p in enumerate(parents) if p != -1)
    cycles = list(nx.simple_cycles(graph))
    if not cycles:
        assert Tree.from_parents(parents).n == len(parents)
        return
    lost = set().union(*({*c} | nx.descendants(graph, c[0]) for c in cycles))
    hanging = lost - set().union(*cycles)
    with pytest.raises(TopologyError) as caught:
        Tree.from_parents(parents)
    faults = tuple(map(str, caught.value.faults))
    assert len(faults) == len(cycles) + len(hanging)
    for cycle in cycles:
        turned = cycle[cycle.index(min(cycle)) :] + cycle[: cycle.index(min(cycle))]
        in_full = " → ".join(map(str, [*turned, turned[0]]))
        assert sum(f" {in_full} form" in f or f" {in_full};" in f for f in faults) == 1
    for node in hanging:
        assert sum(f.startswith(f"Node {node} cannot be reached") for f in faults) == 1


@pytest.mark.parametrize(
    ("ask", "fault"),
    [
        (lambda t: t.index_of("lefft"), "This tree has no node 'lefft'; did you mean 'left'?"),
        (lambda t: t.index_of("xyz"), "This tree has no node 'xyz'; give one of its names."),
        (
            lambda t: t.children(4),
            "The node index 4 is out of range; give one from 0 to 3, or a name.",
        ),
        (
            lambda t: t.ancestors(-1),
            "The node index -1 is the ground, which is not a node; give one from 0 to 3, "
            "or a name.",
        ),
        (
            lambda t: t.path("hand", "base"),
            "No directed path leads from node 'hand' to node 'base'; swap the two.",
        ),
        (
            lambda t: t.path("hand", "right"),
            "No directed path leads from node 'hand' to node 'right'; give an ancestor first.",
        ),
    ],
)
def test_wrong_questions_are_refused_with_a_remedy(ask, fault):
    with pytest.raises(TopologyError) as caught:
        ask(arm())
    assert tuple(map(str, caught.value.faults)) == (fault,)


def test_several_unknown_nodes_are_named_at_once():
    with pytest.raises(TopologyError) as caught:
        arm().indices(["lft", "hand", 9])
    assert len(caught.value.faults) == 2
