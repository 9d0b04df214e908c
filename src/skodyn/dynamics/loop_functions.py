"""The functions that speak of loops: how far they are open, which way is free, what they carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics.coupled import deliver
from skodyn.dynamics.driver import NATIVE, Algorithm, run
from skodyn.dynamics.explain import read_arguments
from skodyn.dynamics.functions import INVERSE_PUSHED, forward_dynamics, inverse_dynamics
from skodyn.dynamics.kinematics import forward_kinematics
from skodyn.dynamics.mass_matrices import mass_matrix_solve
from skodyn.errors import ModelError, StateError
from skodyn.kernels import loop_queries as _queries
from skodyn.model.columns import Floats
from skodyn.model.layout import LOOPS
from skodyn.model.loop_layout import ROWS
from skodyn.model.loop_tables import loop_workspace
from skodyn.model.loops import ALONG, DOT, LENGTH, POINT, Loop, closing_rows, row_count
from skodyn.model.model import Model
from skodyn.typing import (
    Accelerations,
    Coordinates,
    DofArray,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = [
    "LoopForces",
    "actuated_torques",
    "loop_basis",
    "loop_error",
    "loop_forces",
    "loop_jacobian",
    "loop_rate",
    "loop_rows",
    "project_velocity",
]


def _query(single: Any, batch: Any, takes: str, dimensions: int = 1) -> Algorithm:
    return Algorithm(
        single, batch, takes, dimensions=dimensions, scratch=loop_workspace, looped=NATIVE
    )


GAPS = _query(_queries.loop_gaps, _queries.loop_gaps_batch, "")
RATES = _query(_queries.loop_rates, _queries.loop_rates_batch, "v")
JACOBIAN = _query(_queries.loop_jacobian, _queries.loop_jacobian_batch, "", 2)
BASIS = _query(_queries.loop_basis, _queries.loop_basis_batch, "", 2)


def _require_loops(model: Model, what: str) -> int:
    """How many rows the loops of a model have."""
    if not model.has_loops:
        raise ModelError(
            f"Model {model.name!r} has no loops, which {what} speaks of",
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
    rows = _require_loops(model, "loop_error")
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
    rows = _require_loops(model, "loop_rate")
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
    rows = _require_loops(model, "loop_jacobian")
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
    _require_loops(model, "loop_basis")
    freedom = model.nv - sum(group.rank for group in model.groups)
    return run(BASIS, model, (model.nv, freedom), q, out=out, threads=threads)


def project_velocity(
    model: Model, q: Coordinates, v: Velocities, *, threads: int | None = None
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
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    v : ndarray, shape (nv,) or (B, nv)
        X(X*𝓜X)⁻¹X*𝓜v: what an impulse inside the loops would leave of v.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

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
    _require_loops(model, "project_velocity")
    tree = model.opened
    still = np.zeros(model.nv)
    momentum = inverse_dynamics(tree, q, still, v, threads=threads)
    momentum = momentum - inverse_dynamics(tree, q, still, still, threads=threads)
    return mass_matrix_solve(model, q, momentum, threads=threads)


# ---- forces ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LoopForces:
    """What loops carry.

    wrench: [moment; force] of each loop on its body_b, at the closure in world axes, (…, loops, 6).
    torque: of each coupling, the force in the direction of its row, (…, couplings): what acts on
    the follower, or on each joint per unit of its factor. unique, unique_torque: true where
    redundant rows leave no choice; elsewhere the numbers are those of least norm. joint_torque:
    what all of them do on the joints, Gᵀλ, always unique, (…, nv).
    """

    names: tuple[str, ...]
    wrench: Floats
    unique: NDArray[np.bool_]
    couplings: tuple[str, ...]
    torque: Floats
    unique_torque: NDArray[np.bool_]
    joint_torque: Floats


def loop_forces(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None = None,
    *,
    threads: int | None = None,
) -> LoopForces:
    """What closed loops and couplings carry under given forces.

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
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    forces : LoopForces
        Wrenches at the closures by loop, torques of couplings, and which of them are unique.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    joint_forces : what the joints of the tree carry.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    >>> found = sk.loop_forces(model, q, np.zeros(3), np.zeros(3))
    >>> found.names, found.wrench.shape
    (('pin',), (1, 6))
    """
    _require_loops(model, "loop_forces")
    vdot = forward_dynamics(model, q, v, tau, f_ext, threads=threads)
    inputs = read_arguments(INVERSE_PUSHED, model, q, v, vdot, f_ext)
    needed = inverse_dynamics(model.opened, q, v, vdot, f_ext, threads=threads)
    return forces_of(model, inputs.q, needed - np.asarray(tau, np.float64))


def forces_of(model: Model, q: Floats, joint_torque: Floats) -> LoopForces:
    """Multipliers of least norm with Gᵀλ = joint_torque, group by group, as wrenches."""
    shape = joint_torque.shape[:-1]
    states, torques = q.reshape(-1, model.nq), joint_torque.reshape(-1, model.nv)
    loops, couplings, count = len(model.loops), len(model.couplings), len(states)
    wrench, unique = np.zeros((count, loops, 6)), np.ones((count, loops, 6), np.bool_)
    torque, alone = np.zeros((count, couplings)), np.ones((count, couplings), np.bool_)
    for i in range(count):  # one by one, so that a state has the same bits in a batch
        wrench[i], unique[i], torque[i], alone[i] = _forces_of_state(model, states[i], torques[i])
    return LoopForces(
        tuple(model.loops),
        wrench.reshape(*shape, loops, 6),
        unique.reshape(*shape, loops, 6),
        tuple(model.couplings),
        torque.reshape(*shape, couplings),
        alone.reshape(*shape, couplings),
        joint_torque,
    )


def _forces_of_state(
    model: Model, q: Floats, torques: Floats
) -> tuple[Floats, NDArray[np.bool_], Floats, NDArray[np.bool_]]:
    """(wrenches, which are unique, torques of couplings, which are unique) of one state."""
    rows, matrix = loop_rows(model), loop_jacobian(model, q)
    multipliers = np.zeros(len(matrix))
    loose = [np.zeros((len(matrix), 0))]  # for each group, the multipliers that do nothing
    for group in model.groups:
        own = np.concatenate([np.arange(len(matrix))[rows[name]] for name in group.constraints])
        dofs = np.concatenate([np.arange(model.nv)[model.v_slice(j)] for j in group.joints])
        u, s, w = np.linalg.svd(matrix[np.ix_(own, dofs)])
        rank = group.rank
        alive = s[:rank] > 1e-12 * s[:1]
        inverse = np.where(alive, 1.0 / np.where(alive, s[:rank], 1.0), 0.0)
        multipliers[own] = u[:, :rank] @ (inverse * (w[:rank] @ torques[dofs]))
        whole = np.zeros((len(matrix), len(own) - rank))
        whole[own] = u[:, rank:]
        loose.append(whole)
    free, maps = np.concatenate(loose, axis=1), _wrench_maps(model, q)
    wrench = np.zeros((len(model.loops), 6))
    unique = np.ones(wrench.shape, dtype=np.bool_)
    for i, name in enumerate(model.loops):
        wrench[i] = maps[name] @ multipliers[rows[name]]
        undone = np.abs(maps[name] @ free[rows[name]])
        unique[i] = undone.max(axis=1, initial=0.0) < 1e-8
    at = [rows[name].start for name in model.couplings]
    alone = np.abs(free[at]).max(axis=1, initial=0.0) < 1e-8
    return wrench, unique, multipliers[at], alone


def _ends(model: Model, q: Floats, loop: Loop) -> tuple[tuple[Floats, Floats], ...]:
    """(axes, origin) of the bodies at both ends of a loop."""
    rotations, positions = forward_kinematics(model.opened, q)
    numbers = [
        model.body_index(n) if n in model.body_names else -1 for n in (loop.body_a, loop.body_b)
    ]
    return tuple(
        (rotations[k], positions[k]) if k >= 0 else (np.eye(3), np.zeros(3)) for k in numbers
    )


def _wrench_maps(model: Model, q: Floats) -> dict[str, Floats]:
    """For each loop, (6, rows): the wrench on body_b at the closure for each multiplier."""
    found = {}
    for name, loop in model.loops.items():
        (r_a, o_a), (r_b, o_b) = _ends(model, q, loop)
        d = (o_b + r_b @ loop.translation_b) - (o_a + r_a @ loop.translation_a)
        columns: list[Floats] = []
        for row in closing_rows(loop.joint, loop.rotation_a, loop.rotation_b):
            columns += _row_wrenches(row.kind, r_a @ row.u, r_b @ row.w, d, row.c)
        found[name] = np.stack(columns, axis=1)
    return found


def _row_wrenches(kind: int, u: Floats, w: Floats, d: Floats, c: float) -> list[Floats]:
    """Wrenches on body_b of a primitive's rows; those of kernels/loop_rows.py."""
    none = np.zeros(3)
    if kind == POINT:
        return [np.concatenate((none, e)) for e in np.eye(3)]
    if kind == DOT:
        return [np.concatenate((-np.cross(u, w), none))]
    if kind == ALONG:
        return [np.concatenate((none, u))]
    if kind == LENGTH:
        return [np.concatenate((none, d / np.linalg.norm(d)))]
    return [np.concatenate((c * u, -u))]


