"""PyCraft (Jain, 2016), equations 18 to 37, as operator expressions.

(25) prints one M too many at its end. (35) and (37) are for serial chains, as the text says; for
trees, (35) lacks the rest that Jain 2011-II eq. 21 adds, and (37) needs its diagOf.
"""

from __future__ import annotations

from skodyn.algebra.identities.equation import Equation, chains_only
from skodyn.algebra.identities.jain import compliance, jacobian
from skodyn.algebra.materialise import written_out

__all__ = ["PYCRAFT"]

PYCRAFT = (
    Equation(
        "PyCraft (18)",
        lambda o: o.phi @ o.M @ o.phi.T,
        lambda o: o.phi @ o.R + o.R @ o.phi.T - o.R,
    ),
    Equation("PyCraft (19)", lambda o: o.R, lambda o: o.E_phi @ o.R @ o.E_phi.T + o.M),
    Equation(
        "PyCraft (20)",
        lambda o: o.mass,
        lambda o: o.H @ (o.phi @ o.R + o.R @ o.phi.T - o.R) @ o.H.T,
    ),
    Equation("PyCraft (21)", lambda o: o.M, lambda o: o.R - o.E_phi @ o.R @ o.E_phi.T),
    Equation("PyCraft (23)", lambda o: o.P, lambda o: o.E_phi @ o.P_plus @ o.E_phi.T + o.M),
    Equation("PyCraft (24) D", lambda o: o.D, lambda o: o.H @ o.P @ o.H.T),
    Equation("PyCraft (24) G", lambda o: o.G, lambda o: o.P @ o.H.T @ o.Dinv),
    Equation("PyCraft (24) K", lambda o: o.K, lambda o: o.E_phi @ o.G),
    Equation("PyCraft (24) tau", lambda o: o.tau, lambda o: o.G @ o.H),
    Equation("PyCraft (24) tau_bar", lambda o: o.tau_bar, lambda o: o.Id - o.tau),
    Equation("PyCraft (24) P+ a", lambda o: o.P_plus, lambda o: o.tau_bar @ o.P @ o.tau_bar.T),
    Equation("PyCraft (24) P+ b", lambda o: o.P_plus, lambda o: o.tau_bar @ o.P),
    Equation("PyCraft (24) P+ c", lambda o: o.P_plus, lambda o: o.P @ o.tau_bar.T),
    Equation("PyCraft (24) E_psi", lambda o: o.E_psi, lambda o: o.E_phi @ o.tau_bar),
    Equation("PyCraft (25) a", lambda o: o.M, lambda o: o.P - o.E_psi @ o.P @ o.E_psi.T),
    Equation(
        "PyCraft (25) b",
        lambda o: o.M,
        lambda o: (
            o.P
            - o.E_phi @ (o.Id - o.P @ o.H.T @ (o.H @ o.P @ o.H.T).inverse() @ o.H) @ o.P @ o.E_phi.T
        ),
    ),
    Equation(
        "PyCraft (26) a", lambda o: (o.Id - o.H @ o.psi @ o.K) @ o.H @ o.phi, lambda o: o.H @ o.psi
    ),
    Equation(
        "PyCraft (26) b", lambda o: o.phi @ o.K @ (o.Id - o.H @ o.psi @ o.K), lambda o: o.psi @ o.K
    ),
    Equation(
        "PyCraft (26) c", lambda o: (o.Id + o.H @ o.phi @ o.K) @ o.H @ o.psi, lambda o: o.H @ o.phi
    ),
    Equation(
        "PyCraft (26) d", lambda o: o.psi @ o.K @ (o.Id + o.H @ o.phi @ o.K), lambda o: o.phi @ o.K
    ),
    Equation("PyCraft (27)", lambda o: o.H @ o.psi @ o.M @ o.psi.T @ o.H.T, lambda o: o.D),
    Equation(
        "PyCraft (28)",
        lambda o: o.mass,
        lambda o: (o.Id + o.H @ o.phi @ o.K) @ o.D @ (o.Id + o.H @ o.phi @ o.K).T,
    ),
    Equation(
        "PyCraft (29)",
        lambda o: (o.Id + o.H @ o.phi @ o.K) @ (o.Id - o.H @ o.psi @ o.K),
        lambda o: o.Id,
    ),
    Equation(
        "PyCraft (30)",
        lambda o: (o.factor_inverse.T @ o.Dinv @ o.factor_inverse) @ o.mass,
        lambda o: o.Id,
    ),
    Equation(
        "PyCraft (31)",
        lambda o: o.nu - o.K.T @ (o.psi.T @ (o.H.T @ o.nu + o.a)),
        lambda o: o.thetaddot,
        "θ̈ = [I − HψK]*ν − K*ψ*a",
    ),
    Equation(
        "PyCraft (32) and (34)",
        compliance,
        lambda o: written_out(o.B.T @ o.Omega @ o.B),
        "𝒥𝓜⁻¹𝒥* = 𝔅*Ω𝔅",
        dense=True,
    ),
    Equation(
        "PyCraft (33)",
        lambda o: jacobian(o) @ o.factor_inverse.T @ o.Dinv @ o.factor_inverse @ jacobian(o).T,
        lambda o: o.B.T @ o.Omega @ o.B,
    ),
    Equation(
        "PyCraft (35)",
        lambda o: o.Omega,
        lambda o: o.psi.T @ o.Upsilon + o.Upsilon @ o.psi - o.Upsilon,
        holds_for=chains_only,
    ),
    Equation(
        "PyCraft (35) for trees",
        lambda o: written_out(o.Omega),
        lambda o: o.Omega.dense(),
        "Ω from Υ by Jain 2011-II eq. 25",
        dense=True,
    ),
    Equation(
        "PyCraft (36)",
        lambda o: o.Upsilon,
        lambda o: o.diag_of_edges() + o.H.T @ o.Dinv @ o.H,
    ),
    Equation(
        "PyCraft (37)",
        lambda o: o.H.T @ o.Dinv @ o.H,
        lambda o: o.Upsilon - o.E_psi.T @ o.Upsilon @ o.E_psi,
        holds_for=chains_only,
    ),
)
