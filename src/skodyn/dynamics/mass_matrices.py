"""The mass matrix, its inverse and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.algorithms import (
    COMPLIANCE,
    COUPLED_SOLVE,
    JACOBIAN,
    LOGDET,
    LOOPED_SOLVE,
    MASS_INVERSE,
    MASS_MATRIX,
    SOLVE,
)
from skodyn.dynamics.arguments import check_out, read_arguments, read_columns
from skodyn.dynamics.driver import COMPILED, NOTHING, TURNED_AWAY, block_of, first_block, run
from skodyn.dynamics.energy_and_momentum import number_or_array
from skodyn.dynamics.nodes import Nodes, node_table
from skodyn.dynamics.status_messages import raise_failure
from skodyn.model.model import Model
from skodyn.typing import Compliance, Coordinates, DofMatrix, Floats

__all__ = [
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_solve",
    "operational_space_compliance",
]


def mass_matrix(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> DofMatrix:
    """The mass matrix 𝓜: composite rigid body algorithm (CRBA).

    Also called joint-space inertia matrix. Kinetic energy is ½vᵀ𝓜v.

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
    mass : ndarray, shape (nv, nv) or (B, nv, nv)
        Symmetric, both triangles filled; kg m², kg m and kg. Rotor inertia (armature) is on the
        diagonal.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    mass_matrix_solve : 𝓜⁻¹ times a vector, O(n).
    mass_matrix_inverse : 𝓜⁻¹ without forming 𝓜.
    coriolis_matrix : the matrix beside it in the equations of motion.

    Notes
    -----
    Jain 2011-II, Algorithms 4.1 and 4.2. Only pairs of joints of which one carries the other are
    computed, so the cost is O(n·depth). To solve with it, `mass_matrix_solve` is faster.

    The CRBA is chapter 6 of R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> sk.mass_matrix(model, [0.5, 0.0]).round(3)
    array([[2.667, 0.833],
           [0.833, 0.333]])
    """
    if threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty((model.nv, model.nv)) if out is None else out
        blocks = model._kernel_blocks
        block = blocks[0] if blocks else first_block(model)
        try:
            status = MASS_MATRIX.ready(block, q, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
    return run(MASS_MATRIX, model, (model.nv, model.nv), q, out=out, threads=threads)


def mass_matrix_inverse(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> DofMatrix:
    """The inverse of the mass matrix in O(n²), without forming 𝓜.

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
    inverse : ndarray, shape (nv, nv) or (B, nv, nv)
        𝓜⁻¹, symmetric.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    mass_matrix_solve : cheaper for few right-hand sides.

    Notes
    -----
    Jain 2011-II eq. 51, with the articulated body inertias of forward dynamics.

    Examples
    --------
    >>> model = sk.examples.pendulum(3)
    >>> q = [0.5, 0.0, -0.3]
    >>> np.allclose(sk.mass_matrix_inverse(model, q) @ sk.mass_matrix(model, q), np.eye(3))
    True
    """
    return run(MASS_INVERSE, model, (model.nv, model.nv), q, out=out, threads=threads)


def mass_matrix_solve(
    model: Model,
    q: Coordinates,
    rhs: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """𝓜⁻¹ times right-hand sides, in O(n) for each.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    rhs : array_like, shape (nv,), (nv, k) or (B, nv)
        For one state a vector, or k columns as in `numpy.linalg.solve`; for a batch one vector a
        state.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    x : ndarray
        𝓜⁻¹·rhs, of the shape of rhs.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    forward_dynamics : with gravity, velocities and external forces.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q = [0.5, 0.0]
    >>> x = sk.mass_matrix_solve(model, q, [1.0, 0.0])
    >>> np.allclose(sk.mass_matrix(model, q) @ x, [1.0, 0.0])
    True
    """
    if _axes(q) == 1 and _axes(rhs) == 2:
        return _solve_columns(model, q, rhs, out)
    return run(SOLVE, model, (model.nv,), q, NOTHING, rhs, None, out, threads)


def _solve_columns(model: Model, q: Coordinates, rhs: ArrayLike, out: Floats | None) -> Floats:
    """All columns of rhs for one state: the articulated inertias are gathered once."""
    inputs = read_columns(model, q, rhs)
    result = check_out(out, inputs.x.T.shape, inputs)
    answers = np.empty(inputs.x.shape)
    rhs_rows, flat = inputs.x.reshape(-1), answers.reshape(-1)
    algorithm = COUPLED_SOLVE if model.mimics else LOOPED_SOLVE if model.has_loops else SOLVE
    algorithm = algorithm.flexible if model.flexible else algorithm  # type: ignore[assignment]
    status = (
        algorithm.ready(block_of(algorithm, model), inputs.q, rhs_rows, flat) if flat.size else 0
    )
    if status != 0:
        raise_failure(algorithm, model, inputs, status, 0)
    result = result if out is None else out
    result[...] = answers.T
    return result


def _axes(value: Any) -> int:
    """How many axes an argument has; −1 for what is not a table at all."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


