"""Directed graphs with labelled nodes, as in Jain 2012-I section 2.1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import TopologyError
from skodyn.faults import Fault
from skodyn.topology.numbering import canonical
from skodyn.topology.search import disjoint_cycles, reachable
from skodyn.wording import Spelling, arrows, hashable_names, listed_items, listed_nodes, quote

__all__ = ["Digraph", "sound_edges"]

Edge = tuple[Hashable, Hashable]


@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class Digraph:
    """An immutable digraph: nodes in the order given, edges as (parent, child) pairs.

    Two digraphs are equal when they have the same nodes and the same edges, in whatever order.
    """

    nodes: tuple[Hashable, ...]
    edges: tuple[Edge, ...]
    _index: dict[Hashable, int]
    _parents: list[list[int]]
    _children: list[list[int]]

    def __init__(self, nodes: Iterable[Hashable], edges: Iterable[Iterable[Hashable]] = ()) -> None:
        nodes = tuple(hashable_names(listed_nodes(nodes)))
        pairs, faults = sound_edges(nodes, listed_items(edges, "edges", "(parent, child) pairs"))
        if faults:
            raise TopologyError(faults)
        index = {node: position for position, node in enumerate(nodes)}
        parents: list[list[int]] = [[] for _ in nodes]
        children: list[list[int]] = [[] for _ in nodes]
        for parent, child in pairs:
            parents[index[child]].append(index[parent])
            children[index[parent]].append(index[child])
        for field, value in (
            ("nodes", nodes),
            ("edges", tuple(pairs)),
            ("_index", index),
            ("_parents", parents),
            ("_children", children),
        ):
            object.__setattr__(self, field, value)

    @classmethod
    def from_parents(cls, parents: Mapping[Hashable, object]) -> Digraph:
        """From {child: parent}, or {child: [parents]} with a list, tuple, set or frozenset.

        Every node is a key, so that a misspelt parent is caught; a root maps to None or to an
        empty list. A label that is itself a tuple must be wrapped in a list.
        """
        if not isinstance(parents, Mapping):
            raise TopologyError(
                f"parents is {type(parents).__name__}", "give a dict {child: parent}."
            )
        place = {node: position for position, node in enumerate(parents)}
        edges: list[Edge] = []
        for child, given in parents.items():
            if isinstance(given, (set, frozenset)):  # sets have no order: take that of the keys
                given = sorted(given, key=lambda node: (place.get(node, len(place)), repr(node)))
            elif not isinstance(given, (list, tuple)):
                given = [] if given is None else [given]
            edges += [(parent, child) for parent in given]
        return cls(parents, edges)

    # --- single nodes -----------------------------------------------------------------------

    def index_of(self, node: Hashable) -> int:
        """The position of a node in `nodes`; an unknown one is refused with a guess."""
        position = self._index.get(node) if isinstance(node, Hashable) else None
        if position is None:
            remedy = Spelling(self.nodes).remedy(node, "give one of its nodes")
            raise TopologyError(f"This digraph has no node {quote(node)}", remedy)
        return position

    def parents(self, node: Hashable) -> tuple[Hashable, ...]:
        """℘(node), in the order in which the edges were given."""
        return tuple(self.nodes[k] for k in self._parents[self.index_of(node)])

    def children(self, node: Hashable) -> tuple[Hashable, ...]:
        """The children of a node, in the order in which the edges were given."""
        return tuple(self.nodes[k] for k in self._children[self.index_of(node)])

    def descendants(self, node: Hashable) -> frozenset[Hashable]:
        """All nodes that a directed path from `node` leads to; itself only if on a cycle."""
        return self._labels(reachable(self._children, self._children[self.index_of(node)]))

    def ancestors(self, node: Hashable) -> frozenset[Hashable]:
        """All nodes from which a directed path leads to `node`; itself only if on a cycle."""
        return self._labels(reachable(self._parents, self._parents[self.index_of(node)]))

    def between(self, starts: Iterable[Hashable], ends: Iterable[Hashable]) -> frozenset[Hashable]:
        """All nodes on directed paths from a start to an end, both included when one exists."""
        forward = reachable(self._children, [self.index_of(node) for node in listed_nodes(starts)])
        backward = reachable(self._parents, [self.index_of(node) for node in listed_nodes(ends)])
        return self._labels([f and b for f, b in zip(forward, backward, strict=True)])

    def related(self, i: Hashable, j: Hashable) -> bool:
        """Whether a directed path joins the two; a node is related to itself, as in `Tree`."""
        return i == j or j in self.descendants(i) or i in self.descendants(j)

    def is_multiply_connected(self, a: Hashable, b: Hashable) -> bool:
        """Whether more than one directed path leads from a to b (rounds of a cycle count)."""
        on_paths = self.between([a], [b])
        inner = sum(u in on_paths and v in on_paths for u, v in self.edges)
        return inner > max(0, len(on_paths) - 1)  # exactly one path is one edge per further node

    # --- the whole graph ----------------------------------------------------------------------

    @property
    def roots(self) -> tuple[Hashable, ...]:
        """The nodes without parents: none, one or several."""
        return tuple(self.nodes[k] for k in self._root_positions())

    def find_cycle(self) -> list[Hashable] | None:
        """The nodes of one directed cycle, each once and in order, or None."""
        cycles = disjoint_cycles(self._children)
        return [self.nodes[k] for k in cycles[0]] if cycles else None

    @property
    def is_acyclic(self) -> bool:
        """Whether no directed path leads from a node back to itself."""
        return not disjoint_cycles(self._children)

    @property
    def is_connected(self) -> bool:
        """Whether undirected paths connect all nodes (the empty graph is connected)."""
        both = [p + c for p, c in zip(self._parents, self._children, strict=True)]
        return all(reachable(both, range(min(1, len(both)))))

    @property
    def is_rooted(self) -> bool:
        """One root, ancestor of every other node."""
        roots = self._root_positions()
        return len(roots) == 1 and all(reachable(self._children, roots))

    @property
    def is_polytree(self) -> bool:
        """Connected and acyclic, with at most one directed path between any two nodes.

        So Jain 2012-I section 2.1 defines it. Elsewhere a polytree has no undirected cycle either:
        a → c, a → d, b → c, b → d is one here and none there. Two paths between two nodes are two
        paths from any root above them, so that looking from the roots is enough.
        """
        return self.is_connected and self.is_acyclic and all(map(self._spreads, self.roots))

    def _spreads(self, root: Hashable) -> bool:
        """Does one path alone lead from this root of an acyclic graph to each node below it?"""
        below = reachable(self._children, [self._index[root]])
        edges = sum(len(self._children[k]) for k, seen in enumerate(below) if seen)
        return edges == sum(below) - 1

    @property
    def is_tree(self) -> bool:
        """Rooted with one edge per further node: hence one parent each, acyclic, connected."""
        return self.is_rooted and len(self.edges) == len(self.nodes) - 1

    @property
    def is_forest(self) -> bool:
        """Disjoint trees: at most one parent each, and every node below some root."""
        single = all(len(parents) <= 1 for parents in self._parents)
        return single and all(reachable(self._children, self._root_positions()))

    @property
    def is_serial_chain(self) -> bool:
        """A tree in which each node has at most one child."""
        return self.is_tree and all(len(children) <= 1 for children in self._children)

    def is_canonical_order(self, order: Iterable[Hashable] | None = None) -> bool:
        """Whether each node comes before its parents, as the papers number nodes (section 2.1).

        order: every node once, tips first; the order of `nodes` unless given.
        """
        places = [
            self.index_of(node) for node in listed_nodes(self.nodes if order is None else order)
        ]
        return canonical(places, self._parents, self.nodes)

    def canonical_order(self) -> tuple[Hashable, ...]:
        """The nodes so that each comes before its parents; refused if there is a cycle.

        Among those that may come next, the last of `nodes` does.
        """
        cycle = self.find_cycle()
        if cycle is not None:
            raise TopologyError(
                f"{arrows([*cycle, cycle[0]])} is a cycle, so that its nodes have no canonical "
                "order",
                "take one of its edges out.",
            )
        left = [len(children) for children in self._children]
        ready = [-k for k, count in enumerate(left) if not count]
        heapify(ready)
        order: list[int] = []
        while ready:
            k = -heappop(ready)
            order.append(k)
            for parent in self._parents[k]:
                left[parent] -= 1
                if not left[parent]:
                    heappush(ready, -parent)
        return tuple(self.nodes[k] for k in order)

    def adjacency_matrix(self) -> NDArray[np.int64]:
        """Dense n × n, 1 in row parent, column child.

        The paper leaves the direction open; this one has the pattern of ℰ (Jain 2012-I eq. 9).
        """
        matrix = np.zeros((len(self.nodes), len(self.nodes)), dtype=np.int64)
        for parent, child in self.edges:
            matrix[self._index[parent], self._index[child]] = 1
        return matrix

    def _root_positions(self) -> list[int]:
        return [k for k, parents in enumerate(self._parents) if not parents]

    def _labels(self, flags: list[bool]) -> frozenset[Hashable]:
        return frozenset(node for node, flag in zip(self.nodes, flags, strict=True) if flag)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Digraph):
            return NotImplemented
        same_nodes = self._index.keys() == other._index.keys()
        return same_nodes and frozenset(self.edges) == frozenset(other.edges)

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.edges)))

    def __reduce__(self) -> tuple[type[Digraph], tuple[object, object]]:
        return Digraph, (self.nodes, self.edges)

    def __repr__(self) -> str:
        return f"Digraph({len(self.nodes)} nodes, {len(self.edges)} edges)"


def sound_edges(
    nodes: Iterable[Hashable], edges: Iterable[Iterable[Hashable]]
) -> tuple[list[Edge], list[Fault]]:
    """The edges that can be kept, each once, and every fault found."""
    counts = Counter(nodes)
    faults = [
        Fault(f"Node {quote(node)} is given {count} times", "give each node a name of its own.")
        for node, count in counts.items()
        if count > 1
    ]
    spelling = Spelling(counts)
    sound: dict[Edge, int] = {}
    for position, edge in enumerate(edges):
        try:
            parent, child = edge
            hash((parent, child))
        except (TypeError, ValueError):
            faults.append(
                Fault(f"Edge {position} is {edge!r}", "write it as a (parent, child) pair.")
            )
            continue
        if parent != child and parent in counts and child in counts:
            sound[parent, child] = sound.get((parent, child), 0) + 1
            continue
        arrow = f"{quote(parent)} → {quote(child)}"
        for end in dict.fromkeys((parent, child)):
            if end not in counts:
                remedy = spelling.remedy(end, "add that node or drop the edge")
                faults.append(Fault(f"Edge {arrow} names an unknown node {quote(end)}", remedy))
        if parent == child:
            faults.append(Fault(f"Edge {arrow} leads from a node to itself", "drop it."))
    faults += [
        Fault(f"Edge {quote(parent)} → {quote(child)} is given {count} times", "keep one of them.")
        for (parent, child), count in sound.items()
        if count > 1
    ]
    return list(sound), faults
