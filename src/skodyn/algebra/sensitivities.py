"""Derivatives of the operators along one velocity direction (PyCraft section 5, eqs. 41 to 48).

PyCraft treats rotational hinges of one degree of freedom. Here the direction is any degree of
freedom of any joint: [X] is the limit of (X(q ⊞ ε e) − X(q))/ε with q ⊞ ε e as in
`model.integrate`, ordinary partial derivatives but for spherical and free joints. With H̃_≤, H̃_=,
H̃_< and N of `direction.py`, in world axes,

    [ℰ_φ] = H̃_≤ℰ_φ − ℰ_φH̃_<,   [H] = −HH̃_< + N,   [M] = H̃_≤M + MH̃_≤*

and all else follows from these three by the algebra, own derivation where N enters. For rotational
hinges H̃* = −H̃ and N = 0, and eqs. 41a, 41c, 41d, 42 to 46 and 48 stand as printed, but for

- eq. 41b, φH̃_≥φ − φH̃_<: φ[ℰ_φ]φ is φH̃_=φ̃ + H̃_<φ − φH̃_<. Listing 18 has a third form of it, and
  an M_3 with H̃_= where eq. 41d has H̃_≤, rightly;
- eq. 44f, whose first term is printed H̃_<ℰ_ψ: it must be H̃_≤ℰ_ψ, as in eq. 41a.
"""

from __future__ import annotations

import numpy as np

from skodyn.algebra.direction import Direction
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Pickoff, Placed
from skodyn.algebra.workbench import Workbench
from skodyn.forks import cached_property
from skodyn.sko.blocks import Blocks

__all__ = ["Derivative"]


