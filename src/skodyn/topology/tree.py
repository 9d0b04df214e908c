"""Rooted forests packed into index arrays: the tree that every sweep runs over."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.errors import TopologyError
from skodyn.faults import Fault
from skodyn.topology.digraph import Digraph
from skodyn.topology.forest import GROUND, IntArray, packed_arrays
from skodyn.topology.numbering import canonical
from skodyn.topology.readers import read_digraph, read_edges, read_names, read_positions
from skodyn.wording import Spelling, listed_nodes, quote

__all__ = ["Tree"]


@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class Tree:
    """A frozen rooted forest in depth-first preorder; the ground (−1) is not a node.

    Base first, so `parent[k] < k`; the subtree of k is `range(k, subtree_end[k])`. Together with
    the ground it is the standard digraph of Jain 2012-I section 2.2. All arrays are read-only
    int64. Methods take a node as name or as packed index. Where names that were given hold an
    integer, integers are names and never indices; `names[k]` is then how node k is given.
    """

    names: tuple[Hashable, ...]
    order: IntArray  # position of packed node k in the list it was given in
    parent: IntArray
    bases: IntArray  # the children of the ground
    child_start: IntArray  # (n + 1,); the children of k are
    child_index: IntArray  # child_index[child_start[k] : child_start[k + 1]]
    level: IntArray  # 0 for bases
    subtree_end: IntArray  # one past the last descendant
    _index: dict[Hashable, int]
    _integers_are_names: bool

    def __init__(self, parents: Iterable[int], names: Iterable[Hashable] | None = None) -> None:
        above, labels, order = read_positions(parents, names)
        given = names is not None and any(isinstance(name, (int, np.integer)) for name in labels)
        object.__setattr__(self, "_integers_are_names", given)
        packed_names = tuple(labels[k] for k in order.tolist())
        object.__setattr__(self, "names", packed_names)
        object.__setattr__(self, "_index", {name: k for k, name in enumerate(packed_names)})
        for field, array in packed_arrays(above, order).items():
            array.setflags(write=False)
            object.__setattr__(self, field, array)

    # --- ways to build one --------------------------------------------------------------------

    @classmethod
    def from_parents(cls, parents: Iterable[int], names: Iterable[Hashable] | None = None) -> Tree:
        """From parent positions in any order, −1 for the ground; names default to positions."""
        return cls(parents, names)

    @classmethod
    def from_named_parents(
        cls,
        names: Iterable[Hashable],
        parent_names: Iterable[Hashable],
        ground: Hashable = "world",
    ) -> Tree:
        """From names in any order and the name of each one's parent, `ground` for a base."""
        return cls(*read_names(names, parent_names, ground))

    @classmethod
    def from_edges(cls, nodes: Iterable[Hashable], edges: Iterable[Iterable[Hashable]]) -> Tree:
        """From (parent, child) pairs that form a forest; its roots become the bases."""
        return cls(*read_edges(nodes, edges))

    @classmethod
    def from_digraph(cls, digraph: Digraph) -> Tree:
        """From a digraph that is a forest; its roots become the bases."""
        return cls(*read_digraph(digraph))

    def derived(self, parents: Iterable[int], names: Iterable[Hashable]) -> Tree:
        """A tree made of nodes of this one, in which integers mean what they mean here."""
        return _rebuilt(list(parents), list(names), self._integers_are_names)

    def to_digraph(self, ground: Hashable | None = None) -> Digraph:
        """The digraph of the names; with a name for the ground, that is its root (section 2.2)."""
        names, above = self.names, self.parent.tolist()
        edges = [(names[p], names[k]) for k, p in enumerate(above) if p != GROUND]
        if ground is None:
            return Digraph(self.names, edges)
        return Digraph((ground, *self.names), [(ground, self.names[k]) for k in self.bases] + edges)

    # --- questions ----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of nodes, the ground not counted."""
        return len(self.names)

    @property
    def leaves(self) -> IntArray:
        """The nodes without children, in packed order."""
        return np.flatnonzero(np.diff(self.child_start) == 0)

    @property
    def depth(self) -> int:
        """The number of nodes on the longest path out from the ground."""
        return int(self.level.max()) + 1 if self.n else 0

    @property
    def is_serial_chain(self) -> bool:
        """One base and at most one child each, so that all pairs of nodes are related."""
        return 0 < self.n == self.depth

    def index_of(self, name: Hashable) -> int:
        """The packed index of a name; an unknown one is refused with a guess."""
        return self._named(name, Spelling(self.names))

    def resolve(self, node: Hashable) -> int:
        """The packed index of a node given as name or as index."""
        return self._located(node, Spelling(self.names))

    def handle(self, k: int) -> Hashable:
        """What `resolve` makes packed index k of."""
        return self.names[k] if self._integers_are_names else k

    def indices(self, nodes: Iterable[Hashable]) -> IntArray:
        """The packed indices of nodes given as names or as indices; all faults at once."""
        found: list[int] = []
        faults: list[Fault] = []
        spelling = Spelling(self.names)
        for node in listed_nodes(nodes):
            try:
                found.append(self._located(node, spelling))
            except TopologyError as error:
                faults += error.faults
        if faults:
            raise TopologyError(faults)
        return np.array(found, dtype=np.int64)

    def _named(self, name: Hashable, spelling: Spelling) -> int:
        index = self._index.get(name) if isinstance(name, Hashable) else None
        if index is None and isinstance(name, (int, np.integer)) and self._integers_are_names:
            raise TopologyError(
                f"This tree has no node {quote(name)}",
                "integers are names of its nodes, not positions, so give one of its names.",
            )
        if index is None:
            remedy = spelling.remedy(name, "give one of its names")
            raise TopologyError(f"This tree has no node {quote(name)}", remedy)
        return index

    def _located(self, node: Hashable, spelling: Spelling) -> int:
        whole = isinstance(node, (int, np.integer)) and not isinstance(node, bool)
        if self._integers_are_names or not whole:
            return self._named(node, spelling)
        index = operator.index(node)  # type: ignore[arg-type]
        if not 0 <= index < self.n:
            what = "the ground, which is not a node" if index == GROUND else "out of range"
            remedy = f"give one from 0 to {self.n - 1}, or a name" if self.n else "it has no nodes"
            raise TopologyError(f"The node index {index} is {what}", f"{remedy}.")
        return index

    def children(self, node: Hashable) -> IntArray:
        """The children of a node, in packed order."""
        k = self.resolve(node)
        return self.child_index[self.child_start[k] : self.child_start[k + 1]]

    def ancestors(self, node: Hashable) -> IntArray:
        """The nodes between this one and the ground, nearest first, itself not included."""
        return np.array(self._climb(self.resolve(node), GROUND)[1:], dtype=np.int64)

    def descendants(self, node: Hashable) -> range:
        """All nodes below this one, itself not included."""
        k = self.resolve(node)
        return range(k + 1, int(self.subtree_end[k]))

    def is_ancestor(self, a: Hashable, node: Hashable) -> bool:
        """Whether a lies strictly between this node and the ground; takes constant time."""
        return self.holds(self.resolve(a), self.resolve(node))

    def related(self, i: Hashable, j: Hashable) -> bool:
        """Whether a directed path joins the two; a node is related to itself.

        The paper defines it for pairs; with equality it says where 𝔸 has a non-zero block.
        """
        i, j = sorted((self.resolve(i), self.resolve(j)))
        return j < int(self.subtree_end[i])

    def closest_common_ancestor(self, i: Hashable, j: Hashable) -> int:
        """The deepest node whose subtree holds both, maybe one of them; −1 if only the ground."""
        return self.meeting(self.resolve(i), self.resolve(j))

    def holds(self, i: int, k: int) -> bool:
        """Whether packed node k lies strictly below packed node i."""
        return i < k < int(self.subtree_end[i])

    def meeting(self, i: int, j: int) -> int:
        """The closest common ancestor of packed nodes."""
        i, j = sorted((i, j))
        while i != GROUND and j >= int(self.subtree_end[i]):
            i = int(self.parent[i])
        return i

    def path(self, i: Hashable, j: Hashable) -> IntArray:
        """The nodes on the directed path from i out to j, both included."""
        a, b = self.resolve(i), self.resolve(j)
        if a != b and not self.holds(a, b):
            remedy = "swap the two" if self.holds(b, a) else "give an ancestor first"
            raise TopologyError(
                f"No directed path leads from node {quote(self.names[a])} to node "
                f"{quote(self.names[b])}",
                f"{remedy}.",
            )
        return np.array([*self._climb(b, a), a][::-1], dtype=np.int64)

    def canonical_order(self) -> IntArray:
        """Packed indices tips first: the papers' numbering, in which ℰ is strictly lower
        triangular, each parent after its children (Jain 2012-I section 2.1)."""
        return np.arange(self.n - 1, -1, -1)

    def is_canonical_order(self, order: Iterable[Hashable]) -> bool:
        """Whether each node comes before its parent in an order that holds every node once."""
        above = [[int(p)] if p != GROUND else [] for p in self.parent]
        return canonical(self.indices(order).tolist(), above, self.names)

    def _climb(self, k: int, stop: int) -> list[int]:
        """k, its parent and so on, up to but not including stop."""
        passed = []
        while k != stop:
            passed.append(k)
            k = int(self.parent[k])
        return passed

    # --- as a value ---------------------------------------------------------------------------

    def _as_given(self) -> tuple[list[int], list[Hashable]]:
        """The arguments that would build this tree again."""
        given = np.argsort(self.order)
        above = self.parent[given]
        parents = np.where(above == GROUND, GROUND, self.order[above]) if self.n else above
        return parents.tolist(), [self.names[k] for k in given.tolist()]

    def __len__(self) -> int:
        return self.n

    def __eq__(self, other: object) -> bool:
        """Equal trees answer every question alike, `order` included."""
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.parent, other.parent)
            and np.array_equal(self.order, other.order)
            and self._integers_are_names == other._integers_are_names
        )

    def __hash__(self) -> int:
        return hash((self.names, self.parent.tobytes(), self.order.tobytes()))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _rebuilt, (*self._as_given(), self._integers_are_names)

    def __repr__(self) -> str:
        return f"Tree({self.n} nodes, {len(self.bases)} bases, depth {self.depth})"


def _rebuilt(parents: list[int], names: list[Hashable], integers_are_names: bool) -> Tree:
    tree = Tree(parents, names)
    object.__setattr__(tree, "_integers_are_names", integers_are_names)
    return tree
