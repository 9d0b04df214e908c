"""What closed loops carry, and inverse dynamics through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics.algorithms import INVERSE_WITH_F_EXT
from skodyn.dynamics.arguments import read_arguments
from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.coupled import deliver
from skodyn.dynamics.functions import forward_dynamics, inverse_dynamics
from skodyn.dynamics.loop_functions import (
    loop_basis,
    loop_jacobian,
    loop_rate,
    loop_rows,
    require_loops,
)
from skodyn.errors import StateError
from skodyn.model.loops.closing import ALONG, DOT, LENGTH, POINT
from skodyn.model.loops.loop_description import Loop, closing_rows
from skodyn.model.model import Model
from skodyn.typing import (
    Accelerations,
    Coordinates,
    Floats,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = ["LoopForces", "actuated_torques", "external_forces", "forces_of", "loop_forces"]


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
    require_loops(model, "loop_forces")
    vdot = forward_dynamics(model, q, v, tau, f_ext, threads=threads)
    inputs = read_arguments(INVERSE_WITH_F_EXT, model, q, v, vdot, f_ext)
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
    """Wrenches on body_b of a primitive's rows; those of kernels/loops/loop_primitives.py."""
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
    inputs = read_arguments(INVERSE_WITH_F_EXT, model, q, v, vdot, f_ext)
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