class Derivative(Direction):
    """`ops.derivative("elbow").D` is the derivative of `ops.D`: each operator under its own name.

    Expressions of the workbench, lazy as all are. For one degree of freedom they read as PyCraft
    prints them, H̃* in the place of −H̃; for several they carry the terms of `bracket` too.
    """

    # ---- basic operators, eqs. 41 and 42 ------------------------------------------------------

    @cached_property
    def E_phi(self) -> Operator:
        """Eq. 41a: H̃_≤ℰ_φ − ℰ_φH̃_<."""
        E_phi = self.bench.E_phi
        return self.outboard @ E_phi - E_phi @ self.beyond

    @cached_property
    def phi(self) -> Operator:
        """Eq. 41b as it must read: φH̃_=φ̃ + H̃_<φ − φH̃_<."""
        phi = self.bench.phi
        return phi @ self.hinge @ self.bench.phi_tilde + self.beyond @ phi - phi @ self.beyond

    @cached_property
    def H(self) -> Operator:
        """Eq. 41c, transposed: −HH̃_< + N. The derivative of H* is its transpose."""
        plain = -self.bench.H @ self.beyond
        return plain + self.bracket if self.several else plain

    @cached_property
    def M(self) -> Operator:
        """Eq. 41d: H̃_≤M + MH̃_≤*."""
        M = self.bench.M
        return self.outboard @ M + M @ self.outboard.T

    @cached_property
    def mass_matrix(self) -> Operator:
        """Eq. 42: Hφ[H̃_=φM + Mφ*H̃_=*]φ*H*, and NφMφ*H* with its transpose."""
        H, phi, M, hinge = self.bench.H, self.bench.phi, self.bench.M, self.hinge
        plain = H @ phi @ (hinge @ phi @ M + M @ phi.T @ hinge.T) @ phi.T @ H.T
        if not self.several:
            return plain
        own = self.bracket @ phi @ M @ phi.T @ H.T
        return plain + own + own.T

    @cached_property
    def mass_matrix_inverse(self) -> Operator:
        """−𝓜⁻¹[𝓜]𝓜⁻¹."""
        b = self.bench
        inverse = (b.H @ b.phi @ b.M @ b.phi.T @ b.H.T).inverse()
        return -inverse @ self.mass_matrix @ inverse

    # ---- articulated quantities, eqs. 43 and 44 -----------------------------------------------

    @cached_property
    def lambda_(self) -> Diagonal:
        """λ of eq. 43: λ − ℰ_ψλℰ_ψ* = H̃_=P + PH̃_=*, less KNPℰ_ψ* and its transpose."""
        P = self.bench.P
        right = self.hinge @ P + P @ self.hinge.T
        right = right - self._handed_inward if self.several else right
        solution = self.bench.E_psi.lyapunov_recursion(right).symmetrical()
        solution.name, solution.symbol = f"{self.name}.lambda_", rf"\lambda_{{{self.place}}}"
        return solution

    @cached_property
    def P(self) -> Operator:
        """λ + H̃_<P + PH̃_<*; PyCraft leaves it unsaid."""
        P = self.bench.P
        return self.lambda_ + self.beyond @ P + P @ self.beyond.T

    @cached_property
    def D(self) -> Operator:
        """Eq. 44a: HλH*, and NPH* with its transpose."""
        H, P = self.bench.H, self.bench.P
        plain = H @ self.lambda_ @ H.T
        return plain + self.bracket @ P @ H.T + H @ P @ self.bracket.T if self.several else plain

    @cached_property
    def D_inverse(self) -> Operator:
        """Eq. 44b: −D⁻¹[D]D⁻¹."""
        inverse = self.bench.D.inverse()
        return -inverse @ self.D @ inverse

    @cached_property
    def G(self) -> Operator:
        """Eq. 44c: τ̄λH*D⁻¹ + H̃_<G, and τ̄PN*D⁻¹ − GNG."""
        b, N = self.bench, self.bracket
        plain = b.tau_bar @ self._gain + self.beyond @ b.G
        return plain - b.G @ N @ b.G if self.several else plain

    @cached_property
    def tau(self) -> Operator:
        """Eq. 44d: τ̄λH*D⁻¹H + H̃_<τ − τH̃_<, and τ̄PN*D⁻¹H + GNτ̄."""
        b, N = self.bench, self.bracket
        plain = b.tau_bar @ self._gain @ b.H + self.beyond @ b.tau - b.tau @ self.beyond
        return plain + b.G @ N @ b.tau_bar if self.several else plain

    @property
    def tau_bar(self) -> Operator:
        """Eq. 44e."""
        return -self.tau

    @cached_property
    def E_psi(self) -> Operator:
        """Eq. 44f as it must read: H̃_≤ℰ_ψ − ℰ_ψH̃_< − ℰ_ψλH*D⁻¹H, less ℰ_ψPN*D⁻¹H + KNτ̄."""
        b, N = self.bench, self.bracket
        plain = self.outboard @ b.E_psi - b.E_psi @ self.beyond - b.E_psi @ self._gain @ b.H
        return plain - b.K @ N @ b.tau_bar if self.several else plain

    @cached_property
    def psi(self) -> Operator:
        """ψ[ℰ_ψ]ψ, because ψ = (I − ℰ_ψ)⁻¹."""
        return self.bench.psi @ self.E_psi @ self.bench.psi

    @cached_property
    def K(self) -> Operator:
        """H̃_≤K + ℰ_ψλH*D⁻¹, and ℰ_ψPN*D⁻¹ − KNG; from eqs. 41a and 44c, as K = ℰ_φG."""
        b, N = self.bench, self.bracket
        plain = self.outboard @ b.K + b.E_psi @ self._gain
        return plain - b.K @ N @ b.G if self.several else plain

    # ---- factors of the mass matrix, eqs. 45, 46 and 48 ---------------------------------------

    @cached_property
    def innovations(self) -> Operator:
        """Of I + HφK, eq. 45: Hφ[H̃_=φ̃P + τ̄λ]H*D⁻¹, and NφK + Hφ[τ̄PN*D⁻¹ − KNG]."""
        b, N, inverse = self.bench, self.bracket, self.bench.D.inverse()
        inner = self.hinge @ b.phi_tilde @ b.P + b.tau_bar @ self.lambda_
        plain = b.H @ b.phi @ inner @ b.H.T @ inverse
        return plain + N @ b.phi @ b.K + b.H @ b.phi @ self._own_gain if self.several else plain

    @cached_property
    def innovations_inverse(self) -> Operator:
        """Of I − HψK, eq. 46: −Hψ[H̃_=φK + τ̄λH*D⁻¹](I − HψK), and the like of eq. 45's."""
        b, N, inverse = self.bench, self.bracket, self.bench.D.inverse()
        factor = b.Id - b.H @ b.psi @ b.K
        inner = self.hinge @ b.phi @ b.K + b.tau_bar @ self.lambda_ @ b.H.T @ inverse
        plain = -b.H @ b.psi @ inner @ factor
        if not self.several:
            return plain
        return plain - (factor @ N @ b.phi @ b.K + b.H @ b.psi @ self._own_gain) @ factor

    @cached_property
    def log_det(self) -> float:
        """Of log det 𝓜, eq. 48: 2 tr{P(i)Υ(i)H̃*(i)}, and 2 tr{N(i)[G(i) − Pℰ_ψ*ΥK(i)]}.

        The same for all joints as `sk.mass_matrix_logdet_gradient` gives.
        """
        i, P, Upsilon = self.node, self.bench.P.blocks, self.bench.Upsilon.blocks
        total = 2.0 * np.trace(P[i] @ Upsilon[i] @ self.hinge.blocks[i])
        if self.several:
            gain, parent = self.bench.G.blocks[i], int(self.bench.tree.parent[i])
            if parent >= 0:
                K, psi = self.bench.K.blocks[i], self.bench.E_psi.blocks[i]
                gain = gain - P[i] @ psi.T @ Upsilon[parent] @ K
            total += 2.0 * np.trace(self.bracket.blocks[i] @ gain)
        return float(total)

    def of(self, expression: Operator) -> Operator:
        """The derivative of any expression, by the rules of sums, products and inverses.

        Of your own operators it is what they were given as `derivative=`.
        """
        from skodyn.algebra.differentiate import derivative_of

        return derivative_of(self, expression)

    def pickoff(self, points: Pickoff) -> Operator:
        """Of 𝔅: Ũ𝔅 − 𝔅Ũ at the points of bodies that the direction turns by Ũ = diag(ũ, ũ)."""

        def make(bench: Workbench) -> Blocks:
            U, blocks = self._in(bench)._turned(self.node), bench.given(points.blocks)
            return Blocks.of(
                U[k] @ B - B @ U[k][:6, :6]
                for k, B in zip(points.nodes.tolist(), blocks, strict=True)
            )

        rows, cols = points.spaces
        places = points.nodes, np.arange(len(points.nodes))
        words = f"{self.name}.pickoff(B)", rf"[\mathfrak{{B}}]_{{{self.place}}}"
        return Placed(self.bench, words, (rows, cols), places, make)

    # ---- inside -------------------------------------------------------------------------------

    @cached_property
    def _gain(self) -> Operator:
        """[λH* + PN*]D⁻¹: what eqs. 44c to 44f share."""
        b, inverse = self.bench, self.bench.D.inverse()
        plain = self.lambda_ @ b.H.T
        return (plain + b.P @ self.bracket.T if self.several else plain) @ inverse

    @cached_property
    def _own_gain(self) -> Operator:
        """τ̄PN*D⁻¹ − KNG: what eqs. 45 and 46 gain by several degrees of freedom."""
        b, N = self.bench, self.bracket
        return b.tau_bar @ b.P @ N.T @ b.D.inverse() - b.K @ N @ b.G

    @cached_property
    def _handed_inward(self) -> Diagonal:
        """KNPℰ_ψ* and its transpose: one block, at the parent of body i."""
        b, space = self.bench, self.bench.node_space
        name, symbol = f"{self.name}.handed_inward", rf"\mathcal{{Q}}_{{{self.place}}}"
        make = lambda bench: self._in(bench)._inward_blocks()  # noqa: E731
        made = Diagonal(b, name, symbol, space, space, make)
        made.made_from = (b.K, b.P, b.E_psi)
        return made.symmetrical()

    def _inward_blocks(self) -> Blocks:
        b, i = self.bench, self.node
        sizes, parent = b.node_space.sizes, int(b.tree.parent[i])
        blocks = Blocks.zeros(sizes, sizes)
        if parent >= 0:
            half = b.K.blocks[i] @ self.bracket.blocks[i] @ b.P.blocks[i] @ b.E_psi.blocks[i].T
            blocks[parent][...] = half + half.T
        return blocks
