"""Forces and accelerations, and the table of all algorithms that functions of a state run.

Every function takes one state (q of shape (nq,)) or a batch (q of shape (B, nq)), which runs as
many states at a time as a SIMD register has lanes, four or eight, on `threads` threads (all cores
by default). A state's result does not depend on its neighbours, on the lane it lands in or on the
number of threads.

`driver.run` serves them all. The three that are called in tight loops, forward and inverse dynamics
and the mass matrix (mass_matrices.py), have its single-state path written out at their head: for a
7-joint arm the detour through a general function would cost a third of the call.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    first_block,
    run,
)
from skodyn.dynamics.explain import (
    read_arguments,
)
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

__all__ = ["bias_force", "forward_dynamics", "gravity_force", "inverse_dynamics", "joint_forces"]

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
