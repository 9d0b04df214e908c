"""Statistical mechanics of a model: the Fixman potential, its gradient, thermal velocities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

import numpy as np

from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.coupled_statistics import coupled_gradient, coupled_velocity
from skodyn.dynamics.driver import NOTHING, run
from skodyn.dynamics.mass_matrices import mass_matrix_logdet
from skodyn.errors import StateError
from skodyn.kernels import mass_matrix_logdet_gradient as _gradient
from skodyn.kernels import velocity_sample as _sample
from skodyn.model.model import Model
from skodyn.typing import Coordinates, DofArray, Floats

__all__ = ["fixman_potential", "mass_matrix_logdet_gradient", "sample_velocity"]

GRADIENT = Algorithm(
    _gradient.mass_matrix_logdet_gradient,
    _gradient.mass_matrix_logdet_gradient_batch,
    coupled=coupled_gradient,
)
SAMPLE = Algorithm(_sample.sample_velocity, _sample.sample_velocity_batch, x="noise")


def mass_matrix_logdet_gradient(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> DofArray:
    """The derivative of log det 𝓜 along each velocity direction, O(n); with mimics O(n²) each.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    gradient : ndarray, shape (nv,) or (B, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    mass_matrix_logdet : the function.
    fixman_potential : kT/2 times it.

    Notes
    -----
    PyCraft eq. 48.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> slope = sk.mass_matrix_logdet_gradient(model, [0.5, 0.3])
    >>> ahead, back = (sk.mass_matrix_logdet(model, [0.5, 0.3 + h]) for h in (1e-5, -1e-5))
    >>> bool(abs((ahead - back) / 2e-5 - slope[1]) < 1e-8)
    True
    """
    return run(GRADIENT, model, (model.nv,), q, out=out, threads=threads)


@overload
def fixman_potential(
    model: Model, q: Sequence[float], kT: float = 1.0, *, threads: int | None = None
) -> float: ...
@overload
def fixman_potential(
    model: Model, q: Sequence[Sequence[float]], kT: float = 1.0, *, threads: int | None = None
) -> Floats: ...
@overload
def fixman_potential(
    model: Model, q: Coordinates, kT: float = 1.0, *, threads: int | None = None
) -> float | Floats: ...
def fixman_potential(
    model: Model, q: Coordinates, kT: float = 1.0, *, threads: int | None = None
) -> float | Floats:
    """The Fixman potential (kT/2)·log det 𝓜, O(n).

    At temperature kT the momenta of a model with rigid bonds weigh its shapes with √det 𝓜. A system
    that moves in this potential, too, has lost that weight.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    kT : float
        Temperature times Boltzmann's constant, J.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    potential : float or ndarray, shape (B,)
        J, up to a constant.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    mass_matrix_logdet_gradient : for its force.
    FixmanForce : the force in a simulation.

    Notes
    -----
    PyCraft eq. 47 prints log det 𝓜 alone; the factor kT/2 is what makes exp(−U/kT) the inverse of
    the weight (Fixman 1974).

    Examples
    --------
    >>> model = sk.examples.pendulum(3)
    >>> q = [0.0, 0.4, -0.2]
    >>> sk.fixman_potential(model, q, kT=2.0) == sk.mass_matrix_logdet(model, q)
    True
    """
    return 0.5 * checked_temperature(kT) * mass_matrix_logdet(model, q, threads=threads)


def sample_velocity(
    model: Model,
    q: Coordinates,
    kT: float,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
) -> DofArray:
    """Velocities drawn from the Maxwell–Boltzmann distribution N(0, kT·𝓜⁻¹), O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    kT : float
        Temperature times Boltzmann's constant, J.
    rng : numpy.random.Generator
        Where the random numbers come from.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    v : ndarray, shape (nv,) or (B, nv)
        One velocity for each state.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    AndersenThermostat : draws them anew during a simulation.

    Examples
    --------
    >>> model = sk.examples.pendulum(3)
    >>> states = np.zeros((5000, 3))
    >>> v = sk.sample_velocity(model, states, kT=1.0, rng=np.random.default_rng(0))
    >>> kinetic, _ = sk.energy(model, states, v)
    >>> bool(abs(kinetic.mean() - 1.5) < 0.05)    # kT/2 for each degree of freedom
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise StateError(
            f"rng is {rng!r}", "give a numpy Generator, as of numpy.random.default_rng."
        )
    scale = math.sqrt(checked_temperature(kT))
    if model.mimics:
        states = model.check_q(q)
        scaled = scale * rng.standard_normal((*states.shape[:-1], model.uncoupled.nv))
        return coupled_velocity(SAMPLE, model, states, scaled, threads)
    states = np.asarray(q, dtype=np.float64)
    scaled = scale * rng.standard_normal((*states.shape[:-1], model.nv))
    return run(SAMPLE, model, (model.nv,), q, NOTHING, scaled, None, None, threads)


def checked_temperature(kT: float) -> float:
    """kT as a number from 0."""
    try:
        value = float(kT)
    except (TypeError, ValueError):
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise StateError(f"kT is {kT!r}", "give a finite number from 0, in joules.")
    return value