def external_forces(model: Model, q: Floats, found: LoopForces) -> tuple[Floats, Floats]:
    """(f_ext (…, bodies, 6), tau (…, nv)) that do on the tree what loops and couplings do."""
    states = q.reshape(-1, model.nq)
    wrenches = found.wrench.reshape(len(states), -1, 6)
    torques = found.torque.reshape(len(states), len(model.couplings))
    rows = loop_rows(model)
    at = [rows[name].start for name in model.couplings]
    forces, taus = np.zeros((len(states), model.n_bodies, 6)), np.zeros((len(states), model.nv))
    for row, state in enumerate(states):
        taus[row] = loop_jacobian(model, state)[at].T @ torques[row]
        for loop, wrench in zip(model.loops.values(), wrenches[row], strict=True):
            _add_reaction(model, state, loop, wrench, forces[row])
    return forces.reshape(*q.shape[:-1], model.n_bodies, 6), taus.reshape(*q.shape[:-1], model.nv)


def _add_reaction(model: Model, q: Floats, loop: Loop, wrench: Floats, forces: Floats) -> None:
    """A wrench on body_b at the closure, and its opposite on body_a, at the bodies' origins."""
    (_, o_a), (r_b, o_b) = _ends(model, q, loop)
    closure = o_b + r_b @ loop.translation_b
    for name, origin, sign in ((loop.body_b, o_b, 1.0), (loop.body_a, o_a, -1.0)):
        if name in model.body_names:
            k = model.body_index(name)
            moment = wrench[:3] + np.cross(closure - origin, wrench[3:])
            forces[k] += sign * np.concatenate((moment, wrench[3:]))


