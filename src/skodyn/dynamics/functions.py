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
from typing import Any

import numpy as np

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics import flexible_algorithms as _flexible
from skodyn.dynamics import looped as _looped
from skodyn.dynamics.driver import (
    COMPILED,
    NATIVE,
    NOTHING,
    TURNED_AWAY,
    Algorithm,
    block_of,
    calls_take_turns,
    first_block,
    run,
)
from skodyn.dynamics.explain import (
    read_arguments,
)
from skodyn.kernels import compliance as _compliance
from skodyn.kernels import coupled_dynamics as _coupled_kernels
from skodyn.kernels import embedded_dynamics as _embedded
from skodyn.kernels import embedded_solve as _embedded_solve
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
from skodyn.typing import (
    Accelerations,
    Coordinates,
    DofArray,
    GeneralizedForces,
    SpatialArray,
    Velocities,
    Wrenches,
)

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
    forces_behind=True,
    scratch=loop_workspace,
    looped=NATIVE,
)
LOOPED_SOLVE = Algorithm(
    _embedded_solve.mass_matrix_solve,
    _embedded_solve.mass_matrix_solve_batch,
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
    flexible=_flexible.BENT_FORWARD,
)
FORWARD_PUSHED = Algorithm(
    _forward_dynamics.forward_dynamics_pushed,
    _forward_dynamics.forward_dynamics_batch,
    "vxf",
    "tau",
    coupled=_coupled.by_kernel(COUPLED_FORWARD),
    looped=_looped_forward,
    flexible=_flexible.BENT_PUSHED,
)
INVERSE = Algorithm(
    _inverse_dynamics.inverse_dynamics,
    _inverse_dynamics.inverse_dynamics_batch,
    "vx",
    "vdot",
    coupled=_coupled.projected,
    flexible=_flexible.BENT_INVERSE,
)
INVERSE_PUSHED = Algorithm(
    _inverse_dynamics.inverse_dynamics_pushed,
    _inverse_dynamics.inverse_dynamics_batch,
    "vxf",
    "vdot",
    coupled=_coupled.projected,
    flexible=_flexible.BENT_INVERSE_PUSHED,
)
MASS_MATRIX = Algorithm(
    _mass_matrix.mass_matrix,
    _mass_matrix.mass_matrix_batch,
    "",
    dimensions=2,
    scratch=lambda model: matrix_lanes(model.nv),
    coupled=_coupled.projected_matrix,
    flexible=_flexible.BENT_MASS,
)
SOLVE = Algorithm(
    _solve.mass_matrix_solve,
    _solve.mass_matrix_solve_batch,
    "x",
    "rhs",
    coupled=_coupled.by_kernel(COUPLED_SOLVE),
    looped=_coupled.by_kernel(LOOPED_SOLVE),
    flexible=_flexible.BENT_SOLVE,
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
    flexible=_flexible.BENT_BIAS,
)
GRAVITY = Algorithm(
    _inverse_dynamics.gravity_force,
    _inverse_dynamics.inverse_dynamics_batch,
    "",
    coupled=_coupled.projected,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_GRAVITY,
)
KINEMATICS = Algorithm(
    _kinematics.forward_kinematics,
    _kinematics.forward_kinematics_batch,
    "",
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_KINEMATICS,
)
VELOCITIES = Algorithm(
    _kinematics.velocities,
    _kinematics.forward_kinematics_batch,
    "v",
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_VELOCITIES,
)
JACOBIAN = Algorithm(
    _jacobian.jacobian,
    _jacobian.jacobian_batch,
    "x",
    dimensions=2,
    coupled=_coupled.projected,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_JACOBIAN,
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
    flexible=_flexible.BENT_ENERGY,
)
COMPLIANCE = Algorithm(_compliance.compliance, _compliance.compliance_batch, "x", dimensions=2)
JOINT_FORCES = Algorithm(_joint_forces.joint_forces, _joint_forces.joint_forces_batch, "vxf", "tau")


