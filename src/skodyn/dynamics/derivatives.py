"""Derivatives of the dynamics on the manifold: along each velocity direction, not by coordinate.

Column i of a derivative by q is the limit of (f(q ⊞ ε e_i) − f(q))/ε, where q ⊞ ε e_i is
`model.integrate(q, ε e_i)`: a turn about an axis of the child for spherical and free joints, the
ordinary partial derivative for all others. Every function takes one state or a batch; matrices of
one result lie side by side in `out`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.driver import run
from skodyn.dynamics.functions import forward_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix_inverse
from skodyn.kernels import forward_dynamics_derivatives as _forward
from skodyn.kernels import inverse_dynamics_derivatives as _inverse
from skodyn.model.model import Model
from skodyn.typing import (
    Accelerations,
    Coordinates,
    DofMatrix,
    Floats,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = ["forward_dynamics_derivatives", "inverse_dynamics_derivatives"]


INVERSE = Algorithm(
    _inverse.inverse_dynamics_derivatives,
    _inverse.inverse_dynamics_derivatives_batch,
    x="vdot",
    dimensions=3,
    scratch=lambda model: _inverse.derivative_lanes(model.n_bodies, model.nv),
    coupled=_coupled.projected_square,
)


def inverse_dynamics_derivatives(
    model: Model,
    q: Coordinates,
    v: Velocities,
    vdot: Accelerations,
    f_ext: Wrenches | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> tuple[DofMatrix, DofMatrix]:
    """Derivatives of inverse dynamics by q and v, O(n·depth).

    ∂τ/∂v̇ is the mass matrix. "By q" means along the joints' velocity directions, for quaternions,
    too: the neighbour of q is `model.integrate(q, dv)`.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    vdot : array_like, shape (nv,) or (B, nv)
        Accelerations, rad/s² and m/s², in the axes of v.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    out : ndarray of float64, shape (2, nv, nv) or (B, 2, nv, nv), optional
        Where both are written.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    by_q : ndarray, shape (nv, nv) or (B, nv, nv)
        ∂τ/∂q. External forces keep their world axes and act at their body's origin.
    by_v : ndarray, shape (nv, nv) or (B, nv, nv)
        ∂τ/∂v.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    forward_dynamics_derivatives : those of the accelerations.
    linearize : a linear system along a motion.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> by_q, by_v = sk.inverse_dynamics_derivatives(model, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> by_q.round(2)    # the stiffness that gravity gives a hanging chain
    array([[19.62,  4.9 ],
           [ 4.9 ,  4.9 ]])
    """
    shape = (2, model.nv, model.nv)
    both = run(INVERSE, model, shape, q, v, vdot, f_ext, out, threads)
    return both[..., 0, :, :], both[..., 1, :, :]


def _forward_coupled(
    _algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """With mimic joints: −𝓜⁻¹ times the derivatives of inverse dynamics, as dense matrices."""
    vdot = forward_dynamics(model, q, v, x, f_ext, threads=threads)
    by_q, by_v = inverse_dynamics_derivatives(model, q, v, vdot, f_ext, threads=threads)
    inverse = mass_matrix_inverse(model, q, threads=threads)
    result = np.empty((*vdot.shape[:-1], *shape))
    result[..., 0, :, :] = 0.0 - inverse @ by_q
    result[..., 1, :, :] = 0.0 - inverse @ by_v
    result[..., 2, :, :] = inverse
    return _coupled.deliver(result, out)


FORWARD = Algorithm(
    _forward.forward_dynamics_derivatives,
    _forward.forward_dynamics_derivatives_batch,
    x="tau",
    dimensions=3,
    scratch=lambda model: _forward.derivative_lanes(model.indices, model.nv),
    coupled=_forward_coupled,
)


def forward_dynamics_derivatives(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> tuple[DofMatrix, DofMatrix, DofMatrix]:
    """Derivatives of forward dynamics by q, v and tau.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    tau : array_like, shape (nv,) or (B, nv)
        Generalised forces, N m and N, dual to v.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    out : ndarray of float64, shape (3, nv, nv) or (B, 3, nv, nv), optional
        Where all three are written.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    by_q : ndarray, shape (nv, nv) or (B, nv, nv)
        ∂v̇/∂q, along the joints' velocity directions. External forces keep their world axes and act
        at their body's origin.
    by_v : ndarray, shape (nv, nv) or (B, nv, nv)
        ∂v̇/∂v.
    by_tau : ndarray, shape (nv, nv) or (B, nv, nv)
        ∂v̇/∂τ = 𝓜⁻¹.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    inverse_dynamics_derivatives : those of the forces.
    linearize : a linear system along a motion.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v, tau = [0.5, 0.0], [0.0, 0.0], [0.0, 0.0]
    >>> by_q, by_v, by_tau = sk.forward_dynamics_derivatives(model, q, v, tau)
    >>> np.allclose(by_tau, sk.mass_matrix_inverse(model, q))
    True
    """
    shape = (3, model.nv, model.nv)
    all_three = run(FORWARD, model, shape, q, v, tau, f_ext, out, threads)
    return all_three[..., 0, :, :], all_three[..., 1, :, :], all_three[..., 2, :, :]
