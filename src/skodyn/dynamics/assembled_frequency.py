"""The highest frequency of a model with flexible bodies: that of all of it, not of a clamped beam.

A body whose root gives way vibrates faster than the same body clamped: 𝓜⁻¹ of its modes is larger
than that of the body alone. ω² is the largest eigenvalue of K^½·𝓜⁻¹·K^½, K the stiffness of all
modes.
"""

from __future__ import annotations

import numpy as np

from skodyn.dynamics.mass_matrices import mass_matrix, mass_matrix_solve
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["highest_frequency", "largest_rk4_step"]

RK4_LIMIT = 2.5
"""Steps of RK4 times ω beyond which nobody should go; beyond 2.8 they are unstable."""
_DENSE = 300
"""Up to so many velocities by eigenvalues, beyond by Krylov steps, O(N) each."""
_STEPS = 60


def highest_frequency(model: Model, q: Floats | None = None) -> float:
    """ω of the fastest vibration about q (or neutral), rad/s; springs of joints left out.

    Of the tree without its loops, which only ever make a fastest vibration slower.
    """
    model = model.opened
    at = model.neutral() if q is None else np.asarray(q, dtype=np.float64)
    root = np.zeros(model.nv)
    for name, body in model.flexible.items():
        root[model.mode_slice(name, "v")] = np.sqrt(body.stiffness)
    if model.nv > _DENSE:
        return float(np.sqrt(_krylov(model, at, root)))
    factor = np.linalg.cholesky(mass_matrix(model, at))
    return float(np.linalg.svd(np.linalg.solve(factor, np.diag(root)), compute_uv=False)[0])


def _krylov(model: Model, q: Floats, root: Floats) -> float:
    """The largest eigenvalue by Lanczos' method, from below; two per cent more to be safe."""
    x = np.random.default_rng(0).normal(size=model.nv) * (root > 0.0)
    x /= np.linalg.norm(x)
    before, beta = np.zeros_like(x), 0.0
    diagonal, beside = [], []
    for _ in range(_STEPS):
        y = root * mass_matrix_solve(model, q, root * x) - beta * before
        diagonal.append(float(x @ y))
        y -= diagonal[-1] * x
        beta = float(np.linalg.norm(y))
        if beta <= 1e-12 * abs(diagonal[0]):
            break
        beside.append(beta)
        before, x = x, y / beta
    inner = beside[: len(diagonal) - 1]
    small = np.diag(diagonal) + np.diag(inner, 1) + np.diag(inner, -1)
    return 1.04 * float(np.linalg.eigvalsh(small)[-1])


def largest_rk4_step(model: Model, q: Floats | None = None) -> float:
    """The largest step of RK4 for a model with flexible bodies, s."""
    return RK4_LIMIT / highest_frequency(model, q)
