"""Which blocks of the operators can be other than zero, from the tree alone.

Jain 2011-II section 7 and Jain 2012-I section 7: ℰ has a block for each edge, 𝔸 for each node and
each of its descendants, 𝓜 for each related pair. The inverse fills in: with U = I − HψK,
𝓜⁻¹ = U*D⁻¹U joins any two nodes that some common ancestor reaches, which in one tree are all pairs;
Ω = ψ*H*D⁻¹Hψ likewise. A joint that leaves every freedom (n_k = m_k) stops ψ, because τ̄ = 0 there:
nothing outboard of it is felt inboard. A locked joint has no row and no column of its own.

Mimic joints join what the tree keeps apart. With v = G·v_state and B·v = 0 for what they demand,
𝓜 is Gᵀ𝓜G, and its inverse is that of the tree less 𝓜⁻¹Bᵀ(B𝓜⁻¹Bᵀ)⁻¹B𝓜⁻¹, Ω likewise: whatever one
demand moves is joined with whatever moves it, or moves another that shares a body with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import StateError
from skodyn.forks import cached_property
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
    dofs: Ints  # n_k: what a block of 𝓜 and 𝓜⁻¹ measures, unless its joint mimics another
    mimics: tuple[tuple[int, int], ...] = ()  # nodes whose joint mimics another, and that other

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
        related = (self.A | self.A.T) & moves[:, None] & moves
        return _fixed(self._folded(related) if self.mimics else related)

    @cached_property
    def mass_matrix_inverse(self) -> Flags:
        """𝓜⁻¹ = U*D⁻¹U: nodes that a common ancestor reaches."""
        found = _product(self._reach_of_forces.T, self._reach_of_forces)
        if self.mimics:
            found |= self._joined_by_mimics(found)
            found[self._follows] = found[:, self._follows] = False
        return _fixed(found)

    @cached_property
    def Omega(self) -> Flags:
        """Ω = ψ*H*D⁻¹Hψ: nodes that can be pushed, and so move each other."""
        found = _product(self._reach_of_pushes.T, self._reach_of_pushes)
        if self.mimics:
            found |= self._joined_by_mimics(
                _product(self._reach_of_pushes.T, self._reach_of_forces)
            )
        return _fixed(found)

    @property
    def _reach_of_forces(self) -> Flags:
        """U: [i, j] where a force of joint j is felt at joint i."""
        between = self._crossed - self._free - self._crossed[:, None]  # both ends left out
        reach = self.A & (between == 0)
        np.fill_diagonal(reach, True)
        moves = self.dofs > 0
        return _fixed(reach & moves[:, None] & moves)

    @property
    def _reach_of_pushes(self) -> Flags:
        """Hψ: [i, j] where a push on node j is felt at joint i."""
        reach = self.A & (self._crossed - self._crossed[:, None] == 0)
        np.fill_diagonal(reach, True)
        return _fixed(reach & (self.dofs > 0)[:, None])

    # ---- mimic joints -------------------------------------------------------------------------

    @property
    def _follows(self) -> list[int]:
        return [node for node, _ in self.mimics]

    def _folded(self, related: Flags) -> Flags:
        """GᵀXG of a pattern: what a follower has goes to the one it follows."""
        g = np.eye(self.tree.n, dtype=np.bool_)
        for node, source in self.mimics:
            g[node, node], g[node, source] = False, True
        return _product(g.T, _product(related, g))

    def _joined_by_mimics(self, moved: Flags) -> Flags:
        """Pairs of what demands move; moved[i, j] says that a force of joint j moves i."""
        demand = np.zeros((len(self.mimics), self.tree.n), dtype=np.bool_)  # B
        for row, pair in enumerate(self.mimics):
            demand[row, pair] = True
        inverse = _product(self._reach_of_forces.T, self._reach_of_forces)
        shared = _product(demand, _product(inverse, demand.T))
        for _ in self.mimics:  # (B𝓜⁻¹Bᵀ)⁻¹ is full where demands hang together
            shared = _product(shared, shared)
        by_demand = _product(moved, demand.T)
        return _product(by_demand, _product(shared, by_demand.T))

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
        if not isinstance(operator, str) or operator not in OPERATORS:
            raise StateError(f"There is no pattern of {operator!r}", f"give one of {[*OPERATORS]}.")
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
        if not operator.startswith("mass_matrix"):
            return self.sizes
        sizes = self.dofs.copy()
        sizes[self._follows] = 0
        return sizes

    def __repr__(self) -> str:
        words = ", ".join(f"{OPERATORS[name]} {self.density(name):.0%}" for name in OPERATORS)
        return f"<Sparsity: {self.tree.n} nodes, {len(self.segments)} segments; {words}>"


def _fixed(pattern: Flags) -> Flags:
    pattern.setflags(write=False)
    return pattern


def _product(a: Flags, b: Flags) -> Flags:
    """The pattern of a product, where nothing cancels."""
    return np.asarray(a.astype(np.float32) @ b.astype(np.float32) > 0)


def sparsity(model: SKOModel | Model) -> Sparsity:
    """Which entries of a model's operators are zero, at any state of it.

    Parameters
    ----------
    model : SKOModel or Model
        The system; only its tree and the sizes of its blocks matter.

    Returns
    -------
    patterns : Sparsity
        Patterns of ℰ, 𝔸, 𝓜 and others, by node, by serial segment and by number.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    Examples
    --------
    >>> patterns = sk.sparsity(sk.examples.pendulum(3))
    >>> patterns.pattern("E").astype(int)    # a block for each edge of the tree
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    if isinstance(model, SKOModel):
        return Sparsity(model.tree, model.sizes, model.dofs)
    if not isinstance(model, Model):
        raise StateError(f"model is {type(model).__name__}", "give a Model or an SKOModel.")
    dofs = np.array([joint.nv for joint in model.joints], dtype=np.int64)
    rotors = np.array([joint.armature > 0.0 for joint in model.joints], dtype=np.int64) * dofs
    bent = [
        model.flexible[name].modes if name in model.flexible else 0 for name in model.body_names
    ]
    modes = np.array(bent, dtype=np.int64)  # velocities of the node and degrees of freedom at once
    of = {name: k for k, name in enumerate(model.joint_names)}
    mimics = tuple((of[name], of[mimic.source]) for name, mimic in model.mimics.items())
    return Sparsity(model.tree, 6 + rotors + modes, dofs + modes, mimics)
