"""Where bodies are and how they move: poses, velocities, Jacobians, energy and momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from skodyn.conventions import GROUND
from skodyn.dynamics.algorithms import ENERGY, JACOBIAN, JACOBIAN_DOT_V, VELOCITIES
from skodyn.dynamics.arguments import read_point
from skodyn.dynamics.driver import NOTHING, run
from skodyn.errors import DynamicsError, ModelError, StateError
from skodyn.kernels import energy as _energy
from skodyn.kernels import forward_kinematics as _kinematics
from skodyn.model.model import Model
from skodyn.model.products import applied
from skodyn.typing import (
    About,
    Coordinates,
    Floats,
    PointJacobian,
    Positions,
    SpatialArray,
    SpatialVector,
    Vector,
    Velocities,
)

__all__ = [
    "center_of_mass",
    "energy",
    "jacobian",
    "jacobian_dot_v",
    "momentum",
    "velocities",
]


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
        from skodyn.dynamics.flexible_nodes import place_jacobian  # it builds on this file

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


@overload
def energy(
    model: Model, q: Sequence[float], v: Sequence[float], *, threads: int | None = None
) -> tuple[float, float]: ...
@overload
def energy(
    model: Model, q: Sequence[Sequence[float]], v: Velocities, *, threads: int | None = None
) -> tuple[Floats, Floats]: ...
@overload
def energy(
    model: Model, q: Coordinates, v: Velocities, *, threads: int | None = None
) -> tuple[float | Floats, float | Floats]: ...
def energy(
    model: Model, q: Coordinates, v: Velocities, *, threads: int | None = None
) -> tuple[float | Floats, float | Floats]:
    """Kinetic and potential energy, O(n).

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
    kinetic : float or ndarray, shape (B,)
        ½vᵀ𝓜v, J; rotors included.
    potential : float or ndarray, shape (B,)
        −Σ m g·p, J: zero with all mass at the world's origin. Springs are not in it (the channel
        ``force_energy`` of a run has theirs).

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    momentum : the other conserved quantity.

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> sk.energy(model, [0.0], [0.0])    # its middle hangs half a metre below the origin
    (0.0, -4.905)
    """
    table = run(ENERGY, model, (_energy.ROW,), q, v, NOTHING, None, None, threads)
    return number_or_array(table[..., 0]), number_or_array(table[..., 1])


def momentum(
    model: Model,
    q: Coordinates,
    v: Velocities,
    *,
    about: About = "origin",
    threads: int | None = None,
) -> SpatialVector:
    """Total angular and linear momentum, O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    about : {"origin", "com"}
        The point of the angular part: the world's origin, or the centre of mass (centroidal
        momentum).
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    momentum : ndarray, shape (6,) or (B, 6)
        [angular; linear] in world axes, N m s and N s. Rotors have none.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        About the centre of mass: the model has no mass.

    See Also
    --------
    center_of_mass : where the centre of mass is.

    Examples
    --------
    >>> model = sk.examples.satellite()
    >>> v = np.zeros(model.nv)
    >>> v[3] = 1.0    # the bus along its x axis at 1 m/s, and the panel with it
    >>> sk.momentum(model, model.neutral(), v)[3:]    # 104 kg
    array([104.,   0.,   0.])
    """
    if about not in ("origin", "com"):
        raise StateError(f"about is {about!r}", "give 'origin' or 'com'.")
    table = run(ENERGY, model, (_energy.ROW,), q, v, NOTHING, None, None, threads)
    result = np.ascontiguousarray(table[..., 2:8])
    if about == "com":
        _check_mass(model, table)
        result[..., :3] -= np.cross(table[..., 8:11], table[..., 5:8])
    return result


def center_of_mass(model: Model, q: Coordinates, *, threads: int | None = None) -> Positions:
    """The centre of mass of all bodies.

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
    com : ndarray, shape (3,) or (B, 3)
        In world axes, m.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        The model has no mass.

    See Also
    --------
    momentum : with ``about="com"`` the momentum about it.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> sk.center_of_mass(model, [0.0, 0.0])
    array([ 0.,  0., -1.])
    """
    table = run(ENERGY, model, (_energy.ROW,), q, np.zeros(model.nv), NOTHING, None, None, threads)
    _check_mass(model, table)
    return np.ascontiguousarray(table[..., 8:11])


def _check_mass(model: Model, table: Floats) -> None:
    if not table[..., 11].all():
        raise DynamicsError(
            f"Model {model.name!r} has no mass and so no centre of mass; give a body mass."
        )


def node_table(model: Model, nodes: Any) -> Floats:
    """(body, point in the kernel frame) for each node, flat.

    A node is a body or a frame with a point in its axes, or the name of one for its origin.
    """
    if isinstance(nodes, str):
        raise StateError(f"nodes is {nodes!r}", "give a list of names or of (body, point) pairs.")
    try:
        pairs = [(one, _ORIGIN) if isinstance(one, str) else tuple(one) for one in nodes]
        pairs = [(body, point) for body, point in pairs]
    except (TypeError, ValueError):
        raise StateError(f"nodes is {nodes!r}", "give a list of (body, point) pairs.") from None
    table = np.empty((len(pairs), 4))
    for row, (body, point) in zip(table, pairs, strict=True):
        row[0], row[1:] = _node(model, body, read_point(point))
    return table.reshape(-1)


_ORIGIN = (0.0, 0.0, 0.0)


def one_node(model: Model, body: Any, point: Any) -> Floats:
    """The same for one of them."""
    k, place = _node(model, body, read_point(point))
    return np.array((k, *place))


def _node(model: Model, name: Any, point: Floats) -> tuple[int, list[float]]:
    """(body, point in its kernel frame), of a point in the axes of a body or frame."""
    k = None if isinstance(name, str) else _body_number(model, name)
    if k is None:
        frame = model.frame(name)
        if frame.body == GROUND:
            raise ModelError(
                f"{name!r} is fixed in the world and does not move",
                "name a frame or body that does.",
            )
        k = model.body_index(frame.body)
        if name != frame.body:
            point = frame.translation + applied(frame.rotation, point)
    return k, _turned_back(model.alignment[k], point)


def _turned_back(rotation: Floats, point: Floats) -> list[float]:
    """rotationᵀ·point, rounded as `applied` does; for one point plain floats are faster."""
    first, second, third = rotation.tolist()
    x, y, z = point.tolist()
    return [a * x + b * y + c * z for a, b, c in zip(first, second, third, strict=True)]


def _body_number(model: Model, body: Any) -> int:
    if not isinstance(body, (int, np.integer)) or not 0 <= body < model.n_bodies:
        raise ModelError(
            f"There is no body {body!r}",
            f"give a name, or a number from 0 to {model.n_bodies - 1}.",
        )
    return int(body)


def number_or_array(values: Floats) -> float | Floats:
    return float(values) if values.ndim == 0 else np.ascontiguousarray(values)
