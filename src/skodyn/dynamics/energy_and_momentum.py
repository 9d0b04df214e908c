"""Energy, momentum and the centre of mass: sums over all bodies, found in one sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from skodyn.dynamics.algorithms import ENERGY
from skodyn.dynamics.driver import NOTHING, run
from skodyn.errors import DynamicsError, StateError
from skodyn.kernels import energy as _energy
from skodyn.model.model import Model
from skodyn.typing import About, Coordinates, Floats, Positions, SpatialVector, Velocities

__all__ = ["center_of_mass", "energy", "momentum", "number_or_array"]


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


def number_or_array(values: Floats) -> float | Floats:
    return float(values) if values.ndim == 0 else np.ascontiguousarray(values)
