"""Optimal filtering and smoothing on a tree: the Kalman duality of the SOA slides (2024).

The recursions of forward dynamics solve a second problem. Let states on a tree obey

    x(k) = Σ 𝔸(k, j)·x(j) + w(k)  over the children j of k,      T(k) = H(k)·x(k),

with independent Gaussian w(k) of mean zero and covariance M(k). Information flows from the tips to
the base; on a chain this is a time series and the tip is its beginning. Then

    dynamics                          estimation
    articulated inertia P             covariance of the prediction's error
    D = HPH*, ε = 𝒯 − H𝔷              innovations and their covariance
    G                                 Kalman gain
    𝔷, 𝔷⁺                             prediction, and the filter's estimate after seeing T(k)
    α                                 co-state of the Bryson–Frazier smoother
    f = 𝔷 + Pα                        the smoothed estimate E[x | all T]

Of an SKOModel only 𝔸, H and M enter; a and b are left aside.

One line of the slide "Key covariance quantities" is misprinted: cov[𝔷] = φK𝒟⁻¹K*φ* should have 𝒟,
because 𝔷 = φKε and cov[ε] = D. The other forms on that line agree with the corrected one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import StateError
from skodyn.sko import Blocks, Riccati, SKOModel, forward_lyapunov, mass_matrix
from skodyn.sko.blocks import Floats, stacked_columns
from skodyn.sko.compliances import node_compliances
from skodyn.sko.riccati_equation import solution_of
from skodyn.sko.sweeps import gather, pass_inward, pass_outward, scatter
from skodyn.wording import listed

__all__ = ["Estimate", "covariance", "output_covariance", "sample", "smooth", "state_covariances"]


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """What the filter and the smoother found; stacked vectors, or columns of them."""

    model: SKOModel
    solution: Riccati
    predicted: Floats  # 𝔷: E[x(k) | all T outboard of k]
    filtered: Floats  # 𝔷⁺: E[x(k) | T(k) and all T outboard of k]
    smoothed: Floats  # f: E[x(k) | all T]
    innovations: Floats  # ε, independent of each other, covariance D(k)
    costate: Floats  # α
    nu: Floats  # ν = D⁻¹ε, independent of each other, covariance D(k)⁻¹

    @property
    def z(self) -> Floats:
        """𝔷, the prediction, under the slides' symbol."""
        return self.predicted

    @property
    def z_plus(self) -> Floats:
        """𝔷⁺, the filter's estimate."""
        return self.filtered

    @property
    def epsilon(self) -> Floats:
        """ε, the innovations."""
        return self.innovations

    @property
    def alpha(self) -> Floats:
        """α, the co-state."""
        return self.costate

    @property
    def alpha_plus(self) -> Floats:
        """α⁺ = 𝔸*α: f = 𝔷⁺ + P⁺α⁺ as well."""
        return pass_outward(self.model.tree, self.model.weights, self.costate)

    @property
    def f(self) -> Floats:
        """f, the smoothed estimate."""
        return self.smoothed

    @property
    def z_covariances(self) -> Blocks:
        """R − P: of 𝔷 itself, node by node; what of x the outboard outputs tell."""
        R, P = state_covariances(self.model), self.solution.P
        return Blocks(R.data - P.data, P.rows.copy(), P.cols.copy()).freeze()

    @property
    def nu_covariances(self) -> Blocks:
        """D⁻¹: of ν, node by node."""
        return Blocks.of(np.linalg.inv(block) for block in self.solution.D).freeze()

    @property
    def predicted_covariances(self) -> Blocks:
        """P: of x − 𝔷, node by node."""
        return self.solution.P

    @property
    def filtered_covariances(self) -> Blocks:
        """P⁺: of x − 𝔷⁺, node by node."""
        return self.solution.P_plus

    @property
    def innovations_covariances(self) -> Blocks:
        """D: of ε, node by node."""
        return self.solution.D

    @property
    def gains(self) -> Blocks:
        """G: the Kalman gains."""
        return self.solution.G

    @property
    def smoothed_covariances(self) -> Blocks:
        """P − PΥP: of x − f, node by node, with Υ the blocks of Ω on its diagonal."""
        P, Y = self.solution.P, node_compliances(self.model, self.solution)
        return Blocks.of(p - p @ y @ p for p, y in zip(P, Y, strict=True)).freeze()

    def __repr__(self) -> str:
        return f"<Estimate: {self.model.n_nodes} nodes, {self.model.nv} outputs>"


