"""The partition of a graph by a path-induced set of nodes (Jain 2012-I section 3.1, Lemma 1)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np

from skodyn.errors import TopologyError
from skodyn.topology.digraph import Digraph
from skodyn.topology.forest import GROUND, IntArray
from skodyn.topology.kinds import check_graph
from skodyn.topology.subgraph import Subgraph, induced_subgraph, members, outboard, toward_ground
from skodyn.topology.tree import Tree
from skodyn.wording import listed, listed_nodes

__all__ = ["Partition", "partition"]

Nodes = TypeVar("Nodes")


@dataclass(frozen=True, eq=False)
class Partition(Generic[Nodes]):
    """A graph in three path-induced parts (Jain 2012-I Lemma 1).

    `child` are the further descendants of `own`; `parent` is all the rest, which also counts the
    nodes related to none of `own`. Packed indices, ascending, of a Tree; labels in the order of
    `nodes` of a Digraph.
    """

    child: Nodes
    own: Nodes
    parent: Nodes
    graph: Tree | Digraph

    @property
    def subgraphs(self) -> tuple[Subgraph[Hashable], Subgraph[Hashable], Subgraph[Hashable]]:
        """The induced subgraphs 𝒞, 𝔖 and 𝒫, in this order; each is path-induced."""
        child, own, parent = (self._induced(part) for part in (self.child, self.own, self.parent))
        return child, own, parent

    @property
    def connecting_edges(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """The edges that are in none of the three: from `own` to `child`, `parent` to `own`.

        In a tree there are no others (eq. 22). In a digraph a node of `child` may have a parent in
        `parent` as well, which makes a third kind.
        """
        inside = {edge for part in self.subgraphs for edge in part.edges}
        return tuple(edge for edge in _edges(self.graph) if edge not in inside)

    def _induced(self, part: Any) -> Subgraph[Any]:
        graph = self.graph
        nodes = [graph.handle(int(k)) for k in part] if isinstance(graph, Tree) else part
        return induced_subgraph(graph, nodes)


def _edges(graph: Tree | Digraph) -> list[tuple[Any, Any]]:
    if isinstance(graph, Digraph):
        return list(graph.edges)
    return [(p, k) for k, p in enumerate(graph.parent.tolist()) if p != GROUND]


@overload
def partition(graph: Tree, nodes: Iterable[Hashable]) -> Partition[IntArray]: ...
@overload
def partition(graph: Digraph, nodes: Iterable[Hashable]) -> Partition[tuple[Hashable, ...]]: ...
def partition(graph: Tree | Digraph, nodes: Iterable[Hashable]) -> Partition[Any]:
    """Split a graph by a path-induced set of nodes (Jain 2012-I Lemma 1)."""
    check_graph(graph)
    return _of_tree(graph, nodes) if isinstance(graph, Tree) else _of_digraph(graph, nodes)


def _of_tree(tree: Tree, nodes: Iterable[Hashable]) -> Partition[IntArray]:
    own = members(tree, nodes)
    below = outboard(tree, own)
    _refuse([tree.names[k] for k in np.flatnonzero(below & toward_ground(tree, own) & ~own)])
    child, mine, parent = (np.flatnonzero(part) for part in (below & ~own, own, ~below))
    for part in (child, mine, parent):
        part.setflags(write=False)
    return Partition(child, mine, parent, tree)


def _of_digraph(graph: Digraph, nodes: Iterable[Hashable]) -> Partition[tuple[Hashable, ...]]:
    own = {graph.nodes[graph.index_of(node)] for node in listed_nodes(nodes)}
    missing = graph.between(own, own) - own
    _refuse([node for node in graph.nodes if node in missing])
    below = graph.between(own, graph.nodes) - own
    child = tuple(node for node in graph.nodes if node in below)
    parent = tuple(node for node in graph.nodes if node not in own and node not in below)
    return Partition(child, tuple(node for node in graph.nodes if node in own), parent, graph)


def _refuse(missing: list[Hashable]) -> None:
    if missing:
        raise TopologyError(
            "These nodes are not path-induced, because paths between them pass through "
            f"{listed(missing)}",
            "add the missing nodes.",
        )
