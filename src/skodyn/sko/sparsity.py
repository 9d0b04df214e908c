"""Which blocks of the operators can be other than zero, from the tree alone.

Jain 2011-II section 7 and Jain 2012-I section 7: ℰ has a block for each edge, 𝔸 for each node and
each of its descendants, 𝓜 for each related pair. The inverse fills in: with U = I − HψK,
𝓜⁻¹ = U*D⁻¹U joins any two nodes that some common ancestor reaches, which in one tree are all pairs;
Ω = ψ*H*D⁻¹Hψ likewise. A joint that leaves every freedom (n_k = m_k) stops ψ, because τ̄ = 0 there:
nothing outboard of it is felt inboard. A locked joint has no row and no column of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import StateError
from skodyn.model.model import Model
from skodyn.sko.blocks import Ints
from skodyn.sko.model import SKOModel
from skodyn.topology import Segments, Tree, serial_segments

__all__ = ["OPERATORS", "Sparsity", "sparsity"]

Flags = NDArray[np.bool_]

OPERATORS = {
    "E": "ℰ",
    "A": "𝔸",
    "mass_matrix": "𝓜",
    "mass_matrix_inverse": "𝓜⁻¹",
    "Omega": "Ω",
}
"""The patterns there are, and the papers' symbol for each."""


@dataclass(frozen=True, eq=False, repr=False)
class Sparsity:
    """Patterns by node in packed order: [i, j] is true where block (i, j) need not be zero."""

    tree: Tree
    sizes: Ints  # m_k: what a block of ℰ, 𝔸 and Ω measures
    dofs: Ints  # n_k: what a block of 𝓜 and 𝓜⁻¹ measures

    @cached_property
    def E(self) -> Flags:
        """ℰ: parent and child."""
        n = self.tree.n
        pattern = np.zeros((n, n), dtype=np.bool_)
        above = self.tree.parent
        pattern[above[above >= 0], np.flatnonzero(above >= 0)] = True
        return _fixed(pattern)

    @cached_property
    def A(self) -> Flags:
        """𝔸: a node and its descendants."""
        k = np.arange(self.tree.n)
        return _fixed((k[:, None] <= k) & (k < self.tree.subtree_end[:, None]))

    @cached_property
    def mass_matrix(self) -> Flags:
        """𝓜: related nodes that can move."""
        moves = self.dofs > 0
        return _fixed((self.A | self.A.T) & moves[:, None] & moves)

    @cached_property
    def mass_matrix_inverse(self) -> Flags:
        """𝓜⁻¹ = U*D⁻¹U: nodes that a common ancestor reaches."""
        between = self._crossed - self._free - self._crossed[:, None]  # both ends left out
        reach = self.A & (between == 0)
        np.fill_diagonal(reach, True)
        moves = self.dofs > 0
        return _joined(reach & moves[:, None] & moves)

    @cached_property
    def Omega(self) -> Flags:
        """Ω = ψ*H*D⁻¹Hψ: nodes that can be pushed, and so move each other."""
        reach = self.A & (self._crossed - self._crossed[:, None] == 0)
        np.fill_diagonal(reach, True)
        return _joined(reach & (self.dofs > 0)[:, None])

    @cached_property
    def segments(self) -> Segments:
        """The serial segments of the tree."""
        return serial_segments(self.tree)

    @property
    def _free(self) -> Ints:
        """1 for a node whose joint leaves every freedom."""
        return np.asarray(self.dofs == self.sizes, dtype=np.int64)

    @cached_property
    def _crossed(self) -> Ints:
        """How many such joints lie between a node, its own included, and the ground."""
        count = np.zeros(self.tree.n, dtype=np.int64)
        for k, parent in enumerate(self.tree.parent.tolist()):
            count[k] = self._free[k] + (count[parent] if parent >= 0 else 0)
        return count

    def pattern(self, operator: str) -> Flags:
        """One of OPERATORS by name."""
        if operator not in OPERATORS:
            raise StateError(f"There is no pattern of {operator!r}; give one of {[*OPERATORS]}.")
        return getattr(self, operator)  # type: ignore[no-any-return]

    def by_segment(self, operator: str) -> Flags:
        """The pattern of an operator with a row and a column for each serial segment."""
        of, count = self.segments.segment_of, len(self.segments)
        pattern = np.zeros((count, count), dtype=np.bool_)
        i, j = np.nonzero(self.pattern(operator))
        pattern[of[i], of[j]] = True
        return pattern

    def entries(self, operator: str) -> int:
        """How many numbers of an operator need not be zero."""
        size = self._block_sizes(operator)
        return int(size @ self.pattern(operator).astype(np.int64) @ size)

    def density(self, operator: str) -> float:
        """The part of an operator's numbers that need not be zero."""
        total = int(self._block_sizes(operator).sum()) ** 2
        return self.entries(operator) / total if total else 0.0

    @property
    def fill_in(self) -> int:
        """How many zeros of 𝓜 are lost in 𝓜⁻¹."""
        return self.entries("mass_matrix_inverse") - self.entries("mass_matrix")

    def _block_sizes(self, operator: str) -> Ints:
        return self.dofs if operator.startswith("mass_matrix") else self.sizes

    def __repr__(self) -> str:
        words = ", ".join(f"{OPERATORS[name]} {self.density(name):.0%}" for name in OPERATORS)
        return f"<Sparsity: {self.tree.n} nodes, {len(self.segments)} segments; {words}>"


def _fixed(pattern: Flags) -> Flags:
    pattern.setflags(write=False)
    return pattern


def _joined(reach: Flags) -> Flags:
    """Pairs of columns that share a row."""
    rows = reach.astype(np.float32)
    return _fixed(rows.T @ rows > 0)


def sparsity(model: SKOModel | Model) -> Sparsity:
    """The patterns of a model's operators, at any state of it."""
    if isinstance(model, SKOModel):
        return Sparsity(model.tree, model.sizes, model.dofs)
    dofs = np.array([joint.nv for joint in model.joints], dtype=np.int64)
    rotors = np.array([joint.armature > 0.0 for joint in model.joints], dtype=np.int64)
    return Sparsity(model.tree, 6 + rotors * dofs, dofs)
