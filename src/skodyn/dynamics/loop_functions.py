"""The functions that speak of loops: how far they are open, which way is free."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from skodyn.dynamics import flexible_algorithms as _flexible
from skodyn.dynamics.algorithm import NATIVE, Algorithm
from skodyn.dynamics.driver import run
from skodyn.dynamics.functions import inverse_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix_solve
from skodyn.dynamics.moved import moved_to
from skodyn.errors import ModelError
from skodyn.kernels.loops import loop_queries as _queries
from skodyn.model.layout import LOOPS
from skodyn.model.loops.closing import row_count
from skodyn.model.loops.loop_description import closing_rows
from skodyn.model.loops.loop_layout import ROWS
from skodyn.model.loops.loop_tables import loop_workspace
from skodyn.model.model import Model
from skodyn.model.prescription import find_prescription
from skodyn.typing import Coordinates, DofArray, Floats, Velocities

__all__ = [
    "loop_basis",
    "loop_error",
    "loop_jacobian",
    "loop_rate",
    "loop_rows",
    "project_velocity",
    "require_loops",
]


def _query(single: Any, batch: Any, flexible: Algorithm, dimensions: int = 1) -> Algorithm:
    more = {"scratch": loop_workspace, "looped": NATIVE, "flexible": flexible}
    return Algorithm(single, batch, dimensions=dimensions, **more)  # type: ignore[arg-type]


GAPS = _query(_queries.loop_gaps, _queries.loop_gaps_batch, _flexible.BENT_LOOP_GAPS)
RATES = _query(_queries.loop_rates, _queries.loop_rates_batch, _flexible.BENT_LOOP_RATES)
JACOBIAN = _query(
    _queries.loop_jacobian, _queries.loop_jacobian_batch, _flexible.BENT_LOOP_JACOBIAN, 2
)
BASIS = _query(_queries.loop_basis, _queries.loop_basis_batch, _flexible.BENT_LOOP_BASIS, 2)


def require_loops(model: Model, what: str) -> int:
    """How many rows the loops of a model have."""
    if not model.has_loops:
        raise ModelError(
            f"Model {model.name!r} has no loops, which {what} is about",
            "add one with ModelBuilder.add_loop or add_coupling.",
        )
    tree = model.kernel_tree
    return int(tree[tree[LOOPS] + ROWS])


def loop_rows(model: Model) -> dict[str, slice]:
    """Which rows of `loop_error`, `loop_rate` and `loop_jacobian` belong to which loop.

    Parameters
    ----------
    model : Model
        The system.

    Returns
    -------
    rows : dict of str to slice
        By the names of loops, then of couplings.

    See Also
    --------
    loop_error : what stands in the rows.

    Examples
    --------
    >>> sk.loop_rows(sk.examples.four_bar())
    {'pin': slice(0, 5, None)}
    """
    at, found = 0, {}
    for name, loop in model.loops.items():
        kinds = closing_rows(loop.joint, loop.rotation_a, loop.rotation_b)
        count = sum(row_count(row.kind) for row in kinds)
        found[name] = slice(at, at + count)
        at += count
    for name in model.couplings:
        found[name] = slice(at, at + 1)
        at += 1
    return found


def loop_error(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """g(q): how far closed loops are open, row by row.

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
    error : ndarray, shape (r,) or (B, r)
        Metres and radians; zero where loops are closed. `loop_rows` says whose rows are whose.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        The model has no loops.

    See Also
    --------
    assemble : a q with g(q) = 0.
    loop_rate : ġ.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    >>> bool(np.abs(sk.loop_error(model, q)).max() < 1e-14)
    True
    """
    rows = require_loops(model, "loop_error")
    return run(GAPS, model, (rows,), q, out=out, threads=threads)


def loop_rate(
    model: Model,
    q: Coordinates,
    v: Velocities,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """ġ = G(q)·v: how fast closed loops open, row by row.

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
    rate : ndarray, shape (r,) or (B, r)
        m/s and rad/s.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        The model has no loops.

    See Also
    --------
    project_velocity : the nearest v with ġ = 0.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    >>> v = sk.project_velocity(model, q, [5.0, 0.0, 0.0])
    >>> bool(np.abs(sk.loop_rate(model, q, v)).max() < 1e-13)
    True
    """
    rows = require_loops(model, "loop_rate")
    return run(RATES, model, (rows,), q, v, out=out, threads=threads)


def loop_jacobian(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """G(q) = ∂g/∂q along velocity directions: the constraint Jacobian of closed loops.

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
    G : ndarray, shape (r, nv) or (B, r, nv)
        Columns of joints that are on no cycle of a row are zero.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        The model has no loops.

    See Also
    --------
    loop_basis : a basis of its null space.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q, v = [1.0, 0.2, 1.5], [1.0, 2.0, 3.0]
    >>> np.allclose(sk.loop_jacobian(model, q) @ v, sk.loop_rate(model, q, v))
    True
    """
    rows = require_loops(model, "loop_jacobian")
    return run(JACOBIAN, model, (rows, model.nv), q, out=out, threads=threads)


def loop_basis(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """X with v = X·u for every velocity that keeps loops closed.

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
    X : ndarray, shape (nv, mobility) or (B, nv, mobility)
        G·X = 0. Columns of the groups come first, in the order of `model.groups`, then those of
        joints outside all groups. Which basis it is may change from state to state; the space it
        spans does not.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        The model has no loops.

    See Also
    --------
    project_velocity : the nearest such velocity.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    >>> X = sk.loop_basis(model, q)
    >>> X.shape, bool(np.abs(sk.loop_jacobian(model, q) @ X).max() < 1e-14)
    ((3, 1), True)
    """
    require_loops(model, "loop_basis")
    freedom = model.nv - sum(group.rank for group in model.groups)
    return run(BASIS, model, (model.nv, freedom), q, out=out, threads=threads)


def project_velocity(
    model: Model,
    q: Coordinates,
    v: Velocities,
    hold: Iterable[str] = (),
    *,
    threads: int | None = None,
) -> DofArray:
    """The nearest velocity that keeps loops closed, in the metric of the mass matrix.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    hold : iterable of str, optional
        Names of joints that keep their velocity: those that are driven.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    v : ndarray, shape (nv,) or (B, nv)
        X(X*𝓜X)⁻¹X*𝓜v: what an impulse inside the loops would leave of v. With `hold`, the nearest
        of those that leave the joints in it alone.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.
        Or loops do not let joints in `hold` have velocities of their own.

    See Also
    --------
    assemble : the same for coordinates.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    >>> v = sk.project_velocity(model, q, [5.0, 0.0, 0.0])
    >>> bool(np.abs(sk.loop_rate(model, q, v)).max() < 1e-13)
    True
    """
    require_loops(model, "project_velocity")
    tree = model.opened
    still = np.zeros(model.nv)
    momentum = inverse_dynamics(tree, q, still, v, threads=threads)
    momentum = momentum - inverse_dynamics(tree, q, still, still, threads=threads)
    found = mass_matrix_solve(model, q, momentum, threads=threads)
    held = find_prescription(model, hold)
    if not held.dofs.size:
        return found
    return moved_to(held, "velocities", q, found, v, threads).found
