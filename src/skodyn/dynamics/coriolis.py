"""The Coriolis matrix, and the Christoffel symbols that it is made of."""

from __future__ import annotations

import numpy as np

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.arguments import check_finite, read_arguments
from skodyn.dynamics.driver import NOTHING, run
from skodyn.errors import DynamicsError
from skodyn.kernels import coriolis_matrix as _coriolis
from skodyn.model.model import Model
from skodyn.typing import Coordinates, DofMatrix, Floats, Velocities

__all__ = ["christoffel_symbols", "coriolis_matrix"]


CORIOLIS = Algorithm(
    _coriolis.coriolis_matrix,
    _coriolis.coriolis_matrix_batch,
    dimensions=2,
    scratch=lambda model: _coriolis.coriolis_lanes(model.n_bodies, model.nv),
    coupled=_coupled.projected_square,
)


def coriolis_matrix(
    model: Model,
    q: Coordinates,
    v: Velocities,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> DofMatrix:
    """The Coriolis matrix C: C·v + gravity_force = bias_force, O(n·depth).

    Of the many such matrices the one of the Christoffel symbols, C_ij = Σ_k Γ_ijk v_k, for which
    𝓜̇ − 2C is skew-symmetric.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    C : ndarray, shape (nv, nv) or (B, nv, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    christoffel_symbols : Γ itself.
    bias_force : what it gives with v and gravity.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v = [0.5, 0.3], np.array([1.0, -2.0])
    >>> bias = sk.coriolis_matrix(model, q, v) @ v + sk.gravity_force(model, q)
    >>> np.allclose(bias, sk.bias_force(model, q, v))
    True
    """
    return run(CORIOLIS, model, (model.nv, model.nv), q, v, out=out, threads=threads)


def christoffel_symbols(model: Model, q: Coordinates, *, threads: int | None = None) -> Floats:
    """Christoffel symbols of the first kind: the force i that v_j and v_k ask for.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    gamma : ndarray, shape (nv, nv, nv) or (B, nv, nv, nv)
        Γ_ijk, with Σ_jk Γ_ijk v_j v_k the velocity terms of bias_force.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    coriolis_matrix : Σ_k Γ_ijk v_k.

    Notes
    -----
    Γ_ijk = ½ (∂_k 𝓜_ij + ∂_j 𝓜_ik − ∂_i 𝓜_jk + ⟨[e_k, e_j], e_i⟩ − ⟨[e_j, e_i], e_k⟩
    − ⟨[e_k, e_i], e_j⟩), ⟨x, y⟩ = x*𝓜y, derivatives along velocity directions (PyCraft eq. 38). The
    brackets vanish except inside spherical and free joints, so that for all others this is the
    textbook formula, symmetric in j and k; in general Γ_ijk − Γ_ikj = ⟨[e_k, e_j], e_i⟩. In the
    brackets 𝓜 is that of the bodies alone: a rotor asks for armature·v̇ and nothing else.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> v = np.array([1.0, -2.0])
    >>> gamma = sk.christoffel_symbols(model, [0.5, 0.3])
    >>> np.allclose(gamma @ v, sk.coriolis_matrix(model, [0.5, 0.3], v))
    True
    """
    given = _checked_states(model, q)
    nv = model.nv
    states = np.repeat(given.reshape(-1, model.nq), nv, axis=0)
    unit = np.tile(np.eye(nv), (len(states) // max(nv, 1), 1))
    try:
        by_direction = coriolis_matrix(model, states, unit, threads=threads)
    except DynamicsError:  # it counts a state for each direction: let the one that was given fail
        for direction in np.eye(nv):
            coriolis_matrix(model, given, direction)
        raise
    shaped = by_direction.reshape(*given.shape[:-1], nv, nv, nv)
    return np.ascontiguousarray(np.moveaxis(shaped, -3, -1))


def _checked_states(model: Model, q: Coordinates) -> Floats:
    """q as finite numbers with unit quaternions, one state or a batch."""
    inputs = read_arguments(CORIOLIS, model, q, NOTHING, NOTHING, None)
    check_finite(CORIOLIS, inputs)
    model.check_q(inputs.q)
    return inputs.q
