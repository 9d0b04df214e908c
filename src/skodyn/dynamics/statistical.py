"""Statistical mechanics of a model: the Fixman potential, its gradient, thermal velocities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.driver import NOTHING, Algorithm, run
from skodyn.dynamics.mass_matrices import mass_matrix_logdet
from skodyn.errors import StateError
from skodyn.kernels import mass_matrix_logdet_gradient as _gradient
from skodyn.kernels import velocity_sample as _sample
from skodyn.model.columns import Floats
from skodyn.model.model import Model

__all__ = ["fixman_potential", "mass_matrix_logdet_gradient", "sample_velocity"]

GRADIENT = Algorithm(
    _gradient.mass_matrix_logdet_gradient, _gradient.mass_matrix_logdet_gradient_batch, ""
)
SAMPLE = Algorithm(_sample.sample_velocity, _sample.sample_velocity_batch, "x", "noise")


def mass_matrix_logdet_gradient(
    model: Model, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """The derivative of log det 𝓜 along each velocity direction, (nv,); O(N). PyCraft eq. 48."""
    return run(GRADIENT, model, (model.nv,), q, out=out, threads=threads)


def fixman_potential(
    model: Model, q: ArrayLike, kT: float = 1.0, *, threads: int | None = None
) -> float | Floats:
    """(kT/2)·log det 𝓜, a number per state; O(N).

    At temperature kT the momenta of a model with rigid bonds weigh its shapes with √det 𝓜. A system
    that moves in this potential too has lost that weight. PyCraft eq. 47 prints log det 𝓜 alone;
    the factor kT/2 is what makes e^(−U/kT) the inverse of the weight (Fixman 1974).
    """
    return 0.5 * checked_temperature(kT) * mass_matrix_logdet(model, q, threads=threads)


def sample_velocity(
    model: Model,
    q: ArrayLike,
    kT: float,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
) -> Floats:
    """v drawn from the Maxwell–Boltzmann distribution N(0, kT·𝓜⁻¹); one for each state; O(N)."""
    if not isinstance(rng, np.random.Generator):
        raise StateError(f"rng is {rng!r}; give a numpy Generator, as of numpy.random.default_rng.")
    states = np.asarray(q, dtype=np.float64)
    noise = rng.standard_normal((*states.shape[:-1], model.nv))
    scaled = math.sqrt(checked_temperature(kT)) * noise
    return run(SAMPLE, model, (model.nv,), q, NOTHING, scaled, None, None, threads)


def checked_temperature(kT: float) -> float:
    """kT as a number from 0."""
    try:
        value = float(kT)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise StateError(f"kT is {kT!r}; give a finite number from 0, in joules.")
    return value
