"""The operators that expressions are made of: block-diagonal, along edges, along paths, pick-offs.

A leaf knows how to compute its blocks and does so once, when they are first needed: typing `psi`
does not solve the Riccati equation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from skodyn.algebra.composite import Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.spaces import Space
from skodyn.algebra.sweeps import apply_diagonal, apply_edges, propagate
from skodyn.forks import cached_property
from skodyn.sko.blocks import Blocks, Floats, Ints

if TYPE_CHECKING:
    from skodyn.algebra.workbench import Workbench

__all__ = ["Diagonal", "Edges", "Inverted", "Leaf", "Named", "Pickoff", "Placed", "Propagator"]


class Leaf(Operator):
    """An operator with a name of its own; `made_from` others, if blocks of theirs enter its own.

    make: its blocks from a workbench, which need not be its own but one of the same shape.
    """

    made_from: tuple[Operator, ...] = ()

    def __init__(
        self,
        bench: Workbench,
        name: str,
        symbol: str,
        rows: Space,
        cols: Space,
        make: Callable[[Workbench], Blocks],
    ) -> None:
        self.bench, self.rows, self.cols = bench, rows, cols
        self.name, self.symbol, self._make = name, symbol, make

    @cached_property
    def blocks(self) -> Blocks:
        """One per node, or per edge from a node to its parent; computed when first asked for."""
        return self._make(self.bench)

    def moved(self, bench: Workbench) -> Operator:
        rows, cols = self.spaces
        return type(self)(bench, self.name, self.symbol, rows, cols, self._make)

    @cached_property
    def _transposed(self) -> Operator:
        return Transposed(self)

    @property
    def T(self) -> Operator:
        return self._transposed


class Diagonal(Leaf):
    """Block-diagonal: H, M, P, D, G, …; `symmetric` ones are their own transpose."""

    symmetric = False
    inverted: Inverted | None = None

    def symmetrical(self) -> Diagonal:
        self.symmetric = True
        return self

    @property
    def T(self) -> Operator:
        return self if self.symmetric else self._transposed

    def moved(self, bench: Workbench) -> Operator:
        rows, cols = self.spaces
        moved = Diagonal(bench, self.name, self.symbol, rows, cols, self._make)
        moved.symmetric = self.symmetric
        return moved

    def run(self, x: Floats, transpose: bool) -> Floats:
        return apply_diagonal(self.blocks, x, transpose)


class Inverted(Diagonal):
    """The inverse of a block-diagonal expression, block by block."""

    def __init__(self, inner: Operator, make: Callable[[Workbench], Blocks]) -> None:
        rows, cols = inner.spaces
        super().__init__(inner.bench, "", "", cols, rows, make)
        self.inner = inner
        self.symmetric = isinstance(inner, Diagonal) and inner.symmetric

    def moved(self, bench: Workbench) -> Operator:
        return self.inner.on(bench).inverse()


class Edges(Leaf):
    """ℰ_φ, ℰ_ψ and K: a block from every node to its parent."""

    def run(self, x: Floats, transpose: bool) -> Floats:
        rows = self.spaces[0]
        return apply_edges(rows.forest, self.blocks, x, rows.starts, transpose)


class Propagator(Leaf):
    """φ or ψ: (I − ℰ)⁻¹ for the operator ℰ with the same blocks; strict: φ̃ = φ − I."""

    def __init__(
        self, name: str, symbol: str, edges: Edges, plain: Propagator | None = None
    ) -> None:
        space = edges.spaces[0]
        super().__init__(edges.bench, name, symbol, space, space, lambda _: edges.blocks)
        self.edges, self.strict = edges, plain is not None

    def moved(self, bench: Workbench) -> Operator:
        edges = self.edges.on(bench)
        assert isinstance(edges, Edges)
        return Propagator(self.name, self.symbol, edges, self if self.strict else None)

    def run(self, x: Floats, transpose: bool) -> Floats:
        return propagate(self.spaces[0].forest, self.blocks, x, self.strict, transpose)


class Named(Operator):
    """An expression with a name of its own, such as Ω."""

    def __init__(self, name: str, symbol: str, definition: Operator, symmetric: bool) -> None:
        self.name, self.symbol, self.definition = name, symbol, definition
        self.bench, self.symmetric = definition.bench, symmetric
        self.rows, self.cols = definition.spaces

    @property
    def T(self) -> Operator:
        return self if self.symmetric else Transposed(self)

    def moved(self, bench: Workbench) -> Operator:
        return Named(self.name, self.symbol, self.definition.on(bench), self.symmetric)

    def run(self, x: Floats, transpose: bool) -> Floats:
        return self.definition.run(x, transpose)


class Placed(Leaf):
    """Blocks at some places of a matrix, zero elsewhere: what picks a part out, or joins two."""

    def __init__(
        self,
        bench: Workbench,
        words: tuple[str, str],  # name and symbol
        spaces: tuple[Space, Space],
        places: tuple[Ints, Ints],  # of each block: which part of the rows, which of the columns
        make: Callable[[Workbench], Blocks],
    ) -> None:
        super().__init__(bench, *words, *spaces, make)
        self.places = places
        self._rows, self._cols = (
            _entries(space, at) for space, at in zip(spaces, places, strict=True)
        )

    def moved(self, bench: Workbench) -> Operator:
        return Placed(bench, (self.name, self.symbol), self.spaces, self.places, self._make)

    def run(self, x: Floats, transpose: bool) -> Floats:
        here, there = (self._rows, self._cols) if transpose else (self._cols, self._rows)
        y = np.zeros((self.spaces[1 if transpose else 0].size, x.shape[1]))
        np.add.at(y, there, apply_diagonal(self.blocks, np.ascontiguousarray(x[here]), transpose))
        return y


def _entries(space: Space, at: Ints) -> Ints:
    """Where these parts of a stacked vector lie, one after the other."""
    pieces = [np.arange(space.starts[k], space.starts[k + 1]) for k in at.tolist()]
    return np.concatenate([*pieces, np.zeros(0, dtype=np.int64)])


class Pickoff(Leaf):
    """𝔅: one block of columns per picked-off point, in the rows of its node."""

    def __init__(self, bench: Workbench, cols: Space, nodes: Ints, blocks: Blocks) -> None:
        super().__init__(
            bench, "B", r"\mathfrak{B}", bench.node_space, cols, lambda b: b.given(blocks)
        )
        self.nodes = nodes
        starts = bench.node_space.starts
        self._rows = np.concatenate(
            [np.arange(starts[k], starts[k + 1]) for k in nodes.tolist()] or [nodes]
        )

    def moved(self, bench: Workbench) -> Operator:
        return Pickoff(bench, self.spaces[1], self.nodes, self.blocks)

    def run(self, x: Floats, transpose: bool) -> Floats:
        if transpose:
            return apply_diagonal(self.blocks, np.ascontiguousarray(x[self._rows]), True)
        y = np.zeros((self.bench.node_space.size, x.shape[1]))
        np.add.at(y, self._rows, apply_diagonal(self.blocks, x, False))
        return y
