"""Subgraphs, induced and path-induced (Jain 2012-I section 3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import TopologyError
from skodyn.topology.digraph import Digraph
from skodyn.topology.forest import GROUND
from skodyn.topology.kinds import check_graph
from skodyn.topology.tree import Tree
from skodyn.wording import listed, listed_nodes

__all__ = [
    "Subgraph",
    "induced_subgraph",
    "is_induced",
    "is_path_induced",
    "members",
    "outboard",
    "path_induced_subgraph",
    "toward_ground",
    "tree_subgraph",
]

N = TypeVar("N", bound=Hashable)
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Subgraph(Generic[N]):
    """Some nodes and some edges of a graph: labels of a Digraph, packed indices of a Tree.

    Equal when nodes and edges are the same sets; `a <= b` says that b contains a.
    """

    nodes: tuple[N, ...]
    edges: tuple[tuple[N, N], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subgraph) and self <= other and other <= self

    def __le__(self, other: Subgraph[Any]) -> bool:
        return set(self.nodes) <= set(other.nodes) and set(self.edges) <= set(other.edges)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.edges)))


@overload
def induced_subgraph(graph: Tree, nodes: Iterable[Hashable]) -> Subgraph[int]: ...
@overload
def induced_subgraph(graph: Digraph, nodes: Iterable[Hashable]) -> Subgraph[Hashable]: ...
def induced_subgraph(graph: Tree | Digraph, nodes: Iterable[Hashable]) -> Subgraph[Any]:
    """𝔖_I: the nodes with every edge of the graph that joins two of them."""
    check_graph(graph)
    if isinstance(graph, Tree):
        return tree_subgraph(graph, members(graph, nodes))
    return _digraph_subgraph(
        graph, {graph.nodes[graph.index_of(node)] for node in listed_nodes(nodes)}
    )


@overload
def path_induced_subgraph(graph: Tree, nodes: Iterable[Hashable]) -> Subgraph[int]: ...
@overload
def path_induced_subgraph(graph: Digraph, nodes: Iterable[Hashable]) -> Subgraph[Hashable]: ...
def path_induced_subgraph(graph: Tree | Digraph, nodes: Iterable[Hashable]) -> Subgraph[Any]:
    """𝔖_P: the least subgraph that holds the nodes and all directed paths between them.

    Its nodes are those both reachable from the set and reaching the set. That is closed at
    once: what lies on a path between two such nodes is again reachable from the set and reaches
    it. Paths may go round a cycle, so a node on a cycle brings the whole cycle along, as
    Corollary 3.1 asks; with simple paths only, the question would be NP-hard.
    """
    check_graph(graph)
    if isinstance(graph, Tree):
        own = members(graph, nodes)
        return tree_subgraph(graph, outboard(graph, own) & toward_ground(graph, own))
    nodes = listed_nodes(nodes)
    return _digraph_subgraph(graph, graph.between(nodes, nodes))


def is_induced(graph: Tree | Digraph, subgraph: Subgraph[Any]) -> bool:
    """Whether the subgraph has exactly the graph's edges between its nodes."""
    return subgraph == induced_subgraph(graph, _nodes_of(graph, subgraph))


def is_path_induced(graph: Tree | Digraph, subgraph: Subgraph[Any]) -> bool:
    """Whether the subgraph has all nodes and edges of all directed paths between its nodes."""
    return subgraph == path_induced_subgraph(graph, _nodes_of(graph, subgraph))


def _nodes_of(graph: Tree | Digraph, subgraph: Subgraph[Any]) -> list[Hashable]:
    """Those of a subgraph, as functions of the graph take them."""
    if not isinstance(subgraph, Subgraph):
        raise TopologyError(
            f"subgraph is {type(subgraph).__name__}",
            "give a Subgraph, for example of induced_subgraph.",
        )
    if not isinstance(graph, Tree):
        return list(subgraph.nodes)
    strange = [k for k in subgraph.nodes if k not in range(graph.n)]
    if strange:
        raise TopologyError(
            f"The subgraph has {listed(strange)}, no packed index of this tree",
            "give a Subgraph that was made of it.",
        )
    return [graph.handle(int(k)) for k in subgraph.nodes]


# --- sets of tree nodes as flags: preorder makes each subtree a range, each question a sum -------


def members(tree: Tree, nodes: Iterable[Hashable]) -> Flags:
    """The nodes as flags; unknown ones are refused, all at once."""
    flags = np.zeros(tree.n, dtype=np.bool_)
    flags[tree.indices(nodes)] = True
    return flags


def outboard(tree: Tree, own: Flags) -> Flags:
    """The nodes of the set and all their descendants."""
    steps = np.zeros(tree.n + 1, dtype=np.int64)
    steps[:-1] += own
    np.subtract.at(steps, tree.subtree_end[own], 1)
    return np.cumsum(steps[:-1]) > 0


def toward_ground(tree: Tree, own: Flags) -> Flags:
    """The nodes of the set and all their ancestors."""
    before = np.concatenate(([0], np.cumsum(own)))
    return before[tree.subtree_end] > before[:-1]


def tree_subgraph(tree: Tree, own: Flags) -> Subgraph[int]:
    """The induced subgraph of the flagged nodes."""
    nodes = np.flatnonzero(own)
    above = tree.parent[nodes]
    inner = (above != GROUND) & own[above]
    edges = zip(above[inner].tolist(), nodes[inner].tolist(), strict=True)
    return Subgraph(tuple(nodes.tolist()), tuple(edges))


def _digraph_subgraph(graph: Digraph, own: Iterable[Hashable]) -> Subgraph[Hashable]:
    own = frozenset(own)
    nodes = tuple(node for node in graph.nodes if node in own)
    return Subgraph(nodes, tuple(edge for edge in graph.edges if own.issuperset(edge)))
