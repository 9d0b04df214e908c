"""The functions of the front door.

Every function takes one state (q of shape (nq,)) or a batch (q of shape (B, nq)), which runs as
many states at a time as a SIMD register has lanes, four or eight, on `threads` threads (all cores
by default). A state's result does not depend on its neighbours, on the lane it lands in or on the
number of threads.

`driver.run` serves them all. The three that are called in tight loops, forward and inverse dynamics
and the mass matrix, have its single-state path written out at their head: for a 7-joint arm the
detour through a general function would cost a third of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics import looped as _looped
from skodyn.dynamics.driver import (
    COMPILED,
    NATIVE,
    NOTHING,
    TURNED_AWAY,
    Algorithm,
    block_of,
    first_block,
    run,
)
from skodyn.dynamics.explain import (
    check_out,
    raise_failure,
    read_arguments,
    read_columns,
    read_point,
)
from skodyn.errors import DynamicsError, ModelError, StateError
from skodyn.kernels import compliance as _compliance
from skodyn.kernels import coupled_dynamics as _coupled_kernels
from skodyn.kernels import embedded_dynamics as _embedded
from skodyn.kernels import energy as _energy
from skodyn.kernels import forward_dynamics as _forward_dynamics
from skodyn.kernels import forward_kinematics as _kinematics
from skodyn.kernels import inverse_dynamics as _inverse_dynamics
from skodyn.kernels import jacobian as _jacobian
from skodyn.kernels import joint_forces as _joint_forces
from skodyn.kernels import mass_matrix as _mass_matrix
from skodyn.kernels import mass_matrix_inverse as _mass_inverse
from skodyn.kernels import mass_matrix_logdet as _logdet
from skodyn.kernels import mass_matrix_solve as _solve
from skodyn.kernels.matrices import matrix_lanes
from skodyn.kernels.mimics import mimic_lanes
from skodyn.model.columns import Floats
from skodyn.model.loop_tables import loop_workspace
from skodyn.model.model import Model
from skodyn.model.products import applied

__all__ = [
    "bias_force",
    "center_of_mass",
    "energy",
    "forward_dynamics",
    "forward_kinematics",
    "gravity_force",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot_v",
    "joint_forces",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_solve",
    "momentum",
    "operational_space_compliance",
    "velocities",
]

COUPLED_FORWARD = Algorithm(
    _coupled_kernels.forward_dynamics,
    _coupled_kernels.forward_dynamics_batch,
    "vxf",
    "tau",
    scratch=mimic_lanes,
    coupled=NATIVE,
)
COUPLED_SOLVE = Algorithm(
    _coupled_kernels.mass_matrix_solve,
    _coupled_kernels.mass_matrix_solve_batch,
    "x",
    "rhs",
    scratch=mimic_lanes,
    coupled=NATIVE,
)
COUPLED_INVERSE = Algorithm(
    _coupled_kernels.mass_matrix_inverse,
    _coupled_kernels.mass_matrix_inverse_batch,
    "",
    dimensions=2,
    scratch=mimic_lanes,
    coupled=NATIVE,
)
COUPLED_LOGDET = Algorithm(
    _coupled_kernels.mass_matrix_logdet,
    _coupled_kernels.mass_matrix_logdet_batch,
    "",
    scratch=mimic_lanes,
    coupled=NATIVE,
)
LOOPED_FORWARD = Algorithm(
    _embedded.forward_dynamics,
    _embedded.forward_dynamics_batch,
    "vxf",
    "tau",
    scratch=loop_workspace,
    looped=NATIVE,
)
LOOPED_SOLVE = Algorithm(
    _embedded.mass_matrix_solve,
    _embedded.mass_matrix_solve_batch,
    "x",
    "rhs",
    scratch=loop_workspace,
    looped=NATIVE,
)
_looped_forward = _coupled.by_kernel(LOOPED_FORWARD)
FORWARD = Algorithm(
    _forward_dynamics.forward_dynamics,
    _forward_dynamics.forward_dynamics_batch,
    "vx",
    "tau",
    coupled=_coupled.by_kernel(COUPLED_FORWARD),
    looped=_looped_forward,
)
FORWARD_PUSHED = Algorithm(
    _forward_dynamics.forward_dynamics_pushed,
    _forward_dynamics.forward_dynamics_batch,
    "vxf",
    "tau",
    coupled=_coupled.by_kernel(COUPLED_FORWARD),
    looped=_looped_forward,
)
INVERSE = Algorithm(
    _inverse_dynamics.inverse_dynamics,
    _inverse_dynamics.inverse_dynamics_batch,
    "vx",
    "vdot",
    coupled=_coupled.projected,
)
INVERSE_PUSHED = Algorithm(
    _inverse_dynamics.inverse_dynamics_pushed,
    _inverse_dynamics.inverse_dynamics_batch,
    "vxf",
    "vdot",
    coupled=_coupled.projected,
)
MASS_MATRIX = Algorithm(
    _mass_matrix.mass_matrix,
    _mass_matrix.mass_matrix_batch,
    "",
    dimensions=2,
    scratch=lambda model: matrix_lanes(model.nv),
    coupled=_coupled.projected_matrix,
)
SOLVE = Algorithm(
    _solve.mass_matrix_solve,
    _solve.mass_matrix_solve_batch,
    "x",
    "rhs",
    coupled=_coupled.by_kernel(COUPLED_SOLVE),
    looped=_coupled.by_kernel(LOOPED_SOLVE),
)
MASS_INVERSE = Algorithm(
    _mass_inverse.mass_matrix_inverse,
    _mass_inverse.mass_matrix_inverse_batch,
    "",
    dimensions=2,
    scratch=lambda model: int(_mass_inverse.inverse_lanes(model.indices, model.nv)),
    coupled=_coupled.by_kernel(COUPLED_INVERSE),
)
LOGDET = Algorithm(
    _logdet.mass_matrix_logdet,
    _logdet.mass_matrix_logdet_batch,
    "",
    coupled=_coupled.by_kernel(COUPLED_LOGDET),
)
BIAS = Algorithm(
    _inverse_dynamics.bias_force,
    _inverse_dynamics.inverse_dynamics_batch,
    "vf",
    coupled=_coupled.projected,
    looped=_looped.as_tree,
)
GRAVITY = Algorithm(
    _inverse_dynamics.gravity_force,
    _inverse_dynamics.inverse_dynamics_batch,
    "",
    coupled=_coupled.projected,
    looped=_looped.as_tree,
)
KINEMATICS = Algorithm(
    _kinematics.forward_kinematics,
    _kinematics.forward_kinematics_batch,
    "",
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
VELOCITIES = Algorithm(
    _kinematics.velocities,
    _kinematics.forward_kinematics_batch,
    "v",
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
JACOBIAN = Algorithm(
    _jacobian.jacobian,
    _jacobian.jacobian_batch,
    "x",
    dimensions=2,
    coupled=_coupled.projected,
    looped=_looped.as_tree,
)
JACOBIAN_DOT_V = Algorithm(
    _jacobian.jacobian_dot_v,
    _jacobian.jacobian_dot_v_batch,
    "vx",
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
ENERGY = Algorithm(
    _energy.energy,
    _energy.energy_batch,
    "v",
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
COMPLIANCE = Algorithm(_compliance.compliance, _compliance.compliance_batch, "x", dimensions=2)
JOINT_FORCES = Algorithm(_joint_forces.joint_forces, _joint_forces.joint_forces_batch, "vxf", "tau")


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """v̇ under the generalised forces tau, gravity and external forces; O(N)."""
    if f_ext is None and threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty(model.nv) if out is None else out
        blocks = model.kernel_blocks
        block = blocks[0] if blocks else first_block(model)
        try:
            status = FORWARD.ready(block, q, v, tau, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
        if model.has_loops:
            return _looped_forward(FORWARD, model, (model.nv,), q, v, tau, None, out, None)
    algorithm = FORWARD if f_ext is None else FORWARD_PUSHED
    return run(algorithm, model, (model.nv,), q, v, tau, f_ext, out, threads)


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    actuated: Sequence[str] | None = None,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """The generalised forces tau that produce v̇ against gravity and external forces; O(N).

    actuated: with loops, the joints that act; the forces of all others are zero.
    """
    if f_ext is None and threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty(model.nv) if out is None else out
        blocks = model.kernel_blocks
        block = blocks[0] if blocks else first_block(model)
        try:
            status = INVERSE.ready(block, q, v, vdot, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
    if model.has_loops or actuated is not None:
        from skodyn.dynamics.loop_functions import actuated_torques  # it builds on this file

        return actuated_torques(model, q, v, vdot, f_ext, actuated, out, threads)
    algorithm = INVERSE if f_ext is None else INVERSE_PUSHED
    return run(algorithm, model, (model.nv,), q, v, vdot, f_ext, out, threads)


def bias_force(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """tau that keeps v̇ = 0: Coriolis, gyroscopic and gravity terms, less external forces."""
    return run(BIAS, model, (model.nv,), q, v, NOTHING, f_ext, out, threads)


def gravity_force(
    model: Model, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """tau that holds the system at rest against gravity."""
    return run(GRAVITY, model, (model.nv,), q, out=out, threads=threads)


def mass_matrix(
    model: Model, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """𝓜 (nv × nv), both triangles; only related pairs are computed."""
    if threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty((model.nv, model.nv)) if out is None else out
        blocks = model.kernel_blocks
        block = blocks[0] if blocks else first_block(model)
        try:
            status = MASS_MATRIX.ready(block, q, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
    return run(MASS_MATRIX, model, (model.nv, model.nv), q, out=out, threads=threads)


def mass_matrix_inverse(
    model: Model, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """𝓜⁻¹ (nv × nv) in O(N²), without forming 𝓜."""
    return run(MASS_INVERSE, model, (model.nv, model.nv), q, out=out, threads=threads)


def mass_matrix_solve(
    model: Model,
    q: ArrayLike,
    rhs: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """𝓜⁻¹·rhs in O(N) per right-hand side.

    For one state rhs is (nv,) or (nv, k), as in numpy.linalg.solve; for a batch it is (B, nv).
    """
    if _axes(q) == 1 and _axes(rhs) == 2:
        return _solve_columns(model, q, rhs, out)
    return run(SOLVE, model, (model.nv,), q, NOTHING, rhs, None, out, threads)


def _solve_columns(model: Model, q: ArrayLike, rhs: ArrayLike, out: Floats | None) -> Floats:
    """All columns of rhs for one state: the articulated inertias are gathered once."""
    inputs = read_columns(model, q, rhs)
    result = check_out(out, inputs.x.T.shape, inputs)
    answers = np.empty(inputs.x.shape)
    rhs_rows, flat = inputs.x.reshape(-1), answers.reshape(-1)
    algorithm = COUPLED_SOLVE if model.mimics else LOOPED_SOLVE if model.has_loops else SOLVE
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


def mass_matrix_logdet(model: Model, q: ArrayLike, *, threads: int | None = None) -> float | Floats:
    """log det 𝓜, a number per state; O(N)."""
    return _scalar(run(LOGDET, model, (1,), q, threads=threads)[..., 0])


def forward_kinematics(
    model: Model, q: ArrayLike, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """(rotations (n, 3, 3), positions (n, 3)) of the body frames in the world."""
    shape = (model.n_bodies, _kinematics.ROW)
    table = run(KINEMATICS, model, shape, q, threads=threads)
    return _user_rotations(model, table), np.ascontiguousarray(table[..., 9:12])


def velocities(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Spatial velocities V, Coriolis accelerations a and gyroscopic forces b, each (n, 6).

    World axes, at each body's origin.
    """
    shape = (model.n_bodies, _kinematics.ROW)
    table = run(VELOCITIES, model, shape, q, v, threads=threads)
    parts = (table[..., 12:18], table[..., 18:24], table[..., 24:30])
    velocity, coriolis, gyroscopic = (np.ascontiguousarray(part) for part in parts)
    return velocity, coriolis, gyroscopic


