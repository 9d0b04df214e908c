"""One equation of a paper, and what it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.algebra.block_algebra import multiply, transpose
from skodyn.algebra.comparison import PROBES, largest
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Pickoff
from skodyn.algebra.spaces import Space
from skodyn.algebra.vectors import StackedVector
from skodyn.algebra.workbench import Workbench
from skodyn.forks import cached_property
from skodyn.sko.blocks import Blocks

__all__ = ["Equation", "Given", "always", "chains_only"]

Side = Callable[["Given"], Any]


class Given:
    """The operators of a workbench under their names, with T and B, and what eq. 54 defines."""

    def __init__(self, ops: Workbench, rng: np.random.Generator) -> None:
        self.ops, self._rng = ops, rng

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ops, name)

    @cached_property
    def a(self) -> StackedVector:
        """Accelerations of the size of those at hand; the equations hold for any."""
        return self._vectors(self.ops.node_space, largest(self.ops.a))

    @cached_property
    def b(self) -> StackedVector:
        """Forces of the size of those at hand."""
        return self._vectors(self.ops.node_space, largest(self.ops.b))

    @cached_property
    def T(self) -> StackedVector:
        """Generalised forces, of the size of those at hand."""
        ops = self.ops
        bias = ops.H @ (ops.phi @ (ops.M @ (ops.phi.T @ ops.a) + ops.b))
        return self._vectors(ops.joint_space, largest(bias))

    def _vectors(self, space: Space, size: float) -> StackedVector:
        """Random ones, side by side."""
        columns = (size or 1.0) * self._rng.normal(size=(space.size, PROBES))
        return StackedVector(self.ops.tried(columns), self.ops, space)

    @cached_property
    def B(self) -> Pickoff:
        """Up to three nodes picked off, at points of rigid bodies."""
        ops, count = self.ops, min(3, self.ops.tree.n)
        chosen = self._rng.choice(ops.tree.n, count, replace=False).tolist()
        nodes = [ops.tree.handle(k) for k in chosen]
        if ops.origin.rotation is None:
            return ops.pickoff(nodes)
        return ops.pickoff([(k, self._rng.normal(size=3)) for k in nodes])

    @cached_property
    def mass(self) -> Operator:
        """𝓜 (eq. 3)."""
        return self.H @ self.phi @ self.M @ self.phi.T @ self.H.T  # type: ignore[no-any-return]

    @cached_property
    def Dinv(self) -> Operator:
        return self.ops.D.inverse()

    @cached_property
    def factor(self) -> Operator:
        """I + HφK."""
        return self.Id + self.H @ self.phi @ self.K  # type: ignore[no-any-return]

    @cached_property
    def factor_inverse(self) -> Operator:
        """I − HψK."""
        return self.Id - self.H @ self.psi @ self.K  # type: ignore[no-any-return]

    @cached_property
    def C(self) -> StackedVector:
        """Hφ(Mφ*a + b) (eq. 3)."""
        inner = self.M @ (self.phi.T @ self.a) + self.b
        return self.H @ (self.phi @ inner)  # type: ignore[no-any-return]

    @cached_property
    def thetaddot(self) -> StackedVector:
        """θ̈ by eq. 54, as it is printed."""
        inside = self.T - self.H @ (self.psi @ (self.K @ self.T + self.P @ self.a + self.b))
        forced: StackedVector = self.factor_inverse.T @ (self.Dinv @ inside)
        return forced - self.K.T @ (self.psi.T @ self.a)  # type: ignore[no-any-return]

    @cached_property
    def z(self) -> StackedVector:
        return self.psi @ (self.K @ self.T + self.P @ self.a + self.b)  # type: ignore[no-any-return]

    @cached_property
    def epsilon(self) -> StackedVector:
        return self.T - self.H @ self.z  # type: ignore[no-any-return]

    @cached_property
    def nu(self) -> StackedVector:
        return self.Dinv @ self.epsilon

    @cached_property
    def alpha(self) -> StackedVector:
        """φ*(H*θ̈ + a) (eq. 1), with θ̈ of eq. 54."""
        return self.phi.T @ (self.H.T @ self.thetaddot + self.a)  # type: ignore[no-any-return]

    def diag_of_edges(self) -> Diagonal:
        """diagOf{ℰ_ψ*Υℰ_ψ} (eq. 26): ψ*(℘(k), k)·Υ(℘(k))·ψ(℘(k), k)."""

        def make(bench: Workbench) -> Blocks:
            E = bench.E_psi.blocks
            inner = multiply(bench.Upsilon.blocks, E, bench.tree.parent)
            return multiply(transpose(E), inner)

        ops = self.ops
        name, symbol = "diagOf(E_psi.T @ Upsilon @ E_psi)", r"\mathrm{diagOf}"
        return Diagonal(ops, name, symbol, ops.node_space, ops.node_space, make)


def always(ops: Workbench) -> bool:
    return True


def chains_only(ops: Workbench) -> bool:
    """Has no node two children? Then all related pairs lie on chains, unrelated ones share
    no ancestor."""
    return bool((np.diff(ops.tree.child_start) <= 1).all())


@dataclass(frozen=True)
class Equation:
    """left = right, or left = 0 if there is no right side.

    words: the equation in print, for vectors; operators print themselves. dense: needs matrices
    written out. holds_for: a condition under which it is claimed.
    """

    name: str
    left: Side
    right: Side | None
    words: str = ""
    dense: bool = False
    holds_for: Callable[[Workbench], bool] = always
