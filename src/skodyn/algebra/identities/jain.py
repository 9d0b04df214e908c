"""Jain 2011-II, equation by equation, as operator expressions; 𝔸 there is phi here.

Misprints, each with what must stand there instead:
- (36), last form: M = P − ℰ_𝔸Pℰ_𝔸* drops the τ̄; it must be P − ℰ_𝔸Pℰ_ψ*.
- (37): K = ℰ_ψG would be zero, since τ̄G = 0; it must be ℰ_𝔸G, as the proof of (43) uses it.
- (51), last line of its proof: the last factor has one ⁻¹ too many; the claim itself is right.
- Corollary 6.1, first line of its proof: I − H𝔸K must be I + H𝔸K, as in (52).
- (29): the loop must run from n down to 1 (see sko/lyapunov_backward.py).
(54) is right as printed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.algebra.identities.equation import Equation, Given
from skodyn.algebra.materialise import written_out
from skodyn.sko.blocks import Floats

__all__ = ["JAIN"]


def related_part(o: Given) -> Floats:
    """Corollary 6.1: of I + HφK, what may differ from zero, and identities on the diagonal."""
    ops = o.ops
    kept = np.array(written_out(o.factor))
    node = np.repeat(np.arange(ops.tree.n), ops.joint_space.sizes)
    end = ops.tree.subtree_end[node]
    inside = (node[:, None] < node) & (node < end[:, None])  # the column's node below the row's
    kept[~inside] = 0.0
    return kept + np.eye(len(kept))


def log_determinant(o: Given) -> float:
    """log det 𝓜; NaN if that is not positive."""
    sign, value = np.linalg.slogdet(written_out(o.mass))
    return float(value) if sign > 0 else float("nan")


def log_determinants(o: Given) -> float:
    """Σ log det D(k)."""
    return sum(float(np.linalg.slogdet(block)[1]) for block in o.D.blocks if block.size)


def determinant(o: Given) -> float:
    sign, value = np.linalg.slogdet(written_out(o.factor))
    return float(sign * np.exp(value))


def compliance(o: Given) -> Floats:
    """𝒥𝓜⁻¹𝒥*, through NumPy."""
    jacobian = written_out(o.B.T @ o.phi.T @ o.H.T)
    if not jacobian.size:
        return np.zeros((len(jacobian),) * 2)
    solved: Any = np.linalg.solve(written_out(o.mass), jacobian.T)
    return np.asarray(jacobian @ solved)


def jacobian(o: Given) -> Any:
    return o.B.T @ o.phi.T @ o.H.T


JAIN = (
    Equation(
        "Jain (17)",
        lambda o: o.mass,
        lambda o: (
            o.H @ o.R @ o.H.T + o.H @ o.phi_tilde @ o.R @ o.H.T + o.H @ o.R @ o.phi_tilde.T @ o.H.T
        ),
    ),
    Equation("Jain (18)", lambda o: o.M, lambda o: o.R - o.E_phi @ o.R @ o.E_phi.T),
    Equation(
        "Jain (19)",
        lambda o: o.phi @ o.M @ o.phi.T,
        lambda o: o.R + o.phi_tilde @ o.R + o.R @ o.phi_tilde.T,
    ),
    Equation("Jain (36) first", lambda o: o.M, lambda o: o.P - o.E_psi @ o.P @ o.E_psi.T),
    Equation("Jain (36) corrected", lambda o: o.M, lambda o: o.P - o.E_phi @ o.P @ o.E_psi.T),
    Equation("Jain (37) corrected", lambda o: o.K, lambda o: o.E_phi @ o.G),
    Equation("Jain (37) in print", lambda o: o.E_psi @ o.G, None),
    Equation("Jain (38) a", lambda o: o.H @ o.G, lambda o: o.Id),
    Equation("Jain (38) b", lambda o: o.H @ o.tau, lambda o: o.H),
    Equation("Jain (38) c", lambda o: o.H @ o.tau_bar, None),
    Equation("Jain (38) d", lambda o: o.Id + o.H @ o.phi @ o.K, lambda o: o.H @ o.phi @ o.G),
    Equation("Jain (39)", lambda o: o.H @ o.phi @ o.tau_bar, lambda o: o.H @ o.phi @ o.E_psi),
    Equation(
        "Jain (40) a", lambda o: o.H @ o.phi @ o.tau, lambda o: o.H @ o.phi @ (o.Id - o.E_psi)
    ),
    Equation(
        "Jain (40) b", lambda o: o.H @ o.phi @ o.tau @ o.psi, lambda o: o.H @ o.phi
    ),  # ψ⁻¹ moved over, so that ψ itself is tested
    Equation(
        "Jain (41)",
        lambda o: o.phi @ o.M @ o.psi.T,
        lambda o: o.P + o.phi_tilde @ o.P + o.P @ o.psi_tilde.T,
    ),
    Equation(
        "Jain (42)",
        lambda o: o.psi @ o.M @ o.psi.T,
        lambda o: o.P + o.psi_tilde @ o.P + o.P @ o.psi_tilde.T,
    ),
    Equation("Jain (43)", lambda o: o.psi.inverse() - o.phi.inverse(), lambda o: o.K @ o.H),
    Equation("Jain (44) a", lambda o: o.psi.inverse() @ o.phi, lambda o: o.Id + o.K @ o.H @ o.phi),
    Equation("Jain (44) b", lambda o: o.phi @ o.psi.inverse(), lambda o: o.Id + o.phi @ o.K @ o.H),
    Equation("Jain (44) c", lambda o: o.phi.inverse() @ o.psi, lambda o: o.Id - o.K @ o.H @ o.psi),
    Equation("Jain (44) d", lambda o: o.psi @ o.phi.inverse(), lambda o: o.Id - o.psi @ o.K @ o.H),
    Equation(
        "Jain (45) a",
        lambda o: (o.Id - o.H @ o.psi @ o.K) @ o.H @ o.phi,
        lambda o: o.H @ o.psi,
    ),
    Equation(
        "Jain (45) b",
        lambda o: o.phi @ o.K @ (o.Id - o.H @ o.psi @ o.K),
        lambda o: o.psi @ o.K,
    ),
    Equation(
        "Jain (45) c",
        lambda o: (o.Id + o.H @ o.phi @ o.K) @ o.H @ o.psi,
        lambda o: o.H @ o.phi,
    ),
    Equation(
        "Jain (45) d",
        lambda o: o.psi @ o.K @ (o.Id + o.H @ o.phi @ o.K),
        lambda o: o.phi @ o.K,
    ),
    Equation("Jain (46)", lambda o: o.H @ o.psi @ o.M @ o.psi.T @ o.H.T, lambda o: o.D),
    Equation(
        "Jain (47)",
        lambda o: o.phi @ o.M @ o.phi.T,
        lambda o: (
            o.P + o.phi_tilde @ o.P + o.P @ o.phi_tilde.T + o.phi @ o.K @ o.D @ o.K.T @ o.phi.T
        ),
    ),
    Equation(
        "Jain (48)",
        lambda o: o.phi @ o.M @ o.phi.T @ o.H.T,
        lambda o: (o.Id + o.phi @ o.K @ o.H) @ o.P @ o.phi.T @ o.H.T,
    ),
    Equation(
        "Jain (49)",
        lambda o: o.mass,
        lambda o: (o.Id + o.H @ o.phi @ o.K) @ o.D @ (o.Id + o.H @ o.phi @ o.K).T,
    ),
    Equation(
        "Jain (50) right",
        lambda o: (o.Id + o.H @ o.phi @ o.K) @ (o.Id - o.H @ o.psi @ o.K),
        lambda o: o.Id,
    ),
    Equation(
        "Jain (50) left",
        lambda o: (o.Id - o.H @ o.psi @ o.K) @ (o.Id + o.H @ o.phi @ o.K),
        lambda o: o.Id,
    ),
    Equation(
        "Jain (51)",
        lambda o: o.mass @ (o.factor_inverse.T @ o.Dinv @ o.factor_inverse),
        lambda o: o.Id,
    ),
    Equation(
        "Jain Corollary 6.1",
        lambda o: written_out(o.factor),
        related_part,
        "I + HφK is unit block triangular",
        dense=True,
    ),
    Equation("Jain (52)", determinant, lambda o: 1.0, "det(I + HφK) = 1", dense=True),
    Equation(
        "Jain (53)",
        log_determinant,
        log_determinants,
        "det 𝓜 = Π det D(k)",
        dense=True,
    ),
    Equation(
        "Jain (54) and (51)",
        lambda o: o.factor_inverse.T @ (o.Dinv @ (o.factor_inverse @ (o.T - o.C))),
        lambda o: o.thetaddot,
        "𝓜⁻¹(𝒯 − 𝒞) = [I − HψK]*D⁻¹[𝒯 − Hψ(K𝒯 + Pa + b)] − K*ψ*a",
    ),
    Equation(
        "Jain (54) and (2)",
        lambda o: o.mass @ o.thetaddot + o.C,
        lambda o: o.T,
        "𝓜θ̈ + 𝒞 = 𝒯 with θ̈ of eq. 54",
    ),
    Equation(
        "Jain (58a)",
        lambda o: o.z,
        lambda o: o.E_phi @ (o.z + o.G @ o.epsilon) + o.P @ o.a + o.b,
        "z = ℰ_φz⁺ + Pa + b",
    ),
    Equation(
        "Jain (58b)",
        lambda o: o.z + o.G @ o.epsilon,
        lambda o: o.tau_bar @ o.z + o.G @ o.T,
        "z⁺ = z + Gε = τ̄z + G𝒯",
    ),
    Equation(
        "Jain (58c)",
        lambda o: o.epsilon,
        lambda o: o.factor_inverse @ o.T - o.H @ (o.psi @ (o.P @ o.a + o.b)),
        "ε = 𝒯 − Hz = [I − HψK]𝒯 − Hψ(Pa + b)",
    ),
    Equation("Jain (58d)", lambda o: o.D @ o.nu, lambda o: o.epsilon, "Dν = ε"),
    Equation(
        "Jain (58e)",
        lambda o: o.psi.T @ (o.H.T @ o.nu + o.a),
        lambda o: o.alpha,
        "α = ψ*(H*ν + a) = φ*(H*θ̈ + a)",
    ),
    Equation(
        "Jain (58f)",
        lambda o: o.nu - o.G.T @ (o.E_phi.T @ o.alpha),
        lambda o: o.thetaddot,
        "θ̈ = ν − G*α⁺, α⁺ = ℰ_φ*α",
    ),
    Equation(
        "Jain (58g)",
        lambda o: o.alpha,
        lambda o: o.E_phi.T @ o.alpha + o.H.T @ o.thetaddot + o.a,
        "α = α⁺ + H*θ̈ + a",
    ),
    Equation(
        "Jain (59)",
        compliance,
        lambda o: written_out(
            jacobian(o) @ o.factor_inverse.T @ o.Dinv @ o.factor_inverse @ jacobian(o).T
        ),
        "𝒥𝓜⁻¹𝒥* = 𝔅*φ*H*[I − HψK]*D⁻¹[I − HψK]Hφ𝔅",
        dense=True,
    ),
    Equation(
        "Jain (60)",
        lambda o: jacobian(o) @ o.factor_inverse.T @ o.Dinv @ o.factor_inverse @ jacobian(o).T,
        lambda o: o.B.T @ o.psi.T @ o.H.T @ o.Dinv @ o.H @ o.psi @ o.B,
    ),
)
