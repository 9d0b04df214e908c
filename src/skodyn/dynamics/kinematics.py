"""How bodies move: velocities and Jacobians."""

from __future__ import annotations

import numpy as np

from skodyn.dynamics.algorithms import JACOBIAN, JACOBIAN_DOT_V, VELOCITIES
from skodyn.dynamics.arguments import read_point
from skodyn.dynamics.driver import NOTHING, run
from skodyn.dynamics.flexible_nodes import place_jacobian
from skodyn.dynamics.nodes import one_node
from skodyn.kernels import forward_kinematics as _kinematics
from skodyn.model.model import Model
from skodyn.typing import (
    Coordinates,
    Floats,
    PointJacobian,
    SpatialArray,
    SpatialVector,
    Vector,
    Velocities,
)

__all__ = ["jacobian", "jacobian_dot_v", "velocities"]


def velocities(
    model: Model, q: Coordinates, v: Velocities, *, threads: int | None = None
) -> tuple[SpatialArray, SpatialArray, SpatialArray]:
    """Spatial velocities, Coriolis accelerations and gyroscopic forces of all bodies.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    velocity : ndarray, shape (n, 6) or (B, n, 6)
        [ω; velocity of the body's origin], in world axes, rad/s and m/s.
    coriolis : ndarray, shape (n, 6) or (B, n, 6)
        a(k): what a body's spatial acceleration has beyond its parent's when v̇ = 0.
    gyroscopic : ndarray, shape (n, 6) or (B, n, 6)
        b(k): [moment; force] that the body's own motion asks for, N m and N.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    jacobian : with J·v the velocity of any point.
    energy : kinetic and potential.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> V, a, b = sk.velocities(model, [0.0, 0.0], [1.0, 0.0])
    >>> V[1]    # turns about y at 1 rad/s; its origin, 1 m below the pivot, moves along −x
    array([ 0.,  1.,  0., -1.,  0.,  0.])
    """
    shape = (model.n_bodies, _kinematics.ROW)
    table = run(VELOCITIES, model, shape, q, v, threads=threads)
    parts = (table[..., 12:18], table[..., 18:24], table[..., 24:30])
    velocity, coriolis, gyroscopic = (np.ascontiguousarray(part) for part in parts)
    return velocity, coriolis, gyroscopic


def jacobian(
    model: Model,
    q: Coordinates,
    body: str | int,
    point: Vector = (0.0, 0.0, 0.0),
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> PointJacobian:
    """The Jacobian of a point that is fixed in a body.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    body : str or int
        Name of a body or frame, or number of a body.
    point : array_like, shape (3,)
        A point fixed in it, in its axes from its origin, m.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    J : ndarray, shape (6, nv) or (B, 6, nv)
        J·v is [ω; velocity of the point] in world axes, rad/s and m/s, and Jᵀ·[moment; force] are
        the generalised forces of a wrench there. Others call this frame LOCAL_WORLD_ALIGNED, and
        some (Pinocchio) have the linear part first.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        There is no such body.

    See Also
    --------
    jacobian_dot_v : J̇·v.
    operational_space_compliance : J𝓜⁻¹Jᵀ.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> J = sk.jacobian(model, [0.0, 0.0], "link2", point=(0, 0, -1))    # the tip of the second rod
    >>> (J @ [1.0, 0.0])[3:]    # two metres from the pivot
    array([-2.,  0.,  0.])
    """
    if model.flexible:
        return place_jacobian(model, q, body, read_point(point), out, threads)
    node = one_node(model, body, point)
    return run(JACOBIAN, model, (6, model.nv), q, NOTHING, node, None, out, threads)


def jacobian_dot_v(
    model: Model,
    q: Coordinates,
    v: Velocities,
    body: str | int,
    point: Vector = (0.0, 0.0, 0.0),
    *,
    threads: int | None = None,
) -> SpatialVector:
    """J̇·v: the acceleration of a point of a body when v̇ = 0.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    body : str or int
        Name of a body or frame, or number of a body.
    point : array_like, shape (3,)
        A point fixed in it, in its axes from its origin, m.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    acceleration : ndarray, shape (6,) or (B, 6)
        [angular; linear] in world axes; that of the point is J·v̇ + J̇·v. rad/s² and m/s².

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        There is no such body.

    See Also
    --------
    jacobian : the J in it.

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> sk.jacobian_dot_v(model, [0.0], [2.0], "link1", (0, 0, -1))[3:]    # ω²r toward the pivot
    array([0., 0., 4.])
    """
    node = one_node(model, body, point)
    return run(JACOBIAN_DOT_V, model, (6,), q, v, node, None, None, threads)
