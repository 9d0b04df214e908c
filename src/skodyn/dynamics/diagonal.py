"""Diagonalised dynamics: velocities in which the mass matrix is the identity.

With 𝓜 = m·m*, m = [I + HφK]·D^½ (Jain 2011-II eq. 49), ν = m*·v has ½ν·ν for its kinetic energy,
and moves by ν̇ = e − c with e = m⁻¹·tau. What velocities contribute to c does no work: it is
orthogonal to ν. Every function takes one state or a batch and is O(N).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.driver import NOTHING, run
from skodyn.dynamics.functions import forward_dynamics
from skodyn.kernels import diagonal_factor as _factor
from skodyn.kernels import diagonal_rate as _rate
from skodyn.kernels import velocity_sample as _sample
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = [
    "diagonal_bias",
    "diagonal_dynamics",
    "diagonal_force",
    "diagonal_velocity",
    "force_from_diagonal",
    "velocity_from_diagonal",
]

VELOCITY = Algorithm(_factor.diagonal_velocity, _factor.diagonal_velocity_batch, x="v")
VELOCITY_BACK = Algorithm(_sample.sample_velocity, _sample.sample_velocity_batch, x="nu")
FORCE = Algorithm(_factor.diagonal_force, _factor.diagonal_force_batch, x="tau")
FORCE_BACK = Algorithm(_factor.force_from_diagonal, _factor.force_from_diagonal_batch, x="e")
RATE = Algorithm(
    _rate.diagonal_rate,
    _rate.diagonal_rate_batch,
    x="vdot",
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
    """ν = m*·v: velocities in which the mass matrix is the identity, O(n).

    ½ν·ν is the kinetic energy. m is the innovations factor of the mass matrix, 𝓜 = m·m*.

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
    nu : ndarray, shape (nv,) or (B, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    velocity_from_diagonal : the way back.
    diagonal_dynamics : the equations of motion in ν.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v = [0.5, 0.2], [1.0, -2.0]
    >>> nu = sk.diagonal_velocity(model, q, v)
    >>> bool(np.isclose(nu @ nu / 2, sk.energy(model, q, v)[0]))
    True
    """
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
    """v of a given ν: the inverse of `diagonal_velocity`, O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    nu : array_like, shape (nv,) or (B, nv)
        Diagonalised velocities ν = m*·v.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    v : ndarray, shape (nv,) or (B, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    diagonal_velocity : the way there.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> nu = sk.diagonal_velocity(model, [0.5, 0.2], [1.0, -2.0])
    >>> np.allclose(sk.velocity_from_diagonal(model, [0.5, 0.2], nu), [1.0, -2.0])
    True
    """
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
    """e = m⁻¹·tau: generalised forces dual to ν; e·ν is their power, O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    tau : array_like, shape (nv,) or (B, nv)
        Generalised forces, N m and N, dual to v.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    e : ndarray, shape (nv,) or (B, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    force_from_diagonal : the way back.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v, tau = [0.5, 0.2], [1.0, -2.0], [3.0, 1.0]
    >>> power = sk.diagonal_force(model, q, tau) @ sk.diagonal_velocity(model, q, v)
    >>> bool(np.isclose(power, np.dot(tau, v)))
    True
    """
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
    """tau = m·e: the inverse of `diagonal_force`, O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    e : array_like, shape (nv,) or (B, nv)
        Forces dual to ν.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    tau : ndarray, shape (nv,) or (B, nv)
        Generalised forces, N m and N.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    diagonal_force : the way there.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> e = sk.diagonal_force(model, [0.5, 0.2], [3.0, 1.0])
    >>> np.allclose(sk.force_from_diagonal(model, [0.5, 0.2], e), [3.0, 1.0])
    True
    """
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
    """ν̇ under generalised forces, gravity and external forces: diagonalised dynamics.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    nu : array_like, shape (nv,) or (B, nv)
        Diagonalised velocities ν = m*·v.
    tau : array_like, shape (nv,) or (B, nv)
        Generalised forces, N m and N, dual to v.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    nudot : ndarray, shape (nv,) or (B, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    diagonal_velocity : ν.
    forward_dynamics : v̇.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, tau = [0.5, 0.2], np.array([3.0, 1.0])
    >>> nudot = sk.diagonal_dynamics(model, q, [0.0, 0.0], tau)    # at rest
    >>> np.allclose(nudot, sk.diagonal_force(model, q, tau - sk.gravity_force(model, q)))
    True
    """
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

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    nu : array_like, shape (nv,) or (B, nv)
        Diagonalised velocities ν = m*·v.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    c : ndarray, shape (nv,) or (B, nv)

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    diagonal_dynamics : ν̇ itself.

    Examples
    --------
    >>> model = sk.examples.satellite()    # no gravity
    >>> q, v = model.random_state(np.random.default_rng(0))
    >>> nu = sk.diagonal_velocity(model, q, v)
    >>> bool(abs(sk.diagonal_bias(model, q, nu) @ nu) < 1e-9 * (nu @ nu) ** 1.5)
    True
    """
    _refuse(model, "diagonal_bias")
    rest = diagonal_dynamics(model, q, nu, np.zeros(model.nv), f_ext, threads=threads)
    result: Floats = 0.0 - rest
    return result


def _refuse(model: Model, what: str) -> None:
    """Mimic joints and loops tie velocities together, so that 𝓜 has another factor."""
    model._refuse_mimics(what)
    model._refuse_loops(what)
    model._refuse_flexible(what)
