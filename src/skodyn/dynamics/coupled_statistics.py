"""Statistical mechanics of models with mimic joints, whose mass matrix is Gᵀ𝓜G.

With B the constant rows that the couplings demand, Bv = 0, and Λ = B𝓜⁻¹Bᵀ,

    log det Gᵀ𝓜G = log det 𝓜 + log det Λ + a constant,

because [G, 𝓜⁻¹Bᵀ] makes 𝓜 block diagonal, with the blocks Gᵀ𝓜G and Λ. Along a direction of the
tree, with C the Cholesky factor of Λ,

    [log det Λ] = −tr{Λ⁻¹B𝓜⁻¹[𝓜]𝓜⁻¹Bᵀ} = −Σ s*[𝓜]s   over the columns s of 𝓜⁻¹BᵀC⁻ᵀ,

and [𝓜]s is the derivative of what inverse dynamics needs for s. Velocities are drawn by way of
momenta: those of the tree are N(0, kT𝓜), so that Gᵀp is N(0, kT Gᵀ𝓜G).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.coupled import deliver
from skodyn.dynamics.derivatives import inverse_dynamics_derivatives
from skodyn.dynamics.driver import NOTHING, run
from skodyn.dynamics.functions import gravity_force, inverse_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix_solve
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["coupled_gradient", "coupled_velocity"]


def coupled_gradient(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """The derivative of log det Gᵀ𝓜G along each velocity direction; arguments of `driver.run`."""
    tree, full = model.uncoupled, model.expand_q(model.check_q(q))
    slope = np.array(run(algorithm, tree, (tree.nv,), full, threads=threads))
    for gradient, row in zip(np.atleast_2d(slope), np.atleast_2d(full), strict=True):
        gradient -= _demanded(model, tree, row)
    return deliver(model.coupling.project(slope), out)


def _demanded(model: Model, tree: Model, q: Floats) -> Floats:
    """Σ s*[𝓜]s in one configuration, O(N²) for each coupling."""
    joints = model.coupling
    demands = np.zeros((len(joints.dofs), tree.nv))
    at = np.arange(len(demands))
    demands[at, joints.dofs] = 1.0
    demands[at, joints.source_dofs] = -joints.multiplier
    moved = mass_matrix_solve(tree, np.tile(q, (len(demands), 1)), demands)  # rows of B𝓜⁻¹
    factor = np.linalg.cholesky(demands @ moved.T)
    columns = np.linalg.solve(factor, moved)
    still = np.zeros(tree.nv)
    states = np.tile(q, (len(demands), 1))
    by_q, _ = inverse_dynamics_derivatives(tree, states, still, columns)
    at_rest, _ = inverse_dynamics_derivatives(tree, q, still, still)  # gravity
    changes: Floats = np.einsum("ki,kij->j", columns, by_q - at_rest)
    return changes


def coupled_velocity(
    sample: Algorithm, model: Model, q: Floats, noise: Floats, threads: int | None
) -> Floats:
    """From noise for every joint of the tree, v of N(0, (Gᵀ𝓜G)⁻¹)."""
    tree, full = model.uncoupled, model.expand_q(q)
    v = run(sample, tree, (tree.nv,), full, NOTHING, noise, None, None, threads)
    still = np.zeros(tree.nv)
    momentum = inverse_dynamics(tree, full, still, v) - gravity_force(tree, full)
    result: Any = mass_matrix_solve(model, q, model.coupling.project(momentum))
    return np.asarray(result)