def forward_dynamics(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> DofArray:
    """Accelerations under given forces: the articulated body algorithm (ABA), O(n).

    v̇ = 𝓜⁻¹(τ − 𝒞) without forming 𝓜; gravity and external forces are in 𝒞. Models with mimic
    joints or closed loops are handled exactly, too.

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
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    vdot : ndarray, shape (nv,) or (B, nv)
        Accelerations, rad/s² and m/s², in the axes of v.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    inverse_dynamics : the forces for given accelerations (RNEA).
    forward_dynamics_derivatives : derivatives by q, v and tau.
    mass_matrix_solve : 𝓜⁻¹ times any vector.

    Notes
    -----
    Featherstone's articulated body algorithm in the form of Jain 2011-II, Algorithm 6.1: one pass
    from the tips to the base, one back. A batch runs as many states at a time as a SIMD register
    holds; each state has the same bits as alone.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> vdot = sk.forward_dynamics(model, q=[0.5, 0.0], v=[0.0, 0.0], tau=[0.0, 0.0])
    >>> vdot.round(3)
    array([-6.047,  8.063])
    >>> states = np.array([[0.5, 0.0], [1.0, 0.2], [0.0, 0.0]])
    >>> sk.forward_dynamics(model, states, [0.0, 0.0], [0.0, 0.0]).shape    # a batch
    (3, 2)
    """
    if f_ext is None and threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty(model.nv) if out is None else out
        kernel, block = model.forward_call or _forward_call(model)
        try:
            status = kernel(block, q, v, tau, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
        if model.has_loops:
            return _looped_forward(FORWARD, model, (model.nv,), q, v, tau, None, out, None)
    algorithm = FORWARD if f_ext is None else FORWARD_PUSHED
    return run(algorithm, model, (model.nv,), q, v, tau, f_ext, out, threads)


def _forward_call(model: Model) -> Sequence[Any]:
    """The kernel that a model's forward dynamics goes through, and its block; kept if calls can
    share it."""
    algorithm = LOOPED_FORWARD if model.has_loops else FORWARD
    algorithm = _flexible.BENT_FORWARD if model.flexible else algorithm
    made = algorithm.ready, block_of(algorithm, model)
    if calls_take_turns():
        model.forward_call.extend(made)
    return made


def inverse_dynamics(
    model: Model,
    q: Coordinates,
    v: Velocities,
    vdot: Accelerations,
    f_ext: Wrenches | None = None,
    *,
    actuated: Sequence[str] | None = None,
    out: Floats | None = None,
    threads: int | None = None,
) -> DofArray:
    """Forces that produce given accelerations: recursive Newton–Euler (RNEA), O(n).

    τ = 𝓜v̇ + 𝒞, with gravity and external forces in 𝒞.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    vdot : array_like, shape (nv,) or (B, nv)
        Accelerations, rad/s² and m/s², in the axes of v.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    actuated : sequence of str, optional
        With closed loops: names of the joints that act; the forces of all others are zero.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    tau : ndarray, shape (nv,) or (B, nv)
        Generalised forces, N m and N, dual to v.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        A name in actuated is not a joint, or the named joints cannot produce the motion.

    See Also
    --------
    forward_dynamics : the accelerations under given forces (ABA).
    bias_force : the same for v̇ = 0.
    joint_forces : all six components in each joint.

    Notes
    -----
    Jain 2011-II, Algorithm 3.1, in world axes: one pass outward, one inward.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> tau = sk.inverse_dynamics(model, q=[0.5, 0.0], v=[0.0, 0.0], vdot=[1.0, 0.0])
    >>> tau.round(3)
    array([12.073,  3.185])
    >>> np.allclose(sk.forward_dynamics(model, [0.5, 0.0], [0.0, 0.0], tau), [1.0, 0.0])
    True
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
    q: Coordinates,
    v: Velocities,
    f_ext: Wrenches | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> DofArray:
    """Forces that keep v̇ = 0: Coriolis, gyroscopic and gravity terms, less external forces.

    𝒞(q, v) of 𝓜v̇ + 𝒞 = τ; others call it nonlinear effects.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    out : ndarray of float64, optional
        Array of the result's shape, C-contiguous, to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    bias : ndarray, shape (nv,) or (B, nv)
        Generalised forces, N m and N.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    gravity_force : the same for v = 0, without external forces.
    coriolis_matrix : C with C·v + gravity_force = bias_force.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v, vdot = [0.5, 0.1], [1.0, -2.0], [0.3, 0.4]
    >>> tau = sk.mass_matrix(model, q) @ vdot + sk.bias_force(model, q, v)
    >>> np.allclose(tau, sk.inverse_dynamics(model, q, v, vdot))
    True
    """
    return run(BIAS, model, (model.nv,), q, v, NOTHING, f_ext, out, threads)


def gravity_force(
    model: Model, q: Coordinates, *, out: Floats | None = None, threads: int | None = None
) -> DofArray:
    """Forces that hold the system at rest against gravity, O(n).

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
    tau : ndarray, shape (nv,) or (B, nv)
        Generalised forces, N m and N.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    bias_force : with velocities and external forces.

    Examples
    --------
    >>> model = sk.examples.pendulum(1)
    >>> sk.gravity_force(model, [np.pi / 2])    # one kilogram, half a metre from the joint
    array([4.905])
    """
    return run(GRAVITY, model, (model.nv,), q, out=out, threads=threads)


def joint_forces(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None = None,
    *,
    threads: int | None = None,
) -> SpatialArray:
    """Forces and moments that pass through each joint onto its body.

    The whole spatial force, of which tau is the part along the joint's motion: what bearings carry.

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
    forces : ndarray, shape (n, 6) or (B, n, 6)
        [moment; force] on each body through the joint that carries it, in world axes at the body's
        origin, N m and N.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    inverse_dynamics : the components along the joints' motions.
    loop_forces : what closed loops carry.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> forces = sk.joint_forces(model, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> forces[:, 5].round(2)    # at rest, each joint carries the weight of all below it
    array([19.62,  9.81])
    """
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
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None,
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
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces,
    f_ext: Wrenches | None,
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
