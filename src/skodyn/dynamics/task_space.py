"""Operational space: how a system feels at some of its points.

With x = J·v the velocities of chosen points, Λ = (J 𝓜⁻¹ J*)⁻¹ is the inertia met there, and
ẍ = Λ⁻¹·F + ẍ₀ what forces F at the points do, where ẍ₀ = J·v̇ + J̇·v is how they move when nothing
drives the joints. J 𝓜⁻¹ J* = 𝔅*Ω𝔅 (Jain 2011-II eq. 60) comes from one gather and one scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.dynamics.functions import forward_dynamics
from skodyn.dynamics.kinematics import jacobian, jacobian_dot_v
from skodyn.dynamics.mass_matrices import mass_matrix_solve, operational_space_compliance
from skodyn.dynamics.nodes import Nodes, node_pairs
from skodyn.errors import DynamicsError, StateError
from skodyn.model.model import Model
from skodyn.typing import Floats, Vector

__all__ = ["OperationalSpace", "operational_space", "operational_space_inertia"]

INDEPENDENT = 1e-12
"""Directions whose compliance, scaled to a unit diagonal, is nearer to singular are not free."""


class OperationalSpace(NamedTuple):
    """What a controller in the space of some points needs; m rows for the directions chosen.

    F = inertia·ẍ + bias is the force there that makes them accelerate by ẍ, and jacobian.T·F the
    joint forces that do. inverse_jacobian = 𝓜⁻¹J*Λ is the dynamically consistent inverse: of all v
    with J·v = ẋ, inverse_jacobian·ẋ has the least kinetic energy; and joint forces
    (I − J*·inverse_jacobian*)·τ leave the points alone.
    """

    jacobian: Floats  # m × nv
    compliance: Floats  # m × m, Λ⁻¹
    inertia: Floats  # m × m, Λ
    bias: Floats  # m
    inverse_jacobian: Floats  # nv × m


def operational_space_inertia(
    model: Model,
    q: ArrayLike,
    nodes: Nodes,
    *,
    rows: Sequence[int] | None = None,
    threads: int | None = None,
) -> Floats:
    """Λ = (J𝓜⁻¹Jᵀ)⁻¹: the inertia that forces at points feel.

    O(n), except for the inversion.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    nodes : sequence of (body, point) or of names, or one of them
        k points: the name of a body or frame or the number of a body, and a point in its axes from
        its origin, m. A name by itself means the origin.
    rows : sequence of int, optional
        Some of the 6k rows, six a point, [angular; linear] in world axes; all by default.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    inertia : ndarray, shape (r, r) or (B, r, r)
        r is the number of rows.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        The points cannot be moved independently along all rows.

    See Also
    --------
    operational_space_compliance : its inverse.
    operational_space : with bias and inverse Jacobian.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> tip = [("link2", (0, 0, -1))]
    >>> inertia = sk.operational_space_inertia(model, [0.5, 0.8], tip, rows=[3, 5])    # x and z
    >>> compliance = sk.operational_space_compliance(model, [0.5, 0.8], tip)
    >>> np.allclose(inertia @ compliance[np.ix_([3, 5], [3, 5])], np.eye(2))
    True
    """
    pairs = node_pairs(nodes)
    whole = operational_space_compliance(model, q, pairs, threads=threads)
    chosen = _rows(rows, whole.shape[-1])
    return _inverted(whole[..., chosen[:, None], chosen], pairs)


def operational_space(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    nodes: Nodes,
    f_ext: ArrayLike | None = None,
    *,
    rows: Sequence[int] | None = None,
    threads: int | None = None,
) -> OperationalSpace:
    """Inertia, bias, Jacobian and its dynamically consistent inverse at points.

    Λẍ + μ = F for the accelerations ẍ of the chosen rows; O(n) for each row.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    nodes : sequence of (body, point) or of names, or one of them
        k points: the name of a body or frame or the number of a body, and a point in its axes from
        its origin, m. A name by itself means the origin.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    rows : sequence of int, optional
        Some of the 6k rows, six a point, [angular; linear] in world axes; all by default.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    space : OperationalSpace
        The bias holds gravity, velocities and external forces.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        The points cannot be moved independently along all rows.

    See Also
    --------
    operational_space_inertia : Λ alone.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> tip = [("link2", (0, 0, -1))]
    >>> space = sk.operational_space(model, [0.5, 0.8], [0.0, 0.0], tip, rows=[3, 5])
    >>> np.allclose(space.jacobian @ space.inverse_jacobian, np.eye(2))
    True
    >>> sk.operational_space(model, [0.5, 0.8], [0.0, 0.0], "link2", rows=[3]).inertia.shape
    (1, 1)
    """
    pairs = node_pairs(nodes)
    whole = operational_space_compliance(model, q, pairs, threads=threads)
    chosen = _rows(rows, whole.shape[-1])
    compliance = np.ascontiguousarray(whole[..., chosen[:, None], chosen])
    inertia = _inverted(compliance, pairs)
    rest = forward_dynamics(model, q, v, np.zeros(model.nv), f_ext, threads=threads)
    parts = [jacobian(model, q, *node, threads=threads) for node in pairs]
    moved = [jacobian_dot_v(model, q, v, *node, threads=threads) for node in pairs]
    J = np.ascontiguousarray(np.concatenate(parts, axis=-2)[..., chosen, :])
    drift = np.concatenate(moved, axis=-1)[..., chosen] + np.einsum("...ij,...j->...i", J, rest)
    bias = -np.einsum("...ij,...j->...i", inertia, drift)
    answers = np.stack([_solved(model, q, J[..., i, :], threads) for i in range(len(chosen))], -1)
    return OperationalSpace(J, compliance, inertia, bias, answers @ inertia)


def _solved(model: Model, q: ArrayLike, row: Floats, threads: int | None) -> Floats:
    return mass_matrix_solve(model, q, np.ascontiguousarray(row), threads=threads)


def _rows(rows: Sequence[int] | None, size: int) -> NDArray[np.int64]:
    """The chosen rows, or all."""
    if size == 0:
        raise StateError("nodes is empty", "give a list of (body, point) pairs.")
    if rows is None:
        return np.arange(size)
    try:
        chosen = np.asarray(rows)
        listed = chosen.tolist() if chosen.dtype.kind in "iu" and chosen.ndim == 1 else []
        inside = all(0 <= row < size for row in listed)
        valid = bool(listed) and inside and len(set(listed)) == len(listed)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise StateError(
            f"rows is {rows!r}",
            f"give different whole numbers from 0 to {size - 1}, six for each node: [angular; "
            "linear].",
        )
    return chosen.astype(np.int64)


def _inverted(compliance: Floats, nodes: Sequence[tuple[str | int, Vector]]) -> Floats:
    """Λ, symmetric; a DynamicsError if the points cannot move in all of these directions."""
    size = np.sqrt(np.maximum(np.diagonal(compliance, axis1=-2, axis2=-1), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    scaled = compliance / scale[..., :, None] / scale[..., None, :]
    least = np.linalg.eigvalsh(scaled)
    rank = (least > INDEPENDENT).sum(axis=-1)
    count = compliance.shape[-1]
    if (rank < count).any():
        names = ", ".join(repr(body) for body, _ in nodes)
        free = int(np.min(rank))
        remedy = f"choose at most {free} of them with rows=" if free else "choose others"
        raise DynamicsError(
            f"Only {free} of the {count} directions at {names} can be moved independently; "
            f"{remedy}."
        )
    whole = np.linalg.inv(scaled) / scale[..., :, None] / scale[..., None, :]
    result: Floats = 0.5 * (whole + np.swapaxes(whole, -1, -2))
    return result
