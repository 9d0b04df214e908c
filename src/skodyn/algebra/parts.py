"""Operators of the parts of a model, each by itself, and what joins them.

Cut by serial segments, ℰ and 𝔸 have the blocks of Jain 2011-II eqs. 61 to 63 (the same as Jain
2012-I eqs. 43 to 45); by a path-induced set of nodes, those of Jain 2012-I eqs. 22 to 27. In both

    ℰ[j]      the SKO operator of part j alone,
    ℰ[j, k]   the connector, with a block for each edge from a node of part k into part j,
    𝔸[j]      (I − ℰ[j])⁻¹,
    𝔸[j, k]   𝔸[j] Σ ℰ[j, i] 𝔸[i, k] over the parts i next to j; in a tree of segments one of them.

Each is an operator on the vectors of its parts and runs over their nodes alone. Eq. 62 has the
weight in the upper right corner of ℰ[j, k], because tips are numbered first there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from skodyn.algebra.block_algebra import identity_blocks
from skodyn.algebra.composite import summed
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Edges, Placed, Propagator
from skodyn.algebra.spaces import Space
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.forks import cached_property
from skodyn.sko.blocks import Blocks, Ints
from skodyn.sko.partition import submodel
from skodyn.topology import Tree, partition, serial_segments
from skodyn.wording import listed

__all__ = ["PartBlocks", "Parts", "partition_of", "segments_of"]

Make = Callable[[Workbench], Blocks]


def segments_of(bench: Workbench) -> Parts:
    """The serial segments, each under the name of its first node, base first."""
    segments = serial_segments(bench.tree)
    nodes = [np.arange(segments.start[s], segments.end[s]) for s in range(len(segments))]
    return Parts(bench, segments.tree.names, nodes)


def partition_of(bench: Workbench, nodes: Any) -> Parts:
    """The parts "child", "own" and "parent" of a path-induced set; empty ones are left out."""
    found = partition(bench.tree, nodes)
    parts = {"child": found.child, "own": found.own, "parent": found.parent}
    kept = {name: part for name, part in parts.items() if len(part)}
    return Parts(bench, tuple(kept), list(kept.values()))


class PartBlocks:
    """One operator by parts: `E[j, k]` is the block of two of them, `E[j]` that on the diagonal."""

    def __init__(self, parts: Parts, block: Callable[[int, int], Operator], joints: bool) -> None:
        self.parts, self._block, self._joints = parts, block, joints

    def __getitem__(self, key: Any) -> Operator:
        place = self.parts.place
        pair = key if isinstance(key, tuple) and key not in self.parts.names else (key, key)
        if len(pair) != 2:
            raise StateError(f"{key!r} names no block", "give one part, or row and column.")
        return self._block(place(pair[0]), place(pair[1]))

    def assembled(self) -> Operator:
        """The whole operator, put together from its blocks."""
        choose = self.parts.joints if self._joints else self.parts.nodes
        count = range(len(self.parts))
        terms = [choose(j).T @ self._block(j, k) @ choose(k) for j in count for k in count]
        return reduce(summed, terms)


class Parts:
    """The parts of a model, by name, as operators: `E_phi`, `phi`, `H`, `M` and `mass_matrix`."""

    def __init__(self, bench: Workbench, names: Sequence[Hashable], nodes: list[Ints]) -> None:
        self.bench, self.names, self._nodes = bench, tuple(names), nodes
        self._trees = [submodel(bench.model, own).tree for own in nodes]
        self._part_of = np.full(bench.tree.n, -1)
        self._within = np.full(bench.tree.n, -1)
        for j, own in enumerate(nodes):
            self._part_of[own], self._within[own] = j, np.arange(len(own))
        self._kept: dict[tuple[str, int, int], Operator] = {}

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<{len(self)} parts, {listed(self.names)}, of {self.bench.origin.title}>"

    def bodies(self, part: Hashable) -> tuple[Hashable, ...]:
        """The nodes of a part, by name, in the order of its vectors."""
        return self._trees[self.place(part)].names

    def place(self, part: Any) -> int:
        """The number of a part that is given by name."""
        if part in self.names:
            return self.names.index(part)
        raise StateError(f"There is no part {part!r}", f"give one of {listed(self.names)}.")

    # ---- the operators --------------------------------------------------------------------------

    @property
    def E_phi(self) -> PartBlocks:
        """ℰ: eqs. 61 and 62; Jain 2012-I eqs. 22, 43 and 44."""
        return PartBlocks(self, self._E, joints=False)

    @property
    def phi(self) -> PartBlocks:
        """𝔸: eq. 63; Jain 2012-I eqs. 23, 24 and 45."""
        return PartBlocks(self, self._phi, joints=False)

    @property
    def H(self) -> PartBlocks:
        """H (Jain 2012-I eq. 25)."""
        return PartBlocks(self, self._H, joints=True)

    @property
    def M(self) -> PartBlocks:
        """M (Jain 2012-I eq. 25)."""
        return PartBlocks(self, self._M, joints=False)

    @property
    def mass_matrix(self) -> PartBlocks:
        """𝓜 of the whole by parts; that of part j alone is H[j]𝔸[j]M[j]𝔸[j]*H[j]*."""
        return PartBlocks(self, self._mass, joints=True)

    @cached_property
    def X(self) -> Operator:
        """Jain 2012-I eq. 27, of an outer part `own` and the rest: H_𝔖𝔸_𝔖M_𝔖𝔸_𝔖*E_𝔖*𝔸_𝒫*H_𝒫*."""
        return self._outer @ self._seen

    @cached_property
    def Y(self) -> Operator:
        """Jain 2012-I eq. 27: H_𝒫𝔸_𝒫E_𝔖𝔸_𝔖M_𝔖𝔸_𝔖*E_𝔖*𝔸_𝒫*H_𝒫*."""
        p, s = self.place("parent"), self.place("own")
        inward = self._H(p, p) @ self._phi(p, p) @ self._E(p, s) @ self._phi(s, s)
        return inward @ self._M(s, s) @ self._seen

    @property
    def _outer(self) -> Operator:
        s = self.place("own")
        return self._H(s, s) @ self._phi(s, s) @ self._M(s, s)

    @property
    def _seen(self) -> Operator:
        """𝔸_𝔖*E_𝔖*𝔸_𝒫*H_𝒫*."""
        if self.names != ("own", "parent"):
            raise StateError(
                "X and Y of eqs. 26 and 27 are for an outer part and an inner one",
                f"these are {listed(self.names)}.",
            )
        s, p = 0, 1
        return (self._H(p, p) @ self._phi(p, p) @ self._E(p, s) @ self._phi(s, s)).T

    def nodes(self, j: int) -> Operator:
        """What picks the part of the nodes of part number j out of a stacked vector."""
        rows, cols = self._space(j), self.bench.node_space
        return self._pick(j, rows, cols)

    def joints(self, j: int) -> Operator:
        """What picks the part of its joints out of a vector of freedoms."""
        rows, cols = self._joint_space(j), self.bench.joint_space
        return self._pick(j, rows, cols)

    # ---- blocks by number -----------------------------------------------------------------------

    def _E(self, j: int, k: int) -> Operator:
        return self._once("E_phi", j, k, self._edges_inside if j == k else self._connector)

    def _phi(self, j: int, k: int) -> Operator:
        return self._once("phi", j, k, self._paths)

    def _H(self, j: int, k: int) -> Operator:
        spaces = self._joint_space(j), self._space(k)
        return self._diagonal("H", "H", j, k, spaces, lambda b: b.model.H)

    def _M(self, j: int, k: int) -> Operator:
        spaces = self._space(j), self._space(k)
        return self._diagonal("M", r"\mathbf{M}", j, k, spaces, lambda b: b.model.M)

    def _mass(self, j: int, k: int) -> Operator:
        """Σ H[j]𝔸[j, i]M[i]𝔸[k, i]*H[k]* over the parts i that both reach."""
        terms = [
            self._H(j, j) @ self._phi(j, i) @ self._M(i, i) @ self._phi(k, i).T @ self._H(k, k).T
            for i in range(len(self))
            if not _is_zero(self._phi(j, i)) and not _is_zero(self._phi(k, i))
        ]
        none = self._zero("mass_matrix", r"\mathcal{M}", self._joint_space(j), self._joint_space(k))
        return reduce(summed, terms) if terms else none

    def _edges_inside(self, j: int, _: int) -> Operator:
        own, tree, space = self._nodes[j], self._trees[j], self._space(j)

        def make(bench: Workbench) -> Blocks:
            weights, sizes = bench.E_phi.blocks, bench.node_space.sizes
            return Blocks.of(
                np.zeros((0, sizes[k])) if tree.parent[i] < 0 else weights[k]
                for i, k in enumerate(own.tolist())
            )

        name, symbol = self._words("E_phi", r"\mathcal{E}_\phi", j, j)
        return Edges(self.bench, name, symbol, space, space, make)

    def _connector(self, j: int, k: int) -> Operator:
        """ℬ_𝔖 or E_𝔖 of eq. 22, ℰ_{j,k} of eq. 62."""
        above = self.bench.tree.parent[self._nodes[k]]
        joined = (above >= 0) & (self._part_of[above] == j)
        children = self._nodes[k][joined]
        places = self._within[above[joined]], self._within[children]
        words = self._words("E_phi", r"\mathcal{E}_\phi", j, k)
        make = lambda b: Blocks.of(b.E_phi.blocks[i] for i in children.tolist())  # noqa: E731
        return Placed(self.bench, words, (self._space(j), self._space(k)), places, make)

    def _paths(self, j: int, k: int) -> Operator:
        if j == k:
            edges = self._E(j, j)
            assert isinstance(edges, Edges)
            return Propagator(*self._words("phi", r"\phi", j, j), edges)
        terms = [
            self._phi(j, j) @ self._E(j, i) @ self._phi(i, k)
            for i in range(len(self))
            if i != j and not _is_zero(self._E(j, i)) and not _is_zero(self._phi(i, k))
        ]
        none = self._zero("phi", r"\phi", self._space(j), self._space(k))
        return reduce(summed, terms) if terms else none

    # ---- inside ---------------------------------------------------------------------------------

    def _once(self, name: str, j: int, k: int, make: Callable[[int, int], Operator]) -> Operator:
        if (name, j, k) not in self._kept:
            self._kept[name, j, k] = make(j, k)
        return self._kept[name, j, k]

    def _diagonal(
        self, name: str, symbol: str, j: int, k: int, spaces: tuple[Space, Space],
        of: Make,
    ) -> Operator:  # fmt: skip
        if j != k:
            return self._zero(name, symbol, *spaces)

        def make(bench: Workbench) -> Blocks:
            blocks = of(bench)
            return Blocks.of(blocks[i] for i in self._nodes[j].tolist())

        def build(j: int, k: int) -> Operator:
            leaf = Diagonal(self.bench, *self._words(name, symbol, j, k), *spaces, make)
            return leaf.symmetrical() if name == "M" else leaf

        return self._once(name, j, k, build)

    def _pick(self, j: int, rows: Space, cols: Space) -> Operator:
        sizes, own = rows.sizes, self._nodes[j]
        words = f"pick[{self.names[j]!r}]", rf"\mathcal{{S}}_{{{_printed(self.names[j])}}}"
        places = np.arange(len(own)), own
        return Placed(self.bench, words, (rows, cols), places, lambda _: identity_blocks(sizes))

    def _zero(self, name: str, symbol: str, rows: Space, cols: Space) -> Operator:
        none = np.zeros(0, dtype=np.int64)
        return Placed(self.bench, ("0", "0"), (rows, cols), (none, none), lambda _: Blocks.of(()))

    def _words(self, name: str, symbol: str, j: int, k: int) -> tuple[str, str]:
        row, column = self.names[j], self.names[k]
        if j == k:
            return f"{name}[{row!r}]", f"{{{symbol}}}_{{{_printed(row)}}}"
        both = f"{_printed(row)},{_printed(column)}"
        return f"{name}[{row!r}, {column!r}]", f"{{{symbol}}}_{{{both}}}"

    def _space(self, j: int) -> Space:
        return self._part_space("part", j, self.bench.node_space)

    def _joint_space(self, j: int) -> Space:
        return self._part_space("part joint", j, self.bench.joint_space)

    def _part_space(self, kind: str, j: int, whole: Space) -> Space:
        own, tree = self._nodes[j], self._trees[j]
        sizes = np.ascontiguousarray(whole.sizes[own])
        symbol = f"{whole.symbol}[{self.names[j]}]"
        return Space(kind, symbol, sizes, _finder(tree), (own.tobytes(),), tree)


def _finder(tree: Tree) -> Callable[[Hashable], int]:
    return tree.resolve


def _is_zero(operator: Operator) -> bool:
    return isinstance(operator, Placed) and not len(operator.places[0])


def _printed(name: Hashable) -> str:
    words = str(name).replace("_", r"\_")
    return rf"\mathrm{{{words}}}"
