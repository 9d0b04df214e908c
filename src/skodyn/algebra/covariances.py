"""The covariances of the estimation problem as operators (SOA slides, "Key covariance quantities").

x = φw and T = Hx with cov w = M; 𝔷 is the filter's prediction, ε its innovations, ν = D⁻¹ε. One
line of the slide is misprinted: cov[𝔷] = φKD⁻¹K*φ* must have D, as 𝔷 = φKε and cov[ε] = D.
"""

from __future__ import annotations

from skodyn.algebra.expression import Operator
from skodyn.algebra.workbench import Workbench

__all__ = ["Covariances"]


class Covariances:
    """`ops.covariances.z @ x` runs as recursions; `.z.dense()` writes it out."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    @property
    def x(self) -> Operator:
        """Of the states: φMφ*."""
        b = self.bench
        return b.phi @ b.M @ b.phi.T

    @property
    def T(self) -> Operator:
        """Of the outputs: HφMφ*H*, the mass matrix."""
        b = self.bench
        return b.H @ b.phi @ b.M @ b.phi.T @ b.H.T

    @property
    def z(self) -> Operator:
        """Of the filter's prediction: φKDK*φ*, which is φ̃τPτ*φ̃*."""
        b = self.bench
        return b.phi @ b.K @ b.D @ b.K.T @ b.phi.T

    @property
    def z_error(self) -> Operator:
        """Of x − 𝔷: ψMψ*."""
        b = self.bench
        return b.psi @ b.M @ b.psi.T

    @property
    def epsilon(self) -> Operator:
        """Of the innovations: D."""
        return self.bench.D

    @property
    def nu(self) -> Operator:
        """Of ν: D⁻¹."""
        return self.bench.D.inverse()

    # ---- the estimators: what makes each of the outputs T ----------------------------------------

    @property
    def to_z(self) -> Operator:
        """𝔷 = ψKT, which is φKε."""
        return self.bench.psi @ self.bench.K

    @property
    def to_epsilon(self) -> Operator:
        """ε = (I − HψK)T."""
        b = self.bench
        return b.Id - b.H @ b.psi @ b.K

    @property
    def to_nu(self) -> Operator:
        """ν = D⁻¹ε."""
        return self.nu @ self.to_epsilon

    @property
    def to_z_plus(self) -> Operator:
        """𝔷⁺ = 𝔷 + Gε."""
        return self.to_z + self.bench.G @ self.to_epsilon

    @property
    def to_alpha(self) -> Operator:
        """The co-state α = ψ*H*ν."""
        return self.bench.psi.T @ self.bench.H.T @ self.to_nu

    @property
    def to_f(self) -> Operator:
        """The smoothed estimate f = 𝔷 + Pα."""
        return self.to_z + self.bench.P @ self.to_alpha

    def __repr__(self) -> str:
        return f"<covariances of {self.bench.origin.title}>"