@overload
def mass_matrix_logdet(
    model: Model, q: Sequence[float], *, threads: int | None = None
) -> float: ...
@overload
def mass_matrix_logdet(
    model: Model, q: Sequence[Sequence[float]], *, threads: int | None = None
) -> Floats: ...
@overload
def mass_matrix_logdet(
    model: Model, q: Coordinates, *, threads: int | None = None
) -> float | Floats: ...
def mass_matrix_logdet(
    model: Model, q: Coordinates, *, threads: int | None = None
) -> float | Floats:
    """The logarithm of the determinant of the mass matrix, O(n).

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
    logdet : float or ndarray, shape (B,)
        log det 𝓜, in SI units.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    mass_matrix_logdet_gradient : its derivative.
    fixman_potential : kT/2 times it.

    Notes
    -----
    det 𝓜 is the product of the determinants of D(k) of the articulated body recursion (Jain 2011-II
    eq. 53).

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q = [0.5, 0.3]
    >>> np.isclose(sk.mass_matrix_logdet(model, q), np.log(np.linalg.det(sk.mass_matrix(model, q))))
    np.True_
    """
    return number_or_array(run(LOGDET, model, (1,), q, threads=threads)[..., 0])


def operational_space_compliance(
    model: Model,
    q: Coordinates,
    nodes: Nodes,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Compliance:
    """J𝓜⁻¹Jᵀ for points on bodies: how forces there accelerate them.

    The inverse of the operational space inertia matrix Λ, also for points on several bodies.

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
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    compliance : ndarray, shape (6k, 6k) or (B, 6k, 6k)
        From forces [moment; force] to accelerations [angular; linear], in world axes.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.
    ModelError
        There is no such body.

    See Also
    --------
    jacobian : the J in it.

    Notes
    -----
    From the extended operational space compliance Ω (Jain 2011-II eqs. 59, 60), without 𝓜⁻¹.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, tip = [0.5, 0.0], ("link2", (0, 0, -1))
    >>> J = sk.jacobian(model, q, *tip)
    >>> expected = J @ sk.mass_matrix_inverse(model, q) @ J.T
    >>> np.allclose(sk.operational_space_compliance(model, q, [tip]), expected)
    True
    """
    table = node_table(model, nodes)
    model._refuse_flexible("operational_space_compliance")
    if model.mimics or model.has_loops:
        return _coupled_compliance(model, q, table, out, threads)
    size = 6 * (len(table) // 4)
    return run(COMPLIANCE, model, (size, size), q, NOTHING, table, None, out, threads)


def _coupled_compliance(
    model: Model, q: Coordinates, nodes: Floats, out: Floats | None, threads: int | None
) -> Floats:
    """J (Gᵀ𝓜G)⁻¹ Jᵀ, or with loops J X(X*𝓜X)⁻¹X* Jᵀ: one O(N) solve for each of its columns."""
    inputs = read_arguments(COMPLIANCE, model, q, NOTHING, nodes, None)
    solve = COUPLED_SOLVE if model.mimics else LOOPED_SOLVE
    states = inputs.q.reshape(-1, model.nq)
    jacobians = np.concatenate(
        [
            run(JACOBIAN, model, (6, model.nv), states, NOTHING, node, None, None, threads)
            for node in nodes.reshape(-1, 4)
        ]
        or [np.empty((len(states), 0, model.nv))],
        axis=1,
    )
    size = jacobians.shape[1]
    moved = np.empty_like(jacobians)
    for row in range(size):
        rhs = np.ascontiguousarray(jacobians[:, row])
        moved[:, row] = run(solve, model, (model.nv,), states, NOTHING, rhs, None, None, threads)
    both = np.einsum("bin,bjn->bij", jacobians, moved)
    upper = np.triu(both) + np.swapaxes(np.triu(both, 1), -1, -2)
    return _coupled.deliver(upper.reshape(*inputs.batch_shape, size, size), out)
