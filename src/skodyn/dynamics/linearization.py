"""Linear systems along a motion, from the derivatives of the accelerations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skodyn.dynamics.derivatives import forward_dynamics_derivatives
from skodyn.dynamics.hybrid_derivatives import hybrid_dynamics_derivatives
from skodyn.errors import StateError
from skodyn.model.model import Model
from skodyn.typing import (
    Accelerations,
    Coordinates,
    Floats,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = ["linearize"]


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
