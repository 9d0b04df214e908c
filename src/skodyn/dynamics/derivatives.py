"""Derivatives of the dynamics on the manifold: along each velocity direction, not by coordinate.

Column i of a derivative by q is the limit of (f(q ⊞ ε e_i) − f(q))/ε, where q ⊞ ε e_i is
`model.integrate(q, ε e_i)`: a turn about an axis of the child for spherical and free joints, the
ordinary partial derivative for all others. Every function takes one state or a batch; matrices of
one result lie side by side in `out`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.arguments import check_finite, read_arguments
from skodyn.dynamics.driver import NOTHING, Algorithm, run
from skodyn.dynamics.functions import forward_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix_inverse
from skodyn.errors import DynamicsError, StateError
from skodyn.kernels import coriolis_matrix as _coriolis
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

__all__ = [
    "christoffel_symbols",
    "coriolis_matrix",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
    "linearize",
]


INVERSE = Algorithm(
    _inverse.inverse_dynamics_derivatives,
    _inverse.inverse_dynamics_derivatives_batch,
    "vxf",
    "vdot",
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
    "vxf",
    "tau",
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


def linearize(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None = None,
    *,
    vdot: Accelerations | None = None,
    prescribed: Iterable[str] = (),
    threads: int | None = None,
) -> tuple[Floats, Floats]:
    """A linear system along a motion: d/dt (δq, δv) = A·(δq, δv) + B·δτ.

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
    vdot : array_like, shape (nv,) or (B, nv), optional
        Accelerations of the joints in `prescribed`.
    prescribed : iterable of str
        Joints that move by `vdot`, as in `hybrid_dynamics`; their columns of B are by δv̇, not δτ.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    A : ndarray, shape (2nv, 2nv) or (B, 2nv, 2nv)
        By (δq, δv): the upper half how δq changes, the lower ∂v̇/∂q and ∂v̇/∂v.
    B : ndarray, shape (2nv, nv) or (B, 2nv, nv)
        By δτ: zero, then 𝓜⁻¹.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    forward_dynamics_derivatives : the blocks of the lower half.

    Notes
    -----
    δq is tangent: the neighbour is `model.integrate(q, δq)`. Where v is the rate of coordinates,
    d/dt δq = δv. For spherical and free joints two motions with the same v do not keep their
    distance in the child's axes, which turn: d/dt δq = δv − v × δq, and for a free joint
    with × of spatial vectors, [ω × δθ; ω × δx + v × δθ].

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> A, B = sk.linearize(model, [0.0], [0.0], [0.0])
    >>> np.linalg.eigvals(A).imag.round(3)    # it swings at √(3g/2) rad/s
    array([ 3.836, -3.836])
    """
    dq, dv, inverse = _accelerations(model, (q, v, tau, f_ext), vdot, prescribed, threads)
    nv = model.nv
    A = np.zeros((*dq.shape[:-2], 2 * nv, 2 * nv))
    B = np.zeros((*dq.shape[:-2], 2 * nv, nv))
    A[..., :nv, :nv] -= _brackets(model, np.asarray(v, dtype=np.float64))
    A[..., :nv, nv:] = np.eye(nv)
    A[..., nv:, :nv], A[..., nv:, nv:], B[..., nv:, :] = dq, dv, inverse
    return A, B


def _accelerations(
    model: Model, given: tuple[Any, Any, Any, Any], vdot: Any, prescribed: Any, threads: int | None
) -> tuple[Floats, Floats, Floats]:
    """Derivatives of v̇ by q, v and the inputs."""
    q, v, tau, f_ext = given
    if vdot is None and not prescribed:
        return forward_dynamics_derivatives(model, q, v, tau, f_ext, threads=threads)
    if not prescribed:
        raise StateError("vdot is given, but no joint is prescribed", "name some in prescribed.")
    from skodyn.dynamics.hybrid_derivatives import hybrid_dynamics_derivatives  # built on this file

    found = hybrid_dynamics_derivatives(
        model, q, v, tau, vdot, prescribed, f_ext, threads=threads
    )  # fmt: skip
    return found.vdot_by_q, found.vdot_by_v, found.vdot_by_input


def _brackets(model: Model, v: Floats) -> Floats:
    """The matrix of w ↦ [v, w] in the velocity directions: zero but for quaternion joints."""
    matrix = np.zeros((*v.shape[:-1], model.nv, model.nv))
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        if joint.has_quaternion:
            at = model.v_slice(name)
            matrix[..., at, at] = joint.bracket(v[..., at])
    return matrix


CORIOLIS = Algorithm(
    _coriolis.coriolis_matrix,
    _coriolis.coriolis_matrix_batch,
    "v",
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
