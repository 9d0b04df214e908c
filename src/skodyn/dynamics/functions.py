"""Forces and accelerations: functions of a state.

Every function takes one state (q of shape (nq,)) or a batch (q of shape (B, nq)), which runs as
many states at a time as a SIMD register has lanes, four or eight, on `threads` threads (all cores
by default). A state's result does not depend on its neighbours, on the lane it lands in or on the
number of threads.

`driver.run` serves them all, with what algorithms.py says of each. The three that are called in
tight loops, forward and inverse dynamics and the mass matrix (mass_matrices.py), have its
single-state path written out at their head: for a 7-joint arm the detour through a general function
would cost a third of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skodyn.dynamics import flexible_algorithms as _flexible
from skodyn.dynamics.algorithms import (
    BIAS,
    FORWARD,
    FORWARD_WITH_F_EXT,
    GRAVITY,
    INVERSE,
    INVERSE_WITH_F_EXT,
    LOOPED_FORWARD,
    looped_forward,
)
from skodyn.dynamics.driver import (
    COMPILED,
    NOTHING,
    TURNED_AWAY,
    block_of,
    calls_take_turns,
    first_block,
    run,
)
from skodyn.model.model import Model
from skodyn.typing import (
    Accelerations,
    Coordinates,
    DofArray,
    Floats,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = ["bias_force", "forward_dynamics", "gravity_force", "inverse_dynamics"]


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
    holds; each state has the same bits as alone. An argument that is one state, or one row, among
    batches serves all their states.

    The ABA is chapter 7 of R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008.

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
        kernel, block = model._forward_call or _forward_call(model)
        try:
            status = kernel(block, q, v, tau, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
        if model.has_loops:
            return looped_forward(FORWARD, model, (model.nv,), q, v, tau, None, out, None)
    algorithm = FORWARD if f_ext is None else FORWARD_WITH_F_EXT
    return run(algorithm, model, (model.nv,), q, v, tau, f_ext, out, threads)


def _forward_call(model: Model) -> Sequence[Any]:
    """The kernel that a model's forward dynamics goes through, and its block; kept if calls can
    share it."""
    algorithm = LOOPED_FORWARD if model.has_loops else FORWARD
    algorithm = _flexible.BENT_FORWARD if model.flexible else algorithm
    made = algorithm.ready, block_of(algorithm, model)
    if calls_take_turns():
        model._forward_call.extend(made)
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
    Jain 2011-II, Algorithm 3.1, in world axes: one pass outward, one inward. With
    v = v̇ = 0 it is `gravity_force`.

    The RNEA is chapter 5 of R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008.

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
        blocks = model._kernel_blocks
        block = blocks[0] if blocks else first_block(model)
        try:
            status = INVERSE.ready(block, q, v, vdot, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
    if model.has_loops or actuated is not None:
        from skodyn.dynamics.loop_reactions import actuated_torques  # it builds on this file

        return actuated_torques(model, q, v, vdot, f_ext, actuated, out, threads)
    algorithm = INVERSE if f_ext is None else INVERSE_WITH_F_EXT
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