def jacobian(
    model: Model,
    q: ArrayLike,
    body: str | int,
    point: ArrayLike = (0.0, 0.0, 0.0),
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """6 × nv, world axes, at a point fixed in the body (given in body axes)."""
    node = _nodes(model, [(body, point)])
    return run(JACOBIAN, model, (6, model.nv), q, NOTHING, node, None, out, threads)


def jacobian_dot_v(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    body: str | int,
    point: ArrayLike = (0.0, 0.0, 0.0),
    *,
    threads: int | None = None,
) -> Floats:
    """J̇·v (6,): the acceleration of the point when v̇ = 0."""
    node = _nodes(model, [(body, point)])
    return run(JACOBIAN_DOT_V, model, (6,), q, v, node, None, None, threads)


def operational_space_compliance(
    model: Model,
    q: ArrayLike,
    nodes: Any,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """J 𝓜⁻¹ Jᵀ (6k × 6k) for k nodes [(body, point), …], from Ω, without forming 𝓜⁻¹."""
    table = _nodes(model, nodes)
    if model.mimics or model.has_loops:
        return _coupled_compliance(model, q, table, out, threads)
    size = 6 * (len(table) // 4)
    return run(COMPLIANCE, model, (size, size), q, NOTHING, table, None, out, threads)


def _coupled_compliance(
    model: Model, q: ArrayLike, nodes: Floats, out: Floats | None, threads: int | None
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


def joint_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> Floats:
    """Force [moment; force] through each joint onto its body, (n, 6), at the body's origin."""
    if model.mimics:
        return _coupled_joint_forces(model, q, v, tau, f_ext, threads)
    if model.has_loops:
        return _looped_joint_forces(model, q, v, tau, f_ext, threads)
    row = model.nv + _joint_forces.ROW * model.n_bodies
    table = run(JOINT_FORCES, model, (row,), q, v, tau, f_ext, None, threads)
    forces = table[..., model.nv :].reshape(*table.shape[:-1], model.n_bodies, _joint_forces.ROW)
    return np.ascontiguousarray(forces[..., :6])


def _coupled_joint_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None,
    threads: int | None,
) -> Floats:
    """Those of the uncoupled tree under the torques that let its joints follow by themselves."""
    full = model.uncoupled
    vdot = run(FORWARD_PUSHED, model, (model.nv,), q, v, tau, f_ext, None, threads)
    given = _coupled.expand(INVERSE_PUSHED, model, q, v, vdot, f_ext)
    full_q, full_v, _, forces = given
    torques = inverse_dynamics(full, *given, threads=threads)
    return joint_forces(full, full_q, full_v, torques, forces, threads=threads)


def _looped_joint_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None,
    threads: int | None,
) -> Floats:
    """Those of the tree on which loops act as external forces."""
    from skodyn.dynamics.loop_functions import external_forces, loop_forces  # built on this file

    found = loop_forces(model, q, v, tau, f_ext, threads=threads)
    inputs = read_arguments(FORWARD_PUSHED, model, q, v, tau, f_ext)
    forces, torques = external_forces(model, inputs.q, found)
    given = inputs.f_ext.reshape(forces.shape) if inputs.f_ext.size else 0.0
    return joint_forces(
        model.opened, inputs.q, inputs.v, inputs.x + torques, given + forces, threads=threads
    )


def energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> tuple[float | Floats, float | Floats]:
    """(kinetic, potential); potential is zero with all mass at the world origin."""
    table = run(ENERGY, model, (_energy.ROW,), q, v, NOTHING, None, None, threads)
    return _scalar(table[..., 0]), _scalar(table[..., 1])


def momentum(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    about: str = "origin",
    threads: int | None = None,
) -> Floats:
    """[angular; linear] momentum about the world origin, or about="com", the centre of mass."""
    if about not in ("origin", "com"):
        raise StateError(f"about is {about!r}; give 'origin' or 'com'.")
    table = run(ENERGY, model, (_energy.ROW,), q, v, NOTHING, None, None, threads)
    result = np.ascontiguousarray(table[..., 2:8])
    if about == "com":
        _check_mass(model, table)
        result[..., :3] -= np.cross(table[..., 8:11], table[..., 5:8])
    return result


def center_of_mass(model: Model, q: ArrayLike, *, threads: int | None = None) -> Floats:
    """Centre of mass in the world, (3,)."""
    table = run(ENERGY, model, (_energy.ROW,), q, np.zeros(model.nv), NOTHING, None, None, threads)
    _check_mass(model, table)
    return np.ascontiguousarray(table[..., 8:11])


def _check_mass(model: Model, table: Floats) -> None:
    if not table[..., 11].all():
        raise DynamicsError(
            f"Model {model.name!r} has no mass and so no centre of mass; give a body mass."
        )


def _user_rotations(model: Model, table: Floats) -> Floats:
    """Undo the kernel frames' alignment."""
    turned = table[..., :9].reshape(*table.shape[:-1], 3, 3)
    result: Floats = turned @ model.alignment.transpose(0, 2, 1)
    return result


def _nodes(model: Model, nodes: Any) -> Floats:
    """(body, point in the kernel frame) for each node, flat."""
    try:
        pairs = [(body, point) for body, point in nodes]
    except (TypeError, ValueError):
        raise StateError(f"nodes is {nodes!r}; give a list of (body, point) pairs.") from None
    table = np.empty((len(pairs), 4))
    for row, (body, point) in zip(table, pairs, strict=True):
        k = _body_number(model, body)
        row[0] = k
        row[1:] = applied(model.alignment[k].T, read_point(point))
    return table.reshape(-1)


def _body_number(model: Model, body: Any) -> int:
    if isinstance(body, str):
        return model.body_index(body)
    if not isinstance(body, (int, np.integer)) or not 0 <= body < model.n_bodies:
        raise ModelError(
            f"There is no body {body!r}; give a name, or a number from 0 to {model.n_bodies - 1}."
        )
    return int(body)


def _scalar(values: Floats) -> float | Floats:
    return float(values) if values.ndim == 0 else np.ascontiguousarray(values)
