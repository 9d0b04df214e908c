"""Serial-chain segments: the stretches of a tree along which nothing branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skodyn.topology.forest import GROUND, IntArray
from skodyn.topology.kinds import check_tree
from skodyn.topology.tree import Tree

__all__ = ["Segments", "serial_segments"]


@dataclass(frozen=True, eq=False)
class Segments:
    """The maximal serial segments of a tree, numbered as packed: base first, depth first.

    Segment s holds the packed nodes `range(start[s], end[s])`; `tree` has one node for each
    segment, under the name of its first node.
    """

    start: IntArray
    end: IntArray
    segment_of: IntArray
    tree: Tree

    def __len__(self) -> int:
        return len(self.start)

    def nodes(self, s: int) -> range:
        """The packed nodes of segment s, base first."""
        return range(int(self.start[s]), int(self.end[s]))


def serial_segments(tree: Tree) -> Segments:
    """Cut a tree where it branches: an only child continues the segment of its parent.

    An only child comes right after its parent in preorder, so each segment is contiguous.
    """
    check_tree(tree)
    n_children = np.append(np.diff(tree.child_start), 0)  # the last entry answers for the ground
    begins = n_children[tree.parent] != 1
    start = np.flatnonzero(begins)
    segment_of = np.cumsum(begins, dtype=np.int64) - 1
    above = tree.parent[start]
    parents = [int(segment_of[p]) if p != GROUND else GROUND for p in above.tolist()]
    end = np.append(start[1:], tree.n)[: len(start)]
    for array in (start, end, segment_of):
        array.setflags(write=False)
    return Segments(start, end, segment_of, tree.derived(parents, [tree.names[k] for k in start]))
