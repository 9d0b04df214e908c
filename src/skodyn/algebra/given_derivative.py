"""Derivatives of all operators by a number, from those of the model's blocks.

Nothing is assumed of the model: 𝔸, H and M change as told, and everything else follows. Only P
needs more than the product rule. Derivation: with P⁺ = P − PH*D⁻¹HP,

    [P⁺] = τ̄[P]τ̄* − τ̄P[H]*G* − G[H]Pτ̄*,      P = ℰP⁺ℰ* + M   (Jain 2011-II eq. 33), so

    [P] − ℰ_ψ[P]ℰ_ψ* = [M] + [ℰ]P⁺ℰ* + ℰP⁺[ℰ]* − ℰ(τ̄P[H]*G* + G[H]Pτ̄*)ℰ*,

a Lyapunov equation along ℰ_ψ, which is PyCraft eq. 43 for a model of any kind.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from skodyn.algebra.differentiate import derivative_of, edge_sandwich
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Edges, Pickoff
from skodyn.algebra.own import read_blocks
from skodyn.algebra.spaces import Space
from skodyn.algebra.structure import diagonal_blocks
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.forks import cached_property

__all__ = ["GivenDerivative"]

Kind = TypeVar("Kind", Edges, Diagonal)


class GivenDerivative:
    """`ops.given_derivative(M=…).mass_matrix`: each operator's derivative under its own name."""

    def __init__(self, bench: Workbench, A: Any, H: Any, M: Any, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise StateError(f"The name is {name!r}", "give a word, as it will be printed.")
        self.bench, self.name, self.place = bench, f"given_derivative({name})", name
        node, joint = bench.node_space, bench.joint_space
        self.E_phi: Edges = self._leaf("E_phi", A, node, node, Edges)
        self.H: Diagonal = self._leaf("H", H, joint, node, Diagonal)
        self.M: Diagonal = self._leaf("M", M, node, node, Diagonal)

    def __repr__(self) -> str:
        return f"<{self.name} in {self.bench.origin.title}>"

    def of(self, expression: Operator) -> Operator:
        """The derivative of any expression, by the rules of sums, products and inverses."""
        return derivative_of(self, expression)

    @cached_property
    def phi(self) -> Operator:
        """φ[ℰ_φ]φ."""
        return self.bench.phi @ self.E_phi @ self.bench.phi

    @cached_property
    def mass_matrix(self) -> Operator:
        b = self.bench
        return self.of(b.H @ b.phi @ b.M @ b.phi.T @ b.H.T)

    @cached_property
    def mass_matrix_inverse(self) -> Operator:
        """−𝓜⁻¹[𝓜]𝓜⁻¹."""
        b = self.bench
        inverse = (b.H @ b.phi @ b.M @ b.phi.T @ b.H.T).inverse()
        return -inverse @ self.mass_matrix @ inverse

    @cached_property
    def P(self) -> Diagonal:
        """By the Lyapunov equation of this file."""
        b, dH = self.bench, self.H
        own = b.tau_bar @ b.P @ dH.T @ b.G.T
        moved = edge_sandwich(self.E_phi, b.P_plus, b.E_phi, False)
        handed = edge_sandwich(b.E_phi, own + own.T, b.E_phi, False)
        solution = b.E_psi.lyapunov_recursion(self.M + moved + moved.T - handed)
        solution.name, solution.symbol = f"{self.name}.P", rf"[\mathcal{{P}}]_{{{self.place}}}"
        return solution

    @cached_property
    def D(self) -> Operator:
        b = self.bench
        return self.H @ b.P @ b.H.T + b.H @ self.P @ b.H.T + b.H @ b.P @ self.H.T

    @cached_property
    def D_inverse(self) -> Operator:
        inverse = self.bench.D.inverse()
        return -inverse @ self.D @ inverse

    @cached_property
    def G(self) -> Operator:
        """([P]H* + P[H]* − G[D])D⁻¹."""
        b = self.bench
        return (self.P @ b.H.T + b.P @ self.H.T - b.G @ self.D) @ b.D.inverse()

    @cached_property
    def tau(self) -> Operator:
        return self.G @ self.bench.H + self.bench.G @ self.H

    @property
    def tau_bar(self) -> Operator:
        return -self.tau

    @cached_property
    def E_psi(self) -> Operator:
        return self.E_phi @ self.bench.tau_bar + self.bench.E_phi @ self.tau_bar

    @cached_property
    def psi(self) -> Operator:
        return self.bench.psi @ self.E_psi @ self.bench.psi

    @cached_property
    def K(self) -> Operator:
        return self.E_phi @ self.bench.G + self.bench.E_phi @ self.G

    @cached_property
    def innovations(self) -> Operator:
        """Of I + HφK."""
        b = self.bench
        return self.of(b.H @ b.phi @ b.K)

    @cached_property
    def innovations_inverse(self) -> Operator:
        """Of I − HψK."""
        b = self.bench
        return -self.of(b.H @ b.psi @ b.K)

    @cached_property
    def log_det(self) -> float:
        """Of log det 𝓜: tr{D⁻¹[D]}, from eq. 53."""
        blocks = diagonal_blocks(self.bench.D.inverse() @ self.D)
        return float(sum(np.trace(block) for block in blocks))

    def pickoff(self, points: Pickoff) -> Operator:
        """Refused: how points move was not said."""
        raise StateError(
            f"How {points.text()} changes along {self.name} is not known",
            "write the pick-off as an operator of your own, with derivative=.",
        )

    def _leaf(self, name: str, given: Any, rows: Space, cols: Space, kind: type[Kind]) -> Kind:
        words = f"{self.name}.{name}", rf"[{getattr(self.bench, name).symbol}]_{{{self.place}}}"
        blocks = {} if given is None else given  # none: zero at every node
        read = read_blocks(self.bench, words[0], blocks, rows, cols, on_edges=kind is Edges)
        return kind(self.bench, *words, rows, cols, lambda b: b.given(read))
