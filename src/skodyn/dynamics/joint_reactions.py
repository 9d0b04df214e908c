"""What the joints of a tree carry: all six components of the force that each passes on."""

from __future__ import annotations

import numpy as np

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.algorithms import FORWARD_WITH_F_EXT, INVERSE_WITH_F_EXT, JOINT_FORCES
from skodyn.dynamics.arguments import read_arguments
from skodyn.dynamics.driver import run
from skodyn.dynamics.functions import inverse_dynamics
from skodyn.dynamics.loop_reactions import external_forces, loop_forces
from skodyn.kernels import joint_forces as _joint_forces
from skodyn.model.model import Model
from skodyn.typing import Coordinates, Floats, GeneralizedForces, SpatialArray, Velocities, Wrenches

__all__ = ["joint_forces"]


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
    vdot = run(FORWARD_WITH_F_EXT, model, (model.nv,), q, v, tau, f_ext, None, threads)
    given = _coupled.expand(INVERSE_WITH_F_EXT, model, q, v, vdot, f_ext)
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
    found = loop_forces(model, q, v, tau, f_ext, threads=threads)
    inputs = read_arguments(FORWARD_WITH_F_EXT, model, q, v, tau, f_ext)
    forces, torques = external_forces(model, inputs.q, found)
    given = inputs.f_ext.reshape(forces.shape) if inputs.f_ext.size else 0.0
    return joint_forces(
        model.opened, inputs.q, inputs.v, inputs.x + torques, given + forces, threads=threads
    )
