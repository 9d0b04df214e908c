"""Three models of the interbody force, and one on the other side of the joint (SOA slides 2024).

Each splits f into an inertia times the body's acceleration and a residual:

    terminal     f = Mα + residual      residual: b, and all forces from further outboard
    composite    f = Rα + y             y: b, and what the outboard accelerations θ̈ ask for
    articulated  f = Pα + residual      residual: b, and what the outboard torques 𝒯 ask for
    inboard      f = P⁺α⁺ + 𝔷⁺          the articulated model seen from the parent's side

The slides have neither Coriolis accelerations nor gyroscopic forces. Here both are in the residual:
α = α⁺ + H*θ̈ + a as in Jain 2011-II eq. 1, so that what Algorithm 6.1 calls 𝔷 is residual + Pa.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from skodyn.sko.articulated_body import forward_dynamics
from skodyn.sko.blocks import Floats, stacked_vector
from skodyn.sko.lyapunov_forward import composite_inertias
from skodyn.sko.model import SKOModel, check_model
from skodyn.sko.riccati_equation import Riccati, solution_of
from skodyn.sko.sweeps import gather, pass_inward, pass_outward, scatter

__all__ = ["ForceModel", "articulated_model", "composite_model", "inboard_model", "terminal_model"]


@dataclass(frozen=True, eq=False, repr=False)
class ForceModel:
    """A force model evaluated: stacked vectors that add up to f."""

    sko: SKOModel
    name: str
    inertia: Floats  # the inertia term
    residual: Floats

    @property
    def force(self) -> Floats:
        """f, stacked."""
        return self.inertia + self.residual

    def of(self, node: Hashable) -> tuple[Floats, Floats]:
        """(inertia term, residual) of one node."""
        part = self.sko.node_slice(node)
        return self.inertia[part], self.residual[part]

    def __repr__(self) -> str:
        return f"<ForceModel: {self.name}, {self.sko.n_nodes} nodes>"


def _hinge_accelerations(model: SKOModel, vdot: ArrayLike) -> Floats:
    """H*θ̈ + a: the acceleration of each node relative to its parent."""
    check_model(model)
    given = stacked_vector(vdot, model.nv, "vdot")
    return model.H.apply(given, transpose=True) + model.a


def terminal_model(model: SKOModel, vdot: ArrayLike) -> ForceModel:
    """f = Mα + (b + ℰf): the body alone.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    vdot : array_like, shape (nv,)
        Generalised accelerations.

    Returns
    -------
    forces : ForceModel
    """
    relative = _hinge_accelerations(model, vdot)
    alpha = scatter(model.tree, model.weights, relative)
    own = model.M.apply(alpha)
    f = gather(model.tree, model.weights, own + model.b)
    residual = model.b + pass_inward(model.tree, model.weights, f)
    return ForceModel(model, "terminal", own, residual)


def composite_model(model: SKOModel, vdot: ArrayLike) -> ForceModel:
    """f = Rα + y: all outboard bodies, locked together.

    y = 𝔸(b + ℰR(H*θ̈ + a)).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    vdot : array_like, shape (nv,)
        Generalised accelerations.

    Returns
    -------
    forces : ForceModel
    """
    relative = _hinge_accelerations(model, vdot)
    alpha = scatter(model.tree, model.weights, relative)
    R = composite_inertias(model)
    sent = pass_inward(model.tree, model.weights, R.apply(relative))
    y = gather(model.tree, model.weights, model.b + sent)
    return ForceModel(model, "composite", R.apply(alpha), y)


def _articulated(
    model: SKOModel, tau: ArrayLike, solution: Riccati | None
) -> tuple[Riccati, Floats, Floats, Floats]:
    """(Riccati solution, 𝒯, α, 𝔷) with 𝔷 = ψ(K𝒯 + Pa + b)."""
    solution = solution_of(model, solution)
    given = stacked_vector(tau, model.nv, "tau")
    vdot = forward_dynamics(model, given, solution)
    alpha = scatter(model.tree, model.weights, _hinge_accelerations(model, vdot))
    source = pass_inward(model.tree, solution.K, given, model.sizes)
    z = gather(model.tree, solution.psi, source + solution.P.apply(model.a) + model.b)
    return solution, given, alpha, z


def articulated_model(
    model: SKOModel, tau: ArrayLike, solution: Riccati | None = None
) -> ForceModel:
    """f = Pα + (𝔷 − Pa): all outboard bodies, free to swing on their joints.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    tau : array_like, shape (nv,)
        Generalised forces.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    forces : ForceModel
    """
    solution, _, alpha, z = _articulated(model, tau, solution)
    residual = z - solution.P.apply(model.a)
    return ForceModel(model, "articulated", solution.P.apply(alpha), residual)


def inboard_model(model: SKOModel, tau: ArrayLike, solution: Riccati | None = None) -> ForceModel:
    """f = P⁺α⁺ + 𝔷⁺, 𝔷⁺ = 𝔷 + Gε: the articulated model as the parent feels it.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    tau : array_like, shape (nv,)
        Generalised forces.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    forces : ForceModel
    """
    solution, given, alpha, z = _articulated(model, tau, solution)
    outer = pass_outward(model.tree, model.weights, alpha)
    innovation = given - model.H.apply(z)
    z_plus = z + solution.G.apply(innovation)
    return ForceModel(model, "inboard", solution.P_plus.apply(outer), z_plus)
