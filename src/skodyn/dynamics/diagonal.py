"""Diagonalised dynamics: velocities in which the mass matrix is the identity.

With 𝓜 = m·m*, m = [I + HφK]·D^½ (Jain 2011-II eq. 49), ν = m*·v has ½ν·ν for its kinetic energy,
and moves by ν̇ = e − c with e = m⁻¹·tau. What velocities contribute to c does no work: it is
orthogonal to ν. Every function takes one state or a batch and is O(N).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.driver import NOTHING, Algorithm, run
from skodyn.dynamics.functions import forward_dynamics
from skodyn.kernels import diagonal_factor as _factor
from skodyn.kernels import diagonal_rate as _rate
from skodyn.kernels import velocity_sample as _sample
from skodyn.model.columns import Floats
from skodyn.model.model import Model

__all__ = [
    "diagonal_bias",
    "diagonal_dynamics",
    "diagonal_force",
    "diagonal_velocity",
    "force_from_diagonal",
    "velocity_from_diagonal",
]

VELOCITY = Algorithm(_factor.diagonal_velocity, _factor.diagonal_velocity_batch, "x", "v")
VELOCITY_BACK = Algorithm(_sample.sample_velocity, _sample.sample_velocity_batch, "x", "nu")
FORCE = Algorithm(_factor.diagonal_force, _factor.diagonal_force_batch, "x", "tau")
FORCE_BACK = Algorithm(_factor.force_from_diagonal, _factor.force_from_diagonal_batch, "x", "e")
RATE = Algorithm(
    _rate.diagonal_rate,
    _rate.diagonal_rate_batch,
    "vx",
    "vdot",
    scratch=lambda model: _rate.rate_lanes(model.n_bodies, model.nv),
)


def diagonal_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """ν = m*·v, a number for each velocity: ½ν·ν is the kinetic energy."""
    _refuse(model, "diagonal_velocity")
    return run(VELOCITY, model, (model.nv,), q, NOTHING, v, None, out, threads)


def velocity_from_diagonal(
    model: Model,
    q: ArrayLike,
    nu: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """v from ν."""
    _refuse(model, "velocity_from_diagonal")
    return run(VELOCITY_BACK, model, (model.nv,), q, NOTHING, nu, None, out, threads)


def diagonal_force(
    model: Model,
    q: ArrayLike,
    tau: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """e = m⁻¹·tau: what generalised forces are to ν; e·ν is their power."""
    _refuse(model, "diagonal_force")
    return run(FORCE, model, (model.nv,), q, NOTHING, tau, None, out, threads)


def force_from_diagonal(
    model: Model,
    q: ArrayLike,
    e: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """tau = m·e."""
    _refuse(model, "force_from_diagonal")
    return run(FORCE_BACK, model, (model.nv,), q, NOTHING, e, None, out, threads)


def diagonal_dynamics(
    model: Model,
    q: ArrayLike,
    nu: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> Floats:
    """ν̇ under the generalised forces tau, gravity and external forces."""
    _refuse(model, "diagonal_dynamics")
    v = velocity_from_diagonal(model, q, nu, threads=threads)
    vdot = forward_dynamics(model, q, v, tau, f_ext, threads=threads)
    return run(RATE, model, (model.nv,), q, v, vdot, None, None, threads)


def diagonal_bias(
    model: Model,
    q: ArrayLike,
    nu: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> Floats:
    """c of ν̇ = m⁻¹·tau − c: Coriolis, gyroscopic and gravity terms, less external forces.

    Without gravity and external forces c is orthogonal to ν.
    """
    _refuse(model, "diagonal_bias")
    rest = diagonal_dynamics(model, q, nu, np.zeros(model.nv), f_ext, threads=threads)
    result: Floats = 0.0 - rest
    return result


def _refuse(model: Model, what: str) -> None:
    """Mimic joints and loops tie velocities together, so that 𝓜 has another factor."""
    model.refuse_mimics(what)
    model.refuse_loops(what)