def smooth(model: SKOModel, T: ArrayLike, solution: Riccati | None = None) -> Estimate:
    """Filter from the tips to the base, then smooth from the base to the tips, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    T : array_like, shape (nv,) or (nv, k)
        Outputs: one vector, or columns of draws.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    estimate : Estimate
    """
    solution = solution_of(model, solution)
    columns, shape = stacked_columns(T, model.nv, "T")
    predicted = gather(
        model.tree, solution.psi, pass_inward(model.tree, solution.K, columns, model.sizes)
    )
    innovations = columns - model.H.apply(predicted)
    filtered = predicted + solution.G.apply(innovations)
    nu = solution.solve_D(innovations)
    costate = scatter(model.tree, solution.psi, model.H.apply(nu, transpose=True))
    smoothed = predicted + solution.P.apply(costate)

    def shaped(x: Floats) -> Floats:
        return x.reshape(len(x), *shape[1:])

    return Estimate(
        model, solution, shaped(predicted), shaped(filtered), shaped(smoothed),
        shaped(innovations), shaped(costate), shaped(nu),
    )  # fmt: skip


def state_covariances(model: SKOModel) -> Blocks:
    """The diagonal blocks of cov[x] = 𝔸M𝔸*, composite inertias, O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.

    Returns
    -------
    blocks : Blocks
    """
    return forward_lyapunov(model.tree, model.weights, model.M)


def output_covariance(model: SKOModel) -> Floats:
    """cov[T] = H𝔸M𝔸*H*: the mass matrix, dense.

    Parameters
    ----------
    model : SKOModel
        The system in one state.

    Returns
    -------
    covariance : ndarray, shape (nv, nv)
    """
    return mass_matrix(model)


OF = ("x", "T", "z", "z_error", "epsilon", "nu")


def covariance(model: SKOModel, of: str, solution: Riccati | None = None) -> Floats:
    """A whole covariance, dense: what two nodes have to do with each other as well.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    of : str
        "x" (𝔸M𝔸*), "T" (𝓜), "z" (𝔸̃τPτ*𝔸̃*), "z_error" (of x − 𝔷, ψMψ*), "epsilon" (D) or "nu"
        (D⁻¹): the slide "Key covariance quantities".
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    covariance : ndarray
        By sweeps, so that it costs what filling it does; `operators(model).covariances` has the
        same as operators, which fill nothing.
    """
    if of not in OF:
        raise StateError(f"of is {of!r}", f"give one of {listed(OF)}.")
    if of == "x":
        return _spread(model, model.weights, state_covariances(model))
    if of == "T":
        return mass_matrix(model)
    solution = solution_of(model, solution)
    if of == "z_error":
        return _spread(model, solution.psi, solution.P)
    if of == "z":
        R, P = state_covariances(model), solution.P
        return _spread(model, model.weights, Blocks(R.data - P.data, P.rows, P.cols))
    return solution.D.dense() if of == "epsilon" else solution.solve_D(np.eye(model.nv))


def _spread(model: SKOModel, weights: Blocks, Y: Blocks) -> Floats:
    """Y + 𝔸̃Y + Y𝔸̃* (Jain 2011-II Lemma 3)."""
    whole = Y.dense()
    inward = gather(model.tree, weights, whole, strict=True)
    return whole + inward + inward.T


def sample(model: SKOModel, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Independent draws of the states and outputs, as columns.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    count : int
        How many.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Returns
    -------
    x : ndarray, shape (N, count)
        States.
    T : ndarray, shape (nv, count)
        Outputs.
    """
    noise = rng.standard_normal((model.size, count))
    factors = Blocks.of(np.linalg.cholesky(block) for block in model.M)
    x = gather(model.tree, model.weights, factors.apply(noise))
    return x, model.H.apply(x)