# ---- inverse dynamics --------------------------------------------------------------------------


def _refuse_opening(model: Model, q: Coordinates, v: Velocities, vdot: Accelerations) -> None:
    """A StateError if an acceleration opens a loop: Gv̇ must be what motions of the model have."""
    possible = forward_dynamics(model, q, v, np.zeros(model.nv))
    opening = np.abs(loop_rate(model, q, np.asarray(vdot, np.float64) - possible))
    size = max(1.0, float(np.abs(possible).max(initial=0.0)))
    if opening.max(initial=0.0) > 1e-6 * size:
        row = int(np.unravel_index(int(np.argmax(opening)), opening.shape)[-1])
        name = next(name for name, rows in loop_rows(model).items() if row < rows.stop)
        raise StateError(
            f"This vdot opens loop {name!r} with {opening.max():.3g} m/s² (or rad/s²)",
            "give an acceleration that sk.forward_dynamics could have.",
        )


def actuated_torques(
    model: Model,
    q: Coordinates,
    v: Velocities,
    vdot: Accelerations,
    f_ext: Wrenches | None,
    actuated: Sequence[str] | None,
    out: Floats | None,
    threads: int | None,
) -> Floats:
    """Forces of the actuated joints that produce v̇: X*τ must be what the tree would need."""
    if actuated is None:
        raise StateError(
            f"Model {model.name!r} has loops ({model.loop_names[0]!r} is one), through which "
            "forces of different joints do the same",
            "name the joints that act, sk.inverse_dynamics(…, actuated=[…]), or ask model.opened.",
        )
    dofs = np.concatenate(
        [np.arange(model.nv)[model.v_slice(name)] for name in actuated] or [np.zeros(0, np.int64)]
    ).astype(np.int64)
    _refuse_opening(model, q, v, vdot)
    needed = inverse_dynamics(model.opened, q, v, vdot, f_ext, threads=threads)
    inputs = read_arguments(INVERSE_PUSHED, model, q, v, vdot, f_ext)
    states = np.broadcast_to(inputs.q, (*inputs.batch_shape, model.nq)).reshape(-1, model.nq)
    basis = loop_basis(model, states)
    result = np.zeros((len(states), model.nv))
    for row, (x, tau) in enumerate(zip(basis, needed.reshape(-1, model.nv), strict=True)):
        acting = x[dofs].T
        sizes = np.linalg.svd(acting, compute_uv=False) if acting.size else np.zeros(0)
        rank = int((sizes > 1e-9 * max(sizes[0], 1e-300)).sum()) if sizes.size else 0
        if rank < len(dofs):
            raise StateError(
                f"The {len(dofs)} forces of actuated joints {', '.join(map(repr, actuated))} are "
                f"not unique: only {rank} of them do different things to model {model.name!r} at "
                "this q",
                "name fewer joints.",
            )
        solved, *_ = np.linalg.lstsq(acting, x.T @ tau, rcond=None)
        rest = np.abs(acting @ solved - x.T @ tau).max(initial=0.0)
        if rest > 1e-9 * max(1.0, float(np.abs(x.T @ tau).max(initial=0.0))):
            raise StateError(
                f"The actuated joints {', '.join(map(repr, actuated))} cannot produce this vdot: "
                f"a generalised force of {rest:.3g} is left",
                "name more joints, or another vdot.",
            )
        result[row, dofs] = solved
    return deliver(result.reshape(*inputs.batch_shape, model.nv), out)
