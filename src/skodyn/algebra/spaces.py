"""The spaces that operators map between, and what a stacked vector of each is made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from skodyn.forks import cached_property
from skodyn.sko.blocks import Floats, Ints, offsets
from skodyn.topology import Tree

__all__ = ["Space"]


@dataclass(frozen=True, eq=False)
class Space:
    """Stacked vectors with one part per label: nodes, joints or picked-off points.

    kind: "node" (N = Σ m_k), "joint" (nv = Σ n_k), "pickoff", or "part" and "part joint" for some
    of the nodes. Two spaces are the same if kind and contents are; that both belong to one
    workbench is checked apart.
    """

    kind: str
    symbol: str  # of its dimension: N, nv
    sizes: Ints
    resolve: Callable[[Hashable], int]  # label -> position
    contents: tuple[object, ...] = ()  # tells pick-offs and parts apart
    tree: Tree | None = None  # of the nodes, or of those that the joints carry; none of pick-offs

    @cached_property
    def starts(self) -> Ints:
        return offsets(self.sizes)

    @cached_property
    def size(self) -> int:
        return int(self.starts[-1])

    def slice_of(self, label: Hashable) -> slice:
        """Where the part of a label lies in a stacked vector."""
        return self.slice_at(self.resolve(label))

    def slice_at(self, k: int) -> slice:
        """Where part number k lies in a stacked vector."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    def columns_at(self, k: int) -> Floats:
        """The columns of the identity that belong to part number k."""
        part = self.slice_at(k)
        columns = np.zeros((self.size, part.stop - part.start))
        columns[part] = np.eye(part.stop - part.start)
        return columns

    @property
    def forest(self) -> Tree:
        """The tree, of a space that has one."""
        assert self.tree is not None
        return self.tree

    def label(self, k: int) -> str:
        """Of part number k, as a sentence has it."""
        return f"point {k}" if self.tree is None else repr(self.tree.names[k])

    def same(self, other: Space) -> bool:
        return self is other or (self.kind == other.kind and self.contents == other.contents)

    def __str__(self) -> str:
        return f"{self.symbol} = {self.size}"
