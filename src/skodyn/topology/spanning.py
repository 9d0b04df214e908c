"""Spanning trees of digraphs: which edges carry a tree, and which are cut and close its cycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from skodyn.errors import TopologyError
from skodyn.faults import Fault
from skodyn.topology.digraph import Digraph, Edge
from skodyn.topology.forest import GROUND
from skodyn.topology.kinds import check_digraph
from skodyn.topology.loops import Group, cycle, groups
from skodyn.topology.tree import Tree
from skodyn.wording import listed, listed_items, listed_nodes, quote

__all__ = ["SpanningTree", "breadth_first", "spanning_tree"]

_UNSEEN = -2


@dataclass(frozen=True)
class SpanningTree:
    """A tree of all nodes of a digraph, and the edges that it leaves over; unpacks to these two."""

    tree: Tree
    cuts: tuple[Edge, ...]  # in the order of the digraph's edges
    turned: tuple[Edge, ...]  # edges of the tree that lead from its child to its parent
    ground: Hashable | None

    def __iter__(self) -> Iterator[Tree | tuple[Edge, ...]]:
        return iter((self.tree, self.cuts))

    @property
    def cycles(self) -> tuple[tuple[int, ...], ...]:
        """Of each cut the nodes on its cycle, packed and ascending, without the closest ancestor.

        Those whose edge to their parent lies on the cycle (see topology/loops.py).
        """
        return tuple(cycle(self.tree.parent, self._place(a), self._place(b)) for a, b in self.cuts)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Cycles that share a node, merged; each group has a single parent."""
        return groups(self.tree.parent, self.cycles)

    def _place(self, node: Hashable) -> int:
        standing = self.ground is not None and node == self.ground
        return GROUND if standing else self.tree.index_of(node)


def spanning_tree(
    graph: Digraph,
    roots: Iterable[Hashable] | None = None,
    cut: Iterable[Iterable[Hashable]] = (),
    *,
    ground: Hashable | None = None,
) -> SpanningTree:
    """A spanning tree and the edges that are left over, each of which closes one cycle.

    Edges may be walked in both directions; those that were walked against theirs are `turned`. The
    tree is as shallow as its roots allow (breadth first, edges in the order given). roots: the
    bases; if left out, one for every connected part: its first node without parents, or its first
    node. cut: edges that shall be left over. ground: the node that stands for the ground; it is no
    node of the tree, and its neighbours are bases.
    """
    check_digraph(graph)
    left_out = _cut_edges(graph, cut)
    ends = [(graph.index_of(a), graph.index_of(b)) for a, b in graph.edges]
    below_ground = () if ground is None else (graph.index_of(ground),)
    first = _roots(graph, ends, roots, below_ground)
    above, through = breadth_first(len(graph.nodes), ends, (*below_ground, *first), left_out)
    _refuse_unreached(graph, above, left_out)
    used = {edge for edge in through if edge >= 0}
    turned = [graph.edges[e] for k, e in enumerate(through) if e >= 0 and ends[e][0] == k]
    cuts = [edge for number, edge in enumerate(graph.edges) if number not in used]
    kept = [k for k in range(len(graph.nodes)) if k not in below_ground]
    place = {k: i for i, k in enumerate(kept)}
    tree = Tree([place.get(above[k], GROUND) for k in kept], [graph.nodes[k] for k in kept])
    return SpanningTree(tree, tuple(cuts), tuple(turned), ground)


def breadth_first(
    n: int,
    ends: Sequence[tuple[int, int]],
    starts: Iterable[int],
    left_out: Collection[int] = (),
) -> tuple[list[int], list[int]]:
    """Of each node its parent and the number of the edge to it; −1 at starts, −2 where none leads.

    Several edges may join the same two nodes. They are walked in both directions, in their order.
    """
    near: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for number, (a, b) in enumerate(ends):
        if number not in left_out:
            near[a].append((b, number))
            near[b].append((a, number))
    above, through = [_UNSEEN] * n, [_UNSEEN] * n
    waiting = deque(starts)
    for start in waiting:
        above[start] = through[start] = GROUND
    while waiting:
        here = waiting.popleft()
        for k, number in near[here]:
            if above[k] == _UNSEEN:
                above[k], through[k] = here, number
                waiting.append(k)
    return above, through


def _cut_edges(graph: Digraph, cut: Iterable[Iterable[Hashable]]) -> set[int]:
    """The numbers of edges to cut, or a sentence for each that is none."""
    numbers = {edge: number for number, edge in enumerate(graph.edges)}
    found, faults = set(), []
    for given in listed_items(cut, "cut", "(parent, child) pairs"):
        edge = tuple(given) if isinstance(given, (list, tuple)) else given
        if edge in numbers:
            found.add(numbers[edge])
            continue
        swapped = tuple(reversed(edge)) if isinstance(edge, tuple) else None
        remedy = f"did you mean {swapped!r}?" if swapped in numbers else "give one of its edges."
        faults.append(Fault(f"This digraph has no edge {edge!r} to cut", remedy))
    if faults:
        raise TopologyError(faults)
    return found


def _roots(
    graph: Digraph,
    ends: list[tuple[int, int]],
    roots: Iterable[Hashable] | None,
    below_ground: tuple[int, ...],
) -> list[int]:
    """The bases that were chosen, or one for each part that the ground is not connected with."""
    if roots is not None:
        chosen = [graph.index_of(node) for node in listed_nodes(roots)]
        return [k for k in dict.fromkeys(chosen) if k not in below_ground]
    found: list[int] = []
    seen = breadth_first(len(graph.nodes), ends, below_ground)[0]
    for part in _parts(graph, ends):
        if all(seen[k] == _UNSEEN for k in part):
            rootless = [k for k in part if not graph.parents(graph.nodes[k])]
            found.append(min(rootless or part))
    return found


def _parts(graph: Digraph, ends: list[tuple[int, int]]) -> list[list[int]]:
    """The connected parts, as positions of nodes, in the order of their first ones."""
    n = len(graph.nodes)
    leader = list(range(n))

    def found(k: int) -> int:
        while leader[k] != k:
            leader[k] = leader[leader[k]]
            k = leader[k]
        return k

    for a, b in ends:
        one, other = found(a), found(b)
        leader[max(one, other)] = min(one, other)
    parts: dict[int, list[int]] = {}
    for k in range(n):
        parts.setdefault(found(k), []).append(k)
    return list(parts.values())


def _refuse_unreached(graph: Digraph, above: list[int], left_out: set[int]) -> None:
    lost = [graph.nodes[k] for k, parent in enumerate(above) if parent == _UNSEEN]
    if not lost:
        return
    edges = [graph.edges[number] for number in sorted(left_out)]
    why = f" without {', '.join(map(quote, edges))}" if edges else ""
    remedy = "cut fewer edges, or make one of them a root" if edges else "make one of them a root"
    raise TopologyError(f"No root leads to {listed(lost)}{why}", f"{remedy}.")
